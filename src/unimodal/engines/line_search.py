"""LSE, line search elimination (Yu and Mannor 2011): golden section with tests.

Kept from the paper: an interval known to hold the peak, four points in golden section, equally
many rewards at each, and the outer part at the worse end dropped. The number of rewards is the one
Hoeffding's inequality asks for:

Let the interval have length ℓ and the inner points be x₁ < x₂, at ℓ/φ² from the ends. If the peak
lies left of x₁, dropping the left part would lose it. But then the mean falls from x₁ on, and by
assumption μ(x₁) - μ(x₂) ≥ ε, where ε is `LSE.fall`. Dropping the left part takes that the
empirical mean of x₁ is below that of x₂ or of the right end, so one of the three is off by ε/2 in
the wrong direction. With n rewards in an interval of width w at each point, that happens with
probability at most 3·exp(-n·ε²/(2w²)), which is 3/(8T) for n = (2w²/ε²)·log(8T). The other
direction is the same, and only one of the two can lose the peak.

A stage costs 4n rounds at points at most D·ℓ worse than the peak (α = 1), so its regret grows like
1/ℓ, and the last stage a horizon T leaves room for has ℓ ~ √(log T / T): in all √(T log T).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from unimodal.errors import UnimodalError, real_number
from unimodal.families import Bernoulli, Bounded, Family, Gaussian
from unimodal.families.leaping import gather
from unimodal.kernels.compile import record
from unimodal.policies.state import ARM
from unimodal.problems.interval import Interval

GOLDEN = (1 + math.sqrt(5)) / 2


class Narrowing(NamedTuple):
    """One trial of a search."""

    regret: Any  # at the rounds that were asked for, against the interval's best mean
    low: float  # the ends of what was left at the horizon
    high: float
    stages: int  # how many times a part was dropped


@dataclass(frozen=True)
class LSE:
    """Line search elimination: golden section, with enough rewards at each point to be sure.

    `slope` is C in the assumption: going away from the peak, the mean falls at least as fast as
    C·d^α does in the distance d, with α = `smoothness`. For α = 1 it is Yu and Mannor's: a
    slope of at least C everywhere but at the peak. Other values are ours: a smooth top has slope 0
    at the peak, so no C would do for α = 1. Too large a slope loses the peak; too small a one
    wastes rounds.

    Parameters
    ----------
    slope
        C of the assumption.
    smoothness
        α of the assumption.

    Examples
    --------
    >>> LSE(slope=0.8)
    LSE(slope=0.8, smoothness=1.0)
    >>> LSE(slope=0.8).rewards_at_a_point(length=1.0, horizon=10_000, width=1.0)
    634
    """

    slope: float
    smoothness: float = 1.0

    def __post_init__(self) -> None:
        """Check the numbers."""
        for name in ("slope", "smoothness"):
            number = real_number(getattr(self, name), f"the '{name}' of LSE", above=0)
            object.__setattr__(self, name, number)

    def fall(self, length: float) -> float:
        """ε: by how much the nearer inner point is better, for a peak in an outer part."""
        inner = (length / GOLDEN**3) ** self.smoothness  # a peak at the inner point itself
        # A peak at the end: the smaller one if the mean is steepest there, at a cusp.
        end = (length / GOLDEN) ** self.smoothness - (length / GOLDEN**2) ** self.smoothness
        return float(self.slope * min(inner, end))

    def rewards_at_a_point(self, length: float, horizon: int, width: float) -> int:
        """n: how many rewards at each of the four points of a stage."""
        fall = self.fall(length)
        if fall < 1e-100 * width:  # more than any horizon, and the square may overflow
            return horizon
        return math.ceil(2 * (width / fall) ** 2 * math.log(8 * horizon))

    def play(self, interval: Interval, rounds: Any, rng: Any) -> Narrowing:
        """One trial: regret at `rounds`, of which the last is the horizon."""
        horizon, width = int(rounds[-1]), reward_width(interval.family)
        low, high = interval.low, interval.high
        regret = np.empty(len(rounds))
        played, so_far, stages = 0, 0.0, 0
        while True:
            length = high - low
            points = [low, low + length / GOLDEN**2, high - length / GOLDEN**2, high]
            means = interval.means_at(points)
            pulls = self.rewards_at_a_point(length, horizon, width)
            if not points[1] < points[2]:  # nothing is left to narrow: a float has 53 bits
                pulls = horizon
            # The four points take turns; so regret is known at every round of the stage.
            within = np.append(0.0, np.cumsum(interval.best_mean - means))
            now = (rounds > played) & (rounds <= played + 4 * pulls)
            turns, rest = np.divmod(rounds[now] - played, 4)
            regret[now] = so_far + turns * within[4] + within[rest]
            played += 4 * pulls
            so_far += pulls * within[4]
            if played >= horizon:
                return Narrowing(regret, low, high, stages)
            found = [total_reward(interval.family, mean, pulls, rng) for mean in means]
            left_is_better = max(found[:2]) > max(found[2:])
            low, high = (low, points[2]) if left_is_better else (points[1], high)
            stages += 1


def reward_width(family: Family) -> float:
    """w: rewards lie in an interval of this width, or their mean is as sure as if they did."""
    if isinstance(family, Gaussian):
        return 2 * float(family.sigma)  # Hoeffding's lemma: width w is as good as variance w²/4
    if isinstance(family, Bernoulli | Bounded):
        return family.high - family.low
    raise UnimodalError(
        f"LSE needs rewards that are bounded or Gaussian, for Hoeffding's inequality, got "
        f"{family!r}: use UTS on interval.discretise(n) instead."
    )


def total_reward(family: Family, mean: float, pulls: int, rng: Any) -> float:
    """The sum of many rewards at one mean."""
    if family.is_plain:
        return sum(family.sample(mean, rng) for _ in range(pulls))
    arm = np.zeros(1, dtype=ARM)
    gather(record(family), arm, 0, float(mean), pulls, pulls, rng, rng)
    return float(arm["total"][0])
