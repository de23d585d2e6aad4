"""Campaigns in one PostgreSQL database, for several servers behind a load balancer."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

from unimodal.campaigns.stores import DatabaseAddress, Interrupted, kind_of
from unimodal.campaigns.stores.postgresql.pool import Lease, borrowed
from unimodal.campaigns.stores.postgresql.statements import sql_file
from unimodal.service.campaigns.catalog import check_name, is_name

_NAMES = "SELECT name FROM unimodal.campaigns ORDER BY name"
_HAS = "SELECT to_regclass(%(table)s) IS NOT NULL"
_ENDED = "SELECT 1 FROM unimodal_service.ended WHERE name = %(name)s"
_END = "INSERT INTO unimodal_service.ended VALUES (%(name)s) ON CONFLICT DO NOTHING"
_GO_ON = "DELETE FROM unimodal_service.ended WHERE name = %(name)s"


class DatabaseCatalog:
    """The campaigns of a database; which of them were ended is in a table of the service's own."""

    def __init__(self, address: DatabaseAddress, wait: float) -> None:
        self._database, self._wait = address, wait
        self._lock = threading.Lock()
        self._pool_use = Lease(address, wait)  # by which the pool stays open between questions
        self._has_table = False

    def __str__(self) -> str:
        """The address without a password."""
        return str(self._database)

    def names(self) -> list[str]:
        """The campaigns that there are, in order; those with other names are not served."""
        if not self._has("unimodal.campaigns"):
            return []
        return sorted(name for (name,) in self._ask(_NAMES) if is_name(name))

    def has(self, name: str) -> bool:
        """Whether there is a campaign of this name."""
        return kind_of(self._database).is_there(self.address(name), self._wait)

    def address(self, name: str) -> Any:
        """The address of a campaign."""
        return replace(self._database, campaign=check_name(name))

    def is_ended(self, name: str) -> bool:
        """Whether its owner has ended it."""
        self._has_table = self._has_table or self._has("unimodal_service.ended")
        return self._has_table and bool(self._ask(_ENDED, name=name))

    def set_ended(self, name: str, ended: bool) -> None:
        """End it, or let it decide again; all servers of the database follow."""
        if not self._has("unimodal_service.ended"):
            self._ask(sql_file("service_tables.sql"))  # of a database from before it was made
        self._ask(_END if ended else _GO_ON, name=name)

    def check(self) -> None:
        """Refuse with an error if the database cannot be reached."""
        self._ask("SELECT 1")

    def close(self) -> None:
        """Let go of the connections."""
        with self._lock:
            self._pool_use.end()

    def _has(self, table: str) -> bool:
        return bool(self._ask(_HAS, table=table)[0][0])

    def _ask(self, statement: str, **values: Any) -> list[Any]:
        """The rows of a statement; once more where the connection was lost."""
        with self._lock:
            self._pool_use.join()
        for is_last in (False, True):
            try:
                with borrowed(self._database, self._wait) as connection:
                    found = connection.ask(statement, values)
                    return found[0] if found else []
            except Interrupted:
                if is_last:
                    raise
        raise AssertionError("the second try returns or raises")
