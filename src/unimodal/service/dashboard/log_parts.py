"""The log of a campaign in a few parts, however long it is: what the charts are drawn from.

Parts have the same number of events each, since a clock may stand still or go back. When there are
too many of them, each two become one: a million events take as many numbers as a thousand.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from dataclasses import dataclass, field
from typing import Any

MOST = 240  # parts; a chart has some 1,000 pixels, and half as many parts at least
_WIDTH = 8  # events of a part, at first
_LEADERS = 24  # that are told apart in a part


@dataclass(slots=True)
class Part:
    """Some events in a row, as sums."""

    began: float
    ended: float
    events: int = 0
    decisions: int = 0
    rewards: int = 0
    total: float = 0.0
    squares: float = 0.0
    leaders: dict[str, int] = field(default_factory=dict)  # rounds led

    def copy(self) -> Part:
        """One of its own."""
        return dataclasses.replace(self, leaders=dict(self.leaders))

    def take(self, other: Part) -> None:
        """Become one with the part that follows."""
        self.ended = other.ended
        self.events += other.events
        self.decisions += other.decisions
        self.rewards += other.rewards
        self.total += other.total
        self.squares += other.squares
        for leader, rounds in other.leaders.items():
            self.leaders[leader] = self.leaders.get(leader, 0) + rounds
        if len(self.leaders) > _LEADERS:
            top = sorted(self.leaders.items(), key=lambda item: -item[1])
            self.leaders = dict(top[:_LEADERS])

    def mean(self) -> float | None:
        """The mean reward."""
        return self.total / self.rewards if self.rewards else None

    def error(self) -> float | None:
        """Half of the 95 % interval of the mean, by the normal law; None for fewer than two."""
        if self.rewards < 2:
            return None
        n = self.rewards
        variance = max(self.squares - self.total**2 / n, 0.0) / (n - 1)
        return 1.96 * math.sqrt(variance / n)


class LogParts:
    """Parts of equal length, of which there are never more than `MOST`.

    >>> parts = LogParts()
    >>> for second in range(5000):
    ...     part, room = parts.open(float(second))
    ...     part.events += 1
    >>> len(parts.parts), parts.width, sum(part.events for part in parts.parts)
    (157, 32, 5000)
    """

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self.width = _WIDTH

    def open(self, time: float) -> tuple[Part, int]:
        """The part that the next event belongs to, and how many events it has room for."""
        if not self.parts or self.parts[-1].events >= self.width:
            if len(self.parts) >= MOST:
                self._halve()
            if not self.parts or self.parts[-1].events >= self.width:
                self.parts.append(Part(time, time))
        return self.parts[-1], self.width - self.parts[-1].events

    def _halve(self) -> None:
        for one, other in zip(self.parts[::2], self.parts[1::2], strict=True):
            one.take(other)
        self.parts = self.parts[::2]
        self.width *= 2

    def ends(self) -> dict[str, list[Any]]:
        """Where each part ends: decisions made by then, and the time."""
        return _ends(self.parts)

    def rewards(self, most: int, least: int) -> dict[str, Any]:
        """The mean reward over time with its interval, as lists.

        In at most so many parts, with at least so many rewards each where there are enough: else
        chance is all that one sees.
        """
        total = sum(part.rewards for part in self.parts)
        groups = min(most, max(total // least, 8), len(self.parts))
        together = -(-len(self.parts) // groups) if groups else 1
        merged = []
        for first in range(0, len(self.parts), together):
            one = self.parts[first].copy()
            for other in self.parts[first + 1 : first + together]:
                one.take(other)
            merged.append(one)
        if len(merged) > 2 and merged[-1].events < self.width * together // 2:
            last = merged.pop()  # which has only begun
            merged[-1].take(last)
        return {
            **_ends(merged),
            "rewards": [part.rewards for part in merged],
            "mean": [part.mean() for part in merged],
            "error": [part.error() for part in merged],
            "events": self.width * together,
        }

    def leaders(self, most: int) -> tuple[dict[str, list[float]], list[float], int]:
        """Who led: the shares of parts by name, those of all others, and how many others there are.

        The `most` arms that led most rounds have a name, in the order in which they first led.
        """
        rounds: dict[str, int] = {}
        for part in self.parts:
            for leader, count in part.leaders.items():
                rounds[leader] = rounds.get(leader, 0) + count
        top = set(sorted(rounds, key=lambda name: -rounds[name])[:most])
        names = [name for name in rounds if name in top]
        rows = {name: [0.0] * len(self.parts) for name in names}
        others = [0.0] * len(self.parts)
        for place, part in enumerate(self.parts):
            all_rounds = sum(part.leaders.values())
            for leader, count in part.leaders.items():
                rows.get(leader, others)[place] += round(count / all_rounds, 4)
        return rows, others, len(rounds) - len(names)


def _ends(parts: list[Part]) -> dict[str, list[Any]]:
    return {
        "until": list(itertools.accumulate(part.decisions for part in parts)),
        "time": [part.ended for part in parts],
    }
