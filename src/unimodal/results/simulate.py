"""Trials over threads or an executor: the same numbers for any number of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from typing import Any

from unimodal.engines import runner
from unimodal.engines.engine_choice import ENGINES, checkpoint_rounds
from unimodal.engines.late import LATE, Lateness, check_late
from unimodal.errors import (
    LONGEST,
    UnimodalError,
    check_memory,
    real_number,
    refuse_set,
    unknown_name,
    whole_number,
)
from unimodal.policies import Policy, as_policy, told_apart
from unimodal.problems import Problem, Recorded
from unimodal.problems.delays import as_delay
from unimodal.report import progress as progress_bar
from unimodal.results.result import MOST_TRIALS, Result, Run, law_of
from unimodal.results.stopping import StoppingRule, check_stop
from unimodal.results.trial_blocks import play_on
from unimodal.results.trial_plan import Pieces, TrialPlan


def simulate(
    problem: Problem,
    policies: Policy | Sequence[Policy],
    *,
    horizon: int,
    trials: int = 100,
    first_trial: int = 0,
    seed: int = 0,
    engine: str = "auto",
    workers: int | None = None,
    executor: Executor | None = None,
    checkpoints: int | Sequence[int] = 200,
    spacing: str = "log",
    history: bool = False,
    stop: StoppingRule | None = None,
    delay: Any = None,
    time_to_live: float | None = None,
    late: str = "weigh",
    visitors: float = 1.0,
    progress: bool | None = None,
) -> Result:
    """Run every policy on a problem, `trials` times for `horizon` rounds.

    Trial n has its own random streams, made from `seed` and n alone: one for the policy and one for
    the rewards. So results do not depend on `workers` (threads; all cores by default), on the
    number of trials or on which other policies run. With an `executor`, any of
    `concurrent.futures` or that of a Dask client, trials run there instead, in blocks of a few
    seconds, with the same numbers (docs/guide/cluster.md). Without one, machines share the work by
    `first_trial`: trials 0 to 499 here, 500 to 999 there, and `um.merge` puts them together.

    Regret is kept at `checkpoints` rounds, spread evenly on a "log" or "linear" scale
    (`spacing`), or at the rounds you list. `history=True` keeps every arm and reward too.
    A bar shows the progress on a terminal, unless `progress=False`.

    The "step" engine plays every round; the "leap" engine skips those in which nothing can happen,
    exactly: its results have the same law, but not the same numbers for the same seed. "auto" leaps
    where the policy can and the horizon is worth it (5,000 rounds), and steps elsewhere.

    With `stop=um.Certified(0.95)` a trial ends when its leader is certified to be the peak, at the
    latest at the horizon. The result says for each trial in which round it `stopped`, which arm was
    `certified` (-1: none) and whether that `is_right`. Pulls are those until then. Regret at later
    checkpoints is what it would be if the certified arm were played from then on. A stopping rule
    of your own is an object with two methods, `next_look(last)` and `test(problem)`
    (docs/guide/certificates.md); the arm that it ends a trial with stands for the certified one.

    With a `delay`, rewards above 0 come so late, zeros never: a decision without a reward counts as
    0 once its `time_to_live` is over. There are `visitors` in one unit of time, evenly spaced. Only
    what comes in time is earned: regret is against the best arm by that.

    Parameters
    ----------
    problem
        The arms, their graph, means and family.
    policies
        One policy or several. Each is run on its own.
    horizon
        The number of rounds of a trial.
    trials
        How often each policy is run.
    first_trial
        The number of the first trial, for a part of a larger simulation.
    seed
        Determines every random number.
    engine
        "auto", "step" or "leap".
    workers
        The number of threads; one per core by default.
    executor
        Runs the trials instead of threads: any executor of `concurrent.futures`.
    checkpoints
        At how many rounds regret is kept, or a list of these rounds.
    spacing
        "log" or "linear": how checkpoints are spread.
    history
        Whether every arm and reward is kept, too.
    stop
        Ends a trial early: `um.Certified`, or a rule of your own.
    delay
        How late rewards come: a law of `um.delays`, or a function draw(rng, n).
    time_to_live
        After how much time a decision without a reward counts as 0.
    late
        What decisions count for until then: "weigh", "hold" or "count", as in `Agent`.
    visitors
        How many rounds there are in one unit of time.
    progress
        Whether a bar shows the progress; on a terminal and in a notebook by default.

    Returns
    -------
    Result
        What each policy did, by its name.

    Raises
    ------
    UnimodalError
        If an argument is wrong, or the trials would not fit into memory.

    Examples
    --------
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
    first = whole_number(first_trial, "the 'first_trial'", 0, MOST_TRIALS)
    numbers = range(first, first + whole_number(trials, "the 'trials'", at_most=MOST_TRIALS))
    seed = whole_number(seed, "the 'seed'", 0)
    if stop is not None:
        check_stop(stop, problem, chosen)
        if isinstance(problem, Recorded) and not problem.resampled:
            raise UnimodalError(
                "a certificate holds for independent rewards, got a table in order: take "
                "resampled=True, or leave out 'stop'."
            )
    lateness = checked_lateness(problem, chosen, delay, time_to_live, late, visitors)
    if lateness is not None and (engine == "leap" or stop is not None):
        raise UnimodalError(
            "late rewards are played round by round, to the horizon: leave out engine='leap' and "
            "'stop', or the 'delay'."
        )
    settings = (problem, chosen, rounds, numbers, seed, engine if lateness is None else "step")
    return run_trials(*settings, workers, history, progress, stop, executor, lateness)


def checked_lateness(
    problem: Problem,
    policies: Sequence[Policy],
    delay: Any,
    time_to_live: Any,
    late: Any,
    visitors: Any,
) -> Lateness | None:
    """How late rewards come, if a delay is given."""
    if delay is None:
        if time_to_live is not None:
            raise UnimodalError(
                "a 'time_to_live' is for rewards that come late: give their 'delay', too, such as "
                "um.delays.Exponential(mean=1.0)."
            )
        return None
    law = as_delay(delay)
    law.share_within(1.0, problem.graph)  # it may not fit the arms
    lives = real_number(time_to_live, "the 'time_to_live' of rewards that come late", above=0)
    per_unit = real_number(visitors, "the 'visitors' in one unit of time", above=0)
    if not isinstance(late, str) or late not in LATE:
        raise unknown_name("rule for late rewards", late, LATE)
    for policy in policies:
        check_late(problem, policy, late)
    return Lateness(law, lives, late, per_unit)


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
    stop: StoppingRule | None = None,
    executor: Executor | None = None,
    lateness: Lateness | None = None,
) -> Result:
    """Run trials of these numbers; what `simulate` and a result's `rerun` and `extend` share."""
    workers = checked_workers(workers, executor)
    plan = TrialPlan(problem, rounds, seed, engine, history, stop, lateness)
    each = plan.bytes_a_trial
    check_memory(len(policies) * len(numbers) * each, "what the trials leave behind")
    runs = {policy.name: Run(policy, **plan.empty(len(numbers))) for policy in policies}
    # Parts that cannot be composed (a prior for other arms, …) fail here, before any thread starts.
    for policy in policies:
        plan.new_trial(policy, numbers[0])
    title = f"{', '.join(runs)}: {len(numbers)} trials each"
    arrays = [run.arrays() for run in runs.values()]
    with progress_bar.bar(title, len(policies) * len(numbers) * plan.horizon, progress) as update:
        if executor is None:
            _play_in_threads(plan, arrays, policies, numbers, workers, update)
        else:
            tell = lambda trials: update(trials * plan.horizon)  # noqa: E731
            play_on(executor, plan, arrays, policies, numbers, tell)
    law = law_of(problem, policies)
    return Result(problem, seed, rounds, runs, engine, stop, numbers.start, law, lateness)


def checked_workers(workers: Any, executor: Any) -> int | None:
    """The number of threads; refuses what is no number or no executor, and both at once."""
    threads = None if workers is None else whole_number(workers, "the 'workers'", at_most=10**4)
    if executor is not None and not isinstance(executor, Executor):
        raise UnimodalError(
            "the 'executor' must be a concurrent.futures.Executor, such as that of a Dask client's "
            f"get_executor(), got {executor!r}."
        )
    if executor is not None and workers is not None:
        raise UnimodalError(
            "'workers' are threads of this process, and an 'executor' has its own: give one of "
            "them, or none."
        )
    return threads


def _play_in_threads(
    plan: TrialPlan,
    arrays: list[dict[str, Any]],
    policies: list[Policy],
    numbers: range,
    workers: int | None,
    update: progress_bar.Update,
) -> None:
    """Play all trials in threads, which write into the arrays of each policy."""
    pieces, test = Pieces(), plan.stop_test()

    def play(task: tuple[int, int]) -> None:
        policy, row = task
        plan.play(policies[policy], numbers[row], arrays[policy], row, pieces, test)

    tasks = ((policy, row) for row in range(len(numbers)) for policy in range(len(policies)))
    try:
        for _ in runner.run(tasks, play, workers=workers, tick=lambda: update(pieces.rounds)):
            pass
    finally:
        pieces.stopped = True  # after an error or Ctrl-C, running trials end within a piece
