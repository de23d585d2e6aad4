"""What every engine shares: where a trial writes, how regret is counted, how a trial is set up."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

from unimodal.engines.regret import Ledger, charge, gaps_or_ledger, regret_so_far
from unimodal.engines.rewards import Changing, Drawn, Replayed, Resampled, next_reward
from unimodal.kernels.compile import inner
from unimodal.kernels.random import POLICY, REWARDS, stream
from unimodal.policies import Policy
from unimodal.policies.forgetting import Watch
from unimodal.policies.round import choose, observe
from unimodal.policies.state import ROUND
from unimodal.problems import Moving, Problem, Recorded


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
    reward = next_reward(rewards, family, state, arm)
    observe(scope, index, family, state, arm, reward)
    now = state.notes[ROUND]
    charge(gaps, arm, now)
    if now <= len(output.arms):
        output.arms[now - 1], output.rewards[now - 1] = arm, reward
    if now == output.rounds[checkpoint]:
        output.regret[checkpoint] = regret_so_far(gaps, state.arms)
        checkpoint += 1
    return checkpoint


class Trial(ABC):
    """One trial, which can be advanced in pieces without changing what it does."""

    def __init__(
        self, problem: Problem, policy: Policy, seed: int, trial: int, rounds: Any, history: bool
    ) -> None:
        self.horizon, self._policy = int(rounds[-1]), policy
        self._purpose = f"{policy.name} for {type(problem.family).__name__} rewards"
        kept = self.horizon if history else 0
        # NaN, so that what is not played yet cannot be taken for a regret.
        regret = np.full(len(rounds), np.nan)
        self.output = Output(rounds, regret, np.empty(kept, np.int32), np.empty(kept))
        graph, family = problem.graph, problem.family
        self.parts = policy.parts(graph, family)  # first: it may refuse the family
        rng, factors = stream(seed, trial, POLICY), family.factors(graph.labels)
        self.state = policy.new_state(graph.n_arms, family, rng, factors)
        rng = stream(seed, trial, REWARDS)
        told = family.of_arms(graph.labels).told_means
        self.rewards: Any = Drawn(told(problem.means), rng)
        if isinstance(problem, Moving):
            self.rewards = Changing(problem.begins, told(problem.means_by_piece), rng)
        if isinstance(problem, Recorded):
            problem.check_horizon(self.horizon)
            table = problem.table
            self.rewards = Resampled(table, rng) if problem.resampled else Replayed(table)
        self._gaps = gaps_or_ledger(problem, policy)

    @property
    def round(self) -> int:
        """How many rounds have been played."""
        return int(self.state.notes[ROUND])

    @property
    def next_output(self) -> tuple[Output, int]:
        """Where to write, and the first checkpoint that is still to come.

        It is found here, since a kernel that calls `np.searchsorted` makes every process that loads
        it import Numba's array functions and SciPy's linear algebra, some 0.2 s.
        """
        return self.output, int(np.searchsorted(self.output.rounds, self.round + 1))

    @property
    def pulls(self) -> Any:
        """How often each arm has been pulled."""
        kept = isinstance(self._gaps, Ledger)
        return self._gaps.pulls if kept else self.state.arms["pulls"]

    @property
    def restarts(self) -> int:
        """How often the policy has forgotten everything and started again."""
        memory = self.state.memory
        return int(memory.restarts[0]) if isinstance(memory, Watch) else 0

    @abstractmethod
    def advance(self, effort: int, until: int | None = None) -> None:
        """Go on, for about so many rounds' worth of work, or a little less: see `finish`.

        It stops at round `until`, by default the horizon, whatever effort is left.
        """

    def finish(self) -> None:
        """Play to the horizon."""
        while self.round < self.horizon:
            self.advance(self.horizon)
