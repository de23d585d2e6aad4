"""Hats over Beta and gamma posteriors, and candidates under them: see `leaping.py`."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

import math

from unimodal.families.leaping import NO_HAT
from unimodal.kernels.compile import inner, jit
from unimodal.kernels.densities import beta_density, gamma_density
from unimodal.kernels.random import exponential, uniform


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


@inner
def later_failures(b, worse):
    """The b of a Beta so many failures on; as it is while there is no hat, since one must last."""
    return b + worse if b >= 1.0 else b


@jit
def beta_outlook(a, b):
    """Mean and standard deviation of Beta(a, b)."""
    mean = a / (a + b)
    return mean, math.sqrt(mean * (1.0 - mean) / (a + b + 1.0))


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
