"""`unimodal inspect`: tables on the terminal, and a page if asked for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from unimodal.agents.recorded_history import Recorded
from unimodal.escape_text import printable
from unimodal.inspection.page import (
    OVER_TIME,
    hidden,
    near_columns,
    near_rows,
    path_sentence,
    span,
    time_rows,
)
from unimodal.inspection.view import inspect
from unimodal.report import tables

if TYPE_CHECKING:
    from rich.console import Console

_ROWS, _BINS = 15, 12
_LONGEST = 40  # of a cell, in characters


def show(campaign: Recorded, html: Path | None, around: str | None, console: Console) -> None:
    """Print what there is to see, and write the page."""
    view = inspect(campaign, around)
    facts = ", ".join(f"{name} {value}" for name, value in view.facts.items())
    console.print(tables.words(printable(facts)))
    console.print(span(view), style="dim")
    if view.certificate is not None:
        for line in str(view.certificate).split("\n"):
            console.print(tables.words(printable(line)))
    for alarm in view.alarms:
        console.print(tables.words(f"Alarm ({alarm.kind}): {alarm.sentence}", "bold yellow"))
    rows = [[tables.shortened(cell, _LONGEST) for cell in row] for row in near_rows(view)]
    title = f"Around {tables.shortened(view.label, _LONGEST)} ({view.why})"
    console.print(tables.table(title, near_columns(view), rows[:_ROWS]))
    if len(rows) > _ROWS:
        console.print(hidden(rows, _ROWS), style="dim")
    if not view.history.is_empty():
        times = [
            [tables.shortened(cell, _LONGEST) for cell in row] for row in time_rows(view, _BINS)
        ]
        console.print(tables.table("Over time", OVER_TIME, times))
    console.print(tables.words(printable(path_sentence(view))))
    if html is not None:
        view.save(html)
        console.print(tables.words(f"The page is {html}."))
    else:
        console.print("Add --html FILE for a page with the graph drawn.", style="dim")
