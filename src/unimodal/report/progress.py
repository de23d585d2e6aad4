"""A progress bar on standard error, and nothing where that is not a terminal."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

from unimodal.printable import printable


@contextlib.contextmanager
def bar(title: str, total: int, show: bool | None = None) -> Iterator[Callable[[int], object]]:
    """Show how many of `total` rounds are done, rounds a second and the time left.

    Yields a function that takes the rounds done so far.
    """
    if not (sys.stderr.isatty() if show is None else show):
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task):  # type: ignore[no-untyped-def]
            speed = task.finished_speed or task.speed
            return Text(f"{_short(speed)} rounds/s" if speed else "compiling …", style="cyan")

    columns = (
        TextColumn("{task.description}", markup=False),  # names of policies
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %"),
        Rate(),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    console = Console(stderr=True, force_terminal=show)
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(printable(title), total=total)
        yield lambda done: progress.update(task, completed=done)


def _short(number: float) -> str:
    """A number in three digits.

    >>> _short(12_345_678)
    '12.3 M'
    """
    for limit, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if number >= limit:
            return f"{number / limit:.3g}{unit}"
    return f"{number:.0f} "
