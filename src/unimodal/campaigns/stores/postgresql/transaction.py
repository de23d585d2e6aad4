"""One transaction of a campaign in PostgreSQL, by its states.

    not begun ──► begun ──► sent ──► over            it was committed, or refused
                    │         └──► unknown ──► over  its answer was lost, and it was found out
                    └──► over                        it was rolled back, or its connection is lost

What is written and read needs one that is *begun*: its connection holds the lock, and another one
would know nothing of it.
"""

from __future__ import annotations

import enum
import secrets
from collections.abc import Sequence
from typing import Any, NamedTuple

from unimodal.campaigns.events import NO_EVENT, Identity, Row, identity_of
from unimodal.campaigns.stores.postgresql.connection import PostgresqlConnection
from unimodal.campaigns.stores.postgresql.tables import as_values


class State(enum.Enum):
    """How far a transaction is."""

    NOT_BEGUN = "not begun"
    BEGUN = "begun"  # the server has said that it holds the lock
    SENT = "sent"  # what ends it was sent, and not answered yet
    UNKNOWN = "unknown"  # the answer to that is lost: it may have been committed or not
    OVER = "over"


class Stamp(NamedTuple):
    """By what events are found in the log, if their transaction was committed."""

    first: int
    token: int
    last: Identity


class Transaction:
    """What a store knows of one transaction; the store sends what it says."""

    __slots__ = ("connection", "creates", "is_moved", "news", "pending", "stamp", "state")

    def __init__(self) -> None:
        self.state = State.NOT_BEGUN
        self.connection: PostgresqlConnection | None = None
        self.creates = False  # the campaign
        self.is_moved = False  # the event that was known is in an archive
        self.news: tuple[int, list[Any]] | None = None  # events after a number, read with the lock
        self.pending: Sequence[Row] = ()  # to be sent with the commit, or before it
        self.stamp: Stamp | None = None  # of what was appended last

    @property
    def is_alive(self) -> bool:
        """Whether the server still has it open."""
        connection = self.connection
        return self.state is State.BEGUN and connection is not None and connection.in_transaction

    def to_send(self, after: Identity | None = None) -> tuple[str, dict[str, Any]]:
        """What sends the events that are pending, with a new token; `after` as in `as_values`."""
        token = secrets.randbits(63)
        name, values = as_values(self.pending, token, after)
        self.stamp = Stamp(self.pending[0].seq, token, identity_of(self.pending[-1], token))
        return name, values

    def last(self, known: Identity) -> Identity:
        """The last event of the log when this one is committed, after the one that was known."""
        return known if self.stamp is None else self.stamp.last

    def news_after(self, number: int) -> list[Any] | None:
        """The events after a number, if they were read with the lock and none came after them."""
        if self.news is None or self.pending or self.news[0] != number:
            return None
        return self.news[1]


def last_of(ends: Sequence[Any]) -> Identity:
    """The last event of the rows that say how a log ends."""
    return Identity._make(ends[-1]) if ends else NO_EVENT
