"""The mathematics that Bernoulli and Bounded share: two outcomes, with means between 0 and 1.

The last functions work on levels, -log(1 - mean), and take a mean p with q = 1 - p beside it, since
1 - p would lose the digits of q where p is close to 1: see `unsaturated_scale.py`.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from unimodal.families.family import log_ratio
from unimodal.families.unsaturated_scale import TOP
from unimodal.kernels.compile import inner, jit

NO_MEAN = 1e-100  # what is smaller counts as 0, since one over its square would overflow
# The b of a Beta(a, b) for which 0 stands, since priors are positive: too small to change 1, or to
# let a draw without a failure be anything else than 1.
NO_FAILURE = sys.float_info.min
# A mean this close to the top may have lost the digits that say on which side of a bound it lies.
_BLURRED = 1.0 - 1e-6
_ROUNDS_TO_ONE = 2.0**-53.5  # a draw x/(x + y) is 1 where y/x is smaller than about this


@jit
def divergence(p, q):
    """KL(p, q) of Thm 1, with 0·log 0 = 0 and log(1/0) = ∞."""
    if p == q:
        return 0.0
    value = 0.0
    if p > 0.0:
        if q <= 0.0:
            return math.inf
        value += p * log_ratio(p, q)
    if p < 1.0:
        if q >= 1.0:
            return math.inf
        # (1 - p)/(1 - q) - 1 with the difference taken before it is rounded: small means keep
        # their digits, and kl(0, q) is not 0 for a tiny q.
        excess = (q - p) / (1.0 - q)
        far = abs(excess) >= 0.5
        value += (1.0 - p) * (math.log((1.0 - p) / (1.0 - q)) if far else math.log1p(excess))
    return max(value, 0.0)


@jit
def negentropy(p):
    """p·log p + (1 - p)·log(1 - p)."""
    if p <= 0.0 or p >= 1.0:
        return 0.0
    return p * math.log(p) + (1.0 - p) * math.log1p(-p)


@jit
def rise(p, q, budget):
    """How far -log(1 - u) rises from the mean u = p = 1 - q to the root of kl(p, u) = budget.

    With x = log(q/(1 - u)), kl = q·x - p·log(u/p) and u - p = q·(1 - exp(-x)): nothing in it
    saturates as u nears 1. It is convex in x.
    """
    if budget <= 0.0:
        return 0.0
    if q <= 0.0:
        return math.inf
    if p < NO_MEAN:
        return budget  # kl(0, u) = -log(1 - u)
    # The start: the root of kl's series around x = 0 where that is good, as in all late rounds; or
    # else the lower of two upper bounds, the one that leaves out -p·log u ≥ 0 and Pinsker's.
    odds = q / p
    spread = math.sqrt(2.0 * budget / odds)
    if spread * (1.0 + 2.0 * odds) < 1.0:
        x = (1.0 + 2.0 * odds) / 6.0 + spread * (1.0 + odds * (1.0 + odds)) / 36.0
        x = spread * (1.0 + spread * x)
    else:
        x = (budget - p * math.log(p)) / q
        step = math.sqrt(0.5 * budget) / q
        if step < 1.0:
            x = min(x, -math.log1p(-step))
    for _ in range(64):
        gain = -q * math.expm1(-x)  # u - p
        step = q * x - p * math.log1p(gain / p) - budget
        # Halley's step: the slope is gain/u and the curvature p·(1 - u)/u², and the product below
        # at most 1/2, since kl ≤ gain²/(u·(1 - u)).
        step *= (p + gain) / (gain - 0.5 * step * p * (q - gain) / gain)
        x = max(x - step, 0.25 * x)
        # The next step would be its third power, or what rounding leaves is reached.
        if abs(step) <= 1e-5 * x + 1e-16 * p:
            break
    return x


@jit
def rise_cost(p, q, x):
    """kl(p, u) for the u with log(q/(1 - u)) = x: what a rise of x costs."""
    if p < NO_MEAN:
        return q * x
    return max(q * x - p * math.log1p(-q / p * math.expm1(-x)), 0.0)


@jit
def upper(p, budget):
    """The root of kl(p, u) = budget above p."""
    q = 1.0 - p
    return p if q <= 0.0 else min(p - q * math.expm1(-rise(p, q, budget)), 1.0)


@jit
def natural(q):
    """(θ(q), A(q)) of a mean q."""
    if q <= 0.0:
        return -math.inf, 0.0
    if q >= 1.0:
        return math.inf, math.inf
    other = math.log1p(-q)
    return math.log(q) - other, -other


@inner
def mean_level(p, q):
    """The level of the mean p = 1 - q: see `unsaturated_scale.py`."""
    if q <= 0.0:
        return TOP
    return -math.log(q) if q < 0.5 else -math.log1p(-p)


@inner
def upper_level(p, q, budget):
    """The highest level u with kl(p, u) ≤ budget."""
    return mean_level(p, q) + rise(p, q, budget) if q > 0.0 else TOP


@inner
def distance(p, q, level):
    """kl(p, level); 0 where p is not below the level."""
    rise = level - mean_level(p, q)
    return rise_cost(p, q, rise) if rise > 0.0 else 0.0


@inner
def linear_form(level):
    """(mean, θ, A) of a level."""
    if level >= TOP:
        return _BLURRED, 0.0, TOP
    if level <= 0.0:
        return 0.0, -math.inf, 0.0
    x = -math.expm1(-level)
    return min(x, _BLURRED), math.log(x) + level, level


@inner
def between(low, high, share):
    """The level that lies so far on the way from low to high, by their means."""
    # 1 - x = (1 - share)·exp(-low) + share·exp(-high)
    return low - math.log1p(share * math.expm1(low - high))


@inner
def shrunk(level, share, offset):
    """The level of `share` times a mean; a range [a, b] has the `offset` a/(b - a)."""
    # 1 - x' = 1 - share·x + (1 - share)·offset, where x = 1 - exp(-level)
    return -math.log1p(share * math.expm1(-level) + (1.0 - share) * offset)


@inner
def stretched(level, share, offset):
    """What `shrunk` takes to this level; ∞ beyond the top."""
    x = ((1.0 - share) * offset - math.expm1(-level)) / share
    if x >= 1.0:
        return TOP if x == 1.0 else math.inf
    return -math.log1p(-x)


def at_top(a: Any, b: Any) -> Any:
    """The probability that a draw from Beta(a, b) rounds to 1."""
    from scipy.special import betainc

    return betainc(b, a, _ROUNDS_TO_ONE)


def log_evidence(mean: Any, pulls: Any, total: Any) -> Any:
    """The evidence of Bernoulli rewards against a mean: see `Family.log_evidence`."""
    from scipy.special import betaln

    # θ ~ Beta(1/2, 1/2): costs about ½·log n, also where the mean is 0 or 1.
    averaged = betaln(total + 0.5, pulls - total + 0.5)
    return averaged - log_likelihood(mean, pulls, total) - betaln(0.5, 0.5)


def log_likelihood(mean: Any, pulls: Any, total: Any) -> Any:
    """The likelihood of Bernoulli rewards at a mean: see `Family.log_likelihood`."""
    from scipy.special import xlog1py, xlogy

    return xlogy(total, mean) + xlog1py(pulls - total, -np.asarray(mean))
