"""What an engine that skips rounds asks of a scope: who stays, and for how long for certain."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

import math

import numpy as np

from unimodal.families.family import told
from unimodal.families.leaping import worst
from unimodal.kernels.compile import generic, inner
from unimodal.kernels.leaderboard import leads_alone, runner_up, tied_leader
from unimodal.policies.scope import AroundLeader, EveryArm, period
from unimodal.policies.state import LAST, LEADER, ROUND

ENDLESS = 2**60
_CLEAR = 1e-12  # relative: far above rounding


@generic
def incumbent(scope, state):
    """The arm that is expected to be pulled again and again, or -1 if there is none."""


@generic
def remains(scope, state, arm):
    """Whether `arm` is the incumbent still, after a round."""


@generic
def loss_margin(scope, family, state, arm):
    """How many worst rewards leave the incumbent where it is for certain (-1: not even none)."""


@generic
def steady_until(scope, arena, state, arm):
    """The clock up to which the incumbent's contest has the same members and rules."""


@generic
def skip(scope, state, arm, rounds):
    """Count rounds in which the incumbent was pulled without a look at the others."""


@generic
def contest_after(scope, clock, size, contests):
    """The clock at which so many more contests have been held, if the rules stay."""


@generic
def clear_lead(scope, state):
    """(leader, low, high): it leads as long as its mean is above `high`, and others' below `low`.

    -1 where nobody ever leads, and -2 where the lead is not clear.
    """


@clear_lead.register(EveryArm)
def _nobody_leads(scope, state):
    return -1, math.inf, -math.inf


@incumbent.register(EveryArm)
def _most_pulled(scope, state):
    best = 0
    for arm in range(len(state.arms)):
        if state.arms[arm].pulls > state.arms[best].pulls:
            best = arm
    return best


@remains.register(EveryArm)
def _nobody_passed_it(scope, state, arm):
    return state.arms[state.notes[LAST]].pulls <= state.arms[arm].pulls


@loss_margin.register(EveryArm)
def _any_number(scope, family, state, arm):
    return ENDLESS


@skip.register(EveryArm)
def _count_rounds(scope, state, arm, rounds):
    state.notes[ROUND] += rounds
    state.notes[LAST] = arm


@contest_after.register(EveryArm)
def _every_round(scope, clock, size, contests):
    return clock + contests


@steady_until.register(EveryArm)
def _always(scope, arena, state, arm):
    return ENDLESS


@incumbent.register(AroundLeader)
def _sole_leader(scope, state):
    return tied_leader(state.best, state.count, 0) if state.count[1] == 1 else -1


@clear_lead.register(AroundLeader)
def _between_two_means(scope, state):
    arm = incumbent(scope, state)
    if arm < 0:
        return -2, 0.0, 0.0
    highest = state.best[1]
    middle = 0.5 * (highest + runner_up(state.best, arm))
    if not highest - middle > _CLEAR * abs(middle):
        return -2, 0.0, 0.0  # the same number, or no number
    return arm, middle, middle


@remains.register(AroundLeader)
def _leads(scope, state, arm):
    return leads_alone(state.best, state.count, arm)


@steady_until.register(AroundLeader)
def _as_the_graph(scope, arena, state, arm):
    return ENDLESS


@loss_margin.register(AroundLeader)
def _strictly_ahead(scope, family, state, arm):
    # Strictly above the best other mean of the whole graph, or another arm might lead.
    record, low = state.arms[arm], worst(family)
    other = told(family, record, runner_up(state.best, arm))
    if not record.total > other * record.pulls:
        return -1
    if not math.isfinite(low):
        return 0
    if other <= low:
        return ENDLESS
    # (S + k·low)/(N + k) > other
    most = (record.total - other * record.pulls) / (other - low)
    if most >= ENDLESS:
        return ENDLESS
    count = np.int64(most) + 1
    while count >= 0 and not _mean_after(record, count, low) > other + 1e-13 * abs(other):
        count -= 1
    return count


@inner
def _mean_after(record, count, low):
    """The mean after so many worst rewards."""
    return (record.total + count * low) / (record.pulls + count)


@skip.register(AroundLeader)
def _count_leads(scope, state, arm, rounds):
    state.notes[ROUND] += rounds
    state.notes[LAST] = state.notes[LEADER] = arm
    state.arms[arm].leads += rounds


@contest_after.register(AroundLeader)
def _between_forced(scope, clock, size, contests):
    # The leads 1, 1 + every, … are forced; of the first x leads, x - ⌈x/every⌉ are contests.
    every = period(scope, clock, size)
    if every < 0:
        return clock + contests
    number = clock - (clock + every - 1) // every + contests
    return number + (number - 1) // (every - 1) + 1
