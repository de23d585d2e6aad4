"""Connections to SQLite files. This is the only module that imports `sqlite3`.

Exceptions of sqlite3 do not leave the package: connections raise ours (see `SqliteConnection`).
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

from unimodal.campaigns.stores.sqlite.errors import code, is_unread
from unimodal.errors import StoreError, UnimodalError

WAIT = 30.0  # seconds for which readers wait while another process puts the file in order
_LARGEST = 2**29  # bytes of one value: a snapshot of ten million arms has them

DriverError = sqlite3.Error


class SqliteCursor(sqlite3.Cursor):
    """A cursor whose errors are explained by its connection."""

    connection: SqliteConnection

    def fetchone(self) -> Any:
        try:
            return super().fetchone()
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise self.connection.explain(error) from error

    def fetchmany(self, size: int | None = 1) -> list[Any]:
        try:
            return super().fetchmany(size)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise self.connection.explain(error) from error

    def fetchall(self) -> list[Any]:
        try:
            return super().fetchall()
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise self.connection.explain(error) from error


class SqliteConnection(sqlite3.Connection):
    """A connection that raises what `explain` makes of an error of SQLite's."""

    explain: Callable[[Exception], UnimodalError]

    def execute(self, statement: str, values: Any = ()) -> Any:
        try:
            return SqliteCursor(self).execute(statement, values)
        # A text that is none: SQLite quotes it even in what it says about that.
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise self.explain(error) from error

    def executemany(self, statement: str, rows: Any) -> Any:
        try:
            return super().executemany(statement, rows)  # which has nothing to fetch
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise self.explain(error) from error

    def copy_to(self, file: Path) -> None:
        """Copy all pages into another file, as they are at this moment."""
        with contextlib.closing(sqlite3.connect(file)) as copy:
            try:
                self.backup(copy)
            except sqlite3.Error as error:
                raise OSError(str(error)) from None


def connect(
    address: Any, wait: float, explain: Callable[[Exception], UnimodalError], is_uri: bool = False
) -> SqliteConnection:
    """A connection to a file, or to what a URI names."""
    try:
        connection = sqlite3.connect(
            address,
            timeout=wait,
            isolation_level=None,  # transactions begin and end where we say so
            check_same_thread=False,  # the group commit lets one thread at a time in
            uri=is_uri,
            factory=SqliteConnection,
        )
    except sqlite3.Error as error:
        raise explain(error) from error
    connection.explain = explain
    return connection


def distrust(connection: SqliteConnection) -> None:
    """Let SQLite expect a file that somebody has tampered with: it runs no code out of it."""
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LARGEST)


def looked_again(path: Path, address: str = "") -> str:
    """How a file is by a second look, through a connection that only reads; see `explanation`."""
    is_alone = not os.path.exists(f"{os.path.realpath(path)}-wal")
    usual = f"{Path(os.path.abspath(path)).as_uri()}?mode=ro{'&immutable=1' * is_alone}"
    try:
        with contextlib.closing(connect(address or usual, WAIT, plainly, is_uri=True)) as again:
            distrust(again)
            (found,) = again.execute("PRAGMA quick_check(1)").fetchone()
    except StoreError as error:
        return "unread" if code(error.__cause__).startswith("SQLITE_IOERR") else "damaged"
    return "whole" if found == "ok" else "unread" if is_unread(found) else "damaged"


def plainly(error: Exception) -> StoreError:
    """An error with SQLite's own words, around which the caller puts a sentence."""
    return StoreError(str(error))


def plain_connection(path: Path) -> Any:
    """A connection as sqlite3 has it, to measure what commits cost without us."""
    return sqlite3.connect(path)
