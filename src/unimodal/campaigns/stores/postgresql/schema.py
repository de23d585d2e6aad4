"""The tables of campaigns in a database: made and brought up to date under a lock."""

from __future__ import annotations

import contextlib
import functools
import logging
from collections.abc import Callable
from typing import NamedTuple

from unimodal.campaigns.stores.address import DatabaseAddress
from unimodal.campaigns.stores.postgresql.connection import PostgresqlConnection
from unimodal.campaigns.stores.postgresql.statements import sql_file, statement
from unimodal.campaigns.stores.store import Interrupted
from unimodal.errors import ReadOnly, StoreError, WrongVersion

SCHEMA = 1  # schema_1.sql makes it; a later version is one more file, which changes it
_LOCK = 0x756E696D6F64616C  # of whoever changes the tables: 'unimodal' as a number

_log = logging.getLogger("unimodal")


class Greeting(NamedTuple):
    """What a server says of itself."""

    has_schema: bool
    has_functions: bool
    is_standby: bool
    synchronous_commit: str
    fsync: str
    encoding: str
    float_digits: int
    is_plain: bool  # what is a transaction by itself may write, and sees what was committed
    time: float


def greet(connection: PostgresqlConnection, address: DatabaseAddress) -> Greeting:
    """Ask a server what it is, and refuse what would lose values."""
    greeting = Greeting._make(connection.ask(statement("greet"))[0][0])
    if greeting.encoding != "UTF8":
        raise StoreError(
            f"{address} must be a database with the encoding UTF8, got {greeting.encoding}: "
            "create another one."
        )
    if greeting.float_digits < 1:
        raise StoreError(
            f"{address} has extra_float_digits = {greeting.float_digits}, so that numbers would "
            "not come back as they were: set it to 1 for this user."
        )
    return greeting


def check_durability(greeting: Greeting, address: DatabaseAddress) -> None:
    """Refuse a server that acknowledges before it has written."""
    if greeting.synchronous_commit == "off":
        raise StoreError(
            f"{address} has synchronous_commit = off, so that a crash of the server may lose what "
            "was acknowledged: set it to on for this user, or open it with durability='fast'."
        )
    if greeting.fsync == "off":
        _warn_of_fsync(str(address).partition("?")[0])


@functools.cache  # once for each server, which may have many campaigns
def _warn_of_fsync(server: str) -> None:
    _log.warning(
        "%s has fsync = off, so that a power failure may lose what was acknowledged.", server
    )


def check_writable(greeting: Greeting, address: DatabaseAddress) -> None:
    """Refuse a standby; in a fail-over it is one no longer after a while."""
    if greeting.is_standby:
        raise Interrupted(f"{address} is a standby, which only reads: name the primary server.")


def bring_up_to_date(
    connection: PostgresqlConnection, address: DatabaseAddress, greeting: Greeting
) -> bool:
    """Make the tables, or change those of an older version; whether there are our functions, too.

    Tables that an older version made have none; who may not make them does without.
    """
    if not greeting.has_schema or version(connection, address) != SCHEMA:
        _change(connection, lambda is_there: _make_tables(connection, address, is_there))
    if greeting.has_functions:
        return True
    with contextlib.suppress(ReadOnly):
        functions = sql_file("functions.sql")
        _change(connection, lambda _: connection.ask(functions))
        return True
    return False


def _make_tables(
    connection: PostgresqlConnection, address: DatabaseAddress, is_there: bool
) -> None:
    found = version(connection, address) if is_there else 0  # somebody may have been quicker
    for number in range(found + 1, SCHEMA + 1):
        connection.ask(sql_file(f"schema_{number}.sql"))
        connection.ask(statement("set_schema_version"), {"version": number})
    if not found:  # with the others, so that rights can be granted to both schemas at once
        connection.ask(sql_file("service_tables.sql"))


def _change(connection: PostgresqlConnection, change: Callable[[bool], object]) -> None:
    """Change the tables in a transaction that nobody else does so in; it is told if there are."""
    *_, ((is_there,),) = connection.ask(statement("begin_schema"), {"key": _LOCK})
    try:
        change(is_there)
        connection.ask(statement("commit"))
    finally:
        if connection.in_transaction:
            connection.ask(statement("roll_back"))


def check_schema(
    connection: PostgresqlConnection, address: DatabaseAddress, greeting: Greeting
) -> None:
    """Refuse to read tables of another version."""
    if not greeting.has_schema:
        raise StoreError(
            f"there is no campaign in the database of {address}: open it once to write, or name "
            "another database."
        )
    if (found := version(connection, address)) != SCHEMA:
        raise WrongVersion(
            f"{address} has tables of version {found}, this version of unimodal reads version "
            f"{SCHEMA}: open it once with this version to write."
        )


def version(connection: PostgresqlConnection, address: DatabaseAddress) -> int:
    """The version of the tables; refused if it is a later one than is known here."""
    rows = connection.ask(statement("schema_version"))[0]
    found = int(rows[0][0]) if rows else 0
    if found > SCHEMA or not rows:
        raise WrongVersion(
            f"{address} has tables of version {found}, this version of unimodal knows them up to "
            f"version {SCHEMA}: use the version that made them."
        )
    return found
