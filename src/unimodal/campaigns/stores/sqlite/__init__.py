"""Campaigns in SQLite files: one machine, several processes.

`open_store` opens a file to write, `read_store` reads one beside its writers, `back_up` copies one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from unimodal import files
from unimodal.campaigns.stores.address import Place
from unimodal.campaigns.stores.sqlite.connection import WAIT, plain_connection
from unimodal.campaigns.stores.sqlite.migrations import migrate_file
from unimodal.campaigns.stores.sqlite.reading import (
    as_path,
    back_up,
    copy_file,
    read_store,
)
from unimodal.campaigns.stores.sqlite.small_table import SmallTable
from unimodal.campaigns.stores.sqlite.store import SqliteStore

__all__ = [
    "SmallTable",
    "SqliteStore",
    "back_up",
    "copy_file",
    "is_there",
    "migrate_file",
    "new_store",
    "open_store",
    "plain_connection",
    "read_store",
]


def is_there(path: Place, wait: float) -> bool:
    """Whether there is a file."""
    return as_path(path).exists()


def open_store(path: Place, durability: str, wait: float) -> SqliteStore:
    """Open a file to write, made if it is not there."""
    return SqliteStore(as_path(path), durability, wait)


@contextlib.contextmanager
def new_store(path: Path) -> Iterator[SqliteStore]:
    """A new file, inside of a transaction: it gets its name when all of it is on disk, or never."""
    with files.new_file(path, "a campaign") as made:
        store = SqliteStore(made, "fast", WAIT)
        try:
            store.begin()
            yield store
            store.commit()
        finally:
            store.roll_back()
            store.close()
