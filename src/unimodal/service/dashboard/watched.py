"""The campaigns that somebody looks at: what is known of each, read once for all who look."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import hashlib
import json
import logging
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, TypeVar

from unimodal.agents import Agent
from unimodal.campaigns.log_facts import LogFacts
from unimodal.errors import UnimodalError, UnknownCampaign
from unimodal.escape_text import printable
from unimodal.service.campaigns.followed_logs import FollowedLog
from unimodal.service.campaigns.open_campaigns import unknown_campaign
from unimodal.service.dashboard.arms_shown import KnownArms, arms_shown, known
from unimodal.service.dashboard.campaign_shown import row, shown
from unimodal.service.dashboard.findings import CampaignFindings
from unimodal.service.dashboard.log_summary import LogSummary
from unimodal.service.http.json_answers import finite
from unimodal.service.service import Service

Shown = TypeVar("Shown")
_log = logging.getLogger("unimodal")
_DAMAGED = "the log has events that cannot be: `unimodal verify` says which."
_OPEN = 60.0  # seconds since a page asked; it asks every 30
_FRESH = 0.5  # seconds for which what was read is not read again
_SHARE = 10.0  # times as long as it took, until what could not be read is tried again


class Watched:
    """One campaign, as the dashboard knows it."""

    def __init__(self, name: str, log: FollowedLog) -> None:
        self.name, self.log = name, log
        self.findings = CampaignFindings()
        self.arms: dict[str, Any] = {"kind": "none", "arms": [], "edges": []}
        self.settings: dict[str, Any] = {}
        self.version = 0  # grows with everything that is found
        self.problem: str | None = None
        self._next_look = 0.0
        self._beginnings = 0  # of the reader, when it was last looked at
        self.opening = asyncio.Lock()
        self.arms_of = -1  # the event up to which `arms` was read
        self.finding = False
        self.shown = -_OPEN

    @property
    def is_open(self) -> bool:
        """Whether somebody has the page of this campaign open."""
        return time.monotonic() - self.shown < _OPEN

    @property
    def facts(self) -> LogFacts:
        """What is known of the log."""
        return self.log.reader.facts

    @property
    def summary(self) -> LogSummary:
        """What is drawn of it."""
        return self.log.reader.also  # type: ignore[no-any-return]

    @property
    def behind(self) -> int:
        """How many events are still to be read."""
        return self.log.reader.last - self.facts.seq

    def follow(self, service: Service) -> None:
        """Read what has come to the log, unless somebody does; in a thread."""
        if not service.catalog.has(self.name):
            raise unknown_campaign(self.name)
        if not self.log.lock.acquire(blocking=False):
            return  # what is known will do, and the thread is needed elsewhere
        try:
            if time.monotonic() > self._next_look or (self.behind > 0 and self.problem is None):
                self._read()
        finally:
            self.log.lock.release()

    def view(self, show: Callable[[Watched], Shown]) -> Shown:
        """What is shown of it, while nobody reads on; in a thread."""
        with self.log.lock:
            return show(self)

    def _read(self) -> None:
        """Read on, with the lock; a log that is damaged is read from its beginning each time."""
        reader, before, began = self.log.reader, self.facts.seq, time.monotonic()
        self.problem, pause = None, _FRESH
        try:
            self.log.follow()
        except UnimodalError as error:
            self.problem = printable(error)
        except (TypeError, ValueError, LookupError):
            self.problem = _DAMAGED
        if self.problem is not None:
            pause = max(_FRESH, _SHARE * (time.monotonic() - began))
        self._next_look = time.monotonic() + pause
        if reader.beginnings != self._beginnings:  # set back, or another campaign of this name
            if self._beginnings:
                self.findings, self.arms_of = CampaignFindings(), -1
            self._beginnings = reader.beginnings
            self.version += 1
        self.version += self.facts.seq != before


class Dashboard:
    """What the dashboard of one application keeps."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self._watched: dict[str, Watched] = {}
        self._one_at_a_time = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self.streams: Counter[str] = Counter()  # that are open, by token

    def watched(self, name: str) -> Watched:
        """What is known of a campaign, which need not be there."""
        if name not in self._watched:
            self._watched[name] = Watched(name, self.service.logs.of(name))
        return self._watched[name]

    async def followed(self, name: str) -> Watched:
        """A campaign, with all that its log says by now."""
        one = self.watched(name)
        try:
            await self.service.queue.aside(lambda: one.follow(self.service))
        except UnknownCampaign:
            self._watched.pop(name, None)  # names of strangers do not stay
            raise
        self._find(one)
        return one

    async def overview(self, names: list[str]) -> list[dict[str, Any]]:
        """One row per campaign."""
        found = []
        for name in names:
            with contextlib.suppress(UnimodalError):  # gone meanwhile
                one, ended = await self.followed(name), self.service.is_ended(name)
                found.append(await self._viewed(one, functools.partial(row, ended=ended)))
        return found

    async def _viewed(self, one: Watched, show: Callable[[Watched], Shown]) -> Shown:
        found: Shown = await self.service.queue.aside(lambda: one.view(show))
        return found

    async def campaign(self, name: str, have: set[str]) -> dict[str, Any]:
        """All that is shown of a campaign, in sections; without those whose digest is known."""
        self.watched(name).shown = time.monotonic()
        one = await self.followed(name)
        await self._read_arms(one)
        ended = self.service.is_ended(name)
        return await self._viewed(one, functools.partial(changed, ended=ended, have=have))

    async def _read_arms(self, one: Watched) -> None:
        """What the agent knows of its arms, once for each state of the log."""
        async with one.opening:
            seq = one.facts.seq
            if one.arms_of == seq:
                return

            def look(agent: Agent) -> tuple[KnownArms, dict[str, Any]]:
                return known(agent), described(agent)

            try:
                seen, one.settings = await self.service.queue.do(
                    one.name, lambda campaign: campaign._call(look)
                )
                one.arms = await self.service.queue.aside(lambda: arms_shown(seen))
                one.arms_of = seq
            except UnimodalError as error:
                one.problem = printable(error)

    def _find(self, one: Watched) -> None:
        """Begin to look for what takes long, if it is due and nobody does."""
        if one.finding or one.behind > 0 or not one.findings.is_due(one.facts.seq, one.is_open):
            return
        one.finding = True
        task = asyncio.get_running_loop().create_task(self._found(one))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _found(self, one: Watched) -> None:
        try:
            async with self._one_at_a_time:
                address = self.service.catalog.address(one.name)
                await self.service.queue.aside(
                    lambda: one.findings.find(address, one.log, one.is_open)
                )
                one.version += 1
        except (UnimodalError, RuntimeError) as error:  # busy, or being stopped
            _log.debug("the dashboard's findings of %s: %s", one.name, error)
        finally:
            one.finding = False


def changed(one: Watched, ended: bool, have: set[str]) -> dict[str, Any]:
    """The sections of a page whose digest is not known there, and how much is still to be read."""
    found: dict[str, Any] = {"behind": one.behind}
    for title, section in shown(one, ended).items():
        plain = finite(section)
        digest = hashlib.blake2b(json.dumps(plain).encode(), digest_size=8).hexdigest()
        if digest not in have:
            found[title] = {**plain, "digest": digest}
    return found


def described(agent: Agent) -> dict[str, Any]:
    """What a campaign is about, and its limits."""
    cap = agent.limits.cap
    return {
        "policy": printable(agent.policy.name),
        "family": printable(repr(agent.family)),
        "arms": agent.known_arms,
        "looked_up": agent.graph is None,
        "paused": [printable(label) for label in agent.paused],
        "cap": None if cap is None else f"{cap.share:g} of {cap.over:,}",
        "time_to_live": agent.book.time_to_live,
        "reports": [printable(report) for report in agent.reports[-3:]],
    }
