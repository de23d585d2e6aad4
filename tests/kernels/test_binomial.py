"""Many trials at once: the laws of a binomial and of trials that end with a failure too many.

Each check has a false-alarm rate of 1e-4 over seeds; the seeds are fixed.
"""

import numpy as np
import pytest
from scipy import stats

from unimodal.kernels.binomial import binomial, trials_until
from unimodal.kernels.random import stream

DRAWS = 20_000


@pytest.mark.parametrize(
    ("n", "p"),
    [(5, 0.3), (100, 0.02), (100, 0.9), (30, 0.5), (1000, 0.2), (10**6, 0.37), (10**9, 0.9)],
)
def test_binomial(n, p):
    rng, law = stream(0, n, 0), stats.binom(n, p)
    drawn = np.array([binomial(rng, n, p) for _ in range(DRAWS)])
    # A discrete law made continuous, so that Kolmogorov and Smirnov's test is exact.
    spread = np.random.default_rng(0).random(DRAWS) * law.pmf(drawn)
    assert stats.kstest(law.cdf(drawn - 1) + spread, "uniform").pvalue > 1e-4


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_certain_trials(p):
    assert binomial(stream(0, 0, 0), 7, p) == 7 * p


def test_trials_end_with_one_failure_too_many():
    """Against trials drawn one by one: where they end, and with how many successes."""
    n, p, loss_margin, rng = 12, 0.8, 2, stream(1, 0, 0)
    ours = [trials_until(rng, n, p, loss_margin) for _ in range(DRAWS)]
    coins = np.random.default_rng(1).random((DRAWS, n)) < p
    too_many = np.cumsum(~coins, axis=1) > loss_margin
    ends = np.where(too_many.any(axis=1), too_many.argmax(axis=1) + 1, n)
    theirs = [(end, row[:end].sum()) for end, row in zip(ends, coins, strict=True)]
    kinds = sorted({*map(tuple, theirs), *map(tuple, ours)})
    counts = [
        [sum(1 for x in side if tuple(x) == kind) for kind in kinds] for side in (ours, theirs)
    ]
    table = np.array(counts)[:, np.sum(counts, axis=0) >= 10]
    assert stats.chi2_contingency(table).pvalue > 1e-4
    assert all(end - done <= loss_margin or end - done == loss_margin + 1 for end, done in ours)
