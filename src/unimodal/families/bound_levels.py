"""Levels: means on a scale that does not end, for comparing upper confidence bounds.

Near the top of a range means saturate: 1 - 10⁻³⁰⁰ and 1 - 10⁻⁴⁰⁰ are both 1 as floats, and so are
upper bounds of arms with a few good rewards. So bounds are found and compared as *levels*, which
increase with the mean: -log(1 - x) of the scaled mean x where the family has a top; the mean itself
where it has none. The top itself has the level `TOP`, which no other mean has; ∞ is left to arms
that were never pulled.

Arms are given by their pulls and total, since 1 - total/pulls would lose what pulls - total keeps.
"""

from __future__ import annotations

import math

from unimodal.families.bernoulli import Bernoulli, binary_rise, binary_rise_cost
from unimodal.families.bounded import Bounded
from unimodal.families.family import Family, divergence, natural, upper
from unimodal.kernels.compile import generic, inner

# A mean this close to the top may have lost the digits that say on which side of a bound it lies.
_BLURRED = 1.0 - 1e-6
_ROUNDING = 2.0**-50  # of sums: what is missing to the top by less than this is not missing
TOP = 1e300  # not ∞, which would make sums with it ∞ or NaN


@generic
def mean_level(family, pulls, total):
    """The level of an arm's mean, for pulls > 0."""


@generic
def upper_level(family, pulls, total, budget):
    """The highest level u with pulls·kl(mean, u) ≤ budget, for pulls > 0 and a budget ≥ 0."""


@generic
def distance(family, pulls, total, level):
    """pulls·kl(mean, level), for pulls > 0; 0 where the mean is not below the level."""


@generic
def between(family, low, high, share):
    """The level that lies so far on the way from low to high, by their means."""


@generic
def linear_form(family, level):
    """(mean, θ, A) of a level: kl(p, level) = negentropy(p) - p·θ + A for p below that mean.

    The mean is not above the level's own, and a little below it where that would be rounded.
    """


# Without a top a level is the mean.


@mean_level.register(Family)
def _mean(family, pulls, total):
    return total / pulls


@upper_level.register(Family)
def _upper(family, pulls, total, budget):
    return upper(family, total / pulls, budget / pulls)


@distance.register(Family)
def _distance(family, pulls, total, level):
    mean = total / pulls
    return pulls * divergence(family, mean, level) if mean < level else 0.0


@between.register(Family)
def _between(family, low, high, share):
    return low + share * (high - low)


@linear_form.register(Family)
def _linear_form(family, level):
    if level == math.inf:
        return level, 0.0, TOP
    theta, log_norm = natural(family, level)
    return level, theta, log_norm


# Bernoulli, and Bounded, which is the same for the scaled mean


@inner
def _shares(pulls, total):
    """The mean and what is missing to 1, each to full precision; rounding may have overdone it."""
    return total / pulls, max((pulls - total) / pulls, 0.0)


@inner
def _scaled_shares(family, pulls, total):
    """The same for the scaled mean."""
    width = (family.b - family.a) * pulls
    q = (family.b * pulls - total) / width
    # Sums of rewards at the top are rounded, unless they are small multiples of a power of 2.
    if q * (family.b - family.a) <= _ROUNDING * max(abs(family.a), abs(family.b)):
        q = 0.0
    return max((total - family.a * pulls) / width, 0.0), q


@inner
def _binary_level(p, q):
    if q <= 0.0:
        return TOP
    return -math.log(q) if q < 0.5 else -math.log1p(-p)


@inner
def _binary_upper_level(p, q, budget):
    return _binary_level(p, q) + binary_rise(p, q, budget) if q > 0.0 else TOP


@inner
def _binary_distance(p, q, level):
    rise = level - _binary_level(p, q)
    return binary_rise_cost(p, q, rise) if rise > 0.0 else 0.0


@inner
def _binary_linear_form(level):
    if level >= TOP:
        return _BLURRED, 0.0, TOP
    if level <= 0.0:
        return 0.0, -math.inf, 0.0
    x = -math.expm1(-level)
    return min(x, _BLURRED), math.log(x) + level, level


@inner
def _binary_between(low, high, share):
    # 1 - x = (1 - share)·exp(-low) + share·exp(-high)
    return low - math.log1p(share * math.expm1(low - high))


@mean_level.register(Bernoulli)
def _bernoulli_level(family, pulls, total):
    p, q = _shares(pulls, total)
    return _binary_level(p, q)


@upper_level.register(Bernoulli)
def _bernoulli_upper(family, pulls, total, budget):
    p, q = _shares(pulls, total)
    return _binary_upper_level(p, q, budget / pulls)


@distance.register(Bernoulli)
def _bernoulli_distance(family, pulls, total, level):
    p, q = _shares(pulls, total)
    return pulls * _binary_distance(p, q, level)


@between.register(Bernoulli)
@between.register(Bounded)
def _between_under_a_top(family, low, high, share):
    return _binary_between(low, high, share)


@linear_form.register(Bernoulli)
def _bernoulli_linear_form(family, level):
    return _binary_linear_form(level)


@mean_level.register(Bounded)
def _bounded_level(family, pulls, total):
    p, q = _scaled_shares(family, pulls, total)
    return _binary_level(p, q)


@upper_level.register(Bounded)
def _bounded_upper(family, pulls, total, budget):
    p, q = _scaled_shares(family, pulls, total)
    return _binary_upper_level(p, q, budget / pulls)


@distance.register(Bounded)
def _bounded_distance(family, pulls, total, level):
    p, q = _scaled_shares(family, pulls, total)
    return pulls * _binary_distance(p, q, level)


@linear_form.register(Bounded)
def _bounded_linear_form(family, level):
    # kl is the Bernoulli one of x = (p - a)/w: x·θ = p·(θ/w) - a·θ/w
    width = family.b - family.a
    x, theta, log_norm = _binary_linear_form(level)
    shift = family.a * theta / width if math.isfinite(theta) else 0.0
    return family.a + width * x, theta / width, log_norm + shift
