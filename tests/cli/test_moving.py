"""The commands that move, keep and erase campaigns, as a person runs them."""

import shutil
import sqlite3
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import unimodal as um
from unimodal.cli import app

DATA = Path(__file__).parent.parent / "data"
COMMANDS = ("copy", "export", "compact", "erase", "migrate")


def run(*arguments):
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    return done.exit_code, " ".join((done.stdout + done.stderr).split()), done.exception


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(DATA / "campaign-format-4.db", "ads.db")
    return Path("ads.db")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples(command):
    code, said, _ = run(command, "--help")
    assert code == 0 and f"unimodal {command} " in said and "Examples" in said


def test_a_campaign_is_copied_exported_compacted_erased_and_verified(file):
    code, said, _ = run("copy", file, "copy.db")
    assert code == 0 and "ads.db was copied to copy.db (1" in said and "copy.db is sound" in said
    assert "is sound" not in run("copy", file, "quick.db", "--no-verify")[1]
    code, said, _ = run("export", file, "ads.ndjson", "--rows", "decisions")
    assert code == 0 and said == "52 decisions of ads.db were written to ads.ndjson."
    code, said, _ = run("compact", file, "--archive", "old.parquet")
    assert code == 0 and "of ads.db are in old.parquet now" in said
    assert "Not checked: events 1 to" in run("verify", file)[1]
    assert "Not checked" not in run("verify", file, "--archive", "old.parquet")[1]
    run("export", file, "rest.parquet")
    run("export", file, "all.parquet", "--archive", "old.parquet")
    rest, whole = pl.read_parquet("rest.parquet"), pl.read_parquet("all.parquet")
    assert rest.height == 0 and whole.height == um.verify("copy.db").events
    for command in ("inspect", "certify"):
        code, said, _ = run(command, file, "--archive", "old.parquet")
        assert code in (0, 1) and "archive" not in said
    assert run("explain", file, 7, "--archive", "old.parquet")[0] == 0
    code, said, _ = run("erase", file, "12.90", "--archive", "old.parquet")
    assert code == 0 and "called erased-1 now. verify can no longer check: what the arm" in said
    code, said, _ = run("verify", file, "--archive", "old.erased-1.parquet")
    assert code == 0 and "Not checked: what the arm erased-1 was called" in said


def test_what_is_wrong_is_told_by_the_exit_code(file):
    shutil.copy(DATA / "campaign-format-1.db", "old.db")
    code, said, _ = run("migrate", "old.db")
    assert code == 0 and "had format 1 and has format 2 now; old.db.format1.bak is" in said
    connection = sqlite3.connect(file)
    connection.execute("UPDATE log SET reward = 1 - reward WHERE seq = 9 OR seq = 10")
    connection.commit()
    connection.close()
    assert run("copy", file, "copy.db")[0] == run("migrate", file)[0] == 1
    code, _, error = run("compact", file)
    assert code == 1 and isinstance(error, um.UnimodalError) and "is not sound" in str(error)


def test_keys_are_known_for_as_long_as_it_is_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    now = [0.0]
    with um.Campaign.open("a.db", um.UTS(), um.graphs.line(3), clock=lambda: now[0]) as campaign:
        campaign.decide(key="visit")
        now[0] = 1000.0
        campaign.decide(3)
    shutil.copy("a.db", "b.db")
    assert "5 were dropped" in run("compact", "a.db", "--key-lifetime", "999")[1]
    assert "3 were dropped" in run("compact", "b.db", "--key-lifetime", "1001")[1]
