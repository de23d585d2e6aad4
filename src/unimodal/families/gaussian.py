"""Gaussian rewards with a known standard deviation."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from unimodal.errors import UnimodalError, real_number
from unimodal.families.family import (
    LARGEST,
    SMALLEST,
    Family,
    divergence,
    draw,
    learn,
    learn_total,
    natural,
    negentropy,
    posterior,
    top,
    upper,
)
from unimodal.kernels.compile import component, inner
from unimodal.kernels.random import normal


@component
class Gaussian(Family):
    """Normal rewards with standard deviation `sigma`.

    The prior of a mean is Normal(mean, sd). The default, (0, 100·sigma), is proper and nearly flat
    for means within a hundred sigma of 0; give your own if yours lie elsewhere.

    >>> Gaussian(sigma=2.0).divergence(0.0, 2.0)
    0.5
    """

    prior_names: ClassVar[tuple[str, str]] = ("mean", "sd")

    sigma: float = 1.0

    def __post_init__(self) -> None:
        """Check the standard deviation."""
        real_number(self.sigma, "the 'sigma' of Gaussian", above=0)
        if not SMALLEST <= self.sigma <= LARGEST:
            raise UnimodalError(
                f"the 'sigma' of Gaussian must lie between {SMALLEST:g} and {LARGEST:g}, got "
                f"{self.sigma:g}: use another unit."
            )

    @property
    def default_prior(self) -> tuple[float, float]:
        """Normal(0, 100·sigma)."""
        return (0.0, 100.0 * self.sigma)

    def check_prior(self, first: Any, second: Any) -> None:
        """Refuse a prior that is not a normal distribution."""
        bad = ~((np.abs(first) <= LARGEST) & (second >= SMALLEST) & (second <= 100 * LARGEST))
        expected = f"finite, with a positive sd, between {-LARGEST:g} and {LARGEST:g}"
        self._refuse_prior(bad, first, second, f"{expected}, the sd at least {SMALLEST:g}")


@divergence.register(Gaussian)
def _divergence(family, p, q):
    z = (p - q) / family.sigma
    return 0.5 * z * z


@upper.register(Gaussian)
def _upper(family, p, budget):
    return p + family.sigma * math.sqrt(2.0 * max(budget, 0.0))


@negentropy.register(Gaussian)
def _negentropy(family, p):
    return 0.5 * (p / family.sigma) ** 2


@natural.register(Gaussian)
def _natural(family, q):
    theta = q / (family.sigma * family.sigma)
    return theta, 0.5 * q * theta


@top.register(Gaussian)
def _top(family):
    return math.inf


@draw.register(Gaussian)
def _draw(family, mean, rng):
    return mean + family.sigma * normal(rng)


learn.register(Gaussian)(learn_total)


@inner
def gaussian_belief(family, arm):
    """Mean and precision of the posterior: precisions add, means are weighted by them."""
    prior, data = arm.prior_b**-2, family.sigma**-2
    precision = prior + arm.pulls * data
    return (prior * arm.prior_a + data * arm.total) / precision, precision


@posterior.register(Gaussian)
def _posterior(family, arm, rng):
    mean, precision = gaussian_belief(family, arm)
    return mean + normal(rng) / math.sqrt(precision)
