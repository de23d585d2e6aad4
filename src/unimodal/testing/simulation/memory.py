"""Campaigns in memory: a store that keeps what `campaigns/stores/store.py` promises.

A campaign is a `MemoryPlace`. What it holds at one moment is a `Content`, which is never changed: a
transaction writes into a copy, and its commit puts that in the place. So all moments are still
there, and a place can be set back to any of them, as a server is by a fail-over.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from unimodal.campaigns.events import NO_EVENT, Identity, Row, identity_of
from unimodal.campaigns.stores import Interrupted, NumberTaken, OtherPlace, StoreToRead
from unimodal.campaigns.stores.store import Found, Pausable, as_durability
from unimodal.errors import Busy, StoreError, real_number
from unimodal.testing.simulation import seams

_CHUNK = 1000  # events read at a time
_WAIT = 30.0  # seconds for which a new store waits for others


@dataclass(frozen=True)
class Content:
    """What a campaign holds at one moment; nobody changes it."""

    is_created: bool = False
    version: str | None = None
    settings: dict[str, str] = field(default_factory=dict)  # as JSON
    log: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    tokens: dict[int, int] = field(default_factory=dict)  # of the transaction of each event
    snapshots: dict[int, tuple[str, str]] = field(default_factory=dict)  # version and state
    rewards: dict[int, float] = field(default_factory=dict)  # that are found without the log

    def draft(self) -> Content:
        """A copy that a transaction may change."""
        copies = (self.settings, self.log, self.tokens, self.snapshots, self.rewards)
        return Content(self.is_created, self.version, *map(dict, copies))  # type: ignore[arg-type]

    def identity(self, seq: int) -> Identity | None:
        """Which event has a number, if there is one."""
        row = self.log.get(seq)
        return None if row is None else identity_of(Row._make(row), self.tokens[seq])

    def last(self) -> int:
        """The number of the last event."""
        return max(self.log, default=0)


EMPTY = Content()


class MemoryPlace(OtherPlace):
    """Where a campaign in memory is kept: what it holds now, and who writes.

    Examples
    --------
    >>> import unimodal as um
    >>> place = MemoryPlace("prices")
    >>> with um.Campaign.open(place, um.UTS(), um.graphs.line(3)) as campaign:
    ...     decision = campaign.decide()
    >>> um.verify(place).counts["decide"]
    1
    """

    def __init__(self, name: str) -> None:
        self.name, self.now = name, EMPTY
        self.kind: Any = MEMORY
        self.writes = 0  # commits, and times that it was set back
        self.fail_overs = 0  # in each of which all transactions are lost
        self.tokens = itertools.count(1)
        self._turn = threading.Condition()
        self._queue: list[object] = []  # who writes, and those who wait, in order

    def __str__(self) -> str:
        """The name, as sentences have it."""
        return f"memory:{self.name}"

    __repr__ = __str__

    def begin_to_write(self, who: object, wait: float) -> bool:
        """Wait until nobody else writes, each in its turn; False if that takes too long."""
        with self._turn:
            self._queue.append(who)
            if self._turn.wait_for(lambda: self._queue[0] is who, wait):
                return True
            self._queue.remove(who)
            return False

    def end_to_write(self, who: object) -> None:
        """Let the next one write."""
        with self._turn:
            if who in self._queue:
                self._queue.remove(who)
                self._turn.notify_all()

    def set_back(self, content: Content) -> None:
        """Be as at an earlier moment, or as a copy is; transactions of now are lost."""
        self.now = content
        self.writes += 1
        self.fail_overs += 1

    def cut(self) -> None:
        """Lose all connections, and with them the transactions that they had begun."""
        self.fail_overs += 1


class MemoryReader:
    """A campaign as it was at one moment: see `StoreToRead`."""

    def __init__(self, path: MemoryPlace, content: Content) -> None:
        self.path: Any = path
        self.content: Content = content

    def is_new(self) -> bool:
        """Whether nothing has been written yet."""
        return not self.content.is_created

    def settings(self, *names: str) -> dict[str, Any]:
        """All settings, or those that are named."""
        kept = self.content.settings
        return {name: json.loads(kept[name]) for name in names or kept if name in kept}

    def rows(self, after: int = 0, until: int | None = None) -> Iterator[list[tuple[Any, ...]]]:
        """The events after a number, and up to another, in order."""
        log = self.content.log
        wanted = sorted(seq for seq in log if seq > after and (until is None or seq <= until))
        for first in range(0, len(wanted), _CHUNK):
            yield [log[seq] for seq in wanted[first : first + _CHUNK]]

    def _events(self) -> Iterator[Row]:
        return (Row._make(row) for rows in self.rows() for row in rows)

    def ends(self, known: int) -> list[Identity]:
        """The event of a number, if it is there, and the last one."""
        content = self.content
        found = map(content.identity, sorted({known, content.last()}))
        return [each for each in found if each is not None]

    def last(self) -> int:
        """The number of the last event."""
        return int(self.content.last())

    def revisions(self) -> Iterator[Row]:
        """The events that changed the graph."""
        return (event for event in self._events() if event.kind == "revision")

    def counts(self, until: int) -> dict[str, int]:
        """How many events there are of each kind, up to a number."""
        return dict(Counter(event.kind for event in self._events() if event.seq <= until))

    def reward_of(self, decision: int) -> float | None:
        """The reward of a decision: in the table, or in the log after the last snapshot."""
        if decision in self.content.rewards:
            return self.content.rewards[decision]
        after = self.last_snapshot()
        for event in self._events():
            if event.seq > after and event.kind == "reward" and event.decision == decision:
                return event.reward
        return None

    def last_key(self, digest: str) -> Row | None:
        """The last event that tells a key."""
        least, above = seams.keys_between(digest)
        found = [e for e in self._events() if e.kind == "key" and least <= (e.data or "") < above]
        return found[-1] if found else None

    def snapshots(self) -> list[tuple[int, str]]:
        """Which there are: number of the event, and version."""
        return [(seq, version) for seq, (version, _) in sorted(self.content.snapshots.items())]

    def snapshot(self, seq: int) -> str:
        """The state of a snapshot."""
        return self.content.snapshots.get(seq, ("", ""))[1]

    def last_snapshot(self) -> int:
        """The event after which the last snapshot was taken."""
        return max(self.content.snapshots, default=0)

    def check(self) -> None:
        """Do nothing: memory has no pages."""

    def problems(self) -> list[str]:
        """Nothing: memory has no pages."""
        return []

    def lost_rewards(self) -> int:
        """How many rewards would not be found as the log has them."""
        kept, last = self.content.rewards, self.last_snapshot()
        differ = found = 0
        for event in self._events():
            if event.kind == "reward" and event.decision in kept:
                found += 1
                differ += kept[event.decision] != event.reward
            elif event.kind == "reward":
                differ += event.seq <= last
        moved = self.settings("archived").get("archived", {}).get("rewards", 0)
        return int(differ + abs(len(kept) - found - moved))

    def kept_rewards(self) -> Iterator[list[tuple[int, float]]]:
        """The rewards that are found without the log, by decision."""
        if self.content.rewards:
            yield sorted(self.content.rewards.items())


class MemoryStore(MemoryReader):
    """A campaign in memory, open to write: see `Store` for what its methods promise."""

    clock: Callable[[], float] | None = None  # there is one machine
    is_gone = False  # nobody removes it

    def __init__(self, path: MemoryPlace, durability: str, wait: float) -> None:
        as_durability(durability)
        self.path: Any = path
        self._place: MemoryPlace = path
        self.closed = False
        self._wait = real_number(wait, "the 'wait' of a campaign", above=0)
        self._begun: Content | None = None  # what this transaction reads and writes
        self._is_draft = False  # whether that is a copy already
        self._fail_overs = 0  # when it began
        self._own_writes = 0
        self._known = NO_EVENT  # the last one that this handle has seen or written
        self._appended: Identity | None = None  # the last one of this transaction

    @property
    def content(self) -> Content:  # type: ignore[override]
        """What this transaction has made of it; outside of one, what is there now."""
        if self.closed:
            raise StoreError(f"{self.path} was closed here: open it again with Campaign.open.")
        if self._begun is None:
            return self._place.now
        self._check_connected()
        return self._begun

    def _check_connected(self) -> None:
        """Refuse to go on in a transaction that was lost with its connection."""
        if self._fail_overs != self._place.fail_overs:
            raise Interrupted(f"the connection to {self.path} was lost: begin anew.")

    def _draft(self) -> Content:
        """A copy that belongs to this transaction."""
        if self._begun is None:
            raise StoreError(f"{self.path} is written to outside of a transaction: begin one.")
        self._check_connected()
        if not self._is_draft:
            self._begun, self._is_draft = self._begun.draft(), True
        return self._begun

    # Transactions.

    def begin(self) -> None:
        """Begin a transaction: nobody else writes until it ends."""
        if self.closed:
            raise StoreError(f"{self.path} was closed here: open it again with Campaign.open.")
        if not self._place.begin_to_write(self, self._wait):
            raise Busy(f"{self.path} was busy for {self._wait:g} s: call again.")
        self._begun, self._is_draft = self._place.now, False
        self._fail_overs, self._appended = self._place.fail_overs, None
        known, ends = self._known, self.ends(self._known.seq)
        self._known = ends[-1] if ends else NO_EVENT
        if not seams.identities.is_known(known, ends, self.path):
            raise Interrupted(f"{self.path} was compacted by others: begin anew.")

    def commit(self) -> None:
        """End the transaction: what it wrote is there for all when this returns."""
        content = self.content
        if self._is_draft:
            self._place.now = content
            self._place.writes += 1
            self._own_writes += 1
        self._known = self._appended or self._known
        self.roll_back()

    def roll_back(self) -> None:
        """End the transaction, if there is one, as if it had not been."""
        self._begun, self._is_draft, self._appended = None, False, None
        self._place.end_to_write(self)

    def version(self) -> int:
        """A number that changes when another handle has written."""
        return self._place.writes - self._own_writes

    # What is written.

    def create(self, settings: dict[str, Any]) -> None:
        """Make a new campaign with these settings."""
        texts = {name: json.dumps(value) for name, value in settings.items()}
        draft = self._draft()
        self._begun = replace(draft, is_created=True, settings=texts)

    def written_by(self, version: str) -> bool:
        """Whether it was this version that had the store last; from now on it is."""
        draft = self._draft()
        self._begun = replace(draft, version=version)
        return draft.version in (None, version)

    def keep_setting(self, name: str, value: Any) -> None:
        """Write a setting in the place of the one that has its name."""
        self._draft().settings[name] = json.dumps(value)

    def append(self, events: Sequence[Row]) -> None:
        """Add events under their numbers."""
        draft, token = self._draft(), next(self._place.tokens)
        for event in events:
            if event.seq in draft.log:
                raise NumberTaken(f"event {event.seq} of {self.path} is taken.")
            draft.log[event.seq], draft.tokens[event.seq] = tuple(event), token
            self._appended = identity_of(event, token)

    def find_rewards(self, after: int, until: int) -> None:
        """Put the rewards of some events where they are found."""
        draft = self._draft()
        for seq in range(after + 1, until + 1):
            row = draft.log.get(seq)
            if row is not None and (event := Row._make(row)).kind == "reward":
                draft.rewards.setdefault(event.decision, event.reward)  # type: ignore[arg-type]

    def keep_snapshot(
        self, seq: int, version: str, state: str, follows: Identity | None = None
    ) -> None:
        """Keep the state after an event; which others are dropped for it, `Store` says."""
        kept = self._draft().snapshots
        own = [number for number, (its, _) in kept.items() if its == version]
        others = max((number for number, (its, _) in kept.items() if its != version), default=0)
        took_over = min((number for number in own if number > others), default=None)
        for number in own:
            if number not in (min(own), took_over):
                del kept[number]
        kept[seq] = version, state
        if follows is not None:
            names = seams.identities.names_with(self, follows)
            self.keep_setting(seams.identities.SNAPSHOTS, names)

    def drop_snapshot(self, seq: int) -> None:
        """Delete the snapshot after an event."""
        self._draft().snapshots.pop(seq, None)

    def put(
        self,
        *,
        settings: Mapping[str, Any] | None = None,
        events: Iterable[Row] = (),
        snapshots: Iterable[tuple[int, str, str]] = (),
        rewards: Iterable[tuple[int, float]] = (),
    ) -> None:
        """Write these over what has the same names and numbers."""
        draft = self._draft()
        draft.settings.update((key, json.dumps(value)) for key, value in (settings or {}).items())
        for event in events:
            draft.log[event.seq] = tuple(event)
            draft.tokens.setdefault(event.seq, next(self._place.tokens))
        draft.snapshots.update((seq, (version, state)) for seq, version, state in snapshots)
        draft.rewards.update(rewards)

    def drop(self, before: int, spare: Sequence[int]) -> None:
        """Delete the events with numbers below one, except some."""
        draft, spared = self._draft(), set(spare)
        for seq in [seq for seq in draft.log if seq < before and seq not in spared]:
            del draft.log[seq], draft.tokens[seq]

    def drop_snapshots(self, before: int) -> None:
        """Delete the snapshots after events with numbers below one."""
        kept = self._draft().snapshots
        for seq in [seq for seq in kept if seq < before]:
            del kept[seq]

    def drop_rewards(self, decisions: Iterable[int]) -> None:
        """Delete the rewards of some decisions from those that are found without the log."""
        draft = self._draft()
        for decision in decisions:
            draft.rewards.pop(decision, None)

    # What is a transaction by itself.

    def reclaim(self) -> None:
        """Do nothing: nobody can read what was deleted."""

    def append_at_once(self, events: Sequence[Row]) -> None:
        """Begin, append and commit; `NumberTaken` if it is not the next."""
        self.begin()
        try:
            if self.last() != events[0].seq - 1:
                raise NumberTaken(f"event {events[0].seq} of {self.path} is not the next one.")
            self.append(events)
            self.commit()
        except NumberTaken:
            self.roll_back()
            raise

    def check_place(self) -> None:
        """Do nothing: a place has no other name."""

    # Forks, and the end.

    def pause_at_forks(self, campaign: Pausable) -> None:
        """Do nothing: a child has a copy of its own."""

    def let_fork(self, campaign: Pausable) -> None:
        """Do nothing."""

    def suspend(self) -> None:
        """Do nothing: there is no connection."""

    def resume(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Let go of everything."""
        self.roll_back()
        self.closed = True


class MemoryKind:
    """How to get a handle on a `MemoryPlace`: see `StoreKind`."""

    def is_there(self, path: Any, wait: float) -> bool:
        """Whether there is a campaign."""
        return _as_memory(path).now.is_created

    def open_store(self, path: Any, durability: str, wait: float) -> MemoryStore:
        """Open a store to write."""
        return MemoryStore(_as_memory(path), durability, wait)

    def read_store(self, path: Any, work: Callable[[StoreToRead], Found]) -> Found:
        """What some work finds at one moment."""
        place = _as_memory(path)
        content = place.now
        if not content.is_created:
            raise StoreError(f"there is no campaign {place}: check its name.")
        return work(MemoryReader(place, content))

    @contextlib.contextmanager
    def new_store(self, path: Any) -> Iterator[MemoryStore]:
        """A new store, inside of a transaction that makes it."""
        store = MemoryStore(_as_memory(path), "full", _WAIT)
        try:
            store.begin()
            yield store
            store.commit()
        finally:
            store.close()

    def back_up(self, path: Any, target: Any) -> MemoryPlace:
        """Copy a campaign, as it is at one moment, to another place."""
        source, copy = _as_memory(path), _as_memory(target)
        if copy.now.is_created:
            raise StoreError(f"there is a campaign {copy} already: name another.")
        copy.now = source.now
        return copy


def _as_memory(place: Any) -> MemoryPlace:
    if not isinstance(place, MemoryPlace):
        raise StoreError(f"a campaign in memory must be at a MemoryPlace, got {place}.")
    return place


MEMORY = MemoryKind()
