"""Who leads: a tournament over the arms' empirical means, repaired in O(log K) after a pull.

`best[node]` is the highest mean below a node and `count[node]` how many arms show it, so the tied
leaders are known at the root and the j-th of them is found by walking down. Node 1 is the root;
the arms are the leaves from `len(best) // 2` on.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unimodal.kernels.cache_aligned import cache_aligned
from unimodal.kernels.compile import inner, jit


def board(shown: Any, slots: int) -> tuple[Any, Any]:
    """A board on which the first arms show these values, with room for `slots` arms in all."""
    leaves = 1 << max(slots - 1, 1).bit_length()
    best = cache_aligned(np.full(2 * leaves, -np.inf))
    count = cache_aligned(np.zeros(2 * leaves, dtype=np.int64))
    best[leaves : leaves + len(shown)] = shown
    count[leaves : leaves + len(shown)] = 1
    rebuild(best, count)
    return best, count


@jit
def rebuild(best, count):
    """Work out every node from the leaves."""
    for node in range(len(best) // 2 - 1, 0, -1):
        _repair(best, count, node)


@inner
def _repair(best, count, node):
    left, right = 2 * node, 2 * node + 1
    if best[left] > best[right]:
        best[node], count[node] = best[left], count[left]
    elif best[left] < best[right]:
        best[node], count[node] = best[right], count[right]
    else:
        best[node], count[node] = best[left], count[left] + count[right]


@jit
def show(best, count, arm, value):
    """Let an arm show a new mean."""
    node = len(best) // 2 + arm
    count[node] = 1
    best[node] = value
    node >>= 1
    while node > 0:
        old_best, old_count = best[node], count[node]
        _repair(best, count, node)
        if best[node] == old_best and count[node] == old_count:
            return  # nothing above can change
        node >>= 1


@jit
def hide(best, count, arms):
    """Take arms off the board: they do not lead, whatever others show."""
    for arm in arms:
        node = len(best) // 2 + arm
        count[node], best[node] = 0, -np.inf
        while node > 1:
            node >>= 1
            _repair(best, count, node)


@jit
def tied_leader(best, count, place):
    """The leader that stands at `place` (from 0) among the tied ones, in the order of arms."""
    node = 1
    leaves = len(best) // 2
    while node < leaves:
        node *= 2
        if best[node] < best[node + 1]:
            node += 1
        elif best[node] == best[node + 1] and place >= count[node]:
            place -= count[node]
            node += 1
    return node - leaves


@jit
def leads_alone(best, count, arm):
    """Whether an arm leads and no other is tied with it."""
    return count[1] == 1 and best[len(best) // 2 + arm] == best[1]


@jit
def runner_up(best, arm):
    """The highest mean among all other arms."""
    node = len(best) // 2 + arm
    highest = -np.inf
    while node > 1:
        highest = max(highest, best[node ^ 1])
        node >>= 1
    return highest
