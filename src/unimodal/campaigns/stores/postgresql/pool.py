"""The connections that all campaigns of this process share: one bounded pool per database.

psycopg's pool counts them and lets those who wait have one in their order. What it keeps are
places for connections; the connection itself is made by whoever has the place and finds none there,
so that what is wrong with a server is told to the caller at once, and not in the log of a thread
beside it. A connection is taken for one transaction, or for one question outside of one.

The pool of a database is closed when nobody uses it any more. After a fork the child begins with
none: those of its parent stay the parent's.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import threading
import time
from collections import deque
from collections.abc import Iterator
from typing import Any

from unimodal.campaigns.stores import forks
from unimodal.campaigns.stores.address import DatabaseAddress
from unimodal.campaigns.stores.postgresql.connection import PostgresqlConnection, pool_driver
from unimodal.campaigns.stores.postgresql.errors import all_in_use
from unimodal.errors import StoreError

MOST = "UNIMODAL_POSTGRESQL_CONNECTIONS"  # to one database, by one process
_USUAL_MOST = 10
_LEAST = 2  # a copy within a database reads by one and writes by another
_LEAST_WAIT = 1.0  # seconds: places are made by another thread, which may not get there sooner
_UNUSED = 60.0  # seconds after which connections that were not needed are closed, one by one


class _Slot:
    """A place for one connection, with what psycopg's pool asks of a connection.

    To the pool it is always idle and never lost: a transaction ends before it is given back, and a
    lost connection is made again by the next who has the place.
    """

    transaction_status = 0  # libpq's PQTRANS_IDLE

    def __init__(self) -> None:
        self.connection: PostgresqlConnection | None = None
        self._pool: Any = None  # these three are the pool's
        self._created_at = self._expire_at = 0.0

    @classmethod
    def connect(cls, _conninfo: str, **_: Any) -> _Slot:
        """A place that is empty."""
        return cls()

    @property
    def pgconn(self) -> _Slot:
        """Where the pool looks for `transaction_status`."""
        return self

    def close(self) -> None:
        """Close the connection, if there is one."""
        connection, self.connection = self.connection, None
        if connection is not None:
            connection.close()


class _Pool:
    """The places for connections to one database, and who uses them."""

    def __init__(self) -> None:
        self.users = 0
        self.most = _most()
        self._since = 0.0  # when a connection was lost: those that were made before may be lost too
        self._slots = pool_driver().ConnectionPool(
            connection_class=_Slot,
            min_size=0,
            max_size=self.most,
            open=True,
            max_idle=_UNUSED,
            num_workers=1,
            name="unimodal",
        )

    def take(self, address: DatabaseAddress, wait: float) -> _Slot:
        """A place, as soon as one is free; `Busy` if that takes too long."""
        wait = max(wait, _LEAST_WAIT)
        try:
            slot: _Slot = self._slots.getconn(timeout=wait)
        except pool_driver().PoolTimeout:
            raise all_in_use(address, wait, self.most, MOST) from None
        except pool_driver().PoolClosed:  # as the process ends
            raise StoreError(f"{address} cannot be used any more: this process ends.") from None
        if slot.connection is not None and slot.connection.made < self._since:
            slot.close()
        return slot

    def give_back(self, slot: _Slot) -> None:
        """Let others have it."""
        self._slots.putconn(slot)

    def distrust(self, connection: PostgresqlConnection) -> None:
        """Have the connections that are as old as one that was lost made anew before their use."""
        if connection.made >= self._since:
            self._since = time.monotonic()

    def close(self) -> None:
        """Close all connections that nobody has taken, and the others when they are given back."""
        self._slots.close()


class _Pools:
    """The pools of this process, by what libpq gets of an address."""

    def __init__(self) -> None:
        self.abandoned: deque[Lease] = deque()  # of stores that nobody closed
        self._pools: dict[str, _Pool] = {}
        self._lock = threading.Lock()

    def use(self, conninfo: str) -> _Pool:
        """The pool of a database, with one user more."""
        forks.check_process()
        self.let_go_of_abandoned()
        with self._lock:
            if conninfo not in self._pools:
                self._pools[conninfo] = _Pool()
            pool = self._pools[conninfo]
            pool.users += 1
            return pool

    def leave(self, conninfo: str, pool: _Pool) -> None:
        """One user less; after the last one it is closed."""
        with self._lock:
            pool.users -= 1
            is_last = pool.users == 0
            if is_last and self._pools.get(conninfo) is pool:
                del self._pools[conninfo]
        if is_last:
            pool.close()

    def let_go_of_abandoned(self) -> None:
        """Give back what stores had that were forgotten; they could not do so by themselves."""
        while self.abandoned:
            with contextlib.suppress(IndexError):  # another thread was quicker
                self.abandoned.popleft().end()

    def before_fork(self) -> None:
        self._lock.acquire()

    def after_fork_in_parent(self) -> None:
        self._lock.release()

    def after_fork_in_child(self) -> None:
        for pool in self._pools.values():  # its threads are not here, nor may its locks be free
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(pool))
        self._pools, self._lock, self.abandoned = {}, threading.Lock(), deque()

    def close(self) -> None:
        """Close all of them, as the process ends: then their threads end with it."""
        while self._pools:
            self._pools.popitem()[1].close()


_pools = _Pools()
forks.tell(_pools)
atexit.register(_pools.close)


class Lease:
    """One user of a pool, who has at most one connection at a time; for one thread at a time."""

    def __init__(self, address: DatabaseAddress, wait: float) -> None:
        self._address, self._wait = address, wait
        self._pool: _Pool | None = None
        self._slot: _Slot | None = None
        self._process = os.getpid()

    @property
    def connection(self) -> PostgresqlConnection | None:
        """The one that it has."""
        return None if self._slot is None else self._slot.connection

    def join(self) -> _Pool:
        """Use the pool from here on: it stays open, with the connections that it has."""
        if self._process != os.getpid():  # what it had is the parent's
            self._process, self._pool, self._slot = os.getpid(), None, None
        if self._pool is None:
            self._pool = _pools.use(self._address.conninfo)
        elif _pools.abandoned:
            _pools.let_go_of_abandoned()
        return self._pool

    def connected(self) -> PostgresqlConnection:
        """A connection, as soon as one is free; made if need be, perhaps to another server."""
        pool = self.join()
        if self._slot is None:
            self._slot = pool.take(self._address, self._wait)
            if self._slot.connection is not None:
                self._slot.connection.is_for(self._address, self._wait)
        slot = self._slot
        if slot.connection is None or slot.connection.is_lost:
            slot.close()
            slot.connection = PostgresqlConnection(self._address, self._wait)
        return slot.connection

    def give_back(self) -> None:
        """Let others have the connection; what transaction is open there ends with it."""
        slot, self._slot = self._slot, None
        if slot is None or self._pool is None or self._process != os.getpid():
            return
        if slot.connection is not None and slot.connection.in_transaction:
            slot.close()
        self._pool.give_back(slot)

    def drop(self) -> None:
        """Close the connection, and let others have its place."""
        if self._slot is not None and self._process == os.getpid():  # or it is the parent's
            self._slot.close()
        self.give_back()

    def lose(self) -> None:
        """Drop it, since it was lost: others may be lost as well."""
        if self._pool is not None and self.connection is not None:
            self._pool.distrust(self.connection)
        self.drop()

    def end(self) -> None:
        """Use the pool no longer, until the next connection."""
        self.give_back()
        pool, self._pool = self._pool, None
        if pool is not None and self._process == os.getpid():
            _pools.leave(self._address.conninfo, pool)

    def abandon(self) -> None:
        """End it at a moment in which this thread may be inside of a pool: without any lock."""
        if self._process == os.getpid():
            if self._slot is not None:
                self._slot.close()
            _pools.abandoned.append(self)


@contextlib.contextmanager
def borrowed(address: DatabaseAddress, wait: float) -> Iterator[PostgresqlConnection]:
    """A connection for a `with` statement; what transaction is open at its end is rolled back."""
    lease = Lease(address, wait)
    try:
        yield lease.connected()
    finally:
        lease.end()


def _most() -> int:
    given = os.environ.get(MOST, "") or str(_USUAL_MOST)
    if not given.isdecimal() or int(given) < _LEAST:
        raise StoreError(
            f"the environment variable {MOST} must be a whole number of at least {_LEAST}, got "
            f"{given!r:.40}: it is how many connections to one database this process may have."
        )
    return int(given)
