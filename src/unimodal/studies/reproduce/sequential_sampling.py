"""Samples added until every claim and number is conclusion, or the budget is used up.

The order of the work follows from results alone, so a run that is interrupted and begun again
repeats its steps, finds their tasks finished, and goes on; their seconds count as before.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Protocol

from unimodal.engines import runner
from unimodal.studies.finished_tasks import FinishedTasks, opened
from unimodal.studies.reproduce.added_samples import Samples, block, size_at
from unimodal.studies.reproduce.claims import CLAIMS, Claim
from unimodal.studies.reproduce.decision_rule import Question
from unimodal.studies.reproduce.interim_estimates import InterimEstimates, Use, rate_key
from unimodal.studies.reproduce.numbers import Number, all_numbers
from unimodal.studies.reproduce.schedule import Extension, next_batch
from unimodal.studies.reproduce.sequential_test import LOOKS, OPEN, Estimate
from unimodal.studies.reproduce.setting import Setting
from unimodal.studies.reproduce.settings import FULL, settings
from unimodal.studies.reproduce.task_seconds import TaskSeconds, timed
from unimodal.studies.tasks import Task, law_hash
from unimodal.version import __version__

FILE, SECONDS = "finished.db", "seconds.db"
_FLUSH = 1.0  # seconds between two transactions


@dataclass
class Progress:
    """How far it is, for a display."""

    budget: float  # seconds
    used: float = 0.0
    open_claims: list[str] = field(default_factory=list)
    open_numbers: list[str] = field(default_factory=list)
    deciding: list[str] = field(default_factory=list)


class View(Protocol):
    """A display: called before each batch of tasks and after each task."""

    def __call__(self, progress: Progress, new_batch: bool) -> object:
        """Show it."""


class SequentialSampling:
    """The run: looks so far, estimates so far, seconds so far."""

    def __init__(
        self,
        store: FinishedTasks,
        seconds: TaskSeconds,
        budget: float,
        view: View,
        planned: Sequence[Setting],
        claims: Sequence[Claim] = CLAIMS,
        numbers: Sequence[Number] | None = None,
        work: Callable[[Task[Setting]], tuple[object, float]] = timed,
    ) -> None:
        self._store, self._seconds, self._view, self._work = store, seconds, view, work
        self._samples = Samples(store)
        self._claims = tuple(claims)
        self._numbers = all_numbers() if numbers is None else tuple(numbers)
        asked = dict.fromkeys(one for claim in claims for one in claim.rule.comparisons)
        self._questions: tuple[Question | Number, ...] = (*asked, *self._numbers)
        uses = (use for question in self._questions for use in question.uses)
        # The paper's own scale is there, but not trials that only a claim asks for.
        self._looks: dict[Use, int] = {use: 0 if use[0] in planned else -1 for use in uses}
        self._estimates: dict[str, list[Estimate]] = {}
        self._modelled: dict[Use, float] = {}
        self._measured: dict[Use, float] = {}
        self._trials: dict[Use, int] = {}
        every = [claim.text for claim in self._claims], [one.where for one in self._numbers]
        self.progress = Progress(budget, 0.0, *every)

    def run(self, executor: Executor | None) -> InterimEstimates:
        """Add samples until all is decided or the budget is used up."""
        missing = tuple(use for use, look in self._looks.items() if look < 0)
        if missing:
            first = Extension(missing, 0, "the lines of Appendix B at T = 10⁵")
            self._extend([first], executor, whatever_it_takes=True)
        estimates = self.estimates()
        while batch := self._within_budget(next_batch(estimates, self._looks)):
            if not self._extend(batch, executor):
                break
            estimates = self.estimates()
        return estimates

    def estimates(self) -> InterimEstimates:
        """What all samples so far say."""
        for question in self._questions:
            last = min(self._looks[use] for use in question.uses)
            looks = self._estimates.setdefault(question.key, [])
            while len(looks) < LOOKS and len(looks) <= last:
                looks.append(question.estimate(partial(self._samples.at, look=len(looks))))
        rates = {rate_key(use): self._measured[use] / n for use, n in self._trials.items() if n}
        made_with = f"unimodal {__version__}, sources {law_hash()}"
        found = InterimEstimates(self._estimates, made_with, rates, self._claims, self._numbers)
        rulings = [(claim.text, found.ruling(claim)) for claim in self._claims]
        self.progress.open_claims = [text for text, ruling in rulings if ruling.word == OPEN]
        self.progress.open_numbers = [n.where for n in self._numbers if found.number(n).open]
        return found

    def _tasks(self, extension: Extension) -> Iterator[tuple[Use, Task[Setting]]]:
        for use in dict.fromkeys(extension.uses):
            there, wanted = (size_at(use[0], n) for n in (self._looks[use], extension.look))
            for number in range(there, wanted):
                for task in block(*use, number):
                    yield use, task

    def _expected(self, extension: Extension) -> float:
        """The seconds it will take, by what tasks of its kind took so far."""
        total = 0.0
        everything = sum(self._measured.values()), sum(self._modelled.values())
        for use, task in self._tasks(extension):
            done = self._measured.get(use, 0.0), self._modelled.get(use, 0.0)
            over, under = done if done[1] else everything
            total += task.seconds * (over / under if under else 1.0)
        return total

    def _within_budget(self, batch: list[Extension]) -> list[Extension]:
        """Those of a batch that the rest of the budget is enough for."""
        left = self.progress.budget - self.progress.used
        kept = []
        for extension in batch:
            expected = self._expected(extension)
            if expected <= left:
                left -= expected
                kept.append(extension)
        return kept

    def _extend(
        self, batch: list[Extension], executor: Executor | None, whatever_it_takes: bool = False
    ) -> bool:
        """Run a batch; False if the budget ended within it."""
        self.progress.deciding = list(dict.fromkeys(one.reason for one in batch))
        self._view(self.progress, True)
        uses = {task: use for one in batch for use, task in self._tasks(one)}
        todo = []
        for task, use in uses.items():
            if self._store.has(task):
                self._count(use, task, self._seconds.get(task))
            else:
                todo.append(task)
        todo.sort(key=lambda task: -task.seconds)  # long ones first, so that no core waits for one

        def while_it_lasts() -> Iterator[Task[Setting]]:
            for task in todo:
                if self.progress.used >= self.progress.budget and not whatever_it_takes:
                    return
                yield task

        finished = len(uses) - len(todo)
        work = runner.run(while_it_lasts(), self._work, executor=executor)
        with contextlib.closing(work), self._keeping() as keep:  # type: ignore[type-var]
            for task, (rows, seconds) in work:
                keep(task, rows, seconds)
                self._count(uses[task], task, seconds)
                finished += 1
                self._view(self.progress, False)
        if finished < len(uses):
            return False
        for one in batch:
            for use in one.uses:
                self._looks[use] = max(self._looks[use], one.look)
        return True

    @contextlib.contextmanager
    def _keeping(self) -> Iterator[Callable[[Task[Setting], object, float], None]]:
        """Gives a function that keeps a finished task: on disk within a second, and at the end."""
        waiting: list[tuple[Task[Setting], object, float]] = []
        last = time.monotonic()

        def flush() -> None:
            # The seconds first: were it ended between the two, the tasks would be done again.
            self._seconds.put_all((task, seconds) for task, _, seconds in waiting)
            self._store.put_all((task, rows) for task, rows, _ in waiting)
            waiting.clear()

        def keep(task: Task[Setting], rows: object, seconds: float) -> None:
            nonlocal last
            waiting.append((task, rows, seconds))
            if time.monotonic() - last > _FLUSH:
                last = time.monotonic()
                flush()

        try:
            yield keep
        finally:
            flush()

    def _count(self, use: Use, task: Task[Setting], seconds: float) -> None:
        self.progress.used += seconds
        self._measured[use] = self._measured.get(use, 0.0) + seconds
        self._modelled[use] = self._modelled.get(use, 0.0) + task.seconds
        self._trials[use] = self._trials.get(use, 0) + task.last - task.first


def sample_until_decided(
    folder: Path, minutes: float, view: View, executor: Executor | None = None
) -> InterimEstimates:
    """Add samples to a finished reproduction in `folder`, for at most so many core-minutes."""
    with (
        opened(folder / FILE) as store,
        contextlib.closing(TaskSeconds(folder / SECONDS)) as seconds,
    ):
        return SequentialSampling(store, seconds, 60 * minutes, view, settings(FULL)).run(executor)
