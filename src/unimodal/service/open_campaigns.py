"""The campaigns that a service has open: one object each, opened on demand, closed when idle."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from unimodal.campaigns import Campaign
from unimodal.campaigns.stores.store import as_durability
from unimodal.errors import CampaignExists, UnimodalError, UnknownCampaign
from unimodal.service.limits import Limits
from unimodal.service.places import Place

_log = logging.getLogger("unimodal")


class _Held:
    """A campaign that is open, or is being opened by the thread that has the lock."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.campaign: Campaign | None = None
        self.users = 0
        self.used = time.monotonic()


class OpenCampaigns:
    """Opens each campaign once, for all threads; those that nobody uses are closed."""

    def __init__(self, place: Place, limits: Limits, durability: str = "full") -> None:
        self.place, self._limits = place, limits
        self._durability = as_durability(durability)
        self._lock = threading.Lock()
        self._held: dict[str, _Held] = {}
        self._closed = False

    @contextlib.contextmanager
    def use(self, name: str) -> Iterator[Campaign]:
        """A campaign, which stays open meanwhile; `UnknownCampaign` if there is none."""
        with self._used(name) as held:
            with held.lock:
                if held.campaign is None:
                    if not self.place.has(name):
                        raise unknown_campaign(name)
                    held.campaign = self._open(name)
            yield held.campaign

    def create(self, name: str, **given: Any) -> None:
        """Make a campaign; `CampaignExists` if there is one of this name."""
        with self._used(name) as held, held.lock:
            if held.campaign is not None or self.place.has(name):
                raise CampaignExists(
                    f"there is a campaign {name} already: choose another name, or go on with it."
                )
            held.campaign = self._open(name, **given)

    def names_open(self) -> list[str]:
        """The campaigns that are open now."""
        with self._lock:
            return [name for name, held in self._held.items() if held.campaign is not None]

    def close_idle(self) -> None:
        """Close what nobody has used for a while, and the oldest where too many are open."""
        now = time.monotonic()
        with self._lock:
            free = [(held.used, name) for name, held in self._held.items() if not held.users]
            too_many = max(len(self._held) - self._limits.most_open, 0)
            oldest = sorted(free)
            over = [name for used, name in oldest if now - used > self._limits.idle]
            names = {*over, *(name for _, name in oldest[:too_many])}
            closing = [self._held.pop(name) for name in names]
        for held in closing:
            self._close(held)

    def close(self) -> None:
        """Close all of them; nothing is opened after this."""
        with self._lock:
            self._closed = True
            closing, self._held = list(self._held.values()), {}
        for held in closing:
            self._close(held)

    def _open(self, name: str, **given: Any) -> Campaign:
        named = {"durability": self._durability, "wait": self._limits.wait, **given}
        return Campaign.open(self.place.address(name), **named)

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
