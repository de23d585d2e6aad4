"""Snapshots are written beside the work: nobody waits for them, and they are the log's fold."""

import json
import re
import shutil
import sqlite3
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

import unimodal as um
from unimodal.agents.saving import copied, whole_state
from unimodal.campaigns import known_rewards as rewards_in_log
from unimodal.campaigns import snapshots, state_text, verify

LINE = um.graphs.line(7)
DATA = Path(__file__).parents[1] / "data"


def test_nobody_waits_for_a_snapshot(path, start, play, monkeypatch):
    """At ac7e735 it was a part of the call that came upon it, and all others waited."""
    asked, go_on = threading.Event(), threading.Event()
    in_pieces = snapshots.state_in_pieces

    def slowly(agent):
        asked.set()
        assert go_on.wait(20)
        return in_pieces(agent)

    monkeypatch.setattr(snapshots, "SNAPSHOT_EVERY", 10)
    monkeypatch.setattr(snapshots, "state_in_pieces", slowly)
    campaign = start()
    play(campaign, 10)
    assert asked.wait(20)
    play(campaign, 30)  # while it is being written, of a state that is past
    assert verify(path).snapshots == []
    go_on.set()
    campaign._writer._snapshots._writer.join(20)
    (seq,) = verify(path).snapshots
    assert 10 <= seq <= 12 and verify(path).wrong == []
    campaign.close()
    assert verify(path).wrong == []


def test_rewards_before_a_snapshot_are_found_again(path, start, play, monkeypatch, value_of):
    """They are put where they are found in several transactions, before the snapshot is there."""
    monkeypatch.setattr(snapshots, "SNAPSHOT_EVERY", 60)
    monkeypatch.setattr(snapshots, "_REWARDS", 7)
    monkeypatch.setattr(rewards_in_log, "AT_HAND", 3)
    campaign = start()
    decisions = play(campaign, 50)
    campaign._writer._snapshots._writer.join(20)
    assert len(verify(path).snapshots) == 1
    for decision in decisions:
        value = value_of(decision.id)
        assert campaign.reward(decision.id, value) is False
        with pytest.raises(um.UnimodalError, match="already, got"):
            campaign.reward(decision.id, 1.0 - value)
    campaign.close()
    assert verify(path).wrong == []


def test_no_snapshot_is_kept_of_what_was_not_committed(path, start, play, monkeypatch):
    """The state after a call whose commit failed; others have written something else since."""
    monkeypatch.setattr(snapshots, "SNAPSHOT_EVERY", 10)
    campaign = start()
    play(campaign, 4)
    commit = campaign._store.commit

    def fail():
        campaign._store.commit = commit
        raise um.errors.StoreError("the disk is full.")

    campaign._store.commit = fail
    with pytest.raises(um.errors.StoreError, match="full"):
        campaign.decide(9)  # with which a snapshot is due
    if (writer := campaign._writer._snapshots._writer) is not None:
        writer.join(20)
    campaign.tell(0, 1.0)
    play(campaign, 10)
    campaign._writer._snapshots._writer.join(20)
    assert verify(path).wrong == [] and verify(path).snapshots
    campaign.close()
    assert verify(path).wrong == []


def test_closing_does_not_wait_for_a_snapshot_that_is_being_written(path, start, play, monkeypatch):
    asked, go_on = threading.Event(), threading.Event()

    def endless(agent):
        while True:
            asked.set()
            yield "x"

    monkeypatch.setattr(snapshots, "SNAPSHOT_EVERY", 10)
    monkeypatch.setattr(snapshots, "state_in_pieces", endless)
    campaign = start()
    play(campaign, 10)
    assert asked.wait(20)
    campaign.close()
    verdict = verify(path)
    assert verdict.wrong == [] and verdict.snapshots == [verdict.events]
    go_on.set()


def agents():
    """One of each kind whose state is kept in another way."""
    ring = {arm: [(arm - 1) % 40, (arm + 1) % 40] for arm in range(40)}
    yield um.Agent(um.UTS(), LINE)
    yield um.Agent(um.ScoutUTS(), um.graphs.line(40))
    yield um.Agent(um.Windowed(um.UTS(), window=9), LINE)
    yield um.Agent(um.Windowed(um.UTS(), window=100), LINE)
    yield um.Agent(um.Restarting(um.UTS(), window=8, rate=1), LINE)
    yield um.Agent(um.NPTS(), LINE, um.Bounded(0, 1))
    yield um.Agent(um.ScoutUTS(), um.Oracle(ring.__getitem__, root=3, cache=9))
    yield um.Agent(um.PeakUTS(), um.Oracle(ring.__getitem__, root=3, cache=9))


@pytest.mark.parametrize("agent", list(agents()), ids=lambda agent: repr(agent.policy))
def test_what_is_copied_stays_as_it_is(agent):
    def play(rounds):
        for _ in range(rounds):
            for decision in agent.decide(2)[:1]:
                agent.reward(decision.id, float(decision.id % 3 == 0))

    play(15)
    twin, before = copied(agent), json.dumps(whole_state(agent))
    play(25)
    assert json.dumps(whole_state(twin)) == before != json.dumps(whole_state(agent))


def test_text_in_pieces_is_the_text(monkeypatch):
    data = {"a": list(range(10)), "b": {}, "c": {"d": [], "e": None, "f": [[1, "x"]] * 7}, "g": "é"}
    monkeypatch.setattr(state_text, "_PIECE", 3)
    pieces = list(state_text._json_pieces(data))
    assert "".join(pieces) == json.dumps(data, separators=(",", ":")) and len(pieces) > 10


# Policies that keep rewards one by one.


def stored(path):
    connection = sqlite3.connect(path)
    (text,) = connection.execute("SELECT state FROM snapshots ORDER BY seq DESC").fetchone()
    connection.close()
    return text


@pytest.mark.parametrize("policy", ["Windowed", "Restarting"])
def test_a_snapshot_is_as_large_as_what_is_filled(path, play, policy):
    """A window of 10^9 took 205 bytes for each of its places: 12.5 GB, and 91 s until a SIGTERM."""
    wide = getattr(um, policy)(um.UTS(), window=10**6)
    named = {"durability": "fast", "clock": lambda: 0.0}
    with um.Campaign.open(path, wide, LINE, seed=4, **named) as campaign:
        play(campaign, 30)
        twin = copied(campaign.agent)._player.state.memory
        kept = [twin.ring] if policy == "Windowed" else twin.rewards
        assert sum(len(each) for each in kept) == 30
    assert len(stored(path)) < 2_000
    with um.Campaign.open(path, **named) as campaign:
        play(campaign, 30)
    assert len(stored(path)) < 3_000 and verify(path)


@pytest.mark.parametrize("name", ["windowed", "restarting"])
def test_a_campaign_whose_snapshots_have_room_that_was_not_filled_is_sound(path, name):
    """As commit b076057 wrote it, among them rewards of before a restart; it goes on from there."""
    shutil.copy(DATA / f"{name}-older.db", path)
    verdict = verify(path)
    assert verdict and verdict.snapshots == [101, 222], verdict.wrong
    with um.Campaign.open(path, durability="fast", clock=lambda: 1e6) as campaign:
        for decision in campaign.decide(20):
            campaign.reward(decision.id, 1.0)
    assert verify(path) and len(verify(path).snapshots) == 2
    um.campaigns.compact(path, path.with_suffix(".parquet"))
    assert verify(path, archives=[path.with_suffix(".parquet")])


@pytest.mark.parametrize(
    ("name", "change"),
    [
        (
            "windowed",
            (r'0\.0\]\],"learnt"', '1.0]],"learnt"'),
        ),  # room that was not filled, which is zeros
        ("windowed", (r'"ring":\[\[', '"ring":[[0.0,0.0,0.0],[')),
        ("windowed", (r'"ring":\[\[(\d)\.0,1\.0', r'"ring":[[\1.0,0.0')),
        ("restarting", (r'"rewards":\[\[1\.0', '"rewards":[[0.0')),
        ("restarting", (r'"learnt":\[', '"learnt":[1')),
        ("restarting", (r'"memory"', '"memories"')),
    ],
)
def test_an_older_snapshot_that_was_changed_is_not_the_fold(path, name, change):
    shutil.copy(DATA / f"{name}-older.db", path)
    connection = sqlite3.connect(path)
    text = connection.execute("SELECT state FROM snapshots WHERE seq = 101").fetchone()[0]
    other = re.sub(*change, text, count=1)
    assert other != text
    connection.execute("UPDATE snapshots SET state = ? WHERE seq = 101", (other,))
    connection.commit()
    connection.close()
    assert verify(path).wrong == ["the snapshot after event 101 is not the fold of the log"]


def test_a_snapshot_is_due_after_as_many_events_as_it_has_arms_or_open_decisions(monkeypatch):
    """Its size grows with both, and so does what it costs."""
    monkeypatch.setattr(snapshots, "SNAPSHOT_EVERY", 10)
    for arms, waiting, after in ((3, 4, 10), (30, 4, 30), (3, 40, 40)):
        agent = SimpleNamespace(known_arms=arms, outstanding=waiting)
        planned = snapshots.Snapshots(None, None)
        planned.plan(SimpleNamespace(seq=100, agent=agent))
        assert [planned.is_due(100 + after + more) for more in (-1, 0)] == [False, True]
