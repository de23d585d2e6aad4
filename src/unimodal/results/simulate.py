"""Trials over threads: the same numbers for any number of them."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from unimodal.engines import runner
from unimodal.engines.engine_choice import ENGINES, checkpoint_rounds, trial_class
from unimodal.engines.trial import Trial
from unimodal.errors import (
    LONGEST,
    UnimodalError,
    check_memory,
    refuse_set,
    unknown_name,
    whole_number,
)
from unimodal.policies import Policy, as_policy, told_apart
from unimodal.problems import Problem
from unimodal.report import progress as progress_bar
from unimodal.results.result import Result, Run
from unimodal.results.stopping import NOBODY, Certified, PeakTest, check_stop, next_look

MOST_TRIALS = 10**9
_PIECE = 0.05  # seconds of work between two looks at whether to stop


def simulate(
    problem: Problem,
    policies: Policy | Sequence[Policy],
    *,
    horizon: int,
    trials: int = 100,
    seed: int = 0,
    engine: str = "auto",
    workers: int | None = None,
    checkpoints: int | Sequence[int] = 200,
    spacing: str = "log",
    history: bool = False,
    stop: Certified | None = None,
    progress: bool | None = None,
) -> Result:
    """Run every policy on a problem, `trials` times for `horizon` rounds.

    Trial n has its own random streams, made from `seed` and n alone: one for the policy and one for
    the rewards. So results do not depend on `workers` (threads; all cores by default), on the
    number of trials or on which other policies run.

    Regret is kept at `checkpoints` rounds, spread evenly on a "log" or "linear" scale
    (`spacing`), or at the rounds you list. `history=True` keeps every arm and reward too.
    A bar shows the progress on a terminal, unless `progress=False`.

    The "step" engine plays every round; the "leap" engine skips those in which nothing can happen,
    exactly: its results have the same law, but not the same numbers for the same seed. "auto" leaps
    where the policy can and the horizon is worth it (5,000 rounds), and steps elsewhere.

    With `stop=um.Certified(0.95)` a trial ends when its leader is certified to be the peak, at the
    latest at the horizon. The result says for each trial in which round it `stopped`, which arm was
    `certified` (-1: none) and whether that `is_right`. Pulls are those until then. Regret at later
    checkpoints is what it would be if the certified arm were played from then on.

    >>> import unimodal as um
    >>> problem = um.problems.triangular(5)
    >>> one = um.simulate(problem, um.UTS(), horizon=1000, trials=3, seed=7, workers=1)
    >>> two = um.simulate(problem, um.UTS(), horizon=1000, trials=3, seed=7, workers=2)
    >>> bool((one["UTS"].regret == two["UTS"].regret).all())
    True
    >>> found = um.simulate(problem, um.UniTT(), horizon=5000, trials=3, stop=um.Certified(0.9))
    >>> found["UniTT"].certified.tolist()
    [2, 2, 2]
    """
    chosen = named(policies)
    if not isinstance(problem, Problem):
        raise UnimodalError(f"the 'problem' must be a unimodal.Problem, got {problem!r}.")
    horizon = whole_number(horizon, "the 'horizon'", at_most=LONGEST)
    if not isinstance(engine, str) or engine not in ENGINES:
        raise unknown_name("engine", engine, ENGINES)
    rounds = checkpoint_rounds(horizon, checkpoints, spacing)
    numbers = range(whole_number(trials, "the 'trials'", at_most=MOST_TRIALS))
    seed = whole_number(seed, "the 'seed'", 0)
    if stop is not None:
        check_stop(stop, problem, chosen)
    settings = (problem, chosen, rounds, numbers, seed, engine)
    return run_trials(*settings, workers, history, progress, stop)


def named(policies: Policy | Sequence[Policy]) -> list[Policy]:
    """One policy or several as a list, in which no name comes twice.

    Policies of one kind are told apart by their parameters.

    >>> import unimodal as um
    >>> [policy.name for policy in named([um.UTS(), um.UTS(period=2)])]
    ['UTS', 'UTS(period=2)']
    """
    refuse_set(policies, "the policies")
    several = isinstance(policies, Iterable) and not isinstance(policies, str | type)
    chosen: list[Any] = list(policies) if several else [policies]  # type: ignore[arg-type]
    if not chosen:
        raise UnimodalError("there must be at least one policy, got none.")
    return told_apart([as_policy(policy) for policy in chosen])


def run_trials(
    problem: Problem,
    policies: list[Policy],
    rounds: Any,
    numbers: range,
    seed: int,
    engine: str,
    workers: int | None,
    history: bool,
    progress: bool | None,
    stop: Certified | None = None,
) -> Result:
    """Run trials of these numbers; what `simulate` and a result's `rerun` and `extend` share."""
    if workers is not None:
        workers = whole_number(workers, "the 'workers'", at_most=10**4)
    horizon, n_arms = int(rounds[-1]), problem.graph.n_arms
    each = 8 * (len(rounds) + n_arms) + (12 * horizon if history else 0)
    check_memory(len(policies) * len(numbers) * each, "what the trials leave behind")
    runs = {
        policy.name: Run(
            policy,
            np.empty((len(numbers), len(rounds))),
            np.empty((len(numbers), n_arms), dtype=np.int64),
            restarts=np.empty(len(numbers), dtype=np.int64),
            **(_empty_history(len(numbers), horizon) if history else {}),
            **(_empty_ends(len(numbers)) if stop else {}),
        )
        for policy in policies
    }
    work = _Work()
    test = None if stop is None else PeakTest(problem, stop)

    def new_trial(policy: Policy, number: int, history: bool) -> Trial:
        kind = trial_class(engine, problem, policy, horizon, history)
        trial: Trial = kind(problem, policy, seed, number, rounds, history)
        return trial

    def play(run: Run, row: int) -> None:
        trial = new_trial(run.policy, numbers[row], history)
        found = work.finish(trial, run.policy, test)
        if found is None:
            return
        run.regret[row] = trial.output.regret
        run.pulls[row], run.restarts[row] = trial.pulls, trial.restarts
        if history:
            run.arms[row], run.rewards[row] = trial.output.arms, trial.output.rewards
        if stop:
            _write_end(run, row, problem, rounds, trial.round, found)

    # Parts that cannot be composed (a prior for other arms, …) fail here, before any thread starts.
    for run in runs.values():
        new_trial(run.policy, numbers[0], history)
    title = f"{', '.join(runs)}: {len(numbers)} trials each"
    total = len(policies) * len(numbers) * horizon
    tasks = ((run, row) for row in range(len(numbers)) for run in runs.values())
    with progress_bar.bar(title, total, progress) as update:
        try:
            for _ in runner.run(
                tasks, lambda task: play(*task), workers=workers, tick=lambda: update(work.rounds)
            ):
                pass
        finally:
            work.stopped = True  # after an error or Ctrl-C, running trials end within a piece
    return Result(problem, seed, rounds, runs, engine, stop)


def _empty_history(trials: int, horizon: int) -> dict[str, Any]:
    arms = np.empty((trials, horizon), dtype=np.int32)
    return {"arms": arms, "rewards": np.empty((trials, horizon))}


def _empty_ends(trials: int) -> dict[str, Any]:
    ends = {key: np.empty(trials, dtype=np.int64) for key in ("stopped", "certified")}
    return {**ends, "is_right": np.empty(trials, dtype=np.bool_)}


def _write_end(run: Run, row: int, problem: Problem, rounds: Any, end: int, arm: int) -> None:
    """Write down how a trial ended, and what comes after it."""
    run.stopped[row], run.certified[row] = end, arm
    run.is_right[row] = arm != NOBODY and problem.gaps[arm] == 0
    later = rounds > end
    if later.any():  # so an arm was certified: it is played from then on
        until_end = np.cumsum(run.pulls[row] * problem.gaps)[-1]
        run.regret[row, later] = until_end + (rounds[later] - end) * problem.gaps[arm]
    if run.arms is not None:
        run.arms[row, end:], run.rewards[row, end:] = NOBODY, np.nan


class _Work:
    """Cuts trials into pieces of about `_PIECE` seconds, so that Ctrl-C and progress are prompt."""

    def __init__(self) -> None:
        self.stopped = False
        self.rounds = 0
        self._lock = threading.Lock()
        self._piece: dict[int, int] = {}  # rounds that take about _PIECE seconds, by policy

    def finish(self, trial: Trial, policy: Policy, test: PeakTest | None = None) -> int | None:
        """Play a trial to its end: the arm that was certified, or `NOBODY`; None if interrupted."""
        piece = self._piece.get(id(policy), 64)
        until, found = trial.horizon if test is None else 1, NOBODY
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
                found = test.certified(trial.state.arms["pulls"], trial.state.arms["total"])
                if found != NOBODY:
                    break
                until = min(next_look(until), trial.horizon)
        with self._lock:
            self.rounds += trial.horizon - trial.round
        self._piece[id(policy)] = piece
        return found
