"""A result on the screen and in a folder: what `unimodal simulate` shows and keeps."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from rich.console import Console

from unimodal import files
from unimodal.report import figures, tables
from unimodal.results import statistics as analysis
from unimodal.results.result import Result


def show(console: Console, result: Result) -> None:
    """Print the problem, a table with one row per policy, and the bound of Theorem 1."""
    best = min(result, key=lambda name: result.regret(name).value)
    rows = []
    for name, run in result.items():
        last = run.regret[:, -1]
        low, median, high = (analysis.describe(last)[q] for q in ("q05", "median", "q95"))
        ratio = result.ratio(name, best) if result.regret(best).value > 0 else "–"
        quantiles = f"{low:.1f} … {high:.1f}"
        rows.append((name, result.regret(name), f"{median:.1f}", quantiles, ratio))
    problem = result.problem
    title = f"Regret after {result.horizon:,} rounds, {result.n_trials} trials, seed {result.seed}"
    columns = ("policy", "mean ± 95 %", "median", "5 % … 95 %", f"relative to {best}")
    console.print(tables.words(repr(problem)))
    check = problem.check()
    if not check:
        console.print(tables.words(f"Note: {check}", "yellow"))
    console.print(tables.table(title, columns, rows))
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
