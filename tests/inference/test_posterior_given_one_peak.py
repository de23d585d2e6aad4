"""Means given one peak, against draws that have one."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

import unimodal as um
from unimodal.inference import posterior_given_one_peak
from unimodal.inference.posterior_given_one_peak import raised_by_one_peak


def raised(family, pulls, totals, factors=None):
    pulls, totals = np.array(pulls, dtype=float), np.array(totals, dtype=float)
    factors = np.ones(len(pulls)) if factors is None else np.array(factors)
    return raised_by_one_peak(family, factors, pulls, totals)


def has_peak(means, place):
    """Whether the means of a line, row by row, rise up to a place and fall after it."""
    steps = np.diff(means, axis=1)
    return (steps[:, :place] > 0).all(axis=1) & (steps[:, place:] < 0).all(axis=1)


def by_draws(drawn):
    """How much the means of draws change if only those with one peak are left, places alike."""
    n_arms = drawn.shape[1]
    orders = np.array(list(itertools.permutations(range(n_arms))))
    weight = sum(has_peak(drawn, place) / has_peak(orders, place).mean() for place in range(n_arms))
    return np.average(drawn, axis=0, weights=weight) - drawn.mean(axis=0), weight.mean() / n_arms


SOLD = {
    "a valley": ([8, 8, 8], [6, 2, 5]),
    "two valleys, other counts": ([9, 5, 12, 7, 10], [6, 1, 7, 2, 4]),
    "one peak": ([12, 12, 12, 12], [3, 8, 6, 2]),
    "an end": ([6, 30, 6, 20], [5, 20, 2, 4]),
}


@pytest.mark.parametrize("case", SOLD)
def test_it_is_the_mean_of_draws_that_have_one_peak(case):
    """A million draws: the standard error is up to 0.001."""
    pulls, totals = map(np.array, SOLD[case])
    beta = 1.0 + totals, 1.0 + pulls - totals
    expected, _ = by_draws(np.random.default_rng(2).beta(*beta, size=(1_000_000, len(pulls))))
    assert raised(um.Bernoulli(), pulls, totals) == pytest.approx(expected, abs=0.003)
    assert np.abs(expected).max() > 0.005


@pytest.mark.parametrize("case", SOLD)
def test_how_much_better_one_peak_explains_the_rewards(case, monkeypatch):
    pulls, totals = map(np.array, SOLD[case])
    beta = 1.0 + totals, 1.0 + pulls - totals
    _, share = by_draws(np.random.default_rng(3).beta(*beta, size=(1_000_000, len(pulls))))
    seen, marginals = [], posterior_given_one_peak._marginals

    def noted(own):
        seen.append(np.exp(marginals(own)).sum(axis=1))
        return marginals(own)

    monkeypatch.setattr(posterior_given_one_peak, "_marginals", noted)
    raised(um.Bernoulli(), pulls, totals)
    assert seen[0] == pytest.approx(share, rel=0.03)


GAUSSIAN = um.Gaussian(2.0)
FAR = 1e-9  # of each posterior, beyond the grid
# Each arm's posterior by itself, by SciPy: of means of which nothing was known before.
BY_ITSELF = {
    "Bernoulli": lambda n, s: stats.beta(1 + s, 1 + n - s),
    "Bounded": lambda n, s: stats.beta(1 + (s - n) / 4, 1 + n - (s - n) / 4, 1, 4),
    "Gaussian": lambda n, s: stats.norm(s / n, 2 / n**0.5),
    "Poisson": lambda n, s: stats.gamma(1 + s, scale=1 / n),
    "Exponential": lambda n, s: stats.invgamma(1 + n, scale=s),
}


def on_a_grid(posteriors, points=100):
    """How much one peak moves the mean of each of three arms: every triple of means is weighed."""
    ends = [np.concatenate([p.ppf([FAR, 1 - FAR]), p.ppf([0.02, 0.98])]) for p in posteriors]
    low, high = min(end.min() for end in ends), max(end.max() for end in ends)
    dense = [np.linspace(end[2], end[3], points // 4) for end in ends]
    span = np.geomspace(low, high, points) if low > 0 else np.linspace(low, high, points)
    levels = np.unique(np.concatenate([span, *dense]))
    values, own = (levels[1:] + levels[:-1]) / 2, [np.diff(p.cdf(levels)) for p in posteriors]
    first, second, third = np.ix_(values, values, values)
    rising, falling = 0.5 + 0.5 * np.sign(second - first), 0.5 + 0.5 * np.sign(second - third)
    # Of the six orders of three means, one has the peak at either end, and two in the middle.
    one_peak = 6 * (1 - rising) * falling + 3 * rising * falling + 6 * rising * (1 - falling)
    weight = one_peak * (own[0][:, None, None] * own[1][:, None] * own[2]) / 3
    arms = (weight.sum(axis=(1, 2)), weight.sum(axis=(0, 2)), weight.sum(axis=(0, 1)))
    return np.array([m @ values / m.sum() - o @ values for m, o in zip(arms, own, strict=True)])


@pytest.mark.parametrize(
    ("family", "pulls", "totals"),
    [
        (um.Bernoulli(), [5, 5, 5], [4, 1, 3]),
        (um.Bernoulli(), [3, 9, 1], [0, 9, 1]),
        (um.Bounded(1, 5), [5, 4, 6], [17.0, 7.0, 20.5]),
        (GAUSSIAN, [4, 9, 5], [6.0, -3.0, 9.0]),
        (GAUSSIAN, [1, 1, 1], [0.5, -1.0, 2.0]),
        (um.Poisson(), [5, 5, 5], [12, 6, 10]),
        (um.Poisson(), [1, 2, 1], [0, 1, 3]),
        (um.Exponential(), [5, 5, 5], [10.0, 1.05, 5.75]),
        (um.Exponential(), [2, 2, 3], [3.0, 1.0, 4.0]),
        (um.Exponential(), [20, 1, 20], [40.0, 0.1, 20.0]),
    ],
    ids=str,
)
def test_every_family_as_if_each_triple_of_means_were_weighed(family, pulls, totals):
    """To 2 % of the largest raise; Poisson's evidence in place of its likelihood is off by more."""
    posterior = BY_ITSELF[type(family).__name__]
    expected = on_a_grid([posterior(*sums) for sums in zip(pulls, totals, strict=True)])
    largest = np.abs(expected).max()
    assert raised(family, pulls, totals) == pytest.approx(expected, abs=0.02 * largest)
    assert largest > 0.03


@pytest.mark.parametrize("rewards", [1, 2, 5, 20])
def test_few_exponential_rewards_are_read_as_what_they_are(rewards):
    """Of means that have one peak, each stays close to its own; the best stays the best."""
    means = np.array([0.08, 0.21, 2.0, 1.15, 0.39])
    found = means + raised(um.Exponential(), [rewards] * 5, rewards * means)
    assert found == pytest.approx(means, rel=0.4) and found.argmax() == 2
    assert (np.diff(found[:3]) > 0).all() and (np.diff(found[2:]) < 0).all()


def test_an_arm_s_own_exponential_rewards_keep_their_mean():
    """Two arms have one peak whatever their means are: nothing is raised, for one reward either."""
    assert raised(um.Exponential(), [1, 3], [2.0, 1.0]) == pytest.approx(0.0, abs=0.02)


@pytest.mark.parametrize(
    "family",
    [um.Bernoulli(), GAUSSIAN, um.Poisson(), um.Exponential(), um.Bounded(0, 2)],
    ids=repr,
)
def test_a_valley_is_raised_and_what_has_one_peak_for_certain_stays(family):
    left, middle, right = raised(family, [30] * 3, [18, 12, 18])
    assert middle > 0.01 and left == pytest.approx(right) and left < 0
    assert raised(family, [10**7] * 3, [4e6, 6e6, 5e6]) == pytest.approx(0.0, abs=1e-3)


def test_two_arms_always_have_one_peak():
    assert raised(um.Bernoulli(), [30, 30], [18, 12]) == pytest.approx(0.0, abs=1e-3)


def test_bounded_rewards_are_read_as_coins_of_the_same_mean():
    coins = raised(um.Bernoulli(), [30, 20, 30], [18, 8, 18])
    assert raised(um.Bounded(2, 6), [30, 20, 30], [132, 72, 132]) == pytest.approx(4 * coins)


def test_money_counts_where_rewards_have_factors():
    """As many buy at 2, 3 and 4: in money that is one peak; and 1.8, 1.2 and 2.0 is a valley."""
    family = um.Scaled(um.Bernoulli(), by=float).of_arms([2.0, 3.0, 4.0])
    rising = raised(family, [300] * 3, [200] * 3, [2.0, 3.0, 4.0])
    assert rising == pytest.approx(0.0, abs=0.01)
    left, middle, right = raised(family, [30] * 3, [27, 12, 15], [2.0, 3.0, 4.0])
    assert middle > 0.05 and left < 0 and right < 0


@pytest.mark.parametrize("rewards", [10**3, 10**6, 10**12])
def test_where_rewards_refute_one_peak_nothing_changes(rewards):
    """The last arm is the best by far, behind a valley; a million or more say so for certain."""
    means = np.array([0.1, 0.2, 0.3, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.6])
    assert not raised(um.Bernoulli(), np.full(10, rewards), means * rewards).any()


def test_what_is_far_from_an_arm_s_own_rewards_is_weighed_as_it_is(monkeypatch):
    """If one peak were taken for granted, the arms before the best one would give way, not it."""
    marginals = posterior_given_one_peak._marginals
    monkeypatch.setattr(posterior_given_one_peak, "_marginals", lambda own: marginals(own) + 1e4)
    means = np.array([0.1, 0.2, 0.3, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.6])
    found = means + raised(um.Bernoulli(), np.full(10, 1_000), means * 1_000)
    assert found[9] == pytest.approx(0.6, abs=0.01)
    assert found[2:9] == pytest.approx(0.26, abs=0.02)


@pytest.mark.parametrize("n_arms", [20, 128])
def test_arms_that_are_alike_are_cut_into_enough_cells(n_arms, monkeypatch):
    """All with 50 of 100: given one peak, the ends are lower. Finer cells say the same."""
    found = raised(um.Bernoulli(), [100] * n_arms, [50] * n_arms)
    monkeypatch.setattr(posterior_given_one_peak, "_FEWEST", 8_193)
    fine = raised(um.Bernoulli(), [100] * n_arms, [50] * n_arms)
    assert found == pytest.approx(fine, abs=0.006)
    assert found[0] < -0.05 and found[0] == pytest.approx(found[-1])


def test_extremes_are_numbers():
    for family, pulls, totals in (
        (um.Bernoulli(), [1, 1, 1], [1, 1, 1]),
        (um.Bernoulli(), [10**12, 1, 10**12], [0, 1, 10**12]),
        (um.Poisson(), [3, 3, 3], [0, 0, 0]),
        (um.Exponential(), [1, 1, 1], [1.0, 1e-9, 1e9]),
        (um.Gaussian(1e-9), [1, 5, 1], [1e9, 0.0, 1e9]),
        (um.Bounded(0, 0.1), [3, 3, 3], [0.3, 0.0, 0.3]),
    ):
        assert all(map(math.isfinite, raised(family, pulls, totals)))
