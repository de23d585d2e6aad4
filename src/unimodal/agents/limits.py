"""Within which limits an agent chooses: arms that are paused, and a cap on arms that do not lead.

A paused arm keeps its number and its record, and its open decisions take their rewards. It is left
out of the rows in which competitors stand, of the leader board and of the start.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unimodal.errors import UnimodalError, real_number, whole_number
from unimodal.graphs.bypass import bypassed
from unimodal.lookup.graph_view import LazyGraphView, WholeGraphView
from unimodal.policies import Policy
from unimodal.policies.scope import EveryArm

LONGEST_CAP = 10**6  # decisions that a cap looks back


@dataclass(frozen=True)
class Cap:
    """An arm that does not lead may have at most a `share` of the last decisions, `over` in all."""

    share: float
    over: int

    @property
    def most(self) -> int:
        """How many of them that is; a share of 0.29 of 100 is 29, whatever floats make of it."""
        return math.floor(self.share * self.over * (1.0 + 1e-12))


def checked_cap(share: Any, over: Any) -> Cap | None:
    """A cap, or None where there is to be none; a sentence if it cannot be met."""
    if share is None:
        return None
    number = real_number(share, "the 'share' of a cap", above=0)
    if number > 1:
        raise UnimodalError(
            f"the 'share' of a cap must lie between 0 and 1, got {share!r}: 0.2 is a fifth of the "
            "decisions."
        )
    cap = Cap(number, whole_number(over, "the 'over' of a cap", at_most=LONGEST_CAP))
    if cap.most < 1:
        raise UnimodalError(
            f"a cap must allow at least one decision, got a share of {number:g} of {cap.over}: "
            f"look back over {math.ceil(min(1 / number, 1e15)):,} decisions or more."
        )
    return cap


@dataclass
class Limits:
    """What is in force now; false if nothing is."""

    paused: tuple[int, ...] = ()
    cap: Cap | None = None
    # The arms of the last decisions, one fewer than the cap looks at: the next one is the last.
    recent: deque[int] = field(default_factory=deque)
    full: tuple[int, ...] = ()  # arms that could not be played in the last round
    overruled: tuple[int, int] = (-1, -1)  # what the policy chose where the cap put the leader
    _counts: Counter[int] = field(default_factory=Counter)

    def __bool__(self) -> bool:
        return bool(self.paused) or self.cap is not None

    def set_cap(self, cap: Cap | None) -> None:
        """Begin to count decisions anew."""
        self.cap, self.full = cap, ()
        self.recent.clear()
        self._counts.clear()

    def note_full(self, leader: int) -> None:
        """Note which arms have all the decisions that they may have; the leader may have any."""
        assert self.cap is not None
        most = self.cap.most
        self.full = tuple(
            arm for arm, count in self._counts.items() if count >= most and arm not in (leader, -1)
        )  # -1: an arm that is gone

    def add(self, arm: int) -> None:
        """Count a decision, and no longer the one that is too old."""
        assert self.cap is not None
        self.recent.append(arm)
        self._counts[arm] += 1
        if len(self.recent) >= self.cap.over:
            self._drop(self.recent.popleft())

    def replace_last(self, arm: int) -> None:
        """Count the last decision for another arm: that of a log."""
        if self.recent:
            self._drop(self.recent.pop())
            self.recent.append(arm)
            self._counts[arm] += 1

    def _drop(self, arm: int) -> None:
        self._counts[arm] -= 1
        if not self._counts[arm]:
            del self._counts[arm]

    def copied(self) -> Limits:
        """The same, which stays what it is now."""
        return Limits.from_data(self.to_data())

    def to_data(self) -> dict[str, Any]:
        """As plain JSON data."""
        data: dict[str, Any] = {"paused": list(self.paused)}
        if self.cap is not None:
            data |= {"cap": [self.cap.share, self.cap.over], "recent": list(self.recent)}
        return data

    @classmethod
    def from_data(cls, data: dict[str, Any] | None) -> Limits:
        """What `to_data` returned, which `validation` has checked."""
        if data is None:
            return cls()
        limits = cls(tuple(data["paused"]))
        if "cap" in data:
            limits.cap = Cap(*data["cap"])
            limits.recent.extend(data["recent"])
            limits._counts.update(limits.recent)
        return limits


def renumbered_limits(data: dict[str, Any], where: Sequence[int]) -> dict[str, Any]:
    """What `to_data` returned, for arms with other numbers (-1: the arm is gone)."""
    moved = {**data, "paused": sorted(where[arm] for arm in data["paused"] if where[arm] >= 0)}
    if "recent" in data:  # decisions for arms that are gone were made all the same
        moved["recent"] = [where[arm] if arm >= 0 else -1 for arm in data["recent"]]
    return moved


def without_paused(view: WholeGraphView, policy: Policy, paused: Sequence[int]) -> WholeGraphView:
    """The graph with some arms bypassed, as the policy plays on it."""
    played = bypassed(view.graph, paused)
    scope = policy.scope(played)
    arena: Any = scope.arena(played)
    if isinstance(scope, EveryArm) and paused:
        offered = arena.near[~np.isin(arena.near, paused)]  # in their order
        arena = arena._replace(last=np.full(1, len(offered), dtype=np.int64), near=offered)
    return WholeGraphView(view.graph, arena, played, tuple(paused))


def paused_after(view: Any, now: Iterable[int], change: str, labels: Sequence[Any]) -> list[int]:
    """The arms that are paused after some are paused or resumed; a sentence if that cannot be."""
    if isinstance(view, LazyGraphView):
        raise UnimodalError(
            "on a graph known by look-up arms cannot be paused, since their neighbours would have "
            "to be looked up: let the function leave an arm out and name its neighbours instead."
        )
    if not labels:
        raise UnimodalError(f"{change} needs the arms to {change}, got none: name one at least.")
    paused = set(now)
    for label in labels:
        arm = view.arm_of(label)
        if change == "pause" and arm in paused:
            raise UnimodalError(f"arm {label!r} is paused already: resume it, or leave it out.")
        if change == "resume" and arm not in paused:
            raise UnimodalError(f"arm {label!r} is not paused: leave it out of resume.")
        paused ^= {arm}
    check_some_left(len(paused), view.n_arms)
    return sorted(paused)


def check_some_left(paused: int, n_arms: int) -> None:
    """Refuse to pause every arm there is."""
    if paused >= n_arms:
        raise UnimodalError(
            "at least one arm must be offered, but all that are left would be paused: resume one "
            "first."
        )
