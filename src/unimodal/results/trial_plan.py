"""What all trials of a simulation share, and how one of them is played, piece by piece."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unimodal.engines.engine_choice import trial_class
from unimodal.engines.late import Lateness, LateTrial
from unimodal.engines.trial import Trial
from unimodal.errors import LONGEST
from unimodal.policies import Policy
from unimodal.problems import Problem
from unimodal.results.stopping import NOBODY, StoppingRule, StopTest

_PIECE = 0.05  # seconds of work between two looks at whether to stop


@dataclass(frozen=True)
class TrialPlan:
    """All that determines a trial besides its policy and its number."""

    problem: Problem
    rounds: NDArray[np.int64]  # the checkpoints; the last is the horizon
    seed: int
    engine: str
    history: bool
    stop: StoppingRule | None = None
    lateness: Lateness | None = None

    @property
    def horizon(self) -> int:
        """The last round."""
        return int(self.rounds[-1])

    @property
    def bytes_a_trial(self) -> int:
        """What a trial leaves behind."""
        kept = 12 * self.horizon if self.history else 0
        return 8 * (len(self.rounds) + self.problem.graph.n_arms) + kept

    def new_trial(self, policy: Policy, number: int) -> Trial:
        """A trial that has not begun; parts that cannot be composed are refused here."""
        settings = (self.problem, policy, self.seed, number, self.rounds, self.history)
        if self.lateness is not None:
            return LateTrial(*settings, self.lateness)
        kind = trial_class(self.engine, self.problem, policy, self.horizon, self.history)
        trial: Trial = kind(*settings)
        return trial

    def empty(self, trials: int) -> dict[str, Any]:
        """Arrays for what so many trials find, by the names that they have in a `Run`."""
        arrays = {
            "regret": np.empty((trials, len(self.rounds))),
            "pulls": np.empty((trials, self.problem.graph.n_arms), dtype=np.int64),
            "restarts": np.empty(trials, dtype=np.int64),
        }
        if self.history:
            arrays["arms"] = np.empty((trials, self.horizon), dtype=np.int32)
            arrays["rewards"] = np.empty((trials, self.horizon))
        if self.stop is not None:
            arrays["stopped"] = np.empty(trials, dtype=np.int64)
            arrays["certified"] = np.empty(trials, dtype=np.int64)
            arrays["is_right"] = np.empty(trials, dtype=np.bool_)
        return arrays

    def stop_test(self) -> StopTest | None:
        """What is asked of a trial that may stop before the horizon."""
        return None if self.stop is None else StopTest(self.stop, self.problem)

    def play(
        self,
        policy: Policy,
        number: int,
        into: dict[str, Any],
        row: int,
        pieces: Pieces,
        test: StopTest | None,
    ) -> None:
        """Play one trial and write what it finds into a row of arrays, unless interrupted."""
        trial = self.new_trial(policy, number)
        found = pieces.finish(trial, policy, test)
        if found is None:
            return
        into["regret"][row] = trial.output.regret
        into["pulls"][row], into["restarts"][row] = trial.pulls, trial.restarts
        if self.history:
            into["arms"][row], into["rewards"][row] = trial.output.arms, trial.output.rewards
        if self.stop is not None:
            self._write_end(into, row, trial.round, found)

    def _write_end(self, into: dict[str, Any], row: int, end: int, arm: int) -> None:
        """Write down how a trial ended, and what comes after it."""
        gaps, rounds = self.problem.gaps, self.rounds
        into["stopped"][row], into["certified"][row] = end, arm
        into["is_right"][row] = arm != NOBODY and gaps[arm] == 0
        later = rounds > end
        if later.any():  # so it ended with an arm, which is played from then on
            until_end = np.cumsum(into["pulls"][row] * gaps)[-1]
            into["regret"][row, later] = until_end + (rounds[later] - end) * gaps[arm]
        if self.history:
            into["arms"][row, end:], into["rewards"][row, end:] = NOBODY, np.nan


class Pieces:
    """Cuts trials into pieces of about `_PIECE` seconds, so that Ctrl-C and progress are prompt."""

    def __init__(self) -> None:
        self.stopped = False
        self.rounds = 0
        self._lock = threading.Lock()
        self._piece: dict[int, int] = {}  # rounds that take about _PIECE seconds, by policy

    def finish(self, trial: Trial, policy: Policy, test: StopTest | None = None) -> int | None:
        """Play a trial to its end: the arm it ends with, or `NOBODY`; None if interrupted."""
        piece = self._piece.get(id(policy), 64)
        found, until = NOBODY, trial.horizon
        if test is not None:
            until = min(test.next_look(0), trial.horizon)
        while trial.round < trial.horizon:
            if self.stopped:
                return None
            before, began = trial.round, time.perf_counter()
            trial.advance(piece, until)
            took = time.perf_counter() - began
            # Grow slowly: the first piece includes compilation, and early rounds may be cheap.
            grown = np.clip(piece * _PIECE / max(took, 1e-9), piece / 4, piece * 4)
            piece = min(int(grown) + 1, LONGEST)
            with self._lock:
                self.rounds += trial.round - before
            if test is not None and trial.round == until:
                found = test.arm(trial.state.arms["pulls"], trial.state.arms["total"])
                if found != NOBODY:
                    break
                until = min(test.next_look(until), trial.horizon)
        with self._lock:
            self.rounds += trial.horizon - trial.round
        self._piece[id(policy)] = piece
        return found
