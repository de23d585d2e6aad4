"""One setting of the paper: its graphs, its means and its seeds.

A finished trial is found again as long as this file is unchanged (see `studies.tasks.Task.key`), so
which settings there are, and how often each is played, stands elsewhere: in `settings.py`.
"""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass
from typing import Any, Self

from unimodal.errors import LONGEST, UnimodalError, real_number, whole_number
from unimodal.graphs import Graph, complete, erdos_renyi, line
from unimodal.problems import Problem, by_distance, random_peak, triangular
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
