"""Densities to full precision for parameters up to 10⁸, where a difference of log-gammas has none.

Loader's saddle-point forms (2000, "Fast and accurate computation of binomial probabilities"): the
large terms are cancelled on paper, so that what remains is a deviance and a small correction.
"""

from __future__ import annotations

import math

from unimodal.kernels.compile import inner, jit

_HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)
_TWO_PI = 2.0 * math.pi
_SPLIT = 2.0**27 + 1.0


@jit
def stirling_error(n):
    """Log n! - log(√(2πn)·(n/e)ⁿ), for real n > 0."""
    if n < 16.0:
        return math.lgamma(n + 1.0) - (n + 0.5) * math.log(n) + n - _HALF_LOG_TWO_PI
    square = n * n
    tail = (
        1.0 / 1260.0 - (1.0 / 1680.0 - (1.0 / 1188.0 - 691.0 / 360360.0 / square) / square) / square
    )
    return (1.0 / 12.0 - (1.0 / 360.0 - tail / square) / square) / n


@jit
def deviance(x, n, p, slip):
    """x·log(x/m) + m - x for m = n·(p + slip), without cancellation where x and m are close."""
    mean = n * p
    difference = x - mean
    value = mean
    if abs(difference) < 0.1 * (x + mean):
        # The series of (1 + v)·log((1 + v)/(1 - v)) around v = 0.
        v = difference / (x + mean)
        value = difference * v
        term, square = 2.0 * x * v, v * v
        for j in range(1, 1000):
            term *= square
            longer = value + term / (2 * j + 1)
            if longer == value:
                break
            value = longer
    elif x > 0.0:
        value = x * math.log(x / mean) + mean - x
    # What n·p lost to rounding, and the slip of p, count when n is large: to first order.
    return value - (_lost_in_product(n, p, mean) + n * slip) * difference / mean


@inner
def _lost_in_product(x, y, product):
    """x·y - product to full precision (Dekker 1971)."""
    x_high = x * _SPLIT - (x * _SPLIT - x)
    y_high = y * _SPLIT - (y * _SPLIT - y)
    x_low, y_low = x - x_high, y - y_high
    return ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low


@jit
def log_binomial(k, other, p):
    """The log of the probability of k successes and `other` failures, real and ≥ 0; 0 < p < 1."""
    if k == 0.0:
        return other * math.log1p(-p)
    if other == 0.0:
        return k * math.log(p)
    n, q = k + other, 1.0 - p
    correction = stirling_error(n) - stirling_error(k) - stirling_error(other)
    distance = deviance(k, n, p, 0.0) + deviance(other, n, q, (1.0 - q) - p)
    return correction - distance + 0.5 * math.log(n / (_TWO_PI * k * other))


@jit
def beta_density(x, a, b):
    """The density of Beta(a, b) at 0 < x < 1, for a > 0 and b > 0."""
    factor = 1.0
    if a < 1.0:  # f(x; a, b) from f(x; a + 1, b)
        factor *= a / ((a + b) * x)
        a += 1.0
    if b < 1.0:
        factor *= b / ((a + b) * (1.0 - x))
        b += 1.0
    return factor * (a + b - 1.0) * math.exp(log_binomial(a - 1.0, b - 1.0, x))


@jit
def gamma_density(x, shape, rate):
    """The density of a gamma at x > 0."""
    factor = rate
    if shape < 1.0:  # f(x; shape) from f(x; shape + 1)
        factor *= shape / (rate * x)
        shape += 1.0
    return factor * math.exp(log_poisson(shape - 1.0, rate, x))


@jit
def log_poisson(k, rate, x):
    """The log of the probability of k where rate·x is expected, for real k ≥ 0."""
    if k == 0.0:
        return -rate * x
    distance = deviance(k, rate, x, 0.0)
    return -stirling_error(k) - distance - 0.5 * math.log(_TWO_PI * k)
