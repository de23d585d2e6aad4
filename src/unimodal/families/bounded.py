"""Rewards between two bounds, of whatever shape."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, ClassVar

from unimodal.errors import UnimodalError, real_number, unknown_name
from unimodal.families.bernoulli import binary_divergence, binary_negentropy, binary_upper
from unimodal.families.family import (
    LARGEST,
    SMALLEST,
    Family,
    divergence,
    draw,
    learn,
    natural,
    negentropy,
    posterior,
    top,
    upper,
)
from unimodal.kernels.compile import component, inner
from unimodal.kernels.random import beta, uniform

_NARROW = 1e-9  # of the bounds: closer ones leave too few digits for what lies between
DRAWS = ("beta", "two-point", "uniform")


@component
class Bounded(Family):
    """Rewards in [a, b]. Beliefs come from the Bernoulli trick of Agrawal and Goyal (2012).

    A reward x counts as a success with probability (x - a)/(b - a), and the posterior of the
    scaled mean is Beta(alpha + successes, beta + failures); the leader goes by raw means. The
    divergence and upper root are the Bernoulli ones of the scaled means, valid for any law there.

    `draw` says how `simulate` draws rewards: "beta" (a scaled Beta whose two parameters sum to
    `concentration`), "two-point" (a or b), "uniform" (as wide as fits around the mean), or your own
    `draw(mean, rng)` written with `unimodal.random`: plain Python (slow), or compiled with
    `numba.njit` (fast).

    >>> Bounded(0, 10).divergence(5, 5)
    0.0
    """

    prior_names: ClassVar[tuple[str, str]] = ("alpha", "beta")
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
        if self.is_own:
            object.__setattr__(self, "Record", _with_own_draw(self.draw).Record)

    @property
    def shape(self) -> int:
        """The number by which compiled code knows the draw."""
        return DRAWS.index(self.draw) if isinstance(self.draw, str) else -1

    @property
    def is_own(self) -> bool:
        """Whether rewards are drawn by a user's function."""
        return callable(self.draw)

    @property
    def is_plain(self) -> bool:
        """Whether rewards are drawn by plain Python."""
        return self.is_own and not hasattr(self.draw, "py_func")

    @property
    def low(self) -> float:  # type: ignore[override]
        """The smallest reward."""
        return float(self.a)

    @property
    def high(self) -> float:  # type: ignore[override]
        """The largest reward."""
        return float(self.b)


@functools.cache
def _with_own_draw(function: Callable[[float, Any], float]) -> Any:
    """A family like Bounded in all but the draw, which is the user's function."""

    @component
    class OwnDraw(Bounded):
        pass

    plain = not hasattr(function, "py_func")  # only Numba's functions have one
    draw.register(OwnDraw, plain)(lambda family, mean, rng: function(mean, rng))
    return OwnDraw


@divergence.register(Bounded)
def _divergence(family, p, q):
    width = family.b - family.a
    return binary_divergence((p - family.a) / width, (q - family.a) / width)


@upper.register(Bounded)
def _upper(family, p, budget):
    width = family.b - family.a
    root = family.a + width * binary_upper((p - family.a) / width, budget)
    return min(max(root, p), family.b)  # scaling there and back may round past either


@negentropy.register(Bounded)
def _negentropy(family, p):
    return binary_negentropy((p - family.a) / (family.b - family.a))


@natural.register(Bounded)
def _natural(family, q):
    # kl is the Bernoulli one of x = (p - a)/w: x·θ = p·(θ/w) - a·θ/w
    width = family.b - family.a
    x = (q - family.a) / width
    if x <= 0.0:
        return -math.inf, 0.0
    if x >= 1.0:
        return math.inf, math.inf
    other = math.log1p(-x)
    theta = (math.log(x) - other) / width
    return theta, family.a * theta - other


@top.register(Bounded)
def _top(family):
    return family.b


@draw.register(Bounded)
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


@learn.register(Bounded)
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


@posterior.register(Bounded)
def _posterior(family, arm, rng):
    a, b = bounded_belief(arm)
    return family.a + (family.b - family.a) * beta(rng, a, b)
