"""One reader that follows a log: what comes is taken once, whoever asks for it.

It has neither a thread nor a clock: whoever holds one lets one thread at a time use it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeVar, cast

from unimodal.agents.agent import Agent
from unimodal.agents.label_text import shown
from unimodal.campaigns.events import Revised, short
from unimodal.campaigns.fold import Fold
from unimodal.campaigns.log_facts import LogFacts
from unimodal.campaigns.log_start import begins_after, erasures, start_of
from unimodal.campaigns.settings import Settings, saved_family
from unimodal.campaigns.stores import Place, StoreToRead, kind_of
from unimodal.campaigns.stores.event_identity import event_at
from unimodal.errors import DamagedFile
from unimodal.families import Family
from unimodal.graphs import Graph
from unimodal.policies import Policy

Found = TypeVar("Found")
_AT_ONCE = 20_000  # events, after which it is asked whether to go on


class Taker(Protocol):
    """What else is made of the events of a log, in the same pass."""

    def take(self, rows: Sequence[tuple[Any, ...]], arms: Sequence[str | None]) -> None:
        """Go on with some events, and the arms of all of them."""


# From the family of the rewards, and whether an expiry counts as a reward of 0.
MakeTaker = Callable[[Family | None, bool], Taker]


class LogReader:
    """Follows the log of a campaign: its facts and its agent, as far as they have been read.

    Where the log is no longer the one that was read (it was set back, compacted, or a label was
    erased from it), it begins anew, and so it does after whatever went wrong.

    Parameters
    ----------
    policy
        A policy of the user's own, which is not in the log.
    also
        Makes what else is to take the events.

    Attributes
    ----------
    facts
        What is known of the log.
    also
        What else took the events.
    last
        The number of the last event in the store, when it was last looked at.
    beginnings
        How often it has begun anew.
    """

    def __init__(
        self,
        policy: Policy | None = None,
        also: Callable[[Family | None, bool], Taker] | None = None,
    ) -> None:
        self._policy, self._make_also = policy, also
        self._is_sound = False
        self._settings, self._erasures = Settings(), 0
        self._now = _StoreOfNow()
        self._fold: Fold | None = None
        self._known: set[str] = set()  # labels that the graph has had
        self.facts = LogFacts()
        self.also: Any = None if also is None else also(None, False)
        self.last = self.beginnings = 0

    @property
    def agent(self) -> Agent | None:
        """The agent, which goes on with the log; None before it was read."""
        return None if self._fold is None else self._fold.state.agent

    @property
    def is_at_end(self) -> bool:
        """Whether all has been read that was there."""
        return self._is_sound and self.facts.seq == self.last

    def read(self, place: Place, work: Callable[[Agent, LogFacts], Found]) -> Found:
        """What some work finds in agent and facts, as they are at one moment.

        It must not keep the agent, which goes on with the log.
        """
        self.follow(place)
        assert self.agent is not None
        return work(self.agent, self.facts)

    def follow(
        self, place: Place, goes_on: Callable[[], bool] | None = None, with_agent: bool = True
    ) -> None:
        """Read on, for as long as it `goes_on`; at the end the agent follows as well."""

        def followed(store: StoreToRead) -> None:
            is_sound, self._is_sound = self._is_sound, False
            if not is_sound or not self._is_of(store):
                self._begin(store)
            self.last = store.last()
            self._take(store, goes_on)
            if with_agent and self.facts.seq == self.last:
                self._follow_with_agent(store)

        kind_of(place).read_store(place, followed)
        self._is_sound = True  # not before: a store that was written meanwhile is read again

    def _is_of(self, store: StoreToRead) -> bool:
        """Whether a log is the one that was read: its last event and its labels are still there."""
        facts = self.facts
        if begins_after(store) != facts.start.seq or len(erasures(store)) != self._erasures:
            return False
        return facts.seq == facts.start.seq or facts.end.is_that_of(event_at(store, facts.seq))

    def _begin(self, store: StoreToRead) -> None:
        store.check()
        saved = store.settings("rewards", "on_expiry")
        family, as_zero = saved_family(saved, store.path), saved["on_expiry"] == "zero"
        self.facts = LogFacts(store.path, start_of(store), family, as_zero)
        self.also = None if self._make_also is None else self._make_also(family, as_zero)
        self._fold, self._known, self._erasures = None, set(), len(erasures(store))
        self.beginnings += 1

    def _take(self, store: StoreToRead, goes_on: Callable[[], bool] | None) -> None:
        while self.facts.seq < self.last and (goes_on is None or goes_on()):
            until = min(self.facts.seq + _AT_ONCE, self.last)
            for rows in store.rows(self.facts.seq, until):
                arms = self.facts.take(rows)
                if self.also is not None:
                    self.also.take(rows, arms)
            if self.facts.seq < until:
                raise DamagedFile(
                    f"events of {store.path} are missing after event {self.facts.seq}: the file "
                    "was changed by hand or is damaged; `unimodal verify` says more."
                )

    def _follow_with_agent(self, store: StoreToRead) -> None:
        with self._now.on(store) as now:
            if self._fold is None:
                self._settings = Settings(policy=self._policy).agreed(
                    store.settings(), store.path, set()
                )
                self._fold = Fold.restored(self._settings, now, no_clock)
            self._fold.catch_up()
        if not self._known >= {*self.facts.first_pulls, *self.facts.leaders}:
            self._known = known_labels(self._settings, self._fold.state.agent, store)
            check_labels(self.facts, self._known, store.path)


class _StoreOfNow:
    """Stands for the store of the present moment, in a state that outlives it."""

    def __init__(self) -> None:
        self._store: StoreToRead | None = None

    @contextlib.contextmanager
    def on(self, store: StoreToRead) -> Iterator[StoreToRead]:
        """Stand for a store meanwhile."""
        self._store = store
        try:
            yield cast("StoreToRead", self)
        finally:
            self._store = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def known_labels(settings: Settings, agent: Agent, store: StoreToRead) -> set[str]:
    """The labels that the graph of a campaign has had, as text."""
    held = isinstance(settings.graph, Graph)
    known = set(map(shown, settings.graph.labels if held else agent.labels))
    for event in store.revisions():
        known.update(map(shown, Revised.labels(event)))
    return known


def check_labels(facts: LogFacts, known: set[str], path: Place) -> None:
    """Refuse a log that names arms which its graph never had: who counts would leave them out.

    Walks look up arms that they only pass: of those nothing is counted.
    """
    if strange := {*facts.first_pulls, *facts.leaders} - known:
        raise DamagedFile(
            f"{path} has events of an arm {short(min(strange))}, which its graph never had: "
            "the file was changed by hand or is damaged; `unimodal verify` says more."
        )


def no_clock() -> float:
    """The clock of a fold, which reads none: the log has the times."""
    raise AssertionError("folding a log must not read a clock")
