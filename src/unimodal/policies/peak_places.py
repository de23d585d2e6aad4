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

MOST_PLACES = 2048  # of a larger graph, those nearest to the leader
NEAREST = 16  # places that every look weighs
IN_TURN = 16  # of the others, about so many
UNSEEN = 255
FAINTEST = 12.0  # a place that loses so much more than the best one has no weight

# The rewards of the arm at a place, or of all arms at a distance from it, as those of the arm whose
# rewards are worth most are told.
SUMS = np.dtype([("pulls", np.float64), ("total", np.float64), ("weight", np.float64)], align=True)

# In `PlacesArena.found`: how many places there are, the arm around which they are, how many of them
# are weighed, the highest bin of a distance, and how many rows of distances are known.
PLACES, AROUND, WEIGHED, HIGHEST, ROWS = range(5)
EVERYWHERE = -2  # around no arm: all arms are places


class PlacesArena(NamedTuple):
    """The rows of a graph, what is known of distances, and room to weigh places.

    `distances[row·len(places) + place]` is the bin of the distance between the arm of a row and a
    place.
    """

    first: Any
    last: Any
    near: Any
    order: Any  # the arms along a line; empty for other graphs
    bin_of: Any  # of each distance
    found: Any
    places: Any  # the arms that are places
    place_of: Any  # of each arm, or -1
    row_of: Any  # of each place, or -1
    distances: Any
    queue: Any
    stands_for: Any  # how many places each of those along a line stands for
    pulled: Any  # the places with rewards
    weighed: Any  # the places of this look
    sums: Any  # of SUMS, by place
    bins: Any  # of SUMS, by weighed place and distance
    pools: Any


def places_arena(graph: Graph) -> PlacesArena:
    """The rows of a graph that is held, and all distances if it is not too large."""
    n_arms, rows = graph.n_arms, (graph.rows[:-1], graph.rows[1:], graph.near_rows)
    if n_arms > MOST_PLACES:
        return around_leader(*rows, n_arms)
    order = along(graph) if n_arms > 1 and graph.degrees.min() > 0 else None  # else one is paused
    arms, (distances, highest) = np.arange(n_arms, dtype=np.int32), all_distances(graph)
    arena = _arena(*rows, arms, arms, arms, distances, order)
    arena.found[PLACES], arena.found[AROUND], arena.found[HIGHEST] = n_arms, EVERYWHERE, highest
    return arena


def around_leader(first: Any, last: Any, near: Any, n_arms: int) -> PlacesArena:
    """Rows with room for the distances between arms that are near the leader."""
    most = min(n_arms, MOST_PLACES)
    none = np.full(n_arms, -1, np.int32), np.full(most, -1, np.int32)
    distances = np.empty(most * most, np.uint8)  # of which only the rows in use ever take memory
    return _arena(first, last, near, np.empty(most, np.int32), *none, distances, None)


def _arena(
    first: Any, last: Any, near: Any, places: Any, place_of: Any, row_of: Any, distances: Any,
    order: Any,
) -> PlacesArena:  # fmt: skip
    most = len(places)
    bin_of = distance_bins(most)
    kinds, weighed = int(bin_of[-1]) + 1, NEAREST + IN_TURN
    line = np.empty(0, np.int32) if order is None else order
    return PlacesArena(
        *(first, last, near, line, bin_of, np.array([0, -1, 0, 0, 0], dtype=np.int64)),
        *(places, place_of, row_of, distances, np.empty(most, np.int32)),
        *(
            np.empty(most, np.int32),
            np.empty(most, np.int32),
            np.empty(max(most, weighed), np.int32),
            np.zeros(most, SUMS),
        ),
        *(np.zeros(weighed * kinds, SUMS), new_pools(len(line))),
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
        distances, queue = np.empty(n_arms * n_arms, np.uint8), np.empty(n_arms, np.int32)
        rows, arms = (
            (graph.rows[:-1], graph.rows[1:], graph.near_rows),
            np.arange(n_arms, dtype=np.int32),
        )
        highest = _search_all(*rows, distance_bins(n_arms), arms, arms, queue, distances)
        found = _DISTANCES[graph] = distances, int(highest)
    return found


@jit
def _search_all(first, last, near, bin_of, places, place_of, queue, distances):
    highest = 0
    for place in range(len(places)):
        row = distances[place * len(places) : (place + 1) * len(places)]
        reached = _search(first, last, near, bin_of, places, place_of, queue, row, place)
        highest = max(highest, reached)
    return highest


@inner
def _search(first, last, near, bin_of, places, place_of, queue, row, place):
    """Write the bins of the distances from a place to all: a search by breadth. The highest bin."""
    row[:] = UNSEEN
    row[place], queue[0] = 0, place
    begin, layer_end, end, distance = 0, 1, 1, 1
    while begin < end < len(row):
        if begin == layer_end:
            layer_end, distance = end, distance + 1
        arm, reached = places[queue[begin]], bin_of[distance]
        begin += 1
        for other in near[first[arm] : last[arm]]:
            at = place_of[other]
            if at >= 0 and row[at] == UNSEEN:
                row[at], queue[end] = reached, at
                end += 1
    return row[queue[end - 1]]


@inner
def weigh(scope, family, arena, arms, leader, turn, better):
    """Write the weights of the places of a look, the largest being 1; return their sum.

    `turn` is the number of the look; all means with one peak are taken, on a line, where they
    explain the rewards better by more than `better`.
    """
    _find_places(arena, leader)
    pulled, overall = _gather(scope, family, arena, arms, leader)
    _choose_places(arena, leader, turn)
    lost = _weigh_by_distance(family, arena, pulled, overall)
    sums, weighed = arena.sums, arena.weighed
    if len(arena.order) > 0:
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
def _find_places(arena, leader):
    """Let the places of a large graph be the arms nearest to the leader."""
    places, found, place_of = arena.places, arena.found, arena.place_of
    if found[AROUND] == EVERYWHERE or found[AROUND] == leader:
        return
    for place in range(found[PLACES]):
        place_of[places[place]] = -1
        arena.row_of[place] = -1
    places[0], place_of[leader] = leader, 0
    begin, end = 0, 1
    while begin < end < len(places):
        arm = places[begin]
        begin += 1
        for other in arena.near[arena.first[arm] : arena.last[arm]]:
            if place_of[other] < 0 and end < len(places):
                places[end], place_of[other] = other, end
                end += 1
    found[PLACES], found[AROUND], found[ROWS], found[HIGHEST] = end, leader, 0, 0


@inner
def _gather(scope, family, arena, arms, leader):
    """Write the rewards at each place that has some; how many have, and the mean of all.

    They are written as those that are worth most are told. Arms that cannot be reached from the
    leader are paused.
    """
    sums, width = arena.sums, len(arena.places)
    to_leader = _row(arena, arena.place_of[leader]) * width
    pulled, most = 0, arms[leader]
    for place in range(arena.found[PLACES]):
        record, at = arms[arena.places[place]], sums[place]
        at.total, at.pulls = leading_sums(scope, family, record)
        at.weight = 0.0
        if at.pulls > 0.0 and arena.distances[to_leader + place] != UNSEEN:
            arena.pulled[pulled] = place
            pulled += 1
            if record.factor > most.factor:
                most = record
    pulls = total = 0.0
    for place in arena.pulled[:pulled]:
        record, at = arms[arena.places[place]], sums[place]
        at.total = told(family, most, earned(family, record, at.total))
        pulls += at.pulls
        total += at.total
        _row(arena, place)
    return pulled, total / pulls


@inner
def _row(arena, place):
    """The row of distances of a place, searched for where it is not known yet."""
    if arena.row_of[place] < 0:
        found, width = arena.found, len(arena.places)
        number = found[ROWS]
        arena.row_of[place] = number
        found[ROWS] += 1
        row = arena.distances[number * width : number * width + found[PLACES]]
        highest = _search(
            arena.first, arena.last, arena.near, arena.bin_of, arena.places, arena.place_of,
            arena.queue, row, place,
        )  # fmt: skip
        found[HIGHEST] = max(found[HIGHEST], highest)
    return arena.row_of[place]


@inner
def _choose_places(arena, leader, turn):
    """Choose the places of a look, and let each have weight 1: all, if there are few.

    Else those nearest to the leader, and each n-th of the others, so that n looks see all.
    """
    n, sums, weighed, place_of = arena.found[PLACES], arena.sums, arena.weighed, arena.place_of
    distances, to_leader = arena.distances, _row(arena, place_of[leader]) * len(arena.places)
    chosen, stride = 0, 1
    if n > NEAREST + IN_TURN:
        stride = (n + IN_TURN - 1) // IN_TURN
        weighed[0], chosen, begin = place_of[leader], 1, 0
        sums[weighed[0]].weight = 1.0
        while begin < chosen < NEAREST:
            arm = arena.places[weighed[begin]]
            begin += 1
            for other in arena.near[arena.first[arm] : arena.last[arm]]:
                place = place_of[other]
                if place >= 0 and sums[place].weight == 0.0 and chosen < NEAREST:
                    weighed[chosen], sums[place].weight = place, 1.0
                    chosen += 1
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
    width, kinds = len(arena.places), arena.found[HIGHEST] + 1
    for at in range(n * kinds):
        bins[at].pulls = bins[at].total = 0.0
    apart = 0.0
    for other in arena.pulled[:pulled]:
        pulls, total = sums[other].pulls, sums[other].total
        apart += pulls * divergence(family, total / pulls, overall)
        row = arena.row_of[other] * width
        for number in range(n):
            at = number * kinds + arena.distances[row + weighed[number]]
            bins[at].pulls += pulls
            bins[at].total += total
    least = math.inf
    for number in range(n):
        own = bins[number * kinds : (number + 1) * kinds]
        own[0].weight = apart - _explained(family, own, overall)
        least = min(least, own[0].weight)
    for number in range(n):
        more = bins[number * kinds].weight - least
        sums[weighed[number]].weight = math.exp(-more) if more <= FAINTEST else 0.0
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
