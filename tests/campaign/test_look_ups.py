"""Campaigns behind a neighbour function: its answers are in the log, and nobody is asked twice."""

import json
import sqlite3

import numpy as np
import pytest

import unimodal as um
from unimodal.campaign import look, verify

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


@pytest.mark.parametrize("cache", [10, 1000])
def test_it_decides_what_an_agent_in_memory_decides_however_often_it_is_opened(path, cache):
    asked, other = Lattice(), Lattice()
    agent = um.Agent(None, oracle(other, cache=cache), seed=4, clock=lambda: 0.0)
    for opening in range(4):
        before = asked.calls
        graph = oracle(asked, cache=cache)
        with um.Campaign.open(path, None, graph, seed=4, **QUICK) as campaign:
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
