"""Rewards between two bounds, of whatever shape."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from unimodal.errors import UnimodalError, real_number, unknown_name
from unimodal.families import bernoulli_and_bounded as binary
from unimodal.families import family as kernel
from unimodal.families import leaping, unsaturated_scale
from unimodal.families.family import LARGEST, SMALLEST, Family
from unimodal.families.leaping import one_by_one
from unimodal.families.own import register
from unimodal.families.tail_envelopes import (
    beta_hat,
    beta_outlook,
    beta_under_hat,
    beyond,
    later_failures,
)
from unimodal.kernels.compile import inner
from unimodal.kernels.random import beta, uniform
from unimodal.kernels.user_code_errors import compile_own

_ROUNDING = 2.0**-50  # of sums: what is missing to the top by less than this is not missing
_NARROW = 1e-9  # of the bounds: closer ones leave too few digits for what lies between
DRAWS = ("beta", "two-point", "uniform")


class Bounded(Family):
    """Rewards in [a, b]. Beliefs come from the Bernoulli trick of Agrawal and Goyal (2012).

    A reward x counts as a success with probability (x - a)/(b - a), and the posterior of the
    scaled mean is Beta(alpha + successes, beta + failures); the leader goes by raw means. The
    divergence and upper root are the Bernoulli ones of the scaled means, valid for any law there.

    `draw` says how `simulate` draws rewards: "beta" (a scaled Beta whose two parameters sum to
    `concentration`), "two-point" (a or b), "uniform" (as wide as fits around the mean), or your own
    `draw(mean, rng)` written with `unimodal.random`: plain Python (slow), or compiled with
    `numba.njit` (fast).

    Parameters
    ----------
    a
        The lowest reward.
    b
        The highest reward.
    draw
        How `simulate` draws rewards.
    concentration
        The sum of the two parameters of "beta".

    Examples
    --------
    >>> Bounded(0, 10).divergence(5, 5)
    0.0
    """

    prior_names: ClassVar[tuple[str, str]] = ("alpha", "beta")
    takes_zeros: ClassVar[bool] = True
    derived_numbers: ClassVar[dict[str, type]] = {"shape": int}

    a: float = 0.0
    b: float = 1.0
    draw: str | Callable[[float, Any], float] = "beta"
    concentration: float = 4.0

    def __post_init__(self) -> None:
        """Check the bounds and the name of the draw."""
        real_number(self.a, "the 'a' of Bounded")
        real_number(self.b, "the 'b' of Bounded", above=self.a)
        if max(abs(self.a), abs(self.b)) > LARGEST:
            raise UnimodalError(
                f"the bounds of Bounded must lie between {-LARGEST:g} and {LARGEST:g}, "
                f"got {self.a:g} and {self.b:g}: use another unit."
            )
        least = max(SMALLEST, _NARROW * max(abs(self.a), abs(self.b)))
        if self.b - self.a < least:
            raise UnimodalError(
                f"the bounds of Bounded must be at least {least:g} apart, for rewards between them "
                f"to be told apart, got {self.a!r} and {self.b!r}: subtract a from rewards, or use "
                "another unit."
            )
        real_number(self.concentration, "the 'concentration' of Bounded", above=0)
        if not SMALLEST <= self.concentration <= LARGEST:
            raise UnimodalError(
                f"the 'concentration' of Bounded must lie between {SMALLEST:g} and {LARGEST:g}, "
                f"got {self.concentration:g}."
            )
        if isinstance(self.draw, str) and self.draw not in DRAWS:
            raise unknown_name("draw of Bounded", self.draw, DRAWS)
        if not isinstance(self.draw, str) and not callable(self.draw):
            raise UnimodalError(
                f"the 'draw' of Bounded must be one of {', '.join(DRAWS)} or a function "
                f"draw(mean, rng), got {self.draw!r}."
            )
        if callable(self.draw):
            kind: Any = type(self)
            object.__setattr__(self, "Record", _with_own_draw(kind, self.draw).Record)

    @property
    def shape(self) -> int:
        """The number by which compiled code knows the draw."""
        return DRAWS.index(self.draw) if isinstance(self.draw, str) else -1

    @property
    def is_own(self) -> bool:
        """Whether rewards are drawn by a user's function."""
        return callable(self.draw) or super().is_own

    @property
    def is_plain(self) -> bool:
        """Whether rewards are drawn by plain Python."""
        if callable(self.draw):
            return not hasattr(self.draw, "py_func")
        return super().is_plain

    @property
    def own_functions(self) -> dict[str, tuple[Callable[..., Any], str]]:
        """The user's `draw`, and the methods of a subclass."""
        found = super().own_functions
        if callable(self.draw):
            found["the draw of Bounded"] = (self.draw, "draw(mean, rng)")
        return found

    @property
    def low(self) -> float:  # type: ignore[override]
        """The smallest reward."""
        return float(self.a)

    @property
    def high(self) -> float:  # type: ignore[override]
        """The largest reward."""
        return float(self.b)

    def expected_successes(self, count: float, total: float) -> float:
        """The scaled total: a reward x wins its coin with probability (x - a)/(b - a)."""
        return min(max((total - count * self.a) / (self.b - self.a), 0.0), float(count))

    def posterior_cdf(self, arms: Any, level: Any) -> NDArray[np.float64]:
        """That of the scaled Beta."""
        from scipy.special import betainc

        scaled = (np.asarray(level) - self.a) / (self.b - self.a)
        return betainc(*bounded_belief(arms), np.clip(scaled, 0.0, 1.0))

    def posterior_quantile(self, arms: Any, share: Any) -> NDArray[np.float64]:
        """That of the scaled Beta."""
        from scipy.special import betaincinv

        return self.a + (self.b - self.a) * betaincinv(*bounded_belief(arms), share)

    def posterior_at_top(self, arms: Any) -> NDArray[np.float64]:
        """Where the scaled Beta rounds to 1."""
        return binary.at_top(*bounded_belief(arms))

    def log_evidence(self, mean: Any, pulls: Any, total: Any) -> NDArray[np.float64]:
        """The Bernoulli one of the scaled rewards, which holds for any law between the bounds.

        (θ/m)^x·((1 - θ)/(1 - m))^(1 - x) is convex in the scaled reward x, so below its chord,
        whose expectation is θ + (1 - θ) = 1.
        """
        return binary.log_evidence(*self._scaled(mean, pulls, total))

    def log_likelihood(self, mean: Any, pulls: Any, total: Any) -> NDArray[np.float64]:
        """That of coins with the scaled mean, as which rewards count."""
        return binary.log_likelihood(*self._scaled(mean, pulls, total))

    def _scaled(self, mean: Any, pulls: Any, total: Any) -> tuple[Any, Any, Any]:
        """A mean, a number of rewards and their sum as those of rewards between 0 and 1."""
        width = self.b - self.a
        scaled = np.clip((total - pulls * self.a) / width, 0.0, pulls)  # rounding may step outside
        return (mean - self.a) / width, pulls, scaled


@functools.cache
def _with_own_draw(cls: Any, function: Callable[[float, Any], float]) -> Any:
    """A family like Bounded in all but the draw, which is the user's function."""

    class OwnDraw(cls):  # type: ignore[misc]
        pass

    if hasattr(function, "py_func"):  # only Numba's functions have one
        call = compile_own(function)
        kernel.draw.register(OwnDraw)(lambda family, mean, rng: float(call(mean, rng)))
    else:
        own = lambda family, mean, rng: function(mean, rng)  # noqa: E731
        register(kernel.draw, OwnDraw, own, False, "the draw of Bounded")
    return OwnDraw


@kernel.divergence.register(Bounded)
def _divergence(family, p, q):
    width = family.b - family.a
    return binary.divergence((p - family.a) / width, (q - family.a) / width)


@kernel.upper.register(Bounded)
def _upper(family, p, budget):
    width = family.b - family.a
    root = family.a + width * binary.upper((p - family.a) / width, budget)
    return min(max(root, p), family.b)  # scaling there and back may round past either


@kernel.negentropy.register(Bounded)
def _negentropy(family, p):
    return binary.negentropy((p - family.a) / (family.b - family.a))


@kernel.natural.register(Bounded)
def _natural(family, q):
    # kl is the Bernoulli one of x = (p - a)/w: x·θ = p·(θ/w) - a·θ/w
    width = family.b - family.a
    x = (q - family.a) / width
    theta, log_norm = binary.natural(x)
    if math.isinf(theta):
        return theta, log_norm
    theta /= width
    return theta, family.a * theta + log_norm


@kernel.top.register(Bounded)
def _top(family):
    return family.b


@kernel.draw.register(Bounded)
def _draw(family, mean, rng):
    width = family.b - family.a
    x = (mean - family.a) / width
    if x <= 0.0 or x >= 1.0:
        return mean
    if family.shape == 0:
        drawn = beta(rng, family.concentration * x, family.concentration * (1.0 - x))
    elif family.shape == 1:
        drawn = 1.0 if uniform(rng) < x else 0.0
    else:
        drawn = x + (2.0 * uniform(rng) - 1.0) * min(x, 1.0 - x)
    return min(family.a + width * drawn, family.b)  # the sum may round up past b


@kernel.learn.register(Bounded)
def _learn(family, arms, arm, reward, rng):
    arms[arm].pulls += 1
    arms[arm].total += reward
    # Agrawal and Goyal (2012), Alg. 2: toss a coin with the reward as its bias.
    if uniform(rng) < (reward - family.a) / (family.b - family.a):
        arms[arm].successes += 1


@inner
def bounded_belief(arm):
    """The a and b of the posterior of the scaled mean, which goes by the coins."""
    return arm.prior_a + arm.successes, arm.prior_b + (arm.pulls - arm.successes)


@kernel.posterior.register(Bounded)
def _posterior(family, arm, rng):
    a, b = bounded_belief(arm)
    return family.a + (family.b - family.a) * beta(rng, a, b)


@kernel.prior_worth.register(Bounded)
def _prior_worth(family, arm):
    pulls = arm.prior_a + arm.prior_b
    return pulls, family.a * pulls + (family.b - family.a) * arm.prior_a


# Levels, for comparing upper confidence bounds


@inner
def _scaled_shares(family, pulls, total):
    """The scaled mean and what is missing to 1, each to full precision."""
    width = (family.b - family.a) * pulls
    q = (family.b * pulls - total) / width
    # Sums of rewards at the top are rounded, unless they are small multiples of a power of 2.
    if q * (family.b - family.a) <= _ROUNDING * max(abs(family.a), abs(family.b)):
        q = 0.0
    return max((total - family.a * pulls) / width, 0.0), q


@unsaturated_scale.mean_level.register(Bounded)
def _mean_level(family, pulls, total):
    p, q = _scaled_shares(family, pulls, total)
    return binary.mean_level(p, q)


@unsaturated_scale.upper_level.register(Bounded)
def _upper_level(family, pulls, total, budget):
    p, q = _scaled_shares(family, pulls, total)
    return binary.upper_level(p, q, budget / pulls)


@unsaturated_scale.distance.register(Bounded)
def _distance(family, pulls, total, level):
    p, q = _scaled_shares(family, pulls, total)
    return pulls * binary.distance(p, q, level)


@unsaturated_scale.between.register(Bounded)
def _between(family, low, high, share):
    return binary.between(low, high, share)


@unsaturated_scale.linear_form.register(Bounded)
def _linear_form(family, level):
    # kl is the Bernoulli one of x = (p - a)/w: x·θ = p·(θ/w) - a·θ/w
    width = family.b - family.a
    x, theta, log_norm = binary.linear_form(level)
    shift = family.a * theta / width if math.isfinite(theta) else 0.0
    return family.a + width * x, theta / width, log_norm + shift


@unsaturated_scale.shrunk.register(Bounded)
def _shrunk(family, level, share):
    return binary.shrunk(level, share, family.a / (family.b - family.a))


@unsaturated_scale.stretched.register(Bounded)
def _stretched(family, level, share):
    return binary.stretched(level, share, family.a / (family.b - family.a))


# Leaping


@leaping.worst.register(Bounded)
def _worst(family):
    return family.a


leaping.gather.register(Bounded)(one_by_one)


@leaping.hat.register(Bounded)
def _hat(family, arm, worse, level, above):
    a, b = bounded_belief(arm)
    return beta_hat(a, later_failures(b, worse), (level - family.a) / (family.b - family.a), above)


@leaping.under_hat.register(Bounded)
def _under_hat(family, arm, level, rate, above, rng):
    a, b = bounded_belief(arm)
    width = family.b - family.a
    draw = beta_under_hat(a, b, (level - family.a) / width, rate, above, rng)
    return beyond(family.a + width * draw, level, above)


@leaping.beta_belief.register(Bounded)
def _beta_belief(family, arm):
    return bounded_belief(arm)


@leaping.from_beta.register(Bounded)
def _from_beta(family, arm, share):
    return family.a + (family.b - family.a) * share


@leaping.outlook.register(Bounded)
def _outlook(family, arm):
    a, b = bounded_belief(arm)
    mean, spread = beta_outlook(a, b)
    width = family.b - family.a
    return family.a + width * mean, width * spread
