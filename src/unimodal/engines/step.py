"""The step engine: one round at a time, any policy. It is the definition the others are held to."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.extending import register_jitable

from unimodal.families.base import draw
from unimodal.kernels.compile import OPTIONS, jit
from unimodal.kernels.random import POLICY, REWARDS, stream
from unimodal.policies import Policy, explained
from unimodal.policies.rounds import choose, observe
from unimodal.policies.state import ROUND
from unimodal.problems import Problem


class Output(NamedTuple):
    """Where a trial writes what it finds."""

    rounds: Any  # the checkpoints, increasing
    regret: Any  # cumulative pseudo-regret at each of them
    arms: Any  # the arm of every round, or empty
    rewards: Any  # its reward, or empty


@register_jitable(**OPTIONS)
def run(scope, index, family, arena, state, means, gaps, rng, output, until):
    """Play up to round `until`; callable again to go on. Runs compiled, or as plain Python."""
    checkpoint = np.searchsorted(output.rounds, state.notes[ROUND] + 1)
    while state.notes[ROUND] < until:
        arm = choose(scope, index, family, arena, state)
        reward = draw(family, means[arm], rng)
        observe(scope, index, family, state, arm, reward)
        now = state.notes[ROUND]
        if now <= len(output.arms):
            output.arms[now - 1], output.rewards[now - 1] = arm, reward
        if now == output.rounds[checkpoint]:
            output.regret[checkpoint] = pseudo_regret(state.arms, gaps)
            checkpoint += 1


@jit
def pseudo_regret(arms, gaps):
    """Σ T_i·(μ* - μ_i): from the counts, so that it does not depend on the order of pulls."""
    total = 0.0
    for arm in range(len(arms)):
        total += arms[arm].pulls * gaps[arm]
    return total


_compiled = jit(run)


class StepTrial:
    """One trial, which can be advanced in pieces without changing what it does."""

    def __init__(
        self, problem: Problem, policy: Policy, seed: int, trial: int, rounds: Any, history: bool
    ) -> None:
        horizon = int(rounds[-1])
        kept = horizon if history else 0
        self.horizon, self._policy = horizon, policy
        self.output = Output(
            rounds, np.empty(len(rounds)), np.empty(kept, np.int32), np.empty(kept)
        )
        self._run = run if policy.is_plain or problem.rewards.is_plain else _compiled
        graph, family = problem.graph, problem.rewards
        self.state = policy.new_state(graph.n_arms, family, stream(seed, trial, POLICY))
        self._fixed = (*policy.parts(graph, family), self.state, problem.means, problem.gaps)
        self._rng = stream(seed, trial, REWARDS)

    @property
    def round(self) -> int:
        """How many rounds have been played."""
        return int(self.state.notes[ROUND])

    def advance(self, rounds: int) -> None:
        """Play some more rounds, at most up to the horizon."""
        until = min(self.round + rounds, self.horizon)
        with explained(self._policy):
            self._run(*self._fixed, self._rng, self.output, until)
