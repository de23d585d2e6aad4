"""Levels: means on a scale that does not end, for comparing upper confidence bounds.

Near the top of a range means saturate: 1 - 10⁻³⁰⁰ and 1 - 10⁻⁴⁰⁰ are both 1 as floats, and so are
upper bounds of arms with a few good rewards. So bounds are found and compared as *levels*, which
increase with the mean: -log(1 - x) of the scaled mean x for `Bernoulli` and `Bounded`; the mean
itself by default. The top itself has the level `TOP`, which no other mean has; ∞ is left to arms
that were never pulled.

Arms are given by their pulls and total, since 1 - total/pulls would lose what pulls - total keeps.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

import math

from unimodal.families.family import Family, divergence, natural, upper
from unimodal.kernels.compile import generic

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

    The mean is not above the level's own, and a little below it where that would be rounded. It is
    -∞ where there is no such form.
    """


@generic
def shrunk(family, level, share):
    """The level of `share` times the mean of a level, for a share below 1."""


@generic
def stretched(family, level, share):
    """The level that `shrunk` takes to this one; ∞ if it takes none so far."""


@generic
def is_sharp(family, level):
    """Whether the distance to a level has its digits, so that a wait for it can be known."""


@is_sharp.register(Family)
def _always(family, level):
    return True


@shrunk.register(Family)
def _less(family, level, share):
    return share * level


@stretched.register(Family)
def _more(family, level, share):
    return level / share


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
def _no_linear_form(family, level):
    return -math.inf, 0.0, 0.0


def natural_form(family, level):
    """The linear form of a family whose levels are its means, by its natural parameter."""
    if level == math.inf:
        return level, 0.0, TOP
    theta, log_norm = natural(family, level)
    return level, theta, log_norm


# With these in place of inherited ones, a level is the mean and needs no more than a divergence.
BY_DIVERGENCE = {
    mean_level: _mean,
    upper_level: _upper,
    distance: _distance,
    between: _between,
    linear_form: _no_linear_form,
}
