"""Each sampler against its law in SciPy. Seeds are fixed; a p-value is uniform under the law.

Each of some fifty p-values here alarms below 1e-4, so with other seeds one would fail in about 200
runs. With 100,000 draws, Kolmogorov and Smirnov's test has a power above 95 % against a
distribution function that is off by 0.01.
"""

import numpy as np
import pytest
from numba import njit
from scipy import stats

from unimodal.kernels import random
from unimodal.kernels.random import POLICY, stream

ALARM = 1e-4
UNIFORM, EXPONENTIAL, NORMAL, TAIL, GAMMA, BETA, POISSON_LAW = range(7)
EDGE = 3.6541528853610088  # where the ziggurat's layers end and its tail begins


@njit(nogil=True, _nrt=False)
def fill(out, kind, rng, a, b):
    """Many draws of one sampler: one compilation for all of them."""
    for i in range(len(out)):
        if kind == UNIFORM:
            out[i] = random.uniform(rng)
        elif kind == EXPONENTIAL:
            out[i] = random.exponential(rng)
        elif kind == NORMAL:
            out[i] = random.normal(rng)
        elif kind == TAIL:
            out[i] = random._normal_tail(rng, False)
        elif kind == GAMMA:
            out[i] = random.gamma(rng, a)
        elif kind == BETA:
            out[i] = random.beta(rng, a, b)
        else:
            out[i] = random.poisson(rng, a)


def draws(kind, a=0.0, b=0.0, size=100_000, seed=0):
    out = np.empty(size)
    fill(out, kind, stream(seed, kind, POLICY), float(a), float(b))
    return out


def check_continuous(sample, law):
    assert stats.kstest(sample, law.cdf).pvalue > ALARM


def check_cells(sample, law, edges):
    """Chi-square over the cells between `edges`, which may have atoms on them."""
    edges = np.unique(edges)
    observed = np.bincount(np.searchsorted(edges, sample), minlength=len(edges) + 1)
    expected = np.diff(law.cdf(edges), prepend=0.0, append=1.0) * len(sample)
    assert observed[expected == 0].sum() == 0
    keep = expected > 0
    assert stats.chisquare(observed[keep], expected[keep]).pvalue > ALARM


def test_uniform():
    sample = draws(UNIFORM, size=1_000_000)
    assert sample.min() >= 0.0
    assert sample.max() < 1.0
    check_continuous(sample, stats.uniform())


def test_exponential():
    sample = draws(EXPONENTIAL, size=1_000_000)
    assert sample.min() >= 0.0
    check_continuous(sample, stats.expon())


@pytest.fixture(scope="module")
def normals():
    return draws(NORMAL, size=4_000_000)


def test_normal_in_a_thousand_cells(normals):
    check_cells(normals, stats.norm(), stats.norm.ppf(np.linspace(0, 1, 1001)[1:-1]))


@pytest.mark.full  # by default: the same draws in a thousand cells
def test_normal_is_even_within_the_layers_of_the_ziggurat():
    """In twelfths of each layer's probability, summed over the layers: 20 million draws.

    A fault in the wedges, which take 1 draw in 100, is the same in every layer and adds up here.
    """
    layers = stats.norm.cdf(random.EDGE[:0:-1])
    edges = stats.norm.ppf(np.interp(np.arange(255 * 12 + 1) / 12, np.arange(256), layers))
    counts = np.zeros(255 * 12, dtype=np.int64)
    for seed in range(1, 6):
        sample = np.abs(draws(NORMAL, size=4_000_000, seed=seed))
        cells = np.searchsorted(edges, sample[sample < EDGE], side="right") - 1
        counts += np.bincount(cells, minlength=len(counts))
    assert stats.chisquare(counts.reshape(255, 12).sum(axis=0)).pvalue > ALARM
    expected = np.diff(stats.norm.cdf(edges))
    assert stats.chisquare(counts, expected / expected.sum() * counts.sum()).pvalue > ALARM


def test_normal_goes_beyond_the_layers_as_often_as_it_must_on_either_side(normals):
    beyond = normals[np.abs(normals) > EDGE]
    assert stats.binomtest(len(beyond), len(normals), 2 * stats.norm.sf(EDGE)).pvalue > ALARM
    assert stats.binomtest(int((beyond > 0).sum()), len(beyond), 0.5).pvalue > ALARM
    depth = stats.norm.sf(np.abs(beyond)) / stats.norm.sf(EDGE)
    assert stats.kstest(depth, "uniform").pvalue > ALARM


def test_the_normal_tail_is_the_law_given_that_it_lies_beyond_the_layers():
    """sf(x)/sf(edge) is uniform there."""
    depth = stats.norm.sf(draws(TAIL, size=200_000)) / stats.norm.sf(EDGE)
    assert stats.kstest(depth, "uniform").pvalue > ALARM


def test_normal_draws_do_not_depend_on_the_one_before(normals):
    """Correlations of neighbours, of their squares, of sign with size: each about N(0, 1/n)."""
    x, y = normals[:-1], normals[1:]
    for a, b in ((x, y), (x**2, y**2), (np.sign(x), np.abs(y))):
        z = np.corrcoef(a, b)[0, 1] * np.sqrt(len(a))
        assert 2 * stats.norm.sf(abs(z)) > ALARM


@pytest.mark.parametrize("shape", [0.01, 0.1, 0.5, 0.99, 1.0, 1.5, 2.0, 10.0, 1e3, 1e6])
def test_gamma(shape):
    # Below 1e-308 a draw of shape 0.01 is 0: that is 1 in 1,200, far below what the test sees.
    check_continuous(draws(GAMMA, shape), stats.gamma(shape))


@pytest.mark.parametrize("shape", [0.5, 1.0, 1.1, 3.0])
def test_gamma_in_five_hundred_cells(shape):
    law = stats.gamma(shape)
    check_cells(draws(GAMMA, shape, size=2_000_000), law, law.ppf(np.linspace(0, 1, 501)[1:-1]))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (0.01, 0.01),
        (0.5, 0.5),
        (1, 1),
        (1, 30),
        (30, 1),
        (2, 3),
        (0.3, 7),
        (500, 500),
        (1e5, 10),
        (10, 1e5),
        (1e7, 1e7),
    ],
)
def test_beta(a, b):
    sample = draws(BETA, a, b)
    assert sample.min() >= 0.0
    assert sample.max() <= 1.0
    if a == b == 0.01:  # half of the draws round to 0 or 1, where the law has no atoms
        check_cells(sample, stats.beta(a, b), np.linspace(0.001, 0.999, 30))
    else:
        check_continuous(sample, stats.beta(a, b))


def test_beta_with_tiny_parameters_goes_to_either_end_in_the_right_proportion():
    """Both gammas underflow in 1 draw of 5, and are drawn again: that must not favour an end."""
    high = int((draws(BETA, 0.001, 0.002) > 0.5).sum())
    assert stats.binomtest(high, 100_000, stats.beta(0.001, 0.002).sf(0.5)).pvalue > ALARM


@pytest.mark.parametrize("mean", [0.1, 1.0, 3.0, 9.99, 10.0, 10.5, 15.0, 50.0, 1e3, 1e4, 1e8])
def test_poisson(mean):
    sample = draws(POISSON_LAW, mean, size=400_000)
    assert (sample == np.floor(sample)).all()
    assert sample.min() >= 0
    law = stats.poisson(mean)
    check_cells(sample, law, law.ppf(np.linspace(0.0002, 0.9998, 200)))


def test_poisson_of_nothing_is_nothing():
    assert draws(POISSON_LAW, 0.0, size=1000).max() == 0.0
