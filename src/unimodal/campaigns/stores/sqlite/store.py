"""A campaign's file that is open to write."""

from __future__ import annotations

import contextlib
import functools
import os
import time
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from unimodal.campaigns.events import NO_EVENT, Rewarded, Row, identity_of
from unimodal.campaigns.stores.event_identity import is_known
from unimodal.campaigns.stores.forks import PausedAtForks
from unimodal.campaigns.stores.sqlite import file_locks
from unimodal.campaigns.stores.sqlite.connection import (
    DriverError,
    SqliteConnection,
    connect,
    distrust,
    looked_again,
)
from unimodal.campaigns.stores.sqlite.errors import busy, explanation, not_opened
from unimodal.campaigns.stores.sqlite.schema import check_kind
from unimodal.campaigns.stores.sqlite.shared_memory import THIS_PROCESS
from unimodal.campaigns.stores.sqlite.stale_wal import check_wal
from unimodal.campaigns.stores.sqlite.tables import NEXT_REWARD, SqliteTables
from unimodal.campaigns.stores.sqlite.transaction import Transaction
from unimodal.campaigns.stores.store import Interrupted, NumberTaken, as_durability
from unimodal.errors import Busy, StoreError, UnimodalError, real_number

# FULL syncs every commit to the disk; NORMAL survives a kill, but not always a power failure.
_SYNCHRONOUS = {"full": "FULL", "fast": "NORMAL"}


class SqliteStore(SqliteTables, PausedAtForks):
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
        self._file: file_locks.OpenFile | None = None
        self._transaction: Transaction | None = None
        self._known = NO_EVENT  # the last one that this handle has seen or written
        self._open()

    def _open(self) -> None:
        self._version = 0  # of the file, when the transaction began
        self._seen: int | None = None  # the version in which the last known event was looked for
        with THIS_PROCESS.opens(self, self.path, self._wait):
            try:
                self._file, self._connection = file_locks.open_file(
                    self.path.absolute(), self._new_connection
                )
            except OSError as error:
                raise not_opened(self.path, error) from None
        # For campaigns that nobody closes.
        self._forgotten = weakref.finalize(self, file_locks.let_go, self._file, self._connection)
        self._forgotten.atexit = False  # other threads may be inside SQLite then, which crashes

    def _new_connection(self, descriptor: int) -> SqliteConnection:
        check_wal(self.path, self._names[0], descriptor)
        # Absolute, so that ':memory:' is a file, too. The connection must not keep the store alive.
        store = weakref.ref(self)
        path, wait = self.path, self._wait

        def explain(error: Exception) -> UnimodalError:
            closed, again = getattr(store(), "closed", True), functools.partial(looked_again, path)
            return explanation(error, path, wait, is_closed=closed, look_again=again)

        connection = connect(self.path.absolute(), self._wait, explain)
        try:
            distrust(connection)
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
        self._take_turn()
        self._connection.execute("BEGIN IMMEDIATE")
        self._identity = self._identity or self._on_disk()  # from here on there is a -wal file
        self._version = self.data_version()
        if self._version != self._seen and not self.is_new():
            known, ends, self._seen = self._known, self.ends(self._known.seq), self._version
            self._known = ends[-1] if ends else NO_EVENT
            if not is_known(known, ends, self.path):
                raise Interrupted(f"{self.path} was compacted by others: begin anew.")

    def version(self) -> int:
        """A number that changes when somebody else has written to the file."""
        return self._version

    def _take_turn(self) -> None:
        """Wait until no other process writes, each in its turn."""
        if self._file is not None and self._transaction is None:
            transaction = Transaction(self._file)
            if not transaction.begin(self._wait):
                raise busy(self.path, self._wait)
            self._transaction = transaction

    def _end_turn(self) -> None:
        """Let the next one write."""
        transaction, self._transaction = self._transaction, None
        if transaction is not None:
            transaction.end()

    def append(self, events: Sequence[Row]) -> None:
        """Add events (inside a transaction)."""
        super().append(events)
        if self._transaction is not None:
            self._transaction.note(events)

    def commit(self) -> None:
        """End the transaction: all of it is on disk when this returns, under the file's name."""
        self._connection.execute("COMMIT")
        if self._transaction is not None:
            self._known = self._transaction.last(self._known)
        self.check_place()
        self._end_turn()

    def roll_back(self) -> None:
        """End the transaction, if there is one, as if it had not been."""
        try:
            if not self.closed and self._file is not None and self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        finally:
            self._end_turn()

    def append_at_once(self, events: Sequence[Row]) -> None:
        """Add events, which are on disk when this returns; none if their numbers are taken."""
        first = events[0]
        is_one_reward = len(events) == 1 and first.kind == Rewarded.kind
        try:
            if is_one_reward and self._identity and self._known.seq == first.seq - 1:
                self._take_turn()  # a statement is a transaction by itself
                values = (first.seq, first.time, first.decision, first.reward, *self._known[:4])
                if self._connection.execute(NEXT_REWARD, values).rowcount != 1:
                    raise self._number_taken(first)
                self._known = identity_of(first)
                self.check_place()
                self._end_turn()
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
            return file_locks.file_identity(whole), file_locks.inode_of(wal)
        except OSError:
            return None

    # Forks, and the end.

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
                contextlib.suppress(UnimodalError, DriverError),
                contextlib.closing(connect(address, self._wait, explain, is_uri=True)) as reader,
            ):
                reader.execute("SELECT count(*) FROM sqlite_master").fetchone()
                self._connection.close()
        self._forgotten()
        THIS_PROCESS.closes(self)


def _use_wal(connection: SqliteConnection, wait: float) -> None:
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
