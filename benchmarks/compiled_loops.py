"""The obvious compiled loop of each policy: K draws or K bisections a round, the leader by a scan.

What one writes with Numba in an afternoon, as the measure of the leap engine's speed. Written once
and left alone. Each function plays `horizon` rounds and returns the pulls; `near` is a table of
neighbourhoods, padded with -1.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

from math import log
from typing import Any

import numpy as np
from numba import njit

from unimodal.problems import Problem


@njit
def kl(p, q):
    """Bernoulli divergence, away from the ends."""
    p, q = min(max(p, 1e-12), 1 - 1e-12), min(max(q, 1e-12), 1 - 1e-12)
    return p * log(p / q) + (1 - p) * log((1 - p) / (1 - q))


@njit
def kl_upper(mean, pulls, budget):
    """A KL-UCB index, by bisection."""
    low, high = mean, 1.0
    for _ in range(30):
        middle = (low + high) / 2
        if pulls * kl(mean, middle) <= budget:
            low = middle
        else:
            high = middle
    return low


@njit
def f(x):
    """The budget, with c = 3."""
    return log(x) + 3 * log(max(log(x), 1))


@njit
def play(means, pulls, total, arm):
    """A Bernoulli reward."""
    total[arm] += np.random.random() < means[arm]
    pulls[arm] += 1


@njit
def leader_of(pulls, total):
    """The arm with the highest mean; ties at random."""
    best, shown, tied = -1, -1.0, 0
    for arm in range(len(pulls)):
        mean = total[arm] / pulls[arm]
        if mean > shown:
            best, shown, tied = arm, mean, 1
        elif mean == shown:
            tied += 1
            if np.random.random() * tied < 1:
                best = arm
    return best


@njit
def ts(means, near, horizon, seed):
    """Thompson sampling."""
    np.random.seed(seed)
    n_arms = len(means)
    pulls, total = np.zeros(n_arms), np.zeros(n_arms)
    for _ in range(horizon):
        best, highest = -1, -1.0
        for arm in range(n_arms):
            draw = np.random.beta(1 + total[arm], 1 + pulls[arm] - total[arm])
            if draw > highest:
                best, highest = arm, draw
        play(means, pulls, total, best)
    return pulls


@njit
def klucb(means, near, horizon, seed):
    """KL-UCB."""
    np.random.seed(seed)
    n_arms = len(means)
    pulls, total = np.zeros(n_arms), np.zeros(n_arms)
    for t in range(1, horizon + 1):
        best, highest = t - 1, -1.0
        if t > n_arms:
            for arm in range(n_arms):
                index = kl_upper(total[arm] / pulls[arm], pulls[arm], f(t))
                if index > highest:
                    best, highest = arm, index
        play(means, pulls, total, best)
    return pulls


@njit
def uts(means, near, horizon, seed):
    """Unimodal Thompson sampling, after a sweep."""
    np.random.seed(seed)
    n_arms = len(means)
    pulls, total, leads = np.zeros(n_arms), np.zeros(n_arms), np.zeros(n_arms)
    for t in range(1, horizon + 1):
        best, highest = t - 1, -1.0
        if t > n_arms:
            leader = leader_of(pulls, total)
            size = (near[leader] >= 0).sum()
            if leads[leader] % size == 0:
                best = leader
            else:
                for arm in near[leader, :size]:
                    draw = np.random.beta(1 + total[arm], 1 + pulls[arm] - total[arm])
                    if draw > highest:
                        best, highest = arm, draw
            leads[leader] += 1
        play(means, pulls, total, best)
    return pulls


@njit
def osub(means, near, horizon, seed):
    """OSUB, after a sweep."""
    np.random.seed(seed)
    n_arms, period = len(means), near.shape[1]
    pulls, total, leads = np.zeros(n_arms), np.zeros(n_arms), np.zeros(n_arms)
    for t in range(1, horizon + 1):
        best, highest = t - 1, -1.0
        if t > n_arms:
            leader = leader_of(pulls, total)
            size = (near[leader] >= 0).sum()
            leads[leader] += 1
            if (leads[leader] - 1) % period == 0:
                best = leader
            else:
                for arm in near[leader, :size]:
                    index = kl_upper(total[arm] / pulls[arm], pulls[arm], f(leads[leader]))
                    if index > highest:
                        best, highest = arm, index
        play(means, pulls, total, best)
    return pulls


LOOPS = {"UTS": uts, "OSUB": osub, "TS": ts, "KLUCB": klucb}


def neighbourhoods(problem: Problem) -> Any:
    """The table of neighbourhoods."""
    graph = problem.graph
    near = np.full((graph.n_arms, graph.max_degree + 1), -1)
    for arm in range(graph.n_arms):
        mine = graph.near(arm)
        near[arm, : len(mine)] = mine
    return near
