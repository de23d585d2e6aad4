"""Scopes: which arms compete in a round, and when the leader is pulled without a contest."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from unimodal.errors import UnimodalError, unknown_name
from unimodal.families.family import prior_worth
from unimodal.graphs import Graph
from unimodal.kernels.compile import component, generic, inner
from unimodal.kernels.leaderboard import tied_leader
from unimodal.kernels.random import counted
from unimodal.kernels.read_only import read_only
from unimodal.policies.state import ROUND, Arena

LEADER_TIES = ("random", "lowest")
_LEADER_PURPOSE = -1  # arms are the other purposes, from 0


class Scope(Protocol):
    """Which arms compete in a round: a component for which the functions below are registered."""

    def arena(self, graph: Graph) -> Any:
        """The rows of the graph in which the competitors of each arm stand, for compiled code."""


@component
class EveryArm:
    """All arms compete in every round; nobody leads (TS, KLUCB, IMED, NPTS).

    Examples
    --------
    >>> EveryArm()
    EveryArm()
    """

    def arena(self, graph: Graph) -> Arena:
        """One row with every arm in it."""
        n_arms = graph.n_arms
        ends = np.zeros(1, dtype=np.int64), np.full(1, n_arms, dtype=np.int64)
        return Arena(*map(read_only, (*ends, np.arange(n_arms, dtype=graph.near_rows.dtype))))


@component
class AroundLeader:
    """The leader and its neighbours compete; the leader is forced every `period` leads.

    A `period` of 0 stands for |N⁺(leader)|, and a negative one for never.

    Parameters
    ----------
    period
        How often the leader is forced.
    lowest
        Whether the lowest of tied leaders leads, instead of a random one.

    Examples
    --------
    >>> AroundLeader(period=2)
    AroundLeader(period=2, lowest=False)
    """

    period: int = 0
    lowest: bool = False  # how ties for the lead are broken: lowest index, or at random

    def arena(self, graph: Graph) -> Arena:
        """The rows of the graph as they are."""
        return Arena(graph.rows[:-1], graph.rows[1:], graph.near_rows)


@component
class AroundLeaderByPrior(AroundLeader):
    """The same, where a prior that is worth at least `informative` rewards counts for the lead."""

    informative: float = 0.0


@component
class AroundLeastPulled(AroundLeader):
    """The same with the least pulled of the tied leaders in the lead, and its pulls as the clock.

    `lowest` is about leaders that tie in pulls as well; nobody is forced by default.

    Parameters
    ----------
    period
        How often the leader is forced; negative for never.
    lowest
        Whether the lowest of tied leaders leads, instead of a random one.

    Examples
    --------
    >>> AroundLeastPulled()
    AroundLeastPulled(period=-1, lowest=False)
    """

    period: int = -1


def lowest_tie(ties: Any) -> bool:
    """Whether `ties` says that the lowest of tied leaders leads."""
    if not isinstance(ties, str) or ties not in LEADER_TIES:
        raise unknown_name("rule for ties", ties, LEADER_TIES)
    return bool(ties == "lowest")


@generic
def lead(scope, state):
    """The leader of the coming round, or -1 where nobody leads; it changes nothing."""


@generic
def elect(scope, family, arena, state):
    """The leader of the coming round, where it takes more to know it than the leader board."""


@elect.register(object)  # unless a scope says otherwise
def _of_the_board(scope, family, arena, state):
    return lead(scope, state)


@generic
def prepare(scope, arena, state, leader):
    """Bring the leader's neighbourhood up to date, before its round begins."""


@generic
def look_around(scope, family, arena, state, leader):
    """The arm to pull in place of a round around the leader, or -1; before the lead is counted."""


@look_around.register(object)  # unless a scope says otherwise
def _nowhere_else(scope, family, arena, state, leader):
    return -1


@generic
def span(scope, arena, leader):
    """Where the arms that compete stand in `arena.near`: from, to."""


@generic
def period(scope, leads, size):
    """Of how many leads one is forced, now; none if it is negative."""


@generic
def forced(scope, leads, size):
    """Whether a leader that led `leads` rounds before is pulled without a contest."""


@generic
def contests(scope, state, leader, size):
    """How many contests a round may hold: one that the leader wins is held again."""


@generic
def clock(scope, state, leader):
    """The time that a confidence bound goes by: rounds or leads, with this one, or pulls so far."""


@generic
def has_leader(scope):
    """Whether the leader board must be kept up to date."""


@generic
def leading_sums(scope, family, arm):
    """The total and the number of rewards whose ratio an arm leads by: its own, by default."""


@leading_sums.register(object)
def _its_rewards(scope, family, arm):
    return arm.total, float(arm.pulls)


@leading_sums.register(AroundLeaderByPrior)
def with_prior(scope, family, arm):
    """The posterior mean, where the prior is informative."""
    pulls, total = prior_worth(family, arm)
    if pulls < scope.informative:
        return arm.total, float(arm.pulls)
    return arm.total + total, arm.pulls + pulls


@contests.register(object)  # unless a scope says otherwise
def _one(scope, state, leader, size):
    return 1


@lead.register(EveryArm)
def _nobody(scope, state):
    return -1


@prepare.register(EveryArm)
def _nothing_to_prepare(scope, arena, state, leader):
    pass


@span.register(EveryArm)
def _everyone(scope, arena, leader):
    return arena.first[0], arena.last[0]


@forced.register(EveryArm)
def _never(scope, leads, size):
    return False


@clock.register(EveryArm)
def _rounds(scope, state, leader):
    return state.notes[ROUND]


@has_leader.register(EveryArm)
def _no(scope):
    return False


@lead.register(AroundLeader)
def _best_mean(scope, state):
    # a_l(t) = argmax of the empirical means (Alg. 1, line 4), ties redrawn every round
    return tied_leader(state.best, state.count, _drawn_place(scope, state, state.count[1]))


@inner
def _drawn_place(scope, state, tied):
    """Which of so many tied leaders leads in the coming round."""
    if tied == 1 or scope.lowest:
        return 0
    draw = counted(state.rng, state.notes[ROUND] + 1, _LEADER_PURPOSE)
    return np.int64(draw % np.uint64(tied))


@prepare.register(AroundLeader)
def _rows_stay(scope, arena, state, leader):
    pass


@span.register(AroundLeader)
def _neighbourhood(scope, arena, leader):
    return arena.first[leader], arena.last[leader]  # N⁺(l(t))


@forced.register(AroundLeader)
def _every_period(scope, leads, size):
    # L mod |N⁺| = 0 (Alg. 1, line 5); OSUB: (L - 1) mod (γ + 1) = 0 with this round in L
    every = period(scope, leads, size)
    return every > 0 and leads % every == 0


@period.register(AroundLeader)
def _as_given(scope, leads, size):
    return scope.period if scope.period != 0 else size


@clock.register(AroundLeader)
def _times_led(scope, state, leader):
    return state.arms[leader].leads


@has_leader.register(AroundLeader)
def _yes(scope):
    return True


@lead.register(AroundLeastPulled)
def _best_mean_fewest_pulls(scope, state):
    # The leader board knows who ties; ties are few once means have some digits, so look at each.
    best, count, arms = state.best, state.count, state.arms
    if count[1] == 1:
        return tied_leader(best, count, 0)
    fewest, tied = arms[tied_leader(best, count, 0)].pulls, 0
    for place in range(count[1]):
        pulls = arms[tied_leader(best, count, place)].pulls
        if pulls < fewest:
            fewest, tied = pulls, 0
        tied += pulls == fewest
    chosen, place = _drawn_place(scope, state, tied), -1
    while chosen >= 0:
        place += 1
        chosen -= arms[tied_leader(best, count, place)].pulls == fewest
    return tied_leader(best, count, place)


@clock.register(AroundLeastPulled)
def _pulls_of_the_leader(scope, state, leader):
    return state.arms[leader].pulls


_NEEDED = (lead, prepare, span, forced, clock, has_leader)  # the others have a default


def check_scope(scope: Any, whose: str) -> None:
    """Refuse what is no scope: a component with an arena, and with what is asked of every scope."""
    if not (hasattr(scope, "Record") and hasattr(scope, "arena")):
        raise UnimodalError(
            f"the scope of {whose} must be AroundLeader(…), EveryArm() or a @component with a "
            f"method arena(graph), as in unimodal/policies/scope.py, got {scope!r}."
        )
    bases = set(type(scope).__mro__)
    missing = [each.__name__ for each in _NEEDED if not bases & set(each.registry)]
    if missing:
        raise UnimodalError(
            f"the scope of {whose} must have {', '.join(missing)} registered for it, as in "
            f"unimodal/policies/scope.py, got {scope!r}: register them, or derive it from "
            "AroundLeader."
        )
