"""Where the arms around one of them are drawn: rings, one for each number of steps from it.

An arm stands in the direction of the arms by which it is reached, so that lines come out straight
and lattices as diamonds. The same graph always gives the same picture.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from unimodal.graphs import Graph

MOST, MOST_EDGES, RINGS = 60, 200, 4  # arms, edges and rings in a picture


@dataclass(frozen=True)
class Layout:
    """The arms drawn, their places, and what is missing."""

    places: dict[int, tuple[float, float]]  # in units of the distance between two rings
    rings: int
    left_out: int  # neighbours of the arm in the middle that are not drawn
    edges: list[tuple[int, int]]
    thinned: bool  # whether only the edges of the arm in the middle are drawn


def around(graph: Graph, centre: int, pulls: Any) -> Layout:
    """The neighbours of an arm, the most pulled if there are too many, and further rings if small.

    >>> from unimodal import graphs
    >>> sorted(around(graphs.line(9), 4, [1] * 9).places)
    [0, 1, 2, 3, 4, 5, 6, 7, 8]
    """
    neighbours = graph.neighbors(centre)
    order = np.lexsort((neighbours, -np.asarray(pulls)[neighbours]))
    drawn = sorted(int(arm) for arm in neighbours[order[: MOST - 1]])
    layers = [[centre], _in_a_round(graph, drawn)]
    left_out = len(neighbours) - len(drawn)
    members = {centre, *drawn}
    while not left_out and len(layers) <= RINGS:
        last = layers[-1]
        further = sorted({int(b) for a in last for b in graph.neighbors(a)} - members)
        if not further or len(members) + len(further) > MOST:
            break
        layers.append(further)
        members.update(further)
    angles: dict[int, float] = {}
    for number, arm in enumerate(layers[1]):
        angles[arm] = 2.0 * math.pi * number / len(layers[1]) - math.pi / 2.0
    if len(layers[1]) == 2:  # a line lies on its side
        angles = {arm: angle - math.pi / 2.0 for arm, angle in angles.items()}
    elif len(layers[1]) == 1:  # and from its end it goes to the right
        angles = {arm: 0.0 for arm in angles}
    for inner, outer in itertools.pairwise(layers[1:]):
        angles |= _spread(graph, set(inner), outer, angles)
    places = {centre: (0.0, 0.0)}
    for radius, layer in enumerate(layers[1:], 1):
        for arm in layer:
            places[arm] = (radius * math.cos(angles[arm]), radius * math.sin(angles[arm]))
    edges = [
        (arm, int(other))
        for arm in sorted(members)
        for other in graph.neighbors(arm)
        if arm < other and int(other) in members
    ]
    thinned = len(edges) > MOST_EDGES
    if thinned:  # of a thicket only the edges of the middle say anything
        edges = [edge for edge in edges if centre in edge]
    return Layout(places, len(layers) - 1, left_out, edges, thinned)


def _in_a_round(graph: Graph, arms: list[int]) -> list[int]:
    """Arms in an order in which those that have most in common stand side by side."""
    near = {arm: set(graph.near(arm).tolist()) for arm in arms}
    order, waiting = arms[:1], arms[1:]
    while waiting:
        last = near[order[-1]]
        following = max(waiting, key=lambda arm: (len(last & near[arm]), -arm))
        order.append(following)
        waiting.remove(following)
    return order


def _spread(
    graph: Graph, inner: set[int], outer: list[int], angles: dict[int, float]
) -> dict[int, float]:
    """Angles for a ring: towards the arms inside by which each is reached, but not too close."""
    wanted = {}
    for arm in outer:
        parents = [angles[int(other)] for other in graph.neighbors(arm) if int(other) in inner]
        x, y = sum(map(math.cos, parents)), sum(map(math.sin, parents))
        wanted[arm] = math.atan2(y, x) if math.hypot(x, y) > 1e-9 else parents[0] + math.pi / 2.0
    order = sorted(outer, key=lambda arm: (wanted[arm] % (2.0 * math.pi), arm))
    target = np.array([wanted[arm] % (2.0 * math.pi) for arm in order])
    gap = min(0.95 * 2.0 * math.pi / len(order), 0.35)
    found = target.copy()
    for _ in range(5000):  # push apart what is too close, a little at a time
        ahead = np.append(found[1:], found[0] + 2.0 * math.pi) - found
        short = np.maximum(gap - ahead, 0.0) / 2.0
        if short.max() < 1e-3:
            break
        found += np.roll(short, 1) - short
    return dict(zip(order, found.tolist(), strict=True))
