"""The files of a report: pages (HTML), tables (Markdown, CSV, Parquet) and findings."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from unimodal import files
from unimodal.report.page import markdown_table
from unimodal.report.tables import for_spreadsheets
from unimodal.studies.reproduce.claims import CLAIMS
from unimodal.studies.reproduce.findings import Findings
from unimodal.studies.reproduce.page import open_choices, report
from unimodal.studies.reproduce.paper_numbers import POLICIES
from unimodal.studies.reproduce.tables import Row, all_rows
from unimodal.studies.reproduce.verdicts import NOT_RUN


def write_all(found: Findings, folder: Path, scale: str, made_with: str) -> None:
    """Write the pages, the tables and the findings."""
    write_pages(found, folder, scale, made_with)
    frame = _frame(all_rows(found))
    files.write(folder / "tables.csv", for_spreadsheets(frame).write_csv)
    files.write(folder / "tables.parquet", lambda to: frame.write_parquet(to))
    files.write(folder / "claims.csv", for_spreadsheets(_claims(found)).write_csv)
    found.save(folder / "findings.parquet")


def write_pages(found: Findings, folder: Path, scale: str, made_with: str) -> None:
    """Write the pages: the report, what the paper leaves open, and its tables as Markdown."""
    pages = {
        "index.html": report(found, scale, made_with),
        "open-choices.html": open_choices(found, scale, made_with),
        "tables.md": markdown(all_rows(found)),
    }
    for name, text in pages.items():
        files.write(folder / name, functools.partial(Path.write_text, data=text, encoding="utf-8"))


def _frame(rows: list[Row]) -> Any:
    import polars as pl

    lines = []
    for row in rows:
        ours, trials = row.over_graphs, row.over_trials
        lines.append(
            {
                "table": row.table,
                "K": row.n_arms,
                "p": row.density,
                "policy": row.policy,
                "paper": row.reported.value,
                "paper_half_width": row.reported.half_width,
                "ours": ours.value if ours else None,
                "half_width_over_graphs": ours.half_width if ours else None,
                "half_width_over_trials": trials.half_width if trials else None,
                "verdict": row.verdict.word,
                "off": row.verdict.off,
                "explained_by": row.explained,
            }
        )
    return pl.DataFrame(lines)


def _claims(found: Findings) -> Any:
    import polars as pl

    decided = [(claim, *claim.decide(found)) for claim in CLAIMS]
    return pl.DataFrame(
        [
            {"claim": c.text, "where": c.where, "verdict": word, "finding": note, "test": c.test}
            for c, word, note in decided
        ]
    )


def markdown(rows: list[Row]) -> str:
    """Tables 1 to 3 as Markdown: the paper's number, ours over graphs, the verdict."""
    parts = []
    for table in ("Table 1", "Table 2", "Table 3"):
        chosen = [row for row in rows if row.table == table]
        if all(row.over_graphs is None for row in chosen):
            parts += [f"### {table}: {NOT_RUN}", ""]
            continue
        names = [name for name in POLICIES if any(row.policy == name for row in chosen)]
        run = [row for row in chosen if row.over_graphs is not None]
        places = list(dict.fromkeys((row.n_arms, row.density) for row in run))
        lines: list[tuple[object, ...]] = []
        for k, density in places:
            cells = []
            for name in names:
                row = next(
                    r for r in chosen if (r.n_arms, r.density, r.policy) == (k, density, name)
                )
                ours = f"{row.over_graphs}, " if row.over_graphs is not None else ""
                cells.append(f"{row.printed} / {ours}{row.verdict}")
            lines.append((k, density, *cells))
        parts += [f"### {table}", "", markdown_table(("K", "p", *names), lines)]
        missing = len(dict.fromkeys((r.n_arms, r.density) for r in chosen)) - len(places)
        parts += ["", f"({missing} settings {NOT_RUN})", ""] if missing else [""]
    return "Each cell: the paper's / ours, verdict.\n\n" + "\n".join(parts)
