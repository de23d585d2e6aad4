"""The run on a terminal: cells done, time left, and Table 2 as far as it is known."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from unimodal.studies.finished_tasks import FinishedTasks
from unimodal.studies.reproduce.paper_numbers import POLICIES, TABLE_2
from unimodal.studies.reproduce.settings import Setting
from unimodal.studies.tasks import Task

Cell = tuple[str, str]


class Watch:
    """What is finished; `tell` is called for each task."""

    def __init__(self, tasks: list[Task[Setting]], store: FinishedTasks) -> None:
        self._tasks, self._store = tasks, store
        self._left = Counter(_cell(task) for task in tasks)
        self.cells = len(self._left)
        self.total = sum(task.seconds for task in tasks)
        self.done = 0.0
        self.means: dict[Cell, float] = {}
        self._began, self._before = time.monotonic(), 0.0
        for task in tasks:
            if store.has(task):
                self.tell(task)
        self._before = self.done  # finished in an earlier run, so it says nothing about speed

    def tell(self, task: Task[Setting]) -> None:
        """A task is done."""
        self.done += task.seconds
        cell = _cell(task)
        self._left[cell] -= 1
        if self._left[cell] == 0:
            of = [self._store.get(other)[:, -1] for other in self._tasks if _cell(other) == cell]
            self.means[cell] = float(np.concatenate(of).mean())

    @property
    def seconds_left(self) -> float | None:
        """The estimated time left, from the speed so far."""
        worked = self.done - self._before
        if worked <= 0:
            return None
        return (time.monotonic() - self._began) * (self.total - self.done) / worked

    def __rich__(self) -> Any:
        """What a terminal shows."""
        from rich.console import Group
        from rich.padding import Padding
        from rich.progress_bar import ProgressBar
        from rich.text import Text

        from unimodal.report.tables import table

        left = self.seconds_left
        about = "" if left is None else f", about {_spoken(left)} left"
        so_far = f"{len(self.means)} of {self.cells} cells{about}"
        line = Text(f"{so_far} (Ctrl-C is safe: the next run resumes)", no_wrap=True)
        line.overflow = "ellipsis"
        rows = [(f"{s.n_arms}, {s.density}", *self._row(s)) for s in self._settings()]
        columns = ("K, p", *POLICIES)
        bar = ProgressBar(total=self.total, completed=self.done, width=60)
        title = "Table 2: ours (the paper's)" if rows else ""
        return Group(table(title, columns, rows), Padding(bar, 0), line)  # a bar that ends its line

    def _settings(self) -> list[Setting]:
        settings = [task.setting for task in self._tasks if task.setting.experiment == "Table 2"]
        return list({setting.name: setting for setting in settings}.values())

    def _row(self, setting: Setting) -> list[str]:
        cells = []
        for name in POLICIES:
            ours = self.means.get((setting.name, name))
            reported = TABLE_2[setting.n_arms, setting.density, name].value
            cells.append(f"{'…' if ours is None else f'{ours:.0f}'} ({reported:.0f})")
        return cells


def _cell(task: Task[Setting]) -> Cell:
    return task.setting.name, task.policy


def _spoken(seconds: float) -> str:
    """A length of time in words.

    >>> _spoken(200)
    '3 min'
    """
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


@contextmanager
def watching(tasks: list[Task[Setting]], store: FinishedTasks) -> Iterator[Callable[[Any], object]]:
    """Show the run on standard error if it is a terminal; yields the function to call per task."""
    watch = Watch(tasks, store)
    if not sys.stderr.isatty():
        yield watch.tell
        return
    from rich.console import Console
    from rich.live import Live

    with Live(watch, console=Console(stderr=True), refresh_per_second=2, transient=True):
        yield watch.tell
