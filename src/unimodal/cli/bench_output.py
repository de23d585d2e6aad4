"""`unimodal bench`: the groups of measurements, printed as tables."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from unimodal.bench import campaigns, leaps, measure, oracles
from unimodal.errors import unknown_name
from unimodal.report import tables

if TYPE_CHECKING:
    from rich.console import Console

# What stands beside the figure to reach, and the measurements.
GROUPS: dict[str, tuple[str, list[Any]]] = {
    "step": ("C++ guide", [measure.rates]),
    "leap": ("aim", [leaps.leaps, leaps.long_runs, leaps.near_ties]),
    "ask": ("", [measure.decisions]),
    "agent": ("", [oracles.figures, campaigns.durable_rewards]),
    "start": ("", [measure.start_up]),
}


def run(names: Sequence[str], console: Console) -> None:
    """Measure some groups, or all; each figure is told as soon as it is known."""
    for name in names:
        if name not in GROUPS:
            raise unknown_name("benchmark", name, GROUPS)
    for name in names or GROUPS:
        beside, measures = GROUPS[name]
        rows = []
        for figure in itertools.chain.from_iterable(each() for each in measures):
            verdict = "reached" if figure.reached else "MISSED"
            rows.append((figure.work, figure.value, figure.must, figure.guide, verdict))
            console.print(f"{figure.work}: {figure.value}", style="dim")
        columns = ("work", "measured", "must reach", beside, "")
        console.print(tables.table(f"Speed ({name}), one core, runs take turns", columns, rows))
