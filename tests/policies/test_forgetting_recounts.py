"""Policies that forget, held to plain recounts: their indices, their restarts, their leads."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

import unimodal as um
from unimodal.engines.step import StepTrial


def kl(p, q):
    return sum(a * math.log(a / b) for a, b in ((p, q), (1 - p, 1 - q)) if a > 0)


def bound(rewards, budget):
    """KL-UCB's index of an arm with these rewards, by a root finder; infinite without any."""
    if not rewards:
        return math.inf
    mean = sum(rewards) / len(rewards)
    if mean == 1 or budget == 0:
        return mean
    return brentq(lambda u: len(rewards) * kl(mean, u) - budget, mean, 1 - 1e-15, xtol=1e-15)


def f(x):
    return math.log(x) + 3 * math.log(max(math.log(x), 1))


@pytest.mark.parametrize("window", [5, 40])
def test_a_windowed_policy_chooses_by_the_last_rewards_and_no_later_clock(window):
    """KL-UCB at c = 3, whose budget is f(min(t, window)); every round of a trial."""
    policy, problem = um.Windowed(um.KLUCB(), window=window), um.problems.triangular(7)
    trial = StepTrial(problem, policy, 2, 0, np.array([400]), history=True)
    trial.finish()
    arms, rewards = trial.output.arms.tolist(), trial.output.rewards.tolist()
    for now in range(1, 401):
        known = {arm: [] for arm in range(7)}
        for arm, reward in list(zip(arms, rewards, strict=True))[: now - 1][-window:]:
            known[arm].append(reward)
        indices = [bound(known[arm], f(min(now, window))) for arm in range(7)]
        assert indices[arms[now - 1]] >= max(indices) - 1e-12


def restarts_of(rewards, window, threshold):
    """The numbers of the rewards after which a plain recount of one arm's rewards restarts."""
    found, since = [], []
    for number, reward in enumerate(rewards):
        since.append(reward)
        if len(since) < window:
            continue
        half = window // 2
        older, newer = np.mean(since[-window:-half]), np.mean(since[-half:])
        middle = (older + newer) / 2
        if half * (kl(older, middle) + kl(newer, middle)) > threshold:
            found.append(number)
            since = []
    return found


@pytest.mark.parametrize(("arms", "window"), [(2, 8), (2, 12), (9, 20)])
def test_restarts_are_those_of_a_recount(arms, window):
    """All rewards are of arm 1; the threshold 2·log(4K/rate) is 4.16 or 7.17, for a rate of 1.

    Whole rewards have whole sums, so that there is no rounding: both restart at the same rewards.
    """
    rng, seen = np.random.default_rng(window), 0
    for seed in range(6):
        agent = um.Agent(
            um.Restarting(um.UTS(), window=window, rate=1), um.graphs.line(arms), seed=seed
        )
        means = np.repeat(rng.random(12), 25).round()  # of 0 or 1, with some noise
        rewards = np.where(rng.random(300) < 0.1, 1 - means, means).tolist()
        found = []
        for number, reward in enumerate(rewards):
            agent.tell(1, reward)
            if int(agent._player.state.memory.restarts[0]) > len(found):
                found.append(number)
        assert found == restarts_of(rewards, window, 2 * math.log(4 * arms))
        seen += len(found)
    assert seen > 10


def restarted():
    """An agent that led with arm 1 for 5 rounds, restarted in round 8 and has swept again."""
    agent = um.Agent(um.Restarting(um.UTS(), window=8, rate=1), um.graphs.line(3), seed=1)
    agent.ask(3)
    agent.tell([0, 1, 2], [0.0, 1.0, 0.0])
    agent.ask(5)
    assert agent.arms().filter(arm=1)["leads"].item() == 5
    agent.tell([1] * 8, [1.0] * 4 + [0.0] * 4)  # 5.5 > 2·log 12: see test_forgetting
    assert agent._player.state.memory.restarts.tolist() == [1, 8]
    assert sorted(agent.ask(3)) == [0, 1, 2]
    agent.tell([0, 1, 2], [0.0, 1.0, 0.0])
    return agent


def test_after_a_restart_leads_begin_anew():
    """Of 5 leads and one more the 7th would be forced; of none, the 1st and the 4th are."""
    agent = restarted()
    assert agent.arms()["leads"].to_list() == [0, 0, 0]
    reasons = []
    for _ in range(7):
        agent.ask()
        assert agent.leader == 1
        reasons.append(agent.reason == "forced leader")
    assert reasons == [True, False, False, True, False, False, True]
    assert agent.arms().filter(arm=1)["leads"].item() == 7


def test_after_a_restart_the_window_of_every_arm_is_empty():
    """Eight more rewards of an arm are needed, whatever it had before."""
    agent = restarted()
    assert agent._player.state.memory.learnt.tolist() == [1, 1, 1]
    agent.tell([1] * 6, [1.0] * 3 + [0.0] * 3)
    assert agent._player.state.memory.restarts[0] == 1
    agent.tell(1, 0.0)  # the eighth: 1 1 1 1 0 0 0 0
    assert agent._player.state.memory.restarts[0] == 2


def test_a_confidence_bound_counts_rounds_since_the_restart():
    """Restarting KL-UCB at every clock from the restart on, when nothing more is told."""
    state = {0: [1.0, 0.0], 1: [1.0] * 6 + [0.0] * 2, 2: [0.0] * 3}
    agent = um.Agent(um.Restarting(um.KLUCB(), window=100, rate=1), um.graphs.line(3), seed=1)
    agent.ask(300)
    agent.tell([1] * 100, [1.0] * 50 + [0.0] * 50)
    assert agent._player.state.memory.restarts.tolist() == [1, 300]
    for arm, rewards in state.items():
        agent.tell([arm] * len(rewards), rewards)
    chosen, by_rounds = [], []
    for since in range(1, 60):
        arm = agent.ask()
        indices = [bound(state[arm], f(since)) for arm in range(3)]
        assert indices[arm] >= max(indices) - 1e-12
        chosen.append(arm)
        by_rounds.append(int(np.argmax([bound(state[arm], f(300 + since)) for arm in range(3)])))
    assert len(set(chosen)) > 1 and by_rounds != chosen
