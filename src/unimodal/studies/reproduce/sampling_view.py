"""Deciding, as a terminal shows it: what is open, what is being decided, and the budget."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from unimodal.report.tables import words
from unimodal.studies.reproduce.sequential_sampling import Progress, View

_SELDOM = 20.0  # seconds between two lines where there is no terminal
_SAFE = "Ctrl-C is safe: the same command resumes here"


def minutes(seconds: float) -> str:
    """Seconds as minutes, to a tenth if they are few.

    >>> minutes(90), minutes(6000)
    ('1.5', '100')
    """
    return f"{seconds / 60:.1f}" if seconds < 6000 else f"{seconds / 60:.0f}"


def still_open(progress: Progress) -> str:
    """How many claims and numbers are open, in words."""
    claims, numbers = len(progress.open_claims), len(progress.open_numbers)
    return f"{claims} claims and {numbers} numbers open"


def used(progress: Progress) -> str:
    """How much of the budget is used, in words."""
    return f"{minutes(progress.used)} of {minutes(progress.budget)} core-minutes used"


class Panel:
    """What a terminal shows: a bar of the budget and three lines, each cut at the width."""

    def __init__(self) -> None:
        self.progress = Progress(1.0)

    def __call__(self, progress: Progress, new_batch: bool) -> None:
        self.progress = progress

    def __rich__(self) -> Any:
        from rich.console import Group
        from rich.padding import Padding
        from rich.progress_bar import ProgressBar

        now = self.progress
        bar = ProgressBar(total=now.budget, completed=min(now.used, now.budget), width=60)
        more = f" (and {len(now.deciding) - 1} more)" if len(now.deciding) > 1 else ""
        first = now.deciding[0] if now.deciding else "…"
        lines = [words(text) for text in (f"Deciding: {first}{more}", still_open(now))]
        lines.append(words(f"{used(now)} ({_SAFE})"))
        for line in lines:
            line.no_wrap, line.overflow = True, "ellipsis"
        return Group(*lines[:2], Padding(bar, 0), lines[2])  # padded, a bar ends its line


class Lines:
    """A line at a time, for a log."""

    def __init__(self) -> None:
        self._last = -_SELDOM

    def __call__(self, progress: Progress, new_batch: bool) -> None:
        if new_batch and time.monotonic() - self._last >= _SELDOM:
            self._last = time.monotonic()
            first = progress.deciding[0]
            print(f"{still_open(progress)}; {used(progress)}; now: {first}", file=sys.stderr)


@contextmanager
def watching() -> Iterator[View]:
    """Show it on standard error, as a panel on a terminal and as lines elsewhere."""
    if not sys.stderr.isatty():
        yield Lines()
        return
    from rich.console import Console
    from rich.live import Live

    panel = Panel()
    with Live(panel, console=Console(stderr=True), refresh_per_second=2, transient=True):
        yield panel
