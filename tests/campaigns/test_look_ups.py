"""Behind a neighbour function: asked outside of locks, within a deadline, and not twice."""

import json
import re
import sqlite3
import threading
import time

import numpy as np
import pytest

import unimodal as um
from unimodal.campaigns import look, verify

QUICK = {"durability": "fast", "clock": lambda: 0.0}


class Lattice:
    """A neighbour function that fails at every ninth call, and counts them."""

    def __init__(self):
        self.calls = 0

    def __call__(self, arm):
        self.calls += 1
        if self.calls % 9 == 0:
            raise ConnectionError("no route")
        x, y = arm
        return [(x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)]


def played(decider, rounds, seed):
    rng, decisions = np.random.default_rng(seed), []
    for _ in range(rounds):
        decisions.append(decider.decide())
        mean = max(0.9 - 0.05 * sum(map(abs, decisions[-1].arm)), 0.05)
        decider.reward(decisions[-1].id, float(rng.random() < mean))
    return decisions


def oracle(neighbours, **options):
    return um.Oracle(neighbours, root=(4, 4), retries=0, **options)


@pytest.mark.parametrize("policy", [um.ScoutUTS(), um.PeakUTS()], ids=str)
@pytest.mark.parametrize("cache", [10, 1000])
def test_it_decides_what_an_agent_in_memory_decides_however_often_it_is_opened(path, cache, policy):
    asked, other = Lattice(), Lattice()
    agent = um.Agent(policy, oracle(other, cache=cache), seed=4, clock=lambda: 0.0)
    for opening in range(4):
        before = asked.calls
        graph = oracle(asked, cache=cache)
        with um.Campaign.open(path, policy, graph, seed=4, **QUICK) as campaign:
            assert asked.calls == before  # opening it asks nobody
            assert played(campaign, 60, opening) == played(agent, 60, opening)
    assert asked.calls == other.calls == agent.look_ups
    assert agent.look_up_counts["failed"] > 0
    log = look(path).history()
    answers = [json.loads(text) for text in log.filter(log["kind"] == "look-up")["data"]]
    assert len(answers) == asked.calls
    assert sum(answer is None for _, answer in answers) == agent.look_up_counts["failed"]
    assert look(path).agent.arms().equals(agent.arms())
    assert bool(verify(path))


def test_without_a_close_the_answers_are_folded_from_the_log(path):
    asked = Lattice()
    one = um.Campaign.open(path, None, oracle(asked), seed=4, **QUICK)
    played(one, 80, 0)
    before = asked.calls
    other = um.Campaign.open(path, None, oracle(asked), **QUICK)
    assert other.arms().equals(one.arms()) and asked.calls == before
    for turn in range(40):
        played((one, other)[turn % 2], 1, turn)
    assert other.arms().equals(one.arms())
    one.close()
    other.close()
    assert bool(verify(path))


def test_without_its_function_it_takes_rewards_but_cannot_look_up(path):
    with um.Campaign.open(path, None, lambda arm: [arm - 1, arm + 1], root=0, **QUICK) as campaign:
        made = campaign.decide(3)
    with um.Campaign.open(path, **QUICK) as campaign:
        assert campaign.reward([made[0].id, made[1].id], [0.0, 1.0]) == [True, True]
        before = campaign.history()
        with pytest.raises(um.UnimodalError, match=r"not kept in its file: pass it as graph=…"):
            for _ in range(100):
                number = campaign.decide().id
                before = campaign.history()
                campaign.reward(number, 1.0)
                before = campaign.history()
        assert campaign.history().equals(before)
    assert bool(verify(path))


def test_an_answer_for_another_arm_is_told(path):
    with um.Campaign.open(path, None, lambda arm: [arm - 1, arm + 1], root=0, **QUICK) as campaign:
        campaign.decide(5)
    connection = sqlite3.connect(path)
    changed = "UPDATE log SET data = replace(data, '[0,', '[7,') WHERE kind = 'look-up'"
    assert connection.execute(changed).rowcount > 0
    connection.commit()
    connection.close()
    verdict = verify(path)
    assert not verdict and "must have an answer for the neighbours of 0" in verdict.wrong[0]
    assert re.match(r"event \d+ of .* would be decided otherwise: ", verdict.wrong[0])


# Outside of the lock.


def integers(arm):
    return [arm - 1, arm + 1]


def test_nobody_waits_for_look_ups(path):
    """At ac7e735 a decision had the file for as long as its look-ups took."""
    asked, answer = threading.Event(), threading.Event()

    def slow(arm):
        if campaign is not None and arm != 0:
            asked.set()
            waited.append(answer.wait(10))
        return integers(arm)

    campaign, waited = None, []
    campaign = um.Campaign.open(path, um.UTS(start="literal"), slow, root=0, durability="fast")
    first = campaign.decide()
    other = um.Campaign.open(path, graph=integers, root=0, durability="fast")
    made = []

    def decide():
        while not asked.is_set():
            made.append(campaign.decide())
            campaign.reward(made[-1].id, float(made[-1].arm == 3))

    thread = threading.Thread(target=decide)
    campaign.reward(first.id, 0.0)
    thread.start()
    assert asked.wait(20)  # the decision waits for its look-up
    told = campaign.reward(first.id, 0.0), campaign.outstanding, other.outstanding, campaign.leader
    assert told[0] is False and told[1] == told[2]
    answer.set()
    thread.join(20)
    assert waited and all(waited) and not thread.is_alive()
    other.close()
    campaign.close()
    assert verify(path).wrong == []


def test_decisions_are_those_of_an_agent(path):
    """However often a decision is begun again, it is made as if all answers had been there."""

    def bumpy(arm):
        calls.append(arm)
        if arm % 5 == 3:
            raise ConnectionError("no route")
        return [arm - 1, arm + 1, arm + 7, arm - 7]

    calls = []
    oracle = um.Oracle(bumpy, root=0, retries=0)
    agent = um.Agent(um.ScoutUTS(), oracle, seed=3, clock=lambda: 0.0)
    expected, rewards = [], []
    for _ in range(60):
        expected += agent.decide(2)
        rewards = [float(d.arm % 10 == 0) for d in expected[-2:]]
        agent.reward([d.id for d in expected[-2:]], rewards)
    asked, calls = calls, []
    oracle = um.Oracle(bumpy, root=0, retries=0)
    settings = {"seed": 3, "clock": lambda: 0.0, "durability": "fast"}
    with um.Campaign.open(path, um.ScoutUTS(), oracle, **settings) as campaign:
        made = []
        for _ in range(60):
            made += campaign.decide(2)
            rewards = [float(d.arm % 10 == 0) for d in made[-2:]]
            campaign.reward([d.id for d in made[-2:]], rewards)
        assert made == expected and set(calls) == set(asked)
        assert campaign.agent.look_up_counts == agent.look_up_counts
        assert campaign._writer._look_ups.at_hand == {}
    assert verify(path).wrong == []


@pytest.mark.parametrize("kind", ["agent", "campaign"])
def test_the_look_ups_of_a_decision_have_a_deadline(path, kind):
    def slow(arm):
        calls.append(arm)
        time.sleep(0.02)
        return integers(arm)

    calls = []
    oracle = um.Oracle(slow, root=0, deadline=0.1)
    agent = (
        um.Agent(um.ScoutUTS(), oracle)
        if kind == "agent"
        else um.Campaign.open(path, um.ScoutUTS(), oracle, durability="fast")
    )
    agent.reward(agent.decide().id, 1.0)  # the root, without a look-up
    agent.decide()
    assert 2 <= len(calls) <= 5  # of some hundred that its walks would have made
    assert "the 0.1 s for the look-ups of one decision are over" in agent.reports[-1]
    before = len(calls)
    for _ in range(4):
        agent.decide()
    assert len(calls) > before  # each decision has its own
    if kind == "campaign":
        agent.close()
        assert verify(path).wrong == []


@pytest.mark.parametrize("kind", ["agent", "campaign"])
def test_a_decision_is_stamped_when_its_look_ups_are_done(path, kind):
    """At ac7e735 it could come back expired, if look-ups took longer than decisions live."""
    now = [0.0]

    def slow(arm):
        now[0] += 7.0
        return integers(arm)

    settings = {"root": 0, "time_to_live": 5.0, "clock": lambda: now[0]}
    agent = (
        um.Agent(um.UTS(start="literal"), slow, **settings)
        if kind == "agent"
        else um.Campaign.open(path, um.UTS(start="literal"), slow, **settings)
    )
    decision = agent.decide()
    assert decision.time == now[0] == 7.0
    assert agent.reward(decision.id, 1.0) is True
    if kind == "campaign":
        assert agent.history()["time"].is_sorted()
        agent.close()
        assert verify(path).wrong == []


def test_threads_that_need_the_same_answer_ask_once(path):
    calls = []

    def slow(arm):
        calls.append(arm)
        time.sleep(0.01)
        return integers(arm)

    campaign = um.Campaign.open(
        path, um.UTS(start="probe(2)"), slow, root=0, seed=2, durability="fast"
    )
    found = []

    def work():
        for _ in range(10):
            decision = campaign.decide()
            campaign.reward(decision.id, 1.0)
            found.append(decision.id)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(found) == list(range(1, 41))
    assert len(calls) == len(set(calls))
    campaign.close()
    assert verify(path).wrong == []


def test_a_neighbour_function_that_fails_leaves_a_campaign_that_goes_on(path):
    """An error of the function's own kind stops the call, and nothing of it is kept."""

    def neighbours(arm):
        if wrong:
            raise KeyboardInterrupt
        return integers(arm)

    wrong = []
    campaign = um.Campaign.open(path, um.UTS(start="literal"), neighbours, root=0)
    wrong.append(True)
    with pytest.raises(KeyboardInterrupt):
        campaign.decide()
    wrong.clear()
    assert campaign.decide().id == 1
    campaign.close()
    assert verify(path).wrong == []
