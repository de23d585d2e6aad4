"""The paper's experiments as data, at the paper's scale and at a quick one."""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass
from typing import Any, Self

from unimodal.errors import LONGEST, UnimodalError, real_number, whole_number
from unimodal.graphs import Graph, complete, erdos_renyi, line
from unimodal.problems import Problem, by_distance, random_peak, triangular
from unimodal.studies.reproduce.paper_numbers import DENSITIES, POLICIES, SIZES
from unimodal.studies.setting import BaseSetting
from unimodal.studies.tasks import Task, run


@dataclass(frozen=True)
class Setting(BaseSetting):
    """One graph family at one size, the policies on it, and how often."""

    experiment: str  # which table or figure of the paper
    n_arms: int
    density: str  # "1", "1/2", "log(K)/K", "line", "0.1", "5/K", "10/K"; or "triangle"
    policies: tuple[str, ...]
    horizon: int
    graphs: int
    trials: int  # of each graph
    high: float = 0.9

    @property
    def name(self) -> str:
        """A name that no other setting has."""
        peak = "" if self.high == 0.9 else f", peak {self.high:g}"
        return f"{self.experiment}: K = {self.n_arms}, p = {self.density}{peak}"

    def seed(self, graph: int) -> int:
        """The seed of one of its graphs; it depends on the setting's name and the number alone."""
        return zlib.crc32(f"{self.name} #{graph}".encode())

    def problem(self, graph: int) -> Problem:
        """The problem on one of its graphs."""
        if self.density == "triangle":
            return triangular(self.n_arms, high=self.high)
        seed = self.seed(graph)
        made = self._graph(seed)
        return by_distance(made, random_peak(made, seed), high=self.high)

    def measure(self, task: Task[Any]) -> Any:
        """One row per trial: its regrets at the checkpoints."""
        return run(task)

    def seconds_a_trial(self, policy: str) -> float:
        """A rough model of the cost of a trial of the leap engine, on one core."""
        k = self.n_arms
        on_line = self.density in ("line", "triangle")
        near = 3.0 if on_line else edge_probability(self.density, k) * k
        every_arm = policy.split("(")[0] in ("TS", "KLUCB")
        contest = k if every_arm else near
        # On lines many arms are nearly as good; until they are distinguished, little is skipped.
        gap = 2.0 * (self.high - 0.1) / k if on_line else 1.0
        unclear = min(self.horizon, 50.0 / gap**2)
        return 2e-3 + 1e-4 * contest + unclear * (1.5e-7 + (3e-9 * k if every_arm else 0.0))

    def _graph(self, seed: int) -> Graph:
        if self.density == "line":
            return line(self.n_arms)
        p = edge_probability(self.density, self.n_arms)
        return complete(self.n_arms) if p == 1 else erdos_renyi(self.n_arms, p, seed)

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Self:
        """The setting that `to_data` described, or an error if it cannot be one."""
        made = super().from_data(data)
        for number, least in ((made.n_arms, 2), (made.horizon, 1), (made.graphs, 1)):
            whole_number(number, "a number of a setting", least, LONGEST)
        whole_number(made.trials, "the trials of a setting", at_most=LONGEST)
        real_number(made.high, "the highest mean of a setting", above=0)
        for text in (made.experiment, made.density, *made.policies):
            if not isinstance(text, str):
                raise UnimodalError(f"a name of a setting must be text, got {text!r}.")
        return made


def edge_probability(density: str, n_arms: int) -> float:
    """The edge probability p that a density names.

    >>> edge_probability("5/K", 1000)
    0.005
    """
    known = {"1": 1.0, "1/2": 0.5, "0.1": 0.1, "log(K)/K": math.log(n_arms) / n_arms}
    known |= {"5/K": 5 / n_arms, "10/K": 10 / n_arms}
    if density not in known:
        raise UnimodalError(f"the density must be one of {', '.join(known)}, got '{density}'.")
    return known[density]


@dataclass(frozen=True)
class Scale:
    """How many graphs and trials: the paper's, or fewer."""

    name: str
    graphs: int
    trials: int
    large: tuple[int, int]  # graphs, trials at K = 1000
    variants: tuple[int, int]  # trials of each open choice: lines of Table 1, each graph of Table 2
    appendix: int  # trials of the long lines
    long: int  # horizon of the long lines


FULL = Scale("full", 10, 100, (10, 100), (100, 20), 100, 10**7)
QUICK = Scale("quick", 4, 15, (3, 3), (20, 6), 6, 10**6)
SCALES = {scale.name: scale for scale in (QUICK, FULL)}

# Appendix B: the highest mean of the line for each difference between neighbours. The paper's 0.165
# at K = 129 is a difference of 0.00102, not of 0.001; its number is used.
PEAKS = {
    17: {0.001: 0.108, 0.002: 0.116, 0.005: 0.14},
    129: {0.001: 0.165, 0.002: 0.23, 0.005: 0.425},
}


# What the paper leaves open: the start, the leader among ties, and c. The first of each is ours.
VARIANTS = (
    "UTS",
    "UTS(start=literal)",
    "UTS(start=literal, ties=lowest)",
    "UTS(start=probe(8))",
    "UTS(ties=lowest)",
    "OSUB",
    "OSUB(start=literal)",
    "OSUB(c=1)",
    "OSUB(c=0)",
    "KLUCB",
    "KLUCB(c=1)",
    "KLUCB(c=0)",
)


def settings(scale: Scale) -> list[Setting]:
    """Every setting of the paper, in its order."""

    def graphs(n_arms: int) -> tuple[int, int]:
        return scale.large if n_arms == 1000 else (scale.graphs, scale.trials)

    both = ("UTS", "OSUB")
    made = [Setting("Table 1", k, "triangle", POLICIES, 10**5, 1, 100) for k in (17, 129)]
    made += [
        Setting("Table 2", k, p, POLICIES, 10**5, *graphs(k)) for p in DENSITIES for k in SIZES
    ]
    made += [Setting("Table 3", k, "0.1", ("TS", "OSUB"), 10**5, *graphs(k)) for k in SIZES]
    made += [
        Setting("Appendix B", k, "triangle", both, scale.long, 1, scale.appendix, high)
        for k, peaks in PEAKS.items()
        for high in peaks.values()
    ]
    made += [Setting("Appendix B", 1000, p, both, 10**6, *scale.large) for p in ("5/K", "10/K")]
    made += [
        Setting("Open choices", k, "triangle", VARIANTS, 10**5, 1, scale.variants[0])
        for k in (17, 129)
    ]
    made += [
        Setting("Open choices", k, "line", VARIANTS, 10**5, scale.graphs, scale.variants[1])
        for k in SIZES
        if k <= 100
    ]
    return made
