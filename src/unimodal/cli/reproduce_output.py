"""`unimodal reproduce`: from the plan to the page."""

from __future__ import annotations

import difflib
import math
from pathlib import Path
from typing import TYPE_CHECKING

from unimodal import files
from unimodal.cli import reproduce_tables
from unimodal.errors import UnimodalError
from unimodal.report import progress, tables
from unimodal.studies.reproduce import exports, findings, interim_estimates, sampling_view
from unimodal.studies.reproduce.findings import Finding, Findings
from unimodal.studies.reproduce.interim_estimates import InterimEstimates
from unimodal.studies.reproduce.live_view import watching
from unimodal.studies.reproduce.sequential_sampling import sample_until_decided
from unimodal.studies.reproduce.settings import SCALES, settings
from unimodal.studies.reproduce.tables import all_rows
from unimodal.studies.run_tasks import workers_at
from unimodal.studies.study import Study

if TYPE_CHECKING:
    from rich.console import Console

    from unimodal.studies.reproduce.setting import Setting

BUDGET = 180  # core-minutes, by default


def reproduce(scale: str, out: Path, only: str, dask: str, console: Console) -> None:
    """Run what is not finished yet, then write the report."""
    planned = settings(SCALES[scale])
    chosen = with_name(planned, only)
    # The workers before the store: where no scheduler answers, no file is made.
    with workers_at(dask) as executor:
        Study(chosen, Finding).run(out, executor, watching)
    write(findings.found_in(Study(planned, Finding).finished(out)), None, scale, out, console)


def with_name(planned: list[Setting], only: str) -> list[Setting]:
    """The settings with `only` in their name."""
    chosen = [setting for setting in planned if only in setting.name]
    if not chosen:
        names = [setting.name for setting in planned]
        near = difflib.get_close_matches(only, names, n=3, cutoff=0.4) or names[:1]
        raise UnimodalError(
            f"--only must be part of a setting's name, such as {', '.join(map(repr, near))}, "
            f"got '{only}'."
        )
    return chosen


def decide(out: Path, minutes: float, dask: str, console: Console) -> None:
    """Run the paper's own scale, add samples until all is decided, then write the report."""
    planned = settings(SCALES["full"])
    with workers_at(dask) as executor:
        Study(planned, Finding).run(out, executor, watching)
        with sampling_view.watching() as view:
            decided = sample_until_decided(out, minutes, view, executor)
    found = findings.found_in(Study(planned, Finding).finished(out))
    write(found, decided, "full", out, console)


def checked_budget(
    decide: bool, budget: str | None, quick: bool, only: str, source: Path | None
) -> float:
    """The core-minutes of --budget, or one sentence about what does not go together."""
    if not decide:
        if budget is not None:
            raise UnimodalError(
                f"--budget belongs to --decide: give --decide too, or leave out --budget {budget}."
            )
        return 0.0
    for flag, given in (("--quick", quick), ("--only", only), ("--from", source)):
        if given:
            raise UnimodalError(f"--decide begins with the paper's whole scale: leave out {flag}.")
    try:
        minutes = float(BUDGET if budget is None else budget)
    except ValueError:
        minutes = math.nan
    if not 0 < minutes < math.inf:
        raise UnimodalError(
            f"--budget must be a number of core-minutes above 0, such as 180, got '{budget}'."
        )
    return minutes


def decided_beside(source: Path) -> InterimEstimates | None:
    """What was decided in the folder of some findings, if it is there."""
    path = source.with_name(exports.DECIDED)
    return interim_estimates.load(path) if path.exists() else None


def remake(
    found: Findings, decided: InterimEstimates | None, source: Path, out: Path, console: Console
) -> None:
    """Write the report from findings saved in a file, the source."""
    scale = next((name for name, s in SCALES.items() if settings(s) == list(found.settings)), "own")
    with files.reading(source, findings.WHAT):  # numbers of which no page can be made
        write(found, decided, scale, out, console)


def write(
    found: Findings, decided: InterimEstimates | None, scale: str, out: Path, console: Console
) -> None:
    """The report in its folder, and its summary on the console."""
    with progress.steps(exports.STEPS) as begin:
        exports.write_all(found, out, scale, _made_with(found), decided, begin)
    rows = all_rows(found)
    for table in reproduce_tables.tables_of(rows, decided):
        console.print(table)
    ratios = [row for row in rows if row.table == "Table 1" and row.over_graphs is not None]
    if ratios:
        inside = sum(row.inside for row in ratios)
        console.print(
            f"Table 1: {inside} of {len(ratios)} ratios lie in the paper's 95 % interval, widened "
            "by ours."
        )
    for sentence in reproduce_tables.summary(found, rows, decided):
        console.print(tables.words(sentence))
    console.print(tables.words(f"The report is {out / 'index.html'}; the data is beside it."))


def _made_with(found: Findings) -> str:
    longest = max(setting.horizon for setting in found.settings)
    short = "" if longest >= 10**7 else " The lines of Appendix B end at 10⁶ rounds, not at 10⁷."
    return f"Made with {found.made_with or 'unimodal; the file does not say which version'}.{short}"
