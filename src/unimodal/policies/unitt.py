"""UniTT: rewards are spent on being sure of the peak, not on earning.

From Poiani, Jourdan, Kaufmann and Degenne (2025), for lines and Gaussian rewards: each arm has an
interval; the leader has the highest upper bound of all arms that are the peak of some means with
one peak inside all intervals; the challenger is its neighbour with the smallest transportation
cost; one of the two is pulled (top two, with a share of 1/2 for the leader); each arm is pulled
once first. The width, 2·log t over the pulls in divergence, is that of the authors' code.

Ours: any graph (docs/theory/identification.md, section 3, says which arms may be the peak), any
family with a divergence, intervals in that divergence, the leader pulled in every second of its
leads where they track the same share for each pair, and a leader for the case that no means with
one peak fit the intervals.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np

from unimodal.errors import real_number
from unimodal.families.family import divergence, earned, of_arm, told
from unimodal.families.unsaturated_scale import distance, upper_level
from unimodal.graphs import Graph
from unimodal.kernels.compile import component, inner
from unimodal.kernels.random import counted
from unimodal.policies.imed import leeway
from unimodal.policies.index import Budgeted, compare, contest, tie_key
from unimodal.policies.policy import Policy
from unimodal.policies.round import effective_clock
from unimodal.policies.scope import AroundLeader, Scope, clock, elect, lead
from unimodal.policies.state import ROUND

_PERIOD = 2  # of so many leads one is the leader's: beta = 1/2
_ROOT_STEPS = 40  # halvings of an interval between two means
_SLACK = 1e-9  # relative, for rounding
_NEAR = 1e-3  # of two means' distance: costs change by its square
_COST_STEPS = 40  # golden sections of one
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


class UniTT(Policy):
    """Top two around the most optimistic peak: for identification, not for small regret.

    Every arm has an interval of means q with N·kl(mean, q) at most c·log t, where N is its pulls.
    The leader is the arm with the highest upper bound of all arms that may be the peak: those that
    can be reached from the arm with the highest lower bound over arms whose upper bound reaches
    that. The leader is pulled in every second of its leads, and in the others its neighbour b with
    the smallest N_a·kl(mean_a, z) + N_b·kl(mean_b, z) over z, the hardest to tell from it. Ties
    are broken at random. It begins with each arm once.

    Published for lines, with near-optimality for Gaussian rewards and small errors (Poiani,
    Jourdan, Kaufmann and Degenne 2025), where c = 2 gives the intervals of their code. Other graphs
    and other rewards are our extension, for which nothing is proved of the number of rewards: the
    certificate alone carries correctness, whatever chose the arms. `um.identify` runs it until the
    peak is certified; docs/studies/identification/page.md has what that takes.

    Parameters
    ----------
    c
        The width of the intervals.
    name
        What results call it; its class and parameters by default.

    Examples
    --------
    >>> UniTT()
    UniTT()
    """

    summary = (
        "for identification: the most optimistic peak and the neighbour hardest to tell from it"
    )
    citation = "Poiani, Jourdan, Kaufmann and Degenne 2025 (AISTATS)"

    c: float = 2.0
    start: ClassVar[str] = "sweep"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("c", real_number(self.c, "the 'c' of UniTT", above=0))

    @property
    def needs_every_arm(self) -> bool:
        """Yes: any arm whose interval reaches high enough may lead."""
        return True

    def scope(self, graph: Graph | None) -> Scope:
        """The most optimistic peak that is compatible with all intervals, and its neighbours."""
        return OptimisticPeak(c=self.c)

    def index(self) -> object:
        """The transportation cost."""
        return TransportationCost()


class SearchArena(NamedTuple):
    """Rows of a graph, with room for a search by breadth."""

    first: Any
    last: Any
    near: Any
    seen: Any  # the number of the search that last met an arm; the last place counts searches
    queue: Any


@component
class OptimisticPeak(AroundLeader):
    """The leader has the highest upper bound of all arms that may be the peak."""

    period: int = _PERIOD
    c: float = 2.0  # bounds go to where pulls·kl(mean, ·) = c·log t

    def arena(self, graph: Graph) -> Any:
        """The rows of the graph, and what a search needs."""
        rows = (graph.rows[:-1], graph.rows[1:], graph.near_rows)
        return SearchArena(
            *rows, np.zeros(graph.n_arms + 1, np.int64), np.zeros(graph.n_arms, np.int32)
        )


@component
class TransportationCost(Budgeted):
    """What the rewards of two arms say for the one being better; the lowest wins."""


@clock.register(OptimisticPeak)
def _rounds(scope, state, leader):
    return state.notes[ROUND]


@elect.register(OptimisticPeak)
def _highest_of_the_compatible(scope, family, arena, state):
    arms, board_leader = state.arms, lead(scope, state)
    if arms[board_leader].pulls <= 0:
        return board_leader
    now = max(float(effective_clock(state.memory, state, state.notes[ROUND] + 1)), 1.0)
    budget = scope.c * math.log(now)
    first, level = _highest_lower_bound(family, arena, arms, board_leader, budget)
    best, best_level, best_key = first, -math.inf, np.uint64(0)
    found = _reached(family, arena, arms, first, level, budget)
    for arm in arena.queue[:found]:
        record = arms[arm]
        own = math.inf
        if record.pulls > 0:
            rule, pulls = of_arm(family, record), float(record.pulls)
            if distance(rule, pulls, record.total, best_level) > budget + _SLACK * budget:
                continue  # the usual case: clearly below, which takes no root
            own = upper_level(rule, pulls, record.total, budget)
        order = compare(own, best_level)
        if order < 0:
            continue
        key = counted(state.rng, state.notes[ROUND] + 1, arm + len(arms))
        if order > 0 or key > best_key:
            best, best_level, best_key = arm, own, key
    return best


@inner
def _mean(family, record):
    return earned(family, record, record.total / record.pulls)


@inner
def _apart(family, record, level):
    """pulls·kl(mean, level), on either side of the mean."""
    return record.pulls * divergence(
        family, record.total / record.pulls, told(family, record, level)
    )


@inner
def _highest_lower_bound(family, arena, arms, likely, budget):
    """The arm with the highest lower bound, and that bound; at least the lowest mean of all.

    Bounds below all means are of no interest: every arm reaches them.
    """
    level = _mean(family, arms[likely])
    for arm in range(len(arms)):
        if arms[arm].pulls > 0:
            level = min(level, _mean(family, arms[arm]))
    first = likely
    for place in range(-1, len(arms)):
        arm = likely if place < 0 else place
        record = arms[arm]
        if record.pulls <= 0 or arena.last[arm] - arena.first[arm] < 2:
            continue  # an arm without neighbours is paused
        mean = _mean(family, record)
        if not mean > level or not _apart(family, record, level) > budget:
            continue
        low, high = level, mean
        for _ in range(_ROOT_STEPS):
            middle = 0.5 * (low + high)
            if _apart(family, record, middle) > budget:
                low = middle
            else:
                high = middle
        first, level = arm, low
    return first, level


@inner
def _reached(family, arena, arms, first, level, budget):
    """Search by breadth from an arm over those whose upper bound reaches a level; how many.

    Of a graph with one peak these are all that may be it, if any model fits all intervals:
    docs/theory/identification.md.
    """
    seen, queue = arena.seen, arena.queue
    seen[-1] += 1
    mark = seen[-1]
    seen[first], queue[0] = mark, first
    begin, found = 0, 1
    while begin < found:
        arm = queue[begin]
        begin += 1
        for other in arena.near[arena.first[arm] : arena.last[arm]]:
            if seen[other] == mark:
                continue
            seen[other] = mark
            record = arms[other]
            is_below = record.pulls > 0 and _mean(family, record) < level
            if is_below and _apart(family, record, level) > budget:
                continue
            queue[found] = other
            found += 1
    return found


@inner
def _both(family, one, other, level):
    return _apart(family, one, level) + _apart(family, other, level)


@inner
def transportation_cost(family, better, worse):
    """The smallest N_a·kl(mean_a, z) + N_b·kl(mean_b, z) over z; 0 unless a has the higher mean."""
    if better.pulls <= 0 or worse.pulls <= 0:
        return 0.0
    low, high = _mean(family, worse), _mean(family, better)
    if low >= high:
        return 0.0
    # Of exponential families the smallest is at the mean of all rewards; if it is not, search.
    pulls = better.pulls + worse.pulls
    pooled, near = (better.pulls * high + worse.pulls * low) / pulls, _NEAR * (high - low)
    least = _both(family, better, worse, pooled)
    below = _both(family, better, worse, max(pooled - near, low))
    above = _both(family, better, worse, min(pooled + near, high))
    if least < math.inf and least <= below and least <= above:
        return least
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = _both(family, better, worse, left), _both(family, better, worse, right)
    for _ in range(_COST_STEPS):
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = _both(family, better, worse, left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = _both(family, better, worse, right)
    return min(at_left, at_right)


@contest.register(TransportationCost)
def _hardest_to_tell(index, family, state, near, leader, clock):
    arms, best, lowest = state.arms, leader, math.inf
    for arm in near:
        if arm == leader:
            continue
        own, same = transportation_cost(family, arms[leader], arms[arm]), leeway(lowest)
        is_tied = own <= lowest + same and tie_key(state, arm) > tie_key(state, best)
        if best == leader or own < lowest - same or is_tied:
            best, lowest = arm, own
    return best
