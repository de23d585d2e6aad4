"""Graphs of arms: generators, conversions, and graphs written as text or as data."""

from unimodal.graphs.convert import from_edges, from_networkx, from_scipy, read_edges
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
from unimodal.graphs.revise import revised
from unimodal.graphs.text import as_label, from_data, parse, to_data

__all__ = [
    "Graph",
    "as_label",
    "barabasi_albert",
    "binary_tree",
    "complete",
    "erdos_renyi",
    "from_data",
    "from_edges",
    "from_networkx",
    "from_scipy",
    "grid",
    "hypercube",
    "lattice",
    "line",
    "parse",
    "product",
    "rank_one",
    "read_edges",
    "revised",
    "star",
    "to_data",
    "torus",
]
