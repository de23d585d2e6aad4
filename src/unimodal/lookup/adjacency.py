"""The rows of a graph that is met bit by bit, in the arrays that kernels read."""

from __future__ import annotations

import copy
from collections import defaultdict
from typing import Any

import numpy as np

from unimodal.policies.scout import ScoutArena
from unimodal.policies.state import Arena


class AdjacencyRows:
    """N⁺ of some arms, in an arena: rows come, grow, and go, and their room is used again.

    A row has room for `links` more arms, which scouts use. Rooms have powers of two as sizes, so
    that one that was left fits the next row of its size.
    """

    def __init__(self, links: int) -> None:
        self._links = links
        first, last = np.full(64, -1, dtype=np.int64), np.full(64, -1, dtype=np.int64)
        near, none = np.empty(64, np.int32), np.empty(0, np.int32)
        self.arena: Any = Arena(first, last, near)
        if links:
            self.arena = ScoutArena(first, last, near, last.copy(), none.astype(np.int64), none)
        self._size = 0
        self._room: dict[int, int] = {}  # of each row there is
        self._left: dict[int, list[int]] = defaultdict(list)  # rooms nobody is in, by size

    def __len__(self) -> int:
        return len(self._room)

    def __contains__(self, arm: int) -> bool:
        return arm in self._room

    def all(self) -> list[tuple[int, list[int]]]:
        """Every arm that has a row, and the row."""
        return [(arm, self.row(arm)) for arm in sorted(self._room)]

    def row(self, arm: int) -> list[int]:
        """N⁺ of an arm, without links."""
        ends = self.arena.ends if self._links else self.arena.last
        found: list[int] = self.arena.near[self.arena.first[arm] : ends[arm]].tolist()
        return found

    def links(self, arm: int) -> list[int]:
        """The links of an arm."""
        if not self._links:
            return []
        found: list[int] = self.arena.near[self.arena.ends[arm] : self.arena.last[arm]].tolist()
        return found

    def copied(self) -> AdjacencyRows:
        """The rows as they are now; to look at only."""
        twin = copy.copy(self)
        twin.arena, twin._room = copied_arena(self.arena), self._room.copy()
        return twin

    def make_room_for(self, n_arms: int) -> None:
        """Let so many arms have rows."""
        if n_arms <= len(self.arena.first):
            return
        names = ("first", "last", "ends") if self._links else ("first", "last")
        longer = {name: _longer(getattr(self.arena, name), n_arms, -1) for name in names}
        self.arena = self.arena._replace(**longer)

    def put(self, arm: int, row: list[int], links: list[int]) -> None:
        """Give an arm a row, in place of the one that it may have."""
        needed = len(row) + self._links
        if needed > self._room.get(arm, 0):
            self.drop(arm)
            self.arena.first[arm] = self._find_room(arm, needed)
        ends = self.arena.first[arm] + len(row)
        last = ends + len(links)
        self.arena.near[self.arena.first[arm] : last] = row + links
        self.arena.last[arm] = last
        if self._links:
            self.arena.ends[arm] = ends

    def drop(self, arm: int) -> None:
        """Take an arm's row away, if it has one."""
        room = self._room.pop(arm, 0)
        if room:
            self._left[room].append(int(self.arena.first[arm]))
            self.arena.first[arm] = self.arena.last[arm] = -1
            if self._links:
                self.arena.ends[arm] = -1

    def _find_room(self, arm: int, needed: int) -> int:
        room = 1 << (needed - 1).bit_length()
        self._room[arm] = room
        if self._left[room]:
            return self._left[room].pop()
        first, self._size = self._size, self._size + room
        self.arena = self.arena._replace(near=_longer(self.arena.near, self._size, 0))
        return first


def copied_arena(arena: Any) -> Any:
    """An arena that stays as it is now."""
    return type(arena)(*(array.copy() for array in arena))


def _longer(array: Any, needed: int, fill: int) -> Any:
    """The array, or one twice as long or more with the same beginning."""
    if needed <= len(array):
        return array
    longer = np.full(max(needed, 2 * len(array)), fill, dtype=array.dtype)
    longer[: len(array)] = array
    return longer
