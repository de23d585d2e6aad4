"""The settings of the study of drift: every version of every policy, at every speed of change."""

import functools
from dataclasses import dataclass

import numpy as np

import unimodal as um
from unimodal.engines.step import StepTrial
from unimodal.policies import parse
from unimodal.results.statistics import interval_of_mean, mean_interval

HORIZON, WAYS = 30_000, 30  # rounds, and ways of the peak: one trial on each
LINE, GRID = um.graphs.line(17), um.graphs.grid(6, 6)
KINDS = {
    "drift": lambda every, way: um.problems.drifting_line(LINE.n_arms, HORIZON, 1 / every),
    "walk": lambda every, way: um.problems.wandering_peak(GRID, HORIZON, every, seed=way),
    "jumps": lambda every, way: um.problems.jumping_peak(LINE, HORIZON, every, seed=way),
}
TITLES = {
    "drift": "drift along a line of 17",
    "walk": "random walk on a 6 × 6 grid",
    "jumps": "jumps on a line of 17",
}
EVERY = (100, 300, 1000, 3000, 10_000)  # rounds after which the peak has moved
BASES = ("UTS", "OSUB", "TS", "KLUCB")
MEMORIES = (50, 100, 200, 400, 800, 1600, 3200)  # windows, and 1/(1 - gamma) of discounts
WATCHES = (100, 200, 400, 1000)  # windows of Restarting
AT_RANDOM = "arms at random"  # drawn uniformly: its expected regret, which is not played


def spelt(base, way, size):
    """A policy as the command line spells it."""
    return {
        "plain": base,
        "windowed": f"windowed(policy={base}, window={size})",
        "discounted": f"discounted(policy={base}, gamma={1 - 1 / max(size, 2):.6f})",
        "restarting": f"restarting(policy={base}, window={size})",
    }[way]


SIZES = {"plain": (0,), "windowed": MEMORIES, "discounted": MEMORIES, "restarting": WATCHES}
VERSIONS = [(base, way, size) for base in BASES for way, sizes in SIZES.items() for size in sizes]


@functools.cache
def problem(kind, every, way):
    """One way of the peak; a drifting one has no other."""
    return problem(kind, every, 0) if kind == "drift" and way else KINDS[kind](every, way)


def at_random(moving):
    """The expected regret of arms drawn uniformly."""
    lengths = np.diff(np.append(moving.begins, HORIZON + 1))
    return lengths @ moving.gaps_by_piece.mean(axis=1)


@dataclass(frozen=True)
class Speed(um.studies.BaseSetting):
    """A kind of movement and its speed."""

    kind: str
    every: int
    policies: tuple[str, ...] = (*(spelt(*version) for version in VERSIONS), AT_RANDOM)
    horizon: int = HORIZON
    graphs: int = 1
    trials: int = WAYS

    @property
    def name(self):
        """A name that no other setting has."""
        return f"{TITLES[self.kind]}, every {self.every} rounds"

    def measure(self, task):
        """One row per way of the peak: regret, and how often the policy restarted."""
        ways = range(task.first, task.last)
        if task.policy == AT_RANDOM:
            return np.array([(at_random(problem(self.kind, self.every, way)), 0) for way in ways])
        policy, rounds, rows = parse(task.policy), np.array([HORIZON]), []
        for way in ways:
            trial = StepTrial(problem(self.kind, self.every, way), policy, 0, way, rounds, False)
            trial.finish()
            rows.append((trial.output.regret[-1], trial.restarts))
        return np.array(rows)


class Dynamic(um.studies.EveryTrial):
    """The dynamic regret of every trial, and how often it restarted."""

    columns = ("regret", "restarts")


SPEEDS = [Speed(kind, every) for kind in KINDS for every in EVERY]


class Found:
    """Regrets and restarts by kind, speed, policy, version and size."""

    def __init__(self, outcomes):
        self.regret, self.restarts, self.at_random = {}, {}, {}
        for setting in SPEEDS:
            random = outcomes.get(setting, AT_RANDOM)["regret"]
            self.at_random[setting.kind, setting.every] = random.mean()
            for version in VERSIONS:
                one = outcomes.get(setting, spelt(*version))
                key = (setting.kind, setting.every, *version)
                self.regret[key], self.restarts[key] = one["regret"][0], one["restarts"][0]

    def interval(self, *key):
        """Mean regret with its 95 % interval over ways."""
        return interval_of_mean(self.regret[key])

    def best(self, *line):
        """The size of window or memory with the lowest mean regret."""
        return min(SIZES[line[-1]], key=lambda size: self.regret[*line, size].mean())

    def at_best(self, *line):
        """Regrets with the best size."""
        return self.regret[*line, self.best(*line)]

    def as_good(self, *line):
        """The sizes not clearly worse than the best: by 95 % intervals of paired differences."""
        more = {size: self.regret[*line, size] - self.at_best(*line) for size in SIZES[line[-1]]}
        return [size for size, extra in more.items() if mean_interval(extra)[1] <= 0]

    def winner(self, kind, every):
        """The best version of all."""
        return min(VERSIONS, key=lambda version: self.regret[kind, every, *version].mean())
