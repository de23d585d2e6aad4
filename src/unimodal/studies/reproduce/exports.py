"""The files of a report: pages (HTML), tables (Markdown, CSV, Parquet) and findings."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from unimodal import files
from unimodal.report.page import markdown_table, markdown_text
from unimodal.report.tables import for_spreadsheets
from unimodal.studies.reproduce.claims import CLAIMS
from unimodal.studies.reproduce.coverage import of_lines
from unimodal.studies.reproduce.findings import Findings
from unimodal.studies.reproduce.interim_estimates import RATES, InterimEstimates
from unimodal.studies.reproduce.made_connected import Fit
from unimodal.studies.reproduce.number_agreement import NOT_RUN
from unimodal.studies.reproduce.page import PICTURES, Begin, open_choices, report, table_notes
from unimodal.studies.reproduce.paper_numbers import POLICIES
from unimodal.studies.reproduce.tables import Row, all_rows
from unimodal.studies.reproduce.verdicts_in_words import final_claim, final_numbers, place_of

DECIDED = "decided.parquet"
STEPS = len(PICTURES) + 3  # the last of them where something was decided


def write_all(
    found: Findings,
    folder: Path,
    scale: str,
    made_with: str,
    decided: InterimEstimates | None = None,
    begin: Begin = lambda what: None,
) -> None:
    """Write the pages, the tables, the findings, and what was decided beyond them.

    `begin` is called with each of the `STEPS` before it is made.
    """
    write_pages(found, folder, scale, made_with, decided, begin=begin)
    begin("writing tables and data")
    write_csv(found, folder, decided)
    frame = _frame(all_rows(found), decided)
    files.write(folder / "tables.parquet", lambda to: frame.write_parquet(to))
    found.save(folder / "findings.parquet")
    if decided is not None:
        decided.save(folder / DECIDED)
        decided.save_rates(folder / RATES)


def write_csv(found: Findings, folder: Path, decided: InterimEstimates | None = None) -> None:
    """Write the tables and the claims for spreadsheets."""
    frame = _frame(all_rows(found), decided)
    files.write(folder / "tables.csv", for_spreadsheets(frame).write_csv)
    files.write(folder / "claims.csv", for_spreadsheets(_claims(found, decided)).write_csv)


def write_pages(
    found: Findings,
    folder: Path,
    scale: str,
    made_with: str,
    decided: InterimEstimates | None = None,
    ways: list[Fit] | None = None,
    begin: Begin = lambda what: None,
) -> None:
    """Write the pages: the report, what the paper leaves open, and its tables as Markdown."""
    if decided is not None and not decided.coverage:
        begin("resampling, to see how often the rule errs")
        decided.coverage = of_lines(found, decided.questions)
    pages = {
        "index.html": report(found, scale, made_with, decided, ways, begin),
        "open-choices.html": open_choices(found, scale, made_with),
        "tables.md": markdown(all_rows(found), decided),
    }
    for name, text in pages.items():
        files.write(folder / name, functools.partial(Path.write_text, data=text, encoding="utf-8"))


def _frame(rows: list[Row], decided: InterimEstimates | None = None) -> Any:
    import polars as pl

    finals = final_numbers(decided) if decided else {}
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
                "low": ours.low if ours else None,
                "high": ours.high if ours else None,
                "few": bool(ours and ours.few),
                "median": row.spread[0] if row.spread else None,
                "q99": row.spread[1] if row.spread else None,
                "verdict": row.verdict.word,
                "off": row.verdict.off,
                "explained_by": row.explained,
            }
        )
        if finals:
            final = finals[place_of(row)]
            lines[-1] |= {
                "final": final.ours.value,
                "final_half_width": final.ours.half_width,
                "final_trials": final.trials,
                "final_verdict": final.text,
            }
    return pl.DataFrame(lines)


def _claims(found: Findings, decided: InterimEstimates | None = None) -> Any:
    import polars as pl

    lines = []
    for claim in CLAIMS:
        word, note = claim.rule(found)
        line: dict[str, Any] = {"claim": claim.text, "where": claim.where, "verdict": word}
        line |= {"finding": note, "test": claim.test}
        if decided is not None:
            final = final_claim(decided, claim)
            line |= {"final_verdict": final.text, "final_trials": final.trials}
            line |= {"final_finding": final.note}
        lines.append(line)
    return pl.DataFrame(lines)


_CELL = "Each cell: the paper's / ours \\[median / 99 % quantile of trials\\], verdict"


def markdown(rows: list[Row], decided: InterimEstimates | None = None) -> str:
    """Tables 1 to 3 as Markdown: the paper's number, ours over graphs, the verdict."""
    finals = final_numbers(decided) if decided else {}
    parts = []
    for table in ("Table 1", "Table 2", "Table 3"):
        chosen = [row for row in rows if row.table == table]
        if all(row.over_graphs is None for row in chosen):
            parts += [f"## {table}: {NOT_RUN}", ""]
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
                ours = f"{row.over_graphs} [{row.shown_spread}], " if row.over_graphs else ""
                cells.append(f"{row.printed} / {ours}{row.verdict}")
                if finals:
                    final = finals[place_of(row)]
                    cells[-1] += f" / {final.ours}, {final.text}"
            lines.append((k, density, *cells))
        parts += [f"## {table}", "", markdown_table(("K", "p", *names), lines)]
        parts += ["", *(f"- {markdown_text(note)}" for note in table_notes(table, rows))]
        missing = len(dict.fromkeys((r.n_arms, r.density) for r in chosen)) - len(places)
        parts += ["", f"({missing} settings {NOT_RUN})", ""] if missing else [""]
    more = " / ours in the end, final verdict" if finals else ""
    title = f"# The paper's tables, and ours\n\n{_CELL}{more}.\n\n"
    return title + "\n".join(parts)
