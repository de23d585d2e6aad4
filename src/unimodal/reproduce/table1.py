"""Table 1: line graphs of Combes and Proutiere, four policies, regret relative to OSUB's."""

from __future__ import annotations

from dataclasses import dataclass

from unimodal.analysis import Interval
from unimodal.policies import KLUCB, OSUB, TS, UTS
from unimodal.problems import triangular
from unimodal.reproduce import paper
from unimodal.result import Result
from unimodal.simulate import simulate

HORIZON, TRIALS, SEED = 100_000, 100, 2017
POLICIES = (KLUCB(), TS(), OSUB(), UTS())


@dataclass(frozen=True)
class Cell:
    """One of the paper's numbers beside ours."""

    n_arms: int
    policy: str
    regret: Interval  # ours; the paper gives none here
    ratio: Interval  # ours
    reported: Interval | None  # the paper's ratio; none for OSUB itself

    @property
    def agrees(self) -> bool | None:
        """Whether our ratio lies in the paper's interval, widened by ours."""
        if self.reported is None:
            return None
        allowed = self.reported.half_width + self.ratio.half_width
        return abs(self.ratio.value - self.reported.value) <= allowed


def run(n_arms: int, trials: int = TRIALS, progress: bool | None = None) -> Result:
    """The experiment at one size, at the paper's horizon."""
    problem = triangular(n_arms, high=0.9, low=0.1)
    return simulate(problem, POLICIES, horizon=HORIZON, trials=trials, seed=SEED, progress=progress)


def cells(result: Result) -> list[Cell]:
    """The rows of one size."""
    n_arms = result.problem.graph.n_arms
    reported = paper.TABLE_1[n_arms]
    return [
        Cell(n_arms, name, result.regret(name), result.ratio(name, "OSUB"), reported.get(name))
        for name in result
    ]
