"""Indices: the number each competitor shows, and the contest that the best of them wins.

Ties are broken at random by `counted`, keyed by round and arm: each tied arm has a key, and the
highest key wins. So the winner does not depend on the order in which arms are looked at.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

import math
from functools import partial

import numpy as np

from unimodal.families.family import negentropy, of_arm, posterior
from unimodal.families.unsaturated_scale import linear_form, upper_level
from unimodal.kernels.compile import component, generic, inner, jit
from unimodal.kernels.random import counted
from unimodal.policies.state import LAST, ROUND

SAME = 1e-13  # relative: levels that differ by less tie, whatever the rounding


@component
class Thompson:
    """A draw from the posterior of the arm's mean (Thompson 1933)."""


class Budgeted:
    """An index that sets pulls·kl(mean, ·) against a budget, which grows with a clock."""


@component
class KLUpper(Budgeted):
    """The largest mean within f(clock)/pulls of the arm's own, in divergence.

    f(x) = log x + c·log(max(log x, 1)) (Garivier and Cappé 2011).
    """

    c: float = 3.0


class ByPulls(Budgeted):
    """Its budget is log(pulls of the leader) - log(own pulls), where that is positive."""


@partial(generic, inline=True)
def contest(index, family, state, near, leader, clock):
    """The arm among `near` that shows the best index."""


@generic
def refresh(index, family, arms, arm):
    """Bring up to date what the index keeps of an arm, after a reward of it."""


@generic
def keep_reward(index, state, arm, reward):
    """Keep a reward that was just learnt, where an index needs more than their number and sum."""


@keep_reward.register(object)
def _keep_none(index, state, arm, reward):
    pass


@jit
def tie_key(state, arm):
    """The key of an arm in this round: among tied arms, the highest wins."""
    return counted(state.rng, state.notes[ROUND], arm)


@partial(generic, inline=True)
def posterior_draw(index, family, state, arm):
    """A draw from the posterior of an arm's mean."""


@posterior_draw.register(Thompson)
def _draw(index, family, state, arm):
    return posterior(family, state.arms[arm], state.rng)


@contest.register(Thompson)
@inner
def highest_draw(index, family, state, near, leader, clock):
    """The arm with the highest posterior draw."""
    best, best_draw = near[0], -math.inf
    for arm in near:
        draw = posterior_draw(index, family, state, arm)  # θ_i,t (Alg. 1, line 8)
        if beats(state, draw, arm, best_draw, best):
            best, best_draw = arm, draw
    return best  # argmax θ_i,t (Alg. 1, line 9)


@inner
def beats(state, draw, arm, best_draw, best):
    """Whether a draw of an arm wins against the best one so far: equal ones go by their keys."""
    return draw > best_draw or (draw == best_draw and tie_key(state, arm) > tie_key(state, best))


@refresh.register(Thompson)
def _nothing(index, family, arms, arm):
    pass


@generic
def whole_budget(index, clock):
    """The part of a budget that does not depend on the arm."""


@generic
def own_budget(index, whole, pulls):
    """The budget of an arm with so many pulls."""


@whole_budget.register(KLUpper)
def _exploration(index, clock):
    log_clock = math.log(clock)
    return log_clock + index.c * math.log(max(log_clock, 1.0))  # f


@own_budget.register(KLUpper)
def _same_for_all(index, whole, pulls):
    return whole


@whole_budget.register(ByPulls)
def _log_clock(index, clock):
    return math.log(clock)  # log N_leader


@own_budget.register(ByPulls)
def _less_log_pulls(index, whole, pulls):
    return max(whole - math.log(pulls), 0.0)


@contest.register(KLUpper)
def highest_bound(index, family, state, near, leader, clock):
    """The arm with the highest upper confidence bound."""
    arms = state.arms
    whole = whole_budget(index, clock)
    # The last winner, or the leader, is likely to win again: find its index once; most rivals
    # then show that they are below it without a root.
    best = near[0] if leader < 0 else leader
    if leader < 0 and state.notes[LAST] >= 0:
        best = state.notes[LAST]
    holder = arms[best]
    tied, best_key = False, np.uint64(0)
    level = index_level(index, family, holder, whole)
    mean, theta, log_norm = linear_form(family, level)
    for arm in near:
        rival = arms[arm]
        pulls = rival.pulls
        # pulls·kl(mean, level), by the family's linear form; rounding may cost it a few digits.
        spent = pulls * (rival.negentropy + log_norm) - rival.total * theta
        slack = 1e-12 * (pulls * (abs(rival.negentropy) + abs(log_norm)) + abs(rival.total * theta))
        if spent > own_budget(index, whole, pulls) + slack and rival.total < mean * pulls:
            continue  # the usual case: below
        if arm == best:
            continue
        same = pulls == holder.pulls and rival.total == holder.total
        same = same and rival.factor == holder.factor
        own = level if same else index_level(index, family, rival, whole)
        order = compare(own, level)
        if order > 0:
            best, holder, tied, level = arm, rival, False, own
            mean, theta, log_norm = linear_form(family, level)
        elif order == 0:
            best_key = best_key if tied else tie_key(state, best)
            tied, own_key = True, tie_key(state, arm)
            if own_key > best_key:
                best, holder, best_key = arm, rival, own_key  # at the same level
    return best


@inner
def index_level(index, family, arm, whole):
    """The level of an arm's upper confidence bound; ∞ if it was never pulled."""
    if arm.pulls == 0:
        return math.inf
    budget = own_budget(index, whole, arm.pulls)
    return upper_level(of_arm(family, arm), float(arm.pulls), arm.total, budget)


@inner
def compare(one, other):
    """1, 0 or -1: a level is above, equal to or below another, whatever the rounding.

    Arms with equal statistics have equal levels. Others may tie as well: with budgets by pulls, one
    reward of 0 often ties with one failure in N.
    """
    if one == other or abs(one - other) <= SAME * min(abs(one), abs(other)):
        return 0
    return 1 if one > other else -1


@refresh.register(Budgeted)
def _keep_negentropy(index, family, arms, arm):
    arms[arm].negentropy = negentropy(family, arms[arm].total / arms[arm].pulls)
