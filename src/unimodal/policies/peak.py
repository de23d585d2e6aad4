"""UTS that looks where the peak may be: far arms are pulled as often as all rewards speak for them.

Around its leader it is UTS, with the paper's period while the leader is young and a period of 2
afterwards, which is optimal in the long run (Trinh, Kaufmann, Vernade and Combes 2020). What that
lacks is a way to the peak: it climbs from neighbour to neighbour, and one with bad luck stops it.
So in some of its leads, equally many in each doubling of their number, a leader *looks around*: the
place of the peak is drawn by its profile likelihood, as MINTS draws it (Wang 2025), and that arm is
pulled, unless its own rewards refute it.

The likelihood of a place is that of the best means which fall with the distance from it. On a line,
where all means with one peak can be fitted as quickly, these are taken instead once they explain
the rewards better, so that one steep and one flat side do not mislead it.

An arm is refuted where pulls·kl(mean, leader's mean) is above log(P·(1 + log₂(1 + leads))) with P
places: that many are looked at about so often. Therefore looks end by themselves, whatever the
means: docs/theory/peak.md has the proof that the constant is that of UTS.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unimodal.families import Family
from unimodal.families.family import divergence, earned, told
from unimodal.graphs import Graph
from unimodal.kernels.compile import component, inner, jit, outlined
from unimodal.kernels.random import uniform
from unimodal.policies.index import Thompson
from unimodal.policies.leaping import ENDLESS, steady_until
from unimodal.policies.mints import along, new_pools, weigh_places
from unimodal.policies.policy import Policy, checked_prior, checked_prior_leads
from unimodal.policies.scope import (
    AroundLeader,
    Scope,
    leading_sums,
    look_around,
    period,
    with_prior,
)
from unimodal.policies.state import State

PERIOD = 2  # of so many leads one is forced (Trinh et al. 2020)
YOUNG = 10  # leads, for each arm of its neighbourhood, in which a leader is forced less often
LOOKS = 2  # in each doubling of an arm's leads, for each doubling of the number of arms
MOST_PLACES = 2048  # of a larger graph, those nearest to the leader
UNSEEN = 255
FAINTEST = 12.0  # a place that loses so much more than the best one has no weight


class PeakUTS(Policy):
    """UTS that looks for the peak: now and then it pulls the arm where the peak may well be.

    It begins at one random arm. Around its leader it is UTS: the leader is forced once in |N⁺| of
    its first 10·|N⁺| leads, and then in every second one, as in UTS(period=2). But in about
    2·log₂ K of each doubling of its leads, the leader looks around: the place of the peak is drawn
    from a posterior over all places, and that arm is pulled, unless its own rewards refute it. A
    place weighs as much as the likelihood of all rewards under the best means that fall with the
    distance from it; on a line, under the best means with one peak there once these explain the
    rewards better. No number in it depends on a horizon. On a graph of more than 2,048 arms, places
    are the 2,048 arms nearest to the leader.

    Only arms that were pulled may lead, or that are known by an informative prior of their own
    (`prior` and `prior_leads` are as in UTS). The regret is in the limit that of UTS:
    docs/theory/peak.md.

    Parameters
    ----------
    prior
        As in UTS.
    prior_leads
        As in UTS.
    name
        What results call it; its class and parameters by default.

    Examples
    --------
    >>> PeakUTS()
    PeakUTS()
    """

    summary = "UTS that now and then pulls the arm where all rewards say that the peak may be"
    citation = "this library"

    prior: Any = None
    prior_leads: bool = True
    start: ClassVar[str] = "probe(1)"
    needs_divergence: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("prior", checked_prior(self.prior))
        self._set("prior_leads", checked_prior_leads(self))

    def scope(self, graph: Graph | None) -> Scope:
        """The leader's neighbourhood, and the places where the peak may be."""
        return AroundLikelyPeak(places=places_of(graph))

    def scope_for(self, graph: Graph | None, family: Family) -> Scope:
        """The same; led by posterior means where priors count."""
        if self.is_led_by_prior(graph, family):
            informative = family.informative_from
            return AroundLikelyPeakByPrior(places=places_of(graph), informative=informative)
        return self.scope(graph)

    @property
    def needs_every_arm(self) -> bool:
        """Yes: any arm may be the place of the peak."""
        return True

    def index(self) -> object:
        """A posterior draw."""
        return Thompson()


def places_of(graph: Graph | None) -> int:
    """How many places there are to look at, at most."""
    return MOST_PLACES if graph is None else min(graph.n_arms, MOST_PLACES)


# The rewards of the arm at a place, as those of the arm whose rewards are worth most are told.
PLACE = np.dtype([("pulls", np.float64), ("total", np.float64), ("weight", np.float64)], align=True)


class PlacesArena(NamedTuple):
    """The rows of a graph, and what is known of distances; of that, nothing need be saved.

    `distances[row·len(places) + place]` is the bin of the distance between an arm that was pulled
    and a place.
    """

    first: Any
    last: Any
    near: Any
    order: Any  # the arms along a line; empty for other graphs
    bin_of: Any  # of each distance
    places: Any  # the arms that are places, `found[0]` of them, around the arm `found[1]`
    found: Any  # found[2] of them have a row of distances, in which found[3] is the highest bin
    place_of: Any  # of each arm, or -1
    row_of: Any  # of each place, or -1
    distances: Any
    queue: Any
    bounds: Any  # what each place loses at least
    sums: Any  # of PLACE
    pools: Any  # by bin, or by arm of a line


@component
class AroundLikelyPeak(AroundLeader):
    """The leader and its neighbours compete, but in some leads a likely peak is pulled."""

    period: int = PERIOD
    places: int = MOST_PLACES  # how many places there are to look at, at most

    def arena(self, graph: Graph) -> Any:
        """The rows of the graph, and room for distances."""
        order = along(graph) if 1 < graph.n_arms <= MOST_PLACES else None
        line = np.empty(0, np.int32) if order is None else order
        return places_arena(graph.rows[:-1], graph.rows[1:], graph.near_rows, graph.n_arms, line)


@component
class AroundLikelyPeakByPrior(AroundLikelyPeak):
    """The same, where a prior that is worth at least `informative` rewards counts for the lead."""

    informative: float = 0.0


leading_sums.register(AroundLikelyPeakByPrior)(with_prior)


def places_arena(first: Any, last: Any, near: Any, n_arms: int, order: Any) -> PlacesArena:
    """Rows with room for the distances between up to `n_arms` arms that are places."""
    most = min(n_arms, MOST_PLACES)
    bins = distance_bins(most)
    found = np.array([0, -1, 0, 0], dtype=np.int64)
    return PlacesArena(
        *(first, last, near, order, bins, np.empty(most, np.int32), found),
        *(np.full(n_arms, -1, np.int32), np.full(most, -1, np.int32)),
        np.empty(most * most, np.uint8),  # of which only the rows in use ever take memory
        *(np.empty(most, np.int32), np.empty(most), np.zeros(most, PLACE)),
        new_pools(max(len(order), int(bins[-1]) + 1)),
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


# When a leader looks around.


@inner
def in_each_doubling(scope):
    """How many looks there are in each doubling of an arm's leads."""
    return LOOKS * math.ceil(math.log2(scope.places))


@inner
def looks_before(scope, leads):
    """How many looks an arm has had when it has led so often, but for the first."""
    return math.floor(in_each_doubling(scope) * math.log2(leads)) if leads > 0 else -1


@inner
def looks(scope, leads):
    """Whether an arm that led so often before looks around in its next lead."""
    return looks_before(scope, leads + 1) > looks_before(scope, leads)


@steady_until.register(AroundLikelyPeak)
def _until_the_next_look(scope, arena, state, arm):
    leads = state.arms[arm].leads
    grown = YOUNG * (arena.last[arm] - arena.first[arm])
    until = grown if leads < grown else ENDLESS
    if _sees_all(arena, arm):
        return until
    if leads < 2:
        return 0
    following = 2.0 ** ((looks_before(scope, leads) + 1.0) / in_each_doubling(scope))
    # A little sooner, whatever the rounding: rounds are then played one by one.
    return min(until, np.int64(math.ceil(following)) - 2 - (leads >> 43))


@period.register(AroundLikelyPeak)
def _short_once_it_is_grown(scope, leads, size):
    return size if leads < YOUNG * size else PERIOD


@inner
def _sees_all(arena, leader):
    """Whether all arms compete around a leader: then there is nothing to look for."""
    return arena.last[leader] - arena.first[leader] == len(arena.first)


@inner
def doubt(scope, leads):
    """How much rewards must speak against an arm to refute it."""
    return math.log(scope.places * (1.0 + math.log2(1.0 + leads)))


@look_around.register(AroundLikelyPeak)
@outlined
def _at_a_likely_peak(scope, family, arena, state, leader):
    arms, leads = state.arms, state.arms[leader].leads
    is_known = leading_sums(scope, family, arms[leader])[1] > 0.0
    if _sees_all(arena, leader) or not looks(scope, leads) or not is_known:
        return -1
    weight = weigh(scope, family, arena, arms, leader, leads)
    left, chosen = weight * uniform(state.rng), leader
    for place in range(arena.found[0]):
        left -= arena.sums[place].weight
        if left < 0.0:
            chosen = arena.places[place]
            break
    return leader if refuted(scope, family, arms, chosen, leader, leads) else chosen


@inner
def refuted(scope, family, arms, arm, leader, leads):
    """Whether an arm's own rewards speak against its being better than the leader."""
    total, pulls = leading_sums(scope, family, arms[arm])
    best_total, best_pulls = leading_sums(scope, family, arms[leader])
    best = told(family, arms[arm], earned(family, arms[leader], best_total / best_pulls))
    if pulls <= 0.0 or not total < best * pulls:
        return False
    return pulls * divergence(family, total / pulls, best) > doubt(scope, leads)


def look_probabilities(
    scope: Any, family: Any, arena: Any, state: State, leader: int
) -> NDArray[np.float64] | None:
    """How likely each arm was in the round that was chosen last; None if nobody looked around."""
    leads = int(state.arms["leads"][leader]) - 1  # this round is counted already
    if leader < 0 or not issubclass(scope.component, AroundLikelyPeak):
        return None
    if _sees_all(arena, leader) or not looks(scope, leads):
        return None
    arms, found = state.arms.view(np.recarray), np.zeros(len(state.arms))
    weight = _compiled_weigh(scope, family, arena, state.arms, leader, leads)
    places = arena.places[: arena.found[0]]
    found[places] = arena.sums["weight"][: len(places)] / weight
    for arm in np.flatnonzero(found):
        if arm != leader and refuted(scope, family, arms, arm, leader, leads):
            found[arm] = 0.0
    found[leader] += 1.0 - found.sum()  # also where a refuted arm was drawn
    return found


# How much all rewards speak for a place.


@inner
def weigh(scope, family, arena, arms, leader, leads):
    """Write the weight of each place, the largest being 1; return their sum."""
    _find_places(arena, leader)
    pulls, total = _gather(scope, family, arena, arms)
    lost = _weigh_by_distance(family, arena, arena.place_of[leader], total / pulls)
    n = arena.found[0]
    if len(arena.order) == n:  # all arms of a line: of those without neighbours, some are paused
        whole, least = weigh_places(family, arena.sums, arena.order, arena.pools)
        if lost - least > 0.5 * doubt(scope, leads):
            for place in range(n):
                arena.sums[arena.order[place]].weight = arena.pools[place].weight
            return whole
    whole = 0.0
    for place in range(n):
        whole += arena.sums[place].weight
    return whole


@inner
def _find_places(arena, leader):
    """Let the places be those nearest to the leader; all that can be reached, if they fit."""
    places, found, place_of = arena.places, arena.found, arena.place_of
    if found[1] == leader or (found[1] >= 0 and place_of[leader] >= 0 and _fits(arena)):
        return
    for place in range(found[0]):
        place_of[places[place]] = -1
    for place in range(len(places)):
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
    found[0], found[1], found[2], found[3] = end, leader, 0, 0
    if _fits(arena):  # in the order of arms, which does not depend on who led first
        end = 0
        for arm in range(len(place_of)):
            if place_of[arm] >= 0:
                places[end], place_of[arm] = arm, end
                end += 1


@inner
def _fits(arena):
    return len(arena.place_of) <= len(arena.places)


@inner
def _gather(scope, family, arena, arms):
    """Write the rewards at each place, as those that are worth most are told; their sums."""
    most = arms[arena.places[0]]
    for place in range(arena.found[0]):
        record = arms[arena.places[place]]
        if record.factor > most.factor and leading_sums(scope, family, record)[1] > 0.0:
            most = record
    pulls = total = 0.0
    for place in range(arena.found[0]):
        record, at = arms[arena.places[place]], arena.sums[place]
        own_total, at.pulls = leading_sums(scope, family, record)
        at.total = told(family, most, earned(family, record, own_total))
        if at.pulls > 0.0:
            pulls += at.pulls
            total += at.total
            if arena.row_of[place] < 0:
                _search(arena, place)
    return pulls, total


@inner
def _search(arena, place):
    """Write the bins of the distances from a place to all: a search by breadth."""
    places, found, queue, near = arena.places, arena.found, arena.queue, arena.near
    n = found[0]
    arena.row_of[place] = found[2]
    row = arena.distances[found[2] * len(places) : found[2] * len(places) + n]
    found[2] += 1
    row[:] = UNSEEN
    row[place], queue[0] = 0, place
    begin, layer_end, end, distance = 0, 1, 1, 1
    while begin < end < n:
        if begin == layer_end:
            layer_end, distance = end, distance + 1
        arm, reached = places[queue[begin]], arena.bin_of[distance]
        begin += 1
        for other in near[arena.first[arm] : arena.last[arm]]:
            at = arena.place_of[other]
            if at >= 0 and row[at] == UNSEEN:
                row[at], queue[end] = reached, at
                end += 1
    found[3] = max(found[3], row[queue[end - 1]])


@inner
def _weigh_by_distance(family, arena, leader, overall):
    """Weigh each place by the best means that fall with its distance; what the best one loses.

    With m the mean of all rewards, Σ N·kl(mean, fit) = Σ N·kl(mean, m) - Σ N·kl(fit, m), where the
    fit is the mean of all arms that are pooled (Pythagoras, for exponential families).
    """
    n, sums, queue, bounds = arena.found[0], arena.sums, arena.queue, arena.bounds
    pulled, apart = 0, 0.0
    for place in range(n):
        if sums[place].pulls > 0.0:
            queue[pulled] = place
            pulled += 1
            mean = sums[place].total / sums[place].pulls
            apart += sums[place].pulls * divergence(family, mean, overall)
    least = apart - _explained(family, arena, leader, pulled, overall)
    _bound_losses(family, arena, leader, pulled, least + FAINTEST)
    for place in range(n):
        if bounds[place] <= least + FAINTEST:
            bounds[place] = apart - _explained(family, arena, place, pulled, overall)
            least = min(least, bounds[place])
    for place in range(n):
        more = bounds[place] - least
        sums[place].weight = math.exp(-max(more, 0.0)) if more <= FAINTEST else 0.0
    return least


@inner
def _bound_losses(family, arena, leader, pulled, enough):
    """Write what each place loses at least, where that is more than `enough`; else less.

    An arm that is no farther from the place than the leader has a fitted mean z of at least the
    leader's. Either z is so low that the leader's own rewards lose more than `enough`, or
    the rewards of these arms lose at least what they lose by the highest such z.
    """
    bounds, sums, width = arena.bounds, arena.sums, len(arena.places)
    n, own = arena.found[0], sums[leader]
    bounds[:n] = 0.0
    high = own.total / own.pulls
    low = high
    for other in arena.queue[:pulled]:
        low = min(low, sums[other].total / sums[other].pulls)
    if not own.pulls * divergence(family, high, low) > 1.01 * enough:
        return
    mean = high
    for _ in range(20):
        middle = 0.5 * (low + high)
        if own.pulls * divergence(family, mean, middle) > 1.01 * enough:
            low = middle
        else:
            high = middle
    row = arena.row_of[leader] * width
    to_leader = arena.distances[row : row + n]
    for other in arena.queue[:pulled]:
        pulls, mean = sums[other].pulls, sums[other].total / sums[other].pulls
        if mean < low:
            loss = pulls * divergence(family, mean, low)
            row = arena.row_of[other] * width
            to_other = arena.distances[row : row + n]
            for place in range(n):
                bounds[place] += loss * (to_other[place] <= to_leader[place])


@inner
def _explained(family, arena, place, pulled, overall):
    """How much better the best means that fall with the distance from a place are than one mean."""
    pools, sums, width = arena.pools, arena.sums, len(arena.places)
    bins = arena.found[3] + 1
    for at in range(bins):
        pools[at].pulls = pools[at].total = 0.0
    for other in arena.queue[:pulled]:
        at = arena.distances[arena.row_of[other] * width + place]
        pools[at].pulls += sums[other].pulls
        pools[at].total += sums[other].total
    top = -1  # the pools so far, each lower than the one before it: pool adjacent violators
    for at in range(bins):
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


_compiled_weigh = jit(weigh)
