"""The campaigns that a service has open: one object each, opened on demand, closed when idle.

How many stay open depends on the descriptors that are left, which are counted and not estimated: a
file has four (its locks, the database, -wal and -shm), and SQLite keeps a fifth of whoever has read
it beside its writer.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from unimodal import descriptors
from unimodal.campaigns import Campaign
from unimodal.campaigns.stores.sqlite.errors import DESCRIPTORS
from unimodal.campaigns.stores.store import as_durability
from unimodal.errors import (
    CampaignExists,
    TooManyOpenFiles,
    UnimodalError,
    UnknownCampaign,
)
from unimodal.service.campaigns.catalog import Catalog
from unimodal.service.limits import ServiceLimits

_log = logging.getLogger("unimodal")
_ROOM = 16  # that stay free, for those who read and who connect meanwhile
_PLENTY = 8  # descriptors per campaign, with which nobody needs to count
_PAUSE = 0.01  # seconds


class _Held:
    """A campaign that is open, or is being opened by the thread that has the lock."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.campaign: Campaign | None = None
        self.users = 0
        self.used = time.monotonic()


class OpenCampaigns:
    """Opens each campaign once, for all threads; those that nobody uses are closed.

    `connections` says how many descriptors connections have, and how many more are kept for them.
    """

    def __init__(
        self,
        catalog: Catalog,
        limits: ServiceLimits,
        durability: str = "full",
        connections: Callable[[], tuple[int, int]] = lambda: (0, 0),
    ) -> None:
        self.catalog, self._limits = catalog, limits
        self._durability = as_durability(durability)
        self._connections = connections
        self._lock = threading.Lock()
        self._held: dict[str, _Held] = {}
        self._opening: list[str] = []  # where they are kept
        self._closed = False

    @contextlib.contextmanager
    def use(self, name: str) -> Iterator[Campaign]:
        """A campaign, which stays open meanwhile; `UnknownCampaign` if there is none."""
        with self._used(name) as held:
            with held.lock:
                if held.campaign is not None and held.campaign._store.is_gone:
                    held.campaign.close()
                    held.campaign = None
                if held.campaign is None:
                    if not self.catalog.has(name):
                        raise unknown_campaign(name)
                    held.campaign = self._open(name)
            yield held.campaign

    def create(self, name: str, **given: Any) -> None:
        """Make a campaign; `CampaignExists` if there is one of this name."""
        with self._used(name) as held, held.lock:
            if held.campaign is not None or self.catalog.has(name):
                raise CampaignExists(
                    f"there is a campaign {name} already: choose another name, or go on with it."
                )
            held.campaign = self._open(name, **given)

    @contextlib.contextmanager
    def if_open(self, name: str) -> Iterator[Campaign | None]:
        """A campaign if it is open, which stays so meanwhile; this does not count as use."""
        with self._lock:
            held = self._held.get(name)
            campaign = held.campaign if held is not None else None
            if held is not None and campaign is not None:
                held.users += 1
        try:
            yield campaign
        finally:
            if held is not None and campaign is not None:
                with self._lock:
                    held.users -= 1

    def names_open(self) -> list[str]:
        """The campaigns that are open now."""
        with self._lock:
            return [name for name, held in self._held.items() if held.campaign is not None]

    def close_idle(self) -> None:
        """Close what nobody has used for a while, and the longest unused where room is needed."""
        until = time.monotonic() - self._limits.idle
        with self._lock:
            over = [name for used, name in self._unused() if used < until]
            closing = [self._held.pop(name) for name in over]
        for held in closing:
            self._close(held)
        self.make_room()

    def make_room(self) -> None:
        """Close the longest unused, until neither descriptors nor memory are short."""
        while self._is_short() and self._close_longest_unused():
            pass

    def close_after_reading(self, name: str) -> None:
        """Close what was read and nobody uses, where its reader's descriptor may be needed soon."""
        if not self._is_short(opening=2):
            return
        with self._lock:
            held = self._held.get(name)
            if held is None or held.users:
                return
            del self._held[name]
        self._close(held)

    def _is_short(self, opening: int = 0) -> bool:
        if len(self._held) > self._limits.most_open:
            return True
        if self._has_plenty():
            return False
        with self._lock:
            half_open = list(self._opening)
        needed = DESCRIPTORS * (len(half_open) + opening) - descriptors.taken_by(half_open)
        return descriptors.left() < _ROOM + self._connections()[1] + needed

    def _has_plenty(self) -> bool:
        """Whether nobody needs to count descriptors."""
        known = _PLENTY * len(self._held) + sum(self._connections())
        return known + 8 * _ROOM < descriptors.limit()

    def _close_longest_unused(self) -> bool:
        """Close one that nobody uses; False if there is none."""
        with self._lock:
            unused = self._unused()
            if not unused:
                return False
            held = self._held.pop(unused[0][1])
        self._close(held)
        return True

    def _unused(self) -> list[tuple[float, str]]:
        """Those that can be closed, the longest unused first; with the lock."""
        return sorted((held.used, name) for name, held in self._held.items() if not held.users)

    def close(self) -> None:
        """Close all of them; nothing is opened after this."""
        with self._lock:
            self._closed = True
            closing, self._held = list(self._held.values()), {}
        for held in closing:
            self._close(held)

    def _open(self, name: str, **given: Any) -> Campaign:
        """Open a campaign; others are closed first where there is no room for it."""
        named = {"durability": self._durability, "wait": self._limits.wait, **given}
        address = self.catalog.address(name)
        kept = os.path.realpath(address) if isinstance(address, Path) else str(address)
        with self._lock:
            self._opening.append(kept)
        until = time.monotonic() + self._limits.wait
        try:
            while True:
                self.make_room()
                try:
                    return Campaign.open(address, **named)
                except (TooManyOpenFiles, OSError) as error:
                    is_lack = isinstance(error, TooManyOpenFiles) or descriptors.is_lack(error)
                    if not is_lack or time.monotonic() > until:
                        raise
                    if not self._close_longest_unused():
                        time.sleep(_PAUSE)  # connections, or campaigns in use, may end
        finally:
            with self._lock:
                self._opening.remove(kept)

    @contextlib.contextmanager
    def _used(self, name: str) -> Iterator[_Held]:
        with self._lock:
            if self._closed:
                raise UnimodalError("the service is being stopped: call again when it is back.")
            held = self._held.setdefault(name, _Held())
            held.users += 1
        try:
            yield held
        finally:
            with self._lock:
                held.users -= 1
                held.used = time.monotonic()
                if held.campaign is None and not held.users and self._held.get(name) is held:
                    del self._held[name]  # it could not be opened: names of strangers do not stay

    @staticmethod
    def _close(held: _Held) -> None:
        with held.lock:
            if held.campaign is not None:
                try:
                    held.campaign.close()
                except Exception:
                    _log.exception("a campaign could not be closed")


def unknown_campaign(name: str) -> UnknownCampaign:
    """The error for a campaign that is not there."""
    return UnknownCampaign(
        f"there is no campaign {name!r:.80}: GET /v1/campaigns lists those that there are."
    )


Work = Callable[[Campaign], Any]
