"""Progress bars: on a terminal, in a notebook, and nowhere else.

The clock stands still while a kernel is compiled, which happens once and not once a trial: so the
rate and the time left are those of the work itself.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from unimodal.escape_text import printable
from unimodal.kernels.compile_watch import compiling_now, compiling_seconds

Update = Callable[[int], object]


@contextlib.contextmanager
def bar(title: str, total: int, show: bool | None = None, unit: str = "rounds") -> Iterator[Update]:
    """Show how many of `total` rounds, or of another `unit`, are done, how fast, and the time left.

    Yields a function that takes the rounds done so far. By default a bar is shown on a terminal
    and in a notebook.
    """
    display = notebook_display()
    wanted = (display is not None or sys.stderr.isatty()) if show is None else show
    if not wanted:
        yield lambda done: None
    elif display is not None:
        shown = NotebookBar(printable(title), total, display, unit)
        try:
            yield shown.update
        finally:
            shown.close()
    else:
        with _terminal_bar(title, total, show, unit) as update:
            yield update


def working_clock() -> float:
    """Seconds from some moment on, without those in which a kernel was compiled."""
    return time.monotonic() - compiling_seconds()


def compiling_text() -> str:
    """What is being compiled, in words; "" if nothing is."""
    what = compiling_now()
    return f"compiling {printable(what)} …" if what else ""


@contextlib.contextmanager
def _terminal_bar(title: str, total: int, show: bool | None, unit: str) -> Iterator[Update]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task):  # type: ignore[no-untyped-def]
            speed = task.finished_speed or task.speed
            return Text(f"{_short(speed)} {unit}/s" if speed else "", style="cyan")

    class SaysWhatItCompiles(Progress):
        def get_renderables(self):  # type: ignore[no-untyped-def]
            compiling = compiling_text()
            if compiling:  # a line of its own: beside the bar it would not fit
                yield Text(compiling, style="cyan", no_wrap=True, overflow="ellipsis")
            else:
                yield from super().get_renderables()

    columns = (
        TextColumn("{task.description}", markup=False),  # names of policies
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %"),
        Rate(),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    console = Console(stderr=True, force_terminal=show)
    settings: Any = {"console": console, "transient": True, "get_time": working_clock}
    with SaysWhatItCompiles(*columns, **settings) as progress:
        task = progress.add_task(printable(title), total=total)
        yield lambda done: progress.update(task, completed=done)


@contextlib.contextmanager
def steps(total: int) -> Iterator[Callable[[str], object]]:
    """Show which of some steps is at work, on a terminal; yields a function that names the next."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        *(BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()),
        TextColumn("{task.description}", markup=False),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as p:
        task = p.add_task("", total=total)
        begun = 0

        def begin(what: str) -> None:
            nonlocal begun
            p.update(task, completed=begun, description=printable(what))
            begun += 1

        yield begin


def notebook_display() -> Any:
    """IPython's `display` inside a notebook; None elsewhere, a terminal with IPython included."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None or not hasattr(shell, "kernel"):
        return None
    from IPython.display import display  # type: ignore[import-not-found,unused-ignore]

    return display


class NotebookBar:
    """A line of text below the cell, which is replaced as the work goes on and removed at its end.

    Rich would ask for ipywidgets there, with a warning where they are missing.
    """

    QUICK = 0.5  # seconds: what is done by then shows no bar, so that a notebook stays clean

    def __init__(
        self, title: str, total: int, display: Callable[..., Any], unit: str = "rounds"
    ) -> None:
        self._title, self._total, self._display, self._unit = title, total, display, unit
        self._handle: Any = None
        self._began, self._shown = working_clock(), time.monotonic()

    def update(self, done: int) -> None:
        """Show so many rounds as done, at most twice a second."""
        if time.monotonic() - self._shown < self.QUICK:
            return
        self._shown = time.monotonic()
        data = {"text/plain": self.text(done)}
        if self._handle is None:
            self._handle = self._display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)

    def text(self, done: int) -> str:
        """The line."""
        share = done / self._total if self._total else 1.0
        full = int(20 * share)
        took = working_clock() - self._began
        parts = [self._title, "━" * full + "─" * (20 - full), f"{100 * share:.0f} %"]
        compiling = compiling_text()
        if compiling:
            parts.append(compiling)
        elif done and took > 0:
            left = round((self._total - done) * took / done)
            parts += [f"{_short(done / took)} {self._unit}/s", f"{left // 60}:{left % 60:02d} left"]
        return "  ".join(parts)

    def close(self) -> None:
        """Remove the line."""
        if self._handle is not None:
            self._handle.update({"text/plain": ""}, raw=True)


def _short(number: float) -> str:
    """A number in three digits.

    >>> _short(12_345_678)
    '12.3 M'
    """
    for limit, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if number >= limit:
            return f"{number / limit:.3g}{unit}"
    return f"{number:.0f} "
