"""An index that needs every reward and not only their sum, and where the rewards are kept."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

import math
from typing import Any

import numpy as np

from unimodal.families.family import top
from unimodal.kernels.cache_aligned import cache_aligned
from unimodal.kernels.compile import component, generic, inner
from unimodal.kernels.random import exponential
from unimodal.policies.index import contest, refresh, tie_key
from unimodal.policies.state import SEEN, State


@component
class Reweighed:
    """The mean of an arm's rewards and one at the top, with random weights (Riou and Honda 2020).

    The weights are Dirichlet(1, …, 1): exponentials, divided by their sum.
    """


@generic
def remember(index, state, arm, reward):
    """Keep a reward that was learnt just now, if the index needs it."""


@remember.register(object)
def _forget(index, state, arm, reward):
    pass


@remember.register(Reweighed)
def _keep(index, state, arm, reward):
    row = state.seen[_learnt(state.arms) - 1]
    row.arm, row.reward = arm, reward


@inner
def _learnt(arms):
    """How many rewards were learnt, of all arms."""
    learnt = 0
    for arm in range(len(arms)):
        learnt += arms[arm].pulls
    return learnt


def with_room(index: Any, state: State, more: int) -> State:
    """The state, with room for so many more rewards if the index keeps them."""
    if index.component is not Reweighed:
        return state
    needed = max(int(state.arms["pulls"].sum()) + more, len(state.arms))  # arms sum up in a row
    if needed <= len(state.seen):
        return state
    longer = cache_aligned(np.zeros(max(needed, 2 * len(state.seen)), dtype=SEEN))
    longer[: len(state.seen)] = state.seen
    return state._replace(seen=longer)


@contest.register(Reweighed)
def _highest_reweighed(index, family, state, near, leader, clock):
    seen, rng, highest = state.seen, state.rng, top(family)
    # How far an arm's weighted mean lies under the top; so arms that never missed it tie exactly.
    for arm in near:
        seen[arm].weight, seen[arm].short = exponential(rng), 0.0
    for row in range(_learnt(state.arms)):
        weight = exponential(rng)
        own = seen[seen[row].arm]
        own.weight += weight
        own.short += weight * (highest - seen[row].reward)
    best, least = near[0], math.inf
    for arm in near:
        short = seen[arm].short / seen[arm].weight
        if short < least or (short == least and tie_key(state, arm) > tie_key(state, best)):
            best, least = arm, short
    return best


@refresh.register(Reweighed)
def _nothing(index, family, arms, arm):
    pass
