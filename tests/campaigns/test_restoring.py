"""A copy that is put back: checked before, nothing lost, and never mixed with what was there."""

import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import unimodal as um
from unimodal.campaigns import look, restore, verify
from unimodal.campaigns.stores.sqlite import file_locks
from unimodal.campaigns.upkeep import restore as restoring
from unimodal.cli.app import app
from unimodal.errors import Busy, DamagedFile, StoreError

ENDINGS = ("", "-wal", "-shm")


@pytest.fixture
def crashed(path, start, play):
    """A file as a kill leaves it, with 30 decisions, most in its -wal; and a copy with 10."""
    live = path.with_name("live.db")
    with start() as campaign:
        play(campaign, 10)
        copy = campaign.backup(path.with_name("monday.db"))
        play(campaign, 20)
        for ending in ENDINGS:
            shutil.copy(f"{path}{ending}", f"{live}{ending}")
    return live, copy


def decided(path):
    return look(path).agent.book.made


def test_a_copy_takes_the_place_of_a_file_which_is_kept(crashed, reopen):
    live, copy = crashed
    done = restore(copy, live, replace=True)
    assert done.path == live and done.verdict and done.verdict.path == live
    assert decided(live) == 10 and decided(copy) == 10
    assert decided(done.replaced) == 30  # with what only its -wal has
    assert not os.path.exists(f"{live}-wal") and not os.path.exists(f"{live}-shm")
    with um.Campaign.open(live) as campaign:
        assert campaign.decide().id == 11
    again = restore(copy, live, replace=True)
    assert again.replaced != done.replaced and decided(again.replaced) == 11
    names = {name.name for name in live.parent.iterdir()}
    assert not [name for name in names if name.startswith(".")]
    assert verify(live).wrong == verify(again.replaced).wrong == []


def test_a_copy_is_put_where_nothing_is(crashed, tmp_path):
    _, copy = crashed
    done = restore(copy, tmp_path / "new.db")
    assert done.replaced is None and decided(done.path) == 10
    assert str(done) == f"{tmp_path / 'new.db'} is as {copy} now."


def test_nothing_is_replaced_without_being_told(crashed):
    live, copy = crashed
    for gone in ENDINGS:  # all of them, then what a file leaves behind that was deleted
        with pytest.raises(StoreError, match=r"already: say that it is to be replaced \(--replace"):
            restore(copy, live)
        os.unlink(f"{live}{gone}")
    assert restore(copy, live).replaced is None


def test_what_lies_beside_a_file_that_is_gone_is_moved_away_as_well(crashed):
    live, copy = crashed
    live.unlink()
    done = restore(copy, live, replace=True)
    assert decided(live) == 10 and os.path.exists(f"{done.replaced}-wal")


def other_database(path):
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE a (b)")


def tampered(path):
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE log SET arm = (arm + 1) % 7 WHERE decision = 5 AND arm >= 0")


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (lambda p: p.unlink(), "there is no file"),
        (lambda p: p.write_bytes(b""), "is empty"),
        (lambda p: p.write_text("no campaign" * 100), "another kind, or damaged"),
        (lambda p: (p.unlink(), other_database(p)), "got another SQLite database"),
        (lambda p: p.write_bytes(p.read_bytes()[:-2000]), "damaged|NOT sound"),
        (tampered, "is NOT sound: .*, so nothing was restored: take another copy"),
    ],
)
def test_a_copy_that_is_none_or_is_damaged_is_refused(crashed, harm, words):
    live, copy = crashed
    harm(copy)
    before = {ending: live.with_name(live.name + ending).read_bytes() for ending in ENDINGS}
    with pytest.raises(um.UnimodalError, match=words):
        restore(copy, live, replace=True)
    assert before == {e: live.with_name(live.name + e).read_bytes() for e in ENDINGS}
    assert not [name for name in live.parent.iterdir() if "replaced" in name.name]


def test_places_where_no_copy_is_put(crashed, tmp_path):
    live, copy = crashed
    with pytest.raises(StoreError, match="is the target itself"):
        restore(copy, copy, replace=True)
    with pytest.raises(StoreError, match="got a folder or a link"):
        restore(copy, tmp_path, replace=True)
    (tmp_path / "link.db").symlink_to(live)
    with pytest.raises(StoreError, match="got a folder or a link"):
        restore(copy, tmp_path / "link.db", replace=True)
    for given in ((copy, "postgresql://a@b/c?campaign=d"), ("postgresql://a@b/c?campaign=d", live)):
        with pytest.raises(um.UnimodalError, match=r"must be a file, got .*: `unimodal copy` puts"):
            restore(*given)


HOLDS = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
print(connection.execute("SELECT count(*) FROM log").fetchone(), flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(not file_locks._OFD, reason="only Linux tells who has a file open")
def test_a_target_that_is_in_use_is_refused(crashed):
    live, copy = crashed
    with um.Campaign.open(live), pytest.raises(Busy, match="is open here or in another process"):
        restore(copy, live, replace=True)
    command = [sys.executable, "-c", HOLDS, live]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        other.stdout.readline()
        with pytest.raises(Busy, match="is open here or in another process"):
            restore(copy, live, replace=True)
        other.stdin.close()
    assert restore(copy, live, replace=True).replaced is not None


@pytest.mark.parametrize("step", ["before", "rename", "replace", "name"])
def test_a_restoration_that_is_stopped_loses_nothing(crashed, monkeypatch, step):
    """The file is as it was, or not there; what was there can be opened; and it is done again."""
    live, copy = crashed
    owner, name = {
        "before": (restoring, "_moved_aside"),
        "rename": (restoring.os, "rename"),
        "replace": (restoring.os, "replace"),  # of the -wal, when the file has its other name
        "name": (restoring.files, "_name"),
    }[step]
    usual = getattr(owner, name)

    def stop(*given):
        if name == "_name" and given[1] != live:
            return usual(*given)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, stop)
        with pytest.raises(KeyboardInterrupt):
            restore(copy, live, replace=True)
    names = sorted(each.name for each in live.parent.iterdir() if "replaced" in each.name)
    is_moved = [name for name in names if not name.endswith(ENDINGS[1:])]
    assert bool(is_moved) == (not live.exists()) == (step in ("replace", "name"))
    assert decided(live.with_name(is_moved[0]) if is_moved else live) == 30
    assert decided(restore(copy, live, replace=True).path) == 10


# A copy that was put back by `cp`.


@pytest.mark.parametrize("way", ["backup", "copy"])
@pytest.mark.parametrize("with_shm", [True, False])
def test_a_wal_of_the_file_before_is_told_as_such(crashed, reopen, way, with_shm):
    """At b076057 the copy was undone without a word, or called damaged."""
    live, copy = crashed
    if way == "copy":  # by which only its time tells
        copy = um.campaigns.copy(copy, copy.with_name("other.db")).target
    shutil.copy(copy, live)
    os.utime(live, (0, os.stat(f"{live}-wal").st_mtime + (61 if way == "copy" else -5)))
    if not with_shm:
        os.unlink(f"{live}-shm")
        with pytest.raises(StoreError, match="its -wal is of the file before") as found:
            look(live)
        assert not isinstance(found.value, DamagedFile)
    before = live.read_bytes()
    with pytest.raises(StoreError, match=r"put it back with `unimodal restore`, or,") as found:
        um.Campaign.open(live)
    assert not isinstance(found.value, DamagedFile) and live.read_bytes() == before
    assert decided(restore(copy, live, replace=True).path) == 10


@pytest.mark.parametrize("later", [-60, 0, 60])
def test_a_wal_of_its_own_is_taken(crashed, later):
    """After a kill; the times are those of files that were copied one after the other."""
    live, _ = crashed
    os.utime(live, (0, os.stat(f"{live}-wal").st_mtime + later))
    with um.Campaign.open(live) as campaign:
        assert campaign.decide().id == 31


def test_a_wal_whose_pages_are_in_the_file_is_its_own(crashed):
    """A process that was killed while it copied them, long after the last commit."""
    live, _ = crashed
    wal = live.with_name("live.db-wal")
    kept = wal.read_bytes()
    with contextlib.closing(sqlite3.connect(live)) as connection:
        connection.execute("PRAGMA wal_checkpoint").fetchone()
        half = live.read_bytes()
    live.write_bytes(half)
    wal.write_bytes(kept)
    os.utime(wal, (0, live.stat().st_mtime - 10**6))
    with um.Campaign.open(live) as campaign:
        assert campaign.decide().id == 31


def test_the_command(crashed):
    live, copy = crashed
    run = CliRunner().invoke
    refused = run(app, ["restore", str(copy), str(live)])
    assert refused.exit_code != 0
    done = run(app, ["restore", str(copy), str(live), "--replace"])
    assert done.exit_code == 0 and "is as" in done.output and "is sound" in done.output
    shown = run(app, ["restore", "--help"]).output
    assert "unimodal restore backups/ads-monday.db ads.db --replace" in shown
