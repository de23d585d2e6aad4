"""NPTS draws what Riou and Honda say, from a Beta or from every reward."""

import json

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta

import unimodal as um

ASKED = 20_000


def share_of_arm_1(rewards, told):
    """How often arm 1 of two is pulled after these rewards."""
    agent = um.Agent(um.NPTS(), um.graphs.line(2), rewards, seed=6)
    for arm, seen in enumerate(told):
        agent.tell([arm] * len(seen), seen)
    return np.mean(agent.ask(ASKED))


def close(found, expected):
    """Within 3.3 standard errors: a false alarm in 1 of 1000 seeds; it sees a shift of 0.02."""
    return abs(found - expected) < 3.3 * np.sqrt(expected * (1 - expected) / ASKED)


COINS = ([1, 1, 1, 0, 0], [1, 0, 0])


def test_coins_give_a_beta_draw():
    """Beta(1 + 3, 2) against Beta(1 + 1, 2); with Beta(1, 1) priors it would be 0.27."""
    one, two = beta(2, 2), beta(4, 2)
    expected = quad(lambda x: one.pdf(x) * two.cdf(x), 0, 1)[0]
    assert close(share_of_arm_1(None, COINS), expected)
    assert close(share_of_arm_1(um.Bounded(0, 1), COINS), expected)  # the same, by reweighing


def test_one_reward_by_hand():
    """U·x + (1 - U)·1 is uniform on [x, 1]: from 0.5 up it beats one from 0 up 3 times in 4."""
    assert close(share_of_arm_1(um.Bounded(0, 1), ([0.0], [0.5])), 0.75)
    assert close(share_of_arm_1(um.Bounded(-2, 6), ([-2.0], [2.0])), 0.75)


@pytest.mark.parametrize("rewards", [um.Bernoulli(), um.Bounded(0, 1)], ids=str)
def test_arms_that_never_missed_the_top_tie(rewards):
    """Never pulled, or always at the upper bound: 1 either way."""
    assert close(share_of_arm_1(rewards, ([], [1, 1, 1])), 0.5)


def test_rewards_without_a_bound_are_refused():
    problem = um.Problem(um.graphs.line(3), [0.0, 1.0, 0.0], um.Gaussian())
    for engine in ("auto", "step", "leap"):
        with pytest.raises(um.UnimodalError, match="NPTS needs rewards with an upper bound"):
            um.simulate(problem, um.NPTS(), horizon=10, engine=engine)
    with pytest.raises(um.UnimodalError, match=r"got Poisson\(\): use TS"):
        um.Agent(um.NPTS(), um.graphs.line(3), um.Poisson())


def test_a_damaged_history_is_refused(tmp_path):
    agent = um.Agent(um.NPTS(), um.graphs.line(2), um.Bounded(0, 1))
    agent.tell([0, 1, 1], [0.25, 0.5, 1.0])
    path = agent.save(tmp_path / "agent.json")
    data = json.loads(path.read_text())
    assert data["seen"] == [[0, 0.25], [1, 0.5], [1, 1.0]]
    for seen in ([[0, 0.25]], [[0, 0.25], [1, 0.5], [7, 1.0]]):
        path.write_text(json.dumps(data | {"seen": seen}))
        with pytest.raises(um.UnimodalError, match="damaged"):
            um.Agent.load(path)
