"""The tails of a posterior: how likely a Thompson draw passes a level, and such a draw itself.

Nothing here inverts or integrates a distribution. Beyond a level on the far side of its mode, a
log-concave density f lies under the exponential that touches it at the level: its *hat*. A draw
passes the level with probability ∫f; equivalently, with the hat's mass it becomes a candidate,
which falls under the hat and is kept with probability f/hat. So a hat gives exact waits and exact
draws from two numbers, the density at the level and the slope of its logarithm.
"""

from __future__ import annotations

import math

from unimodal.families.bernoulli import NO_FAILURE, Bernoulli, bernoulli_belief
from unimodal.families.bounded import Bounded, bounded_belief
from unimodal.families.exponential import Exponential, exponential_belief
from unimodal.families.family import Family
from unimodal.families.gaussian import Gaussian, gaussian_belief
from unimodal.families.poisson import Poisson, poisson_belief
from unimodal.kernels.compile import generic, inner, jit
from unimodal.kernels.densities import beta_density, gamma_density
from unimodal.kernels.random import exponential, uniform

NO_HAT = (
    math.inf,
    0.0,
)  # the level is on the near side of the mode, or the density not log-concave


@generic
def hat(family, arm, worse, level, above):
    """(mass, rate) of the hat over the posterior above or below a level, `worse` worst rewards on.

    Below, for a level under the posterior's mean, more worst rewards never make the mass smaller,
    and better ones never larger.
    """


@generic
def under_hat(family, arm, level, rate, above, rng):
    """A candidate under the hat: a draw beyond the level, or NaN if it is not kept."""


@generic
def outlook(family, arm):
    """About where the posterior lies and how wide it is: to choose levels by, nothing else."""


@generic
def is_sure(family, arm):
    """Whether every draw is the top of the range: a Beta without failures, in its prior either."""


@is_sure.register(Family)
def _never(family, arm):
    return False


@jit
def beta_hat(a, b, level, above):
    """The hat over Beta(a, b)."""
    if level <= 0.0 or level >= 1.0:
        return NO_HAT
    if above:
        if b < 1.0:
            return NO_HAT
        # x^(a - 1) falls where a < 1, so that there its value at the level is a bound.
        rate = (b - 1.0) / (1.0 - level) - max(a - 1.0, 0.0) / level
        if rate < 0.0:
            return NO_HAT
        width = 1.0 - level
        area = -math.expm1(-rate * width) / rate if rate * width > 1e-12 else width
        return beta_density(level, a, b) * area, rate
    if a < 1.0 or b < 1.0:
        return NO_HAT
    rate = (a - 1.0) / level - (b - 1.0) / (1.0 - level)
    if rate <= 0.0:
        return NO_HAT
    # Not cut off at 0, so that the mass is monotone in a and b.
    return beta_density(level, a, b) / rate, rate


@jit
def beta_under_hat(a, b, level, rate, above, rng):
    """A candidate for Beta(a, b) beyond the level."""
    if above:
        width = 1.0 - level
        if rate * width > 1e-12:
            step = -math.log1p(uniform(rng) * math.expm1(-rate * width)) / rate
        else:
            step = uniform(rng) * width
        step = min(step, width)
        if step == width:
            return math.nan if b > 1.0 else 1.0
        signed = step
    else:
        step = exponential(rng) / rate
        if step >= level:
            return math.nan
        signed = -step
    kept = (a - 1.0) * math.log1p(signed / level) + (b - 1.0) * math.log1p(-signed / (1.0 - level))
    return level + signed if -exponential(rng) < kept + rate * step else math.nan


@jit
def gamma_hat(shape, rate, level, above):
    """The hat over a gamma."""
    if level <= 0.0:
        return NO_HAT
    if above:
        slope = rate - max(shape - 1.0, 0.0) / level
    else:
        slope = (shape - 1.0) / level - rate if shape >= 1.0 else 0.0
    if slope <= 0.0:
        return NO_HAT
    return gamma_density(level, shape, rate) / slope, slope


@jit
def gamma_under_hat(shape, rate, level, slope, above, rng):
    """A candidate for a gamma beyond the level."""
    step = exponential(rng) / slope
    if not above and step >= level:
        return math.nan
    signed = step if above else -step
    kept = (shape - 1.0) * math.log1p(signed / level) - rate * signed
    return level + signed if -exponential(rng) < kept + slope * step else math.nan


@jit
def beyond(draw, level, above):
    """The draw, which a change of scale must not round to the wrong side of the level."""
    if draw != draw or (draw > level) == above:
        return draw
    return level


# Bernoulli: Beta(alpha + S, beta + T - S)


@hat.register(Bernoulli)
def _bernoulli_hat(family, arm, worse, level, above):
    a, b = bernoulli_belief(arm)
    return beta_hat(a, _later(b, worse), level, above)


@inner
def _later(b, worse):
    """The b of a Beta so many failures on; as it is while there is no hat, since one must last."""
    return b + worse if b >= 1.0 else b


@under_hat.register(Bernoulli)
def _bernoulli_under_hat(family, arm, level, rate, above, rng):
    a, b = bernoulli_belief(arm)
    return beta_under_hat(a, b, level, rate, above, rng)


@outlook.register(Bernoulli)
def _bernoulli_outlook(family, arm):
    a, b = bernoulli_belief(arm)
    return beta_outlook(a, b)


@is_sure.register(Bernoulli)
def _bernoulli_is_sure(family, arm):
    return bernoulli_belief(arm)[1] <= NO_FAILURE


@jit
def beta_outlook(a, b):
    """Mean and standard deviation of Beta(a, b)."""
    mean = a / (a + b)
    return mean, math.sqrt(mean * (1.0 - mean) / (a + b + 1.0))


# Bounded: the same for the coins, scaled


@hat.register(Bounded)
def _bounded_hat(family, arm, worse, level, above):
    a, b = bounded_belief(arm)
    return beta_hat(a, _later(b, worse), (level - family.a) / (family.b - family.a), above)


@under_hat.register(Bounded)
def _bounded_under_hat(family, arm, level, rate, above, rng):
    a, b = bounded_belief(arm)
    width = family.b - family.a
    draw = beta_under_hat(a, b, (level - family.a) / width, rate, above, rng)
    return beyond(family.a + width * draw, level, above)


@outlook.register(Bounded)
def _bounded_outlook(family, arm):
    a, b = bounded_belief(arm)
    mean, spread = beta_outlook(a, b)
    width = family.b - family.a
    return family.a + width * mean, width * spread


# Poisson: Gamma(shape + S, rate + T)


@hat.register(Poisson)
def _poisson_hat(family, arm, worse, level, above):
    shape, rate = poisson_belief(arm)
    return gamma_hat(shape, rate + worse, level, above)


@under_hat.register(Poisson)
def _poisson_under_hat(family, arm, level, rate, above, rng):
    shape, scale = poisson_belief(arm)
    return gamma_under_hat(shape, scale, level, rate, above, rng)


@outlook.register(Poisson)
def _poisson_outlook(family, arm):
    shape, rate = poisson_belief(arm)
    return shape / rate, math.sqrt(shape) / rate


# Exponential: the mean is 1/x with x from Gamma(shape + T, rate + S), so that above is below


@hat.register(Exponential)
def _exponential_hat(family, arm, worse, level, above):
    if level <= 0.0:
        return NO_HAT
    shape, rate = exponential_belief(arm)
    return gamma_hat(shape + worse, rate, 1.0 / level, not above)


@under_hat.register(Exponential)
def _exponential_under_hat(family, arm, level, rate, above, rng):
    shape, scale = exponential_belief(arm)
    draw = 1.0 / gamma_under_hat(shape, scale, 1.0 / level, rate, not above, rng)
    return beyond(draw, level, above)


@outlook.register(Exponential)
def _exponential_outlook(family, arm):
    shape, rate = exponential_belief(arm)
    return rate / shape, rate / shape / math.sqrt(shape)


# Gaussian


@jit
def normal_outlook(family, arm):
    """Mean and standard deviation of the posterior."""
    mean, precision = gaussian_belief(family, arm)
    return mean, 1.0 / math.sqrt(precision)


@hat.register(Gaussian)
def _gaussian_hat(family, arm, worse, level, above):
    if worse > 0:
        return NO_HAT  # there is no worst reward
    mean, spread = normal_outlook(family, arm)
    distance = (level - mean if above else mean - level) / spread
    if not distance > 0.0:  # NaN where nothing is known yet
        return NO_HAT
    height = math.exp(-0.5 * distance * distance) / math.sqrt(2.0 * math.pi)
    return height / distance, distance / spread


@under_hat.register(Gaussian)
def _gaussian_under_hat(family, arm, level, rate, above, rng):
    spread = normal_outlook(family, arm)[1]
    step = exponential(rng) / rate
    # log f falls by the tangent's rate·step and by step²/(2·spread²) more
    if exponential(rng) < 0.5 * (step / spread) ** 2:
        return math.nan
    return level + step if above else level - step


@outlook.register(Gaussian)
def _gaussian_outlook(family, arm):
    return normal_outlook(family, arm)
