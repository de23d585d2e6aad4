"""Graphs from elsewhere: edges, files, NetworkX, SciPy."""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from unimodal import files
from unimodal.errors import UnimodalError, refuse_set
from unimodal.graphs.build import checked
from unimodal.graphs.graph import Graph, checked_labels


def from_edges(
    edges: Iterable[tuple[Hashable, Hashable]], labels: Iterable[Hashable] | None = None
) -> Graph:
    """A graph from pairs of arms.

    Pairs of whole numbers from 0 up are indices, and no number may be missing. Anything else is a
    label; labels get their indices in the order in which they first appear, or as `labels` lists
    them.

    Parameters
    ----------
    edges
        Pairs of arms: numbers or labels.
    labels
        The labels in the order that arms shall have.

    Returns
    -------
    Graph
        The graph, with labels where arms have some.

    Raises
    ------
    UnimodalError
        If the graph is not connected, or an edge joins an arm to itself.

    Examples
    --------
    >>> from_edges([("cheap", "fair"), ("fair", "dear")]).labels
    ('cheap', 'fair', 'dear')
    """
    refuse_set(edges, "the edges")
    try:
        pairs = edges if isinstance(edges, np.ndarray) else list(edges)
    except TypeError:
        raise UnimodalError(f"the edges must be pairs of arms, got {edges!r}.") from None
    if not len(pairs):
        raise UnimodalError("a graph must have at least one edge, got none.")
    for number, pair in enumerate(pairs):
        refuse_set(pair, f"the arms of edge {number}")
        if isinstance(pair, str | Mapping) or not hasattr(pair, "__len__") or len(pair) != 2:
            raise UnimodalError(f"edge {number} must be a pair of arms, got {pair!r}.")
    recipe: dict[str, Any] = {"kind": "edges"}
    if labels is None and _are_indices(pairs):
        n_arms = _count_indices(pairs)
        array = np.asarray(pairs, dtype=np.int64)
        return checked(n_arms, array[:, 0], array[:, 1], recipe)
    given = labels is not None
    known = checked_labels(labels) if labels is not None else ()
    index: dict[Hashable, int] = {label: arm for arm, label in enumerate(known)}
    array = np.empty((len(pairs), 2), dtype=np.int64)
    for number, pair in enumerate(pairs):
        for side, label in enumerate(pair):
            try:
                arm = index.get(label)
            except TypeError:
                raise UnimodalError(
                    f"a label must be hashable (text, a number), got {label!r} in edge {number}."
                ) from None
            if arm is None and given:
                raise UnimodalError(f"edge {number} names {label!r}, which is not in the labels.")
            array[number, side] = index.setdefault(label, len(index)) if arm is None else arm
    return checked(len(index), array[:, 0], array[:, 1], recipe, tuple(index))


def _are_indices(pairs: Any) -> bool:
    if isinstance(pairs, np.ndarray):
        return bool(np.issubdtype(pairs.dtype, np.integer)) and int(pairs.min()) >= 0
    kinds = (int, np.integer)
    return all(
        isinstance(x, kinds) and not isinstance(x, bool) and x >= 0 for p in pairs for x in p
    )


def _count_indices(pairs: Any) -> int:
    """How many arms there are; refused where a number is missing, before room is made for it."""
    found = set(np.unique(pairs).tolist())
    n_arms = int(max(found)) + 1
    if len(found) < n_arms:
        missing = next(arm for arm in range(n_arms) if arm not in found)
        raise UnimodalError(
            f"arms that are numbers must be 0, 1, 2, … with none left out, got {max(found)} but no "
            f"edge of {missing}: number them anew, or list them as labels=…."
        )
    return n_arms


def read_edges(path: str | Path) -> Graph:
    r"""A graph from a CSV file with an edge a line (a header is recognised; .gz is unpacked).

    Parameters
    ----------
    path
        A CSV file with two columns, one edge per row.

    Returns
    -------
    Graph
        The graph; columns of numbers give numbered arms, others labels.

    Raises
    ------
    UnimodalError
        If the file is missing, or a row has fewer than two columns.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> file = Path(tempfile.mkdtemp()) / "edges.csv"
    >>> _ = file.write_text("source,target\ncheap,fair\nfair,dear\n")
    >>> read_edges(file).labels
    ('cheap', 'fair', 'dear')
    """
    path = files.as_path(path, "the path of a file of edges")
    opener: Any = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", newline="", encoding="utf-8-sig") as handle:
            lines = [[cell.strip() for cell in row] for row in csv.reader(handle) if row]
    except OSError as error:
        raise UnimodalError(
            f"the file of edges {path} cannot be read: {error.strerror or error}."
        ) from None
    except (UnicodeDecodeError, csv.Error, EOFError, zlib.error):
        raise UnimodalError(f"{path} must be a CSV file of text, one edge a line.") from None
    for number, row in enumerate(lines, start=1):
        if len(row) < 2:
            raise UnimodalError(f"edge {number} of {path} must have two columns, got {row}.")
    pairs = _without_header([(row[0], row[1]) for row in lines])
    if pairs and all(x.isdecimal() and len(x) < _DIGITS for pair in pairs for x in pair):
        numbers = [(int(a), int(b)) for a, b in pairs]
        labels = sorted({arm for pair in numbers for arm in pair})
        return from_edges(numbers, labels=None if labels[-1] == len(labels) - 1 else labels)
    return from_edges(pairs)


_DIGITS = 1000  # of a number; Python reads no more than some thousands
_HEADERS = (("source", "target"), ("from", "to"), ("a", "b"), ("u", "v"), ("node1", "node2"))


def _without_header(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Leave out a first line that names the columns: words over numbers, or well-known words.

    A line that names an arm of a later one is an edge, whatever its words: `a,b` before `b,c`.
    """
    met = {cell for pair in pairs[1:] for cell in pair}
    for a, b in pairs[:1]:
        over_numbers = bool(met) and all(cell.isdecimal() for cell in met)
        words = not a.isdecimal() and not b.isdecimal() and over_numbers
        if met.isdisjoint((a, b)) and (words or (a.lower(), b.lower()) in _HEADERS):
            return pairs[1:]
    return pairs


def from_scipy(matrix: Any, labels: Iterable[Hashable] | None = None) -> Graph:
    """A graph from a symmetric sparse adjacency matrix; only which entries are non-zero counts.

    Parameters
    ----------
    matrix
        A symmetric adjacency matrix.
    labels
        The names of the arms, in the order of the rows.

    Returns
    -------
    Graph
        The graph.

    Raises
    ------
    UnimodalError
        If the matrix is not square, not symmetric, or its graph not connected.

    Examples
    --------
    >>> import scipy.sparse
    >>> from_scipy(scipy.sparse.csr_array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]]))
    Graph(edges, 4 arms, 3 edges)
    """
    from scipy.sparse import coo_matrix

    try:
        entries = coo_matrix(matrix)
    except (TypeError, ValueError):
        raise UnimodalError(
            f"an adjacency matrix must be a SciPy sparse matrix of numbers, got {matrix!r}."
        ) from None
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
    return checked(entries.shape[0], tails, heads, {"kind": "edges"}, labels)


def from_networkx(graph: Any) -> Graph:
    """A graph from an undirected NetworkX graph, whose nodes become the labels, in their order.

    Nodes that are the numbers 0 … K-1 are the indices of their arms, whatever their order.

    Parameters
    ----------
    graph
        An undirected, connected NetworkX graph.

    Returns
    -------
    Graph
        The graph, with the nodes as labels.

    Raises
    ------
    UnimodalError
        If it is directed or not connected.

    Examples
    --------
    >>> import networkx
    >>> from_networkx(networkx.path_graph(["cheap", "fair", "dear"])).labels
    ('cheap', 'fair', 'dear')
    """
    if not hasattr(graph, "is_directed"):
        raise UnimodalError(f"from_networkx must be given a NetworkX graph, got {graph!r}.")
    if graph.is_directed():
        raise UnimodalError(
            "the NetworkX graph must be undirected, got a directed one: "
            "call .to_undirected() on it first."
        )
    nodes = list(graph.nodes)
    numbered = all(type(node) is int for node in nodes) and set(nodes) == set(range(len(nodes)))
    index = {node: arm for arm, node in enumerate(sorted(nodes) if numbered else nodes)}
    ends = np.array([(index[a], index[b]) for a, b in graph.edges()], dtype=np.int64).reshape(-1, 2)
    return checked(
        len(nodes), ends[:, 0], ends[:, 1], {"kind": "edges"}, None if numbered else nodes
    )
