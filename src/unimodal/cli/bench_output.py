"""`unimodal bench`: the groups of measurements, printed as tables."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from unimodal.bench import campaigns, leaps, measure, oracles
from unimodal.bench.against import SLOWER, Comparison, against
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
    "start": ("aim", [measure.start_up, measure.first_use]),
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


def run_against(commit: str, pairs: int, names: Sequence[str], console: Console) -> bool:
    """Compare with a commit, one table for each group; whether a line is slower."""
    found: list[Comparison] = []
    columns = ("line", commit, "now", "now / then", "95 % interval", "")
    for lines in against(commit, pairs, names, lambda text: console.print(text, style="dim")):
        found += lines
        rows = [
            (
                each.line,
                _quantity(each.old),
                _quantity(each.new),
                f"{each.ratio:.3f}",
                f"{each.low:.3f} to {each.high:.3f}",
                "SLOWER" if each.is_slower else "faster" if each.is_faster else "",
            )
            for each in lines
        ]
        title = f"Medians of {pairs} pairs of processes; intervals by the sign test"
        console.print(tables.table(title, columns, rows))
    slower = [each.line for each in found if each.is_slower]
    console.print(
        f"Slower by more than {SLOWER - 1:.0%} for certain: {'; '.join(slower) or 'no line'}."
    )
    return bool(slower)


def _quantity(value: float) -> str:
    """Seconds, or commits, in three digits.

    >>> _quantity(2.5e-06)
    '2.5e-06'
    """
    return f"{value:.3g}"
