"""Snapshots are the fold of the log, and what was changed by hand is found."""

import itertools
import re
import sqlite3
import sys

import pytest

import unimodal as um
from unimodal.campaigns import sentence, snapshots, verify
from unimodal.campaigns.stores.sqlite import tables as sqlite_tables

LADDER = um.graphs.from_edges([("a", "b"), ("b", "c"), ("c", "d")])


def test_snapshots_are_the_fold_of_the_log(path, start, reopen, play, pulls, monkeypatch):
    monkeypatch.setattr(snapshots, "SNAPSHOT_EVERY", 10)
    campaign = start(LADDER, time_to_live=10)
    play(campaign, 20)
    campaign._writer._snapshots._writer.join()
    play(campaign, 20)
    campaign.decide(7)
    campaign._writer._snapshots._writer.join()
    verdict = verify(path)
    assert verdict and len(verdict.snapshots) == 2 and verdict.snapshots[0] < 30
    campaign.add_edges([("d", "e")])
    play(campaign, 20)
    campaign.close()
    verdict = verify(path)
    assert verdict and len(verdict.snapshots) == 2 and verdict.snapshots[1] == verdict.events
    assert verdict.counts["decide"] == 67 and verdict.counts["reward"] == 60
    assert "is sound" in sentence(verdict) and "decisions: 67, rewards: 60" in sentence(verdict)
    with reopen() as campaign:
        assert campaign.outstanding == 7 and sum(pulls(campaign).values()) == 60


def tampered(path, statement, *values):
    connection = sqlite3.connect(path)
    changed = connection.execute(statement, values).rowcount
    connection.commit()
    connection.close()
    assert changed > 0
    return verify(path)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE log SET reward = 1 - reward WHERE decision = 20 AND kind = 'reward'", ""),
        ("UPDATE log SET reward = NULL WHERE decision = 20 AND kind = 'reward'", "reward None"),
        ("UPDATE log SET reward = 'x' WHERE decision = 20 AND kind = 'reward'", "reward 'x'"),
        ("DELETE FROM log WHERE decision = 20 AND kind = 'reward'", "some are missing"),
        ("DELETE FROM log WHERE decision = 20 AND kind = 'decide'", "some are missing"),
        ("DELETE FROM log WHERE decision = 20", "some are missing"),
        ("DELETE FROM log WHERE decision = 50 AND kind = 'reward'", "the log has no event 101"),
        ("UPDATE log SET decision = 77 WHERE decision = 20 AND kind = 'reward'", "77, .* not open"),
        (
            "UPDATE log SET arm = (arm + 1) % 7 WHERE decision = 20 AND kind = 'decide'",
            "makes it decision 20",
        ),
        ("UPDATE log SET leader = 0, near = 2 WHERE decision = 20 AND kind = 'decide'", "makes it"),
        ("UPDATE log SET time = 5 WHERE decision = 50 AND kind = 'reward'", "not the fold"),
        (
            "UPDATE snapshots SET state = replace(state, '\"made\":50', '\"made\":51')",
            "not the fold",
        ),
        ("UPDATE snapshots SET state = substr(state, 2)", "not the fold"),
        ("UPDATE rewards SET reward = 1 - reward WHERE decision < 3", "'rewards' differs .* in 2"),
        ("DELETE FROM rewards WHERE decision = 20", "'rewards' differs from the log in 1"),
        ("INSERT INTO rewards VALUES (99, 1.0)", "'rewards' differs from the log in 1"),
        ("UPDATE settings SET value = '5' WHERE key = 'seed'", "makes it decision 1 "),
        ("UPDATE settings SET value = '{' WHERE key = 'policy'", "settings .* damaged"),
    ],
)
def test_tampering_is_found(path, start, play, statement, words):
    with start() as campaign:
        play(campaign, 50)
    assert bool(verify(path))
    verdict = tampered(path, statement)
    assert not verdict and "NOT sound" in sentence(verdict)
    found = " ".join(verdict.wrong)
    assert re.search(words, found), found


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("{", "must be a change of the graph"),
        ("{}", "must be a change of the graph"),
        ("[]", "must be a change of the graph"),
        (None, "is of kind revision with data None"),
        ('{"add": [5], "retire": [], "fingerprint": ""}', "must be a change of the graph"),
        ('{"add": [[0, 6]], "retire": [], "fingerprint": ""}', "makes another graph than it did"),
    ],
)
def test_a_damaged_change_of_the_graph_is_told(path, start, reopen, play, data, words):
    with start() as campaign:
        play(campaign, 8)
        campaign.add_edges([(6, 7)])
    verdict = tampered(path, "UPDATE log SET data = ? WHERE kind = 'revision'", data)
    assert not verdict and words in verdict.wrong[0]
    with pytest.raises(um.UnimodalError, match=r"change of the graph|another graph"):
        reopen()


def test_an_oracle_of_your_own_is_not_needed_to_verify(path):
    class Mine:
        root, cache = 0, 50

        def look_up(self, arm):
            return [arm - 1, arm + 1]

    with um.Campaign.open(path, graph=Mine()) as campaign:
        for _ in range(20):
            campaign.reward(campaign.decide().id, 1.0)
    assert um.verify(path)


DEEP = f"[0, [{'[' * 100}1{']' * 100}]]"
NO_LABELS = ["[0, [null]]", "[[NaN], [1]]", '[0, [{"a": 1}]]']


@pytest.mark.parametrize("data", ["[[", "{}", "[0, 5]", "[" * 10**5, DEEP, None, *NO_LABELS])
def test_a_damaged_look_up_is_told(path, reopen, data):
    def neighbours(arm):
        return [arm - 1, arm + 1]

    with reopen(graph=neighbours, root=0) as campaign:
        campaign.decide(5)
    verdict = tampered(path, "UPDATE log SET data = ? WHERE kind = 'look-up'", data)
    said = "must be the answer to a look-up" if data else "is of kind look-up with data None"
    assert not verdict and said in verdict.wrong[0]


@pytest.mark.parametrize("chunk", [1, 3, 1000])
def test_a_decision_may_be_older_than_the_look_ups_that_it_needed(path, reopen, monkeypatch, chunk):
    """It is of the time when it was asked for; wherever a reader pauses between them."""
    clock = itertools.count()
    monkeypatch.setattr(sqlite_tables, "CHUNK", chunk)
    settings = {"graph": lambda arm: [arm - 1, arm + 1], "clock": lambda: float(next(clock))}
    with reopen(root=0, **settings) as campaign:
        for _ in range(30):
            campaign.reward(campaign.decide().id, 1.0)
    times = um.inspect(path).history["time"]
    assert bool(verify(path)) and verify(path).counts["look-up"] > 10 and times.max() > 70
    tampered(path, "DELETE FROM snapshots")
    with reopen(**settings) as campaign:
        assert campaign.decide().id == 31
    verdict = tampered(path, "UPDATE log SET time = 0 WHERE seq = (SELECT max(seq) FROM log)")
    assert "is of time 0.0, after one of" in verdict.wrong[0]


def test_an_unknown_kind_of_event_is_told(path, start, play):
    with start() as campaign:
        play(campaign, 5)
    verdict = tampered(path, "UPDATE log SET kind = 'note' WHERE kind = 'open'")
    assert not verdict and "is of kind 'note'" in verdict.wrong[0]


def test_a_damaged_snapshot_is_told_when_opening(path, start, reopen, play):
    with start() as campaign:
        play(campaign, 5)
    tampered(path, "UPDATE snapshots SET state = '{}'")
    with pytest.raises(um.UnimodalError, match=r"after event 11 .* is damaged: delete"):
        reopen()
    assert tampered(path, "DELETE FROM snapshots").wrong == []
    with reopen() as campaign:
        assert campaign.decide().id == 6
    assert bool(verify(path))


def test_a_reward_that_stands_in_the_log_twice_is_found(path, start, play):
    with start() as campaign:
        play(campaign, 5)
    verdict = tampered(
        path,
        "INSERT INTO log SELECT (SELECT max(seq) + 1 FROM log), time, kind, decision, arm, reason, "
        "leader, near, propensity, reward, data FROM log WHERE kind = 'reward' AND decision = 2",
    )
    assert "closes decision 2, which is not open" in " ".join(verdict.wrong)


def test_verify_needs_a_campaign(tmp_path):
    with pytest.raises(um.UnimodalError, match="there is no file"):
        verify(tmp_path / "nothing.db")
    (tmp_path / "empty.db").touch()
    with pytest.raises(um.UnimodalError, match="is empty"):
        verify(tmp_path / "empty.db")


class Own(um.Policy):
    """A policy that verify cannot know by itself."""

    def choose(self, arms, near, leader, clock, rng):
        return near[0]


def test_a_policy_that_is_missing_or_another_says_nothing_about_the_file(path):
    with um.Campaign.open(path, Own(), um.graphs.line(5), durability="fast") as campaign:
        campaign.decide(20)
    for wrong in (None, um.UTS()):
        with pytest.raises(um.UnimodalError, match="Own"):
            verify(path, wrong)
    assert bool(verify(path, Own()))


@pytest.fixture
def as_version(monkeypatch):
    """Let another version of unimodal write the file."""

    def pretended(version):
        for name, module in list(sys.modules.items()):
            if name.startswith("unimodal.campaigns.") and hasattr(module, "__version__"):
                monkeypatch.setattr(module, "__version__", version)

    return pretended


def test_what_another_version_wrote_is_taken_over_by_a_snapshot(
    path, start, reopen, play, as_version
):
    """This version folds the log from there on, and what was before is as the other had it."""
    as_version("0.0.1")
    with start() as campaign:
        play(campaign, 20)
    assert verify(path).first == 0
    as_version("0.0.2")
    campaign = reopen()  # event 42, after 41 with the opening, 20 decisions and 20 rewards
    play(campaign, 5)
    (own,) = verify(path).snapshots
    assert own == 42
    campaign.close()
    verdict = verify(path)
    assert verdict and (verdict.first, verdict.events) == (42, 10)
    assert verdict.snapshots == [42, 52] and "since event 42" in sentence(verdict)
    # Another version might have decided otherwise: its decisions are not made again.
    changed = "UPDATE log SET arm = (arm + 1) % 7 WHERE kind = 'decide' AND decision "
    assert tampered(path, changed + "= 20").wrong == []
    assert "makes it decision 22" in tampered(path, changed + "= 22").wrong[0]


def test_a_file_that_goes_back_and_forth_keeps_the_snapshots_of_each_version(
    path, start, reopen, play, as_version
):
    """Which are the first, that with which it took over last, and the last."""
    as_version("0.0.1")
    with start() as campaign:
        play(campaign, 3)
    for version in ("0.0.2", "0.0.1", "0.0.2"):
        as_version(version)
        for _ in range(2):
            with reopen() as campaign:
                play(campaign, 3)
    connection = sqlite3.connect(path)
    kept = connection.execute("SELECT version, count(*) FROM snapshots GROUP BY version").fetchall()
    last = connection.execute("SELECT value FROM settings WHERE key = 'version'").fetchone()
    connection.close()
    assert last == ("0.0.2",)
    assert dict(kept) == {"0.0.1": 3, "0.0.2": 3}
    assert bool(verify(path))


@pytest.mark.parametrize("compacted", [(), (1,), (3,), (1, 3, 5)])
def test_a_file_that_goes_back_and_forth_between_versions_that_draw_differently_is_sound(
    path, start, reopen, play, as_version, compacted
):
    """At b076057 it was not, for ever, and could not be compacted."""
    archives = []
    for number in range(6):
        as_version(("0.0.1", "0.0.2")[number % 2])
        with reopen() if number else start() as campaign:
            if number % 2 == 0:  # this version draws otherwise than the one that verifies
                campaign._writer._fold.state.agent._player.state.rng[:4] ^= number + 1
            play(campaign, 15)
        if number in compacted:
            archives.append(um.campaigns.compact(path).archive)
    for _ in range(2):  # also when it was opened again by the same version
        assert verify(path).wrong == verify(path, archives=archives).wrong == []
        with reopen() as campaign:
            play(campaign, 5)
    archives.append(um.campaigns.compact(path).archive)
    with reopen() as campaign:
        play(campaign, 5)
    verdict = verify(path, archives=archives)
    assert verdict.wrong == [] and verdict.counts["decide"] == 105
    as_version("0.0.3")  # which has not opened it
    changed = "UPDATE log SET arm = (arm + 1) % 7 WHERE kind = 'decide' AND decision = 104"
    assert "open and close it with this version" in tampered(path, changed).wrong[0]
    reopen().close()
    assert bool(verify(path))
