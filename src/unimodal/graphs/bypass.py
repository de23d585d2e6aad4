"""A graph on which some arms are not offered: their neighbours are joined instead.

If the means have one peak on the graph, they have one on the bypassed graph over the arms that are
left (docs/guide/limits-and-alarms.md has the proof), and it is connected.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import numpy as np

from unimodal.errors import UnimodalError
from unimodal.graphs.build import lay_out
from unimodal.graphs.graph import Graph

MOST_JOINED = 10**6  # pairs of arms: the hub of a large star has far more


def bypassed(graph: Graph, arms: Iterable[int]) -> Graph:
    """The graph with these arms cut off, and every two arms joined that a path through them joined.

    The arms keep their numbers; those that were cut off have no edges.

    >>> from unimodal import graphs
    >>> bypassed(graphs.line(5), [1, 2]).edges().tolist()
    [[0, 3], [3, 4]]
    """
    cut = set(arms)
    if not cut:
        return graph
    edges = graph.edges().astype(np.int64)
    joined = [edges[~np.isin(edges, list(cut)).any(axis=1)]]
    for rim in _rims(graph, cut):
        if len(rim) * (len(rim) - 1) // 2 > MOST_JOINED:
            raise UnimodalError(
                f"pausing these arms would join {len(rim):,} arms around them with each other, "
                f"more than {MOST_JOINED:,} pairs: pause their neighbours, too, or change the "
                "graph with add_edges and retire."
            )
        pairs = list(itertools.combinations(rim, 2))
        joined.append(np.array(pairs, dtype=np.int64).reshape(-1, 2))
    ends = np.unique(np.concatenate(joined), axis=0)  # two may have been joined before
    labels = graph.labels if graph.has_labels else None
    return lay_out(graph.n_arms, ends[:, 0], ends[:, 1], {"kind": "edges"}, labels)


def _rims(graph: Graph, cut: set[int]) -> Iterable[list[int]]:
    """The arms that are left around each connected piece of those that were cut off."""
    left = set(cut)
    while left:
        waiting, rim = [left.pop()], set[int]()
        while waiting:
            for other in graph.neighbors(waiting.pop()).tolist():
                if other in left:
                    left.discard(other)
                    waiting.append(other)
                elif other not in cut:
                    rim.add(other)
        yield sorted(rim)
