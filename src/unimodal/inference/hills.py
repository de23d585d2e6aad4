"""Hills: parts of a graph that stand apart, whatever the means are between their bounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from unimodal.graphs.graph import Graph


def hills(graph: Graph, low: Any, high: Any) -> Iterator[tuple[int, list[int]]]:
    """An arm of each hill that shows, the highest lower bound first, and the arms joined to it.

    Given low ≤ μ ≤ high for every arm: arms with high ≥ c are all that can be as good as c. An arm
    with low = c is on a new hill if no path of such arms joins it to a hill already found.

    >>> from unimodal.graphs import line
    >>> list(hills(line(5), low=[0.1, 0.8, 0.1, 0.5, 0.1], high=[0.3, 0.9, 0.3, 0.6, 0.5]))
    [(1, [1]), (3, [3, 4])]
    """
    low, high = np.asarray(low), np.asarray(high)
    parent = np.full(graph.n_arms, -1, dtype=np.int64)  # union and find; -1: not let in yet
    has_hill = np.zeros(graph.n_arms, dtype=bool)

    def root(arm: int) -> int:
        while parent[arm] != arm:
            parent[arm] = parent[parent[arm]]
            arm = int(parent[arm])
        return arm

    waiting = iter(np.argsort(-high, kind="stable").tolist())
    coming = next(waiting)
    for arm in np.argsort(-low, kind="stable").tolist():
        while coming >= 0 and high[coming] >= low[arm]:
            parent[coming] = coming
            for other in graph.neighbors(coming).tolist():
                if parent[other] >= 0:
                    mine, its = root(coming), root(other)
                    parent[mine] = its
                    has_hill[its] |= has_hill[mine]
            coming = next(waiting, -1)
        top = root(arm)
        if not has_hill[top]:
            has_hill[top] = True
            let_in = np.flatnonzero(parent >= 0).tolist()
            yield arm, [one for one in let_in if root(one) == top]


def stand_apart(graph: Graph, low: Any, high: Any, arm: int, other: int) -> bool:
    """Whether every path between two arms passes one that is worse than both.

    >>> from unimodal.graphs import line
    >>> stand_apart(line(3), low=[0.5, 0.1, 0.6], high=[0.7, 0.4, 0.8], arm=0, other=2)
    True
    """
    from scipy.sparse.csgraph import connected_components

    low, high = np.asarray(low), np.asarray(high)
    as_good = high >= min(low[arm], low[other])
    number = np.cumsum(as_good) - 1  # of an arm among those
    part = graph.to_scipy()[as_good][:, as_good]
    component = connected_components(part, directed=False)[1]
    return bool(component[number[arm]] != component[number[other]])
