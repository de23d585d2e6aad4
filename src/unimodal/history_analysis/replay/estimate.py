"""What other policies would have earned in a campaign, and how sure one can be of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unimodal.agents.recorded_history import Recorded
from unimodal.campaigns.reading import at_one_moment
from unimodal.engines import runner
from unimodal.engines.engine_choice import trial_class
from unimodal.errors import UnimodalError, whole_number
from unimodal.history_analysis.replay.logged_rewards import LoggedRewards, read
from unimodal.history_analysis.replay.plausible_means import PlausibleMeans
from unimodal.history_analysis.replay.replay_result import Estimate, Replay
from unimodal.policies import Policy, as_policy, explained, told_apart
from unimodal.problems import Problem
from unimodal.report import progress as progress_bar

FEW = 30  # rewards: of an arm with fewer, the prior says about as much as the log
_MOST = 2 * 10**8  # means held at once: 1.6 GB


def replay(
    campaign: Recorded | str | Path,
    policies: Policy | Sequence[Policy],
    *,
    draws: int = 200,
    seed: int = 0,
    one_peak: bool = True,
    workers: int | None = None,
    progress: bool | None = None,
) -> Replay:
    """Estimate what other policies would have earned in as many rounds as the log has rewards.

    `campaign` is a campaign or the path of its file, which is then only looked at.

    *Why not by weights.* The log gives most arms no chance in most rounds: a leader that is forced
    has propensity 1, arms away from the leader have 0, and so has every arm but one under a policy
    without random draws. Inverse-propensity weighting and rejection replay (Li et al. 2011) need
    all propensities to be positive; here neither exists.

    *What is valid.* The log's choices depend on its past only, so they say nothing more about the
    means, and the posterior of the means given the rewards is the usual one. Means are drawn from
    it `draws` times (`plausible_means.py`), each policy is simulated on each draw, and the mean and
    the 2.5 % and 97.5 % quantiles of what it earned are reported. So the interval holds both what
    the log leaves open about the means and the luck of a single run. The log's own policy is
    simulated too, as a control: what it would earn if it ran again.

    *What is assumed.* Means do not change over time, arms do not influence each other, and the
    means have one peak on the graph (unless `one_peak=False`: then far arms of which the log knows
    little may be anything, and policies that explore them seem better).

    *What cannot be estimated.* What the log hardly tried: `on_prior` is the share of a policy's
    simulated pulls on arms with fewer than 30 rewards in the log. Where it is large, the estimate
    rests on the prior. A graph known by look-ups is simulated only as far as it is known.

    Parameters
    ----------
    campaign
        A campaign, or the path of its file.
    policies
        One policy or several.
    draws
        How many possible worlds are simulated.
    seed
        Determines every random number.
    one_peak
        Whether the means have one peak in all of them.
    workers
        The number of threads; one per core by default.
    progress
        Whether a bar shows the progress.

    Returns
    -------
    Replay
        What each policy would have earned, with an interval.

    Raises
    ------
    UnimodalError
        If the log has no rewards, or the family of its rewards is not covered.

    Examples
    --------
    >>> import unimodal as um
    >>> from unimodal.campaigns.simulated_campaign import simulated_campaign
    >>> campaign = simulated_campaign(um.UTS(), um.problems.triangular(5), rounds=500)
    >>> found = um.replay(campaign, [um.TS()], draws=50)
    >>> found.table["policy"].to_list()
    ['UTS (the log)', 'TS']
    """
    several = policies if isinstance(policies, list | tuple) else [policies]
    chosen = [as_policy(policy) for policy in several]
    draws = whole_number(draws, "the 'draws'", 20)
    seed = whole_number(seed, "the 'seed'", 0)
    log = read(at_one_moment(campaign))
    if draws * log.graph.n_arms > _MOST:
        most = _MOST // log.graph.n_arms
        raise UnimodalError(
            f"draws of all means must fit into memory, {most:,} at most for the "
            f"{log.graph.n_arms:,} arms of this graph, got {draws:,}."
        )
    own = dataclasses.replace(log.policy, name=f"{log.policy.name} (the log)")
    players = {policy.name: policy for policy in [own, *told_apart(chosen)]}
    worlds = list(_worlds(log, draws, seed, one_peak))
    estimates = _played(log, players, worlds, seed, workers, progress)
    notes = (*_assumptions(log, one_peak), *log.notes)
    return Replay(log.rounds, log.earned, log.policy.name, tuple(estimates), notes)


def _worlds(log: LoggedRewards, draws: int, seed: int, one_peak: bool) -> Iterator[Problem]:
    """Problems that the log leaves plausible."""
    told = log.family.told
    if one_peak and told is not log.family:
        raise UnimodalError(
            "replay with one peak must compare means by what is told, got a Scaled family, whose "
            "peak is in money: pass one_peak=False."
        )
    plausible = PlausibleMeans(log.graph, log.wins, log.pulls - log.wins, one_peak, seed)
    width, worth = told.high - told.low, log.of_arms.worth
    for _ in range(draws):
        means = worth(np.minimum(told.low + width * plausible.next(), told.high))
        yield Problem(log.graph, means, log.family)


def _played(
    log: LoggedRewards,
    players: dict[str, Policy],
    worlds: list[Problem],
    seed: int,
    workers: int | None,
    progress: bool | None,
) -> Iterator[Estimate]:
    """Each policy on each world, over threads; what it earned and where it pulled."""
    if workers is not None:
        workers = whole_number(workers, "the 'workers'")
    known = log.pulls >= FEW
    done, total = 0, len(players) * len(worlds) * log.rounds
    with progress_bar.bar(f"{', '.join(players)}: {len(worlds)} draws", total, progress) as bar:
        for name, policy in players.items():

            def play(number: int, policy: Policy = policy) -> tuple[float, float]:
                earned, pulls = play_once(worlds[number], policy, log.rounds, seed, number)
                return earned, float(pulls[~known].sum()) / log.rounds

            found = {0: play(0)}  # alone, so that threads do not compile the same code twice
            for number, one in runner.run(range(1, len(worlds)), play, workers=workers):
                found[number] = one
                bar(done + len(found) * log.rounds)
            done += len(worlds) * log.rounds
            earned, share = np.array([found[number] for number in range(len(worlds))]).T
            yield Estimate(name, earned, float(share.mean()))


def play_once(
    world: Problem, policy: Policy, rounds: int, seed: int, number: int
) -> tuple[float, Any]:
    """One run of a policy: what it earned, and how often it pulled each arm."""
    # Who forgets does not keep what it earned: then every reward is recorded.
    kind = trial_class("auto", world, policy, rounds, policy.forgets)
    last = np.array([rounds], dtype=np.int64)
    with explained(policy):
        trial = kind(world, policy, seed, number, last, policy.forgets)
        trial.finish()
    told, factors = trial.state.arms["total"], trial.state.arms["factor"]
    if policy.forgets:
        told, factors = trial.output.rewards, factors[trial.output.arms]
    return float((factors * told).sum()), trial.pulls


def _assumptions(log: LoggedRewards, one_peak: bool) -> Iterator[str]:
    peak = ", and the means have one peak on the graph" if one_peak else ""
    yield (
        "Propensities cannot be weighed (forced rounds have 1, arms away from the leader 0), so "
        "means are drawn from their posterior, which is valid however the log chose its arms, and "
        "each policy is simulated on every draw."
    )
    yield f"It is assumed that means do not change over time{peak}."
    yield (
        f"'on prior' is the share of pulls on arms with fewer than {FEW} rewards in the log: that "
        "part is not estimated from data."
    )
