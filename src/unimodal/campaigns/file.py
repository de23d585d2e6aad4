"""A campaign's file: an SQLite database, opened, checked, written in transactions."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from unimodal.campaigns.opening import THIS_PROCESS
from unimodal.campaigns.stores import file_locks as locks
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
        self._durability = DURABILITY[durability]
        self._wait = real_number(wait, "the 'wait' of a campaign", above=0)
        whole = os.path.realpath(path)  # of a link, SQLite puts the -wal beside what it leads to
        self._names = whole, f"{whole}-wal"
        self._identity: Any = None  # of what has these names, as long as it is open
        self._file: locks.OpenFile | None = None
        self._writes = False
        self._open()

    def _open(self) -> None:
        with self.explained(), THIS_PROCESS.opens(self, self.path, self._wait):
            try:
                # Absolute, so that ':memory:' is a file, too.
                self._file, self._connection = locks.open_file(self.path.absolute(), self._connect)
            except OSError:
                raise self._not_writable() from None
        # For campaigns that nobody closes.
        self._forgotten = weakref.finalize(self, locks.let_go, self._file, self._connection)
        self._forgotten.atexit = False  # other threads may be inside SQLite then, which crashes

    def _connect(self) -> sqlite3.Connection:
        # The group commit lets one thread at a time in here.
        self._connection = sqlite3.connect(
            self.path.absolute(),
            timeout=self._wait,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            self._check_kind()
            # A commit writes the pages it touches: small ones, since an event is small.
            self._connection.execute("PRAGMA page_size = 1024")
            self._use_wal()
            self._connection.execute(f"PRAGMA synchronous = {self._durability}")
            return self._connection
        except BaseException:
            self._connection.close()
            raise

    def suspend(self) -> None:
        """Let go of the file until `resume`, outside of a transaction."""
        self._disconnect()
        self._file = None

    def resume(self) -> None:
        """Take the file again; refused if it is another one."""
        if self._file is None and not self.closed:
            known, self._identity = self._identity, None
            if known is not None and (self._on_disk() or (None,))[0] != known[0]:
                self._identity = known
                raise self._replaced()
            self._open()

    def _disconnect(self) -> None:
        if self._file is None:
            return
        if self._file.is_shared():
            # The last connection that SQLite knows of would delete the -wal; but it may be wrong
            # about that, since copying the file drops its locks. One that only reads deletes none.
            with contextlib.suppress(sqlite3.Error), contextlib.closing(self._reader()) as reader:
                reader.execute("SELECT count(*) FROM sqlite_master").fetchone()
                self._connection.close()
        self._forgotten()
        THIS_PROCESS.closes(self)

    def _reader(self) -> sqlite3.Connection:
        address = f"{Path(os.path.abspath(self.path)).as_uri()}?mode=ro"
        return sqlite3.connect(address, uri=True, timeout=self._wait, isolation_level=None)

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
            return self._busy()
        if name.startswith(("SQLITE_FULL", "SQLITE_IOERR")):
            return (
                f"{self.path} could not be written ({error}), and nothing of this call was kept: "
                "make room on the disk and call again."
            )
        if name.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")):
            return f"{self.path} must be a campaign's file; it is another kind, or damaged."
        if name.startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_PERM")):
            return str(self._not_writable())
        return f"{self.path} could not be used ({error})."

    def _busy(self) -> str:
        return (
            f"another process has kept {self.path} busy for {self._wait:g} s, so nothing was "
            "written: call again."
        )

    def _not_writable(self) -> UnimodalError:
        return UnimodalError(
            f"{self.path} cannot be opened for writing: check the folder and its rights."
        )

    def begin(self) -> None:
        """Begin a transaction: nobody else writes until it ends."""
        self.begin_to_write()
        self._connection.execute("BEGIN IMMEDIATE")
        self._identity = self._identity or self._on_disk()  # from here on there is a -wal file

    def begin_to_write(self) -> None:
        """Wait until no other process writes, each in its turn."""
        if self._file is not None and not self._writes:
            if not self._file.begin_to_write(self._wait):
                raise UnimodalError(self._busy())
            self._writes = True

    def end_to_write(self) -> None:
        """Let the next one write, if it has not been let already."""
        if self._writes and self._file is not None:
            self._writes = False
            self._file.end_to_write()

    def commit(self) -> None:
        """End the transaction: all of it is on disk when this returns, under the file's name."""
        self._connection.execute("COMMIT")
        self.check_name()
        self.end_to_write()

    def check_name(self) -> None:
        """Refuse to go on if the file or its -wal is no longer the one that has the name."""
        if self._on_disk() != self._identity:
            raise self._replaced()

    def _replaced(self) -> UnimodalError:
        return UnimodalError(
            f"{self.path} or its -wal file was moved, deleted or replaced while it was open, "
            "so that what is written here would be lost: put both back and open it again."
        )

    def _on_disk(self) -> Any:
        """Which files have the names now: SQLite writes on to files that nobody finds."""
        whole, wal = self._names
        try:
            return locks.identity_of(whole), locks.inode_of(wal)
        except OSError:
            return None

    def roll_back(self) -> None:
        """End the transaction, if there is one, as if it had not been."""
        try:
            if not self.closed and self._file is not None and self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        finally:
            self.end_to_write()

    @contextlib.contextmanager
    def view(self) -> Iterator[None]:
        """What is read inside is the file as it was at one moment, whoever writes meanwhile."""
        with self.explained():
            self._connection.execute("BEGIN")
            try:
                yield
            finally:
                self._connection.execute("ROLLBACK")

    def copy_to(self, other: sqlite3.Connection) -> None:
        """Copy all pages into another database, as they are at this moment."""
        self._connection.backup(other)

    def _one(self, query: str, *values: Any) -> Any:
        return self._connection.execute(query, values).fetchone()

    def problems(self) -> list[str]:
        """What SQLite itself finds wrong with the file."""
        found = [row[0] for row in self._connection.execute("PRAGMA integrity_check")]
        return [] if found == ["ok"] else found

    def close(self) -> None:
        """Close the connection."""
        self.closed = True
        self._disconnect()
        self._file = None
