"""Graphs as text (`er:100:0.05`, for the command line) and as data (for saved files)."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from unimodal.errors import UnimodalError, unknown_name, whole_number
from unimodal.graphs.build import checked
from unimodal.graphs.convert import read_edges
from unimodal.graphs.generators import (
    barabasi_albert,
    binary_tree,
    complete,
    erdos_renyi,
    rank_one,
    star,
)
from unimodal.graphs.graph import Graph
from unimodal.graphs.lattices import grid, hypercube, lattice, line, torus
from unimodal.graphs.products import product


def _sides(part: str) -> list[int]:
    return [int(side) for side in part.split("x")]


# How a graph is spelt on the command line: the form, and what makes it from the parts and a seed.
FORMS: dict[str, tuple[str, Callable[[list[str], int], Graph]]] = {
    "line": ("line:K", lambda parts, seed: line(int(parts[0]))),
    "complete": ("complete:K", lambda parts, seed: complete(int(parts[0]))),
    "er": ("er:K:P", lambda parts, seed: erdos_renyi(int(parts[0]), float(parts[1]), seed)),
    "ba": ("ba:K:M", lambda parts, seed: barabasi_albert(int(parts[0]), int(parts[1]), seed)),
    "grid": ("grid:ROWSxCOLUMNS", lambda parts, seed: grid(*_sides(parts[0]))),
    "torus": ("torus:ROWSxCOLUMNS", lambda parts, seed: torus(*_sides(parts[0]))),
    "lattice": ("lattice:AxBx…", lambda parts, seed: lattice(*_sides(parts[0]))),
    "star": ("star:K", lambda parts, seed: star(int(parts[0]))),
    "tree": ("tree:K", lambda parts, seed: binary_tree(int(parts[0]))),
    "hypercube": ("hypercube:DIMENSION", lambda parts, seed: hypercube(int(parts[0]))),
    "rank_one": ("rank_one:ROWSxCOLUMNS", lambda parts, seed: rank_one(*_sides(parts[0]))),
    "edges": ("edges:FILE.csv", lambda parts, seed: read_edges(":".join(parts))),
}

_DEEPEST = 50  # tuples in a tuple


def _drawn_again(n_arms: int, p: float, seed: int) -> Graph:
    """The random graph of a file, which may say nonsense: some seconds are enough to find it."""
    work = max(n_arms, p * n_arms**2 / 2)
    return erdos_renyi(n_arms, p, seed, tries=int(min(100_000, max(100, 1e8 / work))))


_FIXED = (line, complete, grid, torus, star, binary_tree, hypercube, rank_one)
_MAKERS: dict[str, Callable[..., Graph]] = {
    **{made.__name__: made for made in (*_FIXED, barabasi_albert)},
    "erdos_renyi": _drawn_again,
    "lattice": lambda sides, wrap: lattice(*sides, wrap=wrap),
    "product": lambda factors, strong: product(*map(from_data, factors), strong=strong),
}


def parse(text: str, seed: int = 0) -> Graph:
    """A graph from its form on the command line.

    Parameters
    ----------
    text
        As in "line:129", "er:100:0.05" or "edges:FILE.csv".
    seed
        Determines random graphs.

    Returns
    -------
    Graph
        The graph.

    Raises
    ------
    UnimodalError
        If there is no such form; the closest one is named.

    Examples
    --------
    >>> parse("grid:3x4")
    Graph(grid, 12 arms, 17 edges)
    """
    kind, *parts = str(text).split(":")
    if kind not in FORMS:
        raise unknown_name("graph", kind, FORMS)
    form, make = FORMS[kind]
    expected = form.count(":")
    if len(parts) == expected or (kind == "edges" and parts):
        try:
            return make(parts, seed)
        except UnimodalError:
            raise
        except (ValueError, TypeError):
            pass  # a part that is not a number
    raise UnimodalError(f"a graph of kind '{kind}' is written {form}, got '{text}'.")


def to_data(graph: Graph) -> dict[str, Any]:
    """All that is needed to make the graph again, as plain JSON data.

    Parameters
    ----------
    graph
        The graph.

    Returns
    -------
    dict[str, Any]
        A dict for JSON; of a generated graph its recipe, of another one its edges.

    Examples
    --------
    >>> from unimodal import graphs
    >>> graphs.to_data(graphs.line(3))["kind"]
    'line'
    """
    data: dict[str, Any] = {**graph.recipe, "fingerprint": graph.fingerprint}
    if data["kind"] == "edges":
        data |= {"n_arms": graph.n_arms, "edges": graph.edges().tolist()}
        if graph.has_labels:
            data["labels"] = list(graph.labels)
    return data


def from_data(data: dict[str, Any]) -> Graph:
    """The graph that `to_data` described; refused if this version makes another one from it.

    Parameters
    ----------
    data
        What `to_data` returned.

    Returns
    -------
    Graph
        The same graph.

    Examples
    --------
    >>> from unimodal import graphs
    >>> from_data(to_data(graphs.line(3)))
    Graph(line, 3 arms, 2 edges)
    """
    parts = {key: value for key, value in data.items() if key not in ("kind", "fingerprint")}
    if data["kind"] == "edges":
        ends = np.asarray(parts["edges"], dtype=np.int64).reshape(-1, 2)
        n_arms = whole_number(parts["n_arms"], "the arms of a saved graph", 2, 2 * len(ends) + 1)
        labels = [as_label(label) for label in parts["labels"]] if "labels" in parts else None
        graph = checked(n_arms, ends[:, 0], ends[:, 1], {"kind": "edges"}, labels)
    elif data["kind"] not in _MAKERS:
        raise unknown_name("kind of graph", data["kind"], ["edges", *_MAKERS])
    else:
        graph = _MAKERS[data["kind"]](**parts)
    if graph.fingerprint != data["fingerprint"]:
        raise UnimodalError(
            f"the saved {data['kind']} graph has the fingerprint {data['fingerprint']}, but this "
            f"version makes {graph.fingerprint}: the file is damaged or from another version."
        )
    return graph


def as_label(data: Any, depth: int = 0) -> Hashable:
    """A label as it was before JSON, which has lists for tuples; a ValueError for an abyss.

    Parameters
    ----------
    data
        A label after a trip through JSON.
    depth
        How deeply it is nested already.

    Returns
    -------
    Hashable
        The label, with tuples for lists.

    Examples
    --------
    >>> as_label(["9.90", 2])
    ('9.90', 2)
    """
    if not isinstance(data, list):
        label: Hashable = data
        return label
    if depth > _DEEPEST:  # whoever prints, hashes or saves it would run out of stack
        raise ValueError("a label of tuples in tuples in tuples")
    return tuple(as_label(part, depth + 1) for part in data)
