"""Quick Betas: what is taken for granted of a pair of normals holds, and the draws are Betas."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from unimodal.kernels.compile import jit
from unimodal.kernels.quick_beta import (
    FEWEST,
    LIMIT,
    PAIRS,
    SHARE,
    SURE,
    beta_looked_at,
    is_sure,
    log_kept,
    new_gammas,
    new_pairs,
    sure_beta,
    take_pairs,
    update_gammas,
)
from unimodal.kernels.random import stream

WITHIN = np.linspace(-LIMIT, LIMIT, 201)
GROWTH = np.linspace(1.0, 1.0 + SHARE, 5)


@jit
def _updated(gammas, a, b):
    update_gammas(gammas[0], a, b)


def gammas_of(a, b):
    gammas = new_gammas(1)
    _updated(gammas, float(a), float(b))
    return gammas


def least_kept(fewest):
    """The smallest log of a probability to be kept, over a grid of parameters and normals."""
    shapes = [fewest, 1.3 * fewest, 3.0 * fewest, 1e2 * fewest, 1e6 * fewest]
    found = 0.0
    for d in shapes:
        c = 1.0 / math.sqrt(9.0 * d)
        found = min(found, *(log_kept(d * g, c, x) for g, x in itertools.product(GROWTH, WITHIN)))
    return found


@pytest.mark.parametrize("grade", [0, 1])
def test_a_sure_pair_is_kept_whatever_the_beta(grade):
    """Both gammas at their worst; with parameters that are 1 % smaller it would not be so."""
    assert 2.0 * least_kept(FEWEST[grade]) >= math.log(SURE[grade] / 256.0)
    assert 2.0 * least_kept(0.99 * FEWEST[grade]) < math.log(SURE[grade] / 256.0)


def test_nothing_is_kept_with_more_than_certainty():
    """Over all normals there are, also where c has waited for d to grow; c 1 % smaller fails."""
    far = np.linspace(-9.0, 9.0, 361)
    for d, growth in itertools.product([60.5, 555.0, 1e4, 1e8], GROWTH):
        c = 1.0 / math.sqrt(9.0 * d)
        assert max(log_kept(d * growth, c, x) for x in far) <= 0.0
        assert max(log_kept(d * growth, 0.99 * c, x) for x in far) > 0.0


@pytest.mark.parametrize("d", [60.0, 600.0, 1e6])
def test_the_probability_to_be_kept_is_that_of_the_gamma(d):
    """The normal's density times it, over the gamma's density of d·(1 + c·x)³, is constant."""
    c = 1.002 / math.sqrt(9.0 * d)
    x = np.linspace(-4.0, 4.0, 41)
    value = d * (1.0 + c * x) ** 3
    slope = 3.0 * d * c * (1.0 + c * x) ** 2
    kept = np.array([log_kept(d, c, each) for each in x])
    ratio = stats.norm.logpdf(x) + kept - stats.gamma.logpdf(value, d + 1.0 / 3.0) - np.log(slope)
    assert np.ptp(ratio) < 1e-9 * max(d, 1e3)


@jit
def _draw(rng, gammas, pairs, out, looked):
    for number in range(len(out)):
        place = take_pairs(rng, pairs, 1)
        if is_sure(gammas[0], pairs, place):
            out[number] = sure_beta(gammas[0], pairs, place)
        else:
            looked[0] += 1
            out[number] = beta_looked_at(rng, gammas[0], pairs, place)


def draws(gammas, number=60_000, seed=3):
    """Draws, and how many of them were made of pairs that are not sure."""
    out, looked = np.empty(number), np.zeros(1, dtype=np.int64)
    _draw(stream(seed, 0, 0), gammas, new_pairs(), out, looked)
    return out, looked[0] / number


BETAS = [(61.0, 61.0), (61.0, 5000.0), (600.0, 556.0), (2000.0, 18000.0), (1e6, 9e6)]


@pytest.mark.parametrize(
    ("a", "b"), [*BETAS[:3], *(pytest.param(*each, marks=pytest.mark.full) for each in BETAS[3:])]
)
def test_draws_are_betas(a, b):
    """Kolmogorov and Smirnov's test with 60,000 draws; a false alarm in 1 of 1000 seeds each."""
    found, looked = draws(gammas_of(a, b))
    assert stats.kstest(found, stats.beta(a, b).cdf).pvalue > 1e-3
    sure = SURE[int(min(a, b) < FEWEST[0] + 1 / 3)] / 256.0
    assert looked == pytest.approx(1.0 - sure, abs=0.005)  # and those in the normal's tail


def test_draws_while_parameters_grow():
    """The c are kept as long as they hold, and the law is that of the present parameters."""
    gammas = gammas_of(20000.0, 30000.0)
    c = gammas["success_c"][0]
    _updated(gammas, 20002.0, 30003.0)
    assert gammas["success_c"][0] == c
    assert stats.kstest(draws(gammas)[0], stats.beta(20002.0, 30003.0).cdf).pvalue > 1e-3
    _updated(gammas, 20003.0, 30003.0)
    assert gammas["success_c"][0] < c


@pytest.mark.parametrize("field", ["success_c", "success_d"])
def test_planted_faults_are_reported(field):
    """A c that is too large by 10 %, and the shape for d: by the same test."""
    gammas = gammas_of(*BETAS[0])
    gammas[field] += 0.1 * gammas[field] if field == "success_c" else 1.0 / 3.0
    assert stats.kstest(draws(gammas)[0], stats.beta(*BETAS[0]).cdf).pvalue < 1e-3


def test_small_parameters_are_not_quick():
    for a, b, grade in [(60.0, 1e4, -1), (61.0, 1e4, 1), (1e4, 555.0, 1), (1e4, 556.0, 0)]:
        gammas = gammas_of(a, b)
        assert gammas["grade"][0] == grade
        assert np.isnan(gammas["success_c"][0]) == (grade < 0)


@jit
def _take_all(rng, pairs):
    take_pairs(rng, pairs, PAIRS)


def test_normals_of_the_pairs():
    """All of a refill's pairs are normals, sure or not; a false alarm in 1 of 1000 seeds."""
    pairs, rng, x, y = new_pairs(), stream(5, 0, 0), [], []
    for _ in range(2000):
        _take_all(rng, pairs)
        x.append(pairs.any_x.copy())
        y.append(pairs.y.copy())
        for grade in range(2):
            seen = pairs.x[grade * PAIRS : (grade + 1) * PAIRS]
            assert np.array_equal(seen[seen == seen], pairs.any_x[seen == seen])
    x, y = np.concatenate(x), np.concatenate(y)
    assert stats.kstest(x, "norm").pvalue > 1e-3 and stats.kstest(y, "norm").pvalue > 1e-3
    assert abs(np.corrcoef(x, y)[0, 1]) < 4.0 / math.sqrt(len(x))
    assert abs(np.corrcoef(x[1:], x[:-1])[0, 1]) < 4.0 / math.sqrt(len(x))
