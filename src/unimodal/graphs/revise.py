"""A graph with some edges more or some arms less."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from unimodal.errors import UnimodalError, refuse_set
from unimodal.graphs.build import checked
from unimodal.graphs.graph import Graph


def revised(
    graph: Graph,
    add: Iterable[tuple[Hashable, Hashable]] = (),
    retire: Iterable[Hashable] = (),
    remove: Iterable[tuple[Hashable, Hashable]] = (),
) -> Graph:
    """The graph with edges added, whose ends may be new arms; then edges removed, arms retired.

    Arms keep their labels, not their numbers. What is left must be connected.

    Parameters
    ----------
    graph
        The graph to start from, which stays as it is.
    add
        Edges to add; an end that is no arm yet becomes one.
    retire
        Labels of arms to leave out.
    remove
        Edges to leave out.

    Returns
    -------
    Graph
        The new graph.

    Raises
    ------
    UnimodalError
        If what is left is not connected.

    Examples
    --------
    >>> from unimodal import graphs
    >>> prices = graphs.line(["9.90", "12.90", "14.90"])
    >>> revised(prices, add=[("14.90", "16.90")], retire=["9.90"]).labels
    ('12.90', '14.90', '16.90')
    >>> between = [("12.90", "13.90"), ("13.90", "14.90")]
    >>> revised(prices, add=between, remove=[("14.90", "12.90")]).edges().tolist()
    [[0, 1], [1, 3], [2, 3]]
    """
    labels: list[Hashable] = list(graph.labels)
    numbers = {label: arm for arm, label in enumerate(labels)}
    ends = graph.edges().tolist()
    refuse_set(add, "the edges to add")
    for edge in add:
        for label in _pair(edge, "add"):
            if label not in numbers:
                numbers[label] = len(labels)
                labels.append(label)
        ends.append([numbers[label] for label in edge])
    if removed := list(remove):
        joined = {frozenset(pair) for pair in ends}
        gone = {_joined(edge, numbers, joined) for edge in removed}
        ends = [pair for pair in ends if frozenset(pair) not in gone]
    keep = np.ones(len(labels), dtype=bool)
    for label in retire:
        _check_label(label)
        if label not in numbers:
            raise UnimodalError(f"an arm to retire must be one of the graph, got {label!r}.")
        keep[numbers[label]] = False
    new_number = np.cumsum(keep) - 1
    edges = np.asarray(ends, dtype=np.int64).reshape(-1, 2)
    edges = new_number[edges[keep[edges].all(axis=1)]]
    left = [label for label, kept in zip(labels, keep, strict=True) if kept]
    return checked(len(left), edges[:, 0], edges[:, 1], {"kind": "edges"}, left)


def _pair(edge: Any, what: str) -> Any:
    """An edge as a pair of labels, or a sentence."""
    if not isinstance(edge, tuple | list) or len(edge) != 2:
        raise UnimodalError(f"an edge to {what} must be a pair of labels, got {edge!r}.")
    for label in edge:
        _check_label(label)
    return edge


def _joined(edge: Any, numbers: dict[Hashable, int], joined: set[frozenset[int]]) -> frozenset[int]:
    """The two arms of an edge to remove, which must be there."""
    ends = frozenset(numbers.get(label, -1) for label in _pair(edge, "remove"))
    if ends not in joined:
        raise UnimodalError(
            f"an edge to remove must be one of the graph, got {edge[0]!r} - {edge[1]!r}, which "
            "are not joined."
        )
    return ends


def _check_label(label: Any) -> None:
    try:
        hash(label)
    except TypeError:
        raise UnimodalError(
            f"a label must be hashable (a string, a number), got {label!r}."
        ) from None
