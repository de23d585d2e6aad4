"""Where an agent moves: a graph that is held, or one known only by look-ups."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

import numpy as np

from unimodal.errors import UnimodalError
from unimodal.graphs import Graph
from unimodal.kernels.random import below
from unimodal.policies.scouting import LINKS, ScoutArena, set_links
from unimodal.policies.starts import Literal, Probe, Start
from unimodal.policies.state import Arena

Neighbours = Callable[[Any], Iterable[Hashable]]
_WALKS = 6  # the longest has 2^6 steps


class Held:
    """A whole graph: every arm is known from the beginning."""

    def __init__(self, graph: Graph, arena: Arena) -> None:
        self.graph, self.arena = graph, arena
        self.arm_of, self.label_of = graph.arm_of, graph.label_of

    @property
    def n_arms(self) -> int:
        """How many arms there are."""
        return self.graph.n_arms

    @property
    def slots(self) -> int:
        """How many arms to make room for."""
        return self.graph.n_arms

    def begin(self, start: Start, rng: Any) -> Any:
        """The arms to pull first."""
        return start.order(self.graph.n_arms, rng)


class LookedUp:
    """A graph behind a function `neighbours(label)`; arms get their numbers as they are met.

    With `scouts`, rows have room for links to far arms, which walks find: a shell would have to be
    searched, a walk of d steps costs d look-ups.
    """

    def __init__(self, neighbours: Neighbours, labels: list[Hashable], scouts: bool) -> None:
        self._neighbours, self._scouts = neighbours, scouts
        self.labels: list[Hashable] = []
        self._index: dict[Hashable, int] = {}
        self._size = 0
        first, last = np.full(64, -1, dtype=np.int64), np.full(64, -1, dtype=np.int64)
        near, none = np.empty(64, np.int32), np.empty(0, np.int32)
        self.arena: Any = Arena(first, last, near)
        if scouts:
            self.arena = ScoutArena(first, last, near, last.copy(), none.astype(np.int64), none)
        for label in labels:
            self._number(label)

    @property
    def n_arms(self) -> int:
        """How many arms have been met."""
        return len(self.labels)

    @property
    def slots(self) -> int:
        """How many arms to make room for."""
        return max(64, 2 * self.n_arms)

    def arm_of(self, label: Any) -> int:
        """The number of an arm that has been met."""
        try:
            return self._index[label]
        except (KeyError, TypeError):
            raise UnimodalError(
                f"the agent has not met an arm called {label!r}: tell rewards of arms it asked for."
            ) from None

    def label_of(self, arm: int) -> Any:
        """The label of an arm."""
        return self.labels[arm]

    def begin(self, start: Start, rng: Any) -> Any:
        """The arms to pull first: none, or the first few that a random walk from the root meets."""
        if isinstance(start, Literal):
            return np.empty(0, dtype=np.int64)
        if not isinstance(start, Probe):
            raise UnimodalError(
                f"start='{start}' pulls every arm once, but a neighbour function cannot list them: "
                "use start='probe(8)' (a random walk from the root) or start='literal'."
            )
        met, here = [0], 0
        for _ in range(20 * start.m):
            if len(met) == start.m:
                break
            row = self.row(here)
            here = int(row[below(rng, len(row))])
            if here not in met:
                met.append(here)
        return np.asarray(met, dtype=np.int64)

    def known_rows(self) -> dict[int, list[int]]:
        """The neighbourhoods looked up so far, by arm."""
        known = np.flatnonzero(self.arena.first >= 0).tolist()
        return {arm: self.row(arm).tolist() for arm in known}

    @property
    def look_ups(self) -> int:
        """How many arms' neighbours have been looked up."""
        return int((self.arena.first >= 0).sum())

    def row(self, arm: int) -> Any:
        """N⁺(arm), looked up the first time it is asked for."""
        if self.arena.first[arm] < 0:
            self.add_row(arm, [arm, *self._look_up(arm)])
        ends = self.arena.ends if self._scouts else self.arena.last
        return self.arena.near[self.arena.first[arm] : ends[arm]]

    def link(self, arm: int, is_new: Callable[[int], bool], rng: Any) -> None:
        """Link an arm to new ones, at the ends of walks of 2, 4, 8, … steps that do not turn."""
        found: list[int] = []
        for steps in (2**j for j in range(1, _WALKS + 1)):
            for _ in range(LINKS):
                end = self._walk(arm, steps, rng)
                if is_new(end) and end not in found and end not in self.row(arm):
                    found.append(end)
        set_links(self.arena, {arm: found})

    def _walk(self, arm: int, steps: int, rng: Any) -> int:
        before = here = arm
        for _ in range(steps):
            onward = [int(other) for other in self.row(here)[1:] if other != before]
            if not onward:
                break
            before, here = here, onward[below(rng, len(onward))]
        return here

    def _look_up(self, arm: int) -> list[int]:
        label = self.labels[arm]
        answer = self._neighbours(label)
        try:
            found = list(dict.fromkeys(answer))
        except TypeError:
            raise UnimodalError(
                f"neighbours({label!r}) must return hashable labels (text, numbers, tuples), "
                f"got {answer!r}."
            ) from None
        if label in found or not found:
            got = "the arm itself among them" if found else "none"
            raise UnimodalError(
                f"neighbours({label!r}) must return the arm's neighbours, got {got}."
            )
        return [self._number(other) for other in found]

    def _number(self, label: Hashable) -> int:
        arm = self._index.setdefault(label, len(self.labels))
        if arm == len(self.labels):
            self.labels.append(label)
            if arm >= len(self.arena.first):
                names = ("first", "last", "ends") if self._scouts else ("first", "last")
                longer = {n: _longer(getattr(self.arena, n), arm + 1, -1) for n in names}
                self.arena = self.arena._replace(**longer)
        return arm

    def add_row(self, arm: int, row: list[int]) -> None:
        """Store a neighbourhood."""
        first, last = self._size, self._size + len(row)
        self._size = last + (LINKS * _WALKS if self._scouts else 0)
        self.arena = self.arena._replace(near=_longer(self.arena.near, self._size, 0))
        self.arena.near[first:last] = row
        self.arena.first[arm] = first
        self.arena.last[arm] = last
        if self._scouts:
            self.arena.ends[arm] = last


def _longer(array: Any, needed: int, fill: int) -> Any:
    """The array, or one twice as long or more with the same beginning."""
    if needed <= len(array):
        return array
    longer = np.full(max(needed, 2 * len(array)), fill, dtype=array.dtype)
    longer[: len(array)] = array
    return longer
