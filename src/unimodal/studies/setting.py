"""A setting: a family of graphs with its means, the policies on it, and how often."""

from __future__ import annotations

import math
import time
import zlib
from dataclasses import asdict, dataclass
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from unimodal import graphs, problems
from unimodal.errors import LONGEST, UnimodalError, unknown_name, whole_number
from unimodal.policies import parse
from unimodal.problems import Problem
from unimodal.studies.tasks import Task, played

HIGH, LOW = 0.9, 0.1  # the paper's


class BaseSetting:
    """For settings of your own: a frozen dataclass as plain data, and back.

    Its fields must include `name`, `policies`, `horizon`, `graphs` and `trials`, and it must have a
    method `measure` (see `studies.tasks.Plan`).

    Examples
    --------
    >>> from unimodal.studies import BaseSetting, Setting
    >>> issubclass(Setting, BaseSetting)
    True
    """

    def seconds_a_trial(self, policy: str) -> float:
        """About how long a trial takes."""
        return 0.02

    def to_data(self) -> dict[str, Any]:
        """The whole setting as plain JSON data."""
        return asdict(cast(Any, self))

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Self:
        """The setting that `to_data` described."""
        make: Any = cls
        return cast(Self, make(**{**data, "policies": tuple(data["policies"])}))


@dataclass(frozen=True)
class Setting(BaseSetting):
    """A family of graphs with its means, the policies on it, and how often.

    `graph` and `policies` are text, as on the command line. `means` is "by distance" (they fall
    evenly with the distance from the peak), "smooth" (they fall as a bell) or "rank one" (arms are
    pairs of a `rank_one` graph). The peak of each graph is a random arm.

    Parameters
    ----------
    name
        What tables call it.
    graph
        The graph as text, as on the command line.
    means
        "by distance", "smooth" or "rank one".
    policies
        The policies as text.
    horizon
        The number of rounds of a trial.
    graphs
        How many graphs are drawn.
    trials
        How many trials each policy has on each graph.

    Examples
    --------
    >>> setting = Setting("sparse", "er:100:0.05", "by distance", ("UTS", "TS"), 1000, 2, 3)
    >>> setting.problem(graph=1).graph.n_arms
    100
    """

    name: str
    graph: str  # as on the command line: "er:100:0.05"
    means: str  # "by distance", "smooth" or "rank one"
    policies: tuple[str, ...]
    horizon: int
    graphs: int
    trials: int  # on each graph

    def seed(self, graph: int) -> int:
        """The seed of one of the graphs; it depends on the setting's name and the number alone."""
        return zlib.crc32(f"{self.name} #{graph}".encode())

    def problem(self, graph: int) -> Problem:
        """The problem on one of the graphs, with a peak drawn uniformly."""
        seed = self.seed(graph)
        made = graphs.parse(self.graph, seed)
        if self.means not in _MEANS:
            raise unknown_name("means", self.means, _MEANS)
        return _MEANS[self.means](made, seed)

    def measure(self, task: Task[Any]) -> NDArray[np.float64]:
        """One row per trial: the seconds it took, then its regrets at the checkpoints."""
        trials = played(task)
        rows = []
        for _ in range(task.first, task.last):
            began = time.thread_time()  # not the wall's: other threads and programs take of that
            regret = next(trials)
            rows.append(np.append(time.thread_time() - began, regret))
        return np.stack(rows)

    def seconds_a_trial(self, policy: str) -> float:
        """About how long a trial of the leap engine takes: the mean over `unimodal compare`."""
        return 0.013

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Self:
        """The setting that `to_data` described, or an error if it cannot be one."""
        made = super().from_data(data)
        for text in (made.name, made.graph, made.means, *made.policies):
            if not isinstance(text, str):
                raise UnimodalError(f"a name of a setting must be text, got {text!r}.")
        for number in (made.horizon, made.graphs, made.trials):
            whole_number(number, "a number of a setting", at_most=LONGEST)
        if made.graph.startswith("edges"):
            raise UnimodalError(f"the graph of a setting must be in its name, got '{made.graph}'.")
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
