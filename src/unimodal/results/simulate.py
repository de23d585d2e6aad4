"""Trials over threads: the same numbers for any number of them."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import Any

import numpy as np

from unimodal.engines.capability import why_not_leap
from unimodal.engines.leap import LeapTrial
from unimodal.engines.step import StepTrial
from unimodal.engines.trial import Trial
from unimodal.errors import (
    LONGEST,
    UnimodalError,
    check_memory,
    refuse_set,
    unknown_name,
    whole_number,
)
from unimodal.policies import Policy, as_policy
from unimodal.problems import Problem
from unimodal.report import progress as progress_bar
from unimodal.results.result import ENGINES, Result, Run

MOST_TRIALS, MOST_CHECKPOINTS = 10**9, 10**7
_WORTH_LEAPING = 5000  # rounds; fewer are stepped before the leap engine is loaded
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

    >>> import unimodal as um
    >>> problem = um.problems.triangular(5)
    >>> one = um.simulate(problem, um.UTS(), horizon=1000, trials=3, seed=7, workers=1)
    >>> two = um.simulate(problem, um.UTS(), horizon=1000, trials=3, seed=7, workers=2)
    >>> bool((one["UTS"].regret == two["UTS"].regret).all())
    True
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
    return _run(problem, chosen, rounds, numbers, seed, engine, workers, history, progress)


def rerun(result: Result, *, workers: int | None = None, progress: bool | None = None) -> Result:
    """Run a (loaded) result again from its own specification."""
    return _again(result, range(_checked(result).trials), workers, progress)


def extend(
    result: Result, trials: int, *, workers: int | None = None, progress: bool | None = None
) -> Result:
    """Add trials to a result: the same as if it had been simulated with all of them at once.

    >>> import unimodal as um
    >>> problem = um.problems.triangular(5)
    >>> some = um.simulate(problem, um.UTS(), horizon=100, trials=2)
    >>> um.extend(some, 3).trials
    5
    """
    first = _checked(result).trials
    numbers = range(first, first + whole_number(trials, "the 'trials'", at_most=MOST_TRIALS))
    more = _again(result, numbers, workers, progress)
    runs = {name: result[name].joined(more[name]) for name in result}
    return Result(result.problem, result.seed, result.rounds, runs, result.engine)


def _checked(result: Any) -> Result:
    if not isinstance(result, Result):
        raise UnimodalError(f"what is run again must be a Result, got {result!r}.")
    return result


def _again(result: Result, numbers: range, workers: int | None, progress: bool | None) -> Result:
    """Trials of these numbers, as the result's own were run."""
    settings = (result.problem, result.policies, result.rounds, numbers, result.seed)
    return _run(*settings, result.engine, workers, result.has_history, progress)


def trial_class(engine: str, problem: Problem, policy: Policy, horizon: int, history: bool) -> Any:
    """The kind of trial that an engine plays; "auto" is decided by these and nothing else."""
    if engine == "step":
        return StepTrial
    why = why_not_leap(policy, problem, history)
    if engine == "leap" and why:
        raise UnimodalError(f"{policy.name} cannot leap, since {why}: use engine='step' or 'auto'.")
    return StepTrial if why or (engine == "auto" and horizon < _WORTH_LEAPING) else LeapTrial


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS or Windows
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def checkpoint_rounds(horizon: int, checkpoints: int | Sequence[int], spacing: str) -> Any:
    """The rounds at which regret is kept; the last is the horizon.

    >>> checkpoint_rounds(1000, 4, "log").tolist()
    [1, 10, 100, 1000]
    """
    if not isinstance(spacing, str) or spacing not in ("log", "linear"):
        raise unknown_name("spacing", spacing, ("log", "linear"))
    if isinstance(checkpoints, int | np.integer):
        count = whole_number(checkpoints, "the 'checkpoints'", at_most=MOST_CHECKPOINTS)
        spread = np.geomspace if spacing == "log" else np.linspace
        first = 1 if spacing == "log" else max(horizon // count, 1)
        rounds = np.unique(np.round(spread(first, horizon, count)).astype(np.int64))
    else:
        refuse_set(checkpoints, "the checkpoints")
        if isinstance(checkpoints, str | bytes) or not isinstance(checkpoints, Iterable):
            raise UnimodalError(
                f"the checkpoints must be a whole number or a list of rounds, got {checkpoints!r}."
            )
        listed = [whole_number(c, "a checkpoint") for c in checkpoints]
        if any(c > horizon for c in listed):
            raise UnimodalError(
                f"a checkpoint must not lie beyond the horizon of {horizon}, got {max(listed)}."
            )
        rounds = np.unique(np.asarray(listed, dtype=np.int64))
    if not len(rounds) or rounds[-1] != horizon:
        rounds = np.append(rounds, horizon).astype(np.int64)
    return rounds


def named(policies: Policy | Sequence[Policy]) -> list[Policy]:
    """One policy or several as a list, in which no name comes twice."""
    refuse_set(policies, "the policies")
    several = isinstance(policies, Iterable) and not isinstance(policies, str | type)
    chosen: list[Any] = list(policies) if several else [policies]  # type: ignore[arg-type]
    if not chosen:
        raise UnimodalError("there must be at least one policy, got none.")
    names: set[str] = set()
    for policy in chosen:
        as_policy(policy)
        if policy.name in names:
            raise UnimodalError(
                f"policies must have different names, got two called '{policy.name}': "
                f"give one another, such as {type(policy).__name__}(…, name='{policy.name} 2')."
            )
        names.add(policy.name)
    return chosen


def _run(
    problem: Problem,
    policies: list[Policy],
    rounds: Any,
    numbers: range,
    seed: int,
    engine: str,
    workers: int | None,
    history: bool,
    progress: bool | None,
) -> Result:
    workers = cores() if workers is None else whole_number(workers, "the 'workers'", at_most=10**4)
    horizon, n_arms = int(rounds[-1]), problem.graph.n_arms
    each = 8 * (len(rounds) + n_arms) + (12 * horizon if history else 0)
    check_memory(len(policies) * len(numbers) * each, "what the trials leave behind")
    kept = horizon if history else 0
    runs = {
        policy.name: Run(
            policy,
            np.empty((len(numbers), len(rounds))),
            np.empty((len(numbers), n_arms), dtype=np.int64),
            np.empty((len(numbers), kept), dtype=np.int32) if history else None,
            np.empty((len(numbers), kept)) if history else None,
            np.empty(len(numbers), dtype=np.int64),
        )
        for policy in policies
    }
    work = _Work()

    def new_trial(policy: Policy, number: int, history: bool) -> Trial:
        kind = trial_class(engine, problem, policy, horizon, history)
        trial: Trial = kind(problem, policy, seed, number, rounds, history)
        return trial

    def play(run: Run, row: int) -> None:
        trial = new_trial(run.policy, numbers[row], history)
        if not work.finish(trial, run.policy):
            return
        run.regret[row] = trial.output.regret
        run.pulls[row], run.restarts[row] = trial.pulls, trial.restarts
        if history:
            run.arms[row], run.rewards[row] = trial.output.arms, trial.output.rewards

    # Parts that cannot be composed (a prior for other arms, …) fail here, before any thread starts.
    for run in runs.values():
        new_trial(run.policy, numbers[0], history)
    title = f"{', '.join(runs)}: {len(numbers)} trials each"
    total = len(policies) * len(numbers) * horizon
    pool = ThreadPoolExecutor(workers, thread_name_prefix="unimodal")
    with progress_bar.bar(title, total, progress) as update:
        try:
            pending: set[Future[None]] = {
                pool.submit(play, run, row) for row in range(len(numbers)) for run in runs.values()
            }
            while pending:
                done, pending = wait(pending, timeout=0.1, return_when=FIRST_EXCEPTION)
                for future in done:
                    future.result()
                update(work.rounds)
        finally:
            work.stopped = True  # after an error or Ctrl-C, running trials end within a piece
            pool.shutdown(wait=False, cancel_futures=True)
    return Result(problem, seed, rounds, runs, engine)


class _Work:
    """Cuts trials into pieces of about `_PIECE` seconds, so that Ctrl-C and progress are prompt."""

    def __init__(self) -> None:
        self.stopped = False
        self.rounds = 0
        self._lock = threading.Lock()
        self._piece: dict[int, int] = {}  # rounds that take about _PIECE seconds, by policy

    def finish(self, trial: Trial, policy: Policy) -> bool:
        """Play a trial to its end; False if it was stopped before."""
        piece = self._piece.get(id(policy), 64)
        while trial.round < trial.horizon:
            if self.stopped:
                return False
            before, began = trial.round, time.perf_counter()
            trial.advance(piece)
            took = time.perf_counter() - began
            # Grow slowly: the first piece includes compilation, and early rounds may be cheap.
            grown = np.clip(piece * _PIECE / max(took, 1e-9), piece / 4, piece * 4)
            piece = min(int(grown) + 1, LONGEST)
            with self._lock:
                self.rounds += trial.round - before
        self._piece[id(policy)] = piece
        return True
