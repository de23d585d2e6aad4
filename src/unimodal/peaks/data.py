"""What is known of every arm: pulls and totals, from numbers, an agent or a result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from unimodal.agent import Agent
from unimodal.agent.recorded import known_records
from unimodal.errors import UnimodalError, real_number, whole_number
from unimodal.families import Family, as_family
from unimodal.graphs import Graph
from unimodal.problems import Moving
from unimodal.result import Result


class Data(NamedTuple):
    """A graph, how rewards come about, and what they were."""

    graph: Graph
    family: Family
    pulls: Any  # (arms,)
    totals: Any  # (arms,): the sums of their rewards


def gathered(
    source: Any, pulls: Any, totals: Any, rewards: Any, policy: str | None, trial: int
) -> Data:
    """Graph, family, pulls and totals, from whatever has them."""
    if not isinstance(source, Result) and (policy is not None or trial != 0):
        raise UnimodalError(
            f"policy and trial choose from a Result, got policy={policy!r}, trial={trial!r} with "
            f"{source!r}: leave them out."
        )
    if isinstance(source, Graph):
        return _given(source, pulls, totals, rewards)
    if pulls is not None or totals is not None or rewards is not None:
        raise UnimodalError(
            "pulls, totals and rewards go with a Graph; an Agent or a Result brings its own."
        )
    if isinstance(source, Agent):
        return _of_agent(source)
    if isinstance(source, Result):
        return _of_result(source, policy, trial)
    raise UnimodalError(
        "second_peaks must be given a Graph with pulls and totals, an Agent or a Result, "
        f"got {source!r}."
    )


def _given(graph: Graph, pulls: Any, totals: Any, rewards: Any) -> Data:
    family = as_family(rewards, "second_peaks")
    counts, sums = _per_arm(graph, pulls, "pulls"), _per_arm(graph, totals, "totals")
    for count in counts.tolist():
        whole_number(count, "the 'pulls' of an arm", 0)
    stray = np.flatnonzero((counts == 0) & (sums != 0))
    if len(stray):
        raise UnimodalError(
            "an arm without pulls must have a total of 0, "
            f"got {sums[stray[0]]:g} for arm {graph.label_of(int(stray[0]))!r}."
        )
    anything = min(max(1.0, family.low), family.high)  # an arm without pulls has any mean
    family.check_means(np.where(counts > 0, sums / np.maximum(counts, 1), anything))
    return Data(graph, family, counts, sums)


def _per_arm(graph: Graph, values: Any, name: str) -> Any:
    """One number an arm, from a sequence in the order of the arms or from a mapping by label."""
    if isinstance(values, Mapping):
        array = np.zeros(graph.n_arms)
        for label, value in values.items():
            array[graph.arm_of(label)] = real_number(value, f"the '{name}' of an arm")
        return array
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        array = np.empty(0)
    if array.shape != (graph.n_arms,) or not np.isfinite(array).all():
        raise UnimodalError(
            f"the '{name}' must be a finite number for each of the {graph.n_arms} arms, in their "
            f"order or by label, got {values!r}."
        )
    return array


def _of_agent(agent: Agent) -> Data:
    graph = agent.graph
    if graph is None:
        raise UnimodalError(
            "second_peaks must know every edge, but this agent looks its graph up: "
            "make a Graph of the arms it has met, and give their pulls and totals."
        )
    if agent.policy.forgets:
        raise UnimodalError(
            f"second_peaks needs every reward, but {agent.policy!r} forgets: "
            "give pulls and totals that you kept yourself."
        )
    arms = known_records(agent, graph)
    return Data(graph, agent.rewards, arms["pulls"].astype(np.float64), arms["total"].copy())


def _of_result(result: Result, policy: str | None, trial: int) -> Data:
    if not result.has_history:
        raise UnimodalError("the result must have its rewards: simulate with history=True.")
    if isinstance(result.problem, Moving):
        raise UnimodalError(
            f"second_peaks needs means that stay, got a result of {result.problem!r}: "
            "look at the problem itself, with its check()."
        )
    if policy is None and len(result) > 1:
        raise UnimodalError(f"say which policy to look at: policy='{next(iter(result))}', ….")
    run = result[next(iter(result)) if policy is None else policy]
    number = whole_number(trial, "the 'trial'", 0)
    if number >= result.trials:
        raise UnimodalError(
            f"the 'trial' must be a number below {result.trials}, which this result has, "
            f"got {number}."
        )
    arms, n_arms = run.arms[number], result.problem.graph.n_arms
    counts = np.bincount(arms, minlength=n_arms).astype(np.float64)
    sums = np.bincount(arms, weights=run.rewards[number], minlength=n_arms)
    return Data(result.problem.graph, result.problem.rewards, counts, sums)
