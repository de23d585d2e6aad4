"""What a call leaves behind that fails half-way: nothing; and how a commit gets to the disk."""

import sqlite3
import threading
import time

import pytest

import unimodal as um
from unimodal.campaigns import verify
from unimodal.campaigns.stores.sqlite import SqliteStore

LINE = um.graphs.line(7)
QUICK = {"durability": "fast", "clock": lambda: 0.0}


@pytest.mark.parametrize(("durability", "level"), [("full", 2), ("fast", 1)])
def test_a_commit_is_synced_to_the_disk_unless_it_is_to_be_fast(path, start, durability, level):
    """SQLite's levels: 2 is FULL, which syncs the -wal at every commit, 1 is NORMAL."""
    for _ in range(2):  # a new file, and one that is there
        with start(durability=durability) as campaign:
            campaign.decide()
            connection = campaign._store._connection
            assert connection.execute("PRAGMA synchronous").fetchone() == (level,)
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_full_durability_is_what_one_gets_unasked(path):
    with um.Campaign.open(path, um.UTS(), LINE) as campaign:
        assert campaign._store._connection.execute("PRAGMA synchronous").fetchone() == (2,)


class Moody(um.Policy):
    """Pulls any arm around the leader; fails in a round that a test says."""

    def choose(self, arms, near, leader, clock, rng):
        arm = near[um.random.randint(rng, len(near))]
        Moody.rounds += 1
        if Moody.rounds == Moody.bad_round:
            raise Moody.error
        return arm


@pytest.fixture
def moody():
    """A policy that fails in the round after next, and with what."""

    def at(rounds, error):
        Moody.rounds, Moody.bad_round, Moody.error = 0, rounds, error

    at(0, None)
    return at


def nobody_holds(path):
    """Whether somebody else can write at once."""
    other = sqlite3.connect(path, timeout=0, isolation_level=None)
    try:
        other.execute("BEGIN IMMEDIATE")
        other.execute("ROLLBACK")
        return True
    except sqlite3.OperationalError:
        return False
    finally:
        other.close()


@pytest.mark.parametrize(
    "error", [RuntimeError("mine"), um.UnimodalError("mine"), KeyboardInterrupt("mine")], ids=repr
)
def test_of_a_batch_that_fails_half_way_nothing_is_kept(path, moody, error):
    """Two of five decisions are made when the policy fails; then all goes on as if it had not."""
    campaign = um.Campaign.open(path, Moody(), LINE, seed=4, **QUICK)
    agent = um.Agent(Moody(), LINE, seed=4, clock=lambda: 0.0)
    assert campaign.decide(9) == agent.decide(9)
    before = campaign.history()
    moody(3, error)
    told = KeyboardInterrupt if isinstance(error, KeyboardInterrupt) else um.UnimodalError
    with pytest.raises(told, match="mine"):
        campaign.decide(5)
    assert nobody_holds(path)
    assert campaign.history().equals(before) and campaign.outstanding == 9
    assert campaign.reward(1, 1.0) == agent.reward(1, 1.0)
    assert campaign.decide(5) == agent.decide(5)
    assert campaign.arms().equals(agent.arms())
    campaign.close()
    assert bool(verify(path, Moody()))


@pytest.mark.parametrize("step", ["append", "commit"])
def test_of_a_call_that_cannot_be_written_nothing_is_kept(path, start, monkeypatch, step):
    """Whatever goes wrong there, and not only what SQLite reports."""
    campaign, agent = start(), um.Agent(um.UTS(), LINE, seed=4, clock=lambda: 0.0)
    assert campaign.decide(9) == agent.decide(9)
    before = campaign.history()
    for call in (lambda: campaign.decide(5), lambda: campaign.reward([1, 2], [1.0, 0.0])):
        with monkeypatch.context() as patch:
            patch.setattr(SqliteStore, step, lambda *_: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                call()
        assert nobody_holds(path)
        assert campaign.history().equals(before) and campaign.outstanding == 9
    assert campaign.reward([1, 2], [1.0, 0.0]) == agent.reward([1, 2], [1.0, 0.0]) == [True, True]
    assert campaign.decide(5) == agent.decide(5)
    campaign.close()
    assert bool(verify(path))


def test_of_a_reward_alone_that_cannot_be_written_nothing_is_kept(path, start, monkeypatch):
    """After some calls without another process, a reward is written in a statement of its own."""
    campaign = start()
    ids = [decision.id for decision in campaign.decide(60)]
    for number in ids[:50]:
        campaign.reward(number, 1.0)
    before = campaign.history()
    with monkeypatch.context() as patch:
        patch.setattr(SqliteStore, "append_at_once", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            campaign.reward(51, 1.0)
    assert nobody_holds(path) and campaign.history().equals(before)
    assert campaign.reward(51, 0.0) is True  # another value: the first was never told
    campaign.close()
    assert bool(verify(path))


def test_a_change_of_the_graph_whose_time_cannot_be_told_is_none(path, start):
    """The clock fails when the agent has the new graph already, and the log does not."""
    ticks = [0.0]
    campaign = start(clock=lambda: ticks[0] if ticks else 1 / 0)
    campaign.decide(9)
    before = campaign.history()
    ticks.clear()
    with pytest.raises(ZeroDivisionError):
        campaign.add_edges([(6, 7)])
    ticks.append(0.0)
    assert campaign.agent.graph.n_arms == 7 and campaign.history().equals(before)
    campaign.add_edges([(6, 7)])
    assert campaign.agent.graph.n_arms == 8
    campaign.close()
    assert bool(verify(path))


def test_calls_that_share_a_commit_with_one_that_fails_are_kept(path, moody):
    """Three threads call while a fourth commits; the policy fails one of the three."""
    inside, free = threading.Event(), threading.Event()

    def clock():
        if threading.current_thread().name == "slow":
            inside.set()
            assert free.wait(60)
        return 0.0

    campaign = um.Campaign.open(path, Moody(), LINE, seed=4, durability="fast", clock=clock)
    campaign.decide(9)
    answers = {}

    def work(name, call):
        try:
            answers[name] = call()
        except um.UnimodalError as error:
            answers[name] = str(error)

    def begin(name, call):
        thread = threading.Thread(target=work, args=(name, call), name=name)
        thread.start()
        return thread

    threads = [begin("slow", campaign.expire)]
    assert inside.wait(60)
    moody(2, RuntimeError("mine"))
    calls = {
        "one": lambda: campaign.reward(1, 1.0),
        "failing": lambda: campaign.decide(3),
        "two": lambda: campaign.reward(2, 1.0),
    }
    for number, (name, call) in enumerate(calls.items()):
        threads.append(begin(name, call))
        while len(campaign._writer._group._waiting) <= number:
            time.sleep(0.001)
    free.set()
    for thread in threads:
        thread.join(60)
    assert "RuntimeError: mine" in answers.pop("failing")
    assert answers == {"slow": 0, "one": True, "two": True}
    assert campaign.outstanding == 7 and campaign.decide().id == 10
    campaign.close()
    verdict = verify(path, Moody())
    assert verdict and verdict.counts["decide"] == 10 and verdict.counts["reward"] == 2
