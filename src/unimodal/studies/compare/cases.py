"""What is compared, as data: graph families with their means, policies, and how often."""

from __future__ import annotations

import math
import zlib
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from unimodal import graphs, problems
from unimodal.errors import LONGEST, UnimodalError, unknown_name, whole_number
from unimodal.families import Bernoulli
from unimodal.policies import POLICIES, Policy, parse
from unimodal.problems import Problem

HIGH, LOW = 0.9, 0.1  # the paper's
UNIT = "UTS"  # the policy to which all others are related

# Beside every policy of POLICIES with its defaults.
VARIANTS = ("UTS(period=2)", "OSUB(c=0)", "KLUCB(c=0)")


@dataclass(frozen=True)
class Case:
    """A family of graphs with its means, the policies on it, and how often."""

    name: str
    graph: str  # as on the command line: "er:100:0.05"
    means: str  # "by distance", "smooth" or "rank one"
    policies: tuple[str, ...]
    horizon: int
    graphs: int
    trials: int  # of each graph

    def seed(self, graph: int) -> int:
        """The seed of one of its graphs; it depends on the case's name and the number alone."""
        return zlib.crc32(f"{self.name} #{graph}".encode())

    def problem(self, graph: int) -> Problem:
        """The problem on one of its graphs, with a peak drawn uniformly."""
        seed = self.seed(graph)
        made = graphs.parse(self.graph, seed)
        if self.means not in _MEANS:
            raise unknown_name("means", self.means, _MEANS)
        return _MEANS[self.means](made, seed)

    def seconds_a_trial(self, policy: str) -> float:
        """About how long a trial of the leap engine takes: the mean over all cases."""
        return 0.013

    def to_data(self) -> dict[str, Any]:
        """Everything about it, as plain JSON data."""
        return asdict(self)

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Case:
        """The case that `to_data` described."""
        made = cls(**{**data, "policies": tuple(data["policies"])})
        for text in (made.name, made.graph, made.means, *made.policies):
            if not isinstance(text, str):
                raise UnimodalError(f"a name of a case must be text, got {text!r}.")
        for number in (made.horizon, made.graphs, made.trials):
            whole_number(number, "a number of a case", at_most=LONGEST)
        if made.graph.startswith("edges"):
            raise UnimodalError(f"the graph of a case must be in its name, got '{made.graph}'.")
        for policy in made.policies:
            parse(policy, own=False)
        return made


def _by_distance(graph: graphs.Graph, seed: int) -> Problem:
    return problems.by_distance(graph, problems.random_peak(graph, seed), HIGH, LOW)


def _smooth(graph: graphs.Graph, seed: int) -> Problem:
    return problems.smooth_peak(graph, problems.random_peak(graph, seed), HIGH, LOW)


def _rank_one(graph: graphs.Graph, seed: int) -> Problem:
    """Entries of u and v evenly spaced in a random order, such that means go from LOW to HIGH."""
    rng = np.random.default_rng(seed)
    sides = (graph.recipe["rows"], graph.recipe["columns"])
    u, v = (rng.permutation(np.linspace(math.sqrt(LOW), math.sqrt(HIGH), side)) for side in sides)
    return problems.rank_one(u, v)


_MEANS = {"by distance": _by_distance, "smooth": _smooth, "rank one": _rank_one}

_GRAPHS = {
    "line": "line:100",
    "grid": "grid:10x10",
    "torus": "torus:10x10",
    "3-D lattice": "lattice:5x5x4",
    "hypercube": "hypercube:7",
    "binary tree": "tree:127",
    "star": "star:100",
    "complete": "complete:100",
    "Erdős–Rényi, p = log(K)/K": f"er:100:{math.log(100) / 100:.6f}",
    **{f"Barabási–Albert, m = {m}": f"ba:100:{m}" for m in (1, 2, 5)},
}
# Name, graph and means of each case.
FAMILIES: tuple[tuple[str, str, str], ...] = (
    *((name, graph, "by distance") for name, graph in _GRAPHS.items()),
    ("rank one", "rank_one:10x10", "rank one"),
    # A complete graph has two levels of means, however the peak is shaped.
    *((f"{n}, smooth", graph, "smooth") for n, graph in _GRAPHS.items() if n != "complete"),
)


@dataclass(frozen=True)
class Scale:
    """How much is run: graphs of each family, trials of each graph, rounds of each trial."""

    name: str
    graphs: int
    trials: int
    horizon: int


FULL = Scale("full", 20, 5, 10**5)
QUICK = Scale("quick", 4, 2, 10**4)


def cases(scale: Scale) -> list[Case]:
    """Every case, in the order of the page."""
    numbers = (scale.horizon, scale.graphs, scale.trials)
    chosen = policies()
    return [Case(name, graph, means, chosen, *numbers) for name, graph, means in FAMILIES]


def policies() -> tuple[str, ...]:
    """Every policy that Bernoulli rewards allow, as text.

    >>> policies()[:4], policies()[-3:]
    (('UTS', 'OSUB', 'TS', 'KLUCB'), ('UTS(period=2)', 'OSUB(c=0)', 'KLUCB(c=0)'))
    """
    known = [policy for policy in (cls() for cls in POLICIES.values()) if _takes_coins(policy)]
    return (*(policy.name for policy in known), *VARIANTS)


def _takes_coins(policy: Policy) -> bool:
    try:
        policy.parts(graphs.line(2), Bernoulli())
    except UnimodalError:
        return False
    return True
