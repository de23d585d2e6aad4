"""`unimodal certify`: the verdict, and a table of the leader's neighbourhood."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unimodal.agents.recorded_history import Recorded
from unimodal.campaigns.certifying import certificate
from unimodal.escape_text import printable
from unimodal.inference.certificate import STANDING, standing_rows
from unimodal.report import tables

if TYPE_CHECKING:
    from rich.console import Console

_ROWS = 15


def show(campaign: Recorded, confidence: float, tolerance: float | None, console: Console) -> bool:
    """Print what is certified; whether that is what was asked for."""
    found = certificate(campaign, confidence, tolerance)
    for line in str(found).split("\n"):
        console.print(tables.words(printable(line)))
    rows = standing_rows(found)
    if rows:
        title = f"Around {tables.shortened(str(found.leader), 40)}"
        shown = [[tables.shortened(cell, 40) for cell in row] for row in rows[:_ROWS]]
        console.print(tables.table(title, STANDING, shown))
    return bool(found)
