"""Have the rewards of an arm changed? The test of `policies.Restarting`, at every scale.

Of any 2h rewards of an arm in a row, with means x and y of their halves and z of all of them,
h·(kl(x, z) + kl(y, z)) is large if the halves differ. If all have the mean μ, replacing z by μ
cannot make the sum smaller, and by Chernoff's bound h·kl(x, μ) > b has probability at most
2·exp(-b), as for y. So the sum exceeds 2b with probability at most 4·exp(-b).

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
    """The last window whose halves differ: their means, and where the newer one begins."""

    begins: int  # the number of its first reward, from 0
    before: float
    after: float
    half: int


def find_change(
    family: Family, rewards: Any, confidence: float, n_arms: int = 1
) -> ChangeFound | None:
    """The last change of an arm's rewards that shows, or None.

    The rewards are in the order of their decisions. Of windows that end at the same reward, the
    one that speaks the loudest counts.

    >>> from unimodal import Bernoulli
    >>> find_change(Bernoulli(), [0, 1, 0, 0] * 50, confidence=0.99)
    >>> find_change(Bernoulli(), [0, 1, 0, 0] * 50 + [1, 1, 0, 1] * 50, confidence=0.99).begins
    192
    """
    family.require(divergence)
    values = np.asarray(rewards, dtype=np.float64)
    sums = np.concatenate([[0.0], np.cumsum(values)])
    found: tuple[int, float, ChangeFound] | None = None
    scale, half = 0, SHORTEST
    while 2 * half <= len(values):
        step = half // 4
        ends = np.arange(2 * half, len(values) + 1, step)
        shown = np.empty(len(ends))
        statistics(record(family), sums, half, step, shown)
        over = shown - threshold(scale, np.arange(len(ends)), confidence, n_arms)
        if (over > 0).any():
            last = int(np.flatnonzero(over > 0)[-1])
            begins = int(ends[last]) - half
            before, after = (
                (sums[begins + side] - sums[begins + side - half]) / half for side in (0, half)
            )
            one = (int(ends[last]), float(over[last]), ChangeFound(begins, before, after, half))
            found = one if found is None else max(found, one)
        scale, half = scale + 1, 2 * half
    return None if found is None else found[2]


def threshold(scale: int, number: Any, confidence: float, n_arms: int) -> Any:
    """2b for a test of a scale, by its number: 4·exp(-b) is its share of 1 - `confidence`."""
    shares = (scale + 1) * (scale + 2) * (number + 1) * (number + 2)
    return 2.0 * (np.log(4.0 * n_arms * shares) - math.log1p(-confidence))


@jit
def statistics(family, sums, half, step, out):  # type: ignore[no-untyped-def]
    """h·(kl(x, z) + kl(y, z)) of the windows that end at 2h, 2h + step, …, from sums of rewards."""
    for number in range(len(out)):
        end = 2 * half + number * step
        newer = (sums[end] - sums[end - half]) / half
        older = (sums[end - half] - sums[end - 2 * half]) / half
        middle = 0.5 * (newer + older)
        out[number] = half * (divergence(family, newer, middle) + divergence(family, older, middle))
