"""Poisson rewards: counts, such as purchases an hour."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from unimodal.errors import UnimodalError
from unimodal.families import family as kernel
from unimodal.families import leaping, unsaturated_scale
from unimodal.families.family import Family, divergence, learn_total, log_ratio
from unimodal.families.tail_envelopes import gamma_hat, gamma_under_hat
from unimodal.kernels.compile import inner
from unimodal.kernels.random import gamma, poisson


class Poisson(Family):
    """Whole-number rewards; the prior of a mean is Gamma(shape, rate), (1, 1) by default.

    Examples
    --------
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

    def check_total(self, count: int, total: Any) -> float:
        """Return the sum of so many rewards as a float, or refuse what is not a count."""
        value = super().check_total(count, total)
        if value != int(value):
            raise UnimodalError(
                f"the total of rewards of Poisson() must be a whole number, got {total!r}."
            )
        return value

    def posterior_cdf(self, arms: Any, level: Any) -> NDArray[np.float64]:
        """That of the gamma."""
        from scipy.special import gammainc

        shape, rate = poisson_belief(arms)
        return gammainc(shape, rate * np.maximum(level, 0.0))

    def posterior_quantile(self, arms: Any, share: Any) -> NDArray[np.float64]:
        """That of the gamma."""
        from scipy.special import gammaincinv

        shape, rate = poisson_belief(arms)
        return gammaincinv(shape, share) / rate

    def log_evidence(self, mean: Any, pulls: Any, total: Any) -> NDArray[np.float64]:
        """By other means θ with θ/mean ~ Gamma(1/2, 1/2): as wide for large means as for small."""
        return rate_evidence(total, pulls * np.asarray(mean))

    def log_likelihood(self, mean: Any, pulls: Any, total: Any) -> NDArray[np.float64]:
        """Of the sum of the rewards, which tells all."""
        from scipy.special import xlogy

        return xlogy(total, mean) - pulls * np.asarray(mean)


def rate_evidence(count: Any, time: Any) -> Any:
    """The logarithm of the integral of r^count·exp(-time·(r - 1)) over r ~ Gamma(1/2, 1/2).

    It is the evidence against a rate of 1 of so many events in so much time: see
    `Family.log_evidence`.
    """
    from scipy.special import gammaln

    found = np.where(np.isposinf(time), np.inf, time - (0.5 + count) * np.log(0.5 + time))
    return found + gammaln(0.5 + count) - gammaln(0.5) + 0.5 * math.log(0.5)


@kernel.divergence.register(Poisson)
def _divergence(family, p, q):
    if p == q:
        return 0.0
    if q <= 0.0:
        return math.inf
    if p <= 0.0:
        return q
    return max(q - p - p * log_ratio(q, p), 0.0)


@kernel.upper.register(Poisson)
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


@kernel.negentropy.register(Poisson)
def _negentropy(family, p):
    return p * math.log(p) - p if p > 0.0 else 0.0


@kernel.natural.register(Poisson)
def _natural(family, q):
    return (math.log(q), q) if q > 0.0 else (-math.inf, 0.0)


@kernel.top.register(Poisson)
def _top(family):
    return math.inf


@kernel.draw.register(Poisson)
def _draw(family, mean, rng):
    return poisson(rng, mean)


kernel.learn.register(Poisson)(learn_total)


@inner
def poisson_belief(arm):
    """Shape and rate of the posterior, a gamma."""
    return arm.prior_a + arm.total, arm.prior_b + arm.pulls


@kernel.posterior.register(Poisson)
def _posterior(family, arm, rng):
    shape, rate = poisson_belief(arm)
    return gamma(rng, shape) / rate


@kernel.prior_worth.register(Poisson)
def _prior_worth(family, arm):
    return arm.prior_b, arm.prior_a


unsaturated_scale.linear_form.register(Poisson)(unsaturated_scale.natural_form)


# Leaping


@leaping.worst.register(Poisson)
def _worst(family):
    return 0.0


@leaping.gather.register(Poisson)
def _gather(family, arms, arm, mean, pulls, loss_margin, rng, coins):
    arms[arm].pulls += pulls
    arms[arm].total += poisson(rng, pulls * mean)
    return pulls, pulls <= loss_margin


@leaping.hat.register(Poisson)
def _hat(family, arm, worse, level, above):
    shape, rate = poisson_belief(arm)
    return gamma_hat(shape, rate + worse, level, above)


@leaping.under_hat.register(Poisson)
def _under_hat(family, arm, level, rate, above, rng):
    shape, scale = poisson_belief(arm)
    return gamma_under_hat(shape, scale, level, rate, above, rng)


@leaping.outlook.register(Poisson)
def _outlook(family, arm):
    shape, rate = poisson_belief(arm)
    return shape / rate, math.sqrt(shape) / rate
