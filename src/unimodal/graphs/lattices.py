"""Lattices of any dimension; the line, the grid, the torus and the hypercube are cases of it."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from unimodal.errors import UnimodalError, whole_number
from unimodal.graphs.build import check_size, lay_out
from unimodal.graphs.graph import Graph, checked_labels


def lattice(*sides: int, wrap: bool = False) -> Graph:
    """Arms in a box of any dimension, each joined to the next along every side.

    With `wrap`, the last arm along a side is joined to the first (where they are not neighbours
    anyway: a side of 1 or 2 stays as it is). Arms are numbered with the last coordinate running
    fastest: `numpy.ravel_multi_index(place, sides)` is the arm at a place, `numpy.unravel_index`
    the way back.

    Parameters
    ----------
    *sides
        How many arms each side has.
    wrap
        Whether the ends of each side are joined.

    Returns
    -------
    Graph
        The graph.

    Examples
    --------
    >>> lattice(10, 10, 10).n_edges
    2700
    >>> set(lattice(10, 10, 10, wrap=True).degrees.tolist())
    {6}
    """
    checked = tuple(whole_number(side, "a side of lattice") for side in sides)
    if not isinstance(wrap, bool | np.bool_):
        raise UnimodalError(f"the 'wrap' of lattice must be True or False, got {wrap!r}.")
    return _lattice(checked, bool(wrap), {"kind": "lattice", "sides": checked, "wrap": bool(wrap)})


def line(n_arms: int | Iterable[Hashable]) -> Graph:
    """Arms in a row, each joined to the next: prices, rates, sizes.

    Parameters
    ----------
    n_arms
        The number of arms, at least 2; or their labels, in order.

    Returns
    -------
    Graph
        The graph.

    Raises
    ------
    UnimodalError
        If there are fewer than 2 arms, or two of them have the same label.

    Examples
    --------
    >>> line(17).max_degree
    2
    >>> prices = line(["9.90", "12.90", "14.90"])
    >>> [prices.label_of(arm) for arm in prices.neighbors(prices.arm_of("12.90"))]
    ['9.90', '14.90']
    """
    is_number = isinstance(n_arms, str) or getattr(n_arms, "ndim", 1) == 0
    labels = checked_labels(n_arms) if isinstance(n_arms, Iterable) and not is_number else None
    size = whole_number(n_arms if labels is None else len(labels), "the 'n_arms' of line", 2)
    # With labels it is saved as `from_edges` is: both open the same files.
    recipe = {"kind": "line", "n_arms": size} if labels is None else {"kind": "edges"}
    return _lattice((size,), False, recipe, labels)


def grid(rows: int, columns: int) -> Graph:
    """A lattice in the plane; arm r·columns + c stands in row r and column c.

    Parameters
    ----------
    rows
        The number of rows.
    columns
        The number of columns.

    Returns
    -------
    Graph
        The graph.

    Examples
    --------
    >>> grid(10, 10).n_edges
    180
    """
    rows = whole_number(rows, "the 'rows' of grid")
    columns = whole_number(columns, "the 'columns' of grid")
    return _lattice((rows, columns), False, {"kind": "grid", "rows": rows, "columns": columns})


def torus(rows: int, columns: int) -> Graph:
    """A grid without a border: its last row is joined to its first, and its last column too.

    Parameters
    ----------
    rows
        The number of rows.
    columns
        The number of columns.

    Returns
    -------
    Graph
        The graph.

    Examples
    --------
    >>> torus(10, 10).n_edges
    200
    """
    rows = whole_number(rows, "the 'rows' of torus")
    columns = whole_number(columns, "the 'columns' of torus")
    return _lattice((rows, columns), True, {"kind": "torus", "rows": rows, "columns": columns})


def hypercube(dimension: int) -> Graph:
    """2^dimension arms; two are joined if their numbers differ in one binary digit.

    Parameters
    ----------
    dimension
        The number of binary digits.

    Returns
    -------
    Graph
        The graph.

    Examples
    --------
    >>> hypercube(4).neighbors(0b0101).tolist()
    [1, 4, 7, 13]
    """
    dimension = whole_number(dimension, "the 'dimension' of hypercube")
    sides = (2,) * min(dimension, 64)  # 64 are refused like any more
    return _lattice(sides, False, {"kind": "hypercube", "dimension": dimension})


def _lattice(
    sides: tuple[int, ...],
    wrap: bool,
    recipe: dict[str, Any],
    labels: tuple[Hashable, ...] | None = None,
) -> Graph:
    n_arms = math.prod(sides)
    if n_arms < 2:
        size = " x ".join(map(str, sides)) or "no sides"
        raise UnimodalError(f"a {recipe['kind']} must have at least 2 arms, got {size}.")
    links = [side if wrap and side > 2 else side - 1 for side in sides]  # along each line of a side
    check_size(
        recipe["kind"],
        n_arms,
        sum(n_arms // side * link for side, link in zip(sides, links, strict=True)),
    )
    arms = np.arange(n_arms, dtype=np.int32)
    tails, heads, inner = [], [], n_arms
    for side, link in zip(sides, links, strict=True):
        inner //= side
        along = arms.reshape(-1, side, inner)  # the middle axis runs along this side
        tails.append(along[:, :link].ravel())
        heads.append(np.roll(along, -1, axis=1)[:, :link].ravel())
    return lay_out(n_arms, np.concatenate(tails), np.concatenate(heads), recipe, labels)
