"""Bernoulli rewards: a click or none. The paper's setting."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from unimodal.errors import UnimodalError
from unimodal.families import bernoulli_and_bounded as binary
from unimodal.families import family as kernel
from unimodal.families import leaping, unsaturated_scale
from unimodal.families.family import Family, learn_total
from unimodal.families.tail_envelopes import beta_hat, beta_outlook, beta_under_hat, later_failures
from unimodal.kernels.binomial import trials_until
from unimodal.kernels.compile import inner
from unimodal.kernels.random import beta, uniform


class Bernoulli(Family):
    """Rewards of 0 or 1; the prior of a mean is Beta(alpha, beta), (1, 1) by default.

    Examples
    --------
    >>> Bernoulli().divergence(0.0, 0.0), Bernoulli().divergence(0.5, 1.0)
    (0.0, inf)
    """

    prior_names: ClassVar[tuple[str, str]] = ("alpha", "beta")
    low: ClassVar[float] = 0.0
    high: ClassVar[float] = 1.0
    two_valued: ClassVar[bool] = True
    takes_zeros: ClassVar[bool] = True

    def check_reward(self, reward: Any) -> float:
        """Return the reward as a float, or refuse anything but 0 and 1."""
        value = super().check_reward(reward)
        if value not in (0.0, 1.0):
            raise UnimodalError(
                f"a reward of Bernoulli() must be 0 or 1, got {reward!r}; "
                "for rewards between two bounds use Bounded(a, b)."
            )
        return value

    def check_total(self, count: int, total: Any) -> float:
        """Return the sum of so many rewards as a float, or refuse what is not a count."""
        value = super().check_total(count, total)
        if value != int(value):
            raise UnimodalError(
                f"the total of rewards of Bernoulli() must be a whole number, got {total!r}."
            )
        return value

    def posterior_cdf(self, arms: Any, level: Any) -> NDArray[np.float64]:
        """That of the Beta."""
        from scipy.special import betainc

        return betainc(*bernoulli_belief(arms), np.clip(level, 0.0, 1.0))

    def posterior_quantile(self, arms: Any, share: Any) -> NDArray[np.float64]:
        """That of the Beta."""
        from scipy.special import betaincinv

        return betaincinv(*bernoulli_belief(arms), share)

    def posterior_at_top(self, arms: Any) -> NDArray[np.float64]:
        """Where the Beta rounds to 1."""
        return binary.at_top(*bernoulli_belief(arms))

    def log_evidence(self, mean: Any, pulls: Any, total: Any) -> NDArray[np.float64]:
        """By a Beta(1/2, 1/2) prior of other means."""
        return binary.log_evidence(mean, pulls, total)

    def log_likelihood(self, mean: Any, pulls: Any, total: Any) -> NDArray[np.float64]:
        """Of the number of successes, which tells all."""
        return binary.log_likelihood(mean, pulls, total)


@kernel.divergence.register(Bernoulli)
def _divergence(family, p, q):
    return binary.divergence(p, q)


@kernel.upper.register(Bernoulli)
def _upper(family, p, budget):
    return binary.upper(p, budget)


@kernel.negentropy.register(Bernoulli)
def _negentropy(family, p):
    return binary.negentropy(p)


@kernel.natural.register(Bernoulli)
def _natural(family, q):
    return binary.natural(q)


@kernel.top.register(Bernoulli)
def _top(family):
    return 1.0


@kernel.draw.register(Bernoulli)
def _draw(family, mean, rng):
    return 1.0 if uniform(rng) < mean else 0.0


kernel.learn.register(Bernoulli)(learn_total)


@inner
def bernoulli_belief(arm):
    """The posterior's a and b: Beta(1 + S, 1 + T - S) for the uniform prior (Alg. 1, line 8)."""
    return arm.prior_a + arm.total, arm.prior_b + (arm.pulls - arm.total)


@kernel.posterior.register(Bernoulli)
def _posterior(family, arm, rng):
    a, b = bernoulli_belief(arm)
    return beta(rng, a, b)


@kernel.prior_worth.register(Bernoulli)
def _prior_worth(family, arm):
    return arm.prior_a + arm.prior_b, arm.prior_a


# Levels, for comparing upper confidence bounds


@inner
def _shares(pulls, total):
    """The mean and what is missing to 1, each to full precision; rounding may have overdone it."""
    return total / pulls, max((pulls - total) / pulls, 0.0)


@unsaturated_scale.mean_level.register(Bernoulli)
def _mean_level(family, pulls, total):
    p, q = _shares(pulls, total)
    return binary.mean_level(p, q)


@unsaturated_scale.upper_level.register(Bernoulli)
def _upper_level(family, pulls, total, budget):
    p, q = _shares(pulls, total)
    return binary.upper_level(p, q, budget / pulls)


@unsaturated_scale.distance.register(Bernoulli)
def _distance(family, pulls, total, level):
    p, q = _shares(pulls, total)
    return pulls * binary.distance(p, q, level)


@unsaturated_scale.between.register(Bernoulli)
def _between(family, low, high, share):
    return binary.between(low, high, share)


@unsaturated_scale.linear_form.register(Bernoulli)
def _linear_form(family, level):
    return binary.linear_form(level)


@unsaturated_scale.shrunk.register(Bernoulli)
def _shrunk(family, level, share):
    return binary.shrunk(level, share, 0.0)


@unsaturated_scale.stretched.register(Bernoulli)
def _stretched(family, level, share):
    return binary.stretched(level, share, 0.0)


# Leaping


@leaping.worst.register(Bernoulli)
def _worst(family):
    return 0.0


@leaping.attempt.register(Bernoulli)
def _attempt(family, arm, loss_margin):
    # So many that more failures than are bearable are rare, or else cheap to deal out one by one.
    failures = loss_margin + 1.0
    # In standard deviations: more where there are more to deal out.
    rare = math.sqrt(2.0 * math.log(max(failures / 50.0, 3.0)))
    aim = max(0.5 * failures, failures - rare * math.sqrt(failures))
    return aim * (arm.pulls + 2.0) / (arm.pulls - arm.total + 1.0) + 1.0


@leaping.gather.register(Bernoulli)
def _gather(family, arms, arm, mean, pulls, loss_margin, rng, coins):
    done, successes = trials_until(rng, pulls, mean, loss_margin)
    arms[arm].pulls += done
    arms[arm].total += successes
    return done, done - successes <= loss_margin


@leaping.hat.register(Bernoulli)
def _hat(family, arm, worse, level, above):
    a, b = bernoulli_belief(arm)
    return beta_hat(a, later_failures(b, worse), level, above)


@leaping.under_hat.register(Bernoulli)
def _under_hat(family, arm, level, rate, above, rng):
    a, b = bernoulli_belief(arm)
    return beta_under_hat(a, b, level, rate, above, rng)


@leaping.beta_belief.register(Bernoulli)
def _beta_belief(family, arm):
    return bernoulli_belief(arm)


@leaping.outlook.register(Bernoulli)
def _outlook(family, arm):
    a, b = bernoulli_belief(arm)
    return beta_outlook(a, b)


@leaping.is_sure.register(Bernoulli)
def _is_sure(family, arm):
    return bernoulli_belief(arm)[1] <= binary.NO_FAILURE
