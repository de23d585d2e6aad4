"""Where the peak may be: the weight of each place, by what all rewards say of it.

The weight of a place is its profile likelihood: that of the rewards under the best means which fall
with the distance from it. On a line, where all means with one peak can be fitted as quickly, these
are taken instead once they explain the rewards better, so that one steep and one flat side do not
mislead it.

Not every place is weighed in every look: those nearest to the leader are, and of the others each
look takes some, in turn. Nothing of this need be saved: weights are computed from the records of
the arms, and which places are weighed depends on the graph, the leader and its leads alone.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

import math
import weakref
from typing import Any, NamedTuple

import numpy as np

from unimodal.families.family import divergence, earned, told
from unimodal.graphs import Graph
from unimodal.kernels.compile import inner, jit
from unimodal.policies.mints import along, new_pools, weigh_places
from unimodal.policies.scope import leading_sums

MOST_PLACES = 2048  # arms of a graph on which the peak's place is drawn
NEAREST = 16  # places that every look weighs
IN_TURN = 16  # of the others, about so many
UNSEEN = 255
FAINTEST = 12.0  # a place that loses so much more than the best one has no weight

# The rewards of the arm at a place, or of all arms at a distance from it, as those of the arm whose
# rewards are worth most are told.
SUMS = np.dtype([("pulls", np.float64), ("total", np.float64), ("weight", np.float64)], align=True)

# In `PlacesArena.found`: how many places are weighed, how many of them because they are near, how
# many there are (paused arms, which have no neighbours, are none), and the highest bin.
WEIGHED, NEAR, PLACES, HIGHEST = range(4)


class PlacesArena(NamedTuple):
    """The rows of a graph, the distances between its arms, and room to weigh places."""

    first: Any
    last: Any
    near: Any
    order: Any  # the arms along a line; empty for other graphs
    distances: Any  # distances[arm·K + place] is the bin of the distance between the two
    found: Any
    queue: Any
    stands_for: Any  # how many places each of those along a line stands for
    pulled: Any  # the arms with rewards
    weighed: Any  # the places of this look
    sums: Any  # of SUMS, by place
    bins: Any  # of SUMS, by weighed place and distance
    pools: Any


def places_arena(graph: Graph) -> PlacesArena:
    """The rows of a graph, and all distances."""
    n_arms, (distances, highest) = graph.n_arms, all_distances(graph)
    order = along(graph) if n_arms > 1 and graph.degrees.min() > 0 else None  # else one is paused
    line = np.empty(0, np.int32) if order is None else order
    most = NEAREST + IN_TURN
    return PlacesArena(
        *(graph.rows[:-1], graph.rows[1:], graph.near_rows, line, distances),
        np.array([0, 0, np.count_nonzero(graph.degrees), highest], dtype=np.int64),
        *(np.empty(n_arms, np.int32), np.empty(n_arms, np.int32), np.empty(n_arms, np.int32)),
        *(np.empty(max(n_arms, most), np.int32), np.zeros(n_arms, SUMS)),
        *(np.zeros(most * (highest + 1), SUMS), new_pools(len(line))),
    )


def distance_bins(longest: int) -> Any:
    """The bin of each distance: 0, 1, 2, 3, 4, 5–6, 7–8, 9–12, 13–16, 17–24, …

    >>> distance_bins(12).tolist()
    [0, 1, 2, 3, 4, 5, 5, 6, 6, 7, 7, 7]
    """
    distance = np.arange(longest)
    octave = np.ceil(np.log2(np.maximum(distance, 2))).astype(int)  # (2, 4], (4, 8], …
    halves = np.where(distance > 3 * 2.0 ** (octave - 2), 2, 1)
    return np.where(distance <= 2, distance, 2 * octave + halves - 2).astype(np.uint8)


_DISTANCES: Any = weakref.WeakKeyDictionary()


def all_distances(graph: Graph) -> Any:
    """The bins of the distances between any two arms, and the highest bin: once for each graph."""
    found = _DISTANCES.get(graph)
    if found is None:
        n_arms = graph.n_arms
        rows = graph.rows[:-1], graph.rows[1:], graph.near_rows
        distances, queue = np.empty(n_arms * n_arms, np.uint8), np.empty(n_arms, np.int32)
        highest = _search_all(*rows, distance_bins(n_arms), queue, distances)
        found = _DISTANCES[graph] = distances, int(highest)
    return found


@jit
def _search_all(first, last, near, bin_of, queue, distances):
    """Write the bins of the distances from each arm to all, by a search by breadth from each."""
    n, highest = len(queue), 0
    for place in range(n):
        row = distances[place * n : (place + 1) * n]
        row[:] = UNSEEN
        row[place], queue[0] = 0, place
        begin, layer_end, end, distance = 0, 1, 1, 1
        while begin < end < n:
            if begin == layer_end:
                layer_end, distance = end, distance + 1
            arm, reached = queue[begin], bin_of[distance]
            begin += 1
            for other in near[first[arm] : last[arm]]:
                if row[other] == UNSEEN:
                    row[other], queue[end] = reached, other
                    end += 1
        highest = max(highest, row[queue[end - 1]])
    return highest


@inner
def weigh(scope, family, arena, arms, leader, turn, better):
    """Write the weights of the places of a look, the largest being 1; return their sum.

    `turn` is the number of the look; all means with one peak are taken, on a line, where they
    explain the rewards better by more than `better`.
    """
    pulled, overall = _gather(scope, family, arena, arms, leader)
    _choose_places(arena, leader, turn)
    lost = _weigh_by_distance(family, arena, pulled, overall)
    sums, weighed = arena.sums, arena.weighed
    if len(arena.order) > 0 and lost > better:  # else nothing can be better by so much
        n = _line_up(arena, turn)
        _, least = weigh_places(family, sums, arena.queue[:n], arena.pools)
        if lost - least > better:
            arena.found[WEIGHED] = n
            for number in range(n):
                weighed[number] = arena.queue[number]
                weight = arena.pools[number].weight * arena.stands_for[number]
                sums[weighed[number]].weight = weight
    whole = 0.0
    for place in weighed[: arena.found[WEIGHED]]:
        whole += sums[place].weight
    return whole


@inner
def _line_up(arena, turn):
    """Write the places along a line into the queue: how many.

    Between two places with rewards, all others weigh the same: one of them stands for all, in turn.
    """
    queue, stands_for, order = arena.queue, arena.stands_for, arena.order
    n = begin = 0
    for at in range(len(order) + 1):
        if at < len(order) and arena.sums[order[at]].pulls <= 0.0:
            continue
        if at > begin:
            queue[n], stands_for[n] = order[begin + turn % (at - begin)], at - begin
            n += 1
        if at < len(order):
            queue[n], stands_for[n] = order[at], 1
            n += 1
        begin = at + 1
    return n


@inner
def _gather(scope, family, arena, arms, leader):
    """Write the rewards at each place that has some; how many have, and the mean of all.

    Where rewards have factors, they are written as those that are worth most are told. Arms that
    cannot be reached from the leader are paused.
    """
    sums, to_leader = arena.sums, leader * len(arena.sums)
    pulled, most = 0, arms[leader]
    for place in range(len(sums)):
        record, at = arms[place], sums[place]
        at.total, at.pulls = leading_sums(scope, family, record)
        at.weight = 0.0
        if at.pulls > 0.0 and arena.distances[to_leader + place] != UNSEEN:
            arena.pulled[pulled] = place
            pulled += 1
            if record.factor > most.factor:
                most = record
    pulls = total = 0.0
    for place in arena.pulled[:pulled]:
        record, at = arms[place], sums[place]
        if record.factor != most.factor:
            mean = told(family, most, earned(family, record, at.total / at.pulls))
            at.pulls *= _worth(family, record, most, at.total / at.pulls, at.pulls)
            at.total = mean * at.pulls
        pulls += at.pulls
        total += at.total
    return pulled, total / pulls


@inner
def _worth(family, record, most, mean, pulls):
    """How many rewards of the arm that is worth most tell as much as one of another arm does.

    Of a sale at 5 more is learnt than of one at 25 by as much money: divergences near the mean say
    how much. A mean of few rewards, which may be 0, is drawn towards that of another.
    """
    mean = (pulls * mean + told(family, record, earned(family, most, most.total / most.pulls))) / (
        pulls + 1.0
    )
    near, money = 0.9 * mean, earned(family, record, mean)
    own = divergence(family, mean, near)
    other = divergence(
        family, told(family, most, money), told(family, most, earned(family, record, near))
    )
    return own / other if 0.0 < own < math.inf and 0.0 < other < math.inf else 1.0


@inner
def _choose_places(arena, leader, turn):
    """Choose the places of a look, and let each have weight 1: all, if there are few.

    Else those nearest to the leader, and each n-th of the others, so that n looks see all.
    """
    n, sums, weighed = len(arena.sums), arena.sums, arena.weighed
    distances, to_leader = arena.distances, leader * n
    chosen, stride = 0, 1
    if n > NEAREST + IN_TURN:
        stride = (n + IN_TURN - 1) // IN_TURN
        weighed[0], chosen, begin = leader, 1, 0
        sums[leader].weight = 1.0
        while begin < chosen < NEAREST:
            arm = weighed[begin]
            begin += 1
            for other in arena.near[arena.first[arm] : arena.last[arm]]:
                if sums[other].weight == 0.0 and chosen < NEAREST:
                    weighed[chosen], sums[other].weight = other, 1.0
                    chosen += 1
    arena.found[NEAR] = chosen
    for place in range(turn % stride, n, stride):
        if sums[place].weight == 0.0 and distances[to_leader + place] != UNSEEN:
            weighed[chosen], sums[place].weight = place, 1.0
            chosen += 1
    arena.found[WEIGHED] = chosen


@inner
def _weigh_by_distance(family, arena, pulled, overall):
    """Weigh places by the best means that fall with the distance; what the best one loses.

    With m the mean of all rewards, Σ N·kl(mean, fit) = Σ N·kl(mean, m) - Σ N·kl(fit, m), where the
    fit is the mean of all arms that are pooled (Pythagoras, for exponential families).
    """
    n, sums, weighed, bins = arena.found[WEIGHED], arena.sums, arena.weighed, arena.bins
    kinds = arena.found[HIGHEST] + 1
    for at in range(n * kinds):
        bins[at].pulls = bins[at].total = 0.0
    apart, on_a_line = 0.0, len(arena.order) > 0  # elsewhere only what differs by place counts
    for other in arena.pulled[:pulled]:
        pulls, total = sums[other].pulls, sums[other].total
        if on_a_line:
            apart += pulls * divergence(family, total / pulls, overall)
        row, first = np.uint64(other * len(sums)), np.uint64(0)  # else it may be negative: slower
        for number in range(n):
            at = first + arena.distances[row + np.uint64(weighed[number])]
            first += np.uint64(kinds)
            bins[at].pulls += pulls
            bins[at].total += total
    least, near = math.inf, arena.found[NEAR]
    others = math.sqrt((arena.found[PLACES] - near) / (n - near)) if n > near else 1.0
    for number in range(n):
        own = bins[number * kinds : (number + 1) * kinds]
        own[0].weight = apart - _explained(family, own, overall)
        least = min(least, own[0].weight)
    for number in range(n):
        more = bins[number * kinds].weight - least
        stands_for = 1.0 if number < near else others
        sums[weighed[number]].weight = stands_for * math.exp(-more) if more <= FAINTEST else 0.0
    return least


@inner
def _explained(family, pools, overall):
    """How much better the best falling means of these sums are than one mean; it pools them."""
    top = -1  # the pools so far, each lower than the one before it: pool adjacent violators
    for at in range(len(pools)):
        pulls, total = pools[at].pulls, pools[at].total
        if pulls <= 0.0:
            continue
        while top >= 0 and total * pools[top].pulls > pools[top].total * pulls:
            pulls += pools[top].pulls
            total += pools[top].total
            top -= 1
        top += 1
        pools[top].pulls, pools[top].total = pulls, total
    gain = 0.0
    for at in range(top + 1):
        gain += pools[at].pulls * divergence(family, pools[at].total / pools[at].pulls, overall)
    return gain


compiled_weigh = jit(weigh)
