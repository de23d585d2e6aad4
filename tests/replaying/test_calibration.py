"""Are the intervals of a replay right? Worlds are drawn from the prior, logged, and replayed.

Where means come from the very prior of `plausible.py`, what a policy really earns is one more draw
among those of the replay, whoever chose the log's arms. So its rank among them is uniform (Talts et
al. 2018), and it falls within 95 % of the draws 95 % of the time.
"""

import numpy as np
import pytest
from scipy import stats

import unimodal as um
from unimodal.campaign.rehearsal import rehearse
from unimodal.replaying import estimate
from unimodal.replaying.plausible import GRID

ARMS, ROUNDS, DRAWS, REPEATS = 6, 150, 30, 70


def one_peaked_means(rng):
    """Independent draws from Beta(a, b), given that they have one peak on a line."""
    a, b = rng.choice(GRID, 2)
    ordered = np.sort(rng.beta(a, b, ARMS))
    left, right = [], []
    for mean in ordered[:-1]:  # from the lowest: each goes to either side, which gives every order
        (left if rng.random() < 0.5 else right).append(mean)
    return np.clip([*left, ordered[-1], *right[::-1]], 0.0, 1.0)


def ranks(candidate, replayed):
    """Ranks, from 0 to 1, of what was really earned among the draws; how many are within 95 %."""
    rng = np.random.default_rng(20261116)
    found, covered = [], 0
    for repeat in range(REPEATS):
        problem = um.Problem(um.graphs.line(ARMS), one_peaked_means(rng))
        campaign = rehearse(um.UTS(), problem, ROUNDS, seed=repeat)
        draws = replayed(campaign, candidate, repeat)
        actual, _ = estimate.play_once(problem, candidate, ROUNDS, seed=10_000 + repeat, number=0)
        below, tied = (draws < actual).sum(), (draws == actual).sum()
        found.append((below + rng.random() * (tied + 1)) / (len(draws) + 1))
        covered += 1 / 40 <= found[-1] <= 39 / 40
    return np.array(found), covered


def as_it_is(campaign, candidate, seed):
    found = um.replay(campaign, [candidate], draws=DRAWS, seed=seed, workers=1, progress=False)
    return found.estimates[1].earned


def with_empirical_means(campaign, candidate, seed):
    """The fault: what the log saw of an arm is taken for the truth."""
    log = estimate.read(campaign)
    world = um.Problem(log.graph, log.totals / log.pulls)
    return np.array(
        [estimate.play_once(world, candidate, ROUNDS, seed, draw)[0] for draw in range(DRAWS)]
    )


@pytest.mark.parametrize(
    "candidate", [um.TS(), pytest.param(um.OSUB(), marks=pytest.mark.full)], ids=str
)
def test_what_is_earned_is_one_more_draw(candidate):
    """False alarms: 0.1 % for the ranks, 0.4 % for the coverage, each, over seeds."""
    found, covered = ranks(candidate, as_it_is)
    assert stats.kstest(found, "uniform").pvalue > 0.001
    assert covered >= stats.binom.ppf(0.004, REPEATS, 0.95)


def test_empirical_means_are_caught():
    """The test above is no formality: taking means for certain covers far too little."""
    _, covered = ranks(um.TS(), with_empirical_means)
    assert covered < stats.binom.ppf(0.004, REPEATS, 0.95)
