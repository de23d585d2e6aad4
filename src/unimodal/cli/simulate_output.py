"""A result on the screen and in a folder: what `unimodal simulate` shows and keeps."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from unimodal import files
from unimodal.report import figures, tables
from unimodal.results import statistics as analysis
from unimodal.results.result import Result


def show(console: Console, result: Result) -> None:
    """Print the problem, a table with one row per policy, and the bound of Theorem 1."""
    regrets = {name: result.regret(name) for name in result}
    best = min(result, key=lambda name: regrets[name].value)
    rows, ratios = [], {}
    for name, run in result.items():
        last = run.regret[:, -1]
        low, median, most = np.quantile(last, (0.05, 0.5, 0.99))
        quantiles = f"{low:.1f} … {most:.1f}"
        ratio = result.ratio(name, best) if regrets[best].value > 0 else None
        if ratio and not regrets[name].few:  # else the same trials, said once
            ratios[f"{name} relative to {best}"] = ratio
        rows.append((name, regrets[name], f"{median:.1f}", quantiles, ratio or "–"))
    problem = result.problem
    title = f"Regret after {result.horizon:,} rounds, {result.n_trials} trials, seed {result.seed}"
    columns = ("policy", "mean ± 95 %", "median", "5 % … 99 %", f"relative to {best}")
    console.print(tables.words(repr(problem)))
    check = problem.check()
    if not check:
        console.print(tables.words(f"Note: {check}", "yellow"))
    console.print(tables.table(title, columns, rows))
    for note in analysis.notes(regrets | ratios):
        console.print(tables.words(note, "yellow"))
    bound = problem.lower_bound
    if math.isnan(bound):  # the means change, and Theorem 1 is about means that stay
        return
    console.print(
        f"Theorem 1: c(μ) = {bound:.3g}, c(μ)·log T = {bound * math.log(result.horizon):.4g} "
        "(for large T; a finite regret may lie below)."
    )


def write(result: Result, folder: Path, scale: str) -> None:
    """Write the data, its summary and a figure."""
    result.save(folder / "result.parquet")
    summary = tables.for_spreadsheets(result.summary())
    files.write(folder / "summary.csv", lambda to: summary.write_csv(to))
    figure: Any = result.plot(scale=scale).figure
    files.write(folder / "regret.png", lambda to: figures.save(figure, to, dpi=160))
