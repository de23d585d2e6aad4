"""UTS that looks where the peak may be, and gives neighbours with bad luck another chance.

Around its leader it is UTS, with the paper's period while the leader is young and a period of 2
afterwards, which is optimal in the long run (Trinh, Kaufmann, Vernade and Combes 2020). What that
lacks is a way to the peak: it climbs from neighbour to neighbour, and one with bad luck stops it.
So in some of its leads, equally many in each doubling of their number, a leader *looks around*:
1. The place of the peak is drawn by its profile likelihood, as MINTS draws it (Wang 2025), and that
   arm is pulled, unless its own rewards refute it (`peak_places.py` has the weights).
2. Where the leader's own place was drawn, neighbours are *doubtful* that had too few pulls for
   what speaks against them, in the way of IMED (Honda and Takemura 2015): they are pulled until
   none is (`peak_doubt.py`).

Both end by themselves, whatever the means: docs/theory/peak.md has the proof that the constant is
that of UTS.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

import math
from typing import Any, ClassVar, TypeGuard

import numpy as np
from numpy.typing import NDArray

from unimodal.families import Family
from unimodal.graphs import Graph
from unimodal.kernels.compile import component, generic, inner, outlined
from unimodal.kernels.random import counted, uniform
from unimodal.policies.index import Thompson
from unimodal.policies.leaping import ENDLESS, steady_until
from unimodal.policies.peak_doubt import doubtful, refuted
from unimodal.policies.peak_places import (
    MOST_PLACES,
    WEIGHED,
    compiled_weigh,
    places_arena,
    weigh,
)
from unimodal.policies.policy import Policy, checked_prior, checked_prior_leads
from unimodal.policies.scope import (
    AroundLeader,
    Scope,
    contests,
    leading_sums,
    look_around,
    period,
    with_prior,
)
from unimodal.policies.scout import Scout, linked_arena
from unimodal.policies.state import LAST, LEADER, LOOK, REASON, State

PERIOD = 2  # of so many leads one is forced (Trinh et al. 2020)
YOUNG = 10  # leads, for each arm of its neighbourhood, in which a leader is forced less often
LOOKS = 2  # in each doubling of an arm's leads, for each doubling of the number of arms
RUN = 2  # a run of pulls of doubtful neighbours has at most 1/(RUN·D) of the leads so far
MORE = 4  # and so many times the rewards of the arm, for rewards may come late
_PLACES_PURPOSE = -2  # of `counted`: arms and the leader are the others
WIDEST = 64  # arms of a shell behind which no links are sought: few steps lead anywhere there


class PeakUTS(Policy):
    """UTS that looks for the peak: now and then it pulls the arm where the peak may well be.

    It begins at one random arm. Around its leader it is UTS: the leader is forced once in |N⁺| of
    its first 10·|N⁺| leads, and then in every second one, as in UTS(period=2). But in about
    2·log₂ K of each doubling of its leads, the leader looks around: the place of the peak is drawn
    from a posterior over places, and that arm is pulled, unless its own rewards refute it. A place
    weighs as much as the likelihood of all rewards under the best means that fall with the distance
    from it; on a line, under the best means with one peak there once these explain the rewards
    better. Of more than 32 places, each look weighs the 16 nearest to the leader and some of the
    others, in turn, which count for more than one. On a graph of more than 2,048 arms, or known by
    look-up, no place is drawn: a new leader has links to far arms instead, as in ScoutUTS.

    If the leader's own place is drawn, a neighbour is pulled that has too few rewards for how
    little speaks against it, and again as long as there is one. No number depends on a horizon.

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
    data_leads: ClassVar[bool] = True  # young leaders are those of which nobody knows much

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("prior", checked_prior(self.prior))
        self._set("prior_leads", checked_prior_leads(self))

    def scope(self, graph: Graph | None) -> Scope:
        """The leader's neighbourhood, and the places where the peak may be."""
        return AroundLikelyPeak(places=graph.n_arms) if _is_small(graph) else AroundLinked()

    def scope_for(self, graph: Graph | None, family: Family) -> Scope:
        """The same; led by posterior means where priors count."""
        if not self.is_led_by_prior(graph, family):
            return self.scope(graph)
        informative = family.informative_from
        if _is_small(graph):
            return AroundLikelyPeakByPrior(places=graph.n_arms, informative=informative)
        return AroundLinkedByPrior(informative=informative)

    def index(self) -> object:
        """A posterior draw."""
        return Thompson()


def _is_small(graph: Graph | None) -> TypeGuard[Graph]:
    """Whether all distances can be kept."""
    return graph is not None and graph.n_arms <= MOST_PLACES


@component
class AroundDoubted(AroundLeader):
    """The leader and its neighbours compete; in some leads neighbours with bad luck are pulled."""

    period: int = PERIOD
    places: int = MOST_PLACES  # where the peak may be


@component
class AroundLikelyPeak(AroundDoubted):
    """The same; in some leads a likely peak is pulled."""

    def arena(self, graph: Graph) -> Any:
        """The rows of the graph, and the distances between its arms."""
        return places_arena(graph)


@component
class AroundLinked(AroundDoubted, Scout):
    """The same, where a new leader has links to far arms, among the arms nearest to it."""

    widest: int = WIDEST

    def arena(self, graph: Graph) -> Any:
        """The rows of the graph, each with room for its links."""
        return linked_arena(graph, min(graph.n_arms, 2 * MOST_PLACES))


@component
class AroundLinkedByPrior(AroundLinked):
    """The same, where a prior that is worth at least `informative` rewards counts for the lead."""

    informative: float = 0.0


@component
class AroundLikelyPeakByPrior(AroundLikelyPeak):
    """The same, where a prior that is worth at least `informative` rewards counts for the lead."""

    informative: float = 0.0


leading_sums.register(AroundLinkedByPrior)(with_prior)
leading_sums.register(AroundLikelyPeakByPrior)(with_prior)


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


@steady_until.register(AroundDoubted)
def _until_the_next_look(scope, arena, state, arm):
    leads = state.arms[arm].leads
    grown = YOUNG * (arena.last[arm] - arena.first[arm])
    # At that lead, too: whoever waits by the rules of a young leader must not wait on by others.
    until = grown if leads <= grown else ENDLESS
    if _sees_all(arena, arm):
        return until
    if leads < 2 or _looked_elsewhere(state, arm):
        return 0
    following = _lead_of_look(scope, looks_before(scope, leads) + 1.0)
    # A little sooner, whatever the rounding: rounds are then played one by one.
    return min(until, np.int64(math.ceil(following)) - 2 - (leads >> 43))


@inner
def _lead_of_look(scope, number):
    """The lead by which an arm has had so many looks; not rounded."""
    return 2.0 ** (number / in_each_doubling(scope))


@inner
def _looked_elsewhere(state, leader):
    """Whether this leader looked around in the last round, and another arm was pulled."""
    notes = state.notes
    return notes[REASON] == LOOK and notes[LEADER] == leader and notes[LAST] != leader


@contests.register(AroundLinked)
def _one(scope, state, leader, size):
    return 1


@period.register(AroundDoubted)
def _short_once_it_is_grown(scope, leads, size):
    return size if leads < YOUNG * size else PERIOD


@inner
def _sees_all(arena, leader):
    """Whether all arms compete around a leader: then there is nothing to look for."""
    return arena.last[leader] - arena.first[leader] == len(arena.first)


@inner
def _may_look(scope, family, arena, arms, leader):
    """Whether there is something to look for, and a mean of the leader to compare it with."""
    return not _sees_all(arena, leader) and leading_sums(scope, family, arms[leader])[1] > 0.0


@look_around.register(AroundDoubted)
@outlined
def _at_a_likely_peak(scope, family, arena, state, leader):
    arms, leads = state.arms, state.arms[leader].leads
    if not _may_look(scope, family, arena, arms, leader):
        return -1
    if looks(scope, leads):
        return look(scope, family, arena, state, leader, leads)
    if _looked_elsewhere(state, leader):
        return doubtful_still(scope, family, arena, arms, leader, leads)
    return -1


@generic
def look(scope, family, arena, state, leader, leads):
    """The arm to pull in a look, or -1 for a round as any other."""


@look.register(AroundDoubted)
def _at_neighbours(scope, family, arena, state, leader, leads):
    return doubtful(scope, family, arena, state.arms, leader)


@look.register(AroundLikelyPeak)
def _anywhere(scope, family, arena, state, leader, leads):
    arms = state.arms
    weight = weigh(scope, family, arena, arms, leader, *look_number(scope, state, leads))
    left, chosen = weight * uniform(state.rng), leader
    for place in arena.weighed[: arena.found[WEIGHED]]:
        left -= arena.sums[place].weight
        if left < 0.0:
            chosen = place
            break
    if chosen != leader and not refuted(scope, family, arms, chosen, leader, leads):
        return chosen
    return _instead(scope, family, arena, arms, leader)


@inner
def _instead(scope, family, arena, arms, leader):
    """The arm to pull where the leader's place is drawn, or one that is refuted."""
    arm = doubtful(scope, family, arena, arms, leader)
    return arm if arm >= 0 else leader


@inner
def look_number(scope, state, leads):
    """The number of a look, and how much better all means with one peak must explain rewards.

    It counts from another number in each trial, so that no arm is looked at sooner than others
    because of its own number; and from the same for all leaders, so that the far places which
    they look at first are the same.
    """
    begin = np.int64(counted(state.rng, 0, _PLACES_PURPOSE) >> np.uint64(32))
    return begin + max(looks_before(scope, leads + 1), 0), math.log(scope.places)


# The neighbours of a look that goes on.


@inner
def doubtful_still(scope, family, arena, arms, leader, leads):
    """The neighbour that is doubtful in a lead after a look, unless it has had its turn."""
    arm = doubtful(scope, family, arena, arms, leader)
    if arm < 0:
        return -1
    begun = math.ceil(_lead_of_look(scope, looks_before(scope, leads))) - 1
    most = min(begun / (RUN * in_each_doubling(scope)), MORE * float(arms[arm].pulls))
    return arm if leads - begun < most else -1


def look_probabilities(
    scope: Any, family: Any, arena: Any, state: State, leader: int, looked_at: int
) -> NDArray[np.float64] | None:
    """How likely each arm was in the round that was chosen last; None if nobody looked around.

    `looked_at` is the arm on which a look fell, -1 if none did.
    """
    if leader < 0 or not issubclass(scope.component, AroundDoubted):
        return None
    leads = int(state.arms["leads"][leader]) - 1  # this round is counted already
    found, has_places = np.zeros(len(state.arms)), issubclass(scope.component, AroundLikelyPeak)
    if not has_places or not looks(scope, leads):  # nothing was drawn
        if looked_at < 0:
            return None
        found[looked_at] = 1.0
        return found
    arms = state.arms.view(np.recarray)
    if not _may_look(scope, family, arena, arms, leader):
        return None
    number = look_number(scope, state, leads)
    weight = compiled_weigh(scope, family, arena, state.arms, leader, *number)
    weighed = arena.weighed[: arena.found[WEIGHED]]
    if weight > 0:  # a leader that is alone, since others are paused, weighs nothing
        found[weighed] = arena.sums["weight"][weighed] / weight
    for arm in np.flatnonzero(found):
        if arm != leader and refuted(scope, family, arms, arm, leader, leads):
            found[arm] = 0.0
    found[leader] = 0.0
    found[_instead(scope, family, arena, arms, leader)] += 1.0 - found.sum()
    return found
