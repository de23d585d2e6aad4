"""A store's way to its server: connections that are made again where they are lost, for a while."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from unimodal.campaigns.clock import steady
from unimodal.campaigns.stores.address import DatabaseAddress
from unimodal.campaigns.stores.postgresql.connection import PostgresqlConnection
from unimodal.campaigns.stores.postgresql.errors import given_up
from unimodal.campaigns.stores.postgresql.pool import Lease
from unimodal.campaigns.stores.postgresql.reading import PAUSES
from unimodal.campaigns.stores.postgresql.schema import (
    bring_up_to_date,
    check_durability,
    check_writable,
    greet,
)
from unimodal.campaigns.stores.store import Interrupted
from unimodal.errors import StoreError

Done = TypeVar("Done")


class Session:
    """Connections of one store, and its patience with a server that is away."""

    def __init__(self, address: DatabaseAddress, durability: str, wait: float) -> None:
        self.address, self.wait, self.closed = address, wait, False
        self._durability, self._is_open = durability, False
        self._since: float | None = None  # when the server could not be reached first
        self._last, self._tries = 0.0, 0
        self._server_time, self._then = 0.0, 0.0
        self.lease = Lease(address, wait)

    # The server's clock.

    def now(self) -> float:
        """The server's time, as it was told last and as a steady clock has gone since."""
        return self._server_time + (steady() - self._then)

    def set_clock(self, told: float) -> None:
        """Take note of the server's time."""
        self._server_time, self._then = told, steady()

    # Connections.

    def connected(self) -> PostgresqlConnection:
        """A connection, which may be to another server each time; see `Lease.connected`.

        A store that is opened looks at what the server says of itself, and so does whoever has a
        connection that no store of its durability has had.
        """
        if self.closed:
            raise StoreError(f"{self.address} was closed here: open it again with Campaign.open.")
        connection = self.lease.connected()
        if not self._is_open or self._durability not in connection.prepared_for:
            try:
                self._prepare(connection)
            except BaseException:
                self.lease.drop()
                raise
        return connection

    def _prepare(self, connection: PostgresqlConnection) -> None:
        """Refuse a server that does not keep what it acknowledges; make tables, if need be."""
        greeting = greet(connection, self.address)
        check_writable(greeting, self.address)
        if self._durability == "full":
            check_durability(greeting, self.address)
        has_functions = bring_up_to_date(connection, self.address, greeting)
        connection.is_plain = greeting.is_plain and has_functions
        connection.prepared_for.add(self._durability)
        self._is_open = True
        self.set_clock(greeting.time)

    def release(self) -> None:
        """Let others have the connection; it is in no transaction."""
        self.lease.give_back()

    def suspend(self) -> None:
        """Let go of everything until the next call."""
        self.lease.end()

    def close(self) -> None:
        """Let go of everything for good."""
        self.closed = True
        self.lease.end()

    # Patience.

    def again(self, work: Callable[[], Done]) -> Done:
        """Do something that has no effect if it is interrupted, again until there is no time."""
        while True:
            try:
                return work()
            except Interrupted as error:
                self.lose(error)

    def lose(self, error: Interrupted) -> None:
        """Let go of a connection, and wait a little; refused if that has gone on for too long."""
        self.lease.lose()
        now = time.monotonic()
        if self._since is None or now - self._last > 2 * self.wait:
            self._since, self._tries = now, 0
        self._last = now
        if now - self._since >= self.wait:
            self.settle()
            raise given_up(error)
        time.sleep(PAUSES[min(self._tries, len(PAUSES) - 1)])
        self._tries += 1

    def settle(self) -> None:
        """Take note that the server answers again."""
        self._since, self._tries = None, 0
