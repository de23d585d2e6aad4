"""How files of older formats are brought up to date, one format at a time and only forward.

A format that only has more kinds of events than the one before needs no change: it is read as it
is, and marked when the first such event is written (`schema`).
"""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from unimodal import files
from unimodal.campaigns.stores.sqlite.connection import (
    WAIT,
    DriverError,
    SqliteConnection,
    connect,
    distrust,
)
from unimodal.campaigns.stores.sqlite.errors import explanation
from unimodal.campaigns.stores.sqlite.read_beside_writers import empty, read
from unimodal.campaigns.stores.sqlite.reading import connected_to_read
from unimodal.campaigns.stores.sqlite.schema import check_kind, found_format
from unimodal.errors import DamagedFile, UnimodalError

# From a format to the next: the statements, of which none may lose anything.
MIGRATIONS: dict[int, tuple[str, ...]] = {
    # Rewards are found by a table that snapshots fill, not by an index of the log.
    1: (
        "DROP INDEX one_reward",
        "CREATE TABLE rewards (decision INTEGER PRIMARY KEY, reward REAL NOT NULL)",
        "INSERT INTO rewards SELECT decision, reward FROM log WHERE kind = 'reward' "
        "AND seq <= (SELECT coalesce(max(seq), 0) FROM snapshots)",
        "PRAGMA user_version = 2",
    ),
}
# What a file of a format has in it, by name, as far as it is other than `schema` says.
_NAMES = {1: {"settings", "log", "one_reward", "revisions", "snapshots"}}


def migrate_file(path: Path) -> tuple[int, int, Path | None]:
    """Bring a file up to date: its format before and after, and the copy that is kept of it.

    The copy is made while nobody else can write; then all changes are one transaction.
    """

    def explain(error: Exception) -> UnimodalError:
        return explanation(error, path, WAIT)

    before = _format(path)  # by one that only reads: others may have a file of today's formats open
    if before not in MIGRATIONS:
        return before, before, None
    with contextlib.closing(connect(path.absolute(), WAIT, explain)) as connection:
        distrust(connection)
        _check_names(connection, path, before)
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("BEGIN IMMEDIATE")
        kept = path.with_name(f"{path.name}.format{before}.bak")
        with contextlib.closing(connect(path.absolute(), WAIT, explain)) as reader:
            _keep_copy(reader, kept, explain)
        now = before
        while now in MIGRATIONS:
            for statement in MIGRATIONS[now]:
                connection.execute(statement)
            now += 1
        check_kind(connection, path)
        connection.execute("COMMIT")
    return before, now, kept


def _format(path: Path) -> int:
    """The format of a file, ours or one that can be migrated."""
    connect = functools.partial(connected_to_read, path)
    found = read(path, connect, lambda reader: found_format(reader, path, MIGRATIONS))
    if found is None:
        raise empty(path)
    return found


def _keep_copy(
    reader: SqliteConnection, kept: Path, explain: Callable[[Exception], UnimodalError]
) -> None:
    """Copy a file; or see that a copy that is there, of a run that was killed, is the same."""
    if kept.exists():
        with (
            contextlib.suppress(DriverError, UnicodeDecodeError),  # then it is no copy
            contextlib.closing(connect(kept.absolute(), WAIT, explain)) as other,
        ):
            if _same_content(reader, other):
                return
    with files.new_file(kept, "the copy of an older file") as made:
        reader.copy_to(made)


def _check_names(connection: Any, path: Any, found: int) -> None:
    """Refuse a file that has other tables than its format, or more."""
    rows = connection.execute("SELECT name FROM sqlite_master").fetchall()
    if sorted(name for (name,) in rows) != sorted(_NAMES[found]):
        raise DamagedFile(
            f"{path} must have the tables of format {found} and nothing else: go back to a copy "
            "that nobody has changed."
        )


def _same_content(one: Any, two: Any) -> bool:
    """Whether two databases hold the same, told by what would make them anew."""
    return all(a == b for a, b in itertools.zip_longest(one.iterdump(), two.iterdump()))
