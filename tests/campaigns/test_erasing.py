"""A label that is erased is nowhere any more, and the campaign goes on; so with an arm's data."""

import json
import os
import re
import sqlite3
from pathlib import Path

import polars as pl
import pytest

import unimodal as um
from unimodal.campaigns import archives as archive
from unimodal.campaigns import sentence
from unimodal.campaigns.reading import read_table
from unimodal.campaigns.stores import sqlite
from unimodal.campaigns.stores.sqlite.connection import SqliteConnection

NAME = "Dora Bytesize"
PEOPLE = um.graphs.from_edges([("Ann", "Bob"), ("Bob", "Cy"), ("Cy", NAME)])


def log(path):
    return sqlite.read_store(path, lambda s: [row for rows in s.rows() for row in rows])


def pieces(folder):
    """The names of files that still have the name in them."""
    return [p.name for p in folder.iterdir() if p.suffix != ".parquet" and NAME in text(p)]


def text(path):
    return path.read_bytes().decode("utf-8", "replace")


@pytest.fixture
def people(path, start, play):
    """A closed campaign in whose log a name stands in every place where one can."""
    with start(PEOPLE, data={NAME: (3, 3.0), "Ann": (3, 2.0), "Bob": (3, 1.0)}) as campaign:
        play(campaign, 20)
        campaign.pause(NAME)
        campaign.resume(NAME)
        campaign.cap(0.9)
        campaign.add_edges([(NAME, "Eve")])
        campaign.tell(NAME, 1.0)
        play(campaign, 20)
    return path


def test_a_label_is_nowhere_any_more_and_the_log_folds_as_before(people, tmp_path):
    before, whole = log(people), um.verify(people)
    assert pieces(tmp_path) == [people.name]
    found = um.campaigns.erase(people, NAME)
    assert found.label == "erased-1" and found.is_clean and not pieces(tmp_path)
    after = log(people)
    assert len(after) == len(before) + 1 and after[-1][2] == "erase"
    changed = [row[2] for row, old in zip(after, before, strict=False) if row != old]
    assert len(changed) == found.events and {"data", "limit", "revision", "tell"} <= set(changed)
    verdict = um.verify(people)
    assert verdict and verdict.first == 0 and verdict.snapshots == [*whole.snapshots, len(after)]
    assert "Not checked: what the arm erased-1 was called, which was erased." in sentence(verdict)
    assert "verify can no longer check: what the arm erased-1 was called" in str(found)
    assert NAME not in str(um.inspect(people)) and NAME not in str(read_table(people))


def test_nothing_is_left_in_pages_that_are_free(people):
    """As those of snapshots that were deleted long ago."""
    connection = sqlite3.connect(people)
    connection.execute("PRAGMA secure_delete = OFF")
    connection.execute("INSERT INTO snapshots VALUES (1000, 'x', ?)", (1000 * NAME,))
    connection.commit()
    connection.execute("DELETE FROM snapshots WHERE seq = 1000")
    connection.commit()
    connection.close()
    assert text(people).count(NAME) > 900
    um.campaigns.erase(people, NAME)
    assert NAME not in text(people)


def test_factors_by_label_go_with_it(path, start, play):
    family = um.Scaled(um.Bernoulli(), by=dict(zip(PEOPLE.labels, (1, 2, 3, 4), strict=True)))
    with start(PEOPLE, family=family) as campaign:
        play(campaign, 20)
    um.campaigns.erase(path, NAME)
    assert NAME not in text(path) and um.verify(path).first == 0
    with um.Campaign.open(path) as campaign:
        assert campaign.agent.family.factors(["erased-1"]) == 4


def test_who_has_the_campaign_open_goes_on_with_the_new_label(people, reopen, play):
    taken, passed = reopen(), reopen(graph=PEOPLE)
    play(passed, 1)
    found = um.campaigns.erase(people, NAME)
    assert found.is_clean and not pieces(people.parent)  # nor in the -wal, which is in use
    play(taken, 10)
    assert found.label in taken.agent.graph.labels and NAME not in taken.agent.graph.labels
    with pytest.raises(um.errors.OtherCampaign, match="is another campaign: its graph"):
        passed.decide()
    with pytest.raises(um.errors.OtherCampaign):
        passed.reward(1, 1.0)
    taken.close()
    passed.close()
    assert um.verify(people) and NAME not in text(people)


def test_a_neutral_label_is_no_other_arm_s(people, reopen):
    with reopen() as campaign:
        campaign.add_edges([("Ann", "erased-1"), ("Ann", "erased-2")])
    assert um.campaigns.erase(people, NAME).label == "erased-3"
    assert um.campaigns.erase(people, "Bob").label == "erased-4"
    assert um.campaigns.erase(people, "erased-1").label == "erased-5"
    verdict = um.verify(people)
    assert verdict and verdict.first == 0 and len(verdict.unchecked) == 3


def test_archives_are_written_anew(people, reopen, play, tmp_path):
    first = um.campaigns.compact(people).archive
    with reopen() as campaign:
        play(campaign, 10)
    second = um.campaigns.compact(people).archive
    twins = [archive.read_archive(p)[0] for p in (first, second)]
    with pytest.raises(um.UnimodalError, match="pass all archives, so that the label is erased"):
        um.campaigns.erase(people, NAME)
    with pytest.raises(um.UnimodalError, match="which is none of"):
        um.campaigns.erase(people, NAME, archives=[first])
    assert sorted(os.listdir(tmp_path)) == sorted(p.name for p in (people, first, second))
    found = um.campaigns.erase(people, NAME, archives=[second, first])
    assert not first.exists() and not second.exists() and len(found.archives) == 2
    for path, old in zip(found.archives, twins, strict=True):
        frame, _ = archive.read_archive(path)
        assert NAME not in frame.write_csv() and len(frame) == len(old)
    assert um.verify(people) and um.verify(people, archives=found.archives).first == 0
    again = um.campaigns.erase(people, "Ann", archives=found.archives)
    assert [p.name for p in again.archives] == [
        f"{p.stem}.erased-2.parquet" for p in (first, second)
    ]
    assert um.verify(people, archives=again.archives).first == 0


def test_an_archive_that_cannot_be_deleted_is_named(people, monkeypatch):
    old = um.campaigns.compact(people).archive
    unlink = Path.unlink

    def refuse(path, missing_ok=False):
        if path == old:
            raise PermissionError
        unlink(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", refuse)
    found = um.campaigns.erase(people, NAME, archives=[old])
    assert found.left == (str(old),) and f"Delete {old}, which could not" in str(found)
    assert um.verify(people, archives=found.archives).first == 0


@pytest.mark.parametrize("step", ["commit", "reclaim"])
def test_an_erasure_that_is_stopped_is_whole_or_not_at_all(people, monkeypatch, step):
    old, before = um.campaigns.compact(people).archive, log(people)

    def stopped(store):
        raise RuntimeError("stopped")

    with monkeypatch.context() as patched, pytest.raises(RuntimeError):
        patched.setattr(sqlite.SqliteStore, step, stopped)
        um.campaigns.erase(people, NAME, archives=[old])
    new = old.with_name(f"{old.stem}.erased-1.parquet")
    if step == "commit":
        assert log(people) == before and um.verify(people, archives=[old]).first == 0
        assert um.campaigns.erase(people, NAME, archives=[old]).archives == (new,)
    assert not old.exists() and um.verify(people, archives=[new]).first == 0


def test_the_data_of_an_arm_are_erased_with_its_label(people, reopen, play):
    told = read_table(people).filter(arm=NAME, kind="reward")["decision"].to_list()
    assert told
    with pytest.raises(um.UnimodalError, match="when the arm has been retired and all its events"):
        um.campaigns.erase(people, NAME, data=True)
    with reopen() as campaign:
        campaign.retire("Eve", NAME)
        play(campaign, 5)
    moved = um.campaigns.compact(people).archive
    before = um.verify(people, archives=[moved])
    found = um.campaigns.erase(people, NAME, data=True, archives=[moved])
    table = read_table(people, found.archives)
    assert not set(told) & set(table.filter(kind="reward")["decision"])
    assert table.filter(arm=found.label, kind="decide").height == len(told)
    assert table.filter(arm=found.label, kind="tell").is_empty()
    past = [row[-1] for row in (*log(people), *table.iter_rows()) if row[2] == "data"]
    assert len(past) == 2 and not any(found.label in each for each in past)
    for each in map(json.loads, past):  # what the others count with was read with this arm's
        assert [row[0] for row in each["rows"]] == ["Ann", "Bob"] and "counted" not in each
    alone, whole = um.verify(people), um.verify(people, archives=found.archives)
    assert alone and whole and alone.first == whole.first == before.events
    assert whole.counts["reward"] == before.counts["reward"] - len(told)
    lost = f"events 1 to {before.events}, from which the data of an arm was erased"
    assert lost in sentence(whole) and lost in str(found)
    with reopen() as campaign:
        play(campaign, 5)
        with pytest.raises(um.errors.ExpiredDecision):
            campaign.reward(told[0], 1.0)
    assert um.verify(people, archives=found.archives)


def test_propensities_of_its_decisions_go_with_the_data_of_an_arm(people, reopen):
    with reopen() as campaign:
        made = campaign.decide(60, propensity=True)
        campaign.reward([one.id for one in made], [1.0] * 60)
        campaign.retire("Eve", NAME)
    moved = um.campaigns.compact(people).archive
    found = um.campaigns.erase(people, NAME, data=True, archives=[moved])
    table = read_table(people, found.archives).filter(pl.col("decision") >= made[0].id)
    its, others = (table.filter(pl.col("arm").eq(found.label).eq(flag)) for flag in (True, False))
    decided = [part.filter(kind="decide")["propensity"].is_null() for part in (its, others)]
    assert len(decided[0]) and decided[0].all() and not decided[1].any()


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("DELETE FROM settings WHERE key = 'erased'", "labels erased otherwise than its settings"),
        ("UPDATE settings SET value = '7' WHERE key = 'erased'", "'erased' in .* is damaged"),
        ("UPDATE log SET data = '{}' WHERE kind = 'erase'", "must be an erasure"),
    ],
)
def test_an_erasure_that_was_tampered_with_is_found(people, statement, words):
    um.campaigns.erase(people, NAME)
    connection = sqlite3.connect(people)
    connection.execute("DELETE FROM snapshots")
    connection.execute(statement)
    connection.commit()
    connection.close()
    with pytest.raises(um.errors.DamagedFile, match=words) as told:
        um.Campaign.open(people)
    assert str(told.value).count("go back to a copy") == 1
    assert re.search(words, um.verify(people).wrong[0])


def neighbours(person):
    return [f"person {int(person.split()[1]) + step}" for step in (-1, 1)]


def test_a_label_of_a_graph_that_is_looked_up(path, play):
    def opened(**named):
        return um.Campaign.open(
            path, um.UTS(start="probe(4)"), neighbours, root="person 10", **named
        )

    with opened(seed=3, durability="fast", clock=lambda: 0.0) as campaign:
        play(campaign, 60)
    name = b"person 12"
    assert name in path.read_bytes()
    found = um.campaigns.erase(path, "person 12")
    assert name not in path.read_bytes()
    verdict = um.verify(path)
    assert verdict and verdict.first == len(log(path)) and verdict.snapshots == [verdict.first]
    assert f"events 1 to {verdict.first}, from which the label" in sentence(verdict)
    assert found.label in str(um.inspect(path, around=found.label))


def test_what_cannot_be_erased_is_told_in_a_sentence(path, start, play, tmp_path):
    with start() as campaign:
        play(campaign, 5)
    ladder, numbers = um.graphs.from_edges([("9.90", "12.90")]), tmp_path / "prices.db"
    um.Campaign.open(numbers, um.UTS(), ladder, um.Scaled(um.Bernoulli(), by=float)).close()
    before = log(path), log(numbers), sorted(os.listdir(tmp_path))
    for where, arm, words in (
        (tmp_path / "nowhere.db", "a", "there is no file"),
        (path, "a", "has no arm called 'a' whose label could be erased; there are 0, 1, 2"),
        (path, 3, "the label 3 is the number of its arm, which nobody gave it"),
        (numbers, "9.90", "it is also the factor of its arm"),
    ):
        with pytest.raises(um.UnimodalError, match=words):
            um.campaigns.erase(where, arm)
        assert (log(path), log(numbers), sorted(os.listdir(tmp_path))) == before


def full(monkeypatch, reason="database or disk is full", name="SQLITE_FULL"):
    """Let SQLite have no room to write a file anew."""
    execute = SqliteConnection.execute

    def refused(connection, statement, values=()):
        if statement == "VACUUM":
            error = sqlite3.OperationalError(reason)
            error.sqlite_errorname = name
            raise connection.explain(error) from error
        return execute(connection, statement, values)

    monkeypatch.setattr(SqliteConnection, "execute", refused)


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("database or disk is full", "SQLITE_FULL"),
        ("disk I/O error", "SQLITE_IOERR_WRITE"),
        ("unable to open database file", "SQLITE_CANTOPEN"),  # a temporary folder that is not there
    ],
)
def test_an_erasure_without_room_to_write_the_file_anew_is_told_as_it_is(
    people, monkeypatch, words, name
):
    """At b076057: nothing of this call was kept; and it was, and the label was gone."""
    with monkeypatch.context() as patch:
        full(patch, words, name)
        found = um.campaigns.erase(people, NAME)
        assert found.label == "erased-1" and found.events > 0 and not found.is_clean
        assert f"SQLite could not write it anew ({words})" in str(found)
        assert f"run `unimodal erase {people} erased-1`, which only finishes this." in str(found)
        again = um.campaigns.erase(people, "erased-1")
        assert again.events == 0 and not again.is_clean
    done = um.campaigns.erase(people, "erased-1")
    assert done.label == "erased-1" and done.is_clean and done.events == 0
    assert not pieces(people.parent) and bool(um.verify(people))
    assert um.campaigns.erase(people, "Cy").label == "erased-2"


def test_finishing_an_erasure_deletes_no_archive(people, reopen, play):
    with reopen() as campaign:
        play(campaign, 5)
    moved = um.campaigns.compact(people)
    erased = um.campaigns.erase(people, NAME, archives=[moved.archive])
    again = um.campaigns.erase(people, "erased-1", archives=erased.archives)
    assert again.is_clean and all(archive.exists() for archive in erased.archives)
    assert bool(um.verify(people, archives=erased.archives))


def test_a_compaction_without_room_to_write_the_file_anew_is_told_as_it_is(
    people, reopen, play, monkeypatch
):
    with reopen() as campaign:
        play(campaign, 5)
    full(monkeypatch)
    moved = um.campaigns.compact(people)
    assert moved.events > 0 and "(SQLite could not write it anew (database or d" in str(moved)
    assert moved.unreclaimed and bool(um.verify(people, archives=[moved.archive]))
