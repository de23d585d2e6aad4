"""`unimodal compare`: from the plan to the page."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING

from unimodal import files
from unimodal.errors import UnimodalError
from unimodal.report import progress, tables
from unimodal.studies.compare import entries
from unimodal.studies.compare.cases import FULL, QUICK, cases
from unimodal.studies.compare.page import markdown, report
from unimodal.studies.compare.ranking import ranked
from unimodal.studies.finished_tasks import opened
from unimodal.studies.runner import do
from unimodal.studies.tasks import Task, cut

if TYPE_CHECKING:
    from rich.console import Console

    from unimodal.studies.compare.cases import Case
    from unimodal.studies.compare.entries import Comparison


def check(quick: bool, out: Path, only: str, source: Path | None) -> None:
    """Refuse options that do not go together, before any work."""
    if out.exists() and not out.is_dir():
        raise UnimodalError(f"--out must be a folder, got the file {out}: name another place.")
    if source is not None and (quick or only):
        raise UnimodalError("--from makes the page of what was run: leave out --quick and --only.")


def compare(quick: bool, out: Path, only: str, console: Console) -> None:
    """Run what is not finished yet, then write the page."""
    write(run(cases(QUICK if quick else FULL), only, out), out, console)


def remake(found: Comparison, source: Path, out: Path, console: Console) -> None:
    """Write the page from what was saved in a file, the source."""
    with files.reading(source, entries.WHAT):  # numbers of which no page can be made
        write(found, out, console)


def run(planned: list[Case], only: str, out: Path) -> Comparison:
    """Run what is not finished yet of the cases with `only` in their name."""
    chosen = [case for case in planned if only in case.name]
    if not chosen:
        names = ", ".join(f"'{case.name}'" for case in planned)
        raise UnimodalError(f"--only must be part of one of {names}, got '{only}'.")
    tasks = list(cut(chosen))
    done = 0
    with opened(out / "finished.db") as store:
        with progress.bar("Comparing", sum(map(_rounds, tasks))) as show:

            def tell(task: Task[Case]) -> None:
                nonlocal done
                done += _rounds(task)
                show(done)

            for task in tasks:
                if store.has(task):
                    tell(task)
            do(tasks, store, tell=tell, run=entries.timed)
        return entries.collect(planned, store)


def _rounds(task: Task[Case]) -> int:
    return (task.last - task.first) * task.setting.horizon


def write(found: Comparison, out: Path, console: Console) -> None:
    """The page, the tables and the data in their folder, and the ranking on the console."""
    for name, text in {"index.html": report(found), "tables.md": markdown(found)}.items():
        files.write(out / name, functools.partial(Path.write_text, data=text, encoding="utf-8"))
    entries.save(found, out / "comparison.parquet")
    rows = [
        (rank.policy, rank.relative, rank.best_in, f"{rank.milliseconds:.1f}")
        for rank in ranked(found)
    ]
    columns = ("policy", "regret relative to UTS", "best in", "ms a trial")
    title = f"Geometric means over {len(found.cases)} families of graphs"
    console.print(tables.table(title, columns, rows))
    place = f"The page is {out / 'index.html'}; tables.md and the data are beside it."
    console.print(tables.words(place))
