"""How requests become calls of campaigns: off the event loop, together, and never too many.

Calls of one campaign that wait together are done by one thread in one commit; another campaign's
calls are done by another thread meanwhile. The queue is bounded, in all and per token: who comes
when it is full is refused at once (`Overloaded`), so that those who wait are answered in time. What
owners do (end, list, make, pause) is counted by itself and has threads of its own: no load keeps
them out.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from unimodal.campaigns.group_commit import Call
from unimodal.service.campaigns.admission import Admission
from unimodal.service.campaigns.fair_pool import FairPool
from unimodal.service.campaigns.open_campaigns import OpenCampaigns, Work
from unimodal.service.limits import ServiceLimits

_READERS = 2  # that fold or read whole logs
_OWNERS = 2  # that do what owners ask
_MOST_TOGETHER = 256  # calls in one commit


@dataclass
class _Waiting:
    """A call, and where its answer goes; `work` is for what cannot share a commit."""

    future: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop
    admission: Admission
    token: str
    call: Call | None = None
    work: Work | None = None


@dataclass
class _Lane:
    """The calls of one campaign, in the order in which they came."""

    name: str
    waiting: list[_Waiting] = field(default_factory=list)
    busy: bool = False


class CallQueue:
    """Does calls of campaigns for an event loop."""

    def __init__(self, campaigns: OpenCampaigns, limits: ServiceLimits) -> None:
        self._campaigns, self._limits = campaigns, limits
        # One for each campaign: those that wait for their store do not stop the others.
        self._threads = ThreadPoolExecutor(limits.most_open, "unimodal-call")
        self._readers = FairPool(
            _READERS, Admission(limits.readings, limits.readings // 4), "unimodal-read"
        )
        self._admission = Admission(limits.waiting, limits.waiting // 2)
        self._owners_admission = Admission(limits.waiting, limits.waiting // 8)
        self._owners = FairPool(_OWNERS, self._owners_admission, "unimodal-own")
        self._lock = threading.Lock()
        self._lanes: dict[str, _Lane] = {}

    @property
    def waiting(self) -> int:
        """Calls in the queue or being done."""
        return self._admission.count + self._owners_admission.count

    async def change(self, name: str, call: Call) -> Any:
        """Do a call on the state of a campaign, which may share a commit with others; its result.

        The calls that wait together are done in the order in which they came.
        """
        await self._queued(name, self._admission, call=call)
        if call.error is not None:
            raise call.error
        return call.result

    async def do(self, name: str, work: Work) -> Any:
        """Do something with a campaign after the calls that wait with it; what it returns."""
        return await self._queued(name, self._admission, work=work)

    async def manage(self, name: str, work: Work) -> Any:
        """`do` for an owner, who is let in where calls are not."""
        return await self._queued(name, self._owners_admission, work=work)

    async def read(self, name: str, work: Work) -> Any:
        """Do something slow that only reads, beside the calls."""

        def done() -> Any:
            with self._campaigns.use(name) as campaign:
                return work(campaign)

        return await self.aside(done)

    async def aside(self, work: Callable[[], Any]) -> Any:
        """Do something slow that is no call of a campaign."""

        def done() -> Any:
            self._campaigns.make_room()
            return work()

        return await self._readers.do(done)

    async def manage_aside(self, work: Callable[[], Any]) -> Any:
        """Do something short that is no call of a campaign, for an owner."""
        return await self._owners.do(work)

    def close(self) -> None:
        """Finish what waits."""
        self._threads.shutdown(wait=True)
        self._owners.close()
        self._readers.close()

    async def _queued(
        self, name: str, admission: Admission, call: Call | None = None, work: Work | None = None
    ) -> Any:
        token = admission.enter()
        loop = asyncio.get_running_loop()
        queued = _Waiting(loop.create_future(), loop, admission, token, call, work)
        with self._lock:
            lane = self._lanes.setdefault(name, _Lane(name))
            lane.waiting.append(queued)
            begins, lane.busy = not lane.busy, True
        if begins:
            self._threads.submit(self._serve, lane)
        return await queued.future

    def _serve(self, lane: _Lane) -> None:
        """Do what waits in a lane, once; then let other campaigns have the thread."""
        with self._lock:
            taken, lane.waiting = lane.waiting[:_MOST_TOGETHER], lane.waiting[_MOST_TOGETHER:]
        try:
            outcomes = self._done(lane.name, taken)
        except BaseException as error:  # such as a campaign that is not there
            outcomes = [(None, error)] * len(taken)
        taken[0].loop.call_soon_threadsafe(self._answer, taken, outcomes)
        with self._lock:
            if not lane.waiting:
                lane.busy = False
                self._lanes.pop(lane.name, None)
                return
        self._threads.submit(self._serve, lane)

    def _done(self, name: str, taken: list[_Waiting]) -> list[tuple[Any, BaseException | None]]:
        """The result or the error of each, in order."""
        with self._campaigns.use(name) as campaign:
            campaign._do([one.call for one in taken if one.call is not None])
            outcomes: list[tuple[Any, BaseException | None]] = []
            for one in taken:
                if one.call is not None:
                    outcomes.append((None, None))  # it has its result or its error itself
                elif one.work is not None:
                    try:
                        outcomes.append((one.work(campaign), None))
                    except Exception as error:
                        outcomes.append((None, error))
            return outcomes

    def _answer(
        self, taken: list[_Waiting], outcomes: list[tuple[Any, BaseException | None]]
    ) -> None:
        """On the event loop: hand out what came of the calls."""
        for one, (result, error) in zip(taken, outcomes, strict=True):
            one.admission.leave(one.token)
            if one.future.done():
                continue  # its client has gone
            if error is None:
                one.future.set_result(result)
            else:
                one.future.set_exception(error)
