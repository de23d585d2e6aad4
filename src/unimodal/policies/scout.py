"""Climbing without a sweep: a leader looks far before it looks near.

A supergraph of a unimodal graph is unimodal, so longer links are always sound. An arm that leads
for the first time gets links to a few random arms of the shells at distance 2, 4, 8, …, among those
not pulled yet; once it has led `patience` times the size of that neighbourhood it drops them. So a
lost climb crosses a long valley in a few leads instead of arm by arm. Then it is doubted: for some
rounds, contests that it wins are held again, so that a better neighbour with bad luck gets another
chance soon. At the peak what remains is UTS with a period of 2 on the graph as it is, which is
optimal (Trinh, Kaufmann, Vernade and Combes 2020): docs/studies/scouting/page.md.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from unimodal.errors import whole_number
from unimodal.families import Family
from unimodal.graphs import Graph
from unimodal.kernels.compile import component, inner
from unimodal.kernels.random import randint
from unimodal.policies.index import Thompson
from unimodal.policies.leaping import ENDLESS, steady_until
from unimodal.policies.policy import Policy, checked_prior, checked_prior_leads
from unimodal.policies.scope import (
    AroundLeader,
    Scope,
    contests,
    leading_sums,
    period,
    prepare,
    with_prior,
)

LINKS = 2  # to each shell
PERIOD = 2  # of an arm without links: of so many leads one is forced (Trinh et al. 2020)
DOUBT = 30_000  # leads, over the size of the neighbourhood, in which an arm is doubted
CONTESTS = 4  # in a round of doubt, at most


class ScoutUTS(Policy):
    """UTS that climbs without a sweep, over long links that it drops at the top.

    It begins at one random arm. An arm that leads for the first time is linked to two random arms,
    not pulled yet, of each shell at distance 2, 4, 8, … from it, and drops these links once it has
    led `patience` times for each member of that neighbourhood. Then it is doubted, until it has led
    `patience`·|N⁺| + 30,000/|N⁺| rounds (N⁺ without links): a contest that it wins is held again,
    up to four in a round. Before it drops its links it is pulled without a contest every |N⁺|
    leads, afterwards every second lead. Only arms that were pulled may lead, or that are known by
    an informative prior of their own (`prior` and `prior_leads` are as in UTS).

    Parameters
    ----------
    prior
        As in UTS.
    patience
        How long a new leader keeps its long links.
    prior_leads
        As in UTS.
    name
        What results call it; its class and parameters by default.

    Examples
    --------
    >>> ScoutUTS()
    ScoutUTS()
    """

    summary = "UTS from one arm, with long links until a leader has led for a while; no sweep"
    citation = "this library"

    prior: Any = None
    patience: int = 10
    prior_leads: bool = True
    start: ClassVar[str] = "probe(1)"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("prior", checked_prior(self.prior))
        self._set("prior_leads", checked_prior_leads(self))
        what = "the 'patience' of ScoutUTS"
        self._set("patience", whole_number(self.patience, what, at_most=10**9))

    def scope(self, graph: Graph | None) -> Scope:
        """The leader's neighbourhood and its links."""
        return Scout(patience=self.patience)

    def scope_for(self, graph: Graph | None, family: Family) -> Scope:
        """The same; led by posterior means where priors count."""
        scope = self.scope(graph)
        if type(scope) is Scout and self.is_led_by_prior(graph, family):
            informative = family.informative_from
            return ScoutByPrior(patience=scope.patience, informative=informative)
        return scope

    def index(self) -> object:
        """A posterior draw."""
        return Thompson()


def linked_arena(graph: Graph, most: int) -> ScoutArena:
    """Rows with room for links to shells, of which a search visits at most so many arms."""
    n_arms = graph.n_arms
    shells = max(int(most - 1).bit_length() - 1, 0)
    sizes = np.diff(graph.rows)
    first = np.concatenate([[0], np.cumsum(sizes + LINKS * shells)[:-1]])
    ends = first + sizes
    near = np.zeros(int(ends[-1]) + LINKS * shells, dtype=graph.near_rows.dtype)
    near[np.repeat(first - graph.rows[:-1], sizes) + np.arange(len(graph.near_rows))] = (
        graph.near_rows
    )
    seen, queue = np.zeros(n_arms, np.int64), np.zeros(most, np.int32)
    return ScoutArena(first, ends.copy(), near, ends, seen, queue)


class ScoutArena(NamedTuple):
    """An arena whose rows have room for links: near[first[k] : last[k]] is N⁺(k) with them."""

    first: Any
    last: Any
    near: Any
    ends: Any  # where the row ends without links
    seen: Any  # for the search of shells: the arm that last asked, plus one
    queue: Any


@component
class Scout(AroundLeader):
    """The leader, its neighbours and its links compete, until the leader drops its links.

    It climbs, then it is doubted, then it is settled; how often it has led and the size of its
    neighbourhood tell which. Without links that size is smaller, so it never climbs again.
    """

    patience: int = 10  # leads until then, for each member of the neighbourhood
    widest: int = ENDLESS  # links are not sought behind a shell of more arms than these

    def arena(self, graph: Graph) -> Any:
        """The rows of the graph, each with room for its links."""
        return linked_arena(graph, graph.n_arms)


@component
class ScoutByPrior(Scout):
    """The same, where a prior that is worth at least `informative` rewards counts for the lead."""

    informative: float = 0.0


leading_sums.register(ScoutByPrior)(with_prior)


def links_of(arena: Any) -> dict[int, list[int]]:
    """The links that are in use, by arm: what a saved agent must remember of its arena."""
    if not isinstance(arena, ScoutArena):
        return {}
    linked = np.flatnonzero(arena.last > arena.ends).tolist()
    return {arm: arena.near[arena.ends[arm] : arena.last[arm]].tolist() for arm in linked}


def set_links(arena: Any, links: dict[int, list[int]]) -> None:
    """Put links back that `links_of` returned."""
    for arm, linked in links.items():
        arena.last[arm] = arena.ends[arm] + len(linked)
        arena.near[arena.ends[arm] : arena.last[arm]] = linked


@prepare.register(Scout)
def _link_or_drop(scope, arena, state, leader):
    leads, size = state.arms[leader].leads, arena.last[leader] - arena.first[leader]
    if leads == 0 and len(arena.queue) > 0:  # else whoever holds the graph links it
        _link(scope, arena, state, leader)
    elif not _climbs(scope, leads, size):
        arena.last[leader] = arena.ends[leader]


@inner
def _link(scope, arena, state, leader):
    """Link an arm to random arms of the shells at distance 2, 4, 8, …: one search by breadth."""
    near, seen, queue, mark = arena.near, arena.seen, arena.queue, leader + 1
    seen[leader] = mark
    queue[0] = leader
    begin, found, distance, shell = 0, 1, 1, 2
    end = arena.ends[leader]
    while begin < found < len(queue) and found - begin <= scope.widest:
        layer_end = found
        met = 0
        for place in range(begin, layer_end):
            arm = queue[place]
            for other in near[arena.first[arm] : arena.ends[arm]]:
                if seen[other] == mark or found == len(queue):
                    continue
                seen[other] = mark
                queue[found] = other
                found += 1
                if distance == shell and state.arms[other].pulls == 0:
                    # A sample of the shell as it is met (reservoir sampling).
                    slot = met if met < LINKS else randint(state.rng, met + 1)
                    if slot < LINKS:
                        near[end + slot] = other
                    met += 1
        begin = layer_end
        if distance == shell:
            end += min(met, LINKS)
            shell *= 2
        distance += 1
    arena.last[leader] = end


@inner
def _climbs(scope, leads, size):
    return leads < scope.patience * size


@inner
def _is_doubted(scope, leads, size):
    return 0 <= leads - scope.patience * size < DOUBT // size


@period.register(Scout)
def _short_after_the_climb(scope, leads, size):
    return size if _climbs(scope, leads, size) else PERIOD


@contests.register(Scout)
def _again_in_doubt(scope, state, leader, size):
    leads_before = state.arms[leader].leads - 1  # this round is counted already
    return CONTESTS if _is_doubted(scope, leads_before, size) else 1


@steady_until.register(Scout)
def _until_it_drops(scope, arena, state, leader):
    leads, size = state.arms[leader].leads, arena.last[leader] - arena.first[leader]
    if leads == 0 or _is_doubted(scope, leads, size):
        return 0  # its links come with its first lead; rounds of doubt are played one by one
    linked = arena.last[leader] > arena.ends[leader]
    return scope.patience * size if linked or _climbs(scope, leads, size) else ENDLESS
