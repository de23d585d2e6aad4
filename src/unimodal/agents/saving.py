"""Agents as JSON: readable, complete, and never code."""

from __future__ import annotations

import copy
import json
import reprlib
from pathlib import Path
from typing import Any

import numpy as np

from unimodal import families, files, graphs, policies
from unimodal.agents.agent import Agent
from unimodal.agents.decisions import Book
from unimodal.agents.limits import Limits, without_paused
from unimodal.agents.player import Player
from unimodal.agents.saved_state_checks import (
    COLUMNS,
    check_first_pulls,
    check_limits,
    check_look_ups,
    check_state,
)
from unimodal.errors import UnimodalError, whole_number
from unimodal.families import Family
from unimodal.lookup.graph_view import LazyGraphView, WholeGraphView
from unimodal.lookup.oracle import Neighbours, Oracle
from unimodal.policies import Policy
from unimodal.policies.forgetting import fill_memory, filled, filled_data, memory_data
from unimodal.policies.index import refresh
from unimodal.policies.npts import with_room
from unimodal.policies.policy import arena_of
from unimodal.policies.scout import links_of, set_links

FORMAT = 1


def save(agent: Agent, path: str | Path) -> Path:
    """Write an agent's JSON, beside and then into place."""
    try:
        text = json.dumps(to_data(agent), indent=1)
    except TypeError:
        raise UnimodalError(
            "only arms labelled by text, numbers or tuples of them can be saved as JSON: "
            f"got labels such as {agent._player.view.label_of(0)!r}."
        ) from None
    return files.write(path, lambda to: to.write_text(text + "\n", encoding="utf-8"))


def to_data(agent: Agent) -> dict[str, Any]:
    """All an agent knows, as plain JSON data."""
    return {
        "format": FORMAT,
        "policy": policies.to_data(agent.policy),
        "rewards": families.to_data(agent.family),
        "graph": agent._player.view.to_data(),
        "seed": agent.seed,
        **_certified_by(agent._player),
        **state_data(agent),
    }


def _certified_by(player: Player) -> dict[str, Any]:
    """What only certificates need to know."""
    first = {} if player.first_pulls is None else {"first_pulls": list(player.first_pulls)}
    return {**first, "graph_changed": True} if player.graph_changed else first


def state_data(agent: Agent) -> dict[str, Any]:
    """What an agent has learnt, apart from what it was made of."""
    state, view = agent._player.state, agent._player.view
    known, player = state.arms[: view.n_arms], agent._player
    met = np.flatnonzero((known["pulls"] > 0) | (known["leads"] > 0))
    limits = agent._player.limits
    return {
        "notes": state.notes.tolist(),
        "begin": state.begin.tolist(),
        "links": {str(arm): row for arm, row in links_of(view.arena).items()},
        "stream": state.rng.tolist(),
        "columns": ["arm", *COLUMNS],
        "arms": [[int(arm), *(known[column][arm].item() for column in COLUMNS)] for arm in met],
        "seen": state.seen[["arm", "reward"]][: int(known["pulls"].sum())].tolist(),
        "memory": memory_data(state.memory),
        "decisions": agent._book.to_data(),
        **({"past": past_data(player)} if player.past_sums else {}),
        **({"limits": limits.to_data()} if limits else {}),
        **({"late": player.late.to_data()} if player.late is not None else {}),
    }


def past_data(player: Player) -> dict[str, Any]:
    """What of an agent's pulls and totals comes from past data, as plain JSON data."""
    rows = [[arm, *sums] for arm, sums in player.past_sums.items()]
    return {"certify": player.past_certifies, "arms": rows}


def load(path: str | Path, policy: Policy | None, graph: Oracle | Neighbours | None) -> Agent:
    """Read an agent's JSON; anything else is refused."""
    path = files.as_path(path, "the path of a saved agent")
    with files.reading(path, "a file that Agent.save wrote"):
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["format"] != FORMAT:
            raise UnimodalError(
                f"{path} has format {data['format']!r:.20}, this version reads format {FORMAT}."
            )
        return from_data(data, policy, graph)


def from_data(
    data: dict[str, Any], policy: Policy | None, graph: Oracle | Neighbours | None
) -> Agent:
    """The agent that `to_data` described."""
    saved = data["policy"]
    if policy is None:
        policy = policies.from_data(saved)
    elif type(policy).__name__ != saved["policy"] or not _same(policy, saved):
        raise UnimodalError(
            f"the file holds {saved['policy']!s:.60} with {reprlib.repr(saved['parameters'])}, got "
            f"{policy!r}: "
            "pass the policy it was saved with."
        )
    policy = policies.as_saved(policy, saved)
    family = families.from_data(data["rewards"])
    view: WholeGraphView | LazyGraphView
    if data["graph"]["kind"] == "look-up":
        Agent.check_look_ups(policy)
        view = _looked_up(data["graph"], graph, policy)
    else:
        whole = graphs.from_data(data["graph"])
        view = WholeGraphView(whole, arena_of(policy, whole))
    seed = whole_number(data["seed"], "the 'seed' of a saved agent", 0)
    first = data.get("first_pulls")
    check_first_pulls(first, view.n_arms)
    agent = assembled(policy, view, family, seed, data)
    agent._player.first_pulls = None if first is None else dict.fromkeys(first)
    agent._player.graph_changed = bool(data.get("graph_changed", False))
    return agent


def _looked_up(data: dict[str, Any], graph: Any, policy: Policy) -> LazyGraphView:
    check_look_ups(data)
    return LazyGraphView.from_data(data, graph, policy)


def assembled(
    policy: Policy,
    view: WholeGraphView | LazyGraphView,
    family: Family,
    seed: int,
    data: dict[str, Any],
) -> Agent:
    """An agent of its parts and of what `state_data` returned; a ValueError if that cannot be."""
    limits = None
    if "limits" in data:
        check_limits(data["limits"], view)
        limits = Limits.from_data(data["limits"])
        if isinstance(view, WholeGraphView):
            view = without_paused(view, policy, limits.paused)
    check_state(data, view, policy, family)
    set_links(view.arena, {int(arm): row for arm, row in data.get("links", {}).items()})
    agent = Agent.__new__(Agent)
    rng = np.array(data["stream"], dtype=np.uint64)
    begin = np.array(data["begin"], dtype=np.int64)
    book = Book.from_data(family, data["decisions"]) if "decisions" in data else Book(family)
    agent._assemble(policy, view, family, seed, begin, rng, book, limits=limits)
    if "late" in data:
        agent._player.use_late(data["late"]["rule"], book.time_to_live)
    _fill(agent, data)
    return agent


def whole_state(agent: Agent) -> dict[str, Any]:
    """What it has learnt, of a graph known by look-up too; equal states have equal data."""
    data = state_data(agent)
    if isinstance(agent._player.view, LazyGraphView):
        data["graph"] = agent._player.view.to_data()
    return data


def renewed_state(data: dict[str, Any]) -> dict[str, Any]:
    """What `whole_state` tells, of data that an older version wrote of the same state."""
    return {**data, "memory": filled_data(data["memory"])}


def copied(agent: Agent) -> Agent:
    """An agent whose `whole_state` stays what it is now, whatever this one does: to look at only.

    It takes a copy of arrays and of lists of what they hold, which is quick; to turn them into
    data is not.
    """
    twin, player, state = copy.copy(agent), copy.copy(agent._player), agent._player.state
    player.state = state._replace(
        **{name: getattr(state, name).copy() for name in ("arms", "notes", "rng", "begin", "seen")},
        memory=copy.deepcopy(filled(state.memory)),
    )
    player.view, twin._player, twin._book = player.view.copied(), player, agent._book.copied()
    player.limits = player.limits.copied()
    player.late = None if player.late is None else player.late.copied()
    return twin


def in_state(agent: Agent, data: dict[str, Any]) -> Agent:
    """An agent of the same parts in the state that `whole_state` returned; or a ValueError."""
    view = agent._player.view
    try:
        if isinstance(view, LazyGraphView):
            view = _looked_up(data["graph"], view.oracle, agent.policy)
        return assembled(agent.policy, view, agent.family, agent.seed, data)
    except (
        KeyError,
        TypeError,
        IndexError,
        AttributeError,
        OverflowError,
        RecursionError,
    ) as error:
        raise ValueError("a state that is none") from error


def _fill(agent: Agent, data: dict[str, Any]) -> None:
    state = agent._player.state
    state.notes[:] = data["notes"]
    for arm, *values in data["arms"]:
        for column, value in zip(COLUMNS, values, strict=True):
            state.arms[column][arm] = value
        if state.arms["pulls"][arm] > 0:
            refresh(agent._player.index, agent._player.family_record, state.arms, arm)
    fill_memory(state.memory, data.get("memory", {}))
    state = with_room(agent._player.index, agent._player.with_board(state), 0)
    if len(state.seen):
        seen = np.array(data["seen"], dtype=np.float64).reshape(-1, 2)
        state.seen["arm"][: len(seen)], state.seen["reward"][: len(seen)] = seen.T
    agent._player.state = state
    past = data.get("past", {"certify": False, "arms": []})
    agent._player.past_sums = {arm: (pulls, total) for arm, pulls, total in past["arms"]}
    agent._player.past_certifies = past["certify"]
    if agent._player.late is not None:
        agent._player.late.fill(agent._player, data["late"])


def _same(policy: Policy, saved: dict[str, Any]) -> bool:
    made = policies.to_older_data(policy, saved)
    return bool(json.loads(json.dumps(made["parameters"])) == saved["parameters"])
