"""The numbers of Tables 1 to 3 as questions: ours made precise, then compared with the paper's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unimodal.results.skewed_means import student_of
from unimodal.results.statistics import Interval, marked
from unimodal.studies.reproduce import paper_numbers as paper
from unimodal.studies.reproduce.comparisons import Samples, setting_text
from unimodal.studies.reproduce.number_agreement import UNDECIDED, Agreement, judge
from unimodal.studies.reproduce.sequential_test import (
    LOOKS,
    Estimate,
    mean_of,
)
from unimodal.studies.reproduce.setting import Setting
from unimodal.studies.reproduce.settings import paper_setting

PRECISE = 0.05  # the share of the value within which our 95 % interval must lie


@dataclass(frozen=True)
class Number:
    """A number of the paper, and what of ours stands against it."""

    table: str
    setting: Setting
    policy: str
    reported: Interval  # without an interval in Table 3
    theirs: int  # the samples of the paper's interval
    rounding: float  # half of the last digit that the paper prints
    relative_to: str = ""  # a policy, in Table 1

    @property
    def uses(self) -> tuple[tuple[Setting, str], ...]:
        """The settings and policies of which it needs samples."""
        both = (self.policy, self.relative_to) if self.relative_to else (self.policy,)
        return tuple((self.setting, policy) for policy in both)

    def estimate(self, samples: Samples) -> Estimate:
        """The mean regret, or the ratio of two (the delta method)."""
        over, *under = (samples(*use)[:, -1] for use in self.uses)
        if not under:
            return mean_of(over, 2)
        ratio = np.mean(over) / np.mean(under[0])
        residuals = (over - ratio * under[0]) / np.mean(under[0])
        return mean_of(ratio + residuals, 2)

    @property
    def key(self) -> str:
        """Which number it is: under this its estimates are kept in a file."""
        return f"{self.setting.name}: {self.policy}"

    @property
    def where(self) -> str:
        """Its table, setting and policy in words."""
        return f"{self.table}, {setting_text(self.setting)}, {self.policy}"

    def judged(self, ours: Estimate, questions: int) -> Agreement:
        """The verdict of one look, undecided while our interval is wider than 5 % of the value."""
        interval = usual_interval(ours)
        off = (ours.value - self.reported.value) / self.reported.value
        if not precise(ours):
            return Agreement(UNDECIDED, off)
        reported = self.reported
        if reported.half_width == 0:  # Table 3: ours, as of the paper's number of graphs
            deviation = ours.error * math.sqrt(ours.samples)
            spread = deviation / math.sqrt(self.theirs) * student_of(self.theirs - 1, 0.95)
            reported = Interval(reported.value, reported.value - spread, reported.value + spread)
        looks = LOOKS * questions
        at = (ours.samples, looks, self.rounding, self.theirs)
        return judge(interval, interval, reported, *at)


def usual_interval(estimate: Estimate) -> Interval:
    """The 95 % interval as tables show it (`skewed_means.py`), marked if few samples make it."""
    below, above = estimate.skew.reach(student_of(estimate.freedom, 0.95))
    value, error = estimate.value, estimate.error
    return marked((value, value - below * error, value + above * error), estimate.few)


def precise(estimate: Estimate, factor: float = 1.0) -> bool:
    """Whether Student's interval is narrow enough, now or with so many times the samples."""
    half = student_of(estimate.freedom, 0.95) * estimate.error / math.sqrt(factor)
    return bool(half <= PRECISE * abs(estimate.value))


@dataclass(frozen=True)
class NumberConclusion:
    """The verdict on a number by the first look that is precise enough, or by the last."""

    verdict: Agreement
    look: int
    estimate: Estimate

    @property
    def open(self) -> bool:
        """Whether no look was precise enough."""
        return self.verdict.word == UNDECIDED


def conclude_number(
    number: Number, estimates: Sequence[Estimate], questions: int
) -> NumberConclusion:
    """The verdict on a number from its looks."""
    last = None
    for look, estimate in enumerate(estimates[:LOOKS]):
        last = NumberConclusion(number.judged(estimate, questions), look, estimate)
        if not last.open:
            return last
    if last is None:
        raise ValueError("a number without samples")
    return last


def projected_number(conclusion: NumberConclusion, growth: int) -> int | None:
    """The look at which ours would be precise enough."""
    ahead = range(1, 25)
    steps = (step for step in ahead if precise(conclusion.estimate, float(growth**step)))
    return next((conclusion.look + step for step in steps), None)


def all_numbers() -> tuple[Number, ...]:
    """Every number of Tables 1 to 3."""
    made = []
    for k, cells in paper.TABLE_1.items():
        where = paper_setting("Table 1", k, "triangle")
        for policy, reported in cells.items():
            at = ("Table 1", where, policy, reported, paper.PAPER_TRIALS, 0.005, "OSUB")
            made.append(Number(*at))
    for (k, p, policy), reported in paper.TABLE_2.items():
        where = paper_setting("Table 2", k, p)
        made.append(Number("Table 2", where, policy, reported, paper.PAPER_GRAPHS, 0.5))
    for (k, policy), value in paper.TABLE_3.items():
        where = paper_setting("Table 3", k, "0.1")
        bare = Interval(value, value, value)
        made.append(Number("Table 3", where, policy, bare, paper.PAPER_GRAPHS, 0.5))
    return tuple(made)
