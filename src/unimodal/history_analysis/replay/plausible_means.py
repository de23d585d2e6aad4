"""Means that a log leaves plausible: draws from their posterior, with one peak on the graph.

A policy chooses arms by what it saw before, so its choices say nothing more about the means: the
likelihood of a log is that of its rewards, whoever chose the arms. Hence the posterior needs no
propensities, and no correction.

Beforehand the means are independent draws from Beta(a, b), given that they have one peak on the
graph; so every order of the arms that has one peak is equally likely. The chance that such draws
have one peak depends on their order alone, so it is the same for all (a, b) and cancels. a and b
are unknown, each with equal weight at the points of a logarithmic grid. The sampler is Gibbs': each
mean in turn, given the others, then (a, b).
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import betaln, digamma, polygamma

from unimodal.graphs import Graph
from unimodal.kernels.compile import inner, jit
from unimodal.kernels.random import MEANS, beta, exponential, randint, stream, uniform

# From as uneven as Jeffreys' prior to means that hardly differ.
GRID = np.geomspace(0.5, 1e4, 32)
_A, _B = np.meshgrid(GRID, GRID, indexing="ij")
_LOG_NORM = -betaln(_A, _B)
_CENTRE = digamma(_A) - digamma(_B)  # mean and width of Beta(a, b) as log-odds
_WIDTH = np.sqrt(polygamma(1, _A) + polygamma(1, _B))
_MOVED = (-1.0, 3.0, 30.0, math.inf)  # of which arms (a, b) may take the means with it: rewards
_BURN_IN, _APART, _AT_ONCE = 1000, 50, 10  # sweeps before the first draw, between two, at a time


class PlausibleMeans:
    """Draws of all means at once, given how often each arm won and lost.

    >>> from unimodal import graphs
    >>> draws = PlausibleMeans(graphs.line(3), [30, 0, 0], [70, 0, 0], one_peak=True, seed=0)
    >>> first = draws.next()
    >>> bool(0.1 < first[0] < 0.6 and first[1] > min(first[0], first[2]))
    True
    """

    def __init__(self, graph: Graph, wins: Any, losses: Any, one_peak: bool, seed: int) -> None:
        self._wins = np.asarray(wins, dtype=np.float64)
        self._losses = np.asarray(losses, dtype=np.float64)
        self._rows, self._near = graph.rows, graph.near_rows
        self._one_peak = one_peak
        self._rng = stream(seed, 0, MEANS)
        self.means = one_peaked(graph, shrunk(self._wins, self._losses))
        self._better = np.zeros(graph.n_arms, dtype=np.int64)
        _count_better(self.means, self._better, graph.rows, graph.near_rows)
        self._other = self.means.copy()
        self._prior = np.full(2, len(GRID) // 4)  # the places of a and b in the grid
        self._sweep(_BURN_IN)

    def next(self) -> Any:
        """The next draw: one mean an arm."""
        self._sweep(_APART)
        return self.means.copy()

    def _sweep(self, times: int) -> None:
        state = (self.means, self._other, self._better, self._prior)
        data = (self._wins, self._losses, self._rows, self._near, self._one_peak)
        for _ in range(times // _AT_ONCE):  # in pieces, so that Ctrl-C is heard
            _sweeps(_AT_ONCE, *state, *data, self._rng)


def shrunk(wins: Any, losses: Any) -> Any:
    """Empirical means, drawn towards that of all rewards where there are few."""
    weight = 2.0
    overall = (wins.sum() + 1.0) / (wins.sum() + losses.sum() + 2.0)
    return (wins + weight * overall) / (wins + losses + weight)


def one_peaked(graph: Graph, means: Any) -> Any:
    """Means near the given ones with one peak, at the highest: where the sampler begins.

    >>> from unimodal import graphs
    >>> one_peaked(graphs.line(4), np.array([0.5, 0.1, 0.2, 0.1])).round(3).tolist()
    [0.5, 0.2, 0.2, 0.1]
    """
    raised = np.clip(means, 1e-9, 1.0 - 1e-6)  # with room for the steps below
    peak = int(np.argmax(raised))
    steps = graph.distances(peak)
    for arm in np.argsort(-steps, kind="stable").tolist():  # from the farthest inwards
        if arm != peak:
            near = graph.neighbors(arm)
            onward = int(near[np.argmin(steps[near])])  # towards the peak it must rise
            if raised[onward] <= raised[arm]:
                raised[onward] = raised[arm] + (1.0 - raised[arm]) * 1e-9
    return raised


@jit
def _sweeps(times, means, other, better, prior, wins, losses, rows, near, one_peak, rng):
    for _ in range(times):
        first, second = GRID[prior[0]], GRID[prior[1]]
        for arm in range(len(means)):
            low, high = 0.0, 1.0
            if one_peak:
                low, high = _room(means, better, rows, near, arm)
            a, b = first + wins[arm], second + losses[arm]
            drawn = beta(rng, a, b)
            if not low < drawn < high:
                drawn = _slice(means[arm], a, b, low, high, rng)
            if one_peak:
                _move(means, better, rows, near, arm, drawn)
            means[arm] = drawn
        for most in _MOVED:
            _change_prior(
                means, other, better, prior, wins, losses, rows, near, one_peak, most, rng
            )


@inner
def _room(means, better, rows, near, arm):
    """The interval in which a mean may lie, given the others, for there to be one peak."""
    own, highest = means[arm], 0.0
    first, second = 0.0, 0.0  # the best two neighbours to whom nobody but this arm is better
    peak_is_near = better[arm] == 0
    for place in range(rows[arm] + 1, rows[arm + 1]):
        other = near[place]
        value = means[other]
        highest = max(highest, value)
        peak_is_near |= better[other] == 0
        if better[other] - (own > value) == 0:
            first, second = max(first, value), max(second, min(first, value))
    if peak_is_near:
        return second, 1.0  # the best of them, or the arm itself, is the peak
    return first, highest


@inner
def _move(means, better, rows, near, arm, drawn):
    """Count better neighbours anew, for a mean about to change."""
    old, above = means[arm], 0
    for place in range(rows[arm] + 1, rows[arm + 1]):
        other = near[place]
        better[other] += (drawn > means[other]) - (old > means[other])
        above += means[other] > drawn
    better[arm] = above


@inner
def _slice(x, a, b, low, high, rng):
    """A step from x that leaves Beta(a, b) between low and high as it is.

    Uniform where x^(a - 1) and (1 - x)^(b - 1) both exceed what was drawn below them (Damien and
    Walker 2001).
    """
    if a != 1.0:
        edge = x * math.exp(-exponential(rng) / (a - 1.0))
        if a > 1.0:
            low = max(low, edge)
        else:
            high = min(high, edge)
    if b != 1.0:
        edge = 1.0 - (1.0 - x) * math.exp(-exponential(rng) / (b - 1.0))
        if b > 1.0:
            high = min(high, edge)
        else:
            low = max(low, edge)
    drawn = low + (high - low) * uniform(rng)
    return drawn if low < drawn < high else x


@inner
def _change_prior(means, other, better, prior, wins, losses, rows, near, one_peak, most, rng):
    """A step of (a, b), which takes with it the means of arms with at most so many rewards.

    Their log-odds keep their place relative to the mean and width that Beta(a, b) has on that
    scale: so (a, b) need not wait for means of which little is known, nor they for it.
    """
    reach = 1 << randint(rng, 4)
    i, j = prior[0], prior[1]
    step = randint(rng, 2 * reach + 1) - reach
    to_i, to_j = i + step, j + step  # as even as before, or wider and narrower
    if randint(rng, 2) == 0:
        to_j = j + randint(rng, 2 * reach + 1) - reach
    if min(to_i, to_j) < 0 or max(to_i, to_j) >= len(GRID):
        return
    a, b, to_a, to_b = GRID[i], GRID[j], GRID[to_i], GRID[to_j]
    stretch = _WIDTH[to_i, to_j] / _WIDTH[i, j]
    ratio = len(means) * (_LOG_NORM[to_i, to_j] - _LOG_NORM[i, j])
    for arm in range(len(means)):
        x = means[arm]
        log_x, log_rest = math.log(x), math.log1p(-x)
        ratio -= (a - 1.0) * log_x + (b - 1.0) * log_rest
        other[arm] = x
        if wins[arm] + losses[arm] <= most:
            odds = _CENTRE[to_i, to_j] + (log_x - log_rest - _CENTRE[i, j]) * stretch
            to_log, to_rest = -math.log1p(math.exp(-odds)), -math.log1p(math.exp(odds))
            other[arm] = math.exp(to_log)
            ratio += (wins[arm] + 1.0) * (to_log - log_x) + math.log(stretch)
            ratio += (losses[arm] + 1.0) * (to_rest - log_rest)
            log_x, log_rest = to_log, to_rest
        ratio += (to_a - 1.0) * log_x + (to_b - 1.0) * log_rest
    if not -exponential(rng) < ratio:  # NaN where a mean would round to 0 or 1
        return
    if one_peak and most >= 0.0 and _peaks(other, rows, near) != 1:
        return
    prior[0], prior[1] = to_i, to_j
    for arm in range(len(means)):
        means[arm] = other[arm]
    if one_peak and most >= 0.0:
        _count_better(means, better, rows, near)


@inner
def _peaks(means, rows, near):
    """How many arms have no better neighbour (2 stands for more)."""
    found = 0
    for arm in range(len(means)):
        is_peak = True
        for place in range(rows[arm] + 1, rows[arm + 1]):
            if means[near[place]] > means[arm]:
                is_peak = False
                break
        found += is_peak
        if found > 1:
            break
    return found


@inner
def _count_better(means, better, rows, near):
    """How many of its neighbours are better, arm by arm; at a peak 0."""
    for arm in range(len(means)):
        better[arm] = 0
        for place in range(rows[arm] + 1, rows[arm + 1]):
            better[arm] += means[near[place]] > means[arm]
