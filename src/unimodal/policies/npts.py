"""Non-parametric Thompson sampling: an index that needs every reward, and where they are kept."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from unimodal.errors import UnimodalError
from unimodal.families import Family
from unimodal.families.bernoulli_and_bounded import NO_FAILURE
from unimodal.families.family import top
from unimodal.graphs import Graph
from unimodal.kernels.cache_aligned import cache_aligned
from unimodal.kernels.compile import component, inner
from unimodal.kernels.random import exponential
from unimodal.policies.index import Thompson, contest, keep_reward, refresh, tie_key
from unimodal.policies.policy import Policy
from unimodal.policies.scope import EveryArm, Scope
from unimodal.policies.state import SEEN, Prior, State


class NPTS(Policy):
    """Non-parametric Thompson sampling, over all arms, for bounded rewards (Riou and Honda 2020).

    An arm shows a weighted mean of its rewards and of one more at the upper bound, with random
    weights from Dirichlet(1, …, 1); the highest is pulled. It assumes no law but the bound, and has
    the constant of the best policy that does not (for Bernoulli rewards, the sum of gap/kl).

    Of 0s and 1s the weighted mean is a draw from Beta(1 + successes, failures), or 1 before the
    first failure, so that Bernoulli rewards cost no more than in TS. Under `Bounded` every reward
    is kept, and a round draws a weight for each: some 2 s for the first 20,000 rounds.

    Parameters
    ----------
    name
        What results call it; its class and parameters by default.

    Examples
    --------
    >>> NPTS()
    NPTS()
    """

    summary = "Thompson sampling that reweighs the rewards seen and one at the upper bound"
    citation = "Riou and Honda 2020 (ALT)"

    start: ClassVar[str] = "literal"

    def scope(self, graph: Graph | None) -> Scope:
        """Every arm."""
        return EveryArm()

    def index(self) -> object:
        """A reweighed mean."""
        return Reweighed()

    def index_for(self, family: Family) -> object:
        """The same; where rewards have two values, a Beta draw from their number and sum."""
        if not math.isfinite(family.high):
            raise UnimodalError(
                f"NPTS needs rewards with an upper bound, such as um.Bernoulli() or "
                f"um.Bounded(a, b), got {family!r}: use TS, or give their bounds."
            )
        if family.told is not family and not family.two_valued:
            raise UnimodalError(
                f"NPTS must be told rewards of 0 and 1, or their worth itself, got {family!r}: use "
                "TS, or um.Bounded(a, b) with the product as the reward."
            )
        return Thompson() if family.two_valued else self.index()

    @property
    def beliefs(self) -> Prior | None:
        """One success and no failure, since Dirichlet weights add up to Beta ones."""
        return (1.0, NO_FAILURE)


@component
class Reweighed:
    """The mean of an arm's rewards and one at the top, with random weights (Riou and Honda 2020).

    The weights are Dirichlet(1, …, 1): exponentials, divided by their sum.
    """


@keep_reward.register(Reweighed)
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
