"""An agent on a graph that has changed: what it learnt stays with the arms that stay."""

from __future__ import annotations

from typing import Any

from unimodal.agents.agent import Agent
from unimodal.agents.decisions import RewardsInMemory
from unimodal.agents.saving import assembled, state_data
from unimodal.graphs import Graph
from unimodal.lookup.graph_view import WholeGraphView
from unimodal.policies.forgetting import renumbered_memory
from unimodal.policies.start import Sweep
from unimodal.policies.state import BEGUN, LAST, LEADER


def revised(agent: Agent, graph: Graph) -> Agent:
    """The agent on another graph, where arms are known by their labels.

    New arms have no rewards; after a sweep they are swept, too. Retired ones are forgotten: rewards
    of their open decisions are taken, and teach nothing.
    """
    before = agent.graph
    assert before is not None
    labels = [before.label_of(arm) for arm in range(before.n_arms)]
    numbers = {graph.label_of(arm): arm for arm in range(graph.n_arms)}
    where = [numbers.get(label, -1) for label in labels]
    data = _renumbered(state_data(agent), where, graph.n_arms)
    if isinstance(agent.policy.opening, Sweep):
        known = set(labels)
        data["begin"] += [arm for label, arm in numbers.items() if label not in known]
    new = assembled(
        agent.policy,
        WholeGraphView(graph, agent.policy.scope(graph).arena(graph)),
        agent.family,
        agent.seed,
        data,
    )
    new.clock, new.recorder = agent.clock, agent.recorder
    if not isinstance(agent._book.outcomes, RewardsInMemory):  # which is in the data
        new._book.outcomes = agent._book.outcomes
    return new


def _renumbered(data: dict[str, Any], where: list[int], n_arms: int) -> dict[str, Any]:
    """The state with new numbers for its arms, and without those that have none."""

    def kept(arms: list[int]) -> list[int]:
        return [where[arm] for arm in arms if where[arm] >= 0]

    notes, begin = list(data["notes"]), data["begin"]
    for place in (LAST, LEADER):
        notes[place] = where[notes[place]] if notes[place] >= 0 else -1
    notes[BEGUN] = len(kept(begin[: notes[BEGUN]]))
    decisions = dict(data["decisions"])
    decisions["open"] = [
        [number, where[arm] if arm >= 0 else -1, made] for number, arm, made in decisions["open"]
    ]
    if "arms" in decisions:
        decisions["arms"] = [where[arm] if arm >= 0 else -1 for arm in decisions["arms"]]
    past = data.get("past", {"certify": False, "arms": []})
    stays = [[where[arm], *sums] for arm, *sums in past["arms"] if where[arm] >= 0]
    if stays:
        data = {**data, "past": {**past, "arms": stays}}
    else:
        data = {name: value for name, value in data.items() if name != "past"}
    return {
        **data,
        "notes": notes,
        "begin": kept(begin),
        "links": {
            where[int(arm)]: kept(row) for arm, row in data["links"].items() if where[int(arm)] >= 0
        },
        "arms": [[where[arm], *rest] for arm, *rest in data["arms"] if where[arm] >= 0],
        "seen": [[where[int(arm)], reward] for arm, reward in data["seen"] if where[int(arm)] >= 0],
        "memory": renumbered_memory(data["memory"], where, n_arms),
        "decisions": decisions,
    }
