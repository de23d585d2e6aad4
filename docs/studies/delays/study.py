"""docs/delays.md and its figure, from delays.in.md and delays.csv: python docs/delays.py.

Without delays.csv it measures again, which takes 200 s of computing.
"""

from collections import deque
from pathlib import Path

import numpy as np
import polars as pl
from matplotlib.figure import Figure

import unimodal as um
from unimodal.report.figures import style
from unimodal.results.statistics import Interval, mean_interval

DOCS = Path(__file__).parent
OUTSTANDING = [1, 10, 100, 1000]
HORIZON, TRIALS = 20_000, 24
POLICIES = [um.UTS(), um.OSUB(), um.TS(), um.ScoutUTS()]
NAMES = [policy.name for policy in POLICIES]
PROBLEMS = {
    "line of 17": um.problems.triangular(17),
    "Erdős–Rényi, 100 arms": um.problems.by_distance(um.graphs.erdos_renyi(100, 0.05), peak=50),
}


def play(problem, policy, outstanding, seed):
    """Regret with so many outstanding decisions, and the longest run of one arm not the best."""
    agent = um.Agent(policy, problem.graph, problem.family, seed)
    means, gaps = problem.means.tolist(), problem.gaps.tolist()
    waiting, lost, last, run, longest = deque(), 0.0, None, 0, 0
    for coin in np.random.default_rng(seed).random(HORIZON).tolist():
        decision = agent.decide()
        arm = decision.arm
        lost += gaps[arm]
        run = run + 1 if arm == last else 1
        last = arm
        if gaps[arm] > 0 and run > longest:
            longest = run
        waiting.append((decision.id, 1.0 if coin < means[arm] else 0.0))
        if len(waiting) == outstanding:
            agent.reward(*waiting.popleft())
    return lost, longest


def measure():
    """A row a trial."""
    rows = [
        (where, policy.name, outstanding, seed, *play(problem, policy, outstanding, seed))
        for where, problem in PROBLEMS.items()
        for policy in POLICIES
        for outstanding in OUTSTANDING
        for seed in range(TRIALS)
    ]
    columns = ["problem", "policy", "outstanding", "trial", "regret", "longest_run"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def picture(found):
    """Regret against the number of outstanding decisions, a panel a problem."""
    drawn = Figure(figsize=(9.2, 3.9), layout="constrained")
    axes = drawn.subplots(1, len(PROBLEMS), sharey=True)
    for ax, where in zip(axes, PROBLEMS, strict=True):
        for position, name in enumerate(NAMES):
            samples = np.transpose([found[where, name, m]["regret"] for m in OUTSTANDING])
            mean, low, _ = mean_interval(samples)
            look = style(name, position) | {"capsize": 2, "label": name}
            ax.errorbar(OUTSTANDING, mean, mean - low, markersize=5, **look)
        ax.set(xscale="log", yscale="log", xlabel="outstanding decisions")
        ax.set(yticks=[30, 100, 300, 1000], ylim=(20, 2000))
        ax.xaxis.set_major_formatter("{x:,.0f}")
        ax.yaxis.set_major_formatter("{x:,.0f}")
        ax.yaxis.set_minor_formatter("")
        ax.set_title(where, fontsize=10, loc="left")
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel(f"regret after {HORIZON:,} rounds, 95 % interval")
    axes[0].legend(frameon=False, fontsize=8, loc="upper left")
    return drawn


def markdown(first, rows):
    """A table with a column a policy; `rows` are their names and cells."""
    lines = [f"| {first} | {' | '.join(NAMES)} |", "|---" * (len(NAMES) + 1) + "|"]
    return "\n".join(lines + [f"| {name} | {' | '.join(cells)} |" for name, cells in rows])


def regrets(found, where):
    """Mean regret with its interval, a row a number of outstanding decisions."""
    return markdown(
        "outstanding",
        [
            (
                f"{m:,}",
                [str(Interval(*mean_interval(found[where, name, m]["regret"]))) for name in NAMES],
            )
            for m in OUTSTANDING
        ],
    )


def prices(found):
    """What one outstanding decision adds, with 1,000 of them; beside it a decision at random."""
    rows = []
    for where, problem in PROBLEMS.items():
        ends = [[found[where, name, m]["regret"].mean() for m in (1, 1000)] for name in NAMES]
        cells = [f"{(after - before) / 999:.2f}" for before, after in ends]
        rows.append((f"{where} (an arm at random costs {problem.gaps.mean():.2f})", cells))
    return markdown("regret added by each of 1,000", rows)


def runs(found):
    """The longest run of one arm that is not the best, with 1 and with 1,000 outstanding."""
    rows = [
        (
            f"{where}, {m:,} outstanding",
            [f"{found[where, name, m]['longest_run'].median():.0f}" for name in NAMES],
        )
        for where in PROBLEMS
        for m in (1, 1000)
    ]
    return markdown("longest run, median of the trials", rows)


if __name__ == "__main__":
    file = DOCS / "delays.csv"
    if not file.exists():
        measure().write_csv(file, float_precision=4)
    found = pl.read_csv(file).partition_by(
        "problem", "policy", "outstanding", as_dict=True, include_key=False
    )
    picture(found).savefig(DOCS / "images" / "delays.png", dpi=130)
    line, graph = PROBLEMS
    parts = {
        "measured": f"T = {HORIZON:,}, {TRIALS} trials",
        "line": regrets(found, line),
        "graph": regrets(found, graph),
        "prices": prices(found),
        "runs": runs(found),
    }
    page = (DOCS / "delays.in.md").read_text(encoding="utf-8").format(**parts)
    (DOCS / "delays.md").write_text(page, encoding="utf-8")
