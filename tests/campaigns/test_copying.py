"""Copies have all of a campaign, or are not there; exports have its log for other programs."""

import json
import os
import subprocess
import sys
import threading

import polars as pl
import pytest

import unimodal as um
from unimodal.campaigns.content_digests import content_of
from unimodal.campaigns.stores import sqlite
from unimodal.campaigns.upkeep import copy as copying
from unimodal.errors import StoreError

LADDER = um.graphs.from_edges([("Größe S", "M"), ("M", "L"), ("L", "<XL>")])


def content(path):
    return sqlite.read_store(path, content_of)


@pytest.fixture
def played(path, start, play):
    """A closed campaign with a change of its graph, open decisions and a reward told."""
    with start(LADDER, time_to_live=10) as campaign:
        play(campaign, 30)
        campaign.add_edges([("<XL>", 7)])
        campaign.tell("M", 1.0)
        campaign.decide(3, propensity=True)
    return path


def test_a_copy_has_the_same_content_and_goes_on(played, tmp_path, reopen):
    target = tmp_path / "copies" / "copy.db"
    seen = []
    copied = um.campaigns.copy(played, target, progress=lambda *at: seen.append(at))
    assert content(target) == content(played) and copied.verdict
    assert seen[-1] == (copied.events, copied.events)
    assert sorted(p.name for p in target.parent.iterdir()) == ["copy.db"]
    one, two = (um.Campaign.open(p, clock=lambda: 0.0) for p in (played, target))
    assert [d.to_dict() for d in one.decide(20)] == [d.to_dict() for d in two.decide(20)]
    assert two.reward(1, one.history()["reward"].drop_nulls()[0]) is False
    one.close()
    two.close()


def test_a_copy_is_of_one_moment_while_others_write(path, start, play, tmp_path):
    campaign = start()
    play(campaign, 400)
    writing, stop = threading.Event(), threading.Event()

    def write():
        while not stop.is_set():
            campaign.reward(campaign.decide().id, 1.0)
            writing.set()

    writer = threading.Thread(target=write)
    writer.start()
    writing.wait(30)
    try:
        copied = um.campaigns.copy(path, tmp_path / "copy.db")
    finally:
        stop.set()
        writer.join()
    assert copied.verdict and 800 < copied.events < campaign.history().height
    log = content(path).log  # of the whole, of which the copy is a prefix
    campaign.close()
    rows = [row for some in sqlite.read_store(path, lambda s: list(s.rows())) for row in some]
    again = sqlite.read_store(tmp_path / "copy.db", lambda s: list(s.rows()))
    assert [row for some in again for row in some] == rows[: copied.events]
    assert log != content(tmp_path / "copy.db").log


def test_a_copy_that_differs_is_not_kept(played, tmp_path, monkeypatch):
    put = sqlite.SqliteStore.put

    def forgetful(store, *, rewards=(), **rest):
        put(store, rewards=list(rewards)[1:], **rest)

    monkeypatch.setattr(sqlite.SqliteStore, "put", forgetful)
    with pytest.raises(StoreError, match="did not come back as it was written"):
        um.campaigns.copy(played, tmp_path / "copy.db")
    assert os.listdir(tmp_path) == [played.name]


def test_a_copy_of_what_is_not_sound_says_so(played, tmp_path):
    import sqlite3

    connection = sqlite3.connect(played)
    connection.execute("UPDATE log SET reward = 1 - reward WHERE decision = 3 AND kind = 'reward'")
    connection.commit()
    connection.close()
    copied = um.campaigns.copy(played, tmp_path / "copy.db")
    assert content(played) == content(tmp_path / "copy.db") and not copied.verdict
    assert um.campaigns.copy(played, tmp_path / "quick.db", check=False).verdict is None


KILLED = """
import os, signal, sys
import unimodal as um
def progress(done, of):
    os.kill(os.getpid(), signal.SIGKILL)
um.campaigns.copy(sys.argv[1], sys.argv[2], progress=progress)
"""


@pytest.mark.full
def test_a_killed_copy_leaves_no_target(played, tmp_path):
    target = tmp_path / "copy.db"
    killed = subprocess.run([sys.executable, "-c", KILLED, str(played), str(target)], timeout=120)
    assert killed.returncode == -9 and not target.exists()
    assert um.campaigns.copy(played, target).verdict


@pytest.mark.parametrize(
    ("source", "target", "words"),
    [
        ("nowhere.db", "copy.db", "there is no file"),
        (".", "copy.db", "must be a campaign's file"),
        ("campaign.db", "campaign.db", "there is a file .* already"),
        ("campaign.db", "text.txt", "there is a file .* already"),
        ("text.txt", "copy.db", "must be a campaign's file"),
        ("campaign.db", "text.txt/copy.db", "cannot be written"),
    ],
)
def test_what_cannot_be_copied_is_told_in_a_sentence(played, tmp_path, source, target, words):
    (tmp_path / "text.txt").write_text("no campaign")
    before = content(played), sorted(os.listdir(tmp_path))
    with pytest.raises(um.UnimodalError, match=words):
        um.campaigns.copy(tmp_path / source, tmp_path / target)
    assert (content(played), sorted(os.listdir(tmp_path))) == before


def test_a_path_must_be_one():
    with pytest.raises(um.UnimodalError, match="the source of a copy must be a file's name"):
        um.campaigns.copy(7, "copy.db")
    assert copying.Copied("a", "b", 3, None).events == 3


# Exports.


def test_an_export_has_the_history(played, tmp_path, reopen):
    written = um.campaigns.export(played, tmp_path / "log.parquet")
    with reopen() as campaign:
        history = campaign.history()
    assert pl.read_parquet(written.target).equals(history[: written.rows])
    lines = um.campaigns.export(played, tmp_path / "log.ndjson").target.read_text().splitlines()
    rows = list(map(json.loads, lines))
    assert len(rows) == written.rows + 1  # the opening in between
    assert {row["arm"] for row in rows} >= {"Größe S", "<XL>"}


def test_an_export_by_decision_has_rewards_beside_them(played, tmp_path, value_of):
    target = um.campaigns.export(played, tmp_path / "log.parquet", rows="decisions").target
    frame = pl.read_parquet(target)
    assert frame["decision"].to_list() == list(range(1, 34))
    assert frame["reward"].to_list() == [value_of(n) for n in range(1, 31)] + [None] * 3
    assert frame["outcome"].to_list() == ["reward"] * 30 + [None] * 3
    assert frame["propensity"].null_count() == 30


@pytest.mark.parametrize(
    ("target", "rows", "words"),
    [
        ("log.csv", "events", "name it ….parquet or ….ndjson"),
        ("campaign.parquet", "event", "did you mean 'events'"),
        ("there.parquet", "events", "there is a file .* already"),
    ],
)
def test_what_cannot_be_exported_is_told_in_a_sentence(played, tmp_path, target, rows, words):
    (tmp_path / "there.parquet").touch()
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(um.UnimodalError, match=words):
        um.campaigns.export(played, tmp_path / target, rows)
    assert sorted(os.listdir(tmp_path)) == before
