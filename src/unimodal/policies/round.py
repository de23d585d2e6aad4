"""One round of any policy: who is pulled, and what is learnt. Engines and agents both call this."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

from functools import partial

from unimodal.families.family import earned, learn
from unimodal.kernels.compile import generic, inner, jit
from unimodal.kernels.leaderboard import show
from unimodal.policies.index import contest, keep_reward, refresh
from unimodal.policies.scope import (
    clock,
    contests,
    elect,
    forced,
    has_leader,
    leading_sums,
    look_around,
    prepare,
    span,
)
from unimodal.policies.state import (
    BEGUN,
    CONTEST,
    FORCED,
    LAST,
    LEADER,
    LOOK,
    REASON,
    ROUND,
    START,
    Whole,
)


@jit
def open_round(scope, family, arena, state):
    """Begin a round: the arm, where there is no contest (else -1)."""
    notes = state.notes
    if notes[BEGUN] < len(state.begin):  # in a sweep nobody leads: it counts for t, not for leads
        arm = state.begin[notes[BEGUN]]
        notes[BEGUN] += 1
        notes[REASON] = START
        notes[ROUND] += 1
        notes[LEADER] = -1
        return arm
    leader = elect(scope, family, arena, state)  # Alg. 1, line 4
    if leader >= 0:
        prepare(scope, arena, state, leader)
        arm = look_around(scope, family, arena, state, leader)
        if arm >= 0:
            notes[REASON] = LOOK
            notes[ROUND] += 1
            notes[LEADER] = leader
            state.arms[leader].leads += 1
            return arm
    return open_led_round(scope, arena, state, leader)


@partial(inner, inline=True)
def open_led_round(scope, arena, state, leader):
    """The same where the leader is known (-1: nobody leads) and its neighbourhood up to date."""
    arm, notes = -1, state.notes
    notes[REASON] = CONTEST
    if leader >= 0:
        record = state.arms[leader]
        if forced(scope, record.leads, arena.last[leader] - arena.first[leader]):
            arm = leader  # Alg. 1, lines 5 and 6
            notes[REASON] = FORCED
        record.leads += 1
    notes[ROUND] += 1
    notes[LEADER] = leader
    return arm


@inner
def choose(scope, index, family, arena, state):
    """The arm to pull in the next round."""
    arm = open_round(scope, family, arena, state)
    return after_contests(scope, index, family, arena, state, arm)


@partial(inner, inline=True)
def after_contests(scope, index, family, arena, state, arm):
    """The arm to pull in a round that was opened with this arm (-1: a contest is held)."""
    if arm < 0:
        leader = state.notes[LEADER]
        first, last = span(scope, arena, leader)
        now = effective_clock(state.memory, state, clock(scope, state, leader))
        for _ in range(contests(scope, state, leader, last - first)):
            arm = contest(index, family, state, arena.near[first:last], leader, now)
            if arm != leader:
                break
    state.notes[LAST] = arm
    return arm


ask = jit(choose)  # for agents: the same code, compiled by itself


@inner
def update_index(scope, index, family, state, arm):
    """Bring what is kept of an arm's rewards up to date: its index's notes, the leader board."""
    refresh(index, family, state.arms, arm)
    if has_leader(scope):
        show(state.best, state.count, arm, leading_mean(scope, family, state.arms[arm]))


@inner
def leading_mean(scope, family, record):
    """What an arm that was pulled shows on the leader board."""
    total, pulls = leading_sums(scope, family, record)
    return earned(family, record, total / pulls)


@jit
def observe(scope, index, family, state, arm, reward):
    """Learn from a reward, whether or not the arm was chosen just now."""
    take_in(state.memory, scope, index, family, state, arm, reward)


@inner
def add_reward(scope, index, family, state, arm, reward):
    """Add a reward to what is known of its arm."""
    learn(family, state.arms, arm, reward, state.rng)
    update_index(scope, index, family, state, arm)
    keep_reward(index, state, arm, reward)


# What a policy that forgets does otherwise: `forgetting.py`.


@generic
def take_in(memory, scope, index, family, state, arm, reward):
    """Learn a reward, and forget what the memory has no room for."""


@generic
def effective_clock(memory, state, clock):
    """The clock, counting no further back than the memory goes."""


@take_in.register(Whole)
def _only_learn(memory, scope, index, family, state, arm, reward):
    add_reward(scope, index, family, state, arm, reward)


@effective_clock.register(Whole)
def _all_rounds(memory, state, clock):
    return clock
