"""How a policy forgets, for means that change: a part of its state that works on the arm records.

`fade` runs before a reward is learnt, `forget` after it, and `effective_clock` says what the clock
of a confidence bound is where old rounds no longer count. The type of `State.memory` decides which;
the policies know nothing of it.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from unimodal.families.family import divergence
from unimodal.kernels.compile import generic, inner
from unimodal.kernels.leaderboard import show
from unimodal.policies.index import refresh
from unimodal.policies.scope import has_leader
from unimodal.policies.state import BEGUN, ROUND, Whole

WORTHLESS = 1e-6  # rewards: an arm that is left with less than this counts as never pulled


class Window(NamedTuple):
    """The last rewards count, all others do not."""

    ring: Any  # (window, 3): arm, reward, success of the coin
    learnt: Any  # (1,): rewards so far
    unpulled: float  # what an arm without rewards shows on the leader board


class Fading(NamedTuple):
    """A reward counts gamma^n once n others have come after it."""

    gamma: float
    unpulled: float


class Watch(NamedTuple):
    """Everything counts until an arm's latest rewards differ from those before: then nothing."""

    rewards: Any  # (arms, window): the latest of each arm, in a ring
    sums: Any  # (arms, 2): of the newer and of the older half of the window
    learnt: Any  # (arms,): rewards since the last restart
    restarts: Any  # (2,): how many there were, and the round of the last
    threshold: float
    unpulled: float


Window.component = Window  # type: ignore[attr-defined]
Fading.component = Fading  # type: ignore[attr-defined]
Watch.component = Watch  # type: ignore[attr-defined]


@generic
def fade(memory, scope, state):
    """Let old rewards count less, before a reward is learnt."""


@generic
def forget(memory, scope, index, family, state, arm, reward, success):
    """Forget what is too old, after a reward was learnt."""


@generic
def effective_clock(memory, state, clock):
    """The clock, counting no further back than the memory goes."""


@fade.register(object)
def _nothing_fades(memory, scope, state):
    pass


@forget.register(Whole)
@forget.register(Fading)
def _nothing_is_forgotten(memory, scope, index, family, state, arm, reward, success):
    pass


@effective_clock.register(Whole)
def _all_the_time(memory, state, clock):
    return clock


@forget.register(Window)
def _drop_the_oldest(memory, scope, index, family, state, arm, reward, success):
    ring = memory.ring
    place = memory.learnt[0] % len(ring)
    if memory.learnt[0] >= len(ring):
        old = int(ring[place, 0])
        record = state.arms[old]
        record.pulls -= 1
        record.total -= ring[place, 1]
        record.successes -= ring[place, 2]
        if record.pulls > 0:
            refresh(index, family, state.arms, old)
        else:
            record.total = record.successes = 0.0  # without what rounding left
        _show_again(memory, scope, state, old)
    ring[place, 0], ring[place, 1], ring[place, 2] = arm, reward, success
    memory.learnt[0] += 1


@effective_clock.register(Window)
def _within_the_window(memory, state, clock):
    return min(clock, len(memory.ring))  # log(min(t, τ)) (Garivier and Moulines 2011)


@fade.register(Fading)
def _by_gamma(memory, scope, state):
    # N_t(γ, i) = Σ γ^(t - s) over the rounds s of i (Garivier and Moulines 2011): the last has 1.
    # The means stay as they are, and so do their order and what an index keeps of them.
    for other in range(len(state.arms)):
        record = state.arms[other]
        record.pulls *= memory.gamma
        record.total *= memory.gamma
        record.successes *= memory.gamma
        if 0.0 < record.pulls < WORTHLESS:
            record.pulls = record.total = record.successes = 0.0
            _show_again(memory, scope, state, other)


@effective_clock.register(Fading)
def _total_weight(memory, state, clock):
    # n_t(γ) = Σ N_t(γ, i) = (1 - γ^t)/(1 - γ), or rather its bound
    return min(float(clock), 1.0 / (1.0 - memory.gamma))


@forget.register(Watch)
def _restart_after_a_change(memory, scope, index, family, state, arm, reward, success):
    rewards, sums, learnt = memory.rewards[arm], memory.sums[arm], memory.learnt[arm]
    window = len(rewards)
    half, place = window // 2, learnt % window
    sums[0] += reward
    if learnt >= half:
        ageing = rewards[(learnt - half) % window]
        sums[0] -= ageing
        sums[1] += ageing
    if learnt >= window:
        sums[1] -= rewards[place]
    rewards[place] = reward
    memory.learnt[arm] += 1
    if learnt + 1 >= window:
        newer, older = sums[0] / half, sums[1] / half
        middle = 0.5 * (newer + older)
        apart = divergence(family, newer, middle) + divergence(family, older, middle)
        if half * apart > memory.threshold:
            _restart(memory, scope, state)


@inner
def _restart(memory, scope, state):
    for arm in range(len(state.arms)):
        record = state.arms[arm]
        record.pulls = record.leads = 0
        record.total = record.successes = 0.0
        memory.learnt[arm] = 0
        memory.sums[arm, 0] = memory.sums[arm, 1] = 0.0
        _show_again(memory, scope, state, arm)
    state.notes[BEGUN] = 0
    memory.restarts[0] += 1
    memory.restarts[1] = state.notes[ROUND]


@effective_clock.register(Watch)
def _since_the_restart(memory, state, clock):
    return min(clock, state.notes[ROUND] - memory.restarts[1])


@inner
def _show_again(memory, scope, state, arm):
    """Bring the leader board up to date for an arm that lost rewards."""
    if has_leader(scope):
        record = state.arms[arm]
        shown = record.total / record.pulls if record.pulls > 0 else memory.unpulled
        show(state.best, state.count, arm, shown)


def memory_data(memory: Any) -> dict[str, Any]:
    """What a memory holds, as plain JSON data; its settings are the policy's."""
    fields = memory._asdict().items()
    return {name: value.tolist() for name, value in fields if isinstance(value, np.ndarray)}


def fill_memory(memory: Any, data: dict[str, Any], n_arms: int) -> None:
    """Write into a new memory what `memory_data` described; a ValueError if it does not fit."""
    for name, values in data.items():
        array = getattr(memory, name)
        if np.shape(values) != array.shape:
            raise ValueError("a memory of another size")
        array[...] = values
    if isinstance(memory, Window):
        arms = memory.ring[:, 0]
        if not ((arms >= 0) & (arms < n_arms)).all():
            raise ValueError("a reward of an arm that the graph does not have")


def renumbered_memory(data: dict[str, Any], where: list[int], n_arms: int) -> dict[str, Any]:
    """What `memory_data` told, for arms with other numbers (-1: the arm is gone)."""
    if "ring" in data:
        (learnt,), size = data["learnt"], len(data["ring"])
        rows = [data["ring"][number % size] for number in range(max(0, learnt - size), learnt)]
        kept = [[where[int(arm)], *rest] for arm, *rest in rows if where[int(arm)] >= 0]
        empty = [[0.0, 0.0, 0.0]] * (size - len(kept))
        return {"ring": kept + empty, "learnt": [len(kept)]}
    moved = dict(data)
    for name in ("rewards", "sums", "learnt"):  # of a Watch: one row an arm
        if name in data:
            old = np.asarray(data[name])
            new = np.zeros((n_arms, *old.shape[1:]), old.dtype)
            stays = np.asarray(where) >= 0
            new[np.asarray(where)[stays]] = old[stays]
            moved[name] = new.tolist()
    return moved
