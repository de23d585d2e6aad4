"""Bernoulli rewards: a click or none. The paper's setting."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from unimodal.errors import UnimodalError
from unimodal.families.base import (
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
def binary_upper(p, budget):
    """The root of kl(p, u) = budget above p, by Newton (kl is convex in u)."""
    if p >= 1.0 or budget <= 0.0:
        return p
    if p <= 0.0:
        return -math.expm1(-budget)  # kl(0, u) = -log(1 - u)
    # The start: kl to third order around p where that is good, as in all late rounds; or else the
    # lower of two upper bounds, Pinsker's and the one that leaves out -p·log u ≥ 0.
    spread = math.sqrt(2.0 * budget * p * (1.0 - p))
    if spread < 0.3 * min(p, 1.0 - p):
        u = p + spread + budget * (1.0 - 2.0 * p) * (2.0 / 3.0)
    else:
        bound = -math.expm1((binary_negentropy(p) - budget) / (1.0 - p))
        u = min(p + math.sqrt(0.5 * budget), bound)
    if u <= p:
        return p  # no float lies between p and the root
    for _ in range(64):
        if u >= 1.0:
            return 1.0  # closer to 1 than a float can be
        step = (binary_divergence(p, u) - budget) * u * (1.0 - u) / (u - p)
        # Never out of (p, 1), however far a step would go.
        u = max(u - step, 0.5 * (u + p)) if step > 0.0 else min(u - step, 0.5 * (u + 1.0))
        if abs(step) <= 1e-8 * (u - p):
            return u  # the next step would be its square
    return u


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
