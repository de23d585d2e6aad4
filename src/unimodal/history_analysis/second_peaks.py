"""Does the mean reward have one peak? What the rewards so far can say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from unimodal.agents import Agent
from unimodal.agents.certifying import counted_sums as counted_by_agent
from unimodal.agents.certifying import expired, obstacle
from unimodal.agents.recorded_history import Recorded
from unimodal.campaigns.certifying import counted_sums as counted_by_log
from unimodal.campaigns.certifying import obstacle_of
from unimodal.campaigns.log_facts import LogFacts
from unimodal.campaigns.reading import with_facts
from unimodal.errors import UnimodalError, real_number, whole_number
from unimodal.families import Family, as_family
from unimodal.graphs import Graph
from unimodal.inference.certificate import OBSTACLES
from unimodal.inference.peak_test import check_confidence
from unimodal.inference.several_peaks import RewardSums, SecondPeaks, peaks_of
from unimodal.problems import Moving
from unimodal.results.result import Result


def second_peaks(
    source: Graph | Agent | Result | Recorded,
    pulls: Any = None,
    totals: Any = None,
    *,
    family: Family | None = None,
    confidence: float = 0.95,
    policy: str | None = None,
    trial: int = 0,
) -> SecondPeaks:
    """Which arms stand on a hill of their own, apart from the best arm's.

    `source` is a graph, with the number of `pulls` of every arm and the `totals` of their rewards
    (in the order of the arms, or by label); or a campaign, or an agent on a graph; or a result with
    its history, of which one `policy` and one `trial` are looked at. Rewards of a campaign or an
    agent count as those of a certificate: in the order of decisions, up to the oldest open one.

    Two arms stand on different hills if every path between them passes an arm that is worse than
    both. Every arm has bounds low ≤ μ ≤ high (`inference/confidence_bounds.py`). The arms that can
    be as good as c are those with high ≥ c. An arm with low = c is reported if another with
    low ≥ c is not joined to it by a path of such arms.

    *False alarms.* If the means have one peak (plateaus are allowed), any arm is reported with
    probability at most 1 - `confidence`, whoever chose the pulls and however often one looks.
    Proof: an arm's bounds fail in any round with probability at most (1 - `confidence`)/K, so all
    hold in all rounds with probability at least `confidence`. While they hold, let arm a be
    reported because of arm b. Then μ_a ≥ c and μ_b ≥ c, and every arm with μ ≥ c has high ≥ c; so
    a and b lie in different connected parts of {μ ≥ c}. All that surrounds a part is below c, and
    so below the best arms of the part: the means have at least two peaks. ∎

    It takes rewards that are independent given the arm, of the `family` (a campaign, an agent and a
    result bring theirs; `Bounded` is any law in [a, b]), with means that do not drift.

    Parameters
    ----------
    source
        A graph, a campaign, an agent, or a result with its history.
    pulls
        The number of rewards of each arm, with a graph.
    totals
        The sum of the rewards of each arm, with a graph.
    family
        The law of the rewards, with a graph.
    confidence
        At which a second peak is reported.
    policy
        Which policy of a result.
    trial
        Which trial of a result.

    Returns
    -------
    SecondPeaks
        The peaks besides the best one; true if there are any.

    Examples
    --------
    >>> import unimodal as um
    >>> line = um.graphs.line(5)
    >>> found = um.second_peaks(line, pulls=[400] * 5, totals=[120, 320, 80, 280, 100])
    >>> [peak.arm for peak in found]
    [3]
    >>> print(found)
    More than one peak, at 95 % confidence. The best seems arm 1: mean 0.8 (0.714 to 0.871), ...
    Another hill: arm 3: mean 0.7 (0.605 to 0.785), 400 pulls. Confidence 99.9999 %.
    A policy that stays around its leader can be stuck on a lower peak: ...
    >>> print(um.second_peaks(line, pulls=[400] * 5, totals=[120, 320, 310, 310, 100]))
    No second peak shows at 95 % confidence. ...
    """
    level = check_confidence(confidence)
    return peaks_of(gathered(source, pulls, totals, family, policy, trial), level)


def gathered(
    source: Any, pulls: Any, totals: Any, family: Any, policy: str | None, trial: int
) -> RewardSums:
    """Graph, family, pulls and totals, from whatever has them."""
    if not isinstance(source, Result) and (policy is not None or trial != 0):
        raise UnimodalError(
            f"policy and trial choose from a Result, got policy={policy!r}, trial={trial!r} with "
            f"{source!r}: leave them out."
        )
    if isinstance(source, Graph):
        return _given(source, pulls, totals, family)
    if pulls is not None or totals is not None or family is not None:
        raise UnimodalError(
            "pulls, totals and family go with a Graph; an Agent or a Result brings its own."
        )
    if isinstance(source, Agent):
        graph = _held_graph(source)
        if source.book.spoils_evidence:
            _refuse(obstacle(source, expired(source) > 0))
        pulls, totals, _ = counted_by_agent(source, graph)
        return RewardSums(graph, source.family.of_arms(graph.labels), pulls, totals)
    if isinstance(source, Result):
        return _of_result(source, policy, trial)
    if callable(getattr(source, "history", None)) and not isinstance(source, type):
        return _of_log(source)
    raise UnimodalError(
        "second_peaks must be given a Graph with pulls and totals, a Campaign, an Agent or a "
        f"Result, got {source!r}."
    )


def _given(graph: Graph, pulls: Any, totals: Any, family: Any) -> RewardSums:
    family = as_family(family, "second_peaks").on(graph)
    counts, sums = _per_arm(graph, pulls, "pulls"), _per_arm(graph, totals, "totals")
    for count in counts.tolist():
        whole_number(count, "the 'pulls' of an arm", 0)
    stray = np.flatnonzero((counts == 0) & (sums != 0))
    if len(stray):
        raise UnimodalError(
            "an arm without pulls must have a total of 0, "
            f"got {sums[stray[0]]:g} for arm {graph.label_of(int(stray[0]))!r}."
        )
    told = family.told
    anything = min(max(1.0, told.low), told.high)  # an arm without pulls has any mean
    told.check_means(np.where(counts > 0, sums / np.maximum(counts, 1), anything))
    return RewardSums(graph, family.of_arms(graph.labels), counts, sums)


def _per_arm(graph: Graph, values: Any, name: str) -> Any:
    """One number per arm, from a sequence in the order of the arms or from a mapping by label."""
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


def _of_log(campaign: Recorded) -> RewardSums:
    """What counts of a campaign's rewards, from its agent and its log."""

    def summed(agent: Agent, facts: LogFacts) -> RewardSums:
        graph = _held_graph(agent)
        _refuse(obstacle_of(agent, facts))
        sums = counted_by_log(agent, facts, graph)
        return RewardSums(graph, agent.family.of_arms(graph.labels), *sums)

    return with_facts(campaign, summed)


def _refuse(found: str | None) -> None:
    if found is not None:
        raise UnimodalError(f"second peaks cannot be told here: {OBSTACLES[found]}.")


def _held_graph(agent: Agent) -> Graph:
    if agent.graph is None:
        raise UnimodalError(
            "second_peaks must know every edge, but this agent looks its graph up: "
            "make a Graph of the arms it has met, and give their pulls and totals."
        )
    if agent.policy.forgets:
        raise UnimodalError(
            f"second_peaks needs every reward, but {agent.policy!r} forgets: "
            "give pulls and totals that you kept yourself."
        )
    return agent.graph


def _of_result(result: Result, policy: str | None, trial: int) -> RewardSums:
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
    if number >= result.n_trials:
        raise UnimodalError(
            f"the 'trial' must be a number below {result.n_trials}, which this result has, "
            f"got {number}."
        )
    last = None if run.stopped is None else run.stopped[number]  # of a trial that was certified
    arms, n_arms = run.arms[number, :last], result.problem.graph.n_arms
    counts = np.bincount(arms, minlength=n_arms).astype(np.float64)
    sums = np.bincount(arms, weights=run.rewards[number, :last], minlength=n_arms)
    graph = result.problem.graph
    return RewardSums(graph, result.problem.family.of_arms(graph.labels), counts, sums)
