"""What a reproduction found: regrets by setting and policy, with both kinds of interval."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from unimodal.engines.engine_choice import checkpoint_rounds
from unimodal.studies import study
from unimodal.studies.outcome import Outcome, ratio
from unimodal.studies.reproduce.settings import Setting
from unimodal.studies.sample_intervals import Samples
from unimodal.studies.tasks import CHECKPOINTS

__all__ = ["WHAT", "Finding", "Findings", "load", "ratio"]

WHAT = "the findings.parquet of a reproduction"


@dataclass(frozen=True, eq=False)
class Finding(Outcome, Samples):
    """One policy in one setting.

    A *sample* is a graph with its trials averaged, or a trial if there is only one graph.
    """

    final: Any  # regret at the horizon, (graphs, trials)
    curves: Any  # regret at the checkpoints, (samples, checkpoints)

    @classmethod
    def of(cls, setting: Any, policy: str, rows: Any) -> Self:
        curves = rows[0] if setting.graphs == 1 else rows.mean(axis=1)
        return cls(setting, policy, rows[:, :, -1], curves)

    @classmethod
    def shapes(cls, setting: Any) -> dict[str, tuple[int, ...]]:
        samples = setting.trials if setting.graphs == 1 else setting.graphs
        rounds = len(checkpoint_rounds(setting.horizon, CHECKPOINTS, "log"))
        return {"final": (setting.graphs, setting.trials), "curves": (samples, rounds)}

    def summary(self) -> dict[str, float]:
        """Mean regret with its 95 % interval over graphs, median and 99 % quantile of trials."""
        value, low, high = self.over_graphs
        median, most = self.spread
        return {"mean": value, "low": low, "high": high, "median": median, "q99": most}

    @property
    def rounds(self) -> Any:
        """The checkpoints."""
        return checkpoint_rounds(self.setting.horizon, CHECKPOINTS, "log")


class Findings(study.Outcomes[Finding]):
    """All complete findings; `at` finds one by experiment, size, density and policy."""

    def __init__(self, found: list[Finding], planned: list[Setting], made_with: str = "") -> None:
        super().__init__(found, planned, made_with)
        self._by_place = {_place(one.setting, one.policy): one for one in found}

    def at(
        self, experiment: str, n_arms: int, density: str, policy: str, high: float = 0.9
    ) -> Finding | None:
        """A finding, or None if it is not complete."""
        return self._by_place.get((experiment, n_arms, density, high, policy))


def _place(setting: Setting, policy: str) -> tuple[str, int, str, float, str]:
    return (setting.experiment, setting.n_arms, setting.density, setting.high, policy)


def found_in(outcomes: study.Outcomes[Finding]) -> Findings:
    """The outcomes of a study of the paper's settings as findings."""
    return Findings(outcomes.all, list(outcomes.settings), outcomes.made_with)


def load(path: Path) -> Findings:
    """The findings in a file."""
    return found_in(study.load(path, Setting, Finding, WHAT))
