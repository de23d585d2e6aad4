"""Posterior draws of the leap engine: the same law as `posterior`, at a fraction of the cost.

Where arms are nearly tied, nothing can be skipped, and a round costs what its draws cost. So the
engine plays with an index of its own, which is Thompson's in all but how Betas with large
parameters are drawn. The rules of a round are those of any engine.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

import math
from typing import Any, NamedTuple

from unimodal.engines.leap.thompson_waits import FEW, draws_are_cheap
from unimodal.engines.leap.wait_queue import worth
from unimodal.families import Family
from unimodal.families.family import posterior
from unimodal.families.leaping import beta_belief, from_beta
from unimodal.kernels.compile import outlined
from unimodal.kernels.quick_beta import (
    PAIRS,
    beta_looked_at,
    is_sure,
    new_gammas,
    new_pairs,
    sure_beta,
    take_pairs,
    update_gammas,
)
from unimodal.policies.index import Thompson, beats, contest, highest_draw, posterior_draw, refresh


class QuickThompson(Thompson):
    """Thompson's index, with quick draws."""


class QuickDraws(NamedTuple):
    """What compiled code has of it."""

    gammas: Any  # one record per arm
    pairs: Any


QuickDraws.component = QuickThompson  # type: ignore[attr-defined]


def with_quick_draws(index: Any, family: Family, n_arms: int) -> Any:
    """The index to leap with: the same law.

    Families must have said themselves that they draw Betas: one that inherits it may draw others.
    """
    draws_betas = all(type(each) in beta_belief.registry for each in (family, family.told))
    if type(index) is not Thompson.Record or not draws_betas:  # type: ignore[attr-defined]
        return index
    return QuickDraws(new_gammas(n_arms), new_pairs())


@refresh.register(QuickThompson)
def _update_gammas(index, family, arms, arm):
    a, b = beta_belief(family, arms[arm])
    update_gammas(index.gammas[arm], a, b)


@draws_are_cheap.register(QuickThompson)
def _most_are_quick(index, near):
    quick = 0
    for arm in near:
        quick += index.gammas[arm].grade >= 0
    return 4 * quick >= 3 * len(near) and len(near) <= PAIRS


@worth.register(QuickThompson)
def _rounds_are_cheap(index, size):
    # In wider contests only few are drawn each time, and many of those who are not are not quick.
    return 450.0 / (30.0 + 10.0 * size if size <= FEW else 40.0 + 29.0 * size)


@posterior_draw.register(QuickThompson)
def _one_draw(index, family, state, arm):
    gammas, rng = index.gammas[arm], state.rng
    if gammas.grade < 0:
        return _plain_draw(family, state.arms[arm], rng)
    pair = take_pairs(rng, index.pairs, 1)
    if is_sure(gammas, index.pairs, pair):
        return from_beta(family, state.arms[arm], sure_beta(gammas, index.pairs, pair))
    return from_beta(family, state.arms[arm], beta_looked_at(rng, gammas, index.pairs, pair))


@outlined
def _plain_draw(family, record, rng):
    return posterior(family, record, rng)


@contest.register(QuickThompson)
def _highest_draw(index, family, state, near, leader, clock):
    arms, gammas, pairs, rng = state.arms, index.gammas, index.pairs, state.rng
    seldom_quick = gammas[near[0]].grade < 0 and gammas[near[-1]].grade < 0
    if seldom_quick or len(near) > PAIRS:
        return highest_draw(index, family, state, near, leader, clock)
    # First those whose draws are arithmetic and nothing else, which is what makes it quick. Whoever
    # is not quick, or whose pair is not sure, draws NaN, which does not win.
    first = take_pairs(rng, pairs, len(near))
    best, best_draw, missing, tied = near[0], -math.inf, False, False
    for position in range(len(near)):
        arm = near[position]
        draw = from_beta(family, arms[arm], sure_beta(gammas[arm], pairs, first + position))
        missing |= draw != draw
        tied |= draw == best_draw
        if draw > best_draw:
            best, best_draw = arm, draw
    if missing or tied:
        for position in range(len(near)):
            arm = near[position]
            if gammas[arm].grade < 0:
                draw = _plain_draw(family, arms[arm], rng)
            elif not is_sure(gammas[arm], pairs, first + position):
                share = beta_looked_at(rng, gammas[arm], pairs, first + position)
                draw = from_beta(family, arms[arm], share)
            elif tied and arm != best:
                draw = from_beta(family, arms[arm], sure_beta(gammas[arm], pairs, first + position))
            else:
                continue
            if beats(state, draw, arm, best_draw, best):
                best, best_draw = arm, draw
    return best
