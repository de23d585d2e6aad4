"""`unimodal reproduce`: from the plan to the page."""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from unimodal import files
from unimodal.errors import UnimodalError
from unimodal.report import tables
from unimodal.studies.reproduce import exports, findings
from unimodal.studies.reproduce.claims import CLAIMS
from unimodal.studies.reproduce.findings import Finding, Findings
from unimodal.studies.reproduce.live_view import watching
from unimodal.studies.reproduce.settings import SCALES, settings
from unimodal.studies.reproduce.tables import all_rows
from unimodal.studies.run_tasks import dask_workers
from unimodal.studies.study import Study

if TYPE_CHECKING:
    from rich.console import Console


def reproduce(scale: str, out: Path, only: str, dask: str, console: Console) -> None:
    """Run what is not finished yet, then write the report."""
    planned = settings(SCALES[scale])
    chosen = [setting for setting in planned if only in setting.name]
    if not chosen:
        raise UnimodalError(
            f"--only must be part of a setting's name, such as '{planned[0].name}', got '{only}'."
        )
    # The workers before the store: where no scheduler answers, no file is made.
    with dask_workers(dask) if dask else nullcontext() as executor:
        Study(chosen, Finding).run(out, executor, watching)
    write(findings.found_in(Study(planned, Finding).finished(out)), scale, out, console)


def remake(found: Findings, source: Path, out: Path, console: Console) -> None:
    """Write the report from findings saved in a file, the source."""
    scale = next((name for name, s in SCALES.items() if settings(s) == list(found.settings)), "own")
    with files.reading(source, findings.WHAT):  # numbers of which no page can be made
        write(found, scale, out, console)


def write(found: Findings, scale: str, out: Path, console: Console) -> None:
    """The report in its folder, and its summary on the console."""
    exports.write_all(found, out, scale, _made_with(found))
    rows = all_rows(found)
    console.print(tables.words(exports.markdown(rows)), soft_wrap=True)
    ratios = [row for row in rows if row.table == "Table 1" and row.over_graphs is not None]
    if ratios:
        inside = sum(row.inside for row in ratios)
        console.print(
            f"Table 1: {inside} of {len(ratios)} ratios lie in the paper's 95 % interval, widened "
            "by ours."
        )
    words = Counter(row.verdict.word for row in rows)
    console.print(f"Of {len(rows)} numbers: {_listed(words)}.")
    claims = Counter(claim.decide(found)[0] for claim in CLAIMS)
    console.print(f"Of {len(CLAIMS)} claims: {_listed(claims)}.")
    console.print(tables.words(f"The report is {out / 'index.html'}; the data is beside it."))


def _listed(words: Counter[str]) -> str:
    return ", ".join(f"{number} {word}" for word, number in words.most_common())


def _made_with(found: Findings) -> str:
    longest = max(setting.horizon for setting in found.settings)
    short = "" if longest >= 10**7 else " The lines of Appendix B end at 10⁶ rounds, not at 10⁷."
    return f"Made with {found.made_with or 'unimodal; the file does not say which version'}.{short}"
