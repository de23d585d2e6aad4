"""Whether two policies differ: the effect with its interval, and a p-value that agrees with it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from unimodal.escape_text import printable
from unimodal.results.skewed_means import student, student_of
from unimodal.results.statistics import Interval, interval_of_mean, marked

ALPHA = 0.05  # the error that all tests of a family have together


@dataclass(frozen=True)
class Difference:
    """How much more regret a policy has than another, and whether that may be chance.

    Attributes
    ----------
    name
        The policy.
    other
        The one it is compared with.
    effect
        The mean regret of the first minus that of the second, with an interval that covers in 95 %
        of all cases; of several tests, all of them together do.
    p
        The p-value, corrected like the interval: below 0.05 where 0 lies outside of it.
    paired
        Whether trials with the same number were compared.
    of
        For how many tests both are corrected (Bonferroni).

    Examples
    --------
    >>> print(Difference("UTS", "TS", Interval(-35.2, -42.0, -28.4), 0.0002, True, 3))
    UTS − TS: -35 ± 7, p = 0.0002 (paired by trial, corrected for 3 tests)
    """

    name: str
    other: str
    effect: Interval
    p: float
    paired: bool
    of: int = 1

    @property
    def is_significant(self) -> bool:
        """Whether 0 lies outside of the interval."""
        return self.p < ALPHA

    def __str__(self) -> str:
        how = "paired by trial" if self.paired else "not paired"
        if self.of > 1:
            how += f", corrected for {self.of} tests"
        p = "p < 0.0001" if self.p < 1e-4 else f"p = {self.p:.2g}"
        names = f"{printable(self.name)} − {printable(self.other)}"
        return f"{names}: {self.effect}, {p} ({how})"


def paired(name: str, other: str, over: Any, under: Any, of: int) -> Difference:
    """Compare trial by trial: each pair shares its random streams, so much of the noise is gone."""
    level, freedom = 1 - ALPHA / of, len(over) - 1.0
    apart = np.asarray(over) - np.asarray(under)
    effect = interval_of_mean(apart, level)
    return Difference(name, other, effect, _p_value(effect, freedom, level, of), True, of)


def unpaired(name: str, other: str, over: Any, under: Any, of: int) -> Difference:
    """Compare trials that share nothing (Welch 1947), with the reach of skewed means."""
    level = 1 - ALPHA / of
    one, two = interval_of_mean(over), interval_of_mean(under)
    value = one.value - two.value
    below, low_freedom = _added(one.value - one.low, len(over), two.high - two.value, len(under))
    above, high_freedom = _added(one.high - one.value, len(over), two.value - two.low, len(under))
    low = value - below * student_of(low_freedom, level)
    high = value + above * student_of(high_freedom, level)
    effect = marked((value, low, high), one.few or two.few)
    freedom = low_freedom if value > 0 else high_freedom
    return Difference(name, other, effect, _p_value(effect, freedom, level, of), False, of)


def _added(one: float, trials: int, two: float, others: int) -> tuple[float, float]:
    """The error of a difference from the reaches of two 95 % intervals, and its freedom."""
    if min(trials, others) < 2:
        return math.nan, 1.0
    squares = (one / student(trials)) ** 2, (two / student(others)) ** 2
    total = sum(squares)
    if total == 0:
        return 0.0, float(trials + others - 2)
    return math.sqrt(total), total**2 / (
        squares[0] ** 2 / (trials - 1) + squares[1] ** 2 / (others - 1)
    )


def _p_value(effect: Interval, freedom: float, level: float, of: int) -> float:
    """The least error at which the interval, narrowed or widened, leaves 0 out; 1 at most."""
    from scipy.special import stdtr

    reach = effect.towards(0.0)
    if math.isnan(reach) or effect.value == 0:
        return 1.0  # one trial says nothing
    if reach == 0:
        return 0.0
    student = student_of(freedom, level) * abs(effect.value) / reach
    return min(1.0, of * 2 * float(stdtr(freedom, -student)))
