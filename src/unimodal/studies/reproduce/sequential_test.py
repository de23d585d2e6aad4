"""The rule that decides a comparison although it is looked at several times.

Samples grow by a factor from look to look: a question is looked at with the paper's own number of
samples, then with twice or four times as many as before (`added_samples.py` says which), at most
eight times. The first look that decides it is the last. The 1 % by which all verdicts together
may err is divided evenly among all questions and all looks (a union bound), so each look has an
interval at 1 - 0.01/(8 × questions). It needs no independence of looks or of questions.

Regrets are skewed: a rare trial that loses its way has a hundred times the regret of the others,
and Student's interval then ends too early on that side. So an interval is Student's, extended on
the side of the skew by the term of Johnson (1978, JASA 73, 536-544), and decides only if there are
samples enough for their skewness (Cochran 1977, section 2.15: 25 times its square).

**The condition.** No rule can count what was not drawn. The 99 % hold if every kind of lost trial
that could turn a verdict comes so often that n trials miss it in at most half of the errors that
are allowed: with a chance of log(2/α)/n, one in 75 at 400 trials for a question alone. With one
drawn, the skewness asks for more samples. One in 1,000 with 100 times the regret is not such a
kind: with it the rule errs in 66 % of runs. So a verdict says what could turn it unseen (`Unseen`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unimodal.results.skewed_means import COCHRAN, FewTrials, Skew, student_of
from unimodal.results.statistics import Interval

ALPHA = 0.01  # of all verdicts together
LOOKS = 8
FEWEST_GRAPHS, FEWEST_TRIALS = 20, 400  # samples before which nothing is decided
LOST = 100.0  # times the mean regret, as trials on long lines have been seen to lose
_FARTHEST = 24  # looks at which a projection gives up

HOLDS, FAILS, CLOSE, OPEN = "holds", "does not hold", "too close to call", "open"


def level_of(questions: int) -> float:
    """The level of each interval if so many questions are decided jointly at 99 %.

    >>> round(1 - level_of(100), 8)
    1.25e-05
    """
    return 1 - ALPHA / (LOOKS * questions)


@dataclass(frozen=True)
class Estimate:
    """What samples say of a quantity: an estimate, its standard error and its third cumulant.

    The first three may be arrays, for many quantities at once.
    """

    value: Any
    error: Any
    third: Any  # of the estimate: that of one sample divided by the square of their number
    freedom: float  # degrees of freedom of the error
    samples: int
    fewest: int  # samples that must be there

    @property
    def enough(self) -> Any:
        """Whether there are samples enough for an interval to be trusted far out."""
        return self.enough_if_grown(1.0)

    def enough_if_grown(self, factor: float) -> Any:
        """Whether so many times the samples would be enough, if they were like these."""
        skewness = self._third_by(3) * math.sqrt(self.samples)
        return self.samples * factor >= np.maximum(self.fewest, COCHRAN * skewness**2)

    @property
    def skew(self) -> Skew:
        """The skew of the estimate, as `skewed_means` has it; one-sided moments are not kept."""
        return Skew(self.samples, self.error, self._third_by(3), -math.inf, -math.inf)

    @property
    def few(self) -> FewTrials | None:
        """Why it cannot be trusted, if few large samples make it."""
        skew = self.skew
        if not skew.few:
            return None
        return FewTrials(0, self.samples, math.nan, math.nan, math.nan, int(skew.needed))

    def interval(self, level: float) -> Interval:
        """The interval, extended on the side of the skew."""
        return self.grown(1.0, level)

    def grown(self, factor: float, level: float) -> Interval:
        """The interval that so many times the samples would give if they were like these."""
        reach = student_of((self.freedom + 1) * factor - 1, level)
        half = reach * self.error / math.sqrt(factor)
        shift = self._third_by(2) * (2 * reach**2 + 1) / 6 / factor
        low = self.value - half + np.minimum(shift, 0.0)
        high = self.value + half + np.maximum(shift, 0.0)
        return Interval(self.value, low, high)

    def _third_by(self, power: int) -> Any:
        """The third cumulant divided by a power of the error; 0 where nothing varies."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.error > 0, self.third / np.power(self.error, power), 0.0)[()]


def mean_of(samples: Any, fewest: int) -> Estimate:
    """The mean of some samples, over the first axis.

    >>> print(mean_of(np.array([1.0, 2.0, 3.0, 4.0]), 2).interval(0.95))
    2 ± 2
    """
    samples = np.asarray(samples, dtype=np.float64)
    number, mean = len(samples), samples.mean(axis=0)
    if number < 2:
        return Estimate(mean, math.inf, 0.0, 0.0, number, fewest)
    apart = samples - mean
    squares = apart * apart
    error = np.sqrt(squares.sum(axis=0) / (number - 1) / number)
    third = (squares * apart).mean(axis=0) / number**2
    return Estimate(mean, error, third, number - 1, number, fewest)


def difference(one: Estimate, two: Estimate) -> Estimate:
    """One estimate minus another that does not depend on it (Welch's degrees of freedom)."""
    error = math.hypot(one.error, two.error)
    parts = [e.error**4 / e.freedom for e in (one, two) if e.freedom > 0]
    freedom = error**4 / sum(parts) if sum(parts) > 0 else one.freedom + two.freedom
    samples = min(one.samples, two.samples)
    fewest = max(one.fewest, two.fewest)
    return Estimate(one.value - two.value, error, one.third - two.third, freedom, samples, fewest)


def word_of(interval: Interval, margin: float) -> str:
    """What an interval of a quantity says of the claim that it is above 0.

    >>> word_of(Interval(0.5, 0.1, 0.9), 0.2), word_of(Interval(0.05, -0.05, 0.15), 0.2)
    ('holds', 'too close to call')
    """
    if interval.low > 0:
        return HOLDS
    if interval.high < 0:
        return FAILS
    return CLOSE if -margin <= interval.low and interval.high <= margin else OPEN


@dataclass(frozen=True)
class Conclusion:
    """The word on a question, and the look that gave it: the first that decides, or the last."""

    word: str
    look: int
    interval: Interval
    estimate: Estimate


@dataclass(frozen=True)
class Unseen:
    """What would turn a verdict although no trial showed it: a kind of lost trial.

    One in `one_in` trials, with at least `times` the mean regret; rarer ones must be as much
    larger.
    """

    one_in: float
    times: float

    @property
    def matters(self) -> bool:
        """Whether trials have been seen to lose so much."""
        return self.times < LOST

    def __str__(self) -> str:
        """In words."""
        return (
            f"it rests on no lost trial: one in {self.one_in:,.0f} with {self.times:.2g} times "
            "the mean regret could turn it unseen"
        )


def missed_at(level: float) -> float:
    """The samples expected of a kind that all samples miss in half of the errors allowed."""
    return math.log(2 / (LOOKS * (1 - level)))


def unseen(conclusion: Conclusion, level: float, trials: int) -> Unseen | None:
    """What would turn a verdict of so many trials unseen; None if there is no verdict.

    Intervals are at `level`. The estimate is a difference relative to a mean regret, so a kind of
    trial with a chance p and c times the mean regret moves it by p·c.

    >>> samples = mean_of(np.array([0.1, 0.2] * 200), 400)
    >>> conclusion = Conclusion(HOLDS, 0, samples.interval(0.99), samples)
    >>> print(unseen(conclusion, level_of(1), 400))
    it rests on no lost trial: one in 75 with 11 times the mean regret could turn it unseen
    """
    if conclusion.word not in (HOLDS, FAILS):
        return None
    one_in = trials / missed_at(level)
    return Unseen(one_in, abs(float(conclusion.estimate.value)) * one_in)


def conclude(estimates: Sequence[Estimate], margin: float, level: float) -> Conclusion:
    """The word on a question from its looks, one estimate each."""
    last = None
    for look, estimate in enumerate(estimates[:LOOKS]):
        interval = estimate.interval(level)
        word = word_of(interval, margin) if estimate.enough else OPEN
        last = Conclusion(word, look, interval, estimate)
        if word != OPEN:
            return last
    if last is None:
        raise ValueError("a question without samples")
    return last


def projected(conclusion: Conclusion, margin: float, level: float, growth: int) -> int | None:
    """The look that would decide a question if more samples were like those so far.

    Samples grow by the factor `growth` from look to look. It may be beyond the last look; None if
    it is beyond `_FARTHEST`.
    """
    for look in range(conclusion.look + 1, _FARTHEST):
        factor = float(growth ** (look - conclusion.look))
        interval = conclusion.estimate.grown(factor, level)
        if conclusion.estimate.enough_if_grown(factor) and word_of(interval, margin) != OPEN:
            return look
    return None
