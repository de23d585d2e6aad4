"""The rule that decides whether a number of the paper and ours agree."""

from __future__ import annotations

import math
from dataclasses import dataclass

from unimodal.results.skewed_means import student
from unimodal.results.statistics import Interval
from unimodal.studies.reproduce.findings import Finding
from unimodal.studies.reproduce.paper_numbers import PAPER_GRAPHS

AGREES, DIFFERS, CONTRADICTS = "agrees", "differs", "contradicts"
UNDECIDED, NOT_RUN = "undecided", "not run at this scale"

LEVEL = 0.99  # of the whole table: each of n cells is judged at 1 - 0.01/n
_WIDE = 0.10  # above this share of the value, our own interval is too wide to judge by
_FAR = 0.25  # a difference beyond this share of the paper's value is a contradiction


@dataclass(frozen=True)
class Agreement:
    """The verdict in a word, and the relative difference between ours and the paper's number."""

    word: str
    off: float  # (ours - paper's)/paper's

    def __str__(self) -> str:
        """The word, with the difference if the numbers do not agree."""
        if self.word in (DIFFERS, CONTRADICTS):
            return f"{self.word} by {100 * self.off:+.0f} %"
        return self.word


def judge(
    ours: Interval,
    precision: Interval,
    reported: Interval,
    samples: int,
    cells: int,
    rounding: float = 0.0,
    theirs: int | None = None,
) -> Agreement:
    """Judge one number.

    `ours` is our 95 % interval over `samples` graphs (or trials); `precision` the one that more
    trials would narrow; `reported` the paper's, over `theirs` samples (by default as many as ours);
    `rounding` half of the last digit it prints. They are compatible if they differ by no more than
    their combined standard error allows at 1 - 0.01/`cells`. Ours is that of the interval's side on
    which the paper's number lies.

    >>> near, far = Interval(10.0, 9.5, 10.5), Interval(14.0, 13.5, 14.5)
    >>> str(judge(near, near, Interval(10.4, 10.0, 10.8), 100, 1))
    'agrees'
    >>> str(judge(near, near, far, 100, 1))
    'contradicts by -29 %'
    """
    off = (ours.value - reported.value) / reported.value
    if not precision.half_width <= _WIDE * abs(ours.value):  # NaN too: one trial has no interval
        return Agreement(UNDECIDED, off)
    ours_error = ours.towards(reported.value) / student(samples)
    theirs = samples if theirs is None else theirs
    paper_error = reported.half_width / student(theirs)
    error = math.hypot(ours_error, paper_error)
    # Welch: two standard errors, each from samples of its own.
    freedom = error**4 / (ours_error**4 / (samples - 1) + paper_error**4 / (theirs - 1))
    reach = student(round(freedom) + 1, 1 - (1 - LEVEL) / cells) * error + rounding
    if abs(ours.value - reported.value) <= reach:
        return Agreement(AGREES, off)
    return Agreement(CONTRADICTS if abs(off) > _FAR else DIFFERS, off)


def judge_regret(finding: Finding, reported: Interval, cells: int) -> Agreement:
    """Judge a regret of Table 2 or 3, which the paper rounds to whole numbers."""
    samples = len(finding.units)
    if samples < 2:
        return Agreement(UNDECIDED, finding.over_trials.value / reported.value - 1)
    ours = (finding.over_graphs, finding.over_trials)
    return judge(*ours, reported, samples, cells, 0.5, PAPER_GRAPHS)
