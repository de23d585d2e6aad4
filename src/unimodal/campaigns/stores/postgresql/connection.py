"""One connection to PostgreSQL. This is the only module that imports `psycopg`.

Values are put into statements on this side, so that several statements are one message, and none is
prepared: a pooler such as PgBouncer may give each transaction to another server process.
"""

from __future__ import annotations

import math
import time
from typing import Any

from unimodal.campaigns.stores.address import DatabaseAddress
from unimodal.campaigns.stores.postgresql.errors import explanation
from unimodal.errors import StoreError, UnimodalError

# How soon a connection is given up that nobody answers; what an address says goes before.
_USUAL = {
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",
    "application_name": "unimodal",
    "client_encoding": "utf8",
}
_IDLE = 0  # PQTRANS_IDLE


class PostgresqlConnection:
    """A connection whose errors are ours (see `explanation`)."""

    def __init__(self, address: DatabaseAddress, wait: float) -> None:
        self.is_for(address, wait)
        self.made = time.monotonic()
        self.prepared_for: set[str] = set()  # durabilities of the stores that have looked at it
        self.is_plain = False  # what such a store has found: see `Session.is_plain`
        self.inserted = 0  # rows, by the last statement that inserted some or none
        self.rolled_back = False  # whether the last statement has ended a transaction so
        psycopg = driver()
        self._error = psycopg.Error
        try:
            given = psycopg.conninfo.conninfo_to_dict(address.conninfo)
            patience = max(2, min(10, math.ceil(wait)))  # less than 2 s is more to libpq
            self._connection = psycopg.connect(
                **{"connect_timeout": str(patience), **_USUAL, **given},
                autocommit=True,  # transactions begin and end where we say so
                prepare_threshold=None,
                cursor_factory=psycopg.ClientCursor,
            )
        except (psycopg.Error, UnicodeError) as error:
            raise self._explained(error, connecting=True) from None
        self._cursor = self._connection.cursor()

    def is_for(self, address: DatabaseAddress, wait: float) -> None:
        """Take note of whom errors are to name."""
        self._address, self._wait = address, wait

    def ask(self, statement: str, values: dict[str, Any] | None = None) -> list[list[Any]]:
        """Send statements in one message; the rows of each that has some."""
        found = []
        try:
            cursor = self._cursor
            cursor.execute(statement, values or {})
            while True:
                result = cursor.pgresult
                if result.nfields:
                    found.append(cursor.fetchall())
                elif result.command_status.startswith(b"INSERT"):
                    self.inserted = cursor.rowcount
                if not cursor.nextset():
                    self.rolled_back = result.command_status == b"ROLLBACK"
                    return found
        except (self._error, UnicodeError) as error:
            raise self._explained(error) from None

    @property
    def in_transaction(self) -> bool:
        """Whether one was begun and has not ended."""
        return not self.is_lost and self._connection.pgconn.transaction_status != _IDLE

    @property
    def is_lost(self) -> bool:
        """Whether nothing more comes through it."""
        return bool(self._connection.closed)

    def close(self) -> None:
        """End it; what was not committed is rolled back by the server."""
        self._connection.close()

    def _explained(self, error: Exception, connecting: bool = False) -> UnimodalError:
        lost = connecting or self.is_lost
        return explanation(error, self._address, self._wait, is_lost=lost, connecting=connecting)


def driver() -> Any:
    """The module `psycopg`, which is an extra."""
    try:
        import psycopg
    except ImportError:
        raise _not_installed() from None
    return psycopg


def pool_driver() -> Any:
    """The module `psycopg_pool`, which comes with that extra."""
    driver()
    try:
        import psycopg_pool
    except ImportError:
        raise _not_installed() from None
    return psycopg_pool


def _not_installed() -> StoreError:
    return StoreError(
        "campaigns in PostgreSQL need the package psycopg with its pool: "
        "install it with pip install 'unimodal[postgresql]'."
    )
