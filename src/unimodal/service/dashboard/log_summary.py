"""What a dashboard draws of a log, kept as the log grows: each event is taken once."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from unimodal.agents.label_text import shown
from unimodal.campaigns.log_facts import LogFacts
from unimodal.families import Family
from unimodal.service.dashboard.log_parts import LogParts, Part

_RECENT = 1_000  # rewards, whose mean is the present rate
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
    """What is drawn of a log besides its facts: a taker of `campaigns/log_reader.py`."""

    def __init__(self, family: Family | None = None, zero_on_expiry: bool = False) -> None:
        self.parts = LogParts()
        self.began: float | None = None
        self.ended: float | None = None
        self.leader: str | None = None
        self.leader_changes = 0
        self._leader: Any = None  # as the log has it
        self.decisions: deque[LastDecision] = deque(maxlen=_SHOWN)
        self._recent: deque[float] = deque(maxlen=_RECENT)
        self._hours: dict[int, list[float]] = {}  # decisions, rewards, their sum
        self._worth = None if family is None else _worth(family)
        self._zero_on_expiry = zero_on_expiry

    def take(self, rows: Sequence[tuple[Any, ...]], arms: Sequence[str | None]) -> None:
        """Go on with some events, and the arms of all of them."""
        if not rows:
            return
        if self.began is None:
            self.began = rows[0][1]
        self.ended = rows[-1][1]
        first = 0
        while first < len(rows):
            part, room = self.parts.open(rows[first][1])
            self._take(part, rows[first : first + room], arms[first : first + room])
            first += room
        for hour in sorted(self._hours)[:-_HOURS]:
            del self._hours[hour]

    def _take(
        self, part: Part, rows: Sequence[tuple[Any, ...]], arms: Sequence[str | None]
    ) -> None:
        """Count events of one part: a million of them are read while somebody waits."""
        worth_of, recent = self._worth, self._recent
        last_hour, hour = -1, [0, 0, 0.0]
        for row, arm in zip(rows, arms, strict=True):
            moment, kind = row[1], row[2]
            if moment // _HOUR != last_hour:
                last_hour = moment // _HOUR
                hour = self._hours.setdefault(int(last_hour), [0, 0, 0.0])
            if kind == "decide":
                part.decisions += 1
                hour[0] += 1
                if row[6] is not None:
                    self._led(part, row[6])
                continue
            if kind in ("reward", "tell"):
                told = row[9]
            elif kind == "expire" and self._zero_on_expiry:
                told = 0.0
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


def ages(facts: LogFacts, now: float) -> tuple[list[int], float | None]:
    """How many open decisions are in each class of age, and the age of the oldest.

    Those that were made before the log began are old; how old, it does not tell.
    """
    found = now - facts.open_times()
    classes = np.searchsorted(AGES, np.nan_to_num(found, nan=np.inf), side="right")
    counts = np.bincount(classes, minlength=len(AGES) + 1).tolist()
    known = found[~np.isnan(found)]
    return counts, float(known.max()) if len(known) else None


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
