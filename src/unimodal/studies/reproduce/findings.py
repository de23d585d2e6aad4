"""What the finished work says: regrets by setting and policy, with both kinds of interval."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unimodal import files
from unimodal.engines.plan import checkpoint_rounds
from unimodal.results.statistics import Interval, ratio_interval
from unimodal.studies import parquet
from unimodal.studies.finished_tasks import Store
from unimodal.studies.reproduce.settings import Setting
from unimodal.studies.samples import Samples
from unimodal.studies.tasks import CHECKPOINTS

WHAT = "the findings.parquet of a reproduction"


@dataclass(frozen=True, eq=False)
class Finding(Samples):
    """One policy in one setting.

    A *sample* is a graph, with its trials averaged; or a trial, where there is one graph only.
    """

    setting: Setting
    policy: str
    final: Any  # regret at the horizon, (graphs, trials)
    curves: Any  # regret at the checkpoints, (samples, checkpoints)

    @property
    def rounds(self) -> Any:
        """The checkpoints."""
        return checkpoint_rounds(self.setting.horizon, CHECKPOINTS, "log")


class Findings:
    """All that is complete, by experiment, size, density, highest mean and policy."""

    def __init__(self, found: list[Finding], planned: list[Setting]) -> None:
        self.planned = planned
        self.all = found
        self._by_key = {_key(f.setting, f.policy): f for f in found}

    def get(
        self, experiment: str, n_arms: int, density: str, policy: str, high: float = 0.9
    ) -> Finding | None:
        """A finding, or None if it is not complete."""
        return self._by_key.get((experiment, n_arms, density, high, policy))

    def of(self, setting: Setting) -> dict[str, Finding]:
        """The complete findings of a setting, by policy."""
        keys = {policy: _key(setting, policy) for policy in setting.policies}
        return {policy: self._by_key[key] for policy, key in keys.items() if key in self._by_key}


def _key(setting: Setting, policy: str) -> tuple[str, int, str, float, str]:
    return (setting.experiment, setting.n_arms, setting.density, setting.high, policy)


def collect(settings: list[Setting], store: Store) -> Findings:
    """The findings whose tasks are all finished."""
    found = []
    for setting in settings:
        for policy in setting.policies:
            regret = store.all_of(setting, policy)
            if regret is not None:
                curves = regret[0] if setting.graphs == 1 else regret.mean(axis=1)
                found.append(Finding(setting, policy, regret[:, :, -1], curves))
    return Findings(found, settings)


def save(found: Findings, path: Path) -> Path:
    """Write the findings as one compact Parquet file, from which the report can be made again."""
    rows = [
        {
            "setting": json.dumps(one.setting.to_data()),
            "policy": one.policy,
            "final": one.final.ravel().tolist(),
            "curves": one.curves.ravel().tolist(),
        }
        for one in found.all
    ]
    planned = json.dumps([setting.to_data() for setting in found.planned])
    return parquet.write(path, rows, {"planned": planned})


def load(path: Path) -> Findings:
    """The findings that `save` wrote."""
    with files.reading(path, WHAT):
        rows, about = parquet.read(path)
        planned = [Setting.from_data(data) for data in json.loads(about["planned"])]
        if not planned:
            raise ValueError("no settings")
        return Findings([_finding(row) for row in rows], planned)


def _finding(row: dict[str, Any]) -> Finding:
    setting = Setting.from_data(json.loads(row["setting"]))
    final = parquet.numbers(row["final"], setting.graphs, setting.trials)
    samples = setting.trials if setting.graphs == 1 else setting.graphs
    rounds = len(checkpoint_rounds(setting.horizon, CHECKPOINTS, "log"))
    curves = parquet.numbers(row["curves"], samples, rounds)
    return Finding(setting, row["policy"], final, curves)


def ratio(over: Finding, under: Finding) -> Interval:
    """R% of two policies in one setting: the same graphs and streams, so paired."""
    return ratio_interval(over.units, under.units)
