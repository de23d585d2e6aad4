"""Statistics of regrets: means with intervals, quantiles, ratios. Arrays in, arrays out."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np


class Interval(NamedTuple):
    """An estimate with the ends of its interval.

    >>> f"{Interval(0.52, 0.45, 0.59)}"
    '0.52 ± 0.07'
    """

    value: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Half of the interval's length."""
        return (self.high - self.low) / 2

    def __str__(self) -> str:
        """The estimate and half of the interval's length, to its first digit (two if that is 1)."""
        spread = self.half_width
        if not math.isfinite(spread) or spread <= 0:
            return f"{self.value:.4g}"
        power = math.floor(math.log10(spread))
        digits = max(0, -power + (spread < 2 * 10**power))
        return f"{self.value:.{digits}f} ± {spread:.{digits}f}"

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)


def student(trials: int, level: float = 0.95) -> float:
    """How many standard errors an interval reaches to each side; infinite for one trial."""
    from scipy.special import stdtrit

    return float(stdtrit(trials - 1, 0.5 + level / 2)) if trials > 1 else math.inf


def mean_interval(samples: Any, level: float = 0.95) -> tuple[Any, Any, Any]:
    """Mean over the first axis with the ends of its Student interval.

    >>> mean, low, high = mean_interval(np.array([1.0, 2.0, 3.0]))
    >>> print(f"{mean:.2f} {low:.2f} {high:.2f}")
    2.00 -0.48 4.48
    """
    samples = np.asarray(samples, dtype=np.float64)
    trials = len(samples)
    mean = samples.mean(axis=0)
    if trials < 2:
        return mean, mean * np.nan, mean * np.nan
    reach = student(trials, level) * samples.std(axis=0, ddof=1) / math.sqrt(trials)
    return mean, mean - reach, mean + reach


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
    """The ratio of two means, with the interval of the delta method.

    Trials with the same number share their random streams, so the two are paired and their
    covariance counts.

    >>> print(ratio_interval(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0])))
    0.5
    """
    over = np.asarray(numerator, dtype=np.float64)
    under = np.asarray(denominator, dtype=np.float64)
    trials = len(over)
    ratio = float(over.mean() / under.mean()) if under.mean() else math.nan
    if trials < 2 or math.isnan(ratio):
        return Interval(ratio, math.nan, math.nan)
    # The ratio's error is, to first order, the mean of these divided by the denominator's mean.
    residual = over - ratio * under
    reach = student(trials, level) * float(residual.std(ddof=1)) / math.sqrt(trials)
    reach /= abs(float(under.mean()))
    return Interval(ratio, ratio - reach, ratio + reach)


QUANTILES = {"q05": 0.05, "q25": 0.25, "median": 0.5, "q75": 0.75, "q95": 0.95}


def describe(samples: Any) -> dict[str, Any]:
    """Mean, its 95 % interval and the quantiles, each over the first axis."""
    mean, low, high = mean_interval(samples)
    quantiles = np.quantile(samples, list(QUANTILES.values()), axis=0)
    return {"mean": mean, "low": low, "high": high, **dict(zip(QUANTILES, quantiles, strict=True))}
