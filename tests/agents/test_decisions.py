"""Decisions: ids, rewards that count once, batches, time to live, and files in the middle of it."""

import itertools
import json

import numpy as np
import polars as pl
import pytest

import unimodal as um
from unimodal.agents.decisions import Book, RewardsInMemory

LINE = um.graphs.line(5)


class Clock:
    """A clock that tests set."""

    def __init__(self, now=0.0):
        self.now = now

    def __call__(self):
        return self.now


def agent(clock=None, **named):
    return um.Agent(um.UTS(), LINE, seed=3, clock=clock or Clock(), **named)


def statistics(agent):
    frame = agent.arms()
    return {
        arm: (pulls, mean)
        for arm, pulls, mean in zip(frame["arm"], frame["pulls"], frame["mean"], strict=True)
        if pulls
    }


def total_pulls(agent):
    return sum(pulls for pulls, _ in statistics(agent).values())


def test_decisions_are_numbered_and_choose_what_ask_would():
    deciding, asking = agent(), um.Agent(um.UTS(), LINE, seed=3)
    for number in range(1, 60):
        decision = deciding.decide()
        assert (decision.id, decision.arm) == (number, asking.ask())
        assert (decision.reason, decision.leader) == (asking.reason, asking.leader)
        deciding.reward(decision.id, number % 2)
        asking.tell(decision.arm, number % 2)
    assert decision.leader is not None and decision.near in (2, 3)
    assert deciding.outstanding == 0


def test_a_decision_can_be_handed_on():
    decision = agent().decide(propensity=True)
    told = decision.to_dict()
    assert told == json.loads(decision.to_json())
    assert list(told) == ["id", "arm", "reason", "leader", "near", "time", "propensity"]
    assert (told["id"], told["arm"], told["propensity"]) == (1, decision.arm, 1.0)


def test_a_reward_counts_once_and_cannot_be_changed():
    one = agent()
    first, second = one.decide(2)
    assert one.reward(first.id, 1.0) is True
    assert one.reward(first.id, 1) is False and one.reward(first.id, np.float64(1)) is False
    with pytest.raises(um.UnimodalError, match="decision 1 has the reward 1 already, got 0"):
        one.reward(first.id, 0.0)
    assert statistics(one) == {first.arm: (1, 1.0)} and one.outstanding == 1
    assert one.reward(second.id, 0.0) is True and total_pulls(one) == 2


def test_rewards_late_and_in_any_order_leave_the_same_statistics():
    agents = [agent(), agent()]
    ids = [decision.id for decision in agents[0].decide(40)]
    assert ids == [decision.id for decision in agents[1].decide(40)]
    values = [float(number % 3 == 0) for number in ids]
    for number, value in zip(ids, values, strict=True):
        agents[0].reward(number, value)
    order = np.random.default_rng(0).permutation(40)
    for place in order:
        agents[1].reward(ids[place], values[place])
    assert statistics(agents[0]) == statistics(agents[1])
    assert [agents[0].decide().arm for _ in range(9)] == [agents[1].decide().arm for _ in range(9)]


def test_a_batch_counts_each_decision_once():
    one = agent()
    a, b, c = (decision.id for decision in one.decide(3))
    assert one.reward([a, b, a], [1, 0, 1]) == [True, True, False]
    assert one.reward(np.array([b, c]), np.array([0.0, 1.0])) == [False, True]
    assert one.reward((float(c),), (1,)) == [False]
    assert one.reward([], []) == []
    assert total_pulls(one) == 3


@pytest.mark.parametrize(
    ("ids", "rewards", "words"),
    [
        ([1, 2], [1, 0.5], "must be 0 or 1, got 0.5"),
        ([1, 9], [1, 1], "there is no decision 9"),
        ([1, 2, 1], [1, 1, 0], "decision 1 has the reward 1 already, got 0"),
        ([1, 2], [1], "as many ids as rewards, got 2 and 1"),
        (1, [1], "needs ids for its rewards, got 1"),
        ("12", [1, 1], "needs ids for its rewards, got '12'"),
        ([1, True], [1, 1], "the id of a decision must be a whole number"),
        ([1, 2], np.array(1.0), "needs ids for its rewards"),
        (np.array(1), np.array(1.0), "needs ids for its rewards"),
        (np.array(1), [1.0], "needs ids for its rewards"),
    ],
)
def test_a_batch_with_a_mistake_is_refused_as_a_whole(ids, rewards, words):
    one = agent()
    one.decide(2)
    with pytest.raises(um.UnimodalError, match=words):
        one.reward(ids, rewards)
    assert one.arms().height == 0 and one.outstanding == 2
    assert one.reward([1, 2], [1, 1]) == [True, True]


@pytest.mark.parametrize("kind", [list, tuple, np.array, pl.Series])
def test_a_batch_may_be_a_column_of_a_table(kind):
    one = agent()
    one.decide(3)
    assert one.reward(kind([1, 3]), kind([1.0, 0.0])) == [True, True]
    assert one.outstanding == 1


@pytest.mark.parametrize(
    ("reward", "words"),
    [
        ({1: 1.0}, "must be between 0 and 1, got {1: 1.0}"),
        (bytearray(b"1"), "must be between 0 and 1, got bytearray"),
        (float("nan"), "got nan"),
        (float("inf"), "got inf"),
        (True, "must be a number, got True: pass 1.0 or 0.0"),
        (np.True_, "must be a number, got np.True_: pass 1.0 or 0.0"),
        ("1", "got '1'"),
        (b"1", "must be between 0 and 1, got b'1'"),
        (None, "got None"),
        (0.5, "must be 0 or 1"),
        (1 + 0j, "got"),
    ],
)
def test_what_is_no_reward_gets_a_sentence(reward, words):
    one = agent()
    number = one.decide().id
    with pytest.raises(um.UnimodalError, match=words):
        one.reward(number, reward)
    assert one.outstanding == 1 and one.reward(number, 0) is True


@pytest.mark.parametrize(
    "number", [0, -1, True, "1", None, 1.5, float("nan"), [1], (1,), 2, 10**400]
)
def test_what_is_no_decision_gets_a_sentence(number):
    one = agent()
    with pytest.raises(um.UnimodalError, match="decision"):
        one.reward(1, 1)  # before there is any
    one.decide()
    with pytest.raises(um.UnimodalError, match="decision"):
        one.reward(number, 1)
    assert one.outstanding == 1 and one.arms().height == 0


@pytest.mark.parametrize("n", [0, -1, 1.5, "2"])
def test_a_wrong_number_of_decisions_gets_a_sentence(n):
    with pytest.raises(um.UnimodalError, match="'n' of decide"):
        agent().decide(n)


def test_a_decision_whose_time_is_over_is_dropped():
    clock = Clock()
    one = agent(clock, time_to_live=10)
    early = one.decide().id
    clock.now = 5.0
    late = one.decide().id
    clock.now = 9.9
    assert one.expire() == 0 and one.outstanding == 2
    clock.now = 10.0  # the tenth second is over
    with pytest.raises(um.UnimodalError, match=r"decision 1 has expired: .* later than 10 s"):
        one.reward(early, 1.0)
    assert one.reward(late, 1.0) is True
    assert one.outstanding == 0 and total_pulls(one) == 1
    clock.now = 100.0
    assert one.reward(late, 1.0) is False  # told again, long after: known, not expired


def test_a_refused_batch_expires_nothing_that_counts():
    clock = Clock()
    one = agent(clock, time_to_live=10)
    one.decide()
    clock.now = 20.0
    one.decide()
    with pytest.raises(um.UnimodalError, match="decision 1 has expired"):
        one.reward([2, 1], [1, 1])
    assert one.arms().height == 0 and one.reward(2, 1) is True


def test_a_decision_whose_time_is_over_counts_as_zero():
    clock = Clock()
    one = agent(clock, time_to_live=10, on_expiry="zero")
    first, second = one.decide(2)
    one.reward(second.id, 1.0)
    clock.now = 30.0
    assert one.expire() == 1 and one.expire() == 0
    assert statistics(one) == {first.arm: (1, 0.0), second.arm: (1, 1.0)}
    for value in (0.0, 1.0):
        with pytest.raises(um.UnimodalError, match="decision 1 has expired"):
            one.reward(first.id, value)
    assert total_pulls(one) == 2


@pytest.mark.parametrize("call", ["decide", "reward"])
def test_deciding_and_rewarding_expire_too(call):
    clock = Clock()
    one = agent(clock, time_to_live=10, on_expiry="zero", late="count")
    one.decide()
    clock.now = 5.0
    other = one.decide().id
    clock.now = 11.0
    one.decide() if call == "decide" else one.reward(other, 1.0)
    assert total_pulls(one) == (1 if call == "decide" else 2)
    assert 1 not in one._book.open


def test_without_a_time_to_live_nothing_expires():
    clock = Clock()
    one = agent(clock)
    one.decide()
    clock.now = 1e12
    assert one.expire() == 0 and one.reward(1, 1) is True


def test_a_clock_that_goes_back_makes_nothing_younger():
    clock = Clock(100.0)
    one = agent(clock, time_to_live=10)
    one.decide()
    clock.now = 40.0
    assert one.decide().time == 100.0  # the last time stands
    clock.now = 105.0
    assert one.decide().time == 105.0
    clock.now = 112.0
    assert one.expire() == 2 and one.outstanding == 1
    clock.now = 0.0
    with pytest.raises(um.UnimodalError, match="expired"):
        one.reward(1, 1.0)


def test_a_clock_of_whole_seconds_will_do():
    ticks = itertools.count(5)
    one = um.Agent(um.UTS(), LINE, clock=lambda: next(ticks))
    assert isinstance(one.decide().time, float)


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ({"time_to_live": 0}, "time_to_live must be a finite number greater than 0, got 0"),
        ({"time_to_live": -5}, "greater than 0, got -5"),
        ({"time_to_live": float("nan")}, "got nan"),
        ({"time_to_live": "1 h"}, "got '1 h'"),
        ({"time_to_live": True}, "got True"),
        ({"on_expiry": "dropp"}, "did you mean 'drop'"),
        ({"on_expiry": None}, "unknown on_expiry"),
    ],
)
def test_bad_settings_get_a_sentence(named, words):
    with pytest.raises(um.UnimodalError, match=words):
        agent(**named)


def test_a_family_without_zero_cannot_count_expiry_as_zero():
    with pytest.raises(um.UnimodalError, match="between 1 and 2, got 0"):
        um.Agent(um.UTS(), LINE, family=um.Bounded(1, 2), time_to_live=1, on_expiry="zero")


@pytest.mark.parametrize("on_expiry", ["drop", "zero"])
def test_a_file_in_the_middle_of_it_goes_on_the_same(tmp_path, on_expiry):
    clock = Clock()
    one = agent(clock, time_to_live=50, on_expiry=on_expiry)
    for step in range(60):
        clock.now = float(step)
        one.decide(2)
        if step % 3:
            one.reward(2 * step + 1, step % 2)
    other = um.Agent.load(one.save(tmp_path / "agent.json"))
    other.clock = clock
    assert other.outstanding == one.outstanding > 0
    for loaded in (one, other):
        assert loaded.reward(119, 1) is False  # told again after the load
        with pytest.raises(um.UnimodalError, match="already"):
            loaded.reward(119, 0)
        with pytest.raises(um.UnimodalError, match="expired"):
            loaded.reward(1, 1)
    for step in range(60, 120):
        clock.now = float(step)
        assert one.decide() == other.decide()
        assert one.reward(2 * step - 60, step % 2) == other.reward(2 * step - 60, step % 2)
        assert one.outstanding == other.outstanding
    assert statistics(one) == statistics(other)
    same = [json.loads(each.save(tmp_path / "a").read_text()) for each in (one, other)]
    assert same[0] == same[1]


def test_an_agent_that_never_decided_is_saved_too(tmp_path):
    one = um.Agent.load(agent(time_to_live=5).save(tmp_path / "new.json"))
    assert one.outstanding == 0 and one.decide().id == 1
    assert one._book.time_to_live == 5


def test_what_is_not_open_is_not_recorded():
    one, told = agent(), []
    one.decide()
    one.recorder = lambda *what: told.append(what)
    with pytest.raises(KeyError):
        one.settle(99, 1.0, 0.0)
    assert told == []


def test_minus_zero_is_zero():
    book = Book(um.Bounded(-1, 1))
    book.add(0, 0.0)
    assert str(book.news([(1, -0.0)], 0.0)[1]) == "0.0"


def test_outcomes_tell_a_missing_reward_from_one():
    outcomes = RewardsInMemory()
    outcomes.set(3, 0.0)
    assert [outcomes.get(number) for number in (1, 2, 3, 4)] == [None, None, 0.0, None]
    assert RewardsInMemory(outcomes.to_data()).to_data() == [None, None, 0.0]


@pytest.mark.parametrize("told", [float("nan"), float("inf"), "noon", None, 10**400])
def test_a_clock_that_tells_no_time_gets_a_sentence(told):
    with pytest.raises(um.UnimodalError, match="must tell a finite number of seconds"):
        agent(lambda: told).decide()
    with pytest.raises(um.UnimodalError, match="clock of an agent must be a function"):
        agent(5)
