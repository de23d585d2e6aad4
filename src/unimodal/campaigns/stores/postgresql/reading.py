"""Campaigns in PostgreSQL that are read: nothing is written, and nobody is held up."""

from __future__ import annotations

import difflib
import time
from collections.abc import Callable
from typing import Any

from unimodal.campaigns.stores.address import DatabaseAddress, Place
from unimodal.campaigns.stores.postgresql.connection import PostgresqlConnection
from unimodal.campaigns.stores.postgresql.errors import given_up
from unimodal.campaigns.stores.postgresql.pool import Lease
from unimodal.campaigns.stores.postgresql.schema import Greeting, check_schema, greet
from unimodal.campaigns.stores.postgresql.statements import statement
from unimodal.campaigns.stores.postgresql.tables import PostgresqlTables
from unimodal.campaigns.stores.store import Found, Interrupted, StoreToRead
from unimodal.errors import StoreError

WAIT = 30.0  # seconds for which readers try to reach a server
PAUSES = (0.0, 0.02, 0.05, 0.1, 0.2, 0.5)  # seconds before each new try to connect; then the last


class Reader(PostgresqlTables):
    """A campaign at one moment, through a connection that only reads."""

    def __init__(self, path: DatabaseAddress, connection: PostgresqlConnection) -> None:
        super().__init__()
        self.path, self._connection, self._campaign = path, connection, None

    def _ask(self, what: str, /, **values: Any) -> list[list[Any]]:
        return self._connection.ask(statement(what), {"campaign": self._campaign, **values})


def read_store(path: Place, work: Callable[[StoreToRead], Found]) -> Found:
    """What some work finds in an existing campaign, as it is at one moment.

    The transaction only reads, so it waits for nobody and nobody waits for it. If the connection is
    lost, the work is done again.
    """
    address = as_address(path)

    def looked(connection: PostgresqlConnection, greeting: Greeting) -> Found:
        check_schema(connection, address, greeting)
        connection.ask(statement("begin_to_read"))
        reader = Reader(address, connection)
        if reader.is_new():
            raise not_there(address, [name for (name,) in reader._ask("names")[0]])
        return work(reader)

    return read_through(address, looked, WAIT)


def read_through(
    address: DatabaseAddress,
    look: Callable[[PostgresqlConnection, Greeting], Found],
    wait: float,
) -> Found:
    """What a look finds through a connection, by another one if that is lost.

    It has nothing of what others have found out about the server: that may have changed.
    """
    lease, until, tries = Lease(address, wait), time.monotonic() + wait, 0
    try:
        while True:
            try:
                connection = lease.connected()
                found = look(connection, greet(connection, address))
                if connection.in_transaction:
                    connection.ask(statement("roll_back"))
                return found
            except Interrupted as error:
                lease.lose()
                if time.monotonic() >= until:
                    raise given_up(error) from None
                time.sleep(PAUSES[min(tries, len(PAUSES) - 1)])
                tries += 1
    finally:
        lease.end()


def not_there(address: DatabaseAddress, names: list[str]) -> StoreError:
    """The error for a campaign that is not among the names of those that there are."""
    close = difflib.get_close_matches(address.campaign, names, n=1)
    hint = f"did you mean {close[0]!r}?" if close else "check the name, or open it once to write."
    return StoreError(f"there is no campaign {address.campaign!r} in {address}: {hint}")


def as_address(path: Place) -> DatabaseAddress:
    """The address that a place of this kind is."""
    if not isinstance(path, DatabaseAddress):
        raise StoreError(f"{path} must be the address of a database, got a path.")
    return path
