"""The logs of campaigns, each read once for all who ask: alarms, certificates, the dashboard."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Iterable
from typing import TypeVar

from unimodal.agents import Agent
from unimodal.campaigns.log_facts import LogFacts
from unimodal.campaigns.log_reader import LogReader, MakeTaker
from unimodal.service.campaigns.catalog import Catalog

Found = TypeVar("Found")
_READ_FOR = 0.4  # seconds in a row, after which others have their turn
_TURN = 0.001  # seconds in which they take it


class FollowedLog:
    """The log of one campaign, for threads that take turns; `lock` is held while it is read."""

    def __init__(self, catalog: Catalog, name: str, also: MakeTaker) -> None:
        self._catalog, self._name = catalog, name
        self.reader, self.lock = LogReader(also=also), threading.Lock()

    def follow(self, with_agent: bool = False) -> None:
        """Read on for some time at most, with the lock: a long log is read in pieces."""
        end, address = time.monotonic() + _READ_FOR, self._catalog.address(self._name)
        self.reader.follow(address, lambda: time.monotonic() < end, with_agent)

    def read(self, work: Callable[[Agent, LogFacts], Found]) -> Found:
        """What some work finds in agent and facts, as they are at one moment."""
        while True:
            with self.lock:
                self.follow(with_agent=True)
                if self.reader.is_at_end and self.reader.agent is not None:
                    return work(self.reader.agent, self.reader.facts)
            time.sleep(_TURN)


class FollowedLogs:
    """One for each campaign that somebody follows; those of open campaigns are kept."""

    def __init__(self, catalog: Catalog, also: MakeTaker) -> None:
        self._catalog, self._also = catalog, also
        self._lock = threading.Lock()
        self._followed: weakref.WeakValueDictionary[str, FollowedLog]
        self._followed = weakref.WeakValueDictionary()
        self._kept: dict[str, FollowedLog] = {}

    def of(self, name: str) -> FollowedLog:
        """The log of a campaign, which need not be there; it is let go when nobody has it."""
        with self._lock:
            found = self._followed.get(name)
            if found is None:
                found = self._followed[name] = FollowedLog(self._catalog, name, self._also)
            return found

    def keep(self, names: Iterable[str]) -> None:
        """Keep those of some campaigns, and let go of all others that nobody has."""
        self._kept = {name: self.of(name) for name in names}
