"""Agents: the same arms as the engine, labels, batches, late rewards, mistakes."""

import numpy as np
import pytest

import unimodal as um

PRICES = um.graphs.from_edges([("cheap", "fair"), ("fair", "dear")])


@pytest.mark.parametrize(
    "policy", [um.UTS(), um.OSUB(), um.TS(), um.KLUCB(), um.UTS(start="literal")], ids=str
)
def test_fed_the_rewards_of_trial_0_it_asks_for_the_same_arms(policy):
    problem = um.problems.triangular(9)
    result = um.simulate(
        problem, policy, horizon=1000, trials=1, seed=8, engine="step", history=True
    )
    run = result[policy.name]
    agent = um.Agent(policy, problem.graph, seed=8)
    for arm, reward in zip(run.arms[0], run.rewards[0], strict=True):
        assert agent.ask() == arm
        agent.tell(arm, reward)


def test_labels_instead_of_indices():
    agent = um.Agent(um.UTS(), PRICES, seed=1)
    asked = agent.ask(3)
    assert sorted(asked) == ["cheap", "dear", "fair"]
    agent.tell(asked, [label == "fair" for label in asked])
    agent.ask()
    assert agent.leader == "fair" and agent.reason == "forced leader"
    assert agent.arms()["arm"].to_list() == asked or set(agent.arms()["arm"]) == set(asked)


def test_late_and_unordered_rewards_leave_the_same_statistics():
    rng = np.random.default_rng(0)
    arms, rewards = rng.integers(0, 3, 200), rng.integers(0, 2, 200)
    agents = [um.Agent(um.OSUB(start="literal"), um.graphs.line(3), seed=1) for _ in range(2)]
    for order, agent in zip((np.arange(200), rng.permutation(200)), agents, strict=True):
        agent.tell(arms[order], rewards[order])
    assert agents[0].arms().equals(agents[1].arms())
    assert agents[0].ask(20) == agents[1].ask(20)


def test_a_batch_with_a_mistake_teaches_nothing():
    agent = um.Agent(um.UTS(), PRICES)
    with pytest.raises(um.UnimodalError, match="got 2"):
        agent.tell(["fair", "dear"], [1, 2])
    assert agent.arms().height == 0


@pytest.mark.parametrize(
    ("arm", "reward", "words"),
    [
        ("fair", float("nan"), "must be between 0 and 1, got nan"),
        ("fair", 0.5, "must be 0 or 1, got 0.5; for rewards between two bounds use Bounded"),
        ("fair", 2, "must be between 0 and 1, got 2"),
        ("fair", "1", "got '1'"),
        ("fair", None, "got None"),
        ("free", 1, "no arm of this graph is called 'free'; its labels begin with 'cheap'"),
        (0, 1, "no arm of this graph is called 0"),
        (["fair"], [1, 1], "as many arms as rewards, got 1 and 2"),
    ],
)
def test_bad_tells_get_a_sentence(arm, reward, words):
    agent = um.Agent(um.UTS(), PRICES)
    with pytest.raises(um.UnimodalError, match=words):
        agent.tell(arm, reward)


def test_an_arm_out_of_range_gets_a_sentence():
    with pytest.raises(um.UnimodalError, match="whole number from 0 to 4, got 5"):
        um.Agent(um.UTS(), um.graphs.line(5)).tell(5, 1)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: um.Agent("uts", PRICES), "instance such as um.UTS"),
        (lambda: um.Agent(um.UTS(), [1, 2]), "Graph, an Oracle or a function"),
        (lambda: um.Agent(um.UTS(), PRICES, seed=-1), "'seed'"),
        (lambda: um.Agent(um.UTS(), PRICES, root="fair"), "got 'fair' with a Graph"),
        (lambda: um.Agent(um.UTS(), PRICES).ask(0), "'n' of ask"),
        (lambda: um.Agent(um.UTS(), PRICES, family="bernoulli"), "family such as um.Bernoulli"),
    ],
)
def test_bad_agents_get_a_sentence(make, words):
    with pytest.raises(um.UnimodalError, match=words):
        make()


def test_it_learns_the_best_price():
    """Gaussian rewards with gaps of ten standard deviations: a failure would be a defect."""
    agent = um.Agent(um.UTS(), PRICES, family=um.Gaussian(0.1), seed=3)
    rng, means = np.random.default_rng(3), {"cheap": 1.0, "fair": 2.0, "dear": 0.5}
    for _ in range(200):
        price = agent.ask()
        agent.tell(price, means[price] + 0.1 * rng.normal())
    assert agent.arms()["arm"][0] == "fair" and agent.arms()["pulls"][0] > 180
