"""Are the intervals of a replay right? Worlds are drawn from the prior, logged, and replayed.

Where means come from the very prior of `plausible_means.py`, what a policy really earns is one more
draw among those of the replay, whoever chose the log's arms. So its rank among them is uniform
(Talts et al. 2018), and it falls within 95 % of the draws 95 % of the time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from unimodal.campaigns import Reading
from unimodal.campaigns.simulated_campaign import simulated_campaign
from unimodal.graphs import line
from unimodal.history_analysis.replay.estimate import play_once, replay
from unimodal.history_analysis.replay.logged_rewards import read
from unimodal.history_analysis.replay.plausible_means import GRID
from unimodal.policies import UTS, Policy
from unimodal.problems import Problem

# From a log, a candidate, a number of draws and a seed: what the candidate would have earned.
Estimator = Callable[[Reading, Policy, int, int], Any]


@dataclass(frozen=True)
class Scale:
    """How large the worlds are, and how many."""

    arms: int
    rounds: int
    draws: int
    worlds: int


def calibrate(candidate: Policy, estimator: Estimator, scale: Scale) -> tuple[Any, float, float]:
    """Ranks, from 0 to 1, of what was earned among draws; share within 95 %; mean width of that."""
    rng = np.random.default_rng(20261116)
    ranks, widths = [], []
    for world in range(scale.worlds):
        problem = Problem(line(scale.arms), _one_peaked_means(scale.arms, rng))
        campaign = simulated_campaign(UTS(), problem, scale.rounds, seed=world)
        draws = estimator(campaign, candidate, scale.draws, world)
        earned, _ = play_once(problem, candidate, scale.rounds, seed=10_000 + world, number=0)
        below, tied = (draws < earned).sum(), (draws == earned).sum()
        ranks.append((below + rng.random() * (tied + 1)) / (len(draws) + 1))
        widths.append(float(np.ptp(np.quantile(draws, [0.025, 0.975]))))
    found = np.array(ranks)
    return found, float((np.abs(found - 0.5) <= 0.475).mean()), float(np.mean(widths))


def _one_peaked_means(arms: int, rng: Any) -> Any:
    """Independent draws from Beta(a, b), given that they have one peak on a line."""
    a, b = rng.choice(GRID, 2)
    ordered = np.sort(rng.beta(a, b, arms))
    left: list[float] = []
    right: list[float] = []
    for mean in ordered[:-1]:  # from the lowest: each goes to either side, which gives every order
        (left if rng.random() < 0.5 else right).append(mean)
    return np.clip([*left, ordered[-1], *right[::-1]], 0.0, 1.0)


def as_it_is(campaign: Reading, candidate: Policy, draws: int, seed: int) -> Any:
    """What `um.replay` says."""
    found = replay(campaign, [candidate], draws=draws, seed=seed, workers=1, progress=False)
    return found.estimates[1].earned


def with_any_peaks(campaign: Reading, candidate: Policy, draws: int, seed: int) -> Any:
    """What it says if means need not have one peak."""
    found = replay(
        campaign, [candidate], draws=draws, seed=seed, one_peak=False, workers=1, progress=False
    )
    return found.estimates[1].earned


def with_empirical_means(campaign: Reading, candidate: Policy, draws: int, seed: int) -> Any:
    """A fault on purpose: what the log saw of an arm is taken for the truth."""
    log = read(campaign)
    world = Problem(log.graph, log.totals / log.pulls)
    earned = [play_once(world, candidate, log.rounds, seed, draw)[0] for draw in range(draws)]
    return np.array(earned)
