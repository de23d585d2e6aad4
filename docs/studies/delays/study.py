"""The study of late rewards: `python docs/studies/delays/study.py run` (four core-minutes)."""

from collections import deque
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import unimodal as um
from unimodal.policies import parse
from unimodal.report.curve_labels import CurveEnd, label_curves
from unimodal.report.figures import style
from unimodal.report.page import markdown_table
from unimodal.results.statistics import mean_interval
from unimodal.studies import pages
from unimodal.studies.sample_intervals import with_spread

HERE = Path(__file__).parent
OUTSTANDING = (1, 10, 100, 1000)
HORIZON, TRIALS = 20_000, 24
POLICIES = ("UTS", "OSUB", "TS", "ScoutUTS")
PROBLEMS = {
    "line of 17": um.problems.triangular(17),
    "Erdős–Rényi, 100 arms": um.problems.by_distance(um.graphs.erdos_renyi(100, 0.05), peak=50),
}


@dataclass(frozen=True)
class Delay(um.studies.BaseSetting):
    """A problem, and how many decisions are outstanding at any time."""

    problem: str
    outstanding: int
    policies: tuple[str, ...] = POLICIES
    horizon: int = HORIZON
    graphs: int = 1
    trials: int = TRIALS

    @property
    def name(self):
        """A name that no other setting has."""
        return f"{self.problem}, {self.outstanding} outstanding"

    def seconds_a_trial(self, policy):
        """About how long a trial takes."""
        return 0.3

    def measure(self, task):
        """One row per trial: regret, and the longest run of one arm that is not the best."""
        policy = parse(task.policy)
        return np.array([self.play(policy, seed) for seed in range(task.first, task.last)])

    def play(self, policy, seed):
        """Play one trial."""
        problem = PROBLEMS[self.problem]
        agent = um.Agent(policy, problem.graph, problem.family, seed)
        means, gaps = problem.means.tolist(), problem.gaps.tolist()
        waiting, lost, last, run, longest = deque(), 0.0, None, 0, 0
        for coin in np.random.default_rng(seed).random(self.horizon).tolist():
            decision = agent.decide()
            arm = decision.arm
            lost += gaps[arm]
            run = run + 1 if arm == last else 1
            last = arm
            if gaps[arm] > 0 and run > longest:
                longest = run
            waiting.append((decision.id, 1.0 if coin < means[arm] else 0.0))
            if len(waiting) == self.outstanding:
                agent.reward(*waiting.popleft())
        return lost, longest


class Late(um.studies.EveryTrial):
    """The regret of every trial, and its longest run of one arm that is not the best."""

    columns = ("regret", "longest_run")

    @property
    def regret(self):
        """The regret of each trial."""
        return self["regret"][0]


def run(folder):
    """Play everything and write data.parquet."""
    settings = [Delay(problem, m) for problem in PROBLEMS for m in OUTSTANDING]
    um.studies.Study(settings, Late).run(folder).save(HERE / pages.DATA)


def regrets(found, problem):
    """Mean regret with its interval, one row per number of outstanding decisions."""
    rows = []
    for m in OUTSTANDING:
        of = found.of(Delay(problem, m)).values()
        rows.append((f"{m:,}", *(with_spread(one.regret) for one in of)))
    return markdown_table(("outstanding", *POLICIES), rows)


def prices(found):
    """What one outstanding decision adds, with 1,000 of them; beside it a decision at random."""
    rows = []
    for name, problem in PROBLEMS.items():
        few, many = (found.of(Delay(name, m)).values() for m in (1, 1000))
        ends = [(one.regret.mean(), two.regret.mean()) for one, two in zip(few, many, strict=True)]
        cells = [f"{(after - before) / 999:.2f}" for before, after in ends]
        rows.append((f"{name} (an arm at random costs {problem.gaps.mean():.2f})", *cells))
    return markdown_table(("regret added by each of 1,000", *POLICIES), rows)


def runs(found):
    """The longest run of one arm that is not the best, with 1 and with 1,000 outstanding."""
    rows = []
    for problem in PROBLEMS:
        for m in (1, 1000):
            of = found.of(Delay(problem, m)).values()
            cells = [f"{np.median(one['longest_run']):.0f}" for one in of]
            rows.append((f"{problem}, {m:,} outstanding", *cells))
    return markdown_table(("longest run, median of the trials", *POLICIES), rows)


def figure(found):
    """Regret against the number of outstanding decisions, one panel per problem."""
    drawn = Figure(figsize=(5.8, 6.4), layout="constrained")
    axes = drawn.subplots(len(PROBLEMS), 1, sharex=True)
    for ax, problem in zip(axes, PROBLEMS, strict=True):
        ends = []
        for position, name in enumerate(POLICIES):
            samples = [found.get(Delay(problem, m), name).regret for m in OUTSTANDING]
            mean, low, high = mean_interval(np.transpose(samples))
            look = style(name, position) | {"capsize": 2}
            ax.errorbar(OUTSTANDING, mean, [mean - low, high - mean], markersize=5, **look)
            ends.append(CurveEnd(name, OUTSTANDING[-1], mean[-1], look["color"]))
        ax.set(xscale="log", yscale="log", ylabel=f"regret after {HORIZON:,} rounds, 95 % interval")
        ax.set(yticks=[30, 100, 300, 1000], ylim=(20, 2000))
        ax.xaxis.set_major_formatter("{x:,.0f}")
        ax.yaxis.set_major_formatter("{x:,.0f}")
        ax.yaxis.set_minor_formatter("")
        ax.set_title(problem, fontsize=10, loc="left")
        ax.spines[["top", "right"]].set_visible(False)
        label_curves(ax, ends)
    axes[-1].set_xlabel("outstanding decisions")
    return drawn


def render(out):
    """Write the page and its figure from data.parquet."""
    found = um.studies.load(HERE / pages.DATA, Delay, Late)
    line, graph = PROBLEMS
    pages.draw(figure(found), out / "figure.png")
    pages.fill_in(
        HERE / pages.TEMPLATE,
        out,
        measured=f"T = {HORIZON:,}, {TRIALS} trials",
        line=regrets(found, line),
        graph=regrets(found, graph),
        prices=prices(found),
        runs=runs(found),
        made_with=found.made_with,
    )


if __name__ == "__main__":
    pages.command(run, render, HERE)
