"""`decide(key=…)`: the same key gives the same decisions, in both stores."""

import contextlib
import sqlite3
import subprocess
import sys
import threading

import pytest

import unimodal as um
from unimodal.campaigns.stores import as_place, kind_of

LINE = um.graphs.line(5)


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, tmp_path):
    if request.param == "sqlite":
        return str(tmp_path / "campaign.db")
    return request.getfixturevalue("postgresql")()


@pytest.fixture
def opened(place):
    """Opens another handle each time it is called; all are closed at the end."""
    campaigns = []

    def another(graph=LINE, now=lambda: 0.0, **named):
        campaigns.append(
            um.Campaign.open(place, um.UTS(), graph, durability="fast", clock=now, **named)
        )
        return campaigns[-1]

    yield another
    for campaign in campaigns:
        campaign.close()


def crash(campaign):
    """Take the connection away, so that no snapshot is written."""
    campaign._writer._group.alone(campaign._store.close)


def kinds(place):
    found = um.verify(place)
    assert found.wrong == []
    return found.counts


def test_the_same_key_gives_the_same_decisions(opened, place):
    campaign = opened()
    one, many = campaign.decide(key="a"), campaign.decide(7, key="b", propensity=True)
    other = campaign.decide()
    campaign.reward(one.id, 1.0)
    assert campaign.decide(key="a") == one == campaign.decide(1, key="a")[0]
    assert campaign.decide(7, key="b") == many
    assert campaign.decide(key="c").id == other.id + 1
    assert kinds(place) == {"open": 1, "decide": 10, "key": 3, "reward": 1}


def test_also_after_a_crash_and_in_another_process(opened, place):
    first = opened()
    made = first.decide(3, key="visit 17")
    crash(first)
    assert opened().decide(3, key="visit 17") == made
    first = opened()
    first.close()  # with a snapshot, after which nothing is folded
    told = subprocess.run(
        [sys.executable, "-c", ELSEWHERE, place], capture_output=True, text=True, check=True
    )
    assert told.stdout.split() == [str(decision.id) for decision in made]
    assert kinds(place)["decide"] == 3


ELSEWHERE = """
import sys, unimodal
with unimodal.Campaign.open(sys.argv[1], clock=lambda: 0.0) as campaign:
    print(*(decision.id for decision in campaign.decide(3, key="visit 17")))
"""


def test_threads_and_handles_that_ask_at_once_get_the_same(opened, place):
    campaigns, found = [opened(), opened()], []

    def ask(campaign):
        found.append(campaign.decide(2, key="a"))

    threads = [threading.Thread(target=ask, args=(campaigns[n % 2],)) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [found[0]] * 12
    assert kinds(place)["decide"] == 2


def test_a_key_and_its_decisions_are_one_commit(opened, place, monkeypatch):
    campaign = opened()
    commit = campaign._store.commit

    def fail():
        raise um.errors.StoreError("the disk is full.")

    monkeypatch.setattr(campaign._store, "commit", fail)
    with pytest.raises(um.errors.StoreError, match="full"):
        campaign.decide(2, key="a")
    monkeypatch.setattr(campaign._store, "commit", commit)
    assert [decision.id for decision in campaign.decide(2, key="a")] == [1, 2]
    log = kind_of(as_place(place, "a test's")).read_store(
        as_place(place, "a test's"), lambda store: [row for rows in store.rows() for row in rows]
    )
    assert [row[2] for row in log] == ["open", "decide", "decide", "key"]


def test_a_key_lives_for_a_day_or_as_long_as_it_is_told(opened):
    now = [0.0]
    campaign, short = opened(now=lambda: now[0]), opened(now=lambda: now[0], key_lifetime=60)
    first = campaign.decide(key="a")
    now[0] = 86_399.0
    assert campaign.decide(key="a") == first
    second = short.decide(key="a")
    assert second.id == first.id + 1
    assert campaign.decide(key="a") == second  # the last one counts
    now[0] += 43_200.0
    assert campaign.decide(key="b").id == second.id + 1  # by which time goes on: no jump of a day
    now[0] += 43_200.0
    assert campaign.decide(key="a").id == second.id + 2


def test_a_key_is_kept_as_a_digest(opened, place):
    campaign = opened()
    campaign.decide(key="ann@example.com")
    assert "ann" not in "".join(filter(None, campaign.history()["data"]))


def test_the_arm_of_a_key_may_be_retired(opened):
    campaign = opened(um.graphs.from_edges([(("a", 1), "b"), ("b", 3), (3, 4.5)]))
    made = campaign.decide(4, key="a")
    assert {decision.arm for decision in made} == {("a", 1), "b", 3, 4.5}
    campaign.retire(("a", 1))
    campaign.add_edges([(4.5, "c")])
    assert campaign.decide(4, key="a") == made


def test_decisions_of_a_key_that_stop_at_a_look_up_go_on(opened, place):
    """A neighbour function that fails between two decisions: what was made is not made again."""
    asked = []

    def neighbours(arm):
        asked.append(arm)
        if len(asked) == 8:
            raise KeyboardInterrupt
        return [arm - 1, arm + 1]

    def again():
        return um.Campaign.open(
            place, um.ScoutUTS(), neighbours, root=0, durability="fast", clock=lambda: 0.0
        )

    with again() as campaign:
        with pytest.raises(KeyboardInterrupt):
            campaign.decide(30, key="a")
        before = kinds(place)["decide"]
        assert 0 < before < 30
        made = campaign.decide(30, key="a")
        assert [decision.id for decision in made] == list(range(1, 31))
    with again() as campaign:
        assert campaign.decide(30, key="a") == made
    assert kinds(place)["decide"] == 30


@pytest.mark.parametrize("key", ["", 17, b"a", True, ["a"]])
def test_a_key_must_be_text(opened, place, key):
    with pytest.raises(um.UnimodalError, match="'key' of decide must be a text"):
        opened().decide(key=key)
    assert "decide" not in kinds(place)


def test_a_key_is_for_one_number_of_decisions(opened, place):
    campaign = opened()
    campaign.decide(2, key="a")
    with pytest.raises(um.UnimodalError, match=r"this key was used for n=2 in decide, got n=3"):
        campaign.decide(3, key="a")
    assert kinds(place)["decide"] == 2


def test_a_lifetime_must_be_a_number(place):
    with pytest.raises(um.UnimodalError, match="'key_lifetime' of a campaign"):
        um.Campaign.open(place, um.UTS(), LINE, key_lifetime=0)


def test_a_file_is_of_a_later_format_only_if_it_has_keys(tmp_path):
    path = tmp_path / "campaign.db"

    def user_version():
        with sqlite3.connect(path) as connection:
            return connection.execute("PRAGMA user_version").fetchone()

    with um.Campaign.open(path, um.UTS(), LINE) as campaign:
        campaign.decide()
    assert user_version() == (2,)
    with um.Campaign.open(path) as campaign:
        campaign.cap(0.5)
    assert user_version() == (3,)
    with um.Campaign.open(path) as campaign:
        made = campaign.decide(key="a")
    assert user_version() == (4,)
    with um.Campaign.open(path) as campaign:
        campaign.cap(None)
        assert campaign.decide(key="a") == made
    assert user_version() == (4,) and um.verify(path)


def test_events_of_no_kind_are_told_or_left_and_never_a_traceback(path, start, tmp_path):
    """One stands among the decisions of a key, before the last snapshot, where nobody folds it."""
    with start() as campaign:
        made = campaign.decide(2, key="a")
    with contextlib.closing(sqlite3.connect(path)) as file, file:
        file.execute("UPDATE log SET kind = '[]' WHERE decision = 2")
    with um.Campaign.open(path) as campaign:
        assert campaign.decide(2, key="a")[0] == made[0]
    um.campaigns.copy(path, tmp_path / "copy.db", check=False)
    for refused in (lambda: um.campaigns.erase(path, "0"), lambda: um.campaigns.compact(path)):
        with pytest.raises(um.errors.StoreError, match="event 3 "):
            refused()
