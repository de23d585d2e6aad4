"""From edges to a `Graph`: the checks, and the one place where rows are laid out."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from unimodal.errors import UnimodalError, check_memory
from unimodal.graphs.graph import Graph, checked_labels

_ENTRY = 24  # bytes for each, while they are laid out
MOST_ENTRIES = 2**31  # of the rows of a graph: 8 GB of them, and more while they are laid out


def check_size(kind: str, n_arms: int, n_edges: int) -> None:
    """Refuse a graph that no memory holds, before its edges are made."""
    if n_arms + 2 * n_edges > MOST_ENTRIES:
        arms = f"{n_arms:,}" if n_arms < 10**18 else "more than 10^18"
        raise UnimodalError(
            f"a graph may have at most {MOST_ENTRIES:,} arms and ends of edges together, got a "
            f"{kind} of {arms} arms: take a smaller one, or give an Agent a function that looks "
            "neighbours up."
        )
    check_memory(_ENTRY * (n_arms + 2 * n_edges), f"a {kind} of {n_arms:,} arms")


def is_connected(n_arms: int, tails: Any, heads: Any) -> bool:
    """Whether edges tails[i] - heads[i] join all arms."""
    if n_arms > 1 and np.bincount(np.append(tails, heads), minlength=n_arms).min() == 0:
        return False  # an isolated arm: the usual case, and cheap to see
    return bool(components(n_arms, tails, heads).max() == 0)


def components(n_arms: int, tails: Any, heads: Any) -> Any:
    """The piece of the graph that each arm belongs to, as a number."""
    from scipy.sparse import coo_matrix, csgraph

    ones = np.ones(len(tails), dtype=np.int8)
    matrix = coo_matrix((ones, (tails, heads)), (n_arms, n_arms)).tocsr()
    return csgraph.connected_components(matrix, directed=False)[1]


def lay_out(
    n_arms: int,
    tails: Any,
    heads: Any,
    recipe: dict[str, Any],
    labels: Iterable[Hashable] | None = None,
) -> Graph:
    """A graph from edges that are known to be sound (no loops, none twice, connected)."""
    index_type = np.int32 if n_arms < 2**31 else np.int64
    row = np.concatenate([tails, heads]).astype(np.int64)  # of each end of an edge
    keys = np.sort(row * n_arms + np.concatenate([heads, tails]))  # row by row, in increasing order
    rows = np.append(0, np.cumsum(np.bincount(row, minlength=n_arms) + 1))  # 1 for the arm itself
    near = np.empty(rows[-1], dtype=index_type)
    others = np.ones(len(near), dtype=bool)
    others[rows[:-1]] = False
    near[rows[:-1]] = np.arange(n_arms)
    near[others] = keys % n_arms
    return Graph(rows, near, recipe=recipe, labels=labels)


def checked(
    n_arms: int,
    tails: Any,
    heads: Any,
    recipe: dict[str, Any],
    labels: Iterable[Hashable] | None = None,
) -> Graph:
    """A graph from edges that come from outside: each mistake gets its sentence."""
    names = checked_labels(labels, n_arms) if labels is not None else None

    def name(arm: Any) -> str:
        return repr(names[arm]) if names is not None else str(int(arm))

    if n_arms < 2:
        raise UnimodalError(f"a graph must have at least 2 arms, got {n_arms}.")
    ends = np.concatenate([tails, heads])
    stray = ends[(ends < 0) | (ends >= n_arms)]
    if len(stray):
        raise UnimodalError(
            f"an edge must join arms from 0 to {n_arms - 1}, got arm {stray[0]}: correct it."
        )
    loops = np.flatnonzero(tails == heads)
    if len(loops):
        arm = name(tails[loops[0]])
        raise UnimodalError(
            f"an edge must join two different arms, got a self-loop at arm {arm}: leave it out."
        )
    low, high = np.minimum(tails, heads).astype(np.int64), np.maximum(tails, heads)
    keys = np.sort(low * n_arms + high)
    twice = np.flatnonzero(keys[1:] == keys[:-1])
    if len(twice):
        first, second = divmod(int(keys[twice[0]]), n_arms)
        raise UnimodalError(
            f"an edge must be given once, got {name(first)} - {name(second)} twice "
            "(the order of its ends does not matter): keep one."
        )
    member = components(n_arms, tails, heads)
    pieces = int(member.max()) + 1
    if pieces > 1:
        apart = int(np.flatnonzero(member != member[0])[0])
        raise UnimodalError(
            f"the graph must be connected, got {pieces} pieces (no path from arm {name(0)} to arm "
            f"{name(apart)}): add edges, or keep one piece."
        )
    return lay_out(n_arms, tails, heads, recipe, names)
