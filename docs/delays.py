"""docs/delays.md and its figure, from delays.in.md: python docs/delays.py (3 min of computing)."""

import time
from collections import deque
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import unimodal as um
from unimodal.analysis import Interval, mean_interval
from unimodal.report.figures import style

DOCS = Path(__file__).parent
OUTSTANDING = [1, 10, 100, 1000]
HORIZON, TRIALS = 20_000, 24
POLICIES = [um.UTS(), um.OSUB(), um.TS(), um.ScoutUTS()]
PROBLEMS = {
    "line of 17": um.problems.triangular(17),
    "Erdős–Rényi, 100 arms": um.problems.by_distance(um.graphs.erdos_renyi(100, 0.05), peak=50),
}


def regret(problem, policy, outstanding, seed):
    """Regret of an agent whose rewards come `outstanding` decisions later, in order."""
    agent = um.Agent(policy, problem.graph, problem.rewards, seed)
    coins = np.random.default_rng(seed).random(HORIZON).tolist()
    means, gaps = problem.means.tolist(), problem.gaps.tolist()
    waiting, lost = deque(), 0.0
    for coin in coins:
        decision = agent.decide()
        lost += gaps[decision.arm]
        waiting.append((decision, 1.0 if coin < means[decision.arm] else 0.0))
        if len(waiting) == outstanding:
            oldest, reward = waiting.popleft()
            agent.reward(oldest.id, reward)
    return lost


def measure():
    """Regrets by problem, policy and number of outstanding decisions; a number a trial."""
    found = {}
    for where, problem in PROBLEMS.items():
        for policy in POLICIES:
            for outstanding in OUTSTANDING:
                trials = [regret(problem, policy, outstanding, seed) for seed in range(TRIALS)]
                found[where, policy.name, outstanding] = np.array(trials)
    return found


def picture(found):
    """Regret against the number of outstanding decisions, a panel a problem."""
    drawn = Figure(figsize=(9.2, 3.9), layout="constrained")
    axes = drawn.subplots(1, len(PROBLEMS), sharey=True)
    for ax, where in zip(axes, PROBLEMS, strict=True):
        for position, policy in enumerate(POLICIES):
            samples = np.transpose([found[where, policy.name, m] for m in OUTSTANDING])
            mean, low, _ = mean_interval(samples)
            look = style(policy.name, position) | {"capsize": 2, "label": policy.name}
            ax.errorbar(OUTSTANDING, mean, mean - low, markersize=5, **look)
        ax.set(xscale="log", yscale="log", xlabel="outstanding decisions")
        ax.set_title(where, fontsize=10, loc="left")
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel(f"regret after {HORIZON:,} rounds, 95 % interval")
    axes[0].legend(frameon=False, fontsize=8)
    return drawn


def table(found, where):
    """Rows by outstanding decisions, a column a policy."""
    names = [policy.name for policy in POLICIES]
    lines = [f"| outstanding | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    for m in OUTSTANDING:
        cells = [str(Interval(*mean_interval(found[where, name, m]))) for name in names]
        lines.append(f"| {m:,} | {' | '.join(cells)} |")
    return "\n".join(lines)


def added(found, where, m=1000):
    """What each outstanding decision adds to the regret, with m of them."""
    return ", ".join(
        f"{name} {(found[where, name, m] - found[where, name, 1]).mean() / (m - 1):.2f}"
        for name in (policy.name for policy in POLICIES)
    )


if __name__ == "__main__":
    began = time.perf_counter()
    found = measure()
    picture(found).savefig(DOCS / "images" / "delays.png", dpi=130)
    line, graph = PROBLEMS
    parts = {
        "runs": f"T = {HORIZON:,}, {TRIALS} trials",
        "line": table(found, line),
        "graph": table(found, graph),
        "line_adds": added(found, line),
        "graph_adds": added(found, graph),
        "line_gap": f"{PROBLEMS[line].gaps.mean():.2f}",
        "graph_gap": f"{PROBLEMS[graph].gaps.mean():.2f}",
    }
    page = (DOCS / "delays.in.md").read_text(encoding="utf-8").format(**parts)
    (DOCS / "delays.md").write_text(page, encoding="utf-8")
    print(f"docs/delays.md, in {time.perf_counter() - began:.0f} s")
