"""Graphs from elsewhere: edges, files, NetworkX, SciPy."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from unimodal.errors import UnimodalError
from unimodal.graphs.build import checked
from unimodal.graphs.graph import Graph


def from_edges(
    edges: Iterable[tuple[Hashable, Hashable]], labels: Iterable[Hashable] | None = None
) -> Graph:
    """A graph from pairs of arms.

    Pairs of whole numbers from 0 up are indices, and no number may be missing. Anything else is a
    label; labels get their indices in the order in which they first appear, or as `labels` lists
    them.

    >>> from_edges([("cheap", "fair"), ("fair", "dear")]).labels
    ('cheap', 'fair', 'dear')
    """
    pairs = edges if isinstance(edges, np.ndarray) else list(edges)
    if not len(pairs):
        raise UnimodalError("a graph must have at least one edge, got none.")
    for number, pair in enumerate(pairs):
        if isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2:
            raise UnimodalError(f"edge {number} must be a pair of arms, got {pair!r}.")
    recipe: dict[str, Any] = {"kind": "edges"}
    if labels is None and _are_indices(pairs):
        array = np.asarray(pairs, dtype=np.int64)
        n_arms = int(array.max()) + 1
        return checked(n_arms, array[:, 0], array[:, 1], recipe)
    given = labels is not None
    index: dict[Hashable, int] = {label: arm for arm, label in enumerate(labels or ())}
    array = np.empty((len(pairs), 2), dtype=np.int64)
    for number, pair in enumerate(pairs):
        for side, label in enumerate(pair):
            try:
                arm = index.get(label)
            except TypeError:
                raise UnimodalError(
                    f"a label must be hashable (a string, a number), got {label!r} in edge {number}."
                ) from None
            if arm is None and given:
                raise UnimodalError(f"edge {number} names {label!r}, which is not in the labels.")
            array[number, side] = index.setdefault(label, len(index)) if arm is None else arm
    return checked(len(index), array[:, 0], array[:, 1], recipe, tuple(index))


def _are_indices(pairs: Any) -> bool:
    if isinstance(pairs, np.ndarray):
        return bool(np.issubdtype(pairs.dtype, np.integer)) and int(pairs.min()) >= 0
    kinds = (int, np.integer)
    return all(isinstance(x, kinds) and not isinstance(x, bool) and x >= 0 for p in pairs for x in p)


def read_edges(path: str | Path) -> Graph:
    """A graph from a CSV file with an edge a line (a header is recognised; .gz is unpacked)."""
    path = Path(path)
    opener: Any = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", newline="", encoding="utf-8") as handle:
            lines = [[cell.strip() for cell in row] for row in csv.reader(handle) if row]
    except OSError as error:
        raise UnimodalError(
            f"the file of edges {path} cannot be read: {error.strerror or error}."
        ) from None
    except (UnicodeDecodeError, csv.Error, EOFError):
        raise UnimodalError(f"{path} must be a CSV file of text, one edge a line.") from None
    if lines and [cell.lower() for cell in lines[0][:2]] in _HEADERS:
        lines = lines[1:]
    for number, row in enumerate(lines, start=1):
        if len(row) < 2:
            raise UnimodalError(f"edge {number} of {path} must have two columns, got {row}.")
    pairs: list[Any] = [(row[0], row[1]) for row in lines]
    if pairs and all(x.isdecimal() for pair in pairs for x in pair):
        numbers = np.asarray(pairs, dtype=np.int64)
        labels, indices = np.unique(numbers, return_inverse=True)
        if labels[-1] == len(labels) - 1:
            return from_edges(numbers)
        return from_edges([(int(a), int(b)) for a, b in numbers], labels=labels.tolist())
    return from_edges(pairs)


_HEADERS = (["source", "target"], ["from", "to"], ["a", "b"], ["u", "v"], ["node1", "node2"])


def from_scipy(matrix: Any, labels: Iterable[Hashable] | None = None) -> Graph:
    """A graph from a symmetric sparse adjacency matrix; only which entries are non-zero counts.

    >>> import scipy.sparse
    >>> from_scipy(scipy.sparse.diags([1, 1], [-1, 1], shape=(4, 4)))
    Graph(edges, 4 arms, 3 edges)
    """
    from scipy.sparse import coo_matrix

    entries = coo_matrix(matrix)
    entries.sum_duplicates()
    entries.eliminate_zeros()
    if entries.shape[0] != entries.shape[1]:
        raise UnimodalError(f"an adjacency matrix must be square, got shape {entries.shape}.")
    pattern = entries.astype(bool).tocsr()
    if (pattern != pattern.T).nnz:
        raise UnimodalError(
            "an adjacency matrix must be symmetric, got one that is not: arms are joined both ways "
            "(use matrix + matrix.T)."
        )
    upper = entries.row <= entries.col
    tails, heads = entries.row[upper], entries.col[upper]
    names = tuple(labels) if labels is not None else None
    return checked(entries.shape[0], tails, heads, {"kind": "edges"}, names)


def from_networkx(graph: Any) -> Graph:
    """A graph from an undirected NetworkX graph; its nodes become labels unless they are 0 … K-1.

    >>> import networkx
    >>> from_networkx(networkx.star_graph(4)).max_degree
    4
    """
    if graph.is_directed():
        raise UnimodalError(
            "the NetworkX graph must be undirected, got a directed one: "
            "call .to_undirected() on it first."
        )
    nodes = list(graph.nodes)
    plain = set(nodes) == set(range(len(nodes)))
    index = {node: arm for arm, node in enumerate(sorted(nodes) if plain else nodes)}
    ends = np.array([(index[a], index[b]) for a, b in graph.edges()], dtype=np.int64).reshape(-1, 2)
    labels = None if plain else tuple(nodes)
    return checked(len(nodes), ends[:, 0], ends[:, 1], {"kind": "edges"}, labels)
