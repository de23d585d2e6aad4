"""What the endpoints of one application share."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from fastapi import Request

from unimodal.campaigns.alarms import alarms_of
from unimodal.errors import CampaignEnded, StoreError, UnimodalError
from unimodal.escape_text import printable
from unimodal.service.campaigns.call_queue import CallQueue
from unimodal.service.campaigns.catalog import Catalog
from unimodal.service.campaigns.followed_logs import FollowedLogs
from unimodal.service.campaigns.open_campaigns import OpenCampaigns, unknown_campaign
from unimodal.service.dashboard.log_summary import LogSummary
from unimodal.service.limits import ServiceLimits
from unimodal.service.metrics import Metrics
from unimodal.service.security.access import Access
from unimodal.service.server.connection_limits import Connections, OneConnection

_log = logging.getLogger("unimodal")
_REMEMBERED = 1.0  # seconds for which the store is not asked again the same


class Service:
    """The campaigns, the queue of calls, who may do what, and the figures."""

    def __init__(
        self,
        catalog: Catalog,
        access: Access,
        limits: ServiceLimits | None = None,
        durability: str = "full",
        watch: float = 60.0,
    ) -> None:
        self.catalog, self.access, self.limits = catalog, access, limits or ServiceLimits()
        self.metrics = Metrics()
        self.quiet = access.quiet  # for what strangers can cause
        self.connections = Connections(self.limits)
        self.campaigns = OpenCampaigns(
            catalog, self.limits, durability, self.connections.descriptors
        )
        self.queue = CallQueue(self.campaigns, self.limits)
        self.logs = FollowedLogs(catalog, LogSummary)
        self._ended: dict[str, tuple[float, bool]] = {}
        self._readiness = ThreadPoolExecutor(1, "unimodal-ready")
        self._ready: tuple[float, asyncio.Task[None]] | None = None
        self.note = ""  # what the dashboard says while there are no campaigns
        self.stopping = False  # streams end then, or a server that is being stopped would wait
        self._stopped, self._is_away = False, False
        self._wake = threading.Event()
        self._keeper = threading.Thread(
            target=self._keep, args=(watch,), name="unimodal-keeper", daemon=True
        )

    def start(self) -> None:
        """Begin to look after open campaigns."""
        self._keeper.start()

    def close(self) -> None:
        """Finish the calls that wait, and close the campaigns."""
        self.stopping = True
        self._stopped = True
        self._wake.set()
        self.queue.close()
        self._readiness.shutdown(wait=True)
        self.campaigns.close()
        self.catalog.close()
        if self._keeper.is_alive():
            self._keeper.join(timeout=10)

    def enter(self, connection: OneConnection, address: str) -> bool:
        """Count a connection; False if there is no room for it."""
        has_room = self.connections.enter(connection, address)
        if not has_room:
            self.quiet.warning("a connection from %s was refused: there are too many", address)
        elif not self.connections.descriptors()[1]:  # they need what campaigns have
            self._wake.set()
        return has_room

    async def check_ready(self) -> None:
        """Refuse with an error if the store cannot be reached.

        Anybody may ask, so it is asked once per second for all who do; and not by the threads that
        read, or whoever keeps them busy would have a load balancer send nobody here any more.
        """
        now = time.monotonic()
        if self._ready is None or (self._ready[1].done() and now - self._ready[0] > _REMEMBERED):
            self._ready = now, asyncio.create_task(self._reached())
        await asyncio.shield(self._ready[1])

    async def _reached(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            await loop.run_in_executor(self._readiness, self.catalog.check)
        except UnimodalError as error:  # which names the store: not for strangers
            self.quiet.warning("the store cannot be reached: %s", printable(error))
            raise StoreError(
                "the campaigns cannot be reached now: the log of the service says why; try again."
            ) from None

    def is_ended(self, name: str) -> bool:
        """Whether a campaign was ended; other servers learn it within a second."""
        asked, ended = self._ended.get(name, (0.0, False))
        return self._asked_anew(name) if time.monotonic() - asked > _REMEMBERED else ended

    def _asked_anew(self, name: str) -> bool:
        ended = self.catalog.is_ended(name)
        self._ended[name] = time.monotonic(), ended
        return ended

    def set_ended(self, name: str, ended: bool) -> None:
        """End a campaign, or let it decide again."""
        if not self.catalog.has(name):
            raise unknown_campaign(name)
        self.catalog.set_ended(name, ended)
        self._ended[name] = time.monotonic(), ended

    async def check_not_ended(self, name: str) -> None:
        """Refuse to decide for a campaign that was ended; the store is asked off the event loop."""
        asked, ended = self._ended.get(name, (0.0, False))
        if time.monotonic() - asked > _REMEMBERED:
            if asked:  # those who come meanwhile go by what is known
                self._ended[name] = time.monotonic(), ended
            ended = await self.queue.do(name, lambda campaign: self._asked_anew(name))
        if ended:
            raise CampaignEnded(
                f"the campaign {name} was ended by its owner, and decides no more: an admin can "
                'change it back with {"ended": false}.'
            )

    def _keep(self, watch: float) -> None:
        """Close idle campaigns, look for alarms and for the store, now and then, until the end."""
        last = time.monotonic()
        while True:
            self._look_for_store()
            self._wake.wait(min(watch, 5.0))
            if self._stopped:
                return
            self._wake.clear()
            self.campaigns.close_idle()
            self.quiet.tell_left_out()
            if time.monotonic() - last < watch:
                continue
            names = self.campaigns.names_open()
            self.logs.keep(names)
            for name in names:
                if self._stopped:
                    return
                self._look_for_alarms(name)
            last = time.monotonic()

    def _look_for_store(self) -> None:
        """Log that the store cannot be reached, and that it can again."""
        was_away = self._is_away
        try:
            self.catalog.check()
            self._is_away = False
        except UnimodalError as error:
            self._is_away = True
            self.quiet.warning("the store cannot be used, requests are answered 503: %s", error)
        if was_away and not self._is_away:
            _log.warning("the store can be used again")

    def _look_for_alarms(self, name: str) -> None:
        try:
            with self.campaigns.if_open(name) as campaign:
                if campaign is None:
                    return
                self.campaigns.make_room()
                self.metrics.alarms.labels(name).set(len(self.logs.of(name).read(alarms_of)))
            self.campaigns.close_after_reading(name)
        except UnimodalError as error:
            _log.warning("alarms of %s: %s", name, error)
        except Exception:
            _log.exception("alarms of %s", name)


def service_of(request: Request) -> Service:
    """The service that a request is for."""
    service: Any = request.app.state.service
    return service  # type: ignore[no-any-return]
