"""Gaussian rewards with a known standard deviation."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from unimodal.errors import UnimodalError, real_number
from unimodal.families import family as kernel
from unimodal.families import leaping, unsaturated_scale
from unimodal.families.family import LARGEST, SMALLEST, Family, learn_total
from unimodal.families.leaping import one_by_one
from unimodal.kernels.compile import inner, jit
from unimodal.kernels.random import exponential, normal


class Gaussian(Family):
    """Normal rewards with standard deviation `sigma`.

    The prior of a mean is Normal(mean, sd). The default, (0, 100·sigma), is proper and nearly flat
    for means within a hundred sigma of 0; give your own if yours lie elsewhere.

    Parameters
    ----------
    sigma
        The standard deviation of a reward, which is known.

    Examples
    --------
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

    def posterior_cdf(self, arms: Any, level: Any) -> NDArray[np.float64]:
        """That of the normal."""
        from scipy.special import ndtr

        mean, precision = gaussian_belief(self, arms)
        return ndtr((level - mean) * np.sqrt(precision))

    def posterior_quantile(self, arms: Any, share: Any) -> NDArray[np.float64]:
        """That of the normal."""
        from scipy.special import ndtri

        mean, precision = gaussian_belief(self, arms)
        return mean + ndtri(share) / np.sqrt(precision)

    def log_evidence(self, mean: Any, pulls: Any, total: Any) -> NDArray[np.float64]:
        """By other means θ ~ Normal(mean, sigma)."""
        apart = (total - pulls * mean) / self.sigma
        return 0.5 * (apart**2 / (1 + pulls) - np.log1p(pulls))

    def log_likelihood(self, mean: Any, pulls: Any, total: Any) -> NDArray[np.float64]:
        """Of the mean of the rewards, which tells all."""
        apart = (total / pulls - mean) / self.sigma
        return -0.5 * pulls * apart**2


@kernel.divergence.register(Gaussian)
def _divergence(family, p, q):
    z = (p - q) / family.sigma
    return 0.5 * z * z


@kernel.upper.register(Gaussian)
def _upper(family, p, budget):
    return p + family.sigma * math.sqrt(2.0 * max(budget, 0.0))


@kernel.negentropy.register(Gaussian)
def _negentropy(family, p):
    return 0.5 * (p / family.sigma) ** 2


@kernel.natural.register(Gaussian)
def _natural(family, q):
    theta = q / (family.sigma * family.sigma)
    return theta, 0.5 * q * theta


@kernel.top.register(Gaussian)
def _top(family):
    return math.inf


@kernel.draw.register(Gaussian)
def _draw(family, mean, rng):
    return mean + family.sigma * normal(rng)


kernel.learn.register(Gaussian)(learn_total)


@inner
def gaussian_belief(family, arm):
    """Mean and precision of the posterior: precisions add, means are weighted by them."""
    prior, data = arm.prior_b**-2, family.sigma**-2
    precision = prior + arm.pulls * data
    return (prior * arm.prior_a + data * arm.total) / precision, precision


@kernel.posterior.register(Gaussian)
def _posterior(family, arm, rng):
    mean, precision = gaussian_belief(family, arm)
    return mean + normal(rng) / math.sqrt(precision)


@kernel.prior_worth.register(Gaussian)
def _prior_worth(family, arm):
    pulls = family.sigma / arm.prior_b * (family.sigma / arm.prior_b)  # by precision
    return pulls, pulls * arm.prior_a


unsaturated_scale.linear_form.register(Gaussian)(unsaturated_scale.natural_form)


# Leaping


@leaping.worst.register(Gaussian)
def _worst(family):
    return -math.inf


leaping.gather.register(Gaussian)(one_by_one)


@jit
def normal_outlook(family, arm):
    """Mean and standard deviation of the posterior."""
    mean, precision = gaussian_belief(family, arm)
    return mean, 1.0 / math.sqrt(precision)


@leaping.hat.register(Gaussian)
def _hat(family, arm, worse, level, above):
    if worse > 0:
        return leaping.NO_HAT  # there is no worst reward
    mean, spread = normal_outlook(family, arm)
    distance = (level - mean if above else mean - level) / spread
    if not distance > 0.0:  # NaN where nothing is known yet
        return leaping.NO_HAT
    height = math.exp(-0.5 * distance * distance) / math.sqrt(2.0 * math.pi)
    return height / distance, distance / spread


@leaping.under_hat.register(Gaussian)
def _under_hat(family, arm, level, rate, above, rng):
    spread = normal_outlook(family, arm)[1]
    step = exponential(rng) / rate
    # log f falls by the tangent's rate·step and by step²/(2·spread²) more
    if exponential(rng) < 0.5 * (step / spread) ** 2:
        return math.nan
    return level + step if above else level - step


@leaping.outlook.register(Gaussian)
def _outlook(family, arm):
    return normal_outlook(family, arm)
