"""Files that older versions wrote, kept in tests/data, are read, or brought up to date."""

import os
import shutil
import sqlite3
from pathlib import Path

import pytest

import unimodal as um
from unimodal.campaigns.stores.sqlite import migrations
from unimodal.campaigns.stores.sqlite.schema import FORMATS
from unimodal.errors import DamagedFile, WrongVersion

DATA = Path(__file__).parent.parent / "data"
GOLDEN = Path(__file__).parent.parent / "golden"
ADDRESS = "postgresql://user@host/shop?campaign=ads"
FILES = {
    **{number: DATA / f"campaign-format-{number}.db" for number in (1, 3, 4, 5)},
    2: GOLDEN / "campaign-format-2.db",
}


def log(path):
    """The log of a file of any format."""
    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT * FROM log ORDER BY seq").fetchall()
    connection.close()
    return rows


def changed(path, statement):
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()


@pytest.fixture
def old(path):
    shutil.copy(FILES[1], path)
    return path


def test_there_is_a_file_of_every_format():
    assert sorted(FILES) == list(range(1, FORMATS[-1] + 1))


@pytest.mark.parametrize("number", FORMATS)
def test_a_file_of_a_format_that_is_read_is_left_as_it_is(path, number):
    shutil.copy(FILES[number], path)
    before = path.read_bytes(), log(path)
    found = um.campaigns.migrate(path)
    assert found.verdict and found.copy is None and (found.was, found.now) == (number, number)
    assert "nothing to do" in str(found)
    assert (path.read_bytes(), log(path)) == before and os.listdir(path.parent) == [path.name]
    with um.Campaign.open(path, clock=lambda: 1000.0) as campaign:
        campaign.decide()
    assert log(path)[: len(before[1])] == before[1] and um.verify(path)


def test_a_compacted_file_that_was_written_before_takes_its_archive(path):
    shutil.copy(FILES[5], path)
    whole = um.verify(path, archives=[DATA / "campaign-format-5.parquet"])
    assert (
        whole
        and whole.first == 0
        and whole.unchecked == ["what the arm erased-1 was called, which was erased"]
    )


def test_a_file_of_format_1_is_brought_up_to_date_and_kept(old, tmp_path):
    before, events = old.read_bytes(), log(old)
    with pytest.raises(WrongVersion, match=r"has format 1, .* run `unimodal migrate "):
        um.Campaign.open(old)
    with pytest.raises(WrongVersion, match="run `unimodal migrate "):
        um.verify(old)
    assert old.read_bytes() == before
    found = um.campaigns.migrate(old)
    assert found.verdict and found.verdict.first == 0 and found.verdict.snapshots == [190]
    assert found.copy == tmp_path / "campaign.db.format1.bak" and log(found.copy) == events
    assert sorted(os.listdir(tmp_path)) == [old.name, found.copy.name] and log(old) == events
    assert "had format 1 and has format 2 now" in str(found)
    with um.Campaign.open(old, clock=lambda: 200.0) as campaign:
        assert campaign.decide().id == 101 and campaign.reward(2, 0.0) is False
    assert um.verify(old) and um.campaigns.migrate(old).copy is None


def test_a_migration_that_is_stopped_changes_nothing_and_is_taken_up(old, tmp_path, monkeypatch):
    before = log(old)
    check = migrations.check_kind

    def stopped(connection, path):
        raise RuntimeError("stopped")

    monkeypatch.setattr(migrations, "check_kind", stopped)
    with pytest.raises(RuntimeError):
        um.campaigns.migrate(old)
    monkeypatch.setattr(migrations, "check_kind", check)
    with pytest.raises(WrongVersion):
        um.verify(old)
    assert log(old) == log(tmp_path / "campaign.db.format1.bak") == before
    assert um.campaigns.migrate(old).verdict


def test_what_cannot_be_migrated_is_told_in_a_sentence(old, tmp_path):
    def refused(error, words, path=old):
        before = old.read_bytes(), sorted(os.listdir(tmp_path))
        with pytest.raises(error, match=words):
            um.campaigns.migrate(path)
        assert (old.read_bytes(), sorted(os.listdir(tmp_path))) == before

    refused(um.UnimodalError, "there is no file", tmp_path / "nowhere.db")
    refused(um.UnimodalError, "is what can be migrated, got postgresql://", ADDRESS)
    (tmp_path / "campaign.db.format1.bak").write_text("something else")
    refused(um.UnimodalError, r"must be a campaign's file|there is a file .* already")
    os.remove(tmp_path / "campaign.db.format1.bak")
    shutil.copy(FILES[2], tmp_path / "campaign.db.format1.bak")
    refused(um.UnimodalError, r"there is a file .* already")
    changed(old, "CREATE TABLE more (x)")
    refused(DamagedFile, "must have the tables of format 1 and nothing else")
    changed(old, "DROP TABLE more")
    changed(old, "PRAGMA user_version = 99")
    refused(WrongVersion, "has format 99, this version reads format 2 to 5: update unimodal")
    changed(old, "PRAGMA application_id = 7")
    refused(um.UnimodalError, "got another SQLite database")
