"""An agent on a graph that has changed: what it learnt stays with the arms that stay."""

from __future__ import annotations

from typing import Any

from unimodal.agents.agent import Agent
from unimodal.agents.decisions import RewardsInMemory
from unimodal.agents.late import renumbered_late
from unimodal.agents.limits import (
    check_some_left,
    checked_cap,
    paused_after,
    renumbered_limits,
)
from unimodal.agents.saving import assembled, state_data
from unimodal.errors import UnimodalError
from unimodal.graphs import Graph
from unimodal.graphs.bypass import bypassed
from unimodal.lookup.graph_view import WholeGraphView
from unimodal.policies.forgetting import renumbered_memory
from unimodal.policies.policy import arena_of
from unimodal.policies.scope import has_leader
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
    if "limits" in data:
        data["limits"] = renumbered_limits(data["limits"], where)
        check_some_left(len(data["limits"]["paused"]), graph.n_arms)
    if isinstance(agent.policy.opening, Sweep):
        known = set(labels)
        data["begin"] += [arm for label, arm in numbers.items() if label not in known]
    new = assembled(
        agent.policy,
        WholeGraphView(graph, arena_of(agent.policy, graph)),
        agent.family,
        agent.seed,
        data,
    )
    new.clock, new.recorder = agent.clock, agent.recorder
    if not isinstance(agent._book.outcomes, RewardsInMemory):  # which is in the data
        new._book.outcomes = agent._book.outcomes
    return new


def limit(agent: Agent, change: str, given: Any) -> None:
    """Pause or resume arms, or set a cap: the same agent goes on within other limits.

    `given` are the labels of arms, or a share and a number of decisions; None lifts a cap.
    """
    player = agent._player
    if change == "cap":
        cap = None if given is None else checked_cap(*given)
        if cap is not None and not has_leader(player.scope):
            raise UnimodalError(
                f"a cap is for arms that do not lead, but with {agent.policy!r} nobody leads: use "
                "a policy that stays around its leader, such as UTS."
            )
        if cap is None and player.limits.cap is None:
            raise UnimodalError("there is no cap to lift: set one with cap(share, over=…) first.")
        player.limits.set_cap(cap)
        return
    view, before = player.view, player.limits.paused
    paused = paused_after(view, before, change, given)
    data = state_data(agent)
    limits = data.pop("limits", {})
    if paused or "cap" in limits:
        data["limits"] = {**limits, "paused": paused}
    assert isinstance(view, WholeGraphView)
    whole = WholeGraphView(view.graph, arena_of(agent.policy, view.graph))
    _offer(agent, data, paused, sorted(set(before) - set(paused)))
    new = assembled(agent.policy, whole, agent.family, agent.seed, data)
    new._player.first_pulls, new._player.graph_changed = player.first_pulls, True
    agent._player = new._player


def _offer(agent: Agent, data: dict[str, Any], paused: list[int], resumed: list[int]) -> None:
    """Take paused arms out of what a state is about to do; put those back that are resumed."""
    notes, begin, out = list(data["notes"]), data["begin"], set(paused)
    for place in (LAST, LEADER):
        notes[place] = -1 if notes[place] in out else notes[place]
    done, left = ([a for a in part if a not in out] for part in _split(begin, notes[BEGUN]))
    if isinstance(agent.policy.opening, Sweep):  # an arm that was never tried is still to be
        tried = {arm for arm, pulls, *_ in data["arms"] if pulls > 0}
        tried |= {arm for _, arm, _ in data["decisions"]["open"]}
        back = [arm for arm in resumed if arm not in done and arm not in left]
        done += [arm for arm in back if arm in tried]
        left += [arm for arm in back if arm not in tried]
    notes[BEGUN] = len(done)
    data.update(notes=notes, begin=done + left, links=_links(agent, data["links"], paused))


def _links(agent: Agent, links: dict[str, list[int]], paused: list[int]) -> dict[str, list[int]]:
    """The links that are left: to arms on offer which are not neighbours by now."""
    if not links or agent.graph is None:
        return links
    played = bypassed(agent.graph, paused)
    near = {arm: {*played.near(int(arm)).tolist(), *paused} for arm in links}
    return {arm: [a for a in row if a not in near[arm]] for arm, row in links.items()}


def _split(begin: list[int], begun: int) -> tuple[list[int], list[int]]:
    return begin[:begun], begin[begun:]


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
    if "told" in decisions:
        decisions["told"] = [
            [made, where[arm] if arm >= 0 else -1, reward]
            for made, arm, reward in decisions["told"]
        ]
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
        **({"late": renumbered_late(data["late"], where)} if "late" in data else {}),
    }
