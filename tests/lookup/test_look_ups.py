"""Agents on a graph that is only a function of neighbours."""

import numpy as np
import pytest

import unimodal as um


def on_a_long_line(arm):
    return [other for other in (arm - 1, arm + 1) if 0 <= other < 10**9]


def play(agent, peak, rounds, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        arm = agent.ask()
        agent.tell(arm, float(rng.random() < max(0.9 - 0.1 * abs(arm - peak), 0.1)))


@pytest.mark.parametrize(
    "policy",
    [um.UTS(start="literal"), um.UTS(start="probe(5)"), um.OSUB(start="probe(5)", max_degree=2)],
    ids=str,
)
def test_it_climbs_and_meets_only_what_it_needs(policy):
    agent = um.Agent(policy, on_a_long_line, seed=1, root=500)
    play(agent, peak=503, rounds=4000)
    table = agent.arms()
    assert table["arm"][0] == 503
    assert table.height < 40


def test_it_does_what_it_does_on_the_same_graph_held():
    """From a star's centre all arms are met at once, in the order of the held graph."""
    star = um.graphs.from_edges([(0, leaf) for leaf in range(1, 6)])
    held = um.Agent(um.UTS(start="literal", ties="lowest"), star, seed=4)
    looked = um.Agent(
        um.UTS(start="literal", ties="lowest"),
        lambda arm: star.neighbors(arm).tolist(),
        seed=4,
        root=0,
    )
    rng = np.random.default_rng(0)
    for _ in range(500):
        arm = held.ask()
        assert looked.ask() == arm
        reward = float(rng.random() < 0.2 + 0.1 * arm)
        held.tell(arm, reward)
        looked.tell(arm, reward)


@pytest.mark.parametrize("degree", [3, 200])
def test_before_any_reward_the_root_leads(degree, tmp_path):
    """Its neighbours have no more to show; but nobody has looked up theirs."""

    def neighbours(arm):
        return [f"{arm}.{child}" for child in range(degree)]

    for seed in range(10):
        agent = um.Agent(um.UTS(start="literal"), neighbours, seed=seed, root="root")
        assert agent.ask() == "root"
        agent.ask(3)
        assert agent.leader == "root"
        agent = um.Agent.load(agent.save(tmp_path / "agent.json"), graph=neighbours)
        agent.ask(3)
        assert agent.leader == "root"


def test_arms_that_are_met_later_have_the_policys_prior():
    """More than there was room for at first: the agent's records are made longer."""
    agent = um.Agent(um.UTS(prior=(7, 3), start="literal"), lambda arm: range(200), root=0)
    assert len(agent._player.state.arms) < 200
    agent.ask()
    met = agent._player.state.arms[: agent.known_arms]
    assert agent.known_arms == 200
    assert set(met["prior_a"].tolist()) == {7.0} and set(met["prior_b"].tolist()) == {3.0}


def test_each_arm_is_looked_up_once():
    calls = []

    def neighbours(arm):
        calls.append(arm)
        return on_a_long_line(arm)

    agent = um.Agent(um.UTS(start="literal"), neighbours, seed=1, root=500)
    play(agent, peak=503, rounds=1000)
    assert len(calls) == len(set(calls))


def test_saved_and_loaded_it_goes_on(tmp_path):
    def pair(arm):
        return [(arm[0] + 1, arm[1]), (arm[0], arm[1] + 1), (arm[0] - 1, arm[1])]

    one = um.Agent(um.UTS(start="probe(4)"), pair, seed=2, root=(0, 0))
    for _ in range(100):
        arm = one.ask()
        one.tell(arm, float(sum(arm) % 2))
    two = um.Agent.load(one.save(tmp_path / "agent.json"), graph=pair)
    for _ in range(100):
        arm = one.ask()
        assert two.ask() == arm
        one.tell(arm, float(sum(arm) % 2))
        two.tell(arm, float(sum(arm) % 2))
    with pytest.raises(um.UnimodalError, match="pass it as graph="):
        um.Agent.load(tmp_path / "agent.json")


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (um.UTS(), r"use start='probe\(8\)'.*or start='literal'"),
        (um.OSUB(start="literal"), r"OSUB\(max_degree=…\)"),
        (um.TS(), "compares all arms"),
        (um.KLUCB(), "compares all arms"),
    ],
    ids=str,
)
def test_what_needs_the_whole_graph_is_refused(policy, words):
    with pytest.raises(um.UnimodalError, match=words):
        um.Agent(policy, on_a_long_line, root=0)


def test_a_root_is_needed():
    with pytest.raises(um.UnimodalError, match="root="):
        um.Agent(um.UTS(start="literal"), on_a_long_line)


@pytest.mark.parametrize(
    ("neighbours", "words"),
    [
        (lambda arm: [arm], "got none"),
        (lambda arm: [], "got none"),
        (lambda arm: [[1], [2]], "hashable"),
        (lambda arm: 7, "must return hashable labels .*, got 7"),
    ],
)
def test_a_wrong_answer_gets_a_sentence(neighbours, words):
    with pytest.raises(um.UnimodalError, match=words):
        um.Agent(um.UTS(start="literal"), neighbours, root=0).ask()


def test_an_arm_not_met_gets_a_sentence():
    agent = um.Agent(um.UTS(start="literal"), on_a_long_line, root=0)
    with pytest.raises(um.UnimodalError, match="has not met an arm called 77"):
        agent.tell(77, 1)
