"""Means of skewed samples: how far their intervals reach, and whether few trials make them.

Regrets are skewed. A trial that loses its way has ten or a hundred times the regret of the others,
and samples without such a trial have a mean that is too low and a deviation that is too small: of
100 trials Student's 95 % interval then covers 0.77 to 0.90, and all misses are on one side. So an
interval reaches farther on a side on which samples lie far out: up to 2.2 times as far as
Student's, and 1.6 times as wide in all. How far follows from the third moments alone; nothing is
resampled, so the same samples give the same bytes. docs/theory/intervals.md has the coverage.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

FEW = 0.7  # of a mean's skewness: above it few trials make the mean, such as one with 79 % of the
# variance (0.79 = 0.7^(2/3))
COCHRAN = 25.0  # so many times the squared skewness of samples are enough (1977, section 2.15)
_WIDER = 1.2  # of Student's reach: the most that both sides together are farther
_STARTS, _RISES = 0.01, 0.05  # the skewness from which on it reaches farther, and until all is used
_STARTS_BY_CHANCE, _RISES_BY_CHANCE = 1.25, 2.2  # the same, in deviations of Gaussian samples

_NOTHING = 1e-200  # less than any sum of squares whose cubes are numbers


def student(trials: int, level: float = 0.95) -> float:
    """How many standard errors Student's interval reaches to each side; infinite for one trial."""
    return student_of(trials - 1.0, level)


def student_of(freedom: float, level: float) -> float:
    """The same, for a broken number of degrees of freedom."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.5 + level / 2)) if freedom > 0 else math.inf


class Skew(NamedTuple):
    """How skewed a mean of some samples is: numbers, or arrays for many means at once."""

    trials: int
    error: Any  # the standard error of the mean
    mean: Any  # the skewness of the mean: that of one sample divided by √trials
    above: Any  # how much of it lies above the mean, beyond what Gaussian samples have there
    below: Any

    @property
    def few(self) -> Any:
        """Whether few trials make the mean."""
        return np.abs(self.mean) > FEW

    @property
    def needed(self) -> Any:
        """So many trials would do, if more were like these; to two digits, upwards."""
        wanted = np.maximum(COCHRAN * self.trials * self.mean**2, 10.0)
        unit = 10.0 ** np.floor(np.log10(wanted) - 1)
        return np.ceil(wanted / unit) * unit

    def reach(self, student: float) -> tuple[Any, Any]:
        """How many standard errors an interval reaches below and above its mean."""
        below, above = self._far_out(-self.mean, self.below), self._far_out(self.mean, self.above)
        both = np.maximum(below + above, 1.0)
        return student * (1 + _WIDER * below / both), student * (1 + _WIDER * above / both)

    def _far_out(self, skewness: Any, one_sided: Any) -> Any:
        """How far out samples lie on a side: 0 as Gaussian ones, 1 or more than that."""
        by_chance = math.sqrt(6.0) / self.trials  # the deviation of `mean` of Gaussian samples
        starts = max(_STARTS, _STARTS_BY_CHANCE * by_chance)
        rises = max(_RISES, _RISES_BY_CHANCE * by_chance)
        return np.clip((np.maximum(skewness, one_sided) - starts) / rises, 0.0, 1.0)


def skew_of(apart: Any, groups: int = 1) -> Skew:
    """The skew of a mean over the first axis, from the samples minus the mean of their group."""
    trials = len(apart)
    powers = apart * apart
    squares = powers.sum(axis=0)
    powers *= apart
    third = powers.sum(axis=0)
    sizes = np.abs(powers, out=powers).sum(axis=0)
    scale = np.power(np.maximum(squares, _NOTHING), 1.5)
    mean, size = third / scale, sizes / scale
    error = np.sqrt(squares / (trials - groups) / trials)
    gaussian = math.sqrt(2 / math.pi / trials)  # what each side has of Gaussian samples
    return Skew(trials, error, mean, (size + mean) / 2 - gaussian, (size - mean) / 2 - gaussian)


def skew_of_ratio(over: Any, under: Any) -> Skew:
    """The skew of a ratio of two means, from what each adds to its residuals: one minus the other.

    The difference of two skewed samples is hardly skewed, and the tails of both are in it. So above
    counts the tail of the one, and below that of the other, where those are larger.
    """
    found = skew_of(over - under)
    total = found.error**2 * found.trials * (found.trials - 1)
    upwards, downwards = (_skewness_within(part, total) for part in (over, under))
    above = np.maximum.reduce([found.above, upwards, -downwards])
    return found._replace(above=above, below=np.maximum.reduce([found.below, downwards, -upwards]))


def _skewness_within(part: Any, total: Any) -> Any:
    """The skewness that a part of the residuals, with so large a sum of squares, brings into them.

    Of a part that is larger than the whole, most is in the other part, too, and goes away with it.
    """
    squares = np.sum(part * part, axis=0)
    scale = np.power(np.maximum(np.maximum(squares, total), _NOTHING), 1.5)
    alone = np.minimum(0.5 * total / np.maximum(squares, _NOTHING), 1.0)
    return np.sum(part**3, axis=0) / scale * alone


@dataclass(frozen=True)
class FewTrials:
    """Why a mean cannot be trusted: few large trials make it.

    Attributes
    ----------
    largest
        How many trials these are: the fewest that have half of the variance; 0 if the samples were
        not kept.
    trials
        How many trials there are.
    of_mean
        Their share of the mean; not a number for a ratio.
    of_variance
        Their share of the variance.
    without
        The estimate without them.
    needed
        So many trials would do, if more were like these.

    Examples
    --------
    >>> print(FewTrials(1, 100, 0.31, 0.92, 34.2, 2300))
    1 of 100 trials has 31 % of the mean and 92 % of the variance; without it: 34.2. About 2,300 \
trials would do.
    """

    largest: int
    trials: int
    of_mean: float
    of_variance: float
    without: float
    needed: int

    def __str__(self) -> str:
        """The facts in two sentences."""
        if not self.largest:
            return f"few of {self.trials:,} samples make it. About {self.needed:,} would do."
        verb, them = ("has", "it") if self.largest == 1 else ("have", "them")
        mean = "" if math.isnan(self.of_mean) else f"{100 * self.of_mean:.0f} % of the mean and "
        return (
            f"{self.largest} of {self.trials:,} trials {verb} {mean}"
            f"{100 * self.of_variance:.0f} % of the variance; without {them}: {self.without:.3g}. "
            f"About {self.needed:,} trials would do."
        )


def few_trials(over: Any, under: Any, apart: Any, skew: Skew) -> FewTrials | None:
    """What is wrong with a mean of `over` (or a ratio to that of `under`), or None."""
    if not skew.few:
        return None
    squares = apart * apart
    # The largest share is at least the skewness squared, so one or two have half of the variance.
    two = np.argpartition(squares, -2)[-2:]
    one = two[np.argmax(squares[two])]
    those = two if 2 * squares[one] < squares.sum() else np.array([one])
    is_ratio, total = under is not None, float(np.sum(over))
    rest = total - over[those].sum(), len(over) - len(those)
    without = rest[0] / (under.sum() - under[those].sum() if is_ratio else rest[1])
    of_mean = math.nan if is_ratio or total <= 0 else float(over[those].sum()) / total
    share = float(squares[those].sum() / squares.sum())
    return FewTrials(len(those), len(over), of_mean, share, float(without), int(skew.needed))
