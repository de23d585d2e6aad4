"""What the finished work says: regrets by setting and policy, with both kinds of interval."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unimodal import files
from unimodal.analysis import Interval, mean_interval, ratio_interval, student
from unimodal.errors import UnimodalError
from unimodal.reproduce.experiments import Setting
from unimodal.reproduce.store import Store
from unimodal.reproduce.tasks import CHECKPOINTS, cut
from unimodal.simulation import checkpoint_rounds


@dataclass(frozen=True, eq=False)
class Finding:
    """One policy in one setting.

    A *sample* is a graph, with its trials averaged; or a trial, where there is one graph only.
    """

    setting: Setting
    policy: str
    final: Any  # regret at the horizon, (graphs, trials)
    curves: Any  # regret at the checkpoints, (samples, checkpoints)

    @property
    def units(self) -> Any:
        """Regret at the horizon, a number a sample."""
        return self.final[0] if len(self.final) == 1 else self.final.mean(axis=1)

    @property
    def over_graphs(self) -> Interval:
        """Mean and 95 % interval that a new draw of graphs would respect."""
        return Interval(*(float(end) for end in mean_interval(self.units)))

    @property
    def over_trials(self) -> Interval:
        """Mean and 95 % interval for these very graphs."""
        graphs, trials = self.final.shape
        mean = float(self.final.mean())
        if trials < 2:
            return Interval(mean, math.nan, math.nan)
        error = math.sqrt(float(self.final.var(axis=1, ddof=1).sum()) / trials) / graphs
        reach = student(graphs * (trials - 1) + 1) * error
        return Interval(mean, mean - reach, mean + reach)

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
            tasks = [task for task in cut([setting]) if task.policy == policy]
            if all(store.has(task) for task in tasks):
                regret = np.concatenate([store.get(task) for task in tasks])
                regret = regret.reshape(setting.graphs, setting.trials, -1)
                curves = regret[0] if setting.graphs == 1 else regret.mean(axis=1)
                found.append(Finding(setting, policy, regret[:, :, -1], curves))
    return Findings(found, settings)


def save(found: Findings, path: Path) -> Path:
    """Write the findings as one compact Parquet file, from which the report can be made again."""
    import polars as pl

    rows = [
        {
            "setting": json.dumps(one.setting.to_data()),
            "policy": one.policy,
            "final": one.final.ravel().tolist(),
            "curves": one.curves.ravel().tolist(),
        }
        for one in found.all
    ]
    numbers = pl.List(pl.Float32)
    frame = pl.DataFrame(
        rows, {"setting": pl.String, "policy": pl.String, "final": numbers, "curves": numbers}
    )
    planned = json.dumps([setting.to_data() for setting in found.planned])
    made = {"planned": planned}
    return files.write(
        path, lambda to: frame.write_parquet(to, compression_level=19, metadata=made)
    )


def load(path: Path) -> Findings:
    """The findings that `save` wrote."""
    import polars as pl

    try:
        planned = json.loads(pl.read_parquet_metadata(path)["planned"])
        frame = pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError, KeyError, ValueError):
        raise UnimodalError(
            f"{path} must be the findings.parquet of a reproduction; it is not, or is damaged."
        ) from None
    found = []
    for row in frame.iter_rows(named=True):
        setting = Setting.from_data(json.loads(row["setting"]))
        final = np.asarray(row["final"], dtype=np.float64).reshape(setting.graphs, setting.trials)
        samples = setting.trials if setting.graphs == 1 else setting.graphs
        curves = np.asarray(row["curves"], dtype=np.float64).reshape(samples, -1)
        found.append(Finding(setting, row["policy"], final, curves))
    return Findings(found, [Setting.from_data(data) for data in planned])


def ratio(over: Finding, under: Finding) -> Interval:
    """R% of two policies in one setting: the same graphs and streams, so paired."""
    return ratio_interval(over.units, under.units)
