"""What every competitor showed in a contest: for those who want to know why an arm won.

An index is wrapped in one that notes, before each contest, what the arms show in it. The round
itself is played by the same `round.choose`, and the contest by the index's own rule, so that the
random stream and the winner are those of a round without notes.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from unimodal.families.family import earned, posterior, top, upper
from unimodal.kernels.compile import generic
from unimodal.policies.imed import EmpiricalDivergence, best_mean, cost
from unimodal.policies.index import (
    Budgeted,
    Thompson,
    contest,
    own_budget,
    whole_budget,
)
from unimodal.policies.mints import ProfileLikelihood, place_probabilities
from unimodal.policies.npts import Reweighed
from unimodal.policies.round import choose
from unimodal.policies.state import State
from unimodal.policies.unitt import TransportationCost, transportation_cost


class Contest(NamedTuple):
    """One contest of a round: who competed, what each showed (None: not known), who won."""

    near: list[int]
    values: list[float] | None
    winner: int


@generic
def values(index, family, state, near, leader, clock):
    """What each of `near` shows, in their order; None where the index does not tell."""


@generic
def value_name(index):
    """What the values are, and whether the highest wins; None where one is drawn by them."""


@values.register(object, plain=True)
def _not_known(index, family, state, near, leader, clock):
    return None


@value_name.register(object, plain=True)
def _no_name(index):
    return "", True


@values.register(Thompson, plain=True)
def _draws(index, family, state, near, leader, clock):
    return [posterior(family, state.arms[arm], state.rng) for arm in near]


@value_name.register(Thompson, plain=True)
def _draw(index):
    return "draw", True


@values.register(Budgeted, plain=True)
def _bounds(index, family, state, near, leader, clock):
    arms, whole = state.arms.view(np.recarray), whole_budget(index, clock)
    return [_bound(index, family, arms[arm], whole) for arm in near]


def _bound(index, family, arm, whole):
    if arm.pulls == 0:
        return np.inf
    budget = own_budget(index, whole, arm.pulls)
    return earned(family, arm, upper(family, arm.total / arm.pulls, budget / arm.pulls))


@value_name.register(Budgeted, plain=True)
def _upper_bound(index):
    return "upper bound", True


@values.register(EmpiricalDivergence, plain=True)
def _costs(index, family, state, near, leader, clock):
    arms = state.arms.view(np.recarray)
    _, best = best_mean(family, arms, near)
    return [cost(family, arms[arm], best) for arm in near]


@value_name.register(EmpiricalDivergence, plain=True)
def _cost(index):
    return "N·kl + log N", False


@values.register(Reweighed, plain=True)
def _reweighed(index, family, state, near, leader, clock):
    contest(index, family, state, near, leader, clock)  # which leaves its sums in `seen`
    rows = state.seen[near]
    return (top(family) - rows["short"] / rows["weight"]).tolist()


@value_name.register(Reweighed, plain=True)
def _reweighed_mean(index):
    return "reweighed mean", True


@values.register(TransportationCost, plain=True)
def _transportation_costs(index, family, state, near, leader, clock):
    arms = state.arms.view(np.recarray)  # the leader itself does not compete
    costs = {arm: transportation_cost(family, arms[leader], arms[arm]) for arm in near}
    return [np.inf if arm == leader else costs[arm] for arm in near]


@value_name.register(TransportationCost, plain=True)
def _transportation(index):
    return "transportation cost", False


@values.register(ProfileLikelihood, plain=True)
def _place_probabilities(index, family, state, near, leader, clock):
    return place_probabilities(family, state.arms, near).tolist()


@value_name.register(ProfileLikelihood, plain=True)
def _probability(index):
    return "probability", None


class _Noting:
    """An index that notes: for `contest`, which chooses its rule by this type."""

    def __init__(self, index: Any, notes: list[Contest]) -> None:
        self.index, self.notes = index, notes


_Noting.component = _Noting  # type: ignore[attr-defined]


@contest.register(_Noting, plain=True)
def _noted(noting, family, state, near, leader, clock):
    shown = values(noting.index, family, _copied(state), near, leader, clock)
    winner = int(contest(noting.index, family, state, near, leader, clock))
    told = None if shown is None else [float(value) for value in shown]
    noting.notes.append(Contest([int(arm) for arm in near], told, winner))
    return winner


def _copied(state: State) -> State:
    """The state with a stream and sums of its own, to be used up."""
    return state._replace(rng=state.rng.copy(), seen=state.seen.copy())


def noting(notes: list[Contest]) -> Callable[..., int]:
    """`round.choose`, with a note of every contest."""

    def choose_and_note(scope, index, family, arena, state):
        return choose(scope, _Noting(index, notes), family, arena, state)

    return choose_and_note
