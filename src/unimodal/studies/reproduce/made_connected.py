"""Table 3 at p = 0.1: ways in which few arms can have got a connected graph, each tried.

The paper says neither how its graphs were made connected nor how often a draw was given up.
"""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from unimodal.graphs import Graph, erdos_renyi, from_edges, line
from unimodal.graphs.build import components
from unimodal.problems import Problem, by_distance, random_peak
from unimodal.results.statistics import Interval
from unimodal.studies import study
from unimodal.studies.reproduce.findings import Finding
from unimodal.studies.reproduce.number_agreement import Agreement, judge_regret
from unimodal.studies.reproduce.paper_numbers import TABLE_3
from unimodal.studies.reproduce.tables import half_width_of_ten
from unimodal.studies.setting import BaseSetting
from unimodal.studies.tasks import Task, run

WHAT = "the made-connected.parquet of a reproduction"
P = 0.1
SIZES = (5, 10, 20, 50)
WAYS = {
    "rejection": "drawn until connected (as we do)",
    "line": "a line",
    "path": "drawn once, with a path through all arms added",
    "tree": "drawn once, with a random tree added",
    "joined": "drawn once, its parts joined by random edges",
}


def connected_share(n_arms: int, p: float) -> float:
    """The probability that a random graph is connected (Gilbert 1959, eq. 3).

    >>> round(connected_share(3, 0.5), 3)  # three paths and a triangle, of eight graphs
    0.5
    """
    shares = [0.0]
    for size in range(1, n_arms + 1):
        # The part with the first arm has `part` arms, is connected, and has no edge to the rest.
        apart = sum(
            math.comb(size - 1, part - 1) * shares[part] * (1 - p) ** (part * (size - part))
            for part in range(1, size)
        )
        shares.append(1.0 - apart)
    return shares[n_arms]


@dataclass(frozen=True)
class MadeConnected(BaseSetting):
    """Random graphs with p = 0.1, made connected in one of the `WAYS`."""

    way: str
    n_arms: int
    policies: tuple[str, ...]
    horizon: int
    graphs: int
    trials: int

    @property
    def name(self) -> str:
        """A name that no other setting has."""
        return f"Table 3, {self.way}: K = {self.n_arms}"

    def seed(self, graph: int) -> int:
        """The seed of one of its graphs."""
        return zlib.crc32(f"{self.name} #{graph}".encode())

    def problem(self, graph: int) -> Problem:
        """The problem on one of its graphs, with a peak drawn uniformly."""
        seed = self.seed(graph)
        made = self._graph(seed)
        return by_distance(made, random_peak(made, seed))

    def measure(self, task: Task[Any]) -> Any:
        """One row per trial: its regrets at the checkpoints."""
        return run(task)

    def _graph(self, seed: int) -> Graph:
        if self.way == "rejection":
            return erdos_renyi(self.n_arms, P, seed)
        if self.way == "line":
            return line(self.n_arms)
        rng = np.random.default_rng([seed, self.n_arms])
        tails, heads = np.triu_indices(self.n_arms, 1)
        drawn = rng.random(len(tails)) < P
        edges = set(zip(tails[drawn].tolist(), heads[drawn].tolist(), strict=True))
        return from_edges(sorted(edges | self._added(edges, rng)))

    def _added(self, edges: set[tuple[int, int]], rng: Any) -> set[tuple[int, int]]:
        arms = range(1, self.n_arms)
        if self.way == "path":  # arms are alike, so their own order is a random one
            return {(arm - 1, arm) for arm in arms}
        if self.way == "tree":
            return {(int(rng.integers(arm)), arm) for arm in arms}
        ends = np.array(sorted(edges), dtype=np.int64).reshape(-1, 2)
        part = np.asarray(components(self.n_arms, ends[:, 0], ends[:, 1]))
        added, whole = set(), part == part[0]
        while not whole.all():
            one, two = (int(rng.choice(np.flatnonzero(side))) for side in (whole, ~whole))
            added.add((min(one, two), max(one, two)))
            whole |= part == part[two]
        return added


def planned(graphs: int = 50, trials: int = 20) -> list[MadeConnected]:
    """Every way at every size."""
    both = ("TS", "OSUB")
    return [MadeConnected(w, k, both, 10**5, graphs, trials) for w in WAYS for k in SIZES]


def load(path: Path) -> study.Outcomes[Finding]:
    """The outcomes in a file."""
    return study.load(path, MadeConnected, Finding, WHAT)


class Fit(NamedTuple):
    """One way at one size: ours beside the paper's number."""

    way: str
    n_arms: int
    policy: str
    paper: float
    ours: Interval
    verdict: Agreement


def fits(found: study.Outcomes[Finding]) -> list[Fit]:
    """How far each way is from Table 3, judged as its numbers are, over all of these together."""
    made = []
    for one in found.all:
        k = one.setting.n_arms
        value, ours = TABLE_3[k, one.policy], one.over_graphs
        spread = half_width_of_ten(one)
        reported = Interval(value, value - spread, value + spread)
        verdict = judge_regret(one, reported, len(found.all))
        made.append(Fit(one.setting.way, k, one.policy, value, ours, verdict))
    return made
