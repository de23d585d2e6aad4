"""Sessions: an incumbent is pulled in bulk until somebody else must be looked at.

The engine knows no policy. Its scope says who the incumbent is and how much it can bear, its index
says who must be looked at when and who wins then, its family draws the rewards of a bulk.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unimodal.engines.leap.wait_queue import guard, look, new_desk, seat, settle, worth
from unimodal.engines.regret import pseudo_regret
from unimodal.engines.rewards import next_reward, pull_often
from unimodal.engines.trial import Trial, play_round
from unimodal.families.reward_sums import attempt
from unimodal.kernels.compile import inner, jit
from unimodal.policies import Policy
from unimodal.policies.round import observe, open_round, reckon
from unimodal.policies.scope import clock, span
from unimodal.policies.skipping import bearable, incumbent, remains, skip, steady_until
from unimodal.policies.state import BEGUN, LAST, ROUND
from unimodal.problems import Problem


@jit
def leap(scope, index, family, arena, state, rewards, gaps, output, checkpoint, desk, effort):
    """Play on to the horizon, or until `effort` looks and steps are spent."""
    notes, arms, book, horizon = state.notes, state.arms, desk.book[0], output.rounds[-1]
    while notes[ROUND] < horizon and effort > 0:
        if not book.settled and not _open_session(scope, index, family, arena, state, desk):
            pause = max(min(book.resume, horizon) - notes[ROUND], 1)
            for _ in range(min(pause, effort)):
                checkpoint = play_round(
                    scope, index, family, arena, state, rewards, gaps, output, checkpoint
                )
            effort -= pause
            continue
        effort -= 1
        book.looks += 1
        book.work += 1
        arm = book.incumbent
        first, last = span(scope, arena, arm)
        near = arena.near[first:last]
        now = clock(scope, state, arm)
        steady = steady_until(scope, arena, state, arm)
        most = bearable(scope, family, state, arm) if now < steady else -1
        room, due = guard(index, scope, family, state, near, desk, now, most)
        if room < 0 and most >= 0 and settle(index, scope, family, state, near, desk, now):
            room, due = guard(index, scope, family, state, near, desk, now, most)
        if room < 0 or most < 0:
            _close_session(index, state, desk, len(near))
            continue

        # Nobody matters before `due`: pull the incumbent until then, or until it cannot bear more.
        due = min(due, steady + 1.0)
        quiet = np.int64(min(due - now - 1.0, float(horizon - notes[ROUND])))
        intact = True
        if quiet > 0:
            pulls = np.int64(min(float(quiet), attempt(family, arms[arm], room)))
            done, intact = pull_often(rewards, family, arms, arm, pulls, room, state.rng)
            reckon(scope, index, family, state, arm)
            skip(scope, state, arm, done)
            checkpoint = _mark(output, state, gaps, checkpoint, arm, done)
            quiet -= done

        # Somebody may matter now: play this round as it is written, among those who are called.
        now = clock(scope, state, arm)
        if intact and quiet == 0 and notes[ROUND] < horizon and now < steady:
            place, pulled = book.place, open_round(scope, arena, state)
            if pulled < 0:
                place = look(index, scope, family, state, near, desk, clock(scope, state, arm))
                pulled = near[place]
            notes[LAST] = pulled
            reward = next_reward(rewards, family, state, pulled)
            observe(scope, index, family, state, pulled, reward)
            checkpoint = _mark(output, state, gaps, checkpoint, pulled, 1)
            if remains(scope, state, arm):
                now = clock(scope, state, arm)
                if not seat(index, scope, family, state, near, desk, place, now):
                    book.settled = settle(index, scope, family, state, near, desk, now)
        over = not book.settled or not remains(scope, state, arm)
        if over or (book.work >= 64 and not _pays(index, state, desk, len(near))):
            _close_session(index, state, desk, len(near))


@inner
def _open_session(scope, index, family, arena, state, desk):
    """Let the incumbent be waited upon. False if there is none, or single steps are cheaper."""
    book, now = desk.book[0], state.notes[ROUND]
    if now < book.resume or state.notes[BEGUN] < len(state.begin):
        return False
    arm = incumbent(scope, state)
    if arm < 0 or state.arms[arm].pulls == 0:
        return False
    if clock(scope, state, arm) >= steady_until(scope, arena, state, arm):
        return False
    first, last = span(scope, arena, arm)
    near = arena.near[first:last]
    book.incumbent, book.place = arm, _place_of(near, arm)
    book.hot = book.looks = book.work = 0
    book.since = now
    if not settle(index, scope, family, state, near, desk, clock(scope, state, arm)):
        book.resume = now + max(100, now // 16)  # trying takes the time of a few rounds
        return False
    book.settled = 1
    return True


@inner
def _place_of(near, arm):
    for place in range(len(near)):
        if near[place] == arm:
            return place
    return -1


@inner
def _pays(index, state, desk, size):
    """Whether looks covered enough rounds to be cheaper than steps; starts a new reckoning."""
    book = desk.book[0]
    rounds = state.notes[ROUND] - book.since
    pays = book.eager or rounds > book.work * worth(index, size)
    book.since, book.work = state.notes[ROUND], 0
    if pays:
        book.patience = 4
    return pays


@inner
def _close_session(index, state, desk, size):
    """Step for a while: longer each time that a session did not pay."""
    book = desk.book[0]
    book.settled = 0
    book.work += size // 4  # what settling cost
    if not _pays(index, state, desk, size):
        book.patience = min(2 * book.patience, 32 + 12288 // size)
    book.resume = state.notes[ROUND] + (1 if book.eager else book.patience)


@inner
def _mark(output, state, gaps, checkpoint, arm, rounds):
    """Write what checkpoints in the last rounds saw, in all of which `arm` was pulled."""
    now = state.notes[ROUND]
    while checkpoint < len(output.rounds) and output.rounds[checkpoint] <= now:
        later = now - output.rounds[checkpoint]
        state.arms[arm].pulls -= later
        output.regret[checkpoint] = pseudo_regret(state.arms, gaps)
        state.arms[arm].pulls += later
        checkpoint += 1
    if now <= len(output.arms):
        output.arms[now - rounds : now] = arm
    return checkpoint


class LeapTrial(Trial):
    """A trial that does work only where something can happen."""

    def __init__(
        self, problem: Problem, policy: Policy, seed: int, trial: int, rounds: Any, history: bool
    ) -> None:
        super().__init__(problem, policy, seed, trial, rounds, history)
        arena = self.parts.arena
        room = np.diff(np.append(arena.first, len(arena.near)))  # rows may grow
        self.desk = new_desk(int(room.max()))

    def hurry(self, depth: float) -> None:
        """Leap from the first round on, with levels so many standard deviations deep: for tests.

        Where a leap pays, rivals hardly ever matter; here all that can happen happens soon.
        """
        self.desk.book["eager"], self.desk.book["depth"] = 1, depth

    def advance(self, effort: int) -> None:
        """Go on for so many looks; where they end does not change what happens."""
        output = self.next_output
        leap(*self.parts, self.state, self.rewards, self._gaps, *output, self.desk, effort)
