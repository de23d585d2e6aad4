"""Agents on revised graphs: what was learnt stays with the labels, and new arms are met."""

import numpy as np
import pytest

import unimodal as um
from unimodal.agents.revision import revised
from unimodal.graphs import revised as revised_graph

LADDER = um.graphs.from_edges([("a", "b"), ("b", "c"), ("c", "d")])
POLICIES = [
    (um.UTS(), um.Bernoulli()),
    (um.ScoutUTS(), um.Bernoulli()),
    (um.Windowed(um.UTS(), 20), um.Bernoulli()),
    (um.Restarting(um.UTS()), um.Bernoulli()),
    (um.Discounted(um.UTS(), 0.9), um.Bernoulli()),
    (um.NPTS(), um.Bounded(0, 1)),
]


def statistics(agent):
    frame = agent.arms()
    return {arm: rest for arm, *rest in frame.rows() if rest[0] > 0}


def play(agent, rounds, rng):
    """Decide and reward; the arms in order."""
    arms = []
    for _ in range(rounds):
        decision = agent.decide()
        agent.reward(decision.id, float(rng.random() < 0.5))
        arms.append(decision.arm)
    return arms


def on(agent, add=(), retire=()):
    return revised(agent, revised_graph(agent.graph, add, retire))


@pytest.fixture
def agent():
    one = um.Agent(um.UTS(), LADDER, seed=1, clock=lambda: 0.0)
    play(one, 50, np.random.default_rng(1))
    return one


def test_what_was_learnt_stays_with_the_labels(agent):
    before = statistics(agent)
    new = on(agent, add=[("d", "e"), ("a", "c")], retire=["b"])
    del before["b"]
    assert statistics(new) == before
    assert new.graph.labels == ("a", "c", "d", "e") and new.known_arms == 4
    assert new.round == agent.round


def test_a_revision_without_a_change_goes_on_the_same(agent):
    new = on(agent)
    one, other = np.random.default_rng(2), np.random.default_rng(2)
    assert play(new, 200, one) == play(agent, 200, other)
    assert statistics(new) == statistics(agent)


def test_new_arms_are_swept(agent):
    new = on(agent, add=[("d", "e"), ("e", "f")])
    first, second = new.decide(2)
    assert [first.arm, second.arm] == ["e", "f"]
    assert first.reason == second.reason == "start"
    assert new.decide().reason != "start"


def test_a_sweep_that_was_not_over_goes_on_without_the_retired():
    one = um.Agent(um.UTS(), LADDER, seed=1)
    swept = [one.decide().arm for _ in range(2)]
    left = [arm for arm in "abcd" if arm not in swept]
    gone = next(arm for arm in ("a", "d") if arm in left or arm in swept)
    new = on(one, add=[(next(arm for arm in ("b", "c") if arm != gone), "e")], retire=[gone])
    rest = [new.decide() for _ in range(len([arm for arm in left if arm != gone]) + 1)]
    assert {decision.arm for decision in rest} == {*left, "e"} - {gone}
    assert all(decision.reason == "start" for decision in rest)


def test_an_arm_that_comes_back_begins_anew(agent):
    back = on(on(agent, retire=["a"]), add=[("a", "b")])
    assert "a" not in statistics(back)
    assert back.decide().arm == "a"


def test_rewards_of_retired_arms_are_taken_and_teach_nothing():
    one = um.Agent(um.UTS(), LADDER, seed=1, clock=lambda: 0.0)
    decisions = {decision.arm: decision.id for decision in one.decide(4)}
    one.reward(decisions["b"], 1.0)
    new = on(one, retire=["a"])
    assert new.outstanding == 3
    assert new.reward(decisions["a"], 1.0) is True
    assert new.reward(decisions["a"], 1.0) is False
    with pytest.raises(um.UnimodalError, match="already"):
        new.reward(decisions["a"], 0.0)
    assert set(statistics(new)) == {"b"} and new.outstanding == 2
    assert new.reward(decisions["c"], 0.0) is True and new.reward(decisions["b"], 1.0) is False
    assert {arm: pulls for arm, (pulls, *_) in statistics(new).items()} == {"b": 1, "c": 1}


def test_decisions_of_a_retired_arm_expire_without_a_trace():
    now = [0.0]
    one = um.Agent(um.UTS(), LADDER, seed=1, time_to_live=5, on_expiry="zero", clock=lambda: now[0])
    one.decide(4)
    new = on(on(one, retire=["a"]), retire=["d"])  # numbers change twice
    now[0] = 9.0
    assert new.expire() == 4 and new.outstanding == 0
    assert {arm: rest[:2] for arm, rest in statistics(new).items()} == {
        "b": [1, 0.0],
        "c": [1, 0.0],
    }


def test_a_leader_that_was_retired_leads_no_more():
    one = um.Agent(um.UTS(), LADDER, seed=1, clock=lambda: 0.0)
    for decision in one.decide(4):
        one.reward(decision.id, float(decision.arm == "d"))
    assert one.decide().leader == "d" and one.leader == "d"
    new = on(one, retire=["d"])
    assert new.leader is None
    assert new.decide().leader in ("a", "b", "c")


def test_it_is_saved_and_loaded_like_any_other(agent, tmp_path):
    agent.decide(3)
    new = on(agent, add=[("d", "e")], retire=["a"])
    loaded = um.Agent.load(new.save(tmp_path / "agent.json"))
    one, other = np.random.default_rng(2), np.random.default_rng(2)
    assert play(new, 60, one) == play(loaded, 60, other)


@pytest.mark.parametrize(("policy", "rewards"), POLICIES, ids=lambda value: str(value))
def test_there_and_back_and_on(policy, rewards):
    """Pulls are those of the decisions made; what forgets has no more than those."""
    rng = np.random.default_rng(3)
    one = um.Agent(policy, LADDER, rewards, seed=2, clock=lambda: 0.0)
    played = play(one, 60, rng)
    late = one.decide(5)
    grown = on(one, add=[("d", "e"), ("e", "a")], retire=["b"])
    played = [arm for arm in played if arm != "b"]
    for decision in late:
        assert grown.reward(decision.id, 1.0) is True
        played += [decision.arm] if decision.arm != "b" else []
    played += play(grown, 60, rng)
    back = on(grown, add=[("a", "b"), ("b", "c")], retire=["e"])
    played = [arm for arm in played if arm != "e"] + play(back, 120, rng)
    assert set(played[-120:]) <= set("abcd")
    pulls = {arm: rest[0] for arm, rest in statistics(back).items()}
    counts = {arm: played.count(arm) for arm in set(played)}
    if policy.forgets:
        assert all(pulls[arm] <= counts[arm] for arm in pulls) and sum(pulls.values()) > 0
    else:
        assert pulls == counts


def test_a_window_is_as_full_after_a_revision_as_before():
    one = um.Agent(um.Windowed(um.UTS(), 20), LADDER, seed=2, clock=lambda: 0.0)
    rng = np.random.default_rng(3)
    played = play(one, 53, rng)
    new = on(one, add=[("d", "e"), ("a", "c")], retire=["b"])
    kept = [arm for arm in played[-20:] if arm != "b"]
    assert {arm: rest[0] for arm, rest in statistics(new).items()} == {
        arm: kept.count(arm) for arm in set(kept)
    }
    kept += play(new, 40, rng)
    assert {arm: rest[0] for arm, rest in statistics(new).items()} == {
        arm: kept[-20:].count(arm) for arm in set(kept[-20:])
    }


@pytest.mark.parametrize("played_before", [7, 20, 33, 53])
def test_a_window_forgets_in_the_order_of_rewards_after_a_revision_too(played_before):
    """Recounted after every reward: pulls and means of the last 20, of those that were kept."""
    one = um.Agent(um.Windowed(um.UTS(), 20), LADDER, seed=2, clock=lambda: 0.0)
    rng, told = np.random.default_rng(3), []

    def turn(agent):
        decision, reward = agent.decide(), float(rng.random() < 0.5)
        agent.reward(decision.id, reward)
        told.append((decision.arm, reward))
        last = {arm: [r for a, r in told[-20:] if a == arm] for arm, _ in told[-20:]}
        found = {arm: rest[:2] for arm, rest in statistics(agent).items()}
        assert found == {arm: [len(seen), np.mean(seen)] for arm, seen in last.items()}

    for _ in range(played_before):
        turn(one)
    new = on(one, add=[("d", "e"), ("a", "c")], retire=["b"])
    told = [pair for pair in told[-20:] if pair[0] != "b"]
    for _ in range(30):
        turn(new)
