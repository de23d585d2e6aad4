"""What an owner changes while a campaign runs: the graph, paused arms, the cap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unimodal import graphs
from unimodal.agents import revision
from unimodal.campaigns.events import Limited, Revised
from unimodal.campaigns.group_commit import Call
from unimodal.campaigns.state import State
from unimodal.errors import UnimodalError

Labels = Sequence[Any]  # of arms, or pairs of them


def revising(add: Labels = (), retire: Labels = (), remove: Labels = ()) -> Call:
    """The call that goes on with other edges and without some arms."""
    return Call(lambda state: _revise(state, list(add), list(retire), list(remove)))


def inserting(label: Any, between: tuple[Any, Any]) -> Call:
    """The call that puts a new arm on an edge, which is replaced by two."""
    return Call(lambda state: _insert(state, label, between))


def limiting(change: str, given: Any) -> Call:
    """The call that pauses or resumes arms, or sets or lifts a cap."""
    return Call(lambda state: _limit(state, change, given))


def _revise(state: State, add: list[Any], retire: list[Any], remove: list[Any]) -> None:
    graph = graphs.revised(state.held_graph(), add, retire, remove)
    event = Revised(state.seq + 1, state.now(), add, retire, graph.fingerprint, remove)
    event.row()  # which refuses labels that cannot be written
    state.revise(graph)
    state.add(event)


def _insert(state: State, label: Any, between: tuple[Any, Any]) -> None:
    one, two = between
    if label in state.held_graph().labels:
        raise UnimodalError(
            f"the arm to insert must be new, got {label!r}, which the graph has: use add_edges "
            "and remove_edges."
        )
    _revise(state, [(one, label), (label, two)], [], [(one, two)])


def _limit(state: State, change: str, given: Any) -> None:
    event = Limited(state.seq + 1, state.now(), change, given)
    event.row()  # which refuses labels that cannot be written
    revision.limit(state.agent, change, given)
    state.add(event)
