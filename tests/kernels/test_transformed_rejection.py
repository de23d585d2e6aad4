"""Hörmann's draws (1993) accept exactly what they may: the step without a density, too.

A uniform u on (-1/2, 1/2) is mapped to k by a G with the slope a/us² + b, where us = 1/2 - |u|, and
kept if v ≤ f(k)·G'(u)/α: so k has the law f as long as that is at most 1, whatever the offset
of G. Most are kept by v ≤ v_r alone, which must never keep more. The functions run as plain Python
here, with u and v given.
"""

import math

import numpy as np
import pytest
from scipy import stats

import unimodal.kernels.binomial
import unimodal.kernels.random

# Where us ≥ 0.07, which is the condition of the quick step, and beyond; both edges among them.
PLACES = np.concatenate([np.linspace(-0.499, 0.499, 401), [-0.43, 0.43, -0.4299, 0.4299]])


def binomial_of(n, p):
    """The draw, the density over that of the mode, and the a, b and α of it."""
    law, spread = stats.binom(n, p), math.sqrt(n * p * (1 - p))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    mode = law.logpmf(math.floor((n + 1) * p))
    return (
        lambda: unimodal.kernels.binomial._binomial_to_half("rng", n, p),
        lambda k: math.exp(law.logpmf(k) - mode),
        (a, b, (2.83 + 5.1 / b) * spread),
    )


def poisson_of(mean):
    b = 0.931 + 2.53 * math.sqrt(mean)
    a = -0.059 + 0.02483 * b
    return (
        lambda: unimodal.kernels.random.poisson.py_func("rng", mean),
        stats.poisson(mean).pmf,
        (a, b, 1.1239 + 1.1328 / (b - 3.4)),
    )


@pytest.mark.parametrize(
    ("made", "given"),
    [
        (binomial_of, (24, 0.5)),
        (binomial_of, (1000, 0.2)),
        (binomial_of, (10**6, 0.37)),
        (poisson_of, (10.5,)),
        (poisson_of, (1000.0,)),
    ],
)
def test_the_quick_step_keeps_no_more_than_the_density_says(monkeypatch, made, given):
    """Just below the bound on v a number is kept, and just above it is not, at every u."""
    draw, density, (a, b, alpha) = made(*given)

    def first_try(u, v):
        """What is kept of this u and v, or None."""
        uniforms = iter([u + 0.5, 1.0 - v])
        for module in (unimodal.kernels.binomial, unimodal.kernels.random):
            monkeypatch.setattr(module, "uniform", lambda rng: next(uniforms))
        try:
            return draw()
        except StopIteration:
            return None

    seen = 0
    for u in PLACES:
        k = first_try(u, 1e-9)
        if k is None:  # beyond the numbers there are, or far out
            continue
        us = 0.5 - abs(u)
        bound = density(k) * (a / us**2 + b) / alpha
        assert 1e-9 < bound < 1.0
        assert first_try(u, bound * (1 - 1e-6)) == k
        assert first_try(u, min(bound * (1 + 1e-6), 1.0)) is None
        seen += us >= 0.07
    assert seen > 330
