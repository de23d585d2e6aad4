"""Which arm is the peak? A test whose level holds at every round at once.

The theorem and its proof are in docs/theory/certificate.md; in short: an arm that is not the peak
has a neighbour at least as good. To call it the peak, every neighbour must be rejected, so this one
too. The evidence against "b is at least as good as a" is the smallest product M_a(x)·M_b(y) over
all means x ≤ y, where M is ¼ + ¾ times the evidence of `confidence_bounds`. At the true means the
product is a non-negative supermartingale that starts at 1, so it ever reaches 1/δ with probability
at most δ, whatever chose the pulls.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unimodal.errors import UnimodalError, real_number
from unimodal.families.family import ArmsFamily, Family
from unimodal.inference.confidence_bounds import bounds

_CELLS, _PASSES = 128, 3  # what is found is at most some 0.5 % too small
_KEPT = 0.25  # of the stake that each reward multiplies: see `_with_part_kept`


def check_confidence(confidence: Any, what: str = "the 'confidence'") -> float:
    """The confidence as a number, if it is one; `what` is what it is called if it is not."""
    level = real_number(confidence, what, above=0)
    if not level < 1:
        raise UnimodalError(f"{what} must lie between 0 and 1, got {level:g}.")
    return level


def order_evidence(
    family: ArmsFamily, pulls: Any, totals: Any, better: int, worse: Any
) -> NDArray[np.float64]:
    """How much the rewards speak for one arm being better than each of some others, as logarithms.

    It is never more than the logarithm of the smallest M_a(x)·M_b(y) with x ≤ y: M grows with the
    distance from an arm's empirical mean, so the smallest is found at some x = y = z between the
    two means, and in a cell of z the product is at least that of M_a at the cell's upper end and
    M_b at its lower end. `family` is `family.of_arms(labels)` of all arms; totals are of rewards as
    they were told.

    >>> from unimodal import Bernoulli
    >>> order_evidence(Bernoulli(), [100, 100, 100], [80, 50, 79], 0, [1, 2]).round(1).tolist()
    [4.5, -2.3]
    """
    worse = np.asarray(worse, dtype=np.int64)
    pulls, totals = np.asarray(pulls, dtype=np.float64), np.asarray(totals, dtype=np.float64)
    worths = np.asarray(family.worth(np.ones(len(pulls))))

    def against(z: Any, arms: Any) -> Any:
        told = np.clip(z / worths[arms], family.told.low, family.told.high)  # rounding
        seen = pulls[arms] > 0
        found = _with_part_kept(family.told.log_evidence(told, pulls[arms], totals[arms]))
        return np.where(seen, found, 0.0)

    with np.errstate(all="ignore"):
        means = worths * np.where(pulls > 0, totals / pulls, -np.inf)
        # Where b looks as good as a, the empirical means themselves are in the null.
        found = against(means[better], better) + against(means[worse], worse)
        rivals = worse[means[worse] < means[better]]
        # Beyond its range an arm has no mean; without rewards, nothing speaks against one in it.
        right = np.minimum(means[better], worths[rivals] * family.told.high)
        left = np.where(pulls[rivals] > 0, np.minimum(means[rivals], right), right)
        found[means[worse] < means[better]] = _smallest(
            lambda z: against(z, np.full_like(rivals, better)[:, None]),
            lambda z: against(z, rivals[:, None]),
            left,
            right,
        )
    return np.asarray(found)


def most_order_evidence(
    family: ArmsFamily, pulls: Any, totals: Any, better: int, worse: Any
) -> NDArray[np.float64]:
    """What `order_evidence` cannot exceed, from one point of the null: quick, for screening.

    The smallest sum is at most the sum at any z, such as the mean of both arms' rewards together.

    >>> from unimodal import Bernoulli
    >>> most_order_evidence(Bernoulli(), [100, 100, 100], [80, 50, 79], 0, [1, 2]).round(1).tolist()
    [4.6, -2.3]
    """
    pairs = np.empty((2, len(worse)), dtype=np.int64)
    pairs[0], pairs[1] = better, worse
    n, sums = np.asarray(pulls, dtype=np.float64)[pairs], np.asarray(totals)[pairs]
    worths = np.asarray(family.worth(np.ones(len(pulls))))[pairs]
    return pooled_evidence(family.told, worths, n, sums)


def pooled_evidence(told: Family, worths: Any, pulls: Any, totals: Any) -> NDArray[np.float64]:
    """What pairs of arms have against both means being that of all their rewards.

    A column of two for each pair, the better arm above; 0 where that is not ahead.
    """
    earned = worths * totals
    with np.errstate(all="ignore"):
        z = np.minimum(earned.sum(axis=0) / pulls.sum(axis=0), worths[1] * told.high)
        means = np.minimum(np.maximum(z / worths, told.low), told.high)
        found = _with_part_kept(told.log_evidence(means, pulls, totals))
        found = (found * (pulls > 0)).sum(axis=0)
    is_ahead = (earned[0] * pulls[1] > earned[1] * pulls[0]) | ((pulls[1] == 0) & (pulls[0] > 0))
    return np.where(is_ahead, found, 0.0)


def _with_part_kept(log_evidence: Any) -> Any:
    """The logarithm of ¼ + ¾·M: fair as M is, and never less than a quarter.

    At the true mean M falls like 1/√n, the price of not knowing the mean. A leader that has nearly
    all pulls would pay ½·log n for it, half of what its neighbours' log n rewards can say.
    """
    return np.logaddexp(math.log(_KEPT), math.log1p(-_KEPT) + log_evidence)


def _smallest(
    falling: Callable[[Any], Any], rising: Callable[[Any], Any], left: Any, right: Any
) -> Any:
    """The least sum of two functions on intervals, or a little less: one falls, one rises."""
    rows, shares = np.arange(len(left)), np.linspace(0.0, 1.0, _CELLS + 1)
    for _ in range(_PASSES):
        z = left[:, None] + (right - left)[:, None] * shares
        z[:, -1] = right
        down, up = falling(z), rising(z)
        least = down[:, 1:] + up[:, :-1]
        can_be = least <= (down + up).min(axis=1, keepdims=True)
        left = z[rows, can_be.argmax(axis=1)]
        right = z[rows, _CELLS - can_be[:, ::-1].argmax(axis=1)]
    return least.min(axis=1)


class Numbering(NamedTuple):
    """How the probability of an error is shared among the arms.

    On a graph that is held and stays, all arms have the same share. Where arms are met one by one,
    each gets its number at its first pull, and number j has the share 1/(j·(j + 1)).
    """

    n_arms: int
    numbers: NDArray[np.int64] | None = None  # by arm: 1, 2, 3, …, 0 before the first pull
    given: int = 0  # how many numbers were given, also to arms that are no longer there

    def pair_costs(self, arm: int, others: Any) -> NDArray[np.float64]:
        """By how much log(1/δ) is raised for tests of one arm against each of some others."""
        if self.numbers is None:
            # A union over the wrong arms: each has one fixed neighbour that must be rejected.
            return np.full(len(others), math.log(max(self.n_arms - 1, 1)))
        return self.costs(np.asarray([arm])) + self.costs(np.asarray(others, dtype=np.int64))

    def costs(self, arms: Any) -> NDArray[np.float64]:
        """The same for bounds on the means of arms, which hold for all arms at once."""
        if self.numbers is None:
            return np.full(len(arms), math.log(self.n_arms))
        numbers = self.numbers[arms].astype(np.float64)
        last = max(self.given, int(self.numbers.max(initial=0)))
        numbers[numbers == 0] = last + 1  # an arm that was never pulled may be the next
        logs: NDArray[np.float64] = np.log(numbers) + np.log1p(numbers)
        return logs


def shortfall(
    family: ArmsFamily, pulls: Any, totals: Any, arm: int, near: Any, numbering: Numbering
) -> NDArray[np.float64]:
    """The log δ at which each of an arm's neighbours is just rejected: the lower, the surer."""
    evidence = order_evidence(family, pulls, totals, arm, near)
    return numbering.pair_costs(arm, near) - evidence


def set_with_peak(
    family: ArmsFamily,
    pulls: Any,
    totals: Any,
    neighbours: Callable[[int], Any],
    log_error: float,
    numbering: Numbering,
) -> tuple[list[int] | None, NDArray[np.float64], NDArray[np.float64]]:
    """A connected set of arms that has the peak in it, and the bounds from which it follows.

    It grows from the arm with the highest lower bound, over all arms whose upper bound reaches
    that. What surrounds it is worse than that arm; the arms that are at least as good as an arm are
    connected if there is one peak, so none of them is outside. `neighbours` returns None where they
    are not known; if an arm of the set has such, there is no answer (None).
    """
    arms = np.arange(len(pulls))
    low, high = bounds(family, pulls, totals, numbering.costs(arms) - log_error)
    first = int(np.argmax(low))
    members, waiting = {first}, [first]
    while waiting:
        near = neighbours(waiting.pop())
        if near is None:
            return None, low, high
        reached = {int(arm) for arm in near if high[arm] >= low[first]} - members
        members |= reached
        waiting += reached
    return sorted(members), low, high
