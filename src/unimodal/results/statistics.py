"""Statistics of regrets: means with intervals, quantiles, ratios. Arrays in, arrays out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from unimodal.report.tables import MARK
from unimodal.results.skewed_means import (
    FewTrials,
    Skew,
    few_trials,
    skew_of,
    skew_of_ratio,
    student,
)


class _Ends(NamedTuple):
    value: float
    low: float
    high: float


class Interval(_Ends):
    """An estimate with the ends of its interval, and whether few trials make it.

    Attributes
    ----------
    few
        Why it cannot be trusted, if few large trials make it; else None.

    Examples
    --------
    >>> f"{Interval(0.52, 0.45, 0.59)}"
    '0.52 ± 0.07'
    >>> f"{Interval(35.2, 32.1, 42.0)}"
    '35 −3 +7'
    """

    few: FewTrials | None = None

    @property
    def half_width(self) -> float:
        """Half of the interval's length."""
        return (self.high - self.low) / 2

    def towards(self, value: float) -> float:
        """How far the interval reaches on the side on which a value lies.

        >>> Interval(35.0, 32.0, 42.0).towards(50.0)
        7.0
        """
        return self.high - self.value if value > self.value else self.value - self.low

    def room(self, other: Interval) -> float:
        """How far the two reach towards each other, together."""
        return self.towards(other.value) + other.towards(self.value)

    def __str__(self) -> str:
        """The estimate and how far it may be off, to its first digit (two if that is 1).

        Behind it stands a † where few trials make it.
        """
        spread = self.half_width
        if not math.isfinite(spread) or spread <= 0:
            return f"{self.value:.4g}"
        power = math.floor(math.log10(spread))
        digits = max(0, -power + (spread < 2 * 10**power))
        return self.written(f".{digits}f")

    def written(self, spec: str) -> str:
        """The same, with each of its numbers in a format of Python's.

        >>> Interval(1200.0, 1100.0, 1500.0).written(",.0f")
        '1,200 −100 +300'
        """
        reach = self.value - self.low, self.high - self.value
        below, above = (format(end, spec) for end in reach)
        apart = f"± {below}" if below == above else f"−{below} +{above}"
        return f"{self.value:{spec}} {apart}{f' {MARK}' if self.few else ''}"

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)


def mean_interval(samples: Any, level: float = 0.95) -> tuple[Any, Any, Any]:
    """Mean over the first axis with the ends of its interval.

    That is Student's, and reaches farther where samples lie far out (`skewed_means.py`).

    >>> mean, low, high = mean_interval(np.array([1.0, 2.0, 3.0]))
    >>> print(f"{mean:.2f} {low:.2f} {high:.2f}")
    2.00 -0.48 4.48
    """
    return _interval(*_apart(samples), level)[:3]


def interval_of_mean(samples: Any, level: float = 0.95) -> Interval:
    """The mean of some samples with its interval, marked if few of them make it.

    >>> print(interval_of_mean([1.0] * 50 + [3.0] * 49 + [500.0]))
    7 −10 +22 †
    """
    mean, apart = _apart(samples)
    *ends, skew = _interval(mean, apart, level)
    return marked(ends, skew and few_trials(mean + apart, None, apart, skew))


def interval_within_groups(samples: Any, level: float = 0.95) -> Interval:
    """The mean of samples in rows, one row per group, with the interval for these groups alone."""
    samples = np.asarray(samples, dtype=np.float64)
    apart = (samples - samples.mean(axis=1, keepdims=True)).ravel()
    *ends, skew = _interval(samples.mean(), apart, level, len(samples))
    return marked(ends, skew and few_trials(samples.ravel(), None, apart, skew))


def _apart(samples: Any) -> tuple[Any, Any]:
    samples = np.asarray(samples, dtype=np.float64)
    mean = samples.mean(axis=0)
    return mean, samples - mean


def _interval(
    mean: Any, apart: Any, level: float, groups: int = 1
) -> tuple[Any, Any, Any, Skew | None]:
    """An estimate whose error is the mean of `apart`, with its ends and its skew."""
    freedom = len(apart) - groups
    if freedom < 1:
        return mean, mean * np.nan, mean * np.nan, None
    skew = skew_of(apart, groups)
    return mean, *_ends(mean, skew, student(freedom + 1, level)), skew


def _ends(value: Any, skew: Skew, student: float) -> tuple[Any, Any]:
    below, above = skew.reach(student)
    return value - below * skew.error, value + above * skew.error


def marked(ends: Any, few: FewTrials | None) -> Interval:
    """An interval with these ends, marked if few trials make it."""
    made = Interval(*(float(end) for end in ends))
    made.few = few
    return made


def share_interval(count: int, trials: int, level: float = 0.95) -> Interval:
    """A share with its exact interval (Clopper and Pearson 1934).

    >>> share = share_interval(0, 100)
    >>> print(f"{share.value:.3f} {share.low:.3f} {share.high:.3f}")
    0.000 0.000 0.036
    """
    from scipy.special import betaincinv

    tail = (1 - level) / 2
    low = betaincinv(count, trials - count + 1, tail) if count > 0 else 0.0
    high = betaincinv(count + 1, trials - count, 1 - tail) if count < trials else 1.0
    return Interval(count / trials, float(low), float(high))


def ratio_interval(numerator: Any, denominator: Any, level: float = 0.95) -> Interval:
    """The ratio of two means, with the interval of the delta method, marked as a mean is.

    Trials with the same number share their random streams, so the two are paired and their
    covariance counts.

    >>> print(ratio_interval(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0])))
    0.5
    """
    over = np.asarray(numerator, dtype=np.float64)
    under = np.asarray(denominator, dtype=np.float64)
    ratio = float(over.mean() / under.mean()) if under.mean() else math.nan
    if len(over) < 2 or math.isnan(ratio):
        return Interval(ratio, math.nan, math.nan)
    # The ratio's error is, to first order, the mean of the difference of these two.
    parts = (over - over.mean()) / under.mean(), ratio * (under - under.mean()) / under.mean()
    skew = skew_of_ratio(*parts)
    ends = ratio, *_ends(ratio, skew, student(len(over), level))
    return marked(ends, few_trials(over, under, parts[0] - parts[1], skew))


QUANTILES = {"q05": 0.05, "q25": 0.25, "median": 0.5, "q75": 0.75, "q95": 0.95, "q99": 0.99}


def describe(samples: Any) -> dict[str, Any]:
    """Mean, its 95 % interval and the quantiles, each over the first axis.

    `few` says where few trials make the mean, and `needed` how many would do.
    """
    mean, low, high, skew = _interval(*_apart(samples), 0.95)
    ordered = np.sort(np.asarray(samples).T)  # three times as quick as without
    quantiles = np.quantile(ordered, list(QUANTILES.values()), axis=-1, overwrite_input=True)
    few = mean * 0 > 0 if skew is None else skew.few
    needed = mean * np.nan if skew is None else np.where(few, skew.needed, np.nan)
    made = {"mean": mean, "low": low, "high": high, **dict(zip(QUANTILES, quantiles, strict=True))}
    return made | {"few": few, "needed": needed}


def quantile_interval(ordered: Any, share: float, level: float = 0.95) -> tuple[float, Any, Any]:
    """A quantile of ordered samples, with ends that cover it whatever their law; None where none.

    The ends are samples: how many lie below the quantile is binomial (Clopper and Pearson).

    >>> quantile_interval(np.arange(1.0, 101.0), 0.5)
    (50.5, 40.0, 61.0)
    >>> quantile_interval(np.array([3.0]), 0.5)
    (3.0, None, None)
    """
    from scipy.special import bdtr

    trials, tail = len(ordered), (1 - level) / 2
    at_most = bdtr(np.arange(trials, dtype=np.float64), trials, share)  # P(so many lie below)
    low = int((at_most <= tail).sum())
    high = int((1 - at_most > tail).sum())
    return (
        float(np.quantile(ordered, share)),
        float(ordered[low - 1]) if low else None,
        float(ordered[high]) if high < trials else None,
    )


def notes(named: Mapping[str, Interval]) -> list[str]:
    """What stands below a table of these: why those that are marked cannot be trusted.

    >>> print(*notes({"UTS": interval_of_mean([1.0] * 50 + [3.0] * 49 + [500.0])}))
    † UTS: 1 of 100 trials has 72 % of the mean and 99 % of the variance; without it: 1.99. About \
2,500 trials would do.
    """
    return [f"{MARK} {name}: {one.few}" for name, one in named.items() if one.few]
