"""`unimodal explain`: a decision, on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unimodal.campaigns import Explanation
from unimodal.inspection.page import moment
from unimodal.report import tables

if TYPE_CHECKING:
    from rich.console import Console

_LONGEST = 40  # characters of a cell


def show(found: Explanation, console: Console) -> None:
    """Print what was known, what was drawn, and who won."""
    about = f"{found.policy}, round {found.round:,}, {moment(found.time)} (UTC)"
    console.print(tables.words(about), style="dim")
    cells = [[tables.shortened(cell, _LONGEST) for cell in row] for row in found.rows()]
    console.print(tables.table(found.title, found.columns, cells))
    console.print(tables.words(found.because))
    if found.paused:
        paused = ", ".join(map(str, found.paused))
        console.print(tables.words(f"Paused at that moment: {paused}."))
    if found.propensity is not None:
        console.print(tables.words(f"Its propensity was {found.propensity:.4g}."))
