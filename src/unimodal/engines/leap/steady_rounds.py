"""Rounds in which nobody else can lead: each is played, but the leader board is not asked.

Between the leader's mean and the next there is a level. As long as the leader's mean stays above it
and those of all others below, the leader leads alone, so that electing it, and keeping the board up
to date after every reward, may wait until that ends.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

from unimodal.engines.rewards import next_reward
from unimodal.families.family import learn
from unimodal.kernels.compile import inner
from unimodal.kernels.leaderboard import show
from unimodal.policies.index import keep_reward, refresh
from unimodal.policies.leaping import clear_lead, steady_until
from unimodal.policies.round import after_contests, leading_mean, open_led_round
from unimodal.policies.scope import clock, has_leader, span
from unimodal.policies.state import BEGUN, ROUND

WIDEST = 4  # rounds for each competitor must be left, since all of them are shown in the end


@inner
def play_steady_rounds(scope, index, family, arena, state, rewards, output, most):
    """Play up to `most` rounds; returns how many, 0 where it takes the leader board."""
    notes, arms = state.notes, state.arms
    if notes[BEGUN] < len(state.begin):
        return 0
    leader, low, high = clear_lead(scope, state)
    if leader < -1:
        return 0
    first, last = span(scope, arena, leader)
    if has_leader(scope):
        steady = steady_until(scope, arena, state, leader) - clock(scope, state, leader)
        most = min(most, steady)
        if most < WIDEST * (last - first):
            return 0
    played, is_clear = 0, True
    while played < most and is_clear:
        arm = open_led_round(scope, arena, state, leader)
        arm = after_contests(scope, index, family, arena, state, arm)
        reward = next_reward(rewards, family, state, arm)
        learn(family, arms, arm, reward, state.rng)
        refresh(index, family, arms, arm)
        keep_reward(index, state, arm, reward)
        if has_leader(scope):
            mean = leading_mean(scope, family, arms[arm])
            is_clear = mean > high if arm == leader else mean < low
        if notes[ROUND] <= len(output.arms):
            output.arms[notes[ROUND] - 1], output.rewards[notes[ROUND] - 1] = arm, reward
        played += 1
    if has_leader(scope):
        for arm in arena.near[first:last]:
            if arms[arm].pulls > 0:  # others show what arms show that were never pulled
                show(state.best, state.count, arm, leading_mean(scope, family, arms[arm]))
    return played
