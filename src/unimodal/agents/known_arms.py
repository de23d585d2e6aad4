"""What an agent knows of its arms: the graph that it has met, records, pulls and totals."""

from __future__ import annotations

from typing import Any

import numpy as np

from unimodal.agents.agent import Agent
from unimodal.errors import UnimodalError
from unimodal.graphs import Graph
from unimodal.graphs.build import components, lay_out
from unimodal.policies.state import set_factors, set_prior


def known_graph(agent: Agent) -> Graph:
    """The graph an agent moves on; where it is looked up, the part around the leader that is known.

    An arm that was never looked up has only the edges by which it was met.

    >>> import unimodal as um
    >>> agent = um.Agent(um.ScoutUTS(), lambda x: (x - 1, x + 1), root=0, seed=1)
    >>> agent.tell(agent.ask(), 1.0)
    >>> arm = agent.ask()
    >>> known_graph(agent).arm_of(0)
    0
    """
    if agent.graph is not None:
        return agent.graph
    view: Any = agent._player.view
    centre = view.labels[0] if agent.leader is None else agent.leader
    numbers: dict[Any, int] = {centre: 0}
    pairs = set()
    for label, answer in view.answers.kept():
        for other in answer:
            one, two = (numbers.setdefault(x, len(numbers)) for x in (label, other))
            pairs.add((min(one, two), max(one, two)))
    if not pairs:
        raise UnimodalError(
            "nothing is known of the graph yet, since no arm was looked up: decide some arms first."
        )
    ends = np.array(sorted(pairs), dtype=np.int64)
    joined = components(len(numbers), ends[:, 0], ends[:, 1])
    inside = joined == joined[0]  # of what was forgotten, islands may remain: without the leader
    kept = np.cumsum(inside) - 1
    ends = kept[ends[inside[ends[:, 0]]]]
    labels = [label for label, arm in numbers.items() if inside[arm]]
    return lay_out(len(labels), ends[:, 0], ends[:, 1], {"kind": "edges"}, labels)


def known_records(agent: Agent, graph: Graph, arms: Any = None) -> Any:
    """What the agent knows of the arms of a graph, in their order; a prior of those not met.

    `arms` are its records by default.
    """
    arms = agent._player.state.arms if arms is None else arms
    if agent.graph is not None:
        return arms
    records = np.zeros(graph.n_arms, dtype=arms.dtype)
    set_prior(records, agent.family, agent.policy.beliefs)
    set_factors(records, agent.family, graph.labels)
    view: Any = agent._player.view
    met = {label: arm for arm, label in enumerate(view.labels)}
    for arm, label in enumerate(graph.labels):
        if label in met:
            records[arm] = arms[met[label]]
    return records


def evidence_sums(agent: Agent, graph: Graph) -> tuple[Any, Any]:
    """The pulls and totals of the arms of a graph that count as evidence.

    Past data count only where the caller said that they are of the same kind (`certify=True`).
    """
    records = known_records(agent, graph, agent._player.learnt_records())
    pulls, totals = records["pulls"].astype(np.float64), records["total"].copy()
    past = agent.past
    if past.pulls.any() and not past.certify:  # then the graph is held: the numbers are its own
        pulls -= past.pulls
        totals = np.where(pulls > 0, totals - past.totals, 0.0)
    return pulls, totals


def past_pulls(agent: Agent, graph: Graph) -> Any:
    """How many pulls of each arm of a graph are from past data, which need a graph that is held."""
    return np.zeros(graph.n_arms, np.int64) if is_partial(agent) else agent.past.pulls


def rounds_led(agent: Agent, graph: Graph) -> Any:
    """In how many rounds each arm of a graph led, without what past data count as.

    The first logs with past data did not count them as leads: there, arms led less often.
    """
    leads, past = known_records(agent, graph)["leads"], past_pulls(agent, graph)
    counted = agent.policy.data_leads and bool((leads >= past).all())
    return leads - past if counted else leads


def is_partial(agent: Agent) -> bool:
    """Whether there may be arms that the agent has not met."""
    return agent.graph is None
