"""`unimodal replay`: what other policies would have earned, on the terminal or as data."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import TYPE_CHECKING

from unimodal import files
from unimodal.agents.recorded_history import Recorded
from unimodal.history_analysis.replay.estimate import replay
from unimodal.policies import parse, split
from unimodal.report import tables

if TYPE_CHECKING:
    from rich.console import Console


def run(
    campaign: Recorded,
    policies: str,
    draws: int,
    seed: int,
    one_peak: bool,
    out: Path | None,
    console: Console,
) -> None:
    """Replay a campaign, print the table and what it rests on, and keep the data if asked to."""
    chosen = [parse(text) for text in split(policies)]
    found = replay(campaign, chosen, draws=draws, seed=seed, one_peak=one_peak)
    console.print(tables.table(found.title, found.columns, found.lines()))
    for note in found.notes:
        console.print(tables.words(f"• {note}", "dim"))
    if out is not None:
        text = json.dumps(found.to_data(), indent=1) + "\n"
        files.write(out, functools.partial(Path.write_text, data=text, encoding="utf-8"))
        console.print(tables.words(f"Written to {out}."))
