"""A campaign's file: an SQLite database, opened, checked, written in transactions."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from unimodal.errors import UnimodalError, real_number, unknown_name

FORMAT = 2
APPLICATION = 0x756E696D  # 'unim': what the first page of a campaign's file says it is
# FULL syncs every commit to the disk; NORMAL survives a kill, but not always a power failure.
DURABILITY = {"full": "FULL", "fast": "NORMAL"}


class CampaignFile:
    """A connection to the file; `wait` is how many seconds another process may keep it busy."""

    def __init__(self, path: Path, durability: str, wait: float) -> None:
        if durability not in DURABILITY:
            raise unknown_name("durability", durability, DURABILITY)
        self.path, self.closed = path, False
        whole = os.path.realpath(path)  # of a link, SQLite puts the -wal beside what it leads to
        self._files = whole, f"{whole}-wal"
        self._identity: Any = None
        self._trusted_until = 0.0
        self._wait = real_number(wait, "the 'wait' of a campaign", above=0)
        with self.explained():
            # The group commit lets one thread at a time in here.
            self._connection = sqlite3.connect(
                path.absolute(),  # so that ':memory:' is a file, too
                timeout=self._wait,
                isolation_level=None,
                check_same_thread=False,
            )
            try:
                self._check_kind()
                # A commit writes the pages it touches: small ones, since an event is small.
                self._connection.execute("PRAGMA page_size = 1024")
                self._use_wal()
                self._connection.execute(f"PRAGMA synchronous = {DURABILITY[durability]}")
            except BaseException:
                self._connection.close()
                raise

    def _check_kind(self) -> None:
        # In this order: whoever sees tables that another process just made sees its mark, too.
        (tables,) = self._one("SELECT count(*) FROM sqlite_master")
        (application,) = self._one("PRAGMA application_id")
        if application != APPLICATION and tables:
            raise UnimodalError(
                f"{self.path} must be a campaign's file, got another SQLite database: "
                "name another file."
            )
        (found,) = self._one("PRAGMA user_version")
        if tables and found != FORMAT:
            raise UnimodalError(
                f"{self.path} has format {found}, this version reads format {FORMAT}: "
                "open it with the version that wrote it."
            )

    def _use_wal(self) -> None:
        """Readers and one writer at the same time; changing to it does not wait by itself."""
        until = time.monotonic() + self._wait
        while True:
            try:
                self._connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                busy = error.sqlite_errorname.startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))
                if not busy or time.monotonic() > until:
                    raise
                time.sleep(0.01)

    @contextlib.contextmanager
    def explained(self) -> Iterator[None]:
        """Say in a sentence what SQLite reports by a code."""
        try:
            yield
        except sqlite3.Error as error:
            raise self.explanation(error) from error

    def explanation(self, error: sqlite3.Error) -> UnimodalError:
        """An error of SQLite's as a sentence."""
        return UnimodalError(self._sentence(getattr(error, "sqlite_errorname", ""), error))

    def _sentence(self, name: str, error: sqlite3.Error) -> str:
        if self.closed:
            return f"{self.path} was closed here: open it again with Campaign.open."
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            return (
                f"another process has kept {self.path} busy for {self._wait:g} s, so nothing was "
                "written: call again."
            )
        if name.startswith(("SQLITE_FULL", "SQLITE_IOERR")):
            return (
                f"{self.path} could not be written ({error}), and nothing of this call was kept: "
                "make room on the disk and call again."
            )
        if name.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")):
            return f"{self.path} must be a campaign's file; it is another kind, or damaged."
        if name.startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_PERM")):
            return f"{self.path} cannot be opened for writing: check the folder and its rights."
        return f"{self.path} could not be used ({error})."

    def begin(self) -> None:
        """Begin a transaction: nobody else writes until it ends."""
        self._connection.execute("BEGIN IMMEDIATE")
        self._identity = self._identity or self._on_disk()  # from here on there is a -wal file

    def commit(self) -> None:
        """End the transaction: all of it is on disk when this returns, under the file's name."""
        self._connection.execute("COMMIT")
        self.check_name()

    def check_name(self, trust: float = 0.0) -> None:
        """Refuse to go on if the file is no longer the one that has its name.

        If it was looked at in the last `trust` seconds, it is not looked at again: between two
        commits that follow at once, that would take a sixth of their time.
        """
        now = time.monotonic()
        if trust and now < self._trusted_until:
            return
        self._trusted_until = now + trust
        if self._on_disk() != self._identity:
            raise UnimodalError(
                f"{self.path} or its -wal file was moved, deleted or replaced while it was open, "
                "so that what is written here would be lost: put both back and open it again."
            )

    def _on_disk(self) -> Any:
        """Which file has the name now, and a -wal: SQLite writes on to files that nobody finds."""
        whole, wal = self._files
        try:
            # Whether there is a -wal costs nothing; its data, just after a commit, a third of one.
            return os.stat(whole)[1:3] if os.access(wal, os.F_OK) else None
        except OSError:
            return None

    def roll_back(self) -> None:
        """End the transaction, if there is one, as if it had not been."""
        if not self.closed and self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

    @contextlib.contextmanager
    def view(self) -> Iterator[None]:
        """What is read inside is the file as it was at one moment, whoever writes meanwhile."""
        with self.explained():
            self._connection.execute("BEGIN")
            try:
                yield
            finally:
                self._connection.execute("ROLLBACK")

    def _one(self, query: str, *values: Any) -> Any:
        return self._connection.execute(query, values).fetchone()

    def problems(self) -> list[str]:
        """What SQLite itself finds wrong with the file."""
        found = [row[0] for row in self._connection.execute("PRAGMA integrity_check")]
        return [] if found == ["ok"] else found

    def close(self) -> None:
        """Close the connection."""
        self.closed = True
        self._connection.close()
