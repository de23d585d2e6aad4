"""Poisson rewards: counts, such as purchases an hour."""

from __future__ import annotations

import math
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
from unimodal.kernels.compile import component, inner
from unimodal.kernels.random import gamma, poisson


@component
class Poisson(Family):
    """Whole-number rewards; the prior of a mean is Gamma(shape, rate), (1, 1) by default.

    >>> Poisson().divergence(0.0, 3.0)
    3.0
    """

    prior_names: ClassVar[tuple[str, str]] = ("shape", "rate")
    low: ClassVar[float] = 0.0
    largest_mean: ClassVar[float] = 1e15  # floats hold all whole numbers up to there

    def check_reward(self, reward: Any) -> float:
        """Return the reward as a float, or refuse what is not a count."""
        value = super().check_reward(reward)
        if value != int(value):
            raise UnimodalError(
                f"a reward of Poisson() must be a whole number of at least 0, got {reward!r}."
            )
        return value


@divergence.register(Poisson)
def _divergence(family, p, q):
    if p == q:
        return 0.0
    if q <= 0.0:
        return math.inf
    if p <= 0.0:
        return q
    return max(q - p - p * log_ratio(q, p), 0.0)


@upper.register(Poisson)
def _upper(family, p, budget):
    if budget <= 0.0:
        return p
    if p <= 0.0:
        return budget
    # kl(p, p + x) ≥ x²/(2(p + x)), so this starts above the root; kl is convex, so Newton stays.
    u = p + budget + math.sqrt(budget * (budget + 2.0 * p))
    for _ in range(60):
        step = (divergence(family, p, u) - budget) * u / (u - p)
        below = u - step
        if not p < below < u:
            return u
        u = below
        if step <= 1e-8 * (u - p):
            return u  # the next step would be its square
    return u


@negentropy.register(Poisson)
def _negentropy(family, p):
    return p * math.log(p) - p if p > 0.0 else 0.0


@natural.register(Poisson)
def _natural(family, q):
    return (math.log(q), q) if q > 0.0 else (-math.inf, 0.0)


@top.register(Poisson)
def _top(family):
    return math.inf


@draw.register(Poisson)
def _draw(family, mean, rng):
    return poisson(rng, mean)


learn.register(Poisson)(learn_total)


@inner
def poisson_belief(arm):
    """Shape and rate of the posterior, a gamma."""
    return arm.prior_a + arm.total, arm.prior_b + arm.pulls


@posterior.register(Poisson)
def _posterior(family, arm, rng):
    shape, rate = poisson_belief(arm)
    return gamma(rng, shape) / rate
