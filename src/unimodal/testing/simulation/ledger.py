"""What was committed and what was acknowledged, kept beside the store that is tested.

Every commit is noted when it is made, with the events that were appended in it. Nothing here is
read from the store, so that the two can be compared.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from unimodal.campaigns.events import Row


class Wrong(Exception):
    """Something happened that must not."""


class Moment(NamedTuple):
    """A moment to which the store can be set back: events by then, and what the store held."""

    length: int
    content: Any


class Erasure(NamedTuple):
    """From an event on, an arm has another label, also in the events before it."""

    seq: int
    old: str
    new: str


class Start(NamedTuple):
    """How far things had come when a call began."""

    length: int
    made: int
    set_backs: int
    disturbances: int
    time: float


@dataclass
class Acknowledged:
    """What a call was told, and the events by which it is so."""

    what: str
    seqs: list[int]
    ids: list[int] = field(default_factory=list)
    time: float = 0.0
    lost: bool = False


class Ledger:
    """The log as it has to be, and who relies on which events of it."""

    def __init__(self) -> None:
        self.events: list[Row] = []
        self.set_backs = 0
        self.moments: list[Moment] = []
        self.erasures: list[Erasure] = []
        self.cut_off: list[tuple[int, Row]] = []  # by which set-back, and the event
        self.acknowledged: list[Acknowledged] = []
        self.owners: dict[int, Acknowledged] = {}  # of each decision: who was told first
        self.counted: dict[int, Acknowledged] = {}  # of each decision: who was told that it counts
        self.keys: dict[str, Acknowledged] = {}
        self.made_uncertain = 0  # decisions of calls that nobody knows about
        self.refused: list[tuple[str, int | None, float]] = []  # kind, decision, reward
        self._index()

    def _index(self) -> None:
        self.decided: dict[int, Row] = {}
        self.rewarded: dict[int, Row] = {}
        self.told: dict[float, Row] = {}
        for event in self.events:
            self._note(event)

    def _note(self, event: Row) -> None:
        if event.kind == "decide" and event.decision is not None:
            self.decided[event.decision] = event
        elif event.kind == "reward" and event.decision is not None:
            self.rewarded[event.decision] = event
        elif event.kind == "tell" and event.reward is not None:
            self.told[event.reward] = event

    @property
    def open(self) -> list[int]:
        """The decisions without a reward or an expiry."""
        gone = {event.decision for event in self.events if event.kind in ("reward", "expire")}
        return [number for number in self.decided if number not in gone]

    def committed(self, events: Iterable[Row], content: Any = None) -> None:
        """Note a commit."""
        for event in events:
            if event.seq != len(self.events) + 1:
                raise Wrong(f"event {event.seq} was committed after event {len(self.events)}")
            self.events.append(event)
            self._note(event)
        self.moments.append(Moment(len(self.events), content))

    def erased(self, erasure: Erasure) -> None:
        """Note an erasure: what was before it does not come back."""
        self.erasures.append(erasure)
        self.moments.clear()

    def set_back(self, moment: Moment) -> None:
        """Go on from an earlier moment: what came after it is lost, with all that relied on it."""
        self.set_backs += 1
        lost = self.events[moment.length :]
        self.cut_off += [(self.set_backs, event) for event in lost]
        del self.events[moment.length :]
        self.moments = [each for each in self.moments if each.length <= moment.length]
        for each in self.acknowledged:
            each.lost |= any(seq > moment.length for seq in each.seqs)
        indices: tuple[dict[Any, Acknowledged], ...] = (self.owners, self.counted, self.keys)
        for index in indices:
            for name in [name for name, each in index.items() if each.lost]:
                del index[name]
        self._index()

    def was_lost(self, start: Start, kind: str, decision: int | None, reward: Any = None) -> bool:
        """Whether such an event was cut off while a call went on."""
        return any(
            number > start.set_backs
            and event.kind == kind
            and event.decision == decision
            and (reward is None or event.reward == reward)
            for number, event in self.cut_off
        )

    def label(self, text: Any) -> Any:
        """What an arm is called now."""
        for erasure in self.erasures:
            if text == erasure.old:
                text = erasure.new
        return text

    def names(self, text: Any) -> set[Any]:
        """All that an arm has been called so far."""
        found = {text}
        for erasure in self.erasures:
            if erasure.old in found:
                found.add(erasure.new)
        return found
