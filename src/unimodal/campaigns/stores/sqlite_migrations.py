"""How files of older formats are brought up to date, one format at a time and only forward.

A format that only has more kinds of events than the one before needs no change: it is read as it
is, and marked when the first such event is written (`sqlite_schema`).
"""

from __future__ import annotations

import itertools
from typing import Any

from unimodal.errors import DamagedFile

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
# What a file of a format has in it, by name, as far as it is other than `sqlite_schema` says.
_NAMES = {1: {"settings", "log", "one_reward", "revisions", "snapshots"}}


def check_names(connection: Any, path: Any, found: int) -> None:
    """Refuse a file that has other tables than its format, or more."""
    rows = connection.execute("SELECT name FROM sqlite_master").fetchall()
    if sorted(name for (name,) in rows) != sorted(_NAMES[found]):
        raise DamagedFile(
            f"{path} must have the tables of format {found} and nothing else: go back to a copy "
            "that nobody has changed."
        )


def same_content(one: Any, two: Any) -> bool:
    """Whether two databases hold the same, told by what would make them anew."""
    return all(a == b for a, b in itertools.zip_longest(one.iterdump(), two.iterdump()))
