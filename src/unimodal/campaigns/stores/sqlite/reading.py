"""Campaigns' files that are read, and copied as they are at one moment."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from pathlib import Path

from unimodal import files
from unimodal.campaigns.stores.address import Place
from unimodal.campaigns.stores.sqlite.connection import (
    WAIT,
    SqliteConnection,
    connect,
    distrust,
    looked_again,
)
from unimodal.campaigns.stores.sqlite.errors import explanation
from unimodal.campaigns.stores.sqlite.read_beside_writers import empty, read
from unimodal.campaigns.stores.sqlite.schema import check_kind
from unimodal.campaigns.stores.sqlite.tables import SqliteTables
from unimodal.campaigns.stores.store import Found, StoreToRead
from unimodal.errors import StoreError, UnimodalError


class SqliteReader(SqliteTables):
    """A campaign's file through a connection that cannot write, at one moment."""

    def __init__(self, path: Path, connection: SqliteConnection) -> None:
        self.path, self._connection = path, connection

    def copy_to(self, file: Path) -> None:
        """Copy all pages into another file."""
        self._connection.copy_to(file)


def read_store(path: Place, work: Callable[[StoreToRead], Found]) -> Found:
    """What some work finds in an existing file, as it is at one moment.

    If somebody who opens or closes the file comes in between, the work is done again.
    """
    return _read(as_path(path), work)


def copy_file(path: Path, made: Path) -> None:
    """Copy all pages of a file, as it is at one moment, to a name that is not used."""
    _read(path, lambda reader: reader.copy_to(made))


def back_up(path: Place, target: Place) -> Path:
    """Copy a file, as it is at one moment, into a new one."""
    if not isinstance(target, Path):
        raise StoreError(
            f"{path} can only be backed up into a new file, got {target}: use `unimodal copy`."
        )
    mode, file = files.private_mode(target), target
    return _read(as_path(path), lambda reader: files.write(file, reader.copy_to, mode))


def _read(path: Path, work: Callable[[SqliteReader], Found]) -> Found:
    connect = functools.partial(connected_to_read, path)
    return read(path, connect, lambda connection: _found(path, connection, work))


def connected_to_read(path: Path, address: str) -> contextlib.closing[SqliteConnection]:
    """A connection to a file, or to a copy of it, by its address."""

    def explain(error: Exception) -> UnimodalError:
        again = functools.partial(looked_again, path, address)
        return explanation(error, path, WAIT, to_read=True, look_again=again)

    return contextlib.closing(connect(address, WAIT, explain, is_uri=True))


def _found(
    path: Path, connection: SqliteConnection, work: Callable[[SqliteReader], Found]
) -> Found:
    """What some work finds through a connection, in a transaction that only reads."""
    connection.execute("BEGIN")
    try:
        distrust(connection)
        check_kind(connection, path)
        reader = SqliteReader(path, connection)
        if reader.is_new():
            raise empty(path)
        return work(reader)
    finally:
        if connection.in_transaction:  # SQLite may have ended it with an error
            connection.execute("ROLLBACK")


def as_path(path: Place) -> Path:
    """The path that a place of this kind is."""
    if not isinstance(path, Path):
        raise StoreError(f"{path} must be a file's name, got the address of a database.")
    return path
