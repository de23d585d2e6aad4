"""Products of graphs: arms that are pairs, such as a price and a place."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from itertools import product as pairs_of
from typing import Any

import numpy as np

from unimodal.errors import UnimodalError
from unimodal.graphs.build import check_size, lay_out
from unimodal.graphs.graph import Graph


def product(*factors: Graph, strong: bool = False) -> Graph:
    """Arms that are pairs (or triples, …): one arm of each factor, in the order of the labels.

    Two pairs are joined if they differ in one place, and there by an edge of that factor (the
    Cartesian product: a step changes one thing). In the strong product a step may change several:
    pairs are joined if in each place they are the same or joined. A product of lines is a grid, or
    with `strong` the moves of a king; one of complete graphs is `rank_one`.

    Parameters
    ----------
    *factors
        Two graphs or more.
    strong
        Whether a step may change several places at once.

    Returns
    -------
    Graph
        The graph; its labels are tuples of labels of the factors.

    Raises
    ------
    UnimodalError
        If there are fewer than two factors, one is no graph, or the product is too large.

    Examples
    --------
    >>> from unimodal import graphs
    >>> made = graphs.product(graphs.line(["9.90", "12.90"]), graphs.line(3))
    >>> made
    Graph(product, 6 arms, 7 edges)
    >>> [made.label_of(arm) for arm in made.neighbors(made.arm_of(("9.90", 1)))]
    [('9.90', 0), ('9.90', 2), ('12.90', 1)]
    >>> graphs.product(graphs.line(2), graphs.line(3), strong=True).n_edges
    11
    """
    from unimodal.graphs.text import to_data

    if not isinstance(strong, bool | np.bool_):
        raise UnimodalError(f"the 'strong' of product must be True or False, got {strong!r}.")
    for factor in factors:
        if not isinstance(factor, Graph):
            raise UnimodalError(
                f"the factors of product must be graphs (um.graphs.line(8), …), got {factor!r:.80}."
            )
    if len(factors) < 2:
        raise UnimodalError(f"a product must have at least 2 factors, got {len(factors)}.")
    sizes = [factor.n_arms for factor in factors]
    n_arms = math.prod(sizes)
    check_size("product", n_arms, _edges_of(factors, bool(strong)))
    tails, heads = _ends(factors, bool(strong))
    recipe = {
        "kind": "product",
        "factors": [to_data(factor) for factor in factors],
        "strong": bool(strong),
    }
    labels: Iterator[Hashable] = pairs_of(*(factor.labels for factor in factors))
    return lay_out(n_arms, tails, heads, recipe, labels)


def _edges_of(factors: tuple[Graph, ...], strong: bool) -> int:
    """How many edges the product has, before any is made."""
    sizes = [factor.n_arms for factor in factors]
    n_arms = math.prod(sizes)
    if strong:  # each place stays, or takes one of two ways along an edge
        ways = math.prod(factor.n_arms + 2 * factor.n_edges for factor in factors)
        return (ways - n_arms) // 2
    return sum(n_arms // size * factor.n_edges for size, factor in zip(sizes, factors, strict=True))


def _ends(factors: tuple[Graph, ...], strong: bool) -> tuple[Any, Any]:
    """Both ends of all edges, each edge once: the product with one factor after the other."""
    n_arms = 1
    tails: Any = np.zeros(0, dtype=np.int64)
    heads: Any = tails
    for factor in factors:
        own = factor.edges().astype(np.int64)
        size, arms = factor.n_arms, np.arange(n_arms, dtype=np.int64)
        every = np.arange(size, dtype=np.int64)
        parts = [(_paired(tails, every, size), _paired(heads, every, size))]
        parts.append((_paired(arms, own[:, 0], size), _paired(arms, own[:, 1], size)))
        if strong:  # both change: each pair of edges crosses in two ways
            for one, other in ((0, 1), (1, 0)):
                sides = _paired(tails, own[:, one], size), _paired(heads, own[:, other], size)
                parts.append(sides)
        tails, heads = (np.concatenate([part[side] for part in parts]) for side in (0, 1))
        n_arms *= size
    return tails, heads


def _paired(one: Any, other: Any, size: int) -> Any:
    """The numbers of all pairs of these arms; `size` is the second factor's."""
    return (one[:, None] * size + other[None, :]).ravel()
