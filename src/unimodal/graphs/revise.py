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
) -> Graph:
    """The graph with edges added, whose ends may be new arms, and then with arms retired.

    Arms keep their labels, not their numbers. What is left must be connected.

    >>> from unimodal import graphs
    >>> prices = graphs.from_edges([("9.90", "12.90"), ("12.90", "14.90")])
    >>> revised(prices, add=[("14.90", "16.90")], retire=["9.90"]).labels
    ('12.90', '14.90', '16.90')
    """
    labels: list[Hashable] = list(graph.labels)
    numbers = {label: arm for arm, label in enumerate(labels)}
    ends = graph.edges().tolist()
    refuse_set(add, "the edges to add")
    for edge in add:
        if not isinstance(edge, tuple | list) or len(edge) != 2:
            raise UnimodalError(f"an edge to add must be a pair of labels, got {edge!r}.")
        for label in edge:
            _check_label(label)
            if label not in numbers:
                numbers[label] = len(labels)
                labels.append(label)
        ends.append([numbers[label] for label in edge])
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


def _check_label(label: Any) -> None:
    try:
        hash(label)
    except TypeError:
        raise UnimodalError(
            f"a label must be hashable (a string, a number), got {label!r}."
        ) from None
