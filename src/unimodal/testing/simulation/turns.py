"""Threads of which one runs at a time: who goes on is chosen by a seeded generator.

A thread hands on when it pauses (at the boundaries of a store), when it waits for something, and
when it ends. So everything that threads do to each other is replayed by the seed.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterable
from typing import Any

_PATIENCE = 60.0  # seconds by a real clock, after which a thread waits for what is not known here


class Crashed(BaseException):
    """The process of this thread was killed; what it would have done is not done."""


class Stuck(Exception):
    """Nobody can go on."""


class Owner:
    """A process, as threads belong to one: all of them end with it."""

    def __init__(self, name: str) -> None:
        self.name, self.crashed = name, False
        self.disturbances = 0  # of its store, when it last got into a transaction
        self.erasing = ""  # the label that it erases


class Task:
    """A thread of the simulation."""

    def __init__(self, work: Callable[[], Any], owner: Owner, is_background: bool) -> None:
        self.work, self.owner, self.is_background = work, owner, is_background
        self.done = False
        self.error: BaseException | None = None
        self.until: Callable[[], bool] | None = None  # what it waits for
        self.can_time_out = False
        self.go = threading.Lock()  # released by who hands on to it
        self.go.acquire()

    def can_run(self) -> bool:
        """Whether it could go on now; to be killed, it always can."""
        return not self.done and (self.owner.crashed or self.until is None or self.until())


class Turns:
    """Whose turn it is."""

    def __init__(self) -> None:
        self.random = random.Random(0)  # replaced at every step
        self.eagerness = 0.5  # with which probability somebody else goes on after a pause
        self.background = 0.3  # how often threads beside the calls go on
        self.tasks: list[Task] = []
        self.failures: list[BaseException] = []  # of threads beside the calls
        self._here = threading.local()
        self._waited_for: list[Task] = []
        self._main = threading.Lock()
        self._main.acquire()
        self._is_stuck = False

    @property
    def task(self) -> Task | None:
        """The task that this thread is; None for others, which nobody hands on to."""
        return getattr(self._here, "task", None)

    def add(self, work: Callable[[], Any], owner: Owner, is_background: bool = False) -> Task:
        """A task that begins when it is its turn."""
        task = Task(work, owner, is_background)
        self.tasks.append(task)
        threading.Thread(target=self._run, args=(task,), daemon=True).start()
        return task

    def run(self, tasks: Iterable[Task]) -> None:
        """Let all go on until some of them are done."""
        self._waited_for = list(tasks)
        if all(task.done for task in self._waited_for):
            return
        self._choose(None)
        if not self._main.acquire(timeout=_PATIENCE):
            raise Stuck("a thread waits for something that the simulator does not know of.")
        if self._is_stuck:
            waiting = [task.owner.name for task in self.tasks if not task.done]
            raise Stuck(f"these wait for each other: {', '.join(waiting)}.")

    def pause(self, share: float = 1.0) -> None:
        """Let somebody else go on, perhaps; less often where there are many pauses."""
        task = self.task
        if task is None:
            return
        if self.random.random() < self.eagerness * share:
            self._hand_on(task)
        self._check_alive(task)

    def wait(self, until: Callable[[], bool], can_time_out: bool = False) -> bool:
        """Wait until something holds; False if it does not, and nobody else can go on."""
        task = self.task
        if task is None:
            if not until():
                raise Stuck("a thread that is none of the simulation's would wait for ever.")
            return True
        while not until():
            task.until, task.can_time_out = until, can_time_out
            self._hand_on(task)
            task.until = None
            self._check_alive(task)
            if can_time_out and not until():
                return False
        return True

    def _check_alive(self, task: Task) -> None:
        if task.owner.crashed:
            raise Crashed

    def _hand_on(self, task: Task) -> None:
        if self._choose(task) is not task:
            task.go.acquire()

    def _choose(self, now: Task | None) -> Task | None:
        """Wake whose turn it is next; whoever asks goes on itself if it is its own."""
        self.tasks = [task for task in self.tasks if not task.done]
        able = [task for task in self.tasks if task.can_run()]
        calls = [task for task in able if not task.is_background]
        beside = [task for task in able if task.is_background]
        if calls and (not beside or self.random.random() >= self.background):
            able = calls
        elif beside:
            able = beside
        else:
            able = [task for task in self.tasks if task.can_time_out]
        if not able:
            self._is_stuck = True
            self._main.release()
            return None
        task = able[0] if len(able) == 1 else self.random.choice(able)
        if task is not now:
            task.go.release()
        return task

    def _run(self, task: Task) -> None:
        self._here.task = task
        task.go.acquire()
        try:
            if not task.owner.crashed:
                task.work()
        except Crashed:
            pass
        except BaseException as error:
            task.error = error
            if task.is_background:
                self.failures.append(error)
        task.done = True
        if all(each.done for each in self._waited_for):
            self._main.release()
        else:
            self._choose(None)
