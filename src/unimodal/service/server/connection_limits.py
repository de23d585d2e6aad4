"""Who is connected: a limit in all and per address, below the descriptors of the process.

Where a limit is reached, the connection that has waited longest for its client makes room: a client
that only holds connections keeps nobody out. Others than the service's event loop only count.
"""

from __future__ import annotations

from typing import Protocol

from unimodal import descriptors
from unimodal.service.limits import ServiceLimits

_OTHER = 32  # descriptors for logs, listeners, threads, readers and what Python itself needs


class OneConnection(Protocol):
    """What is asked of a connection."""

    @property
    def waiting_since(self) -> float | None:
        """Since when it waits for its client; None while a request is being answered."""

    def drop(self) -> None:
        """End it at once."""


class Connections:
    """The connections of a service, by address.

    By default all of them may have half of the descriptors, and those of one address three
    quarters of that; campaigns have the rest.
    """

    def __init__(self, limits: ServiceLimits) -> None:
        self._limits = limits
        self._by_address: dict[str, set[OneConnection]] = {}
        self._count = 0

    @property
    def most(self) -> int:
        """How many there may be."""
        half = max((descriptors.limit() - _OTHER) // 2, 8)
        return min(self._limits.connections or half, half)

    @property
    def most_of_one(self) -> int:
        """How many there may be of one address."""
        return self._limits.connections_of_one or self.most * 3 // 4

    def descriptors(self) -> tuple[int, int]:
        """How many there are, and how many more are to be expected."""
        return self._count, max(self.most // 2 - self._count, 0)

    def enter(self, connection: OneConnection, address: str) -> bool:
        """Count a connection; False if there is no room for it."""
        own = self._by_address.get(address, set())
        if len(own) >= self.most_of_one:
            has_room = self._drop_one_of(address)
        elif self._count >= self.most:
            has_room = self._drop_one_of(max(self._by_address, key=self._count_of))
        else:
            has_room = True
        if has_room:
            self._by_address.setdefault(address, set()).add(connection)
            self._count += 1
        return has_room

    def leave(self, connection: OneConnection, address: str) -> None:
        """Count it no longer, if it was counted."""
        own = self._by_address.get(address, set())
        if connection in own:
            own.remove(connection)
            self._count -= 1
            if not own:
                del self._by_address[address]

    def _count_of(self, address: str) -> int:
        return len(self._by_address[address])

    def _drop_one_of(self, address: str) -> bool:
        """End the connection that has waited longest; False if all are being answered."""
        of_all = self._by_address[address]
        waiting = [(since, one) for one in of_all if (since := one.waiting_since) is not None]
        if not waiting:
            return False
        longest = min(waiting, key=lambda found: found[0])[1]
        self.leave(longest, address)
        longest.drop()
        return True
