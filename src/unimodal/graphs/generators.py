"""Graphs by name, but for the lattices: the paper's, and those it leaves as future work."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

import itertools
import math

import numpy as np

from unimodal.errors import UnimodalError, real_number, whole_number
from unimodal.graphs.build import check_size, is_connected, lay_out
from unimodal.graphs.graph import Graph
from unimodal.kernels.compile import jit
from unimodal.kernels.random import GRAPH, randint, stream


def complete(n_arms: int) -> Graph:
    """Every arm joined to every other: no structure at all.

    Parameters
    ----------
    n_arms
        The number of arms.

    Returns
    -------
    Graph
        The graph.

    Examples
    --------
    >>> complete(5).n_edges
    10
    """
    n_arms = whole_number(n_arms, "the 'n_arms' of complete", 2)
    check_size("complete graph", n_arms, n_arms * (n_arms - 1) // 2)
    tails, heads = np.triu_indices(n_arms, 1)
    return lay_out(n_arms, tails, heads, {"kind": "complete", "n_arms": n_arms})


def star(n_arms: int) -> Graph:
    """Arm 0 in the middle, joined to all others, which are joined to nothing else.

    Parameters
    ----------
    n_arms
        The number of arms, with the one in the middle.

    Returns
    -------
    Graph
        The graph.

    Examples
    --------
    >>> star(6).degrees.tolist()
    [5, 1, 1, 1, 1, 1]
    """
    n_arms = whole_number(n_arms, "the 'n_arms' of star", 2)
    check_size("star", n_arms, n_arms - 1)
    leaves = np.arange(1, n_arms)
    return lay_out(n_arms, np.zeros_like(leaves), leaves, {"kind": "star", "n_arms": n_arms})


def binary_tree(n_arms: int) -> Graph:
    """A binary tree filled level by level: arm k is joined to its children 2k + 1 and 2k + 2.

    Levels are full for n_arms = 2^(depth + 1) - 1; any other number leaves the last one unfilled.

    Parameters
    ----------
    n_arms
        The number of arms.

    Returns
    -------
    Graph
        The graph.

    Examples
    --------
    >>> binary_tree(7).neighbors(1).tolist()
    [0, 3, 4]
    """
    n_arms = whole_number(n_arms, "the 'n_arms' of binary_tree", 2)
    check_size("binary tree", n_arms, n_arms - 1)
    children = np.arange(1, n_arms)
    recipe = {"kind": "binary_tree", "n_arms": n_arms}
    return lay_out(n_arms, (children - 1) // 2, children, recipe)


def rank_one(rows: int, columns: int) -> Graph:
    """Arms are pairs (i, j), and two are joined if they share a row or a column.

    Means u_i·v_j have one peak on it (Trinh, Kaufmann, Vernade and Combes 2020); see
    `unimodal.problems.rank_one`. Arm i·columns + j has the label (i, j).

    Parameters
    ----------
    rows
        The number of rows.
    columns
        The number of columns.

    Returns
    -------
    Graph
        The graph, with pairs as labels.

    Examples
    --------
    >>> graph = rank_one(2, 3)
    >>> [graph.label_of(arm) for arm in graph.neighbors(graph.arm_of((0, 0)))]
    [(0, 1), (0, 2), (1, 0)]
    """
    rows = whole_number(rows, "the 'rows' of rank_one")
    columns = whole_number(columns, "the 'columns' of rank_one")
    n_arms = rows * columns
    if n_arms < 2:
        raise UnimodalError(f"a rank_one graph must have at least 2 arms, got {rows} x {columns}.")
    check_size("rank_one graph", n_arms, n_arms * (rows + columns - 2) // 2)
    arms = np.arange(n_arms, dtype=np.int32).reshape(rows, columns)
    left, right = np.triu_indices(columns, 1)
    upper, lower = np.triu_indices(rows, 1)
    tails = np.concatenate([arms[:, left].ravel(), arms[upper].ravel()])
    heads = np.concatenate([arms[:, right].ravel(), arms[lower].ravel()])
    recipe = {"kind": "rank_one", "rows": rows, "columns": columns}
    pairs = itertools.product(range(rows), range(columns))
    return lay_out(n_arms, tails, heads, recipe, pairs)


def erdos_renyi(n_arms: int, p: float, seed: int = 0, tries: int = 100_000) -> Graph:
    """Each pair joined with probability p, given that the graph is connected.

    By rejection: whole graphs are drawn until one is connected, so its law is that of the paper.
    After `tries` graphs without success it gives up (for p far below log(K)/K, no patience helps).

    Parameters
    ----------
    n_arms
        The number of arms.
    p
        The probability of an edge.
    seed
        Determines the graph.
    tries
        How many graphs are drawn at most.

    Returns
    -------
    Graph
        The graph.

    Raises
    ------
    UnimodalError
        If none of `tries` graphs is connected.

    Examples
    --------
    >>> erdos_renyi(100, 0.05, seed=1)
    Graph(erdos_renyi, 100 arms, 266 edges)
    """
    n_arms = whole_number(n_arms, "the 'n_arms' of erdos_renyi", 2)
    p = real_number(p, "the 'p' of erdos_renyi", above=0)
    seed, tries = whole_number(seed, "the 'seed'", 0), whole_number(tries, "the 'tries'")
    if p > 1:
        raise UnimodalError(f"the 'p' of erdos_renyi must lie in (0, 1], got {p:g}.")
    if p == 1:
        return complete(n_arms)
    check_size("random graph", n_arms, 0)  # before it is squared
    rng = np.random.default_rng([seed, n_arms])
    pairs = n_arms * (n_arms - 1) // 2
    check_size("random graph", n_arms, int(pairs * p))
    for _ in range(tries):
        # Given their number, the edges are a uniform subset of the pairs.
        count = int(rng.binomial(pairs, p))
        if count < n_arms - 1:
            continue
        chosen = rng.choice(pairs, count, replace=False, shuffle=False)
        tails, heads = _pair(np.asarray(chosen))
        if is_connected(n_arms, tails, heads):
            recipe = {"kind": "erdos_renyi", "n_arms": n_arms, "p": p, "seed": seed}
            return lay_out(n_arms, tails, heads, recipe)
    raise UnimodalError(
        f"none of {tries:,} graphs drawn with p = {p:g} on {n_arms} arms was connected: "
        f"take p nearer to log(K)/K = {math.log(n_arms) / n_arms:.3g}, or more tries."
    )


def _pair(number):
    """The ends of pair `number` in the order (0,1), (0,2), (1,2), (0,3), …"""
    high = ((1 + np.sqrt(1 + 8 * number.astype(np.float64))) / 2).astype(np.int64)
    high -= high * (high - 1) // 2 > number  # the square root may round up
    return number - high * (high - 1) // 2, high


def barabasi_albert(n_arms: int, m: int, seed: int = 0) -> Graph:
    """Preferential attachment, from a complete graph of m + 1 arms.

    Each later arm joins m different earlier ones, each drawn with probability proportional to its
    degree (a draw of one already chosen is repeated). A million arms take a second or two.

    Parameters
    ----------
    n_arms
        The number of arms.
    m
        How many earlier arms a new one joins.
    seed
        Determines the graph.

    Returns
    -------
    Graph
        The graph.

    Examples
    --------
    >>> barabasi_albert(1000, 2, seed=0).n_edges
    1997
    """
    m = whole_number(m, "the 'm' of barabasi_albert")
    n_arms = whole_number(n_arms, "the 'n_arms' of barabasi_albert", m + 1)
    seed = whole_number(seed, "the 'seed'", 0)
    core = m * (m + 1) // 2
    check_size("Barabási–Albert graph", n_arms, core + m * (n_arms - m - 1))
    tails, heads = np.triu_indices(m + 1, 1)
    ends = np.empty(2 * (core + m * (n_arms - m - 1)), dtype=np.int32)
    ends[0 : 2 * core : 2], ends[1 : 2 * core : 2] = tails, heads
    _attach(ends, core, m, np.zeros(n_arms, dtype=np.int32), stream(seed, n_arms, GRAPH))
    recipe = {"kind": "barabasi_albert", "n_arms": n_arms, "m": m, "seed": seed}
    return lay_out(n_arms, ends[::2], ends[1::2], recipe)


@jit
def _attach(ends, core, m, joined, rng):
    """Fill `ends`, the flat list of edges; an arm stands in it as often as its degree.

    `joined` has, for each arm, the last one that chose it: a draw is repeated without a search.
    """
    filled = 2 * core
    for arm in range(m + 1, len(joined)):
        known = filled
        while filled < known + 2 * m:
            chosen = ends[randint(rng, known)]
            if joined[chosen] != arm:
                joined[chosen] = arm
                ends[filled], ends[filled + 1] = chosen, arm
                filled += 2
