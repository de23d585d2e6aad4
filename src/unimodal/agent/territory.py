"""Where an agent moves: a graph that is held, or one known only by look-ups."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

import numpy as np

from unimodal.errors import UnimodalError
from unimodal.graphs import Graph
from unimodal.kernels.random import below
from unimodal.policies.starts import Literal, Probe, Start
from unimodal.policies.state import Arena

Neighbours = Callable[[Any], Iterable[Hashable]]


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
    """A graph behind a function `neighbours(label)`; arms get their numbers as they are met."""

    def __init__(self, neighbours: Neighbours, labels: list[Hashable]) -> None:
        self._neighbours = neighbours
        self.labels: list[Hashable] = []
        self._index: dict[Hashable, int] = {}
        self._size = 0
        self.arena = Arena(
            np.full(64, -1, dtype=np.int64), np.full(64, -1, dtype=np.int64), np.empty(64, np.int32)
        )
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

    def row(self, arm: int) -> Any:
        """N⁺(arm), looked up the first time it is asked for."""
        if self.arena.first[arm] < 0:
            self.add_row(arm, [arm, *self._look_up(arm)])
        return self.arena.near[self.arena.first[arm] : self.arena.last[arm]]

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
                first, last = (_longer(ends, arm + 1, -1) for ends in self.arena[:2])
                self.arena = Arena(first, last, self.arena.near)
        return arm

    def add_row(self, arm: int, row: list[int]) -> None:
        """Store a neighbourhood."""
        first, last = self._size, self._size + len(row)
        self.arena = self.arena._replace(near=_longer(self.arena.near, last, 0))
        self.arena.near[first:last] = row
        self.arena.first[arm], self.arena.last[arm] = first, last
        self._size = last


def _longer(array: Any, needed: int, fill: int) -> Any:
    """The array, or one twice as long or more with the same beginning."""
    if needed <= len(array):
        return array
    longer = np.full(max(needed, 2 * len(array)), fill, dtype=array.dtype)
    longer[: len(array)] = array
    return longer
