"""Trials in which rewards come late: the step engine with a clock, and rewards on their way.

Visitors come at equal distances in time. A reward above 0 is told when its delay is over, a 0 when
its own delay is or, by default, never: then the decision counts as 0 once its time to live is over.
It is what an `Agent` with the same clock does, call by call.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from unimodal.engines.regret import Ledger, charge, regret_so_far
from unimodal.engines.rewards import next_reward
from unimodal.engines.step import StepTrial
from unimodal.errors import UnimodalError, real_number
from unimodal.inference.late_rewards import (
    ABOVE,
    ZERO,
    new_late,
    note_decision,
    note_outcome,
    pass_time,
    viewed,
)
from unimodal.kernels.compile import inner, jit
from unimodal.kernels.random import stream
from unimodal.policies import Policy
from unimodal.policies.late_rewards import check_weighed, with_shares, write_pulls
from unimodal.policies.round import choose, observe
from unimodal.policies.state import ROUND
from unimodal.problems import Moving, Problem
from unimodal.problems.delays import Delay, delay_from_data, draw_delay

WEIGH, HOLD, COUNT = range(3)
LATE = ("weigh", "hold", "count")
DELAYS = 7  # the purpose of the stream of delays
_DECISION = np.dtype(
    [("time", np.float64), ("arm", np.int64), ("reward", np.float64), ("is_open", np.int64)],
    align=True,
)


@dataclass(frozen=True)
class Lateness:
    """How late rewards come, and what a policy makes of it."""

    delay: Delay
    time_to_live: float
    late: str
    visitors: float  # in one unit of time
    zeros: Delay | None = None  # how late zeros come; None: they are never told

    def to_data(self) -> dict[str, Any]:
        """As plain JSON data."""
        return {
            "delay": self.delay.to_data(),
            "time_to_live": self.time_to_live,
            "late": self.late,
            "visitors": self.visitors,
        }

    @classmethod
    def from_data(cls, data: Any) -> Lateness:
        """What `to_data` described."""
        if data["late"] not in LATE:
            raise ValueError("a rule for late rewards that is none")
        lives = real_number(data["time_to_live"], "the 'time_to_live'", above=0)
        visitors = real_number(data["visitors"], "the 'visitors'", above=0)
        return cls(delay_from_data(data["delay"]), lives, data["late"], visitors)


class Told(NamedTuple):
    """Rewards on their way, the earliest first: a heap."""

    times: Any
    numbers: Any
    count: Any  # (1,)


class Clock(NamedTuple):
    """What a trial with late rewards has beside others."""

    decisions: Any  # of _DECISION, by the last digits of their numbers
    oldest: Any  # (1,): the number of the first decision whose time is not over
    time_to_live: float
    spacing: float  # between two visitors
    mode: int
    unpulled: float
    tells_zeros: bool
    rng: Any


@inner
def _push(told, time, number):
    at = told.count[0]
    told.count[0] += 1
    while at > 0 and told.times[(at - 1) >> 1] > time:
        told.times[at], told.numbers[at] = told.times[(at - 1) >> 1], told.numbers[(at - 1) >> 1]
        at = (at - 1) >> 1
    told.times[at], told.numbers[at] = time, number


@inner
def _pop(told):
    number = told.numbers[0]
    told.count[0] -= 1
    n = told.count[0]
    time, moved, at = told.times[n], told.numbers[n], 0
    while 2 * at + 1 < n:
        child = 2 * at + 1
        if child + 1 < n and told.times[child + 1] < told.times[child]:
            child += 1
        if told.times[child] >= time:
            break
        told.times[at], told.numbers[at] = told.times[child], told.numbers[child]
        at = child
    told.times[at], told.numbers[at] = time, moved
    return number


@inner
def _expire(scope, index, family, state, clock, now):
    """Close the decisions whose time is over."""
    mask = len(clock.decisions) - 1
    while clock.oldest[0] <= state.notes[ROUND]:
        entry = clock.decisions[clock.oldest[0] & mask]
        if now < entry.time + clock.time_to_live:
            return
        if entry.is_open != 0:
            entry.is_open = 0
            reward = entry.reward if clock.mode == HOLD else 0.0
            observe(scope, index, family, state, entry.arm, reward)
        clock.oldest[0] += 1


@jit
def _tell(scope, index, family, state, clock, late, told, now):
    """Tell what is known by now, in the order in which it became known."""
    mask = len(clock.decisions) - 1
    while told.count[0] > 0 and told.times[0] <= now:
        time = told.times[0]
        number = _pop(told)
        if clock.mode == WEIGH:
            pass_time(late, time)
        _expire(scope, index, family, state, clock, time)
        entry = clock.decisions[number & mask]
        entry.is_open = 0
        observe(scope, index, family, state, entry.arm, entry.reward)
        if clock.mode == WEIGH:
            kind = ABOVE if entry.reward > 0.0 else ZERO
            note_outcome(late, entry.arm, number, kind, time, time)
            write_pulls(late, scope, index, family, state, clock.unpulled)
    if clock.mode == WEIGH:
        pass_time(late, now)
    _expire(scope, index, family, state, clock, now)
    if clock.mode == WEIGH:
        write_pulls(late, scope, index, family, state, clock.unpulled)


@jit
def _decided(clock, late, told, law, zeros, number, arm, reward, now):
    """Note a decision, whose reward is on its way."""
    entry = clock.decisions[number & (len(clock.decisions) - 1)]
    entry.time, entry.arm, entry.reward, entry.is_open = now, arm, reward, 1
    if clock.mode == WEIGH:
        note_decision(late, arm, now)
    _send(clock, told, law, zeros, number, entry)


@inner
def _send(clock, told, law, zeros, number, entry):
    """Let a reward be on its way, if it comes in time."""
    if clock.mode == HOLD:
        delay = draw_delay(law, entry.arm, clock.rng) if entry.reward > 0.0 else 0.0
        if not delay < clock.time_to_live:
            entry.reward = 0.0
        return
    if entry.reward > 0.0:
        delay = draw_delay(law, entry.arm, clock.rng)
    elif clock.tells_zeros:
        delay = draw_delay(zeros, entry.arm, clock.rng)
    else:
        return
    if delay < clock.time_to_live:
        _push(told, entry.time + delay, number)


@inner
def run_late(
    scope, index, family, arena, state, rewards, gaps, output, checkpoint, until,
    clock, late, told, law, zeros,
):  # fmt: skip
    """Play up to round `until`."""
    while state.notes[ROUND] < until:
        now = (state.notes[ROUND] + 1) * clock.spacing
        _tell(scope, index, family, state, clock, late, told, now)
        arm = choose(scope, index, family, arena, state)
        reward = next_reward(rewards, family, state, arm)
        number = state.notes[ROUND]
        _decided(clock, late, told, law, zeros, number, arm, reward, now)
        charge(gaps, arm, number)
        if number <= len(output.arms):
            output.arms[number - 1], output.rewards[number - 1] = arm, reward
        if number == output.rounds[checkpoint]:
            output.regret[checkpoint] = regret_so_far(gaps, state.arms)
            checkpoint += 1
    return checkpoint


_compiled = jit(run_late)


def check_late(problem: Problem, policy: Policy, late: str) -> None:
    """Refuse problems and policies for which rewards that come late are not defined."""
    family = problem.family
    if not family.takes_zeros or family.low != 0.0:
        raise UnimodalError(
            "rewards that come late must begin at 0, which is what silence counts as: take "
            f"Bernoulli() or Bounded(0, b), got {family!r}."
        )
    if isinstance(problem, Moving):
        raise UnimodalError("rewards that come late are played with means that stay, got Moving.")
    if late == "weigh":
        check_weighed(policy, family)


class LateTrial(StepTrial):
    """A trial in which rewards come late."""

    def __init__(
        self,
        problem: Problem,
        policy: Policy,
        seed: int,
        trial: int,
        rounds: Any,
        history: bool,
        lateness: Lateness,
    ) -> None:
        super().__init__(problem, policy, seed, trial, rounds, history)
        graph, mode = problem.graph, LATE.index(lateness.late)
        if mode == WEIGH:
            check_weighed(policy, problem.family)
            self.state = with_shares(self.state)
        lives, spacing = lateness.time_to_live, 1.0 / lateness.visitors
        in_time = problem.means * lateness.delay.share_within(lives, graph)
        gaps, begins = (in_time.max() - in_time)[None, :], np.ones(1, np.int64)
        self._gaps = Ledger(begins, gaps, np.zeros(graph.n_arms, np.int64), np.zeros(1))
        room = min(self.horizon, math.ceil(lives / spacing) + 2) + 2
        size = 1 << room.bit_length()
        late, decisions = viewed(new_late(graph.n_arms, lives, size)), np.zeros(size, _DECISION)
        told = Told(np.zeros(size), np.zeros(size, np.int64), np.zeros(1, np.int64))
        law = lateness.delay.law(graph, self.horizon, (seed, trial, DELAYS))
        zeros = lateness.zeros or lateness.delay
        zero_law = zeros.law(graph, self.horizon, (seed, trial, DELAYS + 1))
        clock = Clock(
            decisions, np.ones(1, np.int64), lives, spacing, mode,
            policy.opening.unpulled_mean, lateness.zeros is not None, stream(seed, trial, DELAYS),
        )  # fmt: skip
        self._more = clock, late, told, law, zero_law
        self._play = run_late if policy.is_plain else _compiled
        self._run = self._run_late

    def _run_late(self, *arguments: Any) -> None:
        self._play(*arguments, *self._more)
