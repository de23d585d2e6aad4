"""What counts as evidence of an agent's rewards: in the order of decisions, not of arrival.

If successes are told at once and failures after a day, the rewards that have come are not a fair
sample of those that will. So rewards count up to the oldest decision that has none yet, and so do
those that were told without a decision: for certificates and for second peaks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unimodal.agents.agent import Agent
from unimodal.agents.decisions import RewardsInMemory
from unimodal.agents.known_arms import evidence_sums, is_partial, known_graph, known_records
from unimodal.agents.propensity import thompson_wins
from unimodal.errors import UnimodalError
from unimodal.families.posteriors import cdf, is_known, quantile
from unimodal.graphs import Graph
from unimodal.inference.certificate import (
    DROPPED,
    EXPIRED_AS_ZERO,
    PAST,
    Belief,
    Certificate,
    Counted,
    certify,
)
from unimodal.inference.peak_test import Numbering
from unimodal.policies import Policy

_MOST = 60  # arms of a neighbourhood that a belief is told of
_POINTS = 4_001  # of an integral over means
_FAR = 1e-9  # of a posterior, on either side of that integral


def certificate(agent: Agent, confidence: Any, tolerance: Any) -> Certificate:
    """The certificate of an agent that keeps its rewards itself."""
    check_policy(agent.policy)
    graph = played_graph(agent)
    pulls, totals, waiting = counted_sums(agent, graph)
    decided, _ = _decided(agent)
    late = decided[len(decided) // 2 :]
    recent = _summed(agent, graph, late, np.ones(len(late))) if len(late) else pulls
    paused = list(agent._player.limits.paused)
    pulls[paused] = totals[paused] = recent[paused] = 0.0
    counted = Counted(
        graph.labels,
        known_neighbours(agent, graph),
        agent.family.of_arms(graph.labels),
        pulls,
        totals,
        _numbering(agent, graph),
        recent,
        waiting,
        assumptions(agent, _any_dropped(agent)),
        obstacle(agent, expired(agent) > 0),
        past_left_out(agent),
    )
    return certify(counted, confidence, tolerance, believed(agent, graph))


def counted_sums(
    agent: Agent, graph: Graph
) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
    """Pulls and totals by arm of the rewards that count, and how many more wait for a decision."""
    pulls, totals = evidence_sums(agent, graph)
    if not agent.book.open:
        return pulls, totals, 0
    arms, rewards = _told_behind(agent, int(pulls.sum()))
    pulls -= _summed(agent, graph, arms, np.ones(len(arms)))
    totals -= _summed(agent, graph, arms, rewards)
    return pulls, np.where(pulls > 0, totals, 0.0), len(arms)


def check_policy(policy: Policy) -> None:
    """Refuse a policy that forgets: it is for means that move, and they have no lasting peak."""
    if policy.forgets:
        raise UnimodalError(
            f"a certificate needs means that do not move, but {policy!r} forgets, as is done where "
            "they do: use a policy that keeps every reward."
        )


def played_graph(agent: Agent) -> Graph:
    """The graph on which an agent plays, without paused arms; of a looked up one what is known."""
    return known_graph(agent) if is_partial(agent) else agent._player.view.played  # type: ignore[union-attr]


def assumptions(agent: Agent, dropped: bool) -> tuple[str, ...]:
    """What a certificate has to say about the rewards that it counts."""
    past = PAST if agent.past.certify and agent.past.pulls.any() else ""
    return tuple(filter(None, (DROPPED if dropped else "", past)))


def obstacle(agent: Agent, any_expired: bool) -> str | None:
    """Why nothing can be told at a confidence, if expiries have made rewards of no family."""
    return EXPIRED_AS_ZERO if any_expired and agent.book.spoils_evidence else None


def past_left_out(agent: Agent) -> int:
    """As how many rewards past data count for an agent, where they do not for its certificate."""
    return 0 if agent.past.certify else int(agent.past.pulls.sum())


def known_neighbours(agent: Agent, graph: Graph) -> Callable[[int], Any]:
    """The neighbours of an arm of the graph as far as it is known, or None where they are not."""
    if agent.graph is not None:
        return graph.neighbors
    view: Any = agent._player.view
    looked_up = {label for label, _ in view.answers.kept()}

    def neighbours(arm: int) -> Any:
        return graph.neighbors(arm) if graph.label_of(arm) in looked_up else None

    return neighbours


def believed(agent: Agent, graph: Graph) -> Callable[[int, NDArray[np.int64]], Belief | None]:
    """What the posterior says of an arm of a graph and its neighbours."""

    def belief(leader: int, near: NDArray[np.int64]) -> Belief | None:
        if not is_known(agent.family):
            return None
        family, records = agent.family, known_records(agent, graph)
        hopeful = np.argsort(-quantile(family, records[near], 0.999), kind="stable")[:_MOST]
        chosen = np.concatenate([[leader], near[hopeful]])
        best = {}
        for place, arm in enumerate(chosen):
            rivals = records[np.delete(chosen, place)]
            best[graph.label_of(int(arm))] = thompson_wins(family, records[arm : arm + 1], rivals)
        return Belief(best=best, expected_loss=_expected_loss(family, records[chosen]))

    return belief


def _expected_loss(family: Any, records: Any) -> float:
    """How much better the best is expected to be than the first: ∫ F_first - Π F_arm."""
    ends = quantile(family, records, np.array([[_FAR], [1.0 - _FAR]]))
    levels = np.linspace(ends[0].min(), ends[1].max(), _POINTS)
    below = cdf(family, records, levels[:, np.newaxis])
    return float(np.trapezoid(below[:, 0] - below.prod(axis=1), levels))


def _decided(agent: Agent) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The arms of all decisions, and their rewards (NaN: none)."""
    return _in_memory(agent).as_arrays(agent.book.made)


def _in_memory(agent: Agent) -> RewardsInMemory:
    if not isinstance(agent.book.outcomes, RewardsInMemory):
        raise UnimodalError(
            "the agent of a campaign does not keep the order of its rewards, which is in the log: "
            "ask the campaign itself, as by campaign.certificate()."
        )
    return agent.book.outcomes


def _told_behind(agent: Agent, counted: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Arms and rewards that came behind the oldest open decision, of so many rewards in all."""
    outcomes, book, oldest = _in_memory(agent), agent.book, next(iter(agent.book.open))
    arms, rewards = _decided(agent)
    closed_so_far = book.made - len(book.open) - (expired(agent) if book.on_expiry == "drop" else 0)
    is_told_unseen = outcomes.behind is None and counted > closed_so_far
    if len(arms) < book.made or is_told_unseen:
        raise UnimodalError(
            "the agent was saved by an earlier version, which did not keep the order in which its "
            "rewards came: tell the rewards of all open decisions, and ask again."
        )
    closed = np.flatnonzero(~np.isnan(rewards[oldest:])) + oldest
    told = [each for each in outcomes.behind or () if each.made >= oldest]
    return (
        np.concatenate([arms[closed], np.array([each.arm for each in told], dtype=np.int64)]),
        np.concatenate([rewards[closed], np.array([each.reward for each in told])]),
    )


def expired(agent: Agent) -> int:
    """How many decisions were closed without a reward."""
    _, rewards = _decided(agent)
    return int(np.isnan(rewards).sum()) - len(agent.book.open)


def _any_dropped(agent: Agent) -> bool:
    return agent.book.on_expiry == "drop" and expired(agent) > 0


def _numbering(agent: Agent, graph: Graph) -> Numbering:
    """By first pulls, unless the graph is held and has stayed."""
    if not is_partial(agent) and not agent._player.graph_changed:
        return Numbering(graph.n_arms)
    first = agent._player.first_pulls
    if first is None:
        raise UnimodalError(
            "the agent was saved by an earlier version, which did not keep the order in which arms "
            "were first pulled: a certificate needs it here."
        )
    order = np.arange(1, len(first) + 1)
    numbers = _summed(agent, graph, np.array(list(first)), order).astype(np.int64)
    return Numbering(graph.n_arms, numbers, len(first))


def _summed(agent: Agent, graph: Graph, arms: Any, values: Any) -> NDArray[np.float64]:
    """Sums of values, each of an arm of the agent's, by the arms of the graph as it is known."""
    arms = np.asarray(arms, dtype=np.int64)
    if agent.graph is None:
        view: Any = agent._player.view
        numbers = {label: arm for arm, label in enumerate(graph.labels)}
        arms = np.array([numbers.get(view.label_of(arm), -1) for arm in arms.tolist()], dtype=int)
    return sums_by_arm(arms, values, graph.n_arms)


def sums_by_arm(arms: Any, values: Any, n_arms: int) -> NDArray[np.float64]:
    """Sums of values, each of an arm; those of arm -1 are left out."""
    arms, found = np.asarray(arms, dtype=np.int64), np.zeros(n_arms)
    known = arms >= 0
    np.add.at(found, arms[known], np.asarray(values)[known])
    return found
