"""The arms around the leader as plain data: a ladder in its order, any other graph as a picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unimodal.agents import Agent
from unimodal.agents.arm_intervals import means_and_intervals
from unimodal.agents.known_arms import known_graph, known_records, past_pulls, rounds_led
from unimodal.agents.label_text import shown
from unimodal.escape_text import printable
from unimodal.families import Family
from unimodal.graphs import Graph
from unimodal.inspection.graph_layout import Layout, around

_RUNGS = 20  # to each side of the leader
_SURE = 30  # pulls, from which on an arm's interval sets the scale


@dataclass(frozen=True)
class KnownArms:
    """What an agent knew at one moment; taken quickly, since calls wait meanwhile."""

    graph: Graph
    records: Any
    past: Any  # how many of the pulls are from past data
    led: Any  # rounds: leads that past data count as are not among them
    family: Family
    centre: int
    why: str
    paused: frozenset[Any]


def known(agent: Agent) -> KnownArms:
    """What is to be drawn of an agent, copied."""
    graph = known_graph(agent)
    records = np.array(known_records(agent, graph), copy=True)
    if agent.leader is not None:
        centre, why = graph.arm_of(agent.leader), "the leader"
    else:
        pulls = records["pulls"]
        centre = int(np.argmax(pulls))
        why = "nobody leads: the most pulled arm" if pulls.any() else "no rewards yet: an arm"
    past, led = past_pulls(agent, graph), np.array(rounds_led(agent, graph), copy=True)
    paused = frozenset(agent.paused)
    return KnownArms(graph, records, past, led, agent.family, int(centre), why, paused)


def arms_shown(seen: KnownArms) -> dict[str, Any]:
    """Arms, edges, positions, and the scale for intervals."""
    order = ladder(seen.graph)
    if order is not None:
        found = _ladder(seen, order)
    else:
        layout = around(seen.graph, seen.centre, seen.records["pulls"])
        found = _picture(seen, layout)
    return {**found, "why": seen.why, "total": seen.graph.n_arms, "scale": _scale(found["arms"])}


def ladder(graph: Graph) -> list[int] | None:
    """The arms of a line in their order, numbers from the lowest up; None for another graph.

    >>> from unimodal import graphs
    >>> ladder(graphs.line(["14.90", "12.90", "9.90"]))
    [2, 1, 0]
    >>> ladder(graphs.star(4)) is None
    True
    """
    if graph.n_edges != graph.n_arms - 1 or graph.n_arms < 2:
        return None
    ends = [arm for arm in range(graph.n_arms) if len(graph.neighbors(arm)) == 1]
    if len(ends) != 2:  # a tree with two leaves is a line
        return None
    order, before = [ends[0]], -1
    while len(order) < graph.n_arms:
        here = order[-1]
        following = next(int(arm) for arm in graph.neighbors(here) if int(arm) != before)
        before = here
        order.append(following)
    return order[::-1] if _falls(graph, order) else order


def _falls(graph: Graph, order: list[int]) -> bool:
    try:
        first, last = (float(str(graph.label_of(arm))) for arm in (order[0], order[-1]))
    except ValueError:
        return order[0] > order[-1]
    return first > last


def _ladder(seen: KnownArms, order: list[int]) -> dict[str, Any]:
    middle = order.index(seen.centre)
    first = max(min(middle - _RUNGS, len(order) - 2 * _RUNGS - 1), 0)
    drawn = order[first : first + 2 * _RUNGS + 1]
    rows = _rows(seen, drawn)
    return {
        "kind": "ladder",
        "arms": rows,
        "edges": [[i, i + 1] for i in range(len(drawn) - 1)],
        "centre": drawn.index(seen.centre),
        "below": first,
        "above": len(order) - first - len(drawn),
    }


def _picture(seen: KnownArms, layout: Layout) -> dict[str, Any]:
    drawn = list(layout.places)
    number = {arm: i for i, arm in enumerate(drawn)}
    near = set(seen.graph.near(seen.centre).tolist())
    rows = _rows(seen, drawn)
    for arm, row in zip(drawn, rows, strict=True):
        x, y = layout.places[arm]
        row |= {"x": round(x, 4), "y": round(y, 4), "near": arm in near}
    return {
        "kind": "graph",
        "arms": rows,
        "edges": [[number[a], number[b]] for a, b in layout.edges],
        "centre": number[seen.centre],
        "rings": layout.rings,
        "left_out": layout.left_out,
        "thinned": layout.thinned,
    }


def _rows(seen: KnownArms, arms: list[int]) -> list[dict[str, Any]]:
    records = seen.records[arms]
    means, low, high = means_and_intervals(seen.family, records)
    rows = []
    for row, arm in enumerate(arms):
        label = seen.graph.label_of(arm)
        pulled = records["pulls"][row] > 0
        rows.append(
            {
                "label": label,
                "text": printable(shown(label)),
                "pulls": float(records["pulls"][row]),
                "mean": float(means[row]) if pulled else None,
                "low": float(low[row]),
                "high": float(high[row]),
                "past": int(seen.past[arm]),
                "leads": int(seen.led[arm]),
                "paused": label in seen.paused,
            }
        )
    return rows


def _scale(rows: list[dict[str, Any]]) -> list[float] | None:
    """From where to where intervals are drawn: arms with a few pulls would leave no room."""
    known_ones = [row for row in rows if np.isfinite(row["low"]) and np.isfinite(row["high"])]
    ranked = sorted(known_ones, key=lambda row: -row["pulls"])
    sure = [row for i, row in enumerate(ranked) if i < 2 or row["pulls"] >= _SURE]
    if not sure:
        return None
    low, high = min(row["low"] for row in sure), max(row["high"] for row in sure)
    room = 0.06 * (high - low) or 0.5
    return [low - room, high + room]
