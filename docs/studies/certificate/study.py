"""The study of the certificate's level: `python docs/studies/certificate/study.py run`."""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import unimodal as um
from unimodal.inference.peak_test import Numbering, shortfall
from unimodal.policies import parse
from unimodal.report.page import markdown_table
from unimodal.results.statistics import share_interval
from unimodal.results.stopping import next_look
from unimodal.studies import pages

HERE = Path(__file__).parent
TRIALS, HORIZON, LEAVES = 10_000, 300, 10_000
LEVELS = (0.5,)  # at which mistakes are frequent enough to be counted
PRICES = np.array([9.9, 12.9, 14.9, 16.9])
# Near ties throughout: a wrong arm is hardly worse than the best.
FIXED = {
    "line of 5, Bernoulli, steps of 0.01": (
        um.Problem(um.graphs.line(5), [0.48, 0.49, 0.5, 0.49, 0.48]), "UniTT"
    ),
    "line of 9, Bernoulli, rare, steps of 0.001": (
        um.Problem(um.graphs.line(9), 0.05 - 0.001 * np.abs(np.arange(9) - 6)), "UTS"
    ),
    "complete graph of 20, Bernoulli, one arm 0.01 better": (
        um.Problem(um.graphs.complete(20), [0.51] + [0.5] * 19), "TS"
    ),
    "line of 5, Gaussian, steps of 0.02": (
        um.Problem(um.graphs.line(5), [0.0, 0.02, 0.04, 0.02, 0.0], um.Gaussian(1.0)), "UniTT"
    ),
    "line of 5, Poisson, steps of 0.02": (
        um.Problem(um.graphs.line(5), [1.96, 1.98, 2.0, 1.98, 1.96], um.Poisson()), "OSUB"
    ),
    "ladder of 4 prices, Scaled, revenues within 2 %": (
        um.Problem(
            um.graphs.line(4), [4.95, 5.0, 4.95, 4.9], um.Scaled(um.Bernoulli(), by=PRICES)
        ),
        "UniTT",
    ),
}  # fmt: skip
STAR = f"star of {LEAVES:,} leaves behind an oracle, the middle 0.01 better"


@dataclass(frozen=True)
class Level(um.studies.BaseSetting):
    """A problem, its policy, and the confidence at which trials are certified."""

    problem: str
    confidence: float
    policies: tuple[str, ...] = ("",)
    horizon: int = HORIZON
    graphs: int = 1
    trials: int = TRIALS

    @property
    def name(self):
        """A name that no other setting has."""
        return f"{self.problem}, {self.confidence:g}"

    def seconds_a_trial(self, policy):
        """About how long a trial takes."""
        return 0.02

    def measure(self, task):
        """One row per trial: whether an arm was certified, and whether a wrong one was."""
        count = task.last - task.first
        if self.problem == STAR:
            return star(self.confidence, count, seed=task.first)
        problem, policy = FIXED[self.problem]
        settings = {"horizon": self.horizon, "trials": count, "seed": task.first, "workers": 1}
        run = um.simulate(
            problem, parse(policy), checkpoints=1, stop=um.Certified(self.confidence), **settings
        )
        (run,) = run.runs.values()
        certified = run.certified >= 0
        return np.column_stack([certified, certified & ~run.is_right]).astype(float)


def star(confidence, trials, seed, horizon=100):
    """UTS sets out from eight arms; arms are numbered by their first pull, as behind an oracle.

    A leaf has one neighbour, the middle. Whether the middle is certified is not looked at: it would
    be right.
    """
    graph = um.graphs.star(LEAVES + 1)
    problem = um.Problem(graph, np.where(np.arange(LEAVES + 1) == 0, 0.51, 0.5))
    policy = um.UTS(start="probe(8)")
    settings = {"horizon": horizon, "trials": trials, "seed": seed, "workers": 1}
    (run,) = um.simulate(problem, policy, checkpoints=1, history=True, **settings).runs.values()
    return np.array(
        [
            wrongly_certified(arms, rewards, confidence)
            for arms, rewards in zip(run.arms, run.rewards, strict=True)
        ]
    )


def wrongly_certified(arms, rewards, confidence):
    """Whether a leaf was ever certified, twice: no other arm is looked at."""
    pulled, where = np.unique(arms, return_inverse=True)
    order = np.argsort([np.argmax(arms == arm) for arm in pulled])
    numbers = np.empty(len(pulled), dtype=np.int64)
    numbers[order] = np.arange(1, len(pulled) + 1)
    middle = np.flatnonzero(pulled == 0)
    look = 1
    while look <= len(arms):
        pulls = np.bincount(where[:look], minlength=len(pulled)).astype(float)
        totals = np.bincount(where[:look], rewards[:look], len(pulled))
        means = np.where(pulls > 0, totals / np.maximum(pulls, 1), -1.0)
        leader = int(np.lexsort((pulls, means))[-1])
        if pulled[leader] != 0 and len(middle):
            so_far = np.where(numbers <= (pulls > 0).sum(), numbers, 0)
            found = shortfall(
                um.Bernoulli(), pulls, totals, leader, middle, Numbering(len(pulled), so_far)
            )
            if found[0] <= math.log1p(-confidence):
                return 1.0, 1.0
        look = next_look(look)
    return 0.0, 0.0


class Certificates(um.studies.EveryTrial):
    """Whether an arm was certified, and whether a wrong one was."""

    columns = ("certified", "wrong")


def settings():
    """Every problem at every level."""
    return [Level(name, level) for name in [*FIXED, STAR] for level in LEVELS]


def run(folder):
    """Play everything and write data.parquet."""
    um.studies.Study(settings(), Certificates).run(folder).save(HERE / pages.DATA)


def shares(found):
    """The share certified, and that certified wrongly with its interval, at each level."""
    rows = []
    for name in [*FIXED, STAR]:
        cells = []
        for level in LEVELS:
            (one,) = found.of(Level(name, level)).values()
            wrong, low, high = share_interval(int(one["wrong"][0].sum()), TRIALS)
            certified = "–" if name == STAR else f"{100 * one['certified'][0].mean():.3g} %"
            cells += [certified, f"{100 * wrong:.3g} % ({100 * low:.2g} to {100 * high:.2g})"]
        rows.append((name, FIXED[name][1] if name in FIXED else "UTS", *cells))
    heads = [
        f"{what} at {100 * level:g} %" for level in LEVELS for what in ("certified", "wrongly")
    ]
    return markdown_table(("problem", "policy", *heads), rows)


def render(out):
    """Write the page from data.parquet."""
    found = um.studies.load(HERE / pages.DATA, Level, Certificates)
    pages.fill_in(
        HERE / pages.TEMPLATE,
        out,
        shares=shares(found),
        measured=f"{TRIALS:,} trials of {HORIZON:,} rounds each (100 for the star)",
        made_with=found.made_with,
    )


if __name__ == "__main__":
    pages.command(run, render, HERE)
