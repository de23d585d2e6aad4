"""What every policy must do."""

from __future__ import annotations

import copy
import math
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from unimodal.agents import Agent
from unimodal.families import Family
from unimodal.graphs import Graph, grid
from unimodal.policies import Policy
from unimodal.problems import Problem, by_distance, triangular
from unimodal.results.result import Run
from unimodal.results.simulate import simulate

HORIZON, SEED = 600, 11


def check_policy(policy: Policy, family: Family | None = None, graph: Graph | None = None) -> None:
    """Run every check; the first that fails raises an AssertionError that says what was expected.

    Parameters
    ----------
    policy
        The policy to check.
    family
        The law of the rewards; Bernoulli by default.
    graph
        Where it plays, without labels; a grid of 3 × 3 arms by default.

    Raises
    ------
    AssertionError
        If a check fails; it says what was expected.

    Examples
    --------
    >>> import unimodal as um
    >>> check_policy(um.UTS())
    """
    for check in CHECKS:
        check(policy, family, graph)


def problem_for(family: Family | None, graph: Graph | None = None) -> Problem:
    """A small problem with means that the family has, and its peak at the middle arm."""
    graph = grid(3, 3) if graph is None else graph
    return by_distance(graph, graph.n_arms // 2, *span(family), family=family)


def span(family: Family | None) -> tuple[float, float]:
    """A high and a low mean that the family has: 0.9 and 0.1, or as far from the ends of it."""
    low, high = (0.0, 1.0) if family is None else (family.low, family.high)
    if low <= 0.1 and high >= 0.9:
        return 0.9, 0.1
    if math.isfinite(low) and math.isfinite(high):
        return low + 0.9 * (high - low), low + 0.1 * (high - low)
    return (low + 0.9, low + 0.1) if math.isfinite(low) else (high - 0.1, high - 0.9)


def _play(policy: Policy, family: Family | None, graph: Graph | None, **options: Any) -> Run:
    settings: dict[str, Any] = {"horizon": HORIZON, "trials": 2, "seed": SEED, "history": True}
    result = simulate(problem_for(family, graph), policy, **(settings | options))
    return next(iter(result.values()))


def is_data(policy: Policy, family: Family | None = None, graph: Graph | None = None) -> None:
    """A policy prints as itself, equals its copy, and cannot be changed."""
    assert copy.deepcopy(policy) == policy, f"a copy of {policy!r} must be equal to it"
    assert repr(policy).startswith(type(policy).__name__ + "("), f"repr must name it: {policy!r}"
    try:
        policy.name = "other"  # type: ignore[misc]
    except AttributeError:
        return
    raise AssertionError(f"{policy!r} must be frozen")


def pulls_one_arm_a_round(
    policy: Policy, family: Family | None = None, graph: Graph | None = None
) -> None:
    """Every round has one arm of the graph, and the counts say so."""
    run, n_arms = _play(policy, family, graph), problem_for(family, graph).graph.n_arms
    counts = [np.bincount(arms, minlength=n_arms) for arms in run.arms]
    assert all(len(count) == n_arms for count in counts), "every arm must be one of the graph's"
    assert (run.pulls == counts).all(), "the counts must be those of the arms pulled"
    assert (run.pulls.sum(axis=1) == HORIZON).all(), "there must be one pull per round"


def repeats_itself(
    policy: Policy, family: Family | None = None, graph: Graph | None = None
) -> None:
    """The same seed gives the same arms, on any number of threads; another trial, others."""
    one, two = _play(policy, family, graph, workers=1), _play(policy, family, graph, workers=2)
    assert (one.arms == two.arms).all(), "the same seed must give the same arms"
    assert (one.rewards == two.rewards).all(), "the same seed must give the same rewards"
    assert (one.arms[0] != one.arms[1]).any(), "two trials must have streams of their own"


def does_not_look_ahead(
    policy: Policy, family: Family | None = None, graph: Graph | None = None
) -> None:
    """A longer horizon begins with the same rounds."""
    short, long = _play(policy, family, graph, horizon=HORIZON // 2), _play(policy, family, graph)
    assert (long.arms[:, : HORIZON // 2] == short.arms).all(), "arms must not depend on the horizon"


def agent_does_the_same(
    policy: Policy, family: Family | None = None, graph: Graph | None = None
) -> None:
    """An agent that is told the rewards of trial 0 asks for its arms."""
    run, problem = _play(policy, family, graph), problem_for(family, graph)
    agent = Agent(policy, problem.graph, problem.family, SEED)
    for number, (arm, reward) in enumerate(zip(run.arms[0], run.rewards[0], strict=True)):
        asked = agent.ask()
        assert asked == arm, f"the agent asked for {asked} in round {number + 1}, not for {arm}"
        agent.tell(asked, reward)


def agent_survives_saving(
    policy: Policy, family: Family | None = None, graph: Graph | None = None
) -> None:
    """An agent saved and loaded goes on as if nothing had happened."""
    run, problem = _play(policy, family, graph), problem_for(family, graph)
    agent = Agent(policy, problem.graph, problem.family, SEED)
    with tempfile.TemporaryDirectory() as folder:
        for number, (arm, reward) in enumerate(zip(run.arms[0], run.rewards[0], strict=True)):
            if number in (0, 4, HORIZON // 2):  # before, within and after a start
                path = agent.save(Path(folder) / "agent.json")
                agent = Agent.load(path, policy=policy)
            assert agent.ask() == arm, f"after loading, round {number + 1} differs"
            agent.tell(arm, reward)


def takes_late_rewards(
    policy: Policy, family: Family | None = None, graph: Graph | None = None
) -> None:
    """Batches may be asked for, and told later and in another order."""
    problem = problem_for(family, graph)
    agent = Agent(policy, problem.graph, problem.family, SEED)
    for _ in range(20):
        arms: Any = agent.ask(7)
        assert len(arms) == 7 and set(arms) <= set(problem.graph.labels), (
            f"ask(7) must give 7 arms, got {arms}"
        )
        agent.tell(arms[::-1], problem.means[arms[::-1]].round())
    assert agent.round == 140, "each arm asked for is a round"


def keeps_to_limits(
    policy: Policy, family: Family | None = None, graph: Graph | None = None
) -> None:
    """An arm that is paused is not chosen, a saved agent keeps to that, and the arm comes back."""
    problem = problem_for(family, graph)
    agent, peak = Agent(policy, problem.graph, problem.family, SEED), problem.best_arm
    with tempfile.TemporaryDirectory() as folder:
        for number in range(120):
            if number == 40:
                agent.pause(peak)
                agent = Agent.load(agent.save(Path(folder) / "agent.json"), policy=policy)
            if number == 80:
                agent.resume(peak)
            arm: Any = agent.ask()
            assert arm != peak or not 40 <= number < 80, "an arm that is paused must not be chosen"
            agent.tell(arm, problem.means[arm].round())
    kept = agent.arms()["pulls"].sum()
    assert policy.forgets or kept == 120, f"a pause must lose no reward, got {kept} of 120"


def learns(policy: Policy, family: Family | None = None, graph: Graph | None = None) -> None:
    """On an easy problem the best arm is pulled most, in at least 8 of 10 trials."""
    problem = triangular(3, *span(family), family=family)
    run = next(iter(simulate(problem, policy, horizon=3000, trials=10, seed=SEED).values()))
    found = int((run.pulls.argmax(axis=1) == problem.best_arm).sum())
    assert found >= 8, f"the best of three arms was pulled most in only {found} of 10 trials"


CHECKS: list[Callable[..., None]] = [
    is_data,
    pulls_one_arm_a_round,
    repeats_itself,
    does_not_look_ahead,
    agent_does_the_same,
    agent_survives_saving,
    takes_late_rewards,
    keeps_to_limits,
    learns,
]
