"""Posteriors as distributions: against Thompson draws, and against each other.

False alarms: 8 p-values, each below 1e-4 on correct code once in 10,000 seeds. Seeds are fixed.
"""

import numpy as np
import pytest
from numba import njit
from scipy import stats

import unimodal as um
from unimodal.families.family import posterior
from unimodal.families.posteriors import cdf, interval, quantile
from unimodal.kernels.compile import record
from unimodal.kernels.random import POLICY, stream
from unimodal.policies.state import ARM


@njit(nogil=True, _nrt=False)
def draw_many(family, arms, out, rng):
    for i in range(len(out)):
        out[i] = posterior(family, arms[0], rng)


def arm(pulls, total, successes, prior):
    arms = np.zeros(1, dtype=ARM)
    arms["pulls"], arms["total"], arms["successes"] = pulls, total, successes
    arms["prior_a"], arms["prior_b"] = prior
    return arms


CASES = [
    (um.Bernoulli(), arm(40, 13, 0, (1, 1))),
    (um.Bernoulli(), arm(0, 0, 0, (0.5, 3))),
    (um.Bounded(-2, 6), arm(30, 50, 17, (1, 2))),
    (um.Gaussian(2.0), arm(7, 30, 0, (-4, 3))),
    (um.Poisson(), arm(9, 31, 0, (1, 1))),
    (um.Poisson(), arm(0, 0, 0, (2, 0.5))),
    (um.Exponential(), arm(12, 30, 0, (1, 1))),
    (um.Exponential(), arm(3, 0.2, 0, (2, 1))),
]


@pytest.mark.parametrize(("family", "arms"), CASES)
def test_thompson_draws_have_this_law(family, arms):
    """Power: a parameter off by one rejects at this size (seen for Bernoulli, 40 pulls)."""
    drawn = np.empty(20_000)
    draw_many(record(family), arms, drawn, stream(3, 0, POLICY))
    assert stats.kstest(drawn, lambda level: cdf(family, arms, level)).pvalue > 1e-4


@pytest.mark.parametrize(("family", "arms"), CASES)
def test_quantiles_invert_probabilities(family, arms):
    share = np.array([1e-6, 0.025, 0.5, 0.975, 1 - 1e-6])
    assert cdf(family, arms, quantile(family, arms, share)) == pytest.approx(share, rel=1e-6)
    low, high = interval(family, arms, 0.9)
    assert cdf(family, arms, high) - cdf(family, arms, low) == pytest.approx(0.9)


def test_levels_outside_of_the_support_are_sure():
    for family, arms in CASES:
        if np.isfinite(family.low):
            assert cdf(family, arms, family.low - 1.0) == pytest.approx(0.0)
        if np.isfinite(family.high):
            assert cdf(family, arms, family.high + 1.0) == pytest.approx(1.0)


def test_many_arms_at_once():
    arms = np.concatenate([CASES[0][1], CASES[1][1]])
    low, high = interval(um.Bernoulli(), arms)
    assert low.shape == (2,) and (low < high).all()


def test_a_wrong_probability_gets_a_sentence():
    for wrong in (0.0, 1.0, "x"):
        with pytest.raises(um.UnimodalError, match="'probability' of an interval"):
            interval(um.Bernoulli(), CASES[0][1], wrong)
