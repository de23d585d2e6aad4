"""Bounds on a mean that hold at every moment at once, however the pulls were chosen.

For a mean μ, let M be the ratio of the likelihood of an arm's rewards, averaged over a prior of
other means, to their likelihood under μ. If μ is the arm's mean, M starts at 1 and each reward
multiplies it by something of expectation 1 (at most 1 for `Bounded`), whatever was known
before; rounds in which other arms are pulled leave it as it is. So M is a non-negative
supermartingale, and by Ville's inequality it ever reaches 1/δ with probability at most δ. The means
at which M is below 1/δ are therefore an interval that contains the arm's mean at every round with
probability at least 1 - δ, even if a policy chose the arms from the rewards, and even if one looks
every day and stops when it pleases (Robbins 1970; Howard, Ramdas, McAuliffe and Sekhon 2021).

Each family says in its own file which prior of other means it takes: `Family.log_evidence`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unimodal.families import Family
from unimodal.families.family import ArmsFamily


def log_evidence(family: ArmsFamily, mean: Any, pulls: Any, total: Any) -> Any:
    """The logarithm of M: how much the rewards speak against this mean. Arrays are fine."""
    return family.log_evidence(mean, pulls, total)


def bounds(family: ArmsFamily, pulls: Any, totals: Any, threshold: Any) -> tuple[Any, Any]:
    """The means at which log M is at most `threshold`, arm by arm: the lowest and the highest.

    The threshold is one number for all arms, or one for each.
    Where arms differ in what a reward is worth, `family` is `family.of_arms(labels)`; totals are of
    rewards as they were told, and bounds are in money.

    With threshold = log(1/δ) an arm's mean lies between them at every round at once with
    probability at least 1 - δ. An arm without rewards has the whole range of the family.

    >>> import math
    >>> from unimodal import Bernoulli
    >>> low, high = bounds(Bernoulli(), [0, 100], [0, 50], math.log(20))
    >>> low.round(2).tolist(), high.round(2).tolist()
    ([0.0, 0.34], [1.0, 0.66])
    """
    pulls = np.asarray(pulls, dtype=np.float64)
    totals = np.asarray(totals, dtype=np.float64)
    told = family.told  # M is the same for what is told and for known multiples of it
    low, high = np.full(len(pulls), float(told.low)), np.full(len(pulls), float(told.high))
    met = pulls > 0
    data = (pulls[met], totals[met], np.broadcast_to(threshold, pulls.shape)[met])
    with np.errstate(all="ignore"):  # a mean of 0 or ∞ is on the way where it is not ruled out
        for end, side in ((low, -1.0), (high, 1.0)):
            end[met] = _end(told, *data, side)
    return family.worth(low), family.worth(high)


def _end(family: Family, pulls: Any, totals: Any, threshold: Any, side: float) -> Any:
    """One end of each interval: away from the empirical mean until the evidence is too much."""
    inside = np.clip(totals / pulls, family.low, family.high)
    limit = family.low if side < 0 else family.high
    reach = np.maximum(np.abs(inside), 1.0) / np.sqrt(pulls)
    outside, going = inside.copy(), np.ones(len(pulls), dtype=bool)
    while going.any():
        outside = np.where(going, np.clip(inside + side * reach, family.low, family.high), outside)
        going &= log_evidence(family, outside, pulls, totals) <= threshold
        going &= outside != limit
        reach = 2 * reach
    # The evidence grows with the distance from the empirical mean: halve until floats end.
    for _ in range(60):
        middle = 0.5 * (inside + outside)
        within = log_evidence(family, middle, pulls, totals) <= threshold
        inside, outside = np.where(within, middle, inside), np.where(within, outside, middle)
    at_limit = log_evidence(family, np.full(len(pulls), limit), pulls, totals) <= threshold
    return np.where(at_limit, limit, outside)
