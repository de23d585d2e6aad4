"""Bernoulli rewards: a click or none. The paper's setting."""

from __future__ import annotations

import math
import sys
from typing import Any, ClassVar

from unimodal.errors import UnimodalError
from unimodal.families.family import (
    Family,
    divergence,
    draw,
    learn,
    learn_total,
    log_ratio,
    natural,
    negentropy,
    posterior,
    top,
    upper,
)
from unimodal.kernels.compile import component, inner, jit
from unimodal.kernels.random import beta, uniform

NO_MEAN = 1e-100  # what is smaller counts as 0, since one over its square would overflow
# The b of a Beta(a, b) for which 0 stands, since priors are positive: too small to change 1, or to
# let a draw without a failure be anything else than 1.
NO_FAILURE = sys.float_info.min


@component
class Bernoulli(Family):
    """Rewards of 0 or 1; the prior of a mean is Beta(alpha, beta), (1, 1) by default.

    >>> Bernoulli().divergence(0.0, 0.0), Bernoulli().divergence(0.5, 1.0)
    (0.0, inf)
    """

    prior_names: ClassVar[tuple[str, str]] = ("alpha", "beta")
    low: ClassVar[float] = 0.0
    high: ClassVar[float] = 1.0
    two_valued: ClassVar[bool] = True

    def check_reward(self, reward: Any) -> float:
        """Return the reward as a float, or refuse anything but 0 and 1."""
        value = super().check_reward(reward)
        if value not in (0.0, 1.0):
            raise UnimodalError(
                f"a reward of Bernoulli() must be 0 or 1, got {reward!r}; "
                "for rewards between two bounds use Bounded(a, b)."
            )
        return value


@jit
def binary_divergence(p, q):
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
def binary_negentropy(p):
    """p·log p + (1 - p)·log(1 - p)."""
    if p <= 0.0 or p >= 1.0:
        return 0.0
    return p * math.log(p) + (1.0 - p) * math.log1p(-p)


@jit
def binary_rise(p, q, budget):
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
def binary_rise_cost(p, q, x):
    """kl(p, u) for the u with log(q/(1 - u)) = x: what a rise of x costs."""
    if p < NO_MEAN:
        return q * x
    return max(q * x - p * math.log1p(-q / p * math.expm1(-x)), 0.0)


@jit
def binary_upper(p, budget):
    """The root of kl(p, u) = budget above p."""
    q = 1.0 - p
    return p if q <= 0.0 else min(p - q * math.expm1(-binary_rise(p, q, budget)), 1.0)


@divergence.register(Bernoulli)
def _divergence(family, p, q):
    return binary_divergence(p, q)


@upper.register(Bernoulli)
def _upper(family, p, budget):
    return binary_upper(p, budget)


@negentropy.register(Bernoulli)
def _negentropy(family, p):
    return binary_negentropy(p)


@natural.register(Bernoulli)
def _natural(family, q):
    if q <= 0.0:
        return -math.inf, 0.0
    if q >= 1.0:
        return math.inf, math.inf
    other = math.log1p(-q)
    return math.log(q) - other, -other


@top.register(Bernoulli)
def _top(family):
    return 1.0


@draw.register(Bernoulli)
def _draw(family, mean, rng):
    return 1.0 if uniform(rng) < mean else 0.0


learn.register(Bernoulli)(learn_total)


@inner
def bernoulli_belief(arm):
    """The posterior's a and b: Beta(1 + S, 1 + T - S) for the uniform prior (Alg. 1, line 8)."""
    return arm.prior_a + arm.total, arm.prior_b + (arm.pulls - arm.total)


@posterior.register(Bernoulli)
def _posterior(family, arm, rng):
    a, b = bernoulli_belief(arm)
    return beta(rng, a, b)
