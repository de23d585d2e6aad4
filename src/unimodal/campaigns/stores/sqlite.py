"""Campaigns in SQLite files. This is the only module that imports `sqlite3`.

`open_store` opens a file to write, `read_store` reads one beside its writers, `back_up` copies one.
Exceptions of sqlite3 do not leave this module: connections raise ours (see `_Connection`).
"""

from __future__ import annotations

import contextlib
import functools
import os
import sqlite3
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from unimodal import files
from unimodal.campaigns.events import NO_EVENT, Identity, Row, identity_of
from unimodal.campaigns.stores import file_locks as locks
from unimodal.campaigns.stores import read_only
from unimodal.campaigns.stores.address import Place
from unimodal.campaigns.stores.history import is_known
from unimodal.campaigns.stores.read_only import THIS_PROCESS, WAIT
from unimodal.campaigns.stores.sqlite_errors import (
    busy,
    code,
    explanation,
    is_unread,
    not_opened,
)
from unimodal.campaigns.stores.sqlite_migrations import MIGRATIONS, check_names, same_content
from unimodal.campaigns.stores.sqlite_schema import check_kind, found_format
from unimodal.campaigns.stores.sqlite_tables import NEXT_REWARD, Tables
from unimodal.campaigns.stores.stale_wal import check_wal
from unimodal.campaigns.stores.store import (
    Found,
    Interrupted,
    NumberTaken,
    Pausable,
    StoreToRead,
    as_durability,
)
from unimodal.errors import (
    Busy,
    StoreError,
    UnimodalError,
    real_number,
)

# FULL syncs every commit to the disk; NORMAL survives a kill, but not always a power failure.
_SYNCHRONOUS = {"full": "FULL", "fast": "NORMAL"}
_LARGEST = 2**29  # bytes of one value: a snapshot of ten million arms has them


# Connections.


class _Cursor(sqlite3.Cursor):
    """A cursor whose errors are explained by its connection."""

    connection: _Connection

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


class _Connection(sqlite3.Connection):
    """A connection that raises what `explain` makes of an error of SQLite's."""

    explain: Callable[[Exception], UnimodalError]

    def execute(self, statement: str, values: Any = ()) -> Any:
        try:
            return _Cursor(self).execute(statement, values)
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


def _connect(
    address: Any, wait: float, explain: Callable[[Exception], UnimodalError], is_uri: bool = False
) -> _Connection:
    try:
        connection = sqlite3.connect(
            address,
            timeout=wait,
            isolation_level=None,  # transactions begin and end where we say so
            check_same_thread=False,  # the group commit lets one thread at a time in
            uri=is_uri,
            factory=_Connection,
        )
    except sqlite3.Error as error:
        raise explain(error) from error
    connection.explain = explain
    return connection


def _distrust(connection: _Connection) -> None:
    """Let SQLite expect a file that somebody has tampered with: it runs no code out of it."""
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LARGEST)


def _looked(path: Path, address: str = "") -> str:
    """How a file is by a second look, through a connection that only reads; see `explanation`."""
    is_alone = not os.path.exists(f"{os.path.realpath(path)}-wal")
    usual = f"{Path(os.path.abspath(path)).as_uri()}?mode=ro{'&immutable=1' * is_alone}"
    try:
        with contextlib.closing(_connect(address or usual, WAIT, _plainly, is_uri=True)) as again:
            _distrust(again)
            (found,) = again.execute("PRAGMA quick_check(1)").fetchone()
    except StoreError as error:
        return "unread" if code(error.__cause__).startswith("SQLITE_IOERR") else "damaged"
    return "whole" if found == "ok" else "unread" if is_unread(found) else "damaged"


def _plainly(error: Exception) -> StoreError:
    """An error with SQLite's own words, around which the caller puts a sentence."""
    return StoreError(str(error))


# Files that are open to write.


class SqliteStore(Tables):
    """A campaign's file, open to write; see `Store` for what its methods promise."""

    clock: Callable[[], float] | None = None  # a file is on one machine
    is_gone = False  # whoever moved a file may put it back

    def __init__(self, path: Path, durability: str, wait: float) -> None:
        self.path, self.closed = path, False
        self._durability = _SYNCHRONOUS[as_durability(durability)]
        self._wait = real_number(wait, "the 'wait' of a campaign", above=0)
        whole = os.path.realpath(path)  # of a link, SQLite puts the -wal beside what it leads to
        self._names = whole, f"{whole}-wal"
        self._identity: Any = None  # of what has these names, as long as it is open
        self._file: locks.OpenFile | None = None
        self._writes = False
        self._known = NO_EVENT  # the last one that this handle has seen or written
        self._appended: Identity | None = None  # the last one of this transaction
        self._open()

    def _open(self) -> None:
        self._seen: int | None = None  # the version in which the last known event was looked for
        with THIS_PROCESS.opens(self, self.path, self._wait):
            try:
                self._file, self._connection = locks.open_file(
                    self.path.absolute(), self._new_connection
                )
            except OSError as error:
                raise not_opened(self.path, error) from None
        # For campaigns that nobody closes.
        self._forgotten = weakref.finalize(self, locks.let_go, self._file, self._connection)
        self._forgotten.atexit = False  # other threads may be inside SQLite then, which crashes

    def _new_connection(self, descriptor: int) -> _Connection:
        check_wal(self.path, self._names[0], descriptor)
        # Absolute, so that ':memory:' is a file, too. The connection must not keep the store alive.
        store = weakref.ref(self)
        path, wait = self.path, self._wait

        def explain(error: Exception) -> UnimodalError:
            closed, again = getattr(store(), "closed", True), functools.partial(_looked, path)
            return explanation(error, path, wait, is_closed=closed, look_again=again)

        connection = _connect(self.path.absolute(), self._wait, explain)
        try:
            _distrust(connection)
            check_kind(connection, self.path)
            # A commit writes the pages it touches: small ones, since an event is small.
            connection.execute("PRAGMA page_size = 1024")
            _use_wal(connection, self._wait)
            connection.execute(f"PRAGMA synchronous = {self._durability}")
            return connection
        except BaseException:
            connection.close()
            raise

    # Transactions.

    def begin(self) -> None:
        """Begin a transaction: nobody else writes until it ends."""
        self._begin_to_write()
        self._connection.execute("BEGIN IMMEDIATE")
        self._identity = self._identity or self._on_disk()  # from here on there is a -wal file
        if (version := self.version()) != self._seen and not self.is_new():
            known, ends, self._seen = self._known, self.ends(self._known.seq), version
            self._known = ends[-1] if ends else NO_EVENT
            if not is_known(known, ends, self.path):
                raise Interrupted(f"{self.path} was compacted by others: begin anew.")

    def _begin_to_write(self) -> None:
        """Wait until no other process writes, each in its turn."""
        if self._file is not None and not self._writes:
            if not self._file.begin_to_write(self._wait):
                raise busy(self.path, self._wait)
            self._writes = True

    def _end_to_write(self) -> None:
        """Let the next one write, if it has not been let already."""
        if self._writes and self._file is not None:
            self._writes = False
            self._file.end_to_write()

    def append(self, events: Sequence[Row]) -> None:
        """Add events (inside a transaction)."""
        super().append(events)
        self._appended = identity_of(events[-1]) if events else self._appended

    def commit(self) -> None:
        """End the transaction: all of it is on disk when this returns, under the file's name."""
        self._connection.execute("COMMIT")
        self._known, self._appended = self._appended or self._known, None
        self.check_place()
        self._end_to_write()

    def roll_back(self) -> None:
        """End the transaction, if there is one, as if it had not been."""
        self._appended = None
        try:
            if not self.closed and self._file is not None and self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        finally:
            self._end_to_write()

    def append_at_once(self, events: Sequence[Row]) -> None:
        """Add events, which are on disk when this returns; none if their numbers are taken."""
        first = events[0]
        is_one_reward = len(events) == 1 and first.kind == "reward"
        try:
            if is_one_reward and self._identity and self._known.seq == first.seq - 1:
                self._begin_to_write()  # a statement is a transaction by itself
                values = (first.seq, first.time, first.decision, first.reward, *self._known[:4])
                if self._connection.execute(NEXT_REWARD, values).rowcount != 1:
                    raise self._number_taken(first)
                self._known = identity_of(first)
                self.check_place()
                self._end_to_write()
            else:
                self.begin()
                if self.last() != first.seq - 1:
                    raise self._number_taken(first)
                self.append(events)
                self.commit()
        except NumberTaken:
            self.roll_back()
            raise

    def _number_taken(self, event: Row) -> NumberTaken:
        return NumberTaken(f"event {event.seq} of {self.path} is not the next one.")

    def check_place(self) -> None:
        """Refuse to go on if the file or its -wal is no longer the one that has the name."""
        if self._identity and self._on_disk() != self._identity:
            raise self._replaced()

    def _replaced(self) -> StoreError:
        return StoreError(
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

    # Forks, and the end.

    def pause_at_forks(self, campaign: Pausable) -> None:
        """Have a campaign paused by forks: the file is closed for that moment."""
        locks.announce(campaign)

    def let_fork(self, campaign: Pausable) -> None:
        """Have it paused no longer."""
        locks.dismiss(campaign)

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

    def close(self) -> None:
        """Close the connection."""
        self.closed = True
        self.suspend()

    def _disconnect(self) -> None:
        if self._file is None:
            return
        if self._file.is_shared():
            # The last connection that SQLite knows of would delete the -wal; but it may be wrong
            # about that, since copying the file drops its locks. One that only reads deletes none.
            address = f"{Path(os.path.abspath(self.path)).as_uri()}?mode=ro"
            explain = self._connection.explain
            with (
                contextlib.suppress(UnimodalError, sqlite3.Error),
                contextlib.closing(_connect(address, self._wait, explain, is_uri=True)) as reader,
            ):
                reader.execute("SELECT count(*) FROM sqlite_master").fetchone()
                self._connection.close()
        self._forgotten()
        THIS_PROCESS.closes(self)


def _use_wal(connection: _Connection, wait: float) -> None:
    """Readers and one writer at the same time; changing to it does not wait by itself."""
    until = time.monotonic() + wait
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except Busy:
            if time.monotonic() > until:
                raise
            time.sleep(0.01)


def is_there(path: Place, wait: float) -> bool:
    """Whether there is a file."""
    return _file(path).exists()


def open_store(path: Place, durability: str, wait: float) -> SqliteStore:
    """Open a file to write, made if it is not there."""
    return SqliteStore(_file(path), durability, wait)


def _file(path: Place) -> Path:
    if not isinstance(path, Path):
        raise StoreError(f"{path} must be a file's name, got the address of a database.")
    return path


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


# Files that are read.


class SqliteReader(Tables):
    """A campaign's file through a connection that cannot write, at one moment."""

    def __init__(self, path: Path, connection: _Connection) -> None:
        self.path, self._connection = path, connection

    def copy_to(self, file: Path) -> None:
        """Copy all pages into another file."""
        self._connection.copy_to(file)


def read_store(path: Place, work: Callable[[StoreToRead], Found]) -> Found:
    """What some work finds in an existing file, as it is at one moment.

    If somebody who opens or closes the file comes in between, the work is done again.
    """
    return _read(_file(path), work)


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
    return _read(_file(path), lambda reader: files.write(file, reader.copy_to, mode))


def _read(path: Path, work: Callable[[SqliteReader], Found]) -> Found:
    connect = functools.partial(_connected_to_read, path)
    return read_only.read(path, connect, lambda connection: _found(path, connection, work))


def _connected_to_read(path: Path, address: str) -> contextlib.closing[_Connection]:
    """A connection to a file, or to a copy of it, by its address."""

    def explain(error: Exception) -> UnimodalError:
        again = functools.partial(_looked, path, address)
        return explanation(error, path, WAIT, to_read=True, look_again=again)

    return contextlib.closing(_connect(address, WAIT, explain, is_uri=True))


def _found(path: Path, connection: _Connection, work: Callable[[SqliteReader], Found]) -> Found:
    """What some work finds through a connection, in a transaction that only reads."""
    connection.execute("BEGIN")
    try:
        _distrust(connection)
        check_kind(connection, path)
        reader = SqliteReader(path, connection)
        if reader.is_new():
            raise read_only.empty(path)
        return work(reader)
    finally:
        if connection.in_transaction:  # SQLite may have ended it with an error
            connection.execute("ROLLBACK")


# Files of older formats.


def migrate_file(path: Path) -> tuple[int, int, Path | None]:
    """Bring a file up to date: its format before and after, and the copy that is kept of it.

    The copy is made while nobody else can write; then all changes are one transaction.
    """

    def explain(error: Exception) -> UnimodalError:
        return explanation(error, path, WAIT)

    before = _format(path)  # by one that only reads: others may have a file of today's formats open
    if before not in MIGRATIONS:
        return before, before, None
    with contextlib.closing(_connect(path.absolute(), WAIT, explain)) as connection:
        _distrust(connection)
        check_names(connection, path, before)
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("BEGIN IMMEDIATE")
        kept = path.with_name(f"{path.name}.format{before}.bak")
        with contextlib.closing(_connect(path.absolute(), WAIT, explain)) as reader:
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
    connect = functools.partial(_connected_to_read, path)
    found = read_only.read(path, connect, lambda reader: found_format(reader, path, MIGRATIONS))
    if found is None:
        raise read_only.empty(path)
    return found


def _keep_copy(
    reader: _Connection, kept: Path, explain: Callable[[Exception], UnimodalError]
) -> None:
    """Copy a file; or see that a copy that is there, of a run that was killed, is the same."""
    if kept.exists():
        with (
            contextlib.suppress(sqlite3.Error, UnicodeDecodeError),  # then it is no copy
            contextlib.closing(_connect(kept.absolute(), WAIT, explain)) as other,
        ):
            if same_content(reader, other):
                return
    with files.new_file(kept, "the copy of an older file") as made:
        reader.copy_to(made)


# Files of one table, for others than campaigns.


class SmallTable:
    """A SQLite file with one table, safe against being killed at any moment.

    `create` is the statement that makes the table if it is not there. Errors are StoreErrors with
    SQLite's own words (`_plainly`).
    """

    def __init__(self, path: Path, create: str) -> None:
        self._connection = _connect(path, 5.0, _plainly)
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


def plain_connection(path: Path) -> Any:
    """A connection as sqlite3 has it, to measure what commits cost without us."""
    return sqlite3.connect(path)
