"""A campaign in PostgreSQL that is open to write.

An advisory lock, which a transaction holds, orders those who append to a campaign; its key is made
of the campaign's name. The primary key on the event's number would show it if two appended at once
nevertheless.

Where a connection is lost, another one is made, for at most `wait` seconds. What had not been
committed is done again by the caller (`Interrupted`). A commit that was sent and not answered may
have arrived or not: its first event carries a random token, so the store looks for that event, with
the lock held, before it says which (see docs/decisions/0018-postgresql.md).
"""

from __future__ import annotations

import hashlib
import weakref
from collections.abc import Iterator, Sequence
from typing import Any

from unimodal.campaigns.events import NO_EVENT, Identity, Row
from unimodal.campaigns.stores.address import DatabaseAddress
from unimodal.campaigns.stores.event_identity import is_known
from unimodal.campaigns.stores.forks import PausedAtForks
from unimodal.campaigns.stores.postgresql.connection import PostgresqlConnection
from unimodal.campaigns.stores.postgresql.session import Session
from unimodal.campaigns.stores.postgresql.statements import statement
from unimodal.campaigns.stores.postgresql.tables import PostgresqlTables
from unimodal.campaigns.stores.postgresql.transaction import State, Transaction, last_of
from unimodal.campaigns.stores.store import (
    Interrupted,
    NumberTaken,
    SetBack,
    as_durability,
)
from unimodal.errors import StoreError, UnimodalError, real_number

_IDLE = 10.0  # seconds for which a transaction may be left idle, or half of `wait` if that is more
_NEWS = 1000  # events of others that are read together with the lock
_CHANGES_LOG = ("put_events", "drop_events")


class PostgresqlStore(PostgresqlTables, PausedAtForks):
    """A campaign in a database, open to write; see `Store` for what its methods promise."""

    def __init__(self, path: DatabaseAddress, durability: str, wait: float) -> None:
        super().__init__()
        self.path, self.closed, self.is_gone = path, False, False
        self._wait = real_number(wait, "the 'wait' of a campaign", above=0)
        self._is_full = as_durability(durability) == "full"
        self._lock = {"key": _lock_key(path.campaign), "wait": int(1000 * self._wait) or 1}
        self._campaign: int | None = None
        self._known = NO_EVENT  # the last one that this handle has seen or written
        self._of_others = 0  # the last event of others that it has seen
        self._transaction: Transaction | None = None
        # One in which a lost commit was looked for in vain; whoever begins goes on with it, so that
        # a commit which is still on its way cannot come in between.
        self._held: Transaction | None = None
        self._session = Session(path, durability, self._wait)
        # For campaigns that nobody closes; not at the end, when other threads may still use it.
        weakref.finalize(self, self._session.lease.abandon).atexit = False
        try:
            self._session.again(self._session.connected)
        except BaseException:
            self._session.close()
            raise
        self._session.release()

    def clock(self) -> float:
        """The server's time."""
        return self._session.now()

    # Questions.

    def _ask(self, what: str, /, **values: Any) -> list[list[Any]]:
        if self._transaction is not None:
            return self._ask_inside(self._transaction, what, values)
        if self._campaign is None and what != "campaign":
            self.is_new()  # looks for it
        try:
            return self._tell(self._session.connected(), statement(what), values)
        except Interrupted:
            self._session.lease.lose()
            raise
        finally:
            self._session.release()

    def _ask_inside(
        self, transaction: Transaction, what: str, values: dict[str, Any]
    ) -> list[list[Any]]:
        """Ask in a transaction, which ends if its connection is lost: another knows nothing of it.

        The caller does all of it again, but not for ever.
        """
        connection = self._connection_of(transaction)
        if what in _CHANGES_LOG:
            transaction.news = None
        try:
            self._send_pending(transaction, connection)
            return self._tell(connection, statement(what), values)
        except Interrupted as error:
            transaction.state = State.OVER
            self._session.lose(error)
            raise

    def _tell(
        self, connection: PostgresqlConnection, text: str, values: dict[str, Any]
    ) -> list[list[Any]]:
        return connection.ask(text, {"campaign": self._campaign, **values})

    def _connection_of(self, transaction: Transaction | None) -> PostgresqlConnection:
        """The connection of a transaction that is begun, and still is for the server."""
        if self.closed:
            raise StoreError(f"{self.path} was closed here: open it again with Campaign.open.")
        if transaction is not None and transaction.is_alive:
            assert transaction.connection is not None
            return transaction.connection
        lost = Interrupted(f"{self.path} cannot be reached: start it, or call again.")
        if transaction is not None and transaction.state is State.BEGUN:
            transaction.state = State.OVER
            self._session.lose(lost)
        raise lost

    def is_new(self) -> bool:
        """Whether nothing has been written yet."""
        if self._campaign is None and self._transaction is None:
            return self._session.again(super().is_new)
        return super().is_new()

    # Transactions.

    def begin(self) -> None:
        """Begin a transaction: nobody else writes until it ends."""
        held, self._held = self._held, None
        if held is not None and held.is_alive:
            self._transaction = held
        else:
            self._session.again(self._begin)
        if self._transaction is not None and self._transaction.is_moved:
            raise Interrupted(f"{self.path} was compacted by others: begin anew.")

    def _begin(self) -> None:
        transaction = self._transaction = Transaction()
        known = self._known
        transaction.connection = self._session.connected()
        (_, ((campaign, now),), _, ends, news) = self._tell(
            transaction.connection,
            " ".join(map(statement, ("begin", "wait_for_disk", "ends", "news"))),
            {
                **self._lock,
                "idle": int(1000 * max(self._wait / 2, _IDLE)),
                "name": self.path.campaign,
                "known": known.seq,
                "limit": _NEWS,
            },
        )
        transaction.state = State.BEGUN
        self._session.set_clock(now)
        if campaign != self._campaign:
            self._meet(campaign)
            return
        self._meet_end(ends)
        if len(news) < _NEWS:
            transaction.news = known.seq, news
        transaction.is_moved = not is_known(known, list(map(Identity._make, ends)), self.path)

    def _meet(self, campaign: int | None) -> None:
        """Take note of the number under which the campaign is kept."""
        if self._campaign is not None and self._known.seq:
            raise self._removed()
        self._campaign = campaign
        self._meet_end([] if campaign is None else self._ask("ends", known=0)[0])

    def _meet_end(self, ends: list[Any]) -> None:
        """Take note of the last event: that of others, if it is not the one that was known."""
        last = last_of(ends)
        if last != self._known:
            self._known, self._of_others = last, last.seq

    def _removed(self) -> StoreError:
        self.is_gone = True
        return StoreError(
            f"{self.path} was removed from its database while it was open, so that nothing can be "
            "written: open it again."
        )

    def create(self, settings: dict[str, Any]) -> None:
        """Write what a new campaign is about (inside a transaction)."""
        if self._transaction is not None:
            self._transaction.creates = True
        super().create(settings)

    def commit(self) -> None:
        """End the transaction: all of it is durable when this returns."""
        transaction = self._transaction
        connection = self._connection_of(transaction)
        assert transaction is not None
        text = statement("commit" if self._is_full else "commit_fast")
        values: dict[str, Any] = {}
        if transaction.pending:
            name, values = transaction.to_send()
            text = f"{statement(name)} {text}"
        transaction.state = State.SENT
        try:
            self._tell(connection, text, values)
        except Interrupted as error:
            self._find_out(transaction, error)
        else:
            if connection.rolled_back:  # so it ends if something had failed before
                transaction.state = State.OVER
                failed = Interrupted(f"{self.path} has rolled a transaction back: call again.")
                self._session.lose(failed)
                raise failed
            if transaction.pending:
                self._check_appended(connection)
        self._committed(transaction)

    def _committed(self, transaction: Transaction) -> None:
        transaction.state, self._transaction = State.OVER, None
        self._known = transaction.last(self._known)
        self._session.release()
        self._session.settle()

    def roll_back(self) -> None:
        """End the transaction, if there is one, as if it had not been.

        One that is held goes on: whoever was told to do a call again begins now.
        """
        transaction, self._transaction = self._transaction, None
        if transaction is None:
            return
        transaction.state = State.OVER
        if transaction.creates:
            self._campaign = None
        connection = transaction.connection
        try:
            if connection is not None and connection.in_transaction:
                connection.ask(statement("roll_back"))
        except UnimodalError:
            pass  # then the server does it, when the connection is given back
        finally:
            self._session.release()

    def version(self) -> int:
        """The number of the last event of others, as it was when the transaction began."""
        return self._of_others

    # Events.

    def append(self, events: Sequence[Row]) -> None:
        """Add events (inside a transaction); they are sent with the commit, or before it."""
        connection, transaction = self._connection_of(self._transaction), self._transaction
        assert transaction is not None
        self._send_pending(transaction, connection)
        transaction.pending = list(events)

    def _send_pending(self, transaction: Transaction, connection: PostgresqlConnection) -> None:
        if transaction.pending:
            name, values = transaction.to_send()
            transaction.pending, transaction.news = (), None
            self._tell(connection, statement(name), values)
            self._check_appended(connection)

    def _check_appended(self, connection: PostgresqlConnection) -> None:
        """Refuse to go on if the campaign was not there any more: then no row was made."""
        if connection.inserted == 0:
            raise self._removed()

    def append_at_once(self, events: Sequence[Row]) -> None:
        """Add events in one message; none if their numbers are taken."""
        before = events[0].seq - 1
        taken = NumberTaken(f"event {events[0].seq} of {self.path} is not the next one.")
        try:
            if self._held is None and self._campaign is not None and self._known.seq == before:
                self._send_at_once(events, taken)
                return
            self.begin()
            if self.last() != before:
                raise taken
        except NumberTaken:
            self.roll_back()
            raise
        self.append(events)
        self.commit()

    def _send_at_once(self, events: Sequence[Row], taken: NumberTaken) -> None:
        """Begin, append and commit in one message, if the last event is the one that is known."""
        transaction = self._transaction = Transaction()
        transaction.pending = events
        name, values = transaction.to_send(self._known)
        values |= {**self._lock, "fast": not self._is_full}
        transaction.state = State.SENT
        try:
            connection = transaction.connection = self._session.connected()
            if name == "append_reward" and connection.is_plain:
                (((is_next,),),) = self._tell(connection, statement("reward_at_once"), values)
            else:
                end = "commit" if self._is_full else "commit_fast"
                parts = ("begin_at_once", "wait_for_disk", name, end)
                self._tell(connection, " ".join(map(statement, parts)), values)
                is_next = connection.inserted
        except Interrupted as error:
            self._find_out(transaction, error)
        else:
            if not is_next:  # or the campaign is gone, which `begin` finds
                raise taken
        self._committed(transaction)

    # A commit that was not answered.

    def _find_out(self, transaction: Transaction, error: Interrupted) -> None:
        """Return if a commit that was sent has arrived; or else say that it may be done again."""
        transaction.state, self._transaction = State.UNKNOWN, None
        if transaction.creates:
            self._campaign = None  # it is looked for again
        stamp, arrived = transaction.stamp, False
        try:
            self._session.lose(error)
            if stamp is not None:
                arrived = self._session.again(lambda: self._has_arrived(stamp.first, stamp.token))
        except SetBack:  # so it was not kept
            raise
        except StoreError as unknown:
            raise StoreError(
                f"{str(unknown).removesuffix('.')}; it is not known whether this call was kept."
            ) from None
        if not arrived:
            raise error

    def _has_arrived(self, first: int, token: int) -> bool:
        """Whether the log has the event with this token.

        The lock is held while it is looked for. So a commit that is still on its way has come to
        its end; or it waits for the lock, which is held until the call has been done again, and
        then finds its number taken.
        """
        self._begin()
        try:
            found = self._one("token", first=first)
            if found is None and self.last() >= first:
                raise StoreError(
                    f"{self.path} was compacted before it was seen whether a commit had arrived."
                )
            if found != (token,):
                self._held, self._transaction = self._transaction, None
        finally:
            self.roll_back()
        return self._held is None

    # Reading what was read with the lock.

    def rows(self, after: int = 0, until: int | None = None) -> Iterator[list[tuple[Any, ...]]]:
        """The events after a number, and up to another, in order: some at a time, as tuples."""
        inside = self._transaction
        news = None if inside is None or until is not None else inside.news_after(after)
        if news is None:
            yield from super().rows(after, until)
        elif news:
            yield self.as_events(news)

    def check_place(self) -> None:
        """Do nothing: whoever appends looks whether the campaign is there."""

    # Forks, and the end.

    def suspend(self) -> None:
        """Let go of connections until `resume`, outside of a transaction."""
        self._session.suspend()

    def resume(self) -> None:
        """Do nothing: the next call connects."""

    def close(self) -> None:
        """Close the connection."""
        self.closed = True
        self._session.close()


def _lock_key(campaign: str) -> int:
    """The key of the lock on a campaign; two that have the same only wait for each other."""
    digest = hashlib.blake2b(f"unimodal campaign {campaign}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
