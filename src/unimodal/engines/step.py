"""The step engine: one round at a time, any policy. It is the definition the others are held to."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

from typing import Any

from unimodal.engines.trial import Trial, play_round
from unimodal.kernels.compile import inner, jit
from unimodal.kernels.compile_watch import compiled_for
from unimodal.policies import Policy, explained
from unimodal.policies.npts import with_room
from unimodal.policies.policy import own_functions
from unimodal.policies.state import ROUND
from unimodal.problems import Problem


@inner
def run(scope, index, family, arena, state, rewards, gaps, output, checkpoint, until):
    """Play up to round `until`; callable again to continue. Runs compiled, or as plain Python."""
    while state.notes[ROUND] < until:
        checkpoint = play_round(
            scope, index, family, arena, state, rewards, gaps, output, checkpoint
        )


_compiled = jit(run)


class StepTrial(Trial):
    """A trial played round by round."""

    def __init__(
        self, problem: Problem, policy: Policy, seed: int, trial: int, rounds: Any, history: bool
    ) -> None:
        super().__init__(problem, policy, seed, trial, rounds, history)
        self._run, self._family = run if policy.is_plain else _compiled, problem.family
        self._is_known = False

    def advance(self, effort: int, until: int | None = None) -> None:
        """Play some more rounds, at most up to the horizon."""
        until = min(self.round + effort, self.horizon if until is None else until)
        self.state = with_room(self.parts.index, self.state, until - self.round)
        run = (*self.parts, self.state, self.rewards, self._gaps, *self.next_output, until)
        if self._is_known:
            self._run(*run)
            return
        message = compiled_for(f"{self._purpose} (once; about 2 s)")
        with explained(self._policy, self._family), message:
            self._run(*run)
        # What was compiled once is, and code of ours needs no explanation: 30 µs a call.
        self._is_known = not own_functions(self._policy, self._family)
