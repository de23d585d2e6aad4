"""Campaigns in PostgreSQL: several machines, one campaign.

`open_store` opens a campaign to write, `read_store` reads one beside its writers, `back_up` copies
one within its database.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from unimodal.campaigns.stores.address import DatabaseAddress, Place
from unimodal.campaigns.stores.postgresql.connection import PostgresqlConnection
from unimodal.campaigns.stores.postgresql.pool import borrowed
from unimodal.campaigns.stores.postgresql.reading import (
    WAIT,
    Reader,
    as_address,
    not_there,
    read_store,
    read_through,
)
from unimodal.campaigns.stores.postgresql.schema import Greeting, greet, version
from unimodal.campaigns.stores.postgresql.statements import statement
from unimodal.campaigns.stores.postgresql.store import PostgresqlStore
from unimodal.errors import StoreError

__all__ = ["PostgresqlStore", "back_up", "is_there", "new_store", "open_store", "read_store"]


def open_store(path: Place, durability: str, wait: float) -> PostgresqlStore:
    """Open a campaign to write; the tables are made if they are not there."""
    return PostgresqlStore(as_address(path), durability, wait)


@contextlib.contextmanager
def new_store(path: Place) -> Iterator[PostgresqlStore]:
    """A campaign inside of a transaction that makes it, or, after an error, does not."""
    store = PostgresqlStore(as_address(path), "full", WAIT)
    try:
        store.begin()
        yield store
        store.commit()
    finally:
        store.roll_back()
        store.close()


def is_there(path: Place, wait: float) -> bool:
    """Whether a database has a campaign of that name."""

    def looked(connection: PostgresqlConnection, greeting: Greeting) -> bool:
        if not greeting.has_schema:
            return False
        version(connection, as_address(path))  # an older one is changed when it is opened
        return not Reader(as_address(path), connection).is_new()

    return read_through(as_address(path), looked, wait)


def back_up(path: Place, target: Place) -> DatabaseAddress:
    """Copy a campaign, as it is at one moment, into a new one of the same database."""
    address = as_address(path)
    if not isinstance(target, DatabaseAddress) or target.conninfo != address.conninfo:
        raise StoreError(
            f"{address} can only be backed up into another campaign of the same database, got "
            f"{target}: use `unimodal copy`."
        )
    if is_there(target, WAIT):
        raise StoreError(f"there is a campaign {target} already: name another.")
    with borrowed(address, WAIT) as connection:
        greet(connection, address)
        begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE;"
        connection.ask(f"{begin} {statement('wait_for_disk')}")
        source = Reader(address, connection)
        if source.is_new():
            raise not_there(address, [])
        copy = Reader(target, connection)
        copy.create({})
        source._ask("copy", copy=copy._campaign)
        connection.ask(statement("commit"))
    return target
