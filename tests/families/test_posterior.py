"""Thompson draws against the exact conjugate law of each family.

Seeds are fixed. Each of the 17 p-values here, on 20,000 draws, alarms below 1e-4, so with other
seeds one would fail in about 600 runs.
"""

import numpy as np
import pytest
from numba import njit
from scipy import stats

from unimodal import Bernoulli, Bounded, Exponential, Gaussian, Poisson
from unimodal.families.family import learn, posterior
from unimodal.kernels.compile import record
from unimodal.kernels.random import POLICY, stream
from unimodal.policies.state import ARM

ALARM = 1e-4


@njit(nogil=True, _nrt=False)
def tell(family, arms, rewards, rng):
    for reward in rewards:
        learn(family, arms, 0, reward, rng)


@njit(nogil=True, _nrt=False)
def draw_many(family, arms, out, rng):
    for i in range(len(out)):
        out[i] = posterior(family, arms[0], rng)


def believe(family, rewards, prior):
    """An arm's record after these rewards."""
    arms = np.zeros(1, dtype=ARM)
    arms["prior_a"], arms["prior_b"] = prior
    tell(record(family), arms, np.array(rewards, dtype=np.float64), stream(1, 0, POLICY))
    return arms


def draws(family, arms, size=20_000):
    out = np.empty(size)
    draw_many(record(family), arms, out, stream(2, 0, POLICY))
    return out


def normal_posterior(sigma, mean, sd, rewards):
    """From Bayes' rule by hand: precisions add."""
    precision = 1 / sd**2 + len(rewards) / sigma**2
    centre = (mean / sd**2 + sum(rewards) / sigma**2) / precision
    return stats.norm(centre, precision**-0.5)


CASES = [
    (Bernoulli(), [], (1.0, 1.0), stats.beta(1, 1)),
    (Bernoulli(), [1, 0, 1, 1], (1.0, 1.0), stats.beta(4, 2)),
    (Bernoulli(), [0] * 50, (0.5, 0.5), stats.beta(0.5, 50.5)),
    (Bernoulli(), [1] * 30 + [0] * 10, (2.0, 7.0), stats.beta(32, 17)),
    (Gaussian(2.0), [], (-4.0, 3.0), stats.norm(-4.0, 3.0)),
    (Gaussian(2.0), [4.0, 5.0, 7.5], (-4.0, 3.0), normal_posterior(2.0, -4.0, 3.0, [4, 5, 7.5])),
    (Poisson(), [], (2.0, 0.5), stats.gamma(2.0, scale=2.0)),
    (Poisson(), [3, 0, 5, 1], (1.0, 1.0), stats.gamma(10.0, scale=1 / 5)),
    (Exponential(), [], (3.0, 2.0), stats.invgamma(3.0, scale=2.0)),
    (Exponential(), [0.5, 2.5], (1.0, 1.0), stats.invgamma(3.0, scale=4.0)),
    (Bounded(-2.0, 6.0), [], (2.0, 3.0), stats.beta(2, 3, loc=-2, scale=8)),
    (Bounded(-2.0, 6.0), [-2.0, 6.0, 6.0], (1.0, 1.0), stats.beta(3, 2, loc=-2, scale=8)),
]


@pytest.mark.parametrize(("family", "rewards", "prior", "law"), CASES)
def test_draws_follow_the_conjugate_posterior(family, rewards, prior, law):
    sample = draws(family, believe(family, rewards, prior))
    assert stats.kstest(sample, law.cdf).pvalue > ALARM


@pytest.mark.parametrize("family", [Bernoulli(), Gaussian(), Poisson(), Exponential()])
def test_learning_counts_pulls_and_adds_rewards(family):
    arm = believe(family, [1.0, 0.0, 1.0], (1.0, 1.0))[0]
    assert (arm["pulls"], arm["total"], arm["successes"]) == (3, 2.0, 0.0)


def test_bounded_keeps_raw_rewards_for_the_leader():
    arm = believe(Bounded(-2.0, 6.0), [0.5, 4.5, -1.0], (1.0, 1.0))[0]
    assert (arm["pulls"], arm["total"]) == (3, 4.0)


@pytest.mark.parametrize("reward", [-2.0, -1.2, 2.0, 5.9, 6.0])
def test_a_bounded_reward_is_a_success_as_often_as_it_is_high(reward):
    """Agrawal and Goyal's coin: exact binomial test of 20,000 tosses, one false alarm in 10,000."""
    arm = believe(Bounded(-2.0, 6.0), [reward] * 20_000, (1.0, 1.0))[0]
    bias = (reward + 2) / 8
    assert stats.binomtest(int(arm["successes"]), 20_000, bias).pvalue > ALARM
    assert bias not in (0.0, 1.0) or arm["successes"] == 20_000 * bias


def test_the_default_priors_are_those_the_families_document():
    families = [Bernoulli(), Poisson(), Exponential(), Bounded(0, 10)]
    assert all(family.default_prior == (1.0, 1.0) for family in families)
    assert Gaussian(0.5).default_prior == (0.0, 50.0)


def test_the_prior_of_exponential_rewards_has_their_unit():
    """A unit 1024 times as large, in rewards and prior alike, changes nothing but the unit."""
    plain = draws(Exponential(), believe(Exponential(), [0.5, 2.5], (1.0, 1.0)))
    other = draws(Exponential(), believe(Exponential(), [512.0, 2560.0], (1.0, 1024.0)))
    assert np.array_equal(other, 1024 * plain)
    same_prior = draws(Exponential(), believe(Exponential(), [512.0, 2560.0], (1.0, 1.0)))
    assert np.median(same_prior) < 0.8 * np.median(other)  # invgamma(3) of 3073 and of 4096
