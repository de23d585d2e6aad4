"""What every engine shares: where a trial writes, how regret is counted, how a trial is set up."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from unimodal.engines.rewards import Drawn, next_reward
from unimodal.kernels.compile import inner, jit
from unimodal.kernels.random import POLICY, REWARDS, stream
from unimodal.policies import Policy
from unimodal.policies.rounds import choose, observe
from unimodal.policies.state import ROUND
from unimodal.problems import Problem


class Output(NamedTuple):
    """Where a trial writes what it finds."""

    rounds: Any  # the checkpoints, increasing
    regret: Any  # cumulative pseudo-regret at each of them
    arms: Any  # the arm of every round, or empty
    rewards: Any  # its reward, or empty


@inner
def play_round(scope, index, family, arena, state, rewards, gaps, output, checkpoint):
    """One round; returns the next checkpoint. Runs compiled, or as plain Python."""
    arm = choose(scope, index, family, arena, state)
    reward = next_reward(rewards, family, state.arms, arm)
    observe(scope, index, family, state, arm, reward)
    now = state.notes[ROUND]
    if now <= len(output.arms):
        output.arms[now - 1], output.rewards[now - 1] = arm, reward
    if now == output.rounds[checkpoint]:
        output.regret[checkpoint] = pseudo_regret(state.arms, gaps)
        checkpoint += 1
    return checkpoint


@jit
def pseudo_regret(arms, gaps):
    """Σ T_i·(μ* - μ_i): from the counts, so that it does not depend on the order of pulls."""
    total = 0.0
    for arm in range(len(arms)):
        total += arms[arm].pulls * gaps[arm]
    return total


class Trial:
    """One trial, which can be advanced in pieces without changing what it does."""

    def __init__(
        self, problem: Problem, policy: Policy, seed: int, trial: int, rounds: Any, history: bool
    ) -> None:
        self.horizon, self._policy = int(rounds[-1]), policy
        kept = self.horizon if history else 0
        self.output = Output(
            rounds, np.empty(len(rounds)), np.empty(kept, np.int32), np.empty(kept)
        )
        graph, family = problem.graph, problem.rewards
        self.state = policy.new_state(graph.n_arms, family, stream(seed, trial, POLICY))
        self.parts = policy.parts(graph, family)
        self.rewards = Drawn(problem.means, stream(seed, trial, REWARDS))
        self._gaps = problem.gaps

    @property
    def round(self) -> int:
        """How many rounds have been played."""
        return int(self.state.notes[ROUND])

    def advance(self, effort: int) -> None:
        """Go on, for about so many rounds' worth of work."""
        raise NotImplementedError
