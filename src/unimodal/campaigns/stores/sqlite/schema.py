"""The tables of a campaign's SQLite file, and whether a file has these and nothing else."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path
from typing import Any

from unimodal.campaigns.events import short
from unimodal.errors import DamagedFile, StoreError, WrongVersion

FORMAT = 2
LATER_FORMAT = 3  # the same tables, with events of more kinds (`Event.since`)
KEYED_FORMAT = 4  # the same, with events of kind 'key' in the log, and an index of them
MOVED_FORMAT = 5  # the same; its first events are in an archive, or something was erased
FORMATS = (FORMAT, LATER_FORMAT, KEYED_FORMAT, MOVED_FORMAT)
KEY_INDEX = "CREATE INDEX keys ON log (data) WHERE kind = 'key'"
APPLICATION = 0x756E696D  # 'unim': what the first page of a campaign's file says it is
SCHEMA = """
CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE log (
    seq INTEGER PRIMARY KEY, time REAL NOT NULL, kind TEXT NOT NULL, decision INTEGER, arm,
    reason TEXT, leader, near INTEGER, propensity REAL, reward REAL, data TEXT
);
CREATE INDEX revisions ON log (seq) WHERE kind = 'revision';
CREATE TABLE snapshots (seq INTEGER PRIMARY KEY, version TEXT NOT NULL, state TEXT NOT NULL);
CREATE TABLE rewards (decision INTEGER PRIMARY KEY, reward REAL NOT NULL);
"""
# `rewards` finds those that the last snapshot knows; an index would cost every commit a page more.


def statements() -> list[str]:
    """What makes the tables, one statement each."""
    return [statement.strip() for statement in SCHEMA.split(";") if statement.strip()]


def check_kind(connection: Any, path: Path) -> None:
    """Refuse a database that is not a campaign's of this format; a new one is neither."""
    if found_format(connection, path) is not None:
        _check_tables(connection, path)


def found_format(connection: Any, path: Path, older: Container[int] = ()) -> int | None:
    """The format of a campaign's file, one of ours or one of the `older`; None if it is new."""
    # In this order: whoever sees tables that another process just made sees its mark, too.
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application != APPLICATION and tables:
        raise StoreError(
            f"{path} must be a campaign's file, got another SQLite database: name another file."
        )
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    if tables and found not in FORMATS and found not in older:
        way_out = "update unimodal" if found > FORMATS[-1] else f"run `unimodal migrate {path}`"
        raise WrongVersion(
            f"{path} has format {found}, this version reads format {FORMATS[0]} to {FORMATS[-1]}: "
            f"{way_out}."
        )
    return int(found) if tables else None


def _check_tables(connection: Any, path: Path) -> None:
    """Refuse a file that has other tables, columns or indices than a campaign's, or more."""
    rows = connection.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
    found = {(kind, name): _plain(sql) for kind, name, sql in rows}
    if found.get(("index", "keys")) == KEY_INDEX:  # made when the first key is written
        del found["index", "keys"]
    if found == _EXPECTED:
        return
    wrong = next(
        (each for each in (*found, *_EXPECTED) if found.get(each) != _EXPECTED.get(each)),
        ("", ""),  # two of the same name
    )
    is_there, should_be = wrong in found, wrong in _EXPECTED
    what = "another" if is_there and should_be else "a" if is_there else "no"
    raise DamagedFile(
        f"{path} must have the tables of a campaign and nothing else, but there is {what} "
        f"{wrong[0]} {short(wrong[1])} in it: go back to a copy that nobody has changed."
    )


def _plain(sql: object) -> object:
    return " ".join(sql.split()) if isinstance(sql, str) else sql


def _named(sql: str) -> tuple[str, str]:
    """The kind and the name of what a statement makes."""
    _, kind, name, *_ = sql.split()
    return kind.lower(), name


_EXPECTED = {_named(statement): _plain(statement) for statement in statements()}
