"""What the finished work says: regrets and times, by case and policy."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unimodal import files
from unimodal.engines.plan import checkpoint_rounds
from unimodal.results.statistics import Interval, describe, ratio_interval
from unimodal.studies import parquet
from unimodal.studies.compare.cases import Case
from unimodal.studies.finished_tasks import Store
from unimodal.studies.samples import Samples
from unimodal.studies.tasks import CHECKPOINTS, Task, law_hash, played
from unimodal.version import __version__

WHAT = "the comparison.parquet of a comparison"


@dataclass(frozen=True, eq=False)
class Entry(Samples):
    """One policy in one case."""

    policy: str
    final: Any  # regret at the horizon, (graphs, trials)
    curve: Any  # mean regret at the checkpoints
    milliseconds: float  # of one core, the median trial

    @property
    def quantiles(self) -> dict[str, Any]:
        """Mean, median and other quantiles over all trials."""
        return describe(self.final.ravel())

    @property
    def worst(self) -> float:
        """The regret of the worst trial."""
        return float(self.final.max())


@dataclass(frozen=True)
class Comparison:
    """All cases that are complete, each with an entry a policy, and what made them."""

    cases: dict[Case, dict[str, Entry]]
    made_with: str


def timed(task: Task[Case]) -> Any:
    """The task's trials: a row each, of the seconds it took and its regrets."""
    trials = played(task)
    rows = []
    for _ in range(task.first, task.last):
        began = time.thread_time()  # not the wall's: other threads and programs take of that
        regret = next(trials)
        rows.append(np.append(time.thread_time() - began, regret))
    return np.stack(rows)


def collect(planned: Sequence[Case], store: Store) -> Comparison:
    """The cases that are finished."""
    found: dict[Case, dict[str, Entry]] = {}
    for case in planned:
        rows = {policy: store.all_of(case, policy) for policy in case.policies}
        if all(kept is not None for kept in rows.values()):
            found[case] = {policy: _entry(policy, kept) for policy, kept in rows.items()}
    return Comparison(found, f"unimodal {__version__}, sources {law_hash()}")


def _entry(policy: str, kept: Any) -> Entry:
    # Seven digits, as `save` keeps: so a page made from the file is the page of the run.
    final, curve = _seven_digits(kept[:, :, -1]), _seven_digits(kept[:, :, 1:].mean(axis=(0, 1)))
    # A median, since the first trial of a process may have to compile or load its kernel.
    milliseconds = float(_seven_digits(1000 * np.median(kept[:, :, 0])))
    return Entry(policy, final, curve, milliseconds)


def _seven_digits(numbers: Any) -> Any:
    return numbers.astype(np.float32).astype(np.float64)


def rounds_of(case: Case) -> Any:
    """The checkpoints."""
    return checkpoint_rounds(case.horizon, CHECKPOINTS, "log")


def relative(over: Entry, under: Entry) -> Interval:
    """The regret of one relative to another: on the same graphs, so paired."""
    return ratio_interval(over.units, under.units)


def save(found: Comparison, path: Path) -> Path:
    """Write it as one compact Parquet file, from which the page can be made again."""
    rows = [
        {
            "case": json.dumps(case.to_data()),
            "policy": one.policy,
            "final": one.final.ravel().tolist(),
            "curve": one.curve.tolist(),
            "milliseconds": [one.milliseconds],
        }
        for case, entries in found.cases.items()
        for one in entries.values()
    ]
    return parquet.write(path, rows, {"made_with": found.made_with})


def load(path: Path) -> Comparison:
    """The comparison that `save` wrote."""
    with files.reading(path, WHAT):
        rows, about = parquet.read(path)
        cases: dict[Case, dict[str, Entry]] = {}
        for row in rows:
            case = Case.from_data(json.loads(row["case"]))
            final = parquet.numbers(row["final"], case.graphs, case.trials)
            curve = parquet.numbers(row["curve"], len(rounds_of(case)))
            (milliseconds,) = parquet.numbers(row["milliseconds"], 1, above=0.0).tolist()
            one = Entry(row["policy"], final, curve, milliseconds)
            cases.setdefault(case, {})[one.policy] = one
        if not cases or any(tuple(of) != case.policies for case, of in cases.items()):
            raise ValueError("other policies than the cases name")
        return Comparison(cases, about["made_with"])
