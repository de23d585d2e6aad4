"""Rewards: their support and their law, for each family and each way Bounded draws them.

Seeds are fixed. Each of some forty p-values here alarms below 1e-4, so with other seeds one would
fail in about 250 runs.
"""

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from numba import njit
from scipy import stats

import unimodal as um
from unimodal import Bernoulli, Bounded, Exponential, Gaussian, Poisson
from unimodal.families.family import draw
from unimodal.kernels.compile import record
from unimodal.kernels.random import REWARDS, stream

ALARM = 1e-4


@njit(nogil=True, _nrt=False)
def draw_many(family, mean, out, rng):
    for i in range(len(out)):
        out[i] = draw(family, mean, rng)


def rewards(family, mean, size=20_000):
    out = np.empty(size)
    draw_many(record(family), float(mean), out, stream(5, 0, REWARDS))
    return out


@pytest.mark.parametrize("mean", [0.0, 0.001, 0.5, 0.9, 1.0])
def test_bernoulli_rewards_are_zeros_and_ones(mean):
    sample = rewards(Bernoulli(), mean)
    assert set(sample) <= {0.0, 1.0}
    assert stats.binomtest(int(sample.sum()), len(sample), mean).pvalue > ALARM


@pytest.mark.parametrize("mean", [-50.0, 0.0, 3.0])
def test_gaussian_rewards(mean):
    assert stats.kstest(rewards(Gaussian(0.5), mean), stats.norm(mean, 0.5).cdf).pvalue > ALARM


@pytest.mark.parametrize("mean", [1e-9, 0.25, 40.0])
def test_exponential_rewards(mean):
    assert stats.kstest(rewards(Exponential(), mean), stats.expon(0, mean).cdf).pvalue > ALARM


@pytest.mark.parametrize("mean", [0.0, 0.4, 7.0, 60.0])
def test_poisson_rewards_are_counts_with_equal_mean_and_variance(mean):
    """The sum is Poisson itself, and (n - 1)·variance/mean about chi-square."""
    sample = rewards(Poisson(), mean)
    assert (sample == np.floor(sample)).all()
    total, n = int(sample.sum()), len(sample)
    law = stats.poisson(n * mean)
    assert min(law.cdf(total), law.sf(total - 1)) > ALARM / 2
    if mean:
        # Var(s²) = (2 + 1/mean)·mean²/n for a Poisson law.
        z = (sample.var(ddof=1) - mean) / (mean * np.sqrt((2 + 1 / mean) / n))
        assert 2 * stats.norm.sf(abs(z)) > ALARM


BOUNDED = [-2.0, -1.9, 0.0, 2.0, 5.5, 6.0]


@pytest.mark.parametrize("mean", BOUNDED[1:-1])
@pytest.mark.parametrize("concentration", [0.5, 4.0, 100.0])
def test_bounded_rewards_are_a_scaled_beta(mean, concentration):
    share = (mean + 2) / 8
    law = stats.beta(concentration * share, concentration * (1 - share), loc=-2, scale=8)
    sample = rewards(Bounded(-2.0, 6.0, concentration=concentration), mean)
    # In cells, because many draws of a skewed Beta round to a bound, where the law has no atom.
    edges = np.unique(law.ppf(np.linspace(0, 1, 41)).clip(-2 + 1e-9, 6 - 1e-9))
    observed = np.bincount(np.searchsorted(edges, sample), minlength=len(edges) + 1)
    expected = len(sample) * np.diff(law.cdf(edges), prepend=0.0, append=1.0)
    keep = expected > 1.0
    assert observed[~keep].sum() <= 5
    expected = expected[keep] * observed[keep].sum() / expected[keep].sum()
    assert stats.chisquare(observed[keep], expected).pvalue > ALARM


@pytest.mark.parametrize("mean", BOUNDED[1:-1])
def test_bounded_rewards_of_two_points_are_the_bounds(mean):
    sample = rewards(Bounded(-2.0, 6.0, "two-point"), mean)
    assert set(sample) <= {-2.0, 6.0}
    highs = int((sample == 6.0).sum())
    assert stats.binomtest(highs, len(sample), (mean + 2) / 8).pvalue > ALARM


@pytest.mark.parametrize("mean", BOUNDED[1:-1])
def test_bounded_rewards_that_are_uniform_reach_the_nearer_bound(mean):
    reach = min(mean + 2, 6 - mean)
    law = stats.uniform(mean - reach, 2 * reach)
    assert stats.kstest(rewards(Bounded(-2.0, 6.0, "uniform"), mean), law.cdf).pvalue > ALARM


@pytest.mark.parametrize("draw", ["beta", "two-point", "uniform"])
def test_a_mean_at_a_bound_gives_nothing_else(draw):
    for mean in (BOUNDED[0], BOUNDED[-1]):
        assert set(rewards(Bounded(-2.0, 6.0, draw), mean, 100)) == {mean}


ends = st.floats(-10, 10)


@settings(max_examples=100)
@given(ends, ends, st.floats(0, 1), st.integers(0, 2**32))
@example(-0.3, 0.1, 0.99, 0)  # -0.3 + (0.1 - -0.3) is more than 0.1
def test_bounded_rewards_are_accepted_by_the_family_that_drew_them(a, b, share, seed):
    """Rounding a + width·x must not carry a reward past b."""
    assume(b - a > 1e-40 + 1e-8 * max(abs(a), abs(b)))
    rng = stream(seed, 0, REWARDS)
    for kind in ("beta", "two-point", "uniform"):
        family = Bounded(a, b, kind)
        mean = min(a + share * (b - a), b)
        for _ in range(5):
            family.check_reward(family.sample(mean, rng))


def coin(mean, rng):
    """A draw of one's own: the bounds ±1."""
    return 1.0 if um.random.uniform(rng) < 0.5 * (mean + 1.0) else -1.0


@pytest.mark.parametrize("own", [coin, njit(coin)], ids=["plain", "compiled"])
def test_a_draw_of_ones_own_is_called_with_mean_and_stream(own):
    family = Bounded(-1.0, 1.0, own)
    assert family.is_plain == (own is coin)
    rng, again = stream(6, 0, REWARDS), stream(6, 0, REWARDS)
    assert [family.sample(0.4, rng) for _ in range(50)] == [coin(0.4, again) for _ in range(50)]
    assert rng.tolist() == again.tolist()


def test_a_family_with_a_draw_of_ones_own_is_bounded_in_all_else():
    family = Bounded(-1.0, 1.0, coin)
    assert family.divergence(0.0, 0.5) == Bounded(-1.0, 1.0).divergence(0.0, 0.5)
    assert family.upper(0.0, 0.5) == Bounded(-1.0, 1.0).upper(0.0, 0.5)
    assert family == Bounded(-1.0, 1.0, coin)
    assert family != Bounded(-1.0, 1.0)


def test_two_draws_of_ones_own_do_not_get_mixed_up():
    def high(mean, rng):
        return 1.0

    def low(mean, rng):
        return -1.0

    made = [Bounded(-1.0, 1.0, own) for own in (high, low, high)]
    assert [family.sample(0.0, stream(0, 0, REWARDS)) for family in made] == [1.0, -1.0, 1.0]
