"""The tables of a campaign's file, and whether a file has these and nothing else."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from unimodal.campaigns.event_checks import short
from unimodal.errors import UnimodalError

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

_LARGEST = 2**29  # bytes of one value: a snapshot of ten million arms has them


def statements() -> list[str]:
    """What makes the tables, one statement each."""
    return [statement.strip() for statement in SCHEMA.split(";") if statement.strip()]


def distrust(connection: sqlite3.Connection) -> None:
    """Let SQLite expect a file that somebody has tampered with: it runs no code out of it."""
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LARGEST)


def check_schema(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file that has other tables, columns or indices than a campaign's, or more."""
    found = {
        (kind, name): _plain(sql)
        for kind, name, sql in connection.execute("SELECT type, name, sql FROM sqlite_master")
    }
    if found == _EXPECTED:
        return
    wrong = next(
        (each for each in (*found, *_EXPECTED) if found.get(each) != _EXPECTED.get(each)),
        ("", ""),  # two of the same name
    )
    is_there, should_be = wrong in found, wrong in _EXPECTED
    what = "another" if is_there and should_be else "a" if is_there else "no"
    raise UnimodalError(
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
