"""What rewards say of arms' means, given that the means have one peak.

The mean of an arm is not only where its own rewards put it: it is below that of its neighbour on
the way to the peak. On a tree the posterior given one peak can be computed exactly, by messages
along the edges (belief propagation), up to the cells into which the range of means is cut.

Each place of the peak is as likely as any other before the rewards. (Independent means that happen
to have one peak have it in the middle of a line far more often than at an end.)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtr

from unimodal.families import Family
from unimodal.families.posteriors import cdf, quantile
from unimodal.graphs import Graph

MOST_ARMS = 128
_SHARES = ndtr(np.linspace(-5.0, 5.0, 33))  # of each arm's posterior: where cells end
_LEAST = 1e-300  # of a probability: its logarithm is a number


def is_tree(graph: Graph) -> bool:
    """Whether a graph is a tree, and small enough.

    >>> from unimodal import graphs
    >>> is_tree(graphs.line(10)), is_tree(graphs.star(5)), is_tree(graphs.complete(3))
    (True, True, False)
    """
    return 2 <= graph.n_arms <= MOST_ARMS and graph.n_edges == graph.n_arms - 1


def raised_by_one_peak(graph: Graph, family: Family, arms: Any, known: Any) -> Any:
    """How much higher each arm's mean is expected to be if the means have one peak on this tree.

    `arms` are records of `policies.state.ARM`. Cells are cut where those of `known` have their
    mass.
    """
    levels = np.unique(quantile(family, arms[known][:, np.newaxis], _SHARES))
    levels = levels[np.isfinite(levels)]
    ends = np.concatenate([[-np.inf], levels, [np.inf]])
    # Of the cells below the lowest level and above the highest hardly anything is known arms'.
    values = np.concatenate([levels[:1], (levels[1:] + levels[:-1]) / 2, levels[-1:]])
    mass = np.diff(cdf(family, arms[:, np.newaxis], ends), axis=1)
    given = _marginals(graph, np.log(np.maximum(mass, _LEAST)))
    return given @ values / given.sum(axis=1) - mass @ values / mass.sum(axis=1)


def _marginals(graph: Graph, own: Any) -> Any:
    """The weight of each cell for each arm; `own` is the logarithm of it without the others."""
    rows = [
        [other for other in graph.neighbors(arm).tolist() if other != arm]
        for arm in range(graph.n_arms)
    ]
    down_from = _from_the_root(rows)
    place = _weights_of_places(rows, down_from)
    # falls[i, j] is the weight of i and all beyond it, seen from j, by the cell of j, if means fall
    # from j to i and on; rises[i, j] the same if the peak is at i or beyond it.
    falls: dict[tuple[int, int], Any] = {}
    rises: dict[tuple[int, int], Any] = {}

    def send(arm: int, to: int) -> None:
        falling, rising = beside(arm, [other for other in rows[arm] if other != to])
        falls[arm, to] = _below(own[arm] + falling)
        rises[arm, to] = _below((own[arm] + rising)[::-1])[::-1]

    def beside(arm: int, others: list[int]) -> tuple[Any, Any]:
        """The weight of these neighbours: if all are lower, and if the peak is here or at one."""
        falling = sum((falls[other, arm] for other in others), np.zeros(own.shape[1]))
        rising = place[arm] + falling
        for other in others:
            rising = np.logaddexp(rising, falling - falls[other, arm] + rises[other, arm])
        return falling, rising

    for arm, parent in reversed(down_from[1:]):
        send(arm, parent)
    for arm, parent in down_from[1:]:
        send(parent, arm)
    found = own + np.stack([beside(arm, rows[arm])[1] for arm in range(graph.n_arms)])
    return np.exp(found - found.max(axis=1, keepdims=True))


def _below(weights: Any) -> Any:
    """The weight of all cells before each, and of half of its own; logarithms.

    Half, since of two means in one cell either may be the lower.
    """
    before = np.concatenate([[-np.inf], np.logaddexp.accumulate(weights)[:-1]])
    return np.logaddexp(before, weights - np.log(2.0))


def _from_the_root(rows: list[list[int]]) -> list[tuple[int, int]]:
    """The arms of a tree, each with the one before it on the way from arm 0, which comes first."""
    order = [(0, -1)]
    for arm, parent in order:
        order.extend((other, arm) for other in rows[arm] if other != parent)
    return order


def _weights_of_places(rows: list[list[int]], down_from: list[tuple[int, int]]) -> Any:
    """What makes all places of the peak equally likely: logarithms, one for each place.

    Of all orders of K means, the share with a peak at r and no other is 1/Π size(i), over all arms,
    where size(i) is the number of arms that lie behind i as seen from r, with i itself.
    """
    size = np.ones(len(rows))
    for arm, parent in reversed(down_from[1:]):
        size[parent] += size[arm]
    weight = np.empty(len(rows))
    weight[0] = np.log(size).sum()
    for arm, parent in down_from[1:]:  # the root moves from one to the other
        weight[arm] = weight[parent] - np.log(size[arm]) + np.log(len(rows) - size[arm])
    return weight - weight.max()
