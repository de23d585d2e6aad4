"""The obvious NumPy loop of each policy, as one writes it in an afternoon: the measure of speed.

Written once and left alone. Each function plays `horizon` rounds and returns the pulls.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unimodal.problems import Problem


def kl(p: Any, q: Any) -> Any:
    """Bernoulli divergence, away from the ends."""
    p, q = np.clip(p, 1e-12, 1 - 1e-12), np.clip(q, 1e-12, 1 - 1e-12)
    return p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q))


def kl_upper(means: Any, pulls: Any, budget: float) -> Any:
    """KL-UCB indices of several arms, by bisection."""
    low, high = means.copy(), np.ones_like(means)
    for _ in range(30):
        middle = (low + high) / 2
        inside = pulls * kl(means, middle) <= budget
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return low


def f(x: float) -> float:
    """The budget, with c = 3."""
    return float(np.log(x) + 3 * np.log(max(np.log(x), 1)))


def ts(problem: Problem, horizon: int, seed: int) -> Any:
    """Thompson sampling."""
    rng = np.random.default_rng(seed)
    pulls, total = np.zeros(problem.graph.n_arms), np.zeros(problem.graph.n_arms)
    for _ in range(horizon):
        arm = np.argmax(rng.beta(1 + total, 1 + pulls - total))
        total[arm] += rng.random() < problem.means[arm]
        pulls[arm] += 1
    return pulls


def klucb(problem: Problem, horizon: int, seed: int) -> Any:
    """KL-UCB."""
    rng = np.random.default_rng(seed)
    n_arms = problem.graph.n_arms
    pulls, total = np.zeros(n_arms), np.zeros(n_arms)
    for t in range(1, horizon + 1):
        arm = t - 1 if t <= n_arms else np.argmax(kl_upper(total / pulls, pulls, f(t)))
        total[arm] += rng.random() < problem.means[arm]
        pulls[arm] += 1
    return pulls


def uts(problem: Problem, horizon: int, seed: int) -> Any:
    """Unimodal Thompson sampling, after a sweep."""
    rng = np.random.default_rng(seed)
    n_arms = problem.graph.n_arms
    near = [problem.graph.near(arm) for arm in range(n_arms)]
    pulls, total, leads = np.zeros(n_arms), np.zeros(n_arms), np.zeros(n_arms, dtype=int)
    for t in range(1, horizon + 1):
        if t <= n_arms:
            arm = t - 1
        else:
            means = total / pulls
            leader = rng.choice(np.flatnonzero(means == means.max()))
            rivals = near[leader]
            if leads[leader] % len(rivals) == 0:
                arm = leader
            else:
                draws = rng.beta(1 + total[rivals], 1 + pulls[rivals] - total[rivals])
                arm = rivals[np.argmax(draws)]
            leads[leader] += 1
        total[arm] += rng.random() < problem.means[arm]
        pulls[arm] += 1
    return pulls


def osub(problem: Problem, horizon: int, seed: int) -> Any:
    """OSUB, after a sweep."""
    rng = np.random.default_rng(seed)
    n_arms, period = problem.graph.n_arms, problem.graph.max_degree + 1
    near = [problem.graph.near(arm) for arm in range(n_arms)]
    pulls, total, leads = np.zeros(n_arms), np.zeros(n_arms), np.zeros(n_arms, dtype=int)
    for t in range(1, horizon + 1):
        if t <= n_arms:
            arm = t - 1
        else:
            means = total / pulls
            leader = rng.choice(np.flatnonzero(means == means.max()))
            rivals = near[leader]
            leads[leader] += 1
            if (leads[leader] - 1) % period == 0:
                arm = leader
            else:
                indices = kl_upper(means[rivals], pulls[rivals], f(leads[leader]))
                arm = rivals[np.argmax(indices)]
        total[arm] += rng.random() < problem.means[arm]
        pulls[arm] += 1
    return pulls


LOOPS = {"UTS": uts, "OSUB": osub, "TS": ts, "KLUCB": klucb}
