"""What holds for a family that gives no more than a divergence and the ends of its range."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

import math

from unimodal.families.family import LARGEST, Family, divergence, negentropy, top, upper


@top.register(Family)
def _top(family):
    return family.high


@negentropy.register(Family)
def no_negentropy(family, p):
    """0: it is used together with a linear form, of which there is none by default."""
    return 0.0


@upper.register(Family)
def upper_by_bisection(family, p, budget):
    """`upper` by the divergence alone, to the last digit."""
    low, high = p, top(family)
    if not budget > 0.0 or not p < high:
        return p
    if not math.isfinite(high):
        step = max(abs(p), 1.0)
        high = p + step
        while divergence(family, p, high) <= budget and step < LARGEST:
            low, step = high, 2.0 * step
            high = low + step
    elif divergence(family, p, high) <= budget:
        return high
    while True:
        middle = low + 0.5 * (high - low)
        if not low < middle < high:
            return low
        if divergence(family, p, middle) <= budget:
            low = middle
        else:
            high = middle
