"""Sessions: an incumbent is pulled in bulk until somebody else must compete.

The engine knows no policy. Its scope says who the incumbent is and how much it can bear, its index
says who must compete when and who wins then, its family draws the rewards of a bulk.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

from typing import Any

import numpy as np

from unimodal.engines.leap import (  # noqa: F401 - each registers what it knows
    bulk_pulls,
    klucb_waits,
    thompson_waits,
)
from unimodal.engines.leap.quick_draws import with_quick_draws
from unimodal.engines.leap.steady_rounds import play_steady_rounds
from unimodal.engines.leap.wait_queue import (
    guard,
    hold_contest,
    new_wait_queue,
    requeue,
    start_waiting,
    worth,
)
from unimodal.engines.regret import pseudo_regret
from unimodal.engines.rewards import next_reward, pull_often
from unimodal.engines.trial import Trial, play_round
from unimodal.families.leaping import attempt
from unimodal.kernels.compile import inner, jit
from unimodal.kernels.compile_watch import compiled_for
from unimodal.policies import Policy
from unimodal.policies.leaping import incumbent, loss_margin, remains, skip, steady_until
from unimodal.policies.round import observe, open_round, update_index
from unimodal.policies.scope import clock, span
from unimodal.policies.state import BEGUN, LAST, ROUND
from unimodal.problems import Problem

SINGLE = 8  # rounds to play one by one where it is not clear who leads


@jit
def leap(
    scope, index, family, arena, state, rewards, gaps, output, checkpoint, queue, horizon, effort
):
    """Play on to the horizon, or until `effort` contests and steps are spent."""
    notes, arms, session = state.notes, state.arms, queue.session[0]
    while notes[ROUND] < horizon and effort > 0:
        if not session.is_open and not _open_session(scope, index, family, arena, state, queue):
            pause = max(min(session.resume, horizon) - notes[ROUND], 1)
            left = min(pause, effort)
            while left > 0:
                most = min(left, output.rounds[checkpoint] - notes[ROUND])
                played = play_steady_rounds(
                    scope, index, family, arena, state, rewards, output, most
                )
                checkpoint = _mark(output, state, gaps, checkpoint, 0, 0)
                left -= played
                for _ in range(min(left, SINGLE) if played < SINGLE else 0):
                    checkpoint = play_round(
                        scope, index, family, arena, state, rewards, gaps, output, checkpoint
                    )
                    left -= 1
            effort -= pause
            continue
        effort -= 1
        session.contests += 1
        session.work += 1
        arm = session.incumbent
        first, last = span(scope, arena, arm)
        near = arena.near[first:last]
        now = clock(scope, state, arm)
        steady = steady_until(scope, arena, state, arm)
        most = loss_margin(scope, family, state, arm) if now < steady else -1
        room, due = guard(index, scope, family, state, near, queue, now, most)
        if room < 0 and most >= 0 and start_waiting(index, scope, family, state, near, queue, now):
            room, due = guard(index, scope, family, state, near, queue, now, most)
        if room < 0 or most < 0:
            _close_session(index, state, queue, len(near))
            continue

        # Nobody matters before `due`: pull the incumbent until then, or until it cannot bear more.
        due = min(due, steady + 1.0)
        quiet = np.int64(min(due - now - 1.0, float(horizon - notes[ROUND])))
        intact = True
        if quiet > 0:
            pulls = np.int64(min(float(quiet), attempt(family, arms[arm], room)))
            done, intact = pull_often(rewards, family, arms, arm, pulls, room, state.rng)
            update_index(scope, index, family, state, arm)
            skip(scope, state, arm, done)
            checkpoint = _mark(output, state, gaps, checkpoint, arm, done)
            quiet -= done

        # Somebody may matter now: play this round as it is written, among those who are called.
        now = clock(scope, state, arm)
        if intact and quiet == 0 and notes[ROUND] < horizon and now < steady:
            position, pulled = session.position, open_round(scope, family, arena, state)
            if pulled < 0:
                position = hold_contest(
                    index, scope, family, state, near, queue, clock(scope, state, arm)
                )
                pulled = near[position]
            notes[LAST] = pulled
            reward = next_reward(rewards, family, state, pulled)
            observe(scope, index, family, state, pulled, reward)
            checkpoint = _mark(output, state, gaps, checkpoint, pulled, 1)
            if remains(scope, state, arm):
                now = clock(scope, state, arm)
                if not requeue(index, scope, family, state, near, queue, position, now):
                    session.is_open = start_waiting(index, scope, family, state, near, queue, now)
        over = not session.is_open or not remains(scope, state, arm)
        if over or (session.work >= 64 and not _pays(index, state, queue, len(near))):
            _close_session(index, state, queue, len(near))


@inner
def _open_session(scope, index, family, arena, state, queue):
    """Let the incumbent be waited upon. False if there is none, or single steps are cheaper."""
    session, now = queue.session[0], state.notes[ROUND]
    if now < session.resume or state.notes[BEGUN] < len(state.begin):
        return False
    arm = incumbent(scope, state)
    if arm < 0 or state.arms[arm].pulls == 0:
        return False
    if clock(scope, state, arm) >= steady_until(scope, arena, state, arm):
        return False
    first, last = span(scope, arena, arm)
    near = arena.near[first:last]
    session.incumbent, session.position = arm, _position_of(near, arm)
    session.hot = session.contests = session.work = 0
    session.since = now
    if not start_waiting(index, scope, family, state, near, queue, clock(scope, state, arm)):
        session.resume = now + max(100, now // 16)  # trying takes the time of a few rounds
        return False
    session.is_open = 1
    return True


@inner
def _position_of(near, arm):
    for position in range(len(near)):
        if near[position] == arm:
            return position
    return -1


@inner
def _pays(index, state, queue, size):
    """Whether contests covered enough rounds to be cheaper than steps; starts to count anew."""
    session = queue.session[0]
    rounds = state.notes[ROUND] - session.since
    pays = session.eager or rounds > session.work * worth(index, size)
    session.since, session.work = state.notes[ROUND], 0
    if pays:
        session.patience = 4
    return pays


@inner
def _close_session(index, state, queue, size):
    """Step for a while: longer each time that a session did not pay."""
    session = queue.session[0]
    session.is_open = 0
    session.work += size // 4  # what starting cost
    if not _pays(index, state, queue, size):
        session.patience = min(2 * session.patience, 32 + 12288 // size)
    session.resume = state.notes[ROUND] + (1 if session.eager else session.patience)


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
        index = with_quick_draws(self.parts.index, problem.family, len(self.state.arms))
        self.parts = self.parts._replace(index=index)
        arena = self.parts.arena
        room = np.diff(np.append(arena.first, len(arena.near)))  # rows may grow
        self.queue = new_wait_queue(int(room.max()))

    def hurry(self, depth: float) -> None:
        """Leap from the first round on, with levels so many standard deviations deep: for tests.

        Where a leap pays, rivals hardly ever matter; here all that can happen happens soon.
        """
        self.queue.session["eager"], self.queue.session["depth"] = 1, depth

    def advance(self, effort: int, until: int | None = None) -> None:
        """Go on for so many contests and steps; where they end does not change what happens.

        An end at round `until` changes the numbers, since pulls in bulk end there, but not the law.
        """
        output, horizon = self.next_output, self.horizon if until is None else until
        with compiled_for(f"{self._purpose} (once; about 5 s)"):
            played = (self.state, self.rewards, self._gaps, *output, self.queue)
            leap(*self.parts, *played, horizon, effort)
