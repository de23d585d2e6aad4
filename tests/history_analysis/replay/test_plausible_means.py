"""The draws of means: against brute force, and whether they have one peak."""

import numpy as np
import pytest

import unimodal as um
from unimodal.history_analysis.replay.plausible_means import PlausibleMeans, one_peaked

GRID = 0.5 * 20_000 ** (np.arange(32) / 31)  # a and b of the prior: from 0.5 to 10,000


def brute_force(wins, losses, one_peak, size=400_000):
    """Posterior means on a line of three, by drawing from the prior and weighing by likelihood."""
    rng = np.random.default_rng(3)
    a, b = rng.choice(GRID, (2, size, 1))
    means = np.clip(rng.beta(a, b, (size, 3)), 1e-12, 1 - 1e-12)
    if one_peak:
        means = means[means[:, 1] > means[:, [0, 2]].min(axis=1)]
    weights = np.exp((wins * np.log(means) + losses * np.log1p(-means)).sum(axis=1))
    found = np.average(means, 0, weights)
    spread = np.sqrt(np.average((means - found) ** 2, 0, weights))
    return found, spread * np.sqrt((weights**2).sum()) / weights.sum()


@pytest.mark.parametrize("one_peak", [True, False])
def test_posterior_means_are_those_of_bayes_rule(one_peak):
    """False alarms: 4 standard errors of both sides, 3 arms: about 1 in 5,000."""
    graph = um.graphs.line(3)
    wins, losses = np.array([3.0, 0.0, 1.0]), np.array([5.0, 1.0, 1.0])
    expected, error = brute_force(wins, losses, one_peak)
    plausible = PlausibleMeans(graph, wins, losses, one_peak, seed=1)
    draws = np.array([plausible.next() for _ in range(3000)])
    own_error = draws.std(axis=0) * np.sqrt(4 / len(draws))  # neighbouring draws are a bit alike
    assert (np.abs(draws.mean(axis=0) - expected) < 4 * np.hypot(error, own_error)).all()


@pytest.mark.parametrize(
    "graph",
    [um.graphs.line(12), um.graphs.grid(4, 5), um.graphs.erdos_renyi(30, 0.15, seed=4)],
    ids=repr,
)
def test_all_draws_have_one_peak(graph):
    rng = np.random.default_rng(5)
    pulls = rng.geometric(0.05, graph.n_arms) - 1
    wins = rng.binomial(pulls, 0.3)
    plausible = PlausibleMeans(graph, wins, pulls - wins, one_peak=True, seed=0)
    peaks = set()
    for _ in range(100):
        problem = um.Problem(graph, plausible.next())
        assert problem.check(), problem.check()
        peaks.add(problem.best_arm)
    assert len(peaks) > 1  # little is known: the peak wanders


def test_much_data_leaves_no_doubt():
    pulls = np.array([10_000, 40_000, 10_000])
    plausible = PlausibleMeans(um.graphs.line(3), 0.2 * pulls, 0.8 * pulls, False, seed=0)
    draws = np.array([plausible.next() for _ in range(200)])
    assert np.abs(draws - 0.2).max() < 5 * np.sqrt(0.16 / 10_000)


def test_the_start_has_one_peak_at_the_best_arm():
    graph = um.graphs.grid(5, 5)
    means = np.random.default_rng(0).random(25)
    problem = um.Problem(graph, one_peaked(graph, means))
    assert problem.check() and problem.best_arm == means.argmax()
