"""A store's way to its server: a connection that is made again where it is lost, for some time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from unimodal.campaigns.clock import steady
from unimodal.campaigns.stores.address import DatabaseAddress
from unimodal.campaigns.stores.postgresql.connection import PostgresqlConnection
from unimodal.campaigns.stores.postgresql.reading import PAUSES, Link
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

    def __init__(self, address: DatabaseAddress, is_full: bool, wait: float) -> None:
        self.address, self.wait, self.closed = address, wait, False
        self.is_plain = False  # a statement by itself may write, and there are our functions
        self._is_full = is_full
        self._since: float | None = None  # when the server could not be reached first
        self._last, self._tries = 0.0, 0
        self._server_time, self._then = 0.0, 0.0
        self.link = Link()

    # The server's clock.

    def now(self) -> float:
        """The server's time, as it was told last and as a steady clock has gone since."""
        return self._server_time + (steady() - self._then)

    def set_clock(self, told: float) -> None:
        """Take note of the server's time."""
        self._server_time, self._then = told, steady()

    # Connections.

    def connected(self) -> PostgresqlConnection:
        """The connection, made if there is none: each may be to another server."""
        if self.closed:
            raise StoreError(f"{self.address} was closed here: open it again with Campaign.open.")
        if self.link.connection is not None and not self.link.connection.is_lost:
            return self.link.connection
        self.drop()
        connection = PostgresqlConnection(self.address, self.wait)
        try:
            greeting = greet(connection, self.address)
            check_writable(greeting, self.address)
            if self._is_full:
                check_durability(greeting, self.address)
            has_functions = bring_up_to_date(connection, self.address, greeting)
            self.is_plain = greeting.is_plain and has_functions
        except BaseException:
            connection.close()
            raise
        self.set_clock(greeting.time)
        self.link.connection = connection
        return connection

    def drop(self) -> None:
        """Close the connection, if there is one."""
        self.link.close()

    def close(self) -> None:
        """Let go of everything for good."""
        self.closed = True
        self.drop()

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
        self.drop()
        now = time.monotonic()
        if self._since is None or now - self._last > 2 * self.wait:
            self._since, self._tries = now, 0
        self._last = now
        if now - self._since >= self.wait:
            self.settle()
            raise StoreError(str(error))
        time.sleep(PAUSES[min(self._tries, len(PAUSES) - 1)])
        self._tries += 1

    def settle(self) -> None:
        """Take note that the server answers again."""
        self._since, self._tries = None, 0
