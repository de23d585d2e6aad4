"""Have the rewards of an arm changed? The test of `policies.Restarting`, at every scale.

Of any 2h rewards of an arm in a row, with means x and y of their halves and z of all of them,
h·(kl(x, z) + kl(y, z)) is large if the halves differ. If all have the mean μ, replacing z by μ
cannot make the sum smaller. By Chernoff's bound h·kl(x, μ) > b has probability at most 2·exp(-b),
so h·kl(x, μ) lies stochastically below log 2 + E with E exponential; so does that of y, and the
halves are independent. So the sum exceeds 2·log 2 + c with probability at most (1 + c)·exp(-c),
the tail of the sum of two exponentials. (`Restarting` takes the larger of the two instead.)

Halves of h = 16, 32, 64, … are compared, each scale at every quarter of its half. The m-th test of
the j-th scale (both from 0) of one of K arms gets its share of what may go wrong:
δ/K·1/((j+1)(j+2))·1/((m+1)(m+2)). These add up to δ, so that with probability at least 1 - δ no
test of any arm ever alarms while nothing changes: whoever chose the pulls, and however often one
looks.
"""

# mypy: allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from unimodal.families import Family
from unimodal.families.family import divergence
from unimodal.kernels.compile import jit, record

SHORTEST = 16  # rewards in a half


class ChangeFound(NamedTuple):
    """A window whose halves differ: their means, and where the newer one begins."""

    begins: int  # the number of its first reward, from 0
    before: float
    after: float
    half: int


def find_change(
    family: Family, rewards: Any, confidence: float, n_arms: int = 1
) -> ChangeFound | None:
    """The last change of an arm's rewards that shows, or None.

    The rewards are in the order of their decisions. Of the windows that overlap with the last one
    that alarms, the one that exceeds its threshold by most is told: to a quarter of its half.

    >>> from unimodal import Bernoulli
    >>> find_change(Bernoulli(), [0, 1, 0, 0] * 50, confidence=0.99)
    >>> find_change(Bernoulli(), [0, 1, 0, 0] * 50 + [1, 1, 0, 1] * 50, confidence=0.99).begins
    192
    """
    family.require(divergence)
    values = np.asarray(rewards, dtype=np.float64)
    sums = np.concatenate([[0.0], np.cumsum(values)])
    alarming: list[tuple[float, int, int]] = []  # by how much, where it ends, its half
    scale, half = 0, SHORTEST
    while 2 * half <= len(values):
        step = half // 4
        ends = np.arange(2 * half, len(values) + 1, step)
        shown = np.empty(len(ends))
        statistics(record(family), sums, half, step, shown)
        over = shown - threshold(scale, np.arange(len(ends)), confidence, n_arms)
        alarming += [(float(over[m]), int(ends[m]), half) for m in np.flatnonzero(over > 0)]
        scale, half = scale + 1, 2 * half
    if not alarming:
        return None
    _, last, size = max(alarming, key=lambda window: window[1])
    _, end, half = max(window for window in alarming if window[1] > last - 2 * size)
    begins = end - half
    before, after = (sums[begins + h] - sums[begins + h - half] for h in (0, half))
    return ChangeFound(begins, float(before / half), float(after / half), half)


def threshold(scale: int, number: Any, confidence: float, n_arms: int) -> Any:
    """What a test of a scale, by its number, exceeds by chance with its share of 1 - confidence."""
    from scipy.special import gammainccinv

    shares = (scale + 1) * (scale + 2) * (number + 1.0) * (number + 2.0)
    chance = (1.0 - confidence) / (n_arms * shares)
    return 2.0 * math.log(2.0) + gammainccinv(2.0, chance)  # (1 + c)·exp(-c) = chance


@jit
def statistics(family, sums, half, step, out):  # type: ignore[no-untyped-def]
    """h·(kl(x, z) + kl(y, z)) of the windows that end at 2h, 2h + step, …, from sums of rewards."""
    for number in range(len(out)):
        end = 2 * half + number * step
        newer = (sums[end] - sums[end - half]) / half
        older = (sums[end - half] - sums[end - 2 * half]) / half
        middle = 0.5 * (newer + older)
        out[number] = half * (divergence(family, newer, middle) + divergence(family, older, middle))
