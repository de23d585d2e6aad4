"""SQLite files of one table, for others than campaigns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from unimodal.campaigns.stores.sqlite.connection import connect, plainly


class SmallTable:
    """A SQLite file with one table, safe against being killed at any moment.

    `create` is the statement that makes the table if it is not there. Errors are StoreErrors with
    SQLite's own words (`plainly`).
    """

    def __init__(self, path: Path, create: str) -> None:
        self._connection = connect(path, 5.0, plainly)
        try:
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute(create)
        except BaseException:
            self._connection.close()
            raise

    def do(self, query: str, *values: Any) -> list[Any]:
        """Execute a statement, which is a transaction by itself; its rows."""
        found: list[Any] = self._connection.execute(query, values).fetchall()
        return found

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
