"""One thread runs at a time, in an order that the seed gives; who waits for ever is told."""

import random

import pytest

from unimodal.testing.simulation.stand_ins import Condition, Event, Lock, RLock, Thread
from unimodal.testing.simulation.turns import Crashed, Owner, Stuck, Turns


def order(seed):
    """In which order four threads come to three places each."""
    turns, came = Turns(), []
    turns.random = random.Random(seed)

    def work(who):
        for place in range(3):
            came.append((who, place))
            turns.pause()

    turns.run([turns.add(lambda who=who: work(who), Owner("a")) for who in range(4)])
    return came


def test_the_order_is_that_of_the_seed():
    assert order(1) == order(1) != order(2)
    assert sorted(order(1)) == [(who, place) for who in range(4) for place in range(3)]


def test_who_waits_for_each_other_is_told():
    turns = Turns()
    one, other = Lock(turns), Lock(turns)

    def take(first, second):
        with first:
            turns.wait(lambda: one.locked() and other.locked())
            with second:
                pass

    tasks = [
        turns.add(lambda: take(one, other), Owner("Ann")),
        turns.add(lambda: take(other, one), Owner("Bob")),
    ]
    with pytest.raises(Stuck, match="these wait for each other: Ann, Bob"):
        turns.run(tasks)


def test_who_is_killed_does_nothing_any_more():
    turns, owner, done = Turns(), Owner("a"), []

    def work():
        try:
            done.append(1)
            owner.crashed = True
            turns.pause()
            done.append(2)
        except Crashed:
            done.append("killed")
            raise

    turns.run([turns.add(work, owner)])
    assert done == [1, "killed"]


@pytest.mark.parametrize("seed", range(5))
def test_what_stands_for_threading_does_what_it_does(seed):
    turns, told = Turns(), []
    turns.random = random.Random(seed)
    lock, condition, event = RLock(turns), Condition(turns), Event(turns)

    def inner():
        with lock, lock:
            turns.pause()
            told.append("inner")
        event.set()
        with condition:
            condition.notify_all()

    def outer():
        thread = Thread(turns, target=inner)
        with lock:
            thread.start()
            turns.pause()
            told.append("outer")
        assert event.wait()
        thread.join()
        assert not thread.is_alive()

    def waits():
        with condition:
            assert condition.wait_for(event.is_set)
        told.append("waited")
        with condition:
            assert not condition.wait(0.1)  # nobody is left to notify

    turns.run([turns.add(outer, Owner("a")), turns.add(waits, Owner("b"))])
    assert told.index("outer") < told.index("inner") and "waited" in told
    assert turns.failures == []
