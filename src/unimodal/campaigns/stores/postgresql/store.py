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
import secrets
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from unimodal.campaigns.clock import steady
from unimodal.campaigns.events import NO_EVENT, Event, Identity, identity_of
from unimodal.campaigns.stores import forks
from unimodal.campaigns.stores.address import DatabaseAddress
from unimodal.campaigns.stores.event_identity import is_known
from unimodal.campaigns.stores.postgresql.connection import PostgresqlConnection
from unimodal.campaigns.stores.postgresql.reading import (
    PAUSES,
    Link,
)
from unimodal.campaigns.stores.postgresql.schema import (
    bring_up_to_date,
    check_durability,
    check_writable,
    greet,
)
from unimodal.campaigns.stores.postgresql.statements import statement
from unimodal.campaigns.stores.postgresql.tables import PostgresqlTables, as_values
from unimodal.campaigns.stores.store import (
    Interrupted,
    NumberTaken,
    Pausable,
    SetBack,
    as_durability,
)
from unimodal.errors import StoreError, UnimodalError, real_number

_IDLE = 10.0  # seconds for which a transaction may be left idle, or half of `wait` if that is more
_NEWS = 1000  # events of others that are read together with the lock

Done = TypeVar("Done")


class PostgresqlStore(PostgresqlTables):
    """A campaign in a database, open to write; see `Store` for what its methods promise."""

    def __init__(self, path: DatabaseAddress, durability: str, wait: float) -> None:
        super().__init__()
        self.path, self.closed, self.is_gone = path, False, False
        self._wait = real_number(wait, "the 'wait' of a campaign", above=0)
        self._is_full, self._is_plain = as_durability(durability) == "full", False
        self._key = _lock_key(path.campaign)
        self._campaign: int | None = None
        self._begun = False  # a transaction, which only the connection that began it knows of
        self._is_created_here = False  # in this transaction
        self._known = NO_EVENT  # the last one that this handle has seen or written
        self._is_moved = False  # when the transaction began, that one was in an archive
        self._of_others = 0  # the last event of others that it has seen
        self._news: list[Any] | None = None  # the events after `_news_after`, read with the lock
        self._news_after = 0
        self._is_held = False  # a transaction in which a lost commit was looked for, in vain
        self._pending: list[Event] = []  # to be sent with the commit
        self._sent: tuple[int, int] | None = None  # first event and token of this transaction
        self._trouble: float | None = None  # since when the server cannot be reached
        self._last_trouble, self._tries = 0.0, 0
        self._server_time, self._then = 0.0, 0.0
        self._link = Link()
        # For campaigns that nobody closes; not at the end, when other threads may still use it.
        weakref.finalize(self, self._link.close).atexit = False
        self._again_until_reached(self._connected)

    def clock(self) -> float:
        """The server's time, as it was told last and as a steady clock has gone since."""
        return self._server_time + (steady() - self._then)

    # Connections.

    def _connected(self) -> PostgresqlConnection:
        """The connection, made if there is none: each may be to another server."""
        if self.closed:
            raise StoreError(f"{self.path} was closed here: open it again with Campaign.open.")
        if self._link.connection is not None and not self._link.connection.is_lost:
            return self._link.connection
        self._link.close()
        connection = PostgresqlConnection(self.path, self._wait)
        try:
            greeting = greet(connection, self.path)
            check_writable(greeting, self.path)
            if self._is_full:
                check_durability(greeting, self.path)
            has_functions = bring_up_to_date(connection, self.path, greeting)
            self._is_plain = greeting.is_plain and has_functions
        except BaseException:
            connection.close()
            raise
        self._set_clock(greeting.time)
        self._link.connection = connection
        return connection

    def _set_clock(self, told: float) -> None:
        self._server_time, self._then = told, steady()

    def _again_until_reached(self, work: Callable[[], Done]) -> Done:
        """Do something that has no effect if it is interrupted, again until there is no time."""
        while True:
            try:
                return work()
            except Interrupted as error:
                self._begun = False
                self._lose(error)

    def _lose(self, error: Interrupted) -> None:
        """Let go of a connection, and wait a little; refused if that has gone on for too long."""
        self._link.close()
        now = time.monotonic()
        if self._trouble is None or now - self._last_trouble > 2 * self._wait:
            self._trouble, self._tries = now, 0
        self._last_trouble = now
        if now - self._trouble >= self._wait:
            self._settle()
            raise StoreError(str(error))
        time.sleep(PAUSES[min(self._tries, len(PAUSES) - 1)])
        self._tries += 1

    def _settle(self) -> None:
        self._trouble, self._tries = None, 0

    def _ask(self, what: str, /, **values: Any) -> list[list[Any]]:
        connection = self._connected_still() if self._begun else self._connected()
        if self._campaign is None and what != "campaign" and not self._begun:
            self.is_new()  # looks for it
        try:
            self._send_pending(connection)
            return self._tell(connection, statement(what), values)
        except Interrupted as error:
            if self._begun:  # the caller does all of it again, but not for ever
                self._lose(error)
            raise

    def _tell(
        self, connection: PostgresqlConnection, text: str, values: dict[str, Any]
    ) -> list[list[Any]]:
        return connection.ask(text, {"campaign": self._campaign, **values})

    def is_new(self) -> bool:
        """Whether nothing has been written yet."""
        if self._campaign is None and not self._begun:
            return self._again_until_reached(super().is_new)
        return super().is_new()

    # Transactions.

    def begin(self) -> None:
        """Begin a transaction: nobody else writes until it ends."""
        held, self._is_held = self._is_held, False
        connection = self._link.connection
        if held and connection is not None and connection.in_transaction:
            self._begun = True
        else:
            self._again_until_reached(self._begin)
        if self._is_moved:
            raise Interrupted(f"{self.path} was compacted by others: begin anew.")

    def _begin(self) -> None:
        self._pending, self._sent, self._news, self._begun = [], None, None, False
        self._is_moved, known = False, self._known
        (_, ((campaign, now),), _, ends, news) = self._tell(
            self._connected(),
            " ".join(map(statement, ("begin", "wait_for_disk", "ends", "news"))),
            {
                **self._transaction_values(),
                "idle": int(1000 * max(self._wait / 2, _IDLE)),
                "name": self.path.campaign,
                "known": known.seq,
                "limit": _NEWS,
            },
        )
        self._set_clock(now)
        self._begun = True
        if campaign != self._campaign:
            self._meet(campaign)
            return
        self._meet_end(ends)
        if len(news) < _NEWS:
            self._news, self._news_after = news, known.seq
        self._is_moved = not is_known(known, list(map(Identity._make, ends)), self.path)

    def _meet(self, campaign: int | None) -> None:
        """Take note of the number under which the campaign is kept."""
        if self._campaign is not None and self._known.seq:
            raise self._removed()
        self._campaign = campaign
        self._meet_end([] if campaign is None else self._ask("ends", known=0)[0])

    def _meet_end(self, ends: list[Any]) -> None:
        """Take note of the last event: that of others, if it is not the one that was known."""
        last = Identity._make(ends[-1]) if ends else NO_EVENT
        if last != self._known:
            self._known, self._of_others = last, last.seq

    def _removed(self) -> StoreError:
        self.is_gone = True
        return StoreError(
            f"{self.path} was removed from its database while it was open, so that nothing can be "
            "written: open it again."
        )

    def _transaction_values(self) -> dict[str, Any]:
        return {"wait": int(1000 * self._wait) or 1, "key": self._key, "fast": not self._is_full}

    def commit(self) -> None:
        """End the transaction: all of it is durable when this returns."""
        values = self._pending_values()
        text = self._commit_text
        if self._pending:
            text = f"{statement(values.pop('statement'))} {text}"
        try:
            connection = self._connected_still()
            self._tell(connection, text, values)
            if connection.status == "ROLLBACK":  # so it ends if something had failed before
                raise Interrupted(f"{self.path} has rolled a transaction back: call again.")
            if self._pending:
                self._check_appended(connection)
        except Interrupted as error:
            self._find_out(error)
        self._committed()

    def create(self, settings: dict[str, Any]) -> None:
        """Write what a new campaign is about (inside a transaction)."""
        super().create(settings)
        self._is_created_here = True

    @property
    def _commit_text(self) -> str:
        return statement("commit" if self._is_full else "commit_fast")

    def _committed(self) -> None:
        if self._sent is not None:
            self._known = self._last_sent
        self._is_created_here = self._begun = False
        self._pending, self._sent, self._news = [], None, None
        self._settle()

    def _connected_still(self) -> PostgresqlConnection:
        """The connection of this transaction: another one would know nothing of it."""
        connection = self._link.connection
        if self.closed or connection is None or not (self._begun and connection.in_transaction):
            self._connected()  # which refuses a store that was closed
            raise Interrupted(f"{self.path} cannot be reached: start it, or call again.")
        return connection

    def roll_back(self) -> None:
        """End the transaction, if there is one, as if it had not been."""
        if self._is_held:  # whoever was told to do a call again begins now
            return
        connection = self._link.connection
        self._pending, self._sent, self._news, self._begun = [], None, None, False
        if self._is_created_here:
            self._campaign, self._is_created_here = None, False
        if connection is None or not connection.in_transaction:
            return
        try:
            connection.ask(statement("roll_back"))
        except UnimodalError:  # then the server does it
            self._link.close()

    def version(self) -> int:
        """The number of the last event of others, as it was when the transaction began."""
        return self._of_others

    # Events.

    def append(self, events: Sequence[Event]) -> None:
        """Add events (inside a transaction); they are sent with the commit, or before it."""
        self._connected_still()
        if self._pending:
            self._send_pending(self._connected_still())
        self._pending = list(events)

    def _send_pending(self, connection: PostgresqlConnection) -> None:
        if self._pending:
            values = self._pending_values()
            self._pending, self._news = [], None
            self._tell(connection, statement(values.pop("statement")), values)
            self._check_appended(connection)

    def _pending_values(self, after: Identity | None = None) -> dict[str, Any]:
        """What is put into the statement that sends them, with a new token."""
        if not self._pending:
            return {}
        token = secrets.randbits(63)
        name, values = as_values(self._pending, token, after)
        self._sent = self._pending[0].seq, token
        self._last_sent = identity_of(self._pending[-1], token)
        return {**values, "statement": name}

    def _check_appended(self, connection: PostgresqlConnection) -> None:
        """Refuse to go on if the campaign was not there any more: then no row was made."""
        if connection.inserted == 0:
            raise self._removed()

    def append_at_once(self, events: Sequence[Event]) -> None:
        """Add events in one message; none if their numbers are taken."""
        before = events[0].seq - 1
        taken = NumberTaken(f"event {events[0].seq} of {self.path} is not the next one.")
        if self._is_held or self._campaign is None or self._known.seq != before:
            self.begin()
            if self.last() != before:
                self.roll_back()
                raise taken
            self.append(events)
            self.commit()
            return
        self._pending = list(events)
        values = {**self._pending_values(self._known), **self._transaction_values()}
        name = values.pop("statement")
        parts = map(statement, ("begin_at_once", "wait_for_disk", name))
        text = f"{' '.join(parts)} {self._commit_text}"
        try:
            connection = self._connected()
            if name == "append_reward" and self._is_plain:
                (((is_next,),),) = self._tell(connection, statement("reward_at_once"), values)
                connection.inserted = int(is_next)
            else:
                self._tell(connection, text, values)
            if connection.inserted == 0:  # or the campaign is gone, which `begin` finds
                raise taken
        except Interrupted as error:
            self._find_out(error)
        except StoreError as error:
            if isinstance(error, NumberTaken):
                self.roll_back()
            raise
        self._committed()

    # A commit that was not answered.

    def _find_out(self, error: Interrupted) -> None:
        """Return if a commit that was sent has arrived; or else say that it may be done again."""
        sent = self._sent
        self._pending, self._sent, self._begun = [], None, False
        try:
            self._lose(error)
            arrived = sent and self._again_until_reached(lambda: self._has_arrived(*sent))
        except SetBack:  # so it was not kept
            raise
        except StoreError as unknown:
            raise StoreError(
                f"{str(unknown).removesuffix('.')}; it is not known whether this call was kept."
            ) from None
        if not arrived:
            self._is_created_here = False
            raise error
        self._sent = sent

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
            self._is_held = found != (token,)
        finally:
            self.roll_back()
        return not self._is_held

    # Reading what was read with the lock.

    def rows(self, after: int = 0, until: int | None = None) -> Iterator[list[tuple[Any, ...]]]:
        """The events after a number, and up to another, in order: some at a time, as tuples."""
        if self._news is None or self._pending or until is not None or after != self._news_after:
            yield from super().rows(after, until)
        elif self._news:
            yield self.as_events(self._news)

    def check_place(self) -> None:
        """Do nothing: whoever appends looks whether the campaign is there."""

    # Forks, and the end.

    def pause_at_forks(self, campaign: Pausable) -> None:
        """Have a campaign paused by forks: a child must not use or keep its parent's connection."""
        forks.announce(campaign)

    def let_fork(self, campaign: Pausable) -> None:
        """Have it paused no longer."""
        forks.dismiss(campaign)

    def suspend(self) -> None:
        """Let go of the connection until `resume`, outside of a transaction."""
        self._link.close()

    def resume(self) -> None:
        """Do nothing: the next call connects."""

    def close(self) -> None:
        """Close the connection."""
        self.closed = True
        self._link.close()


def _lock_key(campaign: str) -> int:
    """The key of the lock on a campaign; two that have the same only wait for each other."""
    digest = hashlib.blake2b(f"unimodal campaign {campaign}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
