"""The sampler of means leaves their posterior as it is: worlds and logs drawn from the prior.

Draw a prior (a, b), means from it, a log from the means; then let the sampler move (a, b) and the
means, given the log. If it leaves the posterior as it is, what comes out has the same joint law
with the log as what went in (Geweke 2004). So any function of both has the same mean before and
after, and laws that are known before hold after. Worlds are independent, so the tests are simple.

Each test alarms for 1 seed in 10,000. Seeds are fixed.
"""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

import unimodal as um
from unimodal.history_analysis.replay import plausible_means as plausible
from unimodal.history_analysis.replay.plausible_means import PlausibleMeans, shrunk

GRID = 0.5 * 20_000 ** (np.arange(32) / 31)
LINE = um.graphs.line(4)
PULLS = np.array([0.0, 2.0, 20.0, 60.0])  # (a, b) moves arms with up to 3, up to 30, or all
WORLDS, SWEEPS = 6000, 4
ALARM = 1e-4


def one_peaked(ordered, rng):
    """Means in one of the orders that have one peak on a line, all equally likely."""
    left, right = [], []
    for mean in ordered[:-1]:
        (left if rng.random() < 0.5 else right).append(mean)
    return np.array([*left, ordered[-1], *right[::-1]])


def moved(one_peak):
    """Worlds before and after: places of a and b, means; and the wins of their logs."""
    rng = np.random.default_rng(8)
    rows, near = LINE.rows, LINE.near_rows
    before, after, logs = [], [], []
    while len(before) < WORLDS:
        place = rng.integers(32, size=2)
        means = rng.beta(*GRID[place], 4)
        if not (means > 1e-12).all() or not (means < 1 - 1e-12).all():
            continue  # a float cannot hold it; 1 in 10⁵ of all
        if one_peak:
            means = one_peaked(np.sort(means), rng)
        wins = rng.binomial(PULLS.astype(int), means).astype(float)
        now, to = means.copy(), place.copy()
        better = np.zeros(4, dtype=np.int64)
        for a, b in itertools.pairwise(range(4)):
            better[a if means[b] > means[a] else b] += 1
        generator = plausible.stream(len(before), 0, plausible.MEANS)
        plausible._sweeps(
            SWEEPS, now, now.copy(), better, to, wins, PULLS - wins, rows, near, one_peak, generator
        )
        before.append((*place, *means))
        after.append((*to, *now))
        logs.append(wins)
    return np.array(before), np.array(after), np.array(logs)


@pytest.fixture(scope="module", params=[True, False], ids=["one peak", "any peaks"])
def worlds(request):
    return request.param, *moved(request.param)


def test_nothing_has_another_mean_afterwards(worlds):
    """Places, log-odds and how they go with the log: paired z-tests, Bonferroni's for all."""
    _, before, after, wins = worlds

    def functions(states):
        places, means = states[:, :2], states[:, 2:]
        odds = np.log(means) - np.log1p(-means)
        rest = PULLS - wins
        yield from places.T
        yield from (places**2).T
        yield places[:, 0] * places[:, 1]
        yield from odds.T
        yield np.abs(odds).max(axis=1)
        yield from (means * wins).T[1:]
        yield from (np.log(means) * wins + np.log1p(-means) * rest).T[1:]
        yield places[:, 0] * odds[:, 0]
        yield np.abs(places[:, 1] * odds[:, 1])

    found = []
    for one, two in zip(functions(before), functions(after), strict=True):
        change = two - one
        found.append(stats.norm.sf(abs(change.mean()) / stats.sem(change)) * 2)
    assert min(found) > ALARM / len(found), found
    assert (before != after).any(axis=1).mean() > 0.99  # it does move


def test_a_and_b_stay_equally_likely_on_their_grid(worlds):
    _, _, after, _ = worlds
    for place in (0, 1):
        counts = np.bincount(after[:, place].astype(int), minlength=32)
        assert len(counts) == 32 and stats.chisquare(counts).pvalue > ALARM


def test_the_highest_and_the_lowest_mean_are_those_of_four_draws(worlds):
    """Whatever their order, four draws from Beta(a, b): the highest has the law of u^(1/4)."""
    _, _, after, _ = worlds
    a, b = GRID[after[:, 0].astype(int)], GRID[after[:, 1].astype(int)]
    highest = stats.beta.cdf(after[:, 2:].max(axis=1), a, b)
    lowest = stats.beta.sf(after[:, 2:].min(axis=1), a, b)
    assert stats.kstest(highest**4, "uniform").pvalue > ALARM
    assert stats.kstest(lowest**4, "uniform").pvalue > ALARM


def test_every_order_that_is_allowed_stays_equally_likely(worlds):
    """On a line of four 8 orders have one peak, of 24."""
    one_peak, _, after, _ = worlds
    orders = [tuple(order) for order in np.argsort(after[:, 2:], axis=1).tolist()]
    counts = [orders.count(order) for order in set(orders)]
    assert len(counts) == (8 if one_peak else 24)
    assert stats.chisquare(counts).pvalue > ALARM


def test_the_first_means_are_drawn_towards_that_of_all():
    """Three wins and a loss: (3 + 1)/(4 + 2) of all; each arm counts that as two rewards more."""
    found = shrunk(np.array([3.0, 0.0]), np.array([1.0, 0.0]))
    assert found == pytest.approx([(3 + 2 * 2 / 3) / 6, 2 / 3])


def test_draws_are_far_apart_and_begin_late(monkeypatch):
    """1,000 sweeps before the first draw and 50 between two, in pieces that Ctrl-C can stop."""
    done = []
    real = plausible._sweeps
    monkeypatch.setattr(plausible, "_sweeps", lambda *all: (done.append(all[0]), real(*all)))
    draws = PlausibleMeans(LINE, PULLS / 2, PULLS / 2, one_peak=True, seed=0)
    assert sum(done) == 1000 and max(done) <= 10
    first, second = draws.next(), draws.next()
    assert sum(done) == 1000 + 2 * 50
    assert (first != second).all() and math.isfinite(first.sum())
