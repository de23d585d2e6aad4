"""`unimodal compare`: from the plan to the page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from unimodal import files
from unimodal.errors import UnimodalError
from unimodal.report import tables
from unimodal.studies.compare import comparison, page
from unimodal.studies.compare.graph_families import FULL, QUICK, settings
from unimodal.studies.compare.ranking import ranked
from unimodal.studies.run_tasks import workers_at
from unimodal.studies.study import Study, progress_bar

if TYPE_CHECKING:
    from rich.console import Console

    from unimodal.studies.compare.comparison import Comparison
    from unimodal.studies.setting import Setting


def check(quick: bool, out: Path, only: str, dask: str, source: Path | None) -> None:
    """Refuse options that do not go together, before any work."""
    if out.exists() and not out.is_dir():
        raise UnimodalError(f"--out must be a folder, got the file {out}: name another place.")
    if source is not None and (quick or only):
        raise UnimodalError("--from makes the page of what was run: leave out --quick and --only.")
    if source is not None and dask:
        raise UnimodalError("--from runs nothing: leave out --dask.")


def compare(quick: bool, out: Path, only: str, dask: str, console: Console) -> None:
    """Run what is not finished yet, then write the page."""
    write(run(settings(QUICK if quick else FULL), only, out, dask), out, console)


def remake(found: Comparison, source: Path, out: Path, console: Console) -> None:
    """Write the page from what was saved in a file, the source."""
    with files.reading(source, comparison.WHAT):  # numbers of which no page can be made
        write(found, out, console)


def run(planned: list[Setting], only: str, out: Path, dask: str = "") -> Comparison:
    """Run what is not finished yet of the settings with `only` in their name."""
    chosen = with_name(planned, only)
    # The workers before the store: where no scheduler answers, no file is made.
    with workers_at(dask) as executor:
        Study(chosen).run(out, executor, progress_bar("Comparing"))
    return comparison.finished(Study(planned).finished(out))


def with_name(planned: list[Setting], only: str) -> list[Setting]:
    """The settings with `only` in their name."""
    chosen = [setting for setting in planned if only in setting.name]
    if not chosen:
        names = ", ".join(f"'{setting.name}'" for setting in planned)
        raise UnimodalError(f"--only must be part of one of {names}, got '{only}'.")
    return chosen


def write(found: Comparison, out: Path, console: Console) -> None:
    """The page, the tables and the data in their folder, and the ranking on the console."""
    page.write(found, out)
    found.save(out / "comparison.parquet")
    rows = [
        (rank.policy, rank.relative, rank.best_in, f"{rank.milliseconds:.1f}")
        for rank in ranked(found)
    ]
    columns = ("policy", "regret relative to UTS", "best in", "ms per trial")
    title = f"Geometric means over {len(found.settings)} families of graphs"
    console.print(tables.table(title, columns, rows))
    place = f"The page is {out / 'index.html'}; tables.md and the data are beside it."
    console.print(tables.words(place))
