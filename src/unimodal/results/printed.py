"""A result as a table for a paper: a row per policy, in bold the best and what may be as good."""

from __future__ import annotations

from typing import Any

import numpy as np

from unimodal.report.printed_tables import Cell
from unimodal.results import statistics as analysis

SHOWN = (0.5, 0.95)  # the quantiles of a table


def table_of(result: Any) -> tuple[list[str], list[list[Cell]], list[str]]:
    """Columns, rows and notes, of a `Result`."""
    regrets = {name: result.regret(name) for name in result}
    best = not_worse_than_best(result, regrets)
    rows = []
    for name, run in result.items():
        mean = str(regrets[name])
        digits = len(mean.split()[0].partition(".")[2])
        quantiles = np.quantile(run.regret[:, -1], SHOWN)
        cells = [Cell(mean, name in best), *(Cell(f"{value:.{digits}f}") for value in quantiles)]
        rows.append([Cell(name), *cells])
    columns = ["policy", f"regret after {result.horizon:,} rounds", "median", "95 %"]
    notes = [f"Mean of {result.n_trials:,} trials with its 95 % interval, and quantiles of trials."]
    if best:
        notes[0] += " Bold: the lowest mean, and those that differ from it by no more than chance."
    return columns, rows, notes + analysis.notes(regrets)


def not_worse_than_best(result: Any, regrets: dict[str, analysis.Interval]) -> set[str]:
    """The policy with the lowest mean, and those whose difference from it may be chance.

    Which one is lowest is chance, too, so the tests are corrected for all pairs of policies.
    """
    if len(result) < 2 or result.n_trials < 2:
        return set()
    best = min(regrets, key=lambda name: regrets[name].value)
    pairs = len(result) * (len(result) - 1) // 2
    others = (name for name in result if name != best)
    return {best} | {
        name for name in others if not result.test(name, best, of=pairs).is_significant
    }
