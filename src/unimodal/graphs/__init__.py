"""Graphs of arms: generators, conversions, and graphs written as text or as data."""

from unimodal.graphs.convert import from_edges, from_networkx, from_scipy, read_edges
from unimodal.graphs.generators import barabasi_albert, complete, erdos_renyi, grid, line
from unimodal.graphs.graph import Graph
from unimodal.graphs.spec import from_data, parse, to_data

__all__ = [
    "Graph",
    "barabasi_albert",
    "complete",
    "erdos_renyi",
    "from_data",
    "from_edges",
    "from_networkx",
    "from_scipy",
    "grid",
    "line",
    "parse",
    "read_edges",
    "to_data",
]
