"""Densities against arithmetic with 40 digits, up to parameters of 10⁸ and ten widths out."""

import mpmath as mp
import numpy as np
import pytest

from unimodal.kernels.densities import (
    beta_density,
    gamma_density,
    log_binomial,
    log_poisson,
    stirling_error,
)

mp.mp.dps = 40
WITHIN = 1e-12  # relative
RNG = np.random.default_rng(0)
CASES = 10 ** RNG.uniform(-1, 8, (300, 2))
WIDTHS = RNG.uniform(-10, 10, 300)


def relative_error(value, exact):
    return float(abs((mp.mpf(float(value)) - exact) / exact))


def test_beta_density():
    checked = 0
    for (a, b), width in zip(CASES, WIDTHS, strict=True):
        mean = a / (a + b)
        x = mean + width * np.sqrt(mean * (1 - mean) / (a + b + 1))
        if not 1e-12 < x < 1 - 1e-12:
            continue
        wide = [mp.mpf(v) for v in (x, a, b)]
        log_norm = mp.loggamma(wide[1]) + mp.loggamma(wide[2]) - mp.loggamma(wide[1] + wide[2])
        powers = (wide[1] - 1) * mp.log(wide[0]) + (wide[2] - 1) * mp.log(1 - wide[0])
        exact = mp.exp(powers - log_norm)
        if exact > 1e-290:
            checked += 1
            assert relative_error(beta_density(x, a, b), exact) < WITHIN
    assert checked > 150


def test_gamma_density():
    checked = 0
    for (shape, rate), width in zip(CASES, WIDTHS, strict=True):
        x = shape / rate * (1 + width / np.sqrt(shape))
        if x <= 0:
            continue
        s, r, wide = (mp.mpf(v) for v in (shape, rate, x))
        exact = mp.exp(s * mp.log(r) + (s - 1) * mp.log(wide) - r * wide - mp.loggamma(s))
        if exact > 1e-290:
            checked += 1
            assert relative_error(gamma_density(x, shape, rate), exact) < WITHIN
    assert checked > 150


@pytest.mark.parametrize(("k", "other", "p"), [(0, 5, 0.3), (5, 0, 0.3), (0, 0, 0.5), (2, 3, 0.9)])
def test_binomial_at_its_ends(k, other, p):
    exact = mp.log(mp.binomial(k + other, k) * mp.mpf(p) ** k * (1 - mp.mpf(p)) ** other)
    assert log_binomial(float(k), float(other), p) == pytest.approx(float(exact), rel=1e-13)


def test_poisson_at_zero():
    assert log_poisson(0.0, 2.0, 1.5) == -3.0


@pytest.mark.parametrize("n", [16.0, 16.5, 18.0, 25.0, 100.0, 1e6])
def test_the_series_of_stirlings_error_has_all_digits_where_it_begins(n):
    """The last term is 2·10⁻¹⁴ of it at 16, and the next one would be as small as rounding."""
    with mp.workdps(60):
        exact = mp.loggamma(n + 1) - (mp.mpf(n) + 0.5) * mp.log(n) + n - mp.log(2 * mp.pi) / 2
        assert abs(stirling_error(n) / exact - 1) < 2e-15
