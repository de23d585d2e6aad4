"""What a dashboard shows of a log, kept as the log grows: each event is read once."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from unimodal.agents.label_text import shown
from unimodal.campaigns.events import NO_EVENT, Row, identity_of
from unimodal.campaigns.settings import saved_family
from unimodal.campaigns.stores import StoreToRead
from unimodal.campaigns.stores.event_identity import event_at
from unimodal.families import Family
from unimodal.service.dashboard.log_parts import LogParts, Part

_KIND = itemgetter(2)
_NOBODY = ("", 0.0)
_RECENT = 1_000  # rewards, whose mean is the present rate
_AT_ONCE = 20_000  # events, between two looks at the clock
_SHOWN = 12  # decisions, the last
_HOUR, _DAY = 3600, 86_400
_HOURS = 50  # that are counted
AGES = (60.0, 600.0, 3600.0, 6 * 3600.0, 86_400.0)  # seconds: outstanding decisions by age


class LastDecision(NamedTuple):
    """One of the last decisions."""

    id: int
    time: float
    arm: str
    reason: str
    leader: str | None


class LogSummary:
    """A log as a few numbers; `follow` reads what has come since."""

    def __init__(self) -> None:
        self.seq = 0
        self.last = 0  # the number of the last event in the store
        self._end = NO_EVENT  # the last one that was read
        self.kinds: Counter[str] = Counter()
        self.parts = LogParts()
        self.open: dict[int, tuple[Any, float]] = {}  # decisions without a reward: arm and time
        self.began: float | None = None
        self.ended: float | None = None
        self.leader: str | None = None
        self.leader_changes = 0
        self._leader: Any = None  # as the log has it
        self.decisions: deque[LastDecision] = deque(maxlen=_SHOWN)
        self._recent: deque[float] = deque(maxlen=_RECENT)
        self._hours: dict[int, list[float]] = {}  # decisions, rewards, their sum
        self._worth: Callable[[str], float] | None = None
        self._zero_on_expiry = self._is_set = False

    def is_of(self, store: StoreToRead) -> bool:
        """Whether a log may be the one that was read: it has not become shorter, nor another."""
        found = event_at(store, self._end.seq)  # none, where it was moved into an archive
        same = found == NO_EVENT or self._end.is_that_of(found)
        return same and store.last() >= self.seq

    def follow(self, store: StoreToRead, seconds: float) -> None:
        """Read on, for some time at most: who has a long log is told of its beginning first."""
        if not self._is_set:
            settings = store.settings("rewards", "on_expiry")
            self._worth = _worth(saved_family(settings, store.path))
            self._zero_on_expiry = settings["on_expiry"] == "zero"
            self._is_set = True
        self.last = store.last()
        end = time.monotonic() + seconds
        while self.seq < self.last and time.monotonic() < end:
            until = min(self.seq + _AT_ONCE, self.last)
            for rows in store.rows(self.seq, until):
                self.take(rows)
            self.seq = until  # the beginning of a log may have been put aside

    def take(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Count some events, which follow those that were counted."""
        if not rows:
            return
        if self.began is None:
            self.began = rows[0][1]
        self._end = identity_of(Row._make(rows[-1]))
        self.seq, self.ended = self._end.seq, self._end.time
        self.kinds.update(map(_KIND, rows))
        first = 0
        while first < len(rows):
            part, room = self.parts.open(rows[first][1])
            self._take(part, rows[first : first + room])
            first += room
        for hour in sorted(self._hours)[:-_HOURS]:
            del self._hours[hour]

    def _take(self, part: Part, rows: Sequence[tuple[Any, ...]]) -> None:
        """Count events of one part: a million of them are read while somebody waits."""
        still_open, worth_of, recent = self.open, self._worth, self._recent
        last_hour, hour = -1, [0, 0, 0.0]
        for row in rows:
            moment, kind = row[1], row[2]
            if moment // _HOUR != last_hour:
                last_hour = moment // _HOUR
                hour = self._hours.setdefault(int(last_hour), [0, 0, 0.0])
            if kind == "decide":
                part.decisions += 1
                hour[0] += 1
                still_open[row[3]] = row[4], moment
                if row[6] is not None:
                    self._led(part, row[6])
                continue
            if kind == "reward":
                arm, told = still_open.pop(row[3], _NOBODY)[0], row[9]
            elif kind == "expire":
                arm, told = still_open.pop(row[3], _NOBODY)[0], 0.0
                if not self._zero_on_expiry:
                    continue
            elif kind == "tell":
                arm, told = row[4], row[9]
            else:
                continue
            worth = told if worth_of is None else told * worth_of(str(arm))
            part.rewards += 1
            part.total += worth
            part.squares += worth * worth
            hour[1] += 1
            hour[2] += worth
            recent.append(worth)
        part.events += len(rows)
        part.ended = rows[-1][1]
        self._note(rows)

    def _led(self, part: Part, leader: Any) -> None:
        if leader != self._leader:
            self.leader_changes += self._leader is not None
            self._leader = leader
        name = self.leader = str(leader)
        part.leaders[name] = part.leaders.get(name, 0) + 1

    def _note(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Keep the last decisions."""
        made = [row for row in rows[-4 * _SHOWN :] if row[2] == "decide"]
        for row in made[-_SHOWN:]:
            leader = None if row[6] is None else str(row[6])
            self.decisions.append(LastDecision(row[3], row[1], str(row[4]), row[5], leader))

    @property
    def rewards(self) -> int:
        """How many rewards have counted."""
        return sum(part.rewards for part in self.parts.parts)

    @property
    def total(self) -> float:
        """What they were worth together."""
        return sum(part.total for part in self.parts.parts)

    def today(self, now: float) -> int:
        """Decisions since midnight, UTC."""
        first = int(now // _DAY) * 24
        return int(sum(counts[0] for hour, counts in self._hours.items() if hour >= first))

    def rate(self) -> float | None:
        """The mean of the last thousand rewards."""
        return sum(self._recent) / len(self._recent) if self._recent else None

    def per_hour(self, now: float) -> tuple[float, float]:
        """Decisions and reward per hour, from this hour and the one before, as far as it ran."""
        hour = int(now // _HOUR)
        began = (hour - 1) * _HOUR if self.began is None else max(self.began, (hour - 1) * _HOUR)
        seconds = max(now - began, 60.0)
        both = [self._hours.get(one, (0, 0, 0.0)) for one in (hour - 1, hour)]
        return tuple(sum(one[i] for one in both) * _HOUR / seconds for i in (0, 2))  # type: ignore[return-value]

    def ages(self, now: float) -> tuple[list[int], float | None]:
        """How many outstanding decisions are in each class of age, and the age of the oldest."""
        counts = [0] * (len(AGES) + 1)
        oldest = None
        for _, moment in self.open.values():
            age = now - moment
            counts[sum(age >= limit for limit in AGES)] += 1
            oldest = age if oldest is None or age > oldest else oldest
        return counts, oldest


def _worth(family: Family) -> Callable[[str], float] | None:
    """What a reward of 1 of an arm is worth, by the arm's text; None where it is 1 for all."""
    if family.told is family:
        return None
    labels = {shown(label): label for label in family.labels}
    known: dict[str, float] = {}

    def worth(arm: str) -> float:
        found = known.get(arm)
        if found is None:
            found = known[arm] = float(np.max(family.factors([labels.get(arm, arm)])))
        return found

    return worth
