"""Agents whose rewards come late: they weigh, hold back or count; and are what the engine plays."""

import heapq
import math

import numpy as np
import pytest

import unimodal as um
from unimodal.agents.saving import in_state, whole_state
from unimodal.engines.late import DELAYS, Lateness, LateTrial
from unimodal.kernels.random import REWARDS, exponential, stream, uniform

LINE = um.graphs.line(6)
PROBLEM = um.Problem(LINE, [0.1, 0.2, 0.35, 0.5, 0.3, 0.2])
LIVES, A_DAY = 7.0, 20.0
ZEROS = um.delays.Exponential(mean=0.5)


class Shop:
    """An agent, a clock, and rewards on their way, from the streams of a trial."""

    def __init__(self, policy, late, zeros=False, graph=LINE, **more):
        self.now = 0.0
        self.rewards, self.delays = stream(3, 0, REWARDS), stream(3, 0, DELAYS)
        self.zeros, self.coming, self.arms = zeros, [], []
        clock = {"time_to_live": LIVES, "on_expiry": "zero", "clock": lambda: self.now}
        self.agent = um.Agent(policy, graph, seed=3, late=late, **clock, **more)

    def visit(self, times=1):
        for _ in range(times):
            time = (len(self.arms) + 1) * (1 / A_DAY)
            while self.coming and self.coming[0][0] <= time:
                self.now, number, reward = heapq.heappop(self.coming)
                self.agent.reward(number, reward)
            self.now = time
            decision = self.agent.decide()
            self.arms.append(decision.arm)
            reward = float(uniform(self.rewards) < PROBLEM.means[decision.arm])
            if reward or self.zeros:
                delay = (1.0 if reward else 0.5) * exponential(self.delays)
                if delay < LIVES:
                    heapq.heappush(self.coming, (time + delay, decision.id, reward))
        return self


def played(policy, late, rounds, zeros=None):
    lateness = Lateness(um.delays.Exponential(mean=1.0), LIVES, late, A_DAY, zeros)
    trial = LateTrial(PROBLEM, policy, 3, 0, np.array([rounds]), True, lateness)
    trial.finish()
    return trial.output.arms.tolist()


@pytest.mark.parametrize(
    ("policy", "late"),
    [(um.UTS(), "weigh"), (um.UTS(), "hold"), (um.UTS(), "count"), (um.PeakUTS(), "weigh")],
)
def test_the_engine_plays_what_an_agent_does(policy, late):
    assert Shop(policy, late).visit(600).arms == played(policy, late, 600)


@pytest.mark.parametrize("late", ["weigh", "count"])
def test_and_where_zeros_are_told_too(late):
    assert Shop(um.UTS(), late, zeros=True).visit(600).arms == played(um.UTS(), late, 600, ZEROS)


class Lowest(um.Policy):
    """The least pulled arm around the leader, in plain Python."""

    def choose(self, arms, near, leader, clock, rng):
        return min(near, key=lambda arm: arms[arm].pulls)


@pytest.mark.parametrize("policy", [um.OSUB(), Lowest()])
def test_indices_and_policies_of_users_weigh_too(policy):
    assert Shop(policy, "weigh").visit(150).arms == played(policy, "weigh", 150)


@pytest.mark.parametrize("policy", [um.IMED(), um.MINTS()])
def test_so_do_policies_by_divergence(policy):
    shop = Shop(policy, "weigh").visit(150)
    records = shop.agent._player.state.arms
    assert (records["pulls"] % 1 > 0).any() and (records["total"] <= records["pulls"]).all()


def test_weighing_is_the_default_where_silence_counts_as_zero():
    assert um.Agent(graph=LINE, time_to_live=5, on_expiry="zero").late == "weigh"
    assert um.Agent(graph=LINE, time_to_live=5).late == "count"
    assert um.Agent(graph=LINE, on_expiry="zero").late == "count"  # nothing expires
    forgets = um.Windowed(um.UTS(), window=50)
    assert um.Agent(forgets, LINE, time_to_live=5, on_expiry="zero").late == "count"


@pytest.mark.parametrize("late", ["weigh", "hold"])
@pytest.mark.parametrize("rounds", [1, 7, 200, 441])
def test_a_file_goes_on_exactly(late, rounds, tmp_path):
    shop = Shop(um.UTS(), late, zeros=True).visit(rounds)
    loaded = um.Agent.load(shop.agent.save(tmp_path / "agent.json"))
    loaded.clock = shop.agent.clock
    assert whole_state(loaded) == whole_state(shop.agent)
    other = Shop(um.UTS(), late, zeros=True).visit(rounds)
    other.agent = loaded
    loaded.clock = lambda: other.now
    assert shop.visit(150).arms == other.visit(150).arms
    assert whole_state(loaded) == whole_state(shop.agent)


@pytest.mark.parametrize("late", ["weigh", "hold"])
def test_a_copy_stays_as_it_is(late):
    shop = Shop(um.UTS(), late).visit(100)
    data = whole_state(shop.agent)
    again = in_state(shop.agent, data)
    shop.visit(50)
    assert whole_state(again) == data != whole_state(shop.agent)


@pytest.mark.parametrize("late", ["weigh", "hold"])
def test_certificates_count_what_was_told(late):
    shop = Shop(um.UTS(), late).visit(300)
    counting = Shop(um.UTS(), "count")
    for arm in shop.arms:  # the same decisions and rewards, as an agent that counts has them
        counting.now = (len(counting.arms) + 1) / A_DAY
        counting.agent._book.add(LINE.arm_of(arm), counting.now)
        counting.arms.append(arm)
    outcomes = shop.agent.book.outcomes
    for number in range(1, 301):
        reward = outcomes.get(number)
        is_over = reward is None and number not in shop.agent.book.open
        if reward is not None or is_over:
            counting.agent.settle(number, reward, shop.now)
    assert shop.agent.certificate().rewards == counting.agent.certificate().rewards
    assert shop.agent.certificate().confidence == counting.agent.certificate().confidence


def test_paused_arms_do_not_lead():
    shop = Shop(um.UTS(), "weigh").visit(200)
    shop.agent.pause(3)
    assert 3 not in shop.visit(200).arms[200:]
    shop.agent.resume(3)
    assert 3 in shop.visit(400).arms[400:]


def test_a_graph_known_by_look_up():
    near = {n: [m for m in (n - 1, n + 1) if 0 <= m < 40] for n in range(40)}
    agent = um.Agent(um.ScoutUTS(), near.__getitem__, root=0, time_to_live=50, on_expiry="zero",
                     clock=iter(range(10**6)).__next__)  # fmt: skip
    for _ in range(300):
        decision = agent.decide()
        if decision.id % 3:
            agent.reward(decision.id, 1.0)
    assert agent.late == "weigh" and agent.known_arms > 1


def test_the_time_of_an_outcome_decides_how_late_it_was():
    one, other = (Shop(um.UTS(), "weigh") for _ in range(2))
    for shop in (one, other):
        shop.visit(5)
    one.now = 2.0
    one.agent.reward(1, 1.0)
    one.now = other.now = 4.0
    other.agent.reward([1], [1.0], time=[2.0])
    one.agent.reward(2, 0.0, time=3.0)
    other.agent.reward(2, 0.0, time=3.0)
    delays = [shop.agent._player.late.arrays.numbers[1:3] for shop in (one, other)]
    assert np.array_equal(*delays) and delays[0].sum() == 2


def test_what_happened_in_time_counts_though_it_is_told_late():
    shop = Shop(um.UTS(), "weigh").visit(1)
    shop.now = 100.0
    assert shop.agent.reward(1, 1.0, time=3.0)
    late = Shop(um.UTS(), "weigh").visit(1)
    late.now = 100.0
    with pytest.raises(um.errors.ExpiredDecision):
        late.agent.reward(1, 1.0, time=50.0)


@pytest.mark.parametrize(
    ("time", "said"),
    [
        (0.01, "must lie between its decision"),
        (99.0, "must lie between its decision"),
        (math.nan, "the 'time' of reward"),
        ("noon", "the 'time' of reward"),
        ([1.0, 2.0], "as many times as rewards"),
    ],
)
def test_times_that_cannot_be(time, said):
    shop = Shop(um.UTS(), "weigh").visit(1)
    with pytest.raises(um.UnimodalError, match=said):
        shop.agent.reward([1], [1.0], time=time)
    assert shop.agent.outstanding == 1


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ({"late": "soon"}, "weigh"),
        ({"late": "weigh", "on_expiry": "drop"}, "goes with a time_to_live"),
        ({"late": "hold", "time_to_live": None}, "goes with a time_to_live"),
        ({"late": "weigh", "family": um.Bounded(-1, 1)}, "must begin at 0"),
        ({"late": "weigh", "policy": um.NPTS(), "family": um.Bounded()}, "keeps every reward"),
        ({"late": "weigh", "policy": um.Windowed(um.UTS(), window=9)}, "forgets"),
    ],
)
def test_rules_that_do_not_fit(named, said):
    with pytest.raises(um.UnimodalError, match=said):
        um.Agent(**{"graph": LINE, "time_to_live": 5, "on_expiry": "zero", **named})


@pytest.mark.parametrize("name", ["notes", "left", "shares", "sums", "young", "last", "rule"])
def test_a_damaged_state_is_refused(name):
    agent = Shop(um.UTS(), "weigh").visit(100).agent
    data = whole_state(agent)
    for damage in ([], [-5] * 10, [[10**9] * 4] * 100, "x", None):
        with pytest.raises(ValueError):
            in_state(agent, {**data, "late": {**data["late"], name: damage}})
