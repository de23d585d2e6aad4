"""Errors that a program can branch on: each is raised where its sentence is said."""

import os
import pickle
import re
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import unimodal as um
from unimodal import errors
from unimodal.campaigns import look
from unimodal.campaigns.stores.sqlite import errors as sqlite_errors
from unimodal.campaigns.stores.sqlite.connection import SqliteConnection
from unimodal.campaigns.stores.sqlite.reading import SqliteReader
from unimodal.errors import StoreError

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "errors.md"
CLASSES = [
    found
    for found in vars(errors).values()
    if isinstance(found, type) and issubclass(found, um.UnimodalError)
]


def change(path, statement):
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()


def deciders(start):
    """An agent and a campaign, each with the time of its clock."""
    times = [0.0]
    agent = um.Agent(um.UTS(), um.graphs.line(7), time_to_live=10, clock=lambda: times[0])
    yield agent, times
    times = [0.0]
    with start(time_to_live=10, clock=lambda: times[0]) as campaign:
        yield campaign, times


def test_rewards_that_are_refused(start):
    for decider, times in deciders(start):
        first, second = decider.decide(2)
        with pytest.raises(errors.UnknownDecision, match="there is no decision 3"):
            decider.reward(3, 1.0)
        decider.reward(first.id, 1.0)
        with pytest.raises(errors.ConflictingReward, match="already"):
            decider.reward(first.id, 0.0)
        times[0] = 11.0
        with pytest.raises(errors.ExpiredDecision, match="has expired"):
            decider.reward(second.id, 1.0)
        with pytest.raises(errors.ExpiredDecision):
            decider.reward([second.id, first.id], [1.0, 1.0])


def test_other_settings(path, start, reopen):
    start().close()
    with pytest.raises(errors.OtherCampaign, match="is another campaign: its seed is 4, not 5"):
        reopen(seed=5)


def test_a_file_that_others_keep_busy(path, start):
    with start(wait=0.1) as campaign:
        campaign.decide()
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(errors.Busy, match=r"busy for 0\.1 s, so nothing was written"):
            campaign.decide()
        other.close()
        assert campaign.decide().id == 2


def test_every_caller_of_a_shared_commit_gets_the_class(path, start):
    """One commit for all of them fails; each is told by an error of its own."""
    campaign, found = start(wait=0.5), []
    campaign.decide(9)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    def tell(number):
        try:
            campaign.reward(number, 1.0)
        except um.UnimodalError as error:
            found.append(error)

    threads = [threading.Thread(target=tell, args=(number,)) for number in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    other.close()
    assert [type(error) for error in found] == [errors.Busy] * 8
    assert len(set(map(id, found))) == 8
    campaign.close()


def test_a_damaged_file(path, start, play, reopen):
    with start() as campaign:
        play(campaign, 20)
    change(path, "UPDATE log SET reward = 0.5 WHERE seq = 30")
    change(path, "DELETE FROM snapshots")
    for call in (reopen, lambda: um.inspect(path), lambda: look(path)):
        with pytest.raises(errors.DamagedFile, match="event 30 of"):
            call()
    path.write_bytes(b"no database at all" * 100)
    for call in (reopen, lambda: um.verify(path)):
        with pytest.raises(errors.DamagedFile, match="it is another kind, or damaged"):
            call()
    path.write_bytes(b"")
    with pytest.raises(errors.DamagedFile, match="is empty"):
        um.verify(path)


def failing(monkeypatch, statement, name, words):
    """Let one statement fail as SQLite would have it, once."""
    execute = SqliteConnection.execute

    def once(connection, given, values=()):
        if statement not in given:
            return execute(connection, given, values)
        monkeypatch.setattr(SqliteConnection, "execute", execute)
        error = sqlite3.DatabaseError(words)
        error.sqlite_errorname = name
        if connection.in_transaction and name == "SQLITE_FULL":
            execute(connection, "ROLLBACK")  # as SQLite does by itself
        raise connection.explain(error) from error

    monkeypatch.setattr(SqliteConnection, "execute", once)


def test_a_page_that_the_disk_did_not_give_is_no_damage(path, start, play, reopen, monkeypatch):
    """SQLite calls it malformed (vdbe.c, SQLITE_IOERR_CORRUPTFS); so did we, at b076057."""
    with start() as campaign:
        play(campaign, 20)
    malformed = "SQLITE_CORRUPT", "database disk image is malformed"
    for call in (reopen, lambda: um.verify(path), lambda: um.campaigns.look(path)):
        failing(monkeypatch, "FROM s", *malformed)  # settings, or snapshots
        with pytest.raises(StoreError, match="is whole when it is read again: call") as found:
            call()
        assert type(found.value) is StoreError
    with reopen() as campaign:
        failing(monkeypatch, "BEGIN IMMEDIATE", *malformed)
        with pytest.raises(StoreError, match="is whole when it is read again: call") as found:
            campaign.decide()
        assert type(found.value) is StoreError and campaign.decide().id == 21
    unread = "*** in database main ***\nTree 3 page 7: unable to get the page. error code=8458"
    with monkeypatch.context() as patch:
        patch.setattr(SqliteReader, "_one", lambda *_: (unread,))
        with pytest.raises(StoreError, match=r"cannot be read \(disk I/O error\)") as found:
            um.campaigns.look(path)
        assert type(found.value) is StoreError
    is_unread = sqlite_errors.is_unread
    assert is_unread(unread) and is_unread("btreeInitPage() returns error code 10")
    assert not is_unread("btreeInitPage() returns error code 11") and not is_unread("row 8458")


def test_a_full_folder_for_temporary_files_is_told_as_such(path, start, play, monkeypatch):
    """At b076057: cannot rollback - no transaction is active."""
    with start() as campaign:
        play(campaign, 20)
    failing(monkeypatch, "integrity_check", "SQLITE_FULL", "database or disk is full")
    words = r"cannot be read \(database or disk is full\): make room in the folder for temporary"
    with pytest.raises(StoreError, match=words):
        um.verify(path)
    assert bool(um.verify(path))


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE settings SET value = '{' WHERE key = 'policy'", "settings in .* are damaged"),
        ("UPDATE settings SET value = '-1' WHERE key = 'seed'", "settings in .* are damaged"),
        ("UPDATE snapshots SET state = '{}'", "the snapshot after event 41"),
        ("CREATE TABLE more (a)", "the tables of a campaign and nothing else"),
        ("UPDATE rewards SET reward = 'x' WHERE decision = 5", "the reward of decision 5"),
    ],
)
def test_a_damaged_part(path, start, play, reopen, statement, words):
    with start() as campaign:
        play(campaign, 20)
    change(path, statement)
    with pytest.raises(errors.DamagedFile, match=words), reopen() as campaign:
        campaign.reward(5, 1.0)


def test_a_file_of_another_format(path, start, reopen):
    start().close()
    change(path, "PRAGMA user_version = 99")
    for call in (reopen, lambda: um.verify(path)):
        with pytest.raises(errors.WrongVersion, match="has format 99, this version reads format 2"):
            call()


def test_a_folder_that_cannot_be_written(tmp_path):
    with pytest.raises(errors.ReadOnly, match="cannot be opened for writing"):
        um.Campaign.open(tmp_path / "no such folder" / "a.db", um.UTS(), um.graphs.line(3))


def test_a_file_that_is_not_there_or_was_moved(path, start):
    with pytest.raises(errors.StoreError, match="there is no file"):
        um.verify(path)
    with start() as campaign:
        campaign.decide()
        os.replace(path, path.with_name("away.db"))
        with pytest.raises(errors.StoreError, match="was moved, deleted or replaced"):
            campaign.decide()
        os.replace(path.with_name("away.db"), path)


@pytest.mark.parametrize("error", CLASSES, ids=lambda error: error.__name__)
def test_an_error_is_one_of_ours_and_can_be_sent_to_another_process(error):
    again = pickle.loads(pickle.dumps(error("a sentence.")))
    assert type(again) is error and str(again) == "a sentence." and error.__doc__
    assert isinstance(again, um.UnimodalError) and isinstance(again, ValueError)


def test_what_is_in_a_files_way_is_a_store_error():
    names = {error.__name__ for error in CLASSES if issubclass(error, errors.StoreError)}
    assert names == {
        *("StoreError", "Busy", "ReadOnly", "DamagedFile", "WrongVersion", "TooManyOpenFiles")
    }


def test_the_page_lists_every_class():
    listed = re.findall(r"^\| `(\w+)`", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert listed == [error.__name__ for error in CLASSES]


def test_the_code_of_the_page_runs(tmp_path):
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path, timeout=60)
