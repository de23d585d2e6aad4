"""Means given one peak, against integrals and brute force."""

import itertools

import numpy as np
import pytest
from scipy import stats

import unimodal as um
from unimodal.inference import one_peak
from unimodal.inference.one_peak import raised_by_one_peak
from unimodal.policies.state import ARM, set_factors, set_prior

STAR = um.graphs.from_edges([("hub", "a"), ("hub", "b"), ("hub", "c")])
FORK = um.graphs.from_edges([("a", "b"), ("b", "c"), ("c", "d"), ("b", "e")])


def records(graph, family, pulls, totals):
    arms = np.zeros(graph.n_arms, dtype=ARM)
    set_prior(arms, family, None)
    set_factors(arms, family, graph.labels)
    arms["pulls"], arms["total"] = pulls, totals
    for arm in range(graph.n_arms):
        arms["successes"][arm] = family.expected_successes(pulls[arm], totals[arm])
    return arms


def has_peak(graph, means, place):
    """Whether means fall away from a place, row by row of `means`."""
    steps = graph.distances(place)
    holds = np.ones(len(means), dtype=bool)
    for one, two in graph.edges().tolist():
        near, far = (one, two) if steps[one] < steps[two] else (two, one)
        holds &= means[:, near] >= means[:, far]
    return holds


def by_sampling(graph, own, drawn):
    """The same by draws: of the posterior, `drawn`, and of independent means, for each place."""
    even = np.random.default_rng(5).random(drawn.shape)
    weight = np.zeros(len(drawn))
    for place in range(graph.n_arms):
        weight += has_peak(graph, drawn, place) / has_peak(graph, even, place).mean()
    return np.average(drawn, axis=0, weights=weight) - own


@pytest.mark.parametrize("graph", [um.graphs.line(3), um.graphs.line(5), STAR, FORK], ids=repr)
def test_it_is_the_mean_of_draws_that_have_one_peak(graph):
    """400,000 draws, of which few have one peak: the standard error is up to 0.001."""
    family, pulls = um.Bernoulli(), 6 + np.arange(graph.n_arms)
    lowest = int(graph.degrees.argmax())  # by their own rewards it stands between several peaks
    totals = np.where(graph.distances(lowest) % 2, 4.0, 2.0)
    beta = 1 + totals, 1 + pulls - totals
    drawn = np.random.default_rng(2).beta(*beta, size=(400_000, graph.n_arms))
    found = raised_by_one_peak(
        graph, family, records(graph, family, pulls, totals), np.arange(graph.n_arms)
    )
    expected = by_sampling(graph, (1 + totals) / (2 + pulls), drawn)
    assert found == pytest.approx(expected, abs=0.003)
    assert np.abs(expected).max() > 0.02


def test_arms_without_rewards_may_be_anywhere():
    graph, family = um.graphs.line(4), um.Bernoulli()
    pulls, totals = np.array([6, 0, 9, 0]), np.array([2.0, 0.0, 6.0, 0.0])
    drawn = np.random.default_rng(1).beta(1 + totals, 1 + pulls - totals, size=(400_000, 4))
    found = raised_by_one_peak(graph, family, records(graph, family, pulls, totals), [0, 2])
    expected = by_sampling(graph, (1 + totals) / (2 + pulls), drawn)
    assert found[[0, 2]] == pytest.approx(expected[[0, 2]], abs=0.003)


def test_places_are_equally_likely_before_the_rewards():
    """Independent means with one peak on a line of five have it in the middle 6 times as often."""
    for graph in (um.graphs.line(5), STAR, FORK):
        rows = [graph.neighbors(arm).tolist() for arm in range(graph.n_arms)]
        rows = [[other for other in row if other != arm] for arm, row in enumerate(rows)]
        weights = one_peak._weights_of_places(rows, one_peak._from_the_root(rows))
        orders = np.array(list(itertools.permutations(range(graph.n_arms))))
        shares = [has_peak(graph, orders, place).mean() for place in range(graph.n_arms)]
        shares = np.log(shares) + weights
        assert shares == pytest.approx(shares[0])


@pytest.mark.parametrize(
    "family",
    [um.Bernoulli(), um.Gaussian(1.0), um.Poisson(), um.Exponential(), um.Bounded(0, 2)],
    ids=repr,
)
def test_of_two_arms_the_one_that_is_lower_is_raised_and_the_other_lowered(family):
    """Only on more arms: two always have one peak, so that nothing changes."""
    two, three = um.graphs.line(2), um.graphs.line(3)
    arms = records(two, family, np.array([30, 30]), np.array([18.0, 12.0]))
    assert raised_by_one_peak(two, family, arms, [0, 1]) == pytest.approx(0.0, abs=0.01)
    arms = records(three, family, np.array([30, 30, 30]), np.array([18.0, 12.0, 18.0]))
    left, middle, right = raised_by_one_peak(three, family, arms, [0, 1, 2])
    assert middle > 0.02 and left == pytest.approx(right) and left < 0


def test_money_counts_where_rewards_have_factors():
    """Two in three buy at 2, and as many at 3 and at 4: in money that is 4, 6 and 8, one peak."""
    graph = um.graphs.from_edges([(2.0, 3.0), (3.0, 4.0)])
    family, pulls = um.Scaled(um.Bernoulli(), by=float), np.full(3, 300)
    rising = records(graph, family, pulls, np.array([200.0, 200.0, 200.0]))
    assert raised_by_one_peak(graph, family, rising, [0, 1, 2]) == pytest.approx(0.0, abs=0.01)
    valley = records(graph, family, pulls, np.array([270.0, 120.0, 150.0]))  # 1.8, 1.2, 2.0
    found = raised_by_one_peak(graph, family, valley, [0, 1, 2])
    assert found[1] > 0.05 and (found[[0, 2]] < 0).all()


def test_many_arms_are_no_trouble():
    """A million rewards of each of 128 arms, up and down: no means with one peak explain them."""
    graph, family, pulls = um.graphs.line(128), um.Bernoulli(), np.full(128, 10**6)
    totals = np.where(np.arange(128) % 2, 0.4, 0.6) * pulls
    found = raised_by_one_peak(graph, family, records(graph, family, pulls, totals), np.arange(128))
    assert np.isfinite(found).all()
    assert stats.spearmanr(found, -totals).statistic > 0.5
