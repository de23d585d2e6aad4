"""The one loop that hands work to threads or to an executor: simulations, studies and replays."""

from __future__ import annotations

import functools
import os
import pickle
import socket
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    CancelledError,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from unimodal.errors import UnimodalError
from unimodal.kernels.cache_folder import source_hash

TASK_SECONDS = 4.0  # a task should take about so long: short to lose, long beside being sent
_AHEAD = 4  # tasks handed out beyond those that run, for each worker
_RETRIES = 3  # of a task on somebody else's executor, whose worker may have died
_TICK = 0.1  # seconds between two calls of `tick`
_ASK_AGAIN = 2.0  # seconds after which a cluster is asked again how many workers it has

Task = TypeVar("Task")
Found = TypeVar("Found")


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS or Windows
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run(
    tasks: Iterable[Task],
    work: Callable[[Task], Found],
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    tick: Callable[[], object] = lambda: None,
) -> Iterator[tuple[Task, Found]]:
    """Do every task, and yield it with its result as soon as it is done, in any order.

    The work is done by threads (`workers`, by default one per core) or by an `executor`, such as
    that of a Dask cluster, whose workers must have the same sources of this package. Tasks are
    handed out as workers need them, a few ahead. A task that fails on an executor is tried again a
    few times, since its worker may have died. `tick` is called several times a second meanwhile.
    Closing the generator gives up what has not begun.

    >>> sorted(run([1, 2, 3], lambda number: number**2))
    [(1, 1), (2, 4), (3, 9)]
    """
    pool = executor or ThreadPoolExecutor(workers or cores(), thread_name_prefix="unimodal")
    sent = work if executor is None else OnSameSources(work, sources_here())
    queue, again = iter(enumerate(tasks)), deque[tuple[int, Task]]()
    running: dict[Future[Found], tuple[int, Task]] = {}
    failures: Counter[int] = Counter()
    try:
        while True:
            for _ in range((1 + _AHEAD) * workers_of(pool) - len(running)):
                next_one = again.popleft() if again else next(queue, None)
                if next_one is None:
                    break
                running[_submitted(pool, sent, next_one[1])] = next_one
            if not running:
                return
            done, _ = wait(running, timeout=_TICK, return_when=FIRST_COMPLETED)
            tick()
            for future in done:
                number, task = running.pop(future)
                error = CancelledError() if future.cancelled() else future.exception()
                if error is None:
                    yield task, future.result()
                    continue
                failures[number] += 1
                if executor is None or isinstance(error, UnimodalError):
                    raise error
                if failures[number] > _RETRIES:
                    raise _explained(error) from error
                again.append((number, task))
    finally:
        for future in running:
            future.cancel()
        if executor is None:
            pool.shutdown(wait=False, cancel_futures=True)


def workers_of(executor: Executor) -> int:
    """How many tasks an executor works on at a time; this machine's cores if it does not say.

    A cluster may grow and shrink, so it is asked, but not more often than every two seconds.
    """
    client: Any = getattr(executor, "_client", None)  # Dask's
    if client is None:
        return int(getattr(executor, "_max_workers", None) or cores())
    known, asked = _answers.get(client, (0, -_ASK_AGAIN))
    if time.monotonic() - asked >= _ASK_AGAIN:
        try:
            known = max(int(sum(client.ncores().values())), 1)
        except (OSError, TimeoutError) as error:
            raise UnimodalError(
                f"the Dask cluster does not answer any more ({error}): start it and run again."
            ) from error
        _answers[client] = known, time.monotonic()
    return known


_answers: WeakKeyDictionary[Any, tuple[int, float]] = WeakKeyDictionary()


@dataclass(frozen=True)
class OnSameSources(Generic[Task, Found]):
    """Work that is refused where the package has other sources: its results could differ."""

    work: Callable[[Task], Found]
    sources: str

    def __call__(self, task: Task) -> Found:
        if sources_here() != self.sources:
            raise UnimodalError(
                f"a worker on {socket.gethostname()} has another version of unimodal, Numba or "
                "NumPy than this process, so its results could differ: install the same there."
            )
        return self.work(task)


@functools.cache
def sources_here() -> str:
    """A hash of this package's sources and of the versions of Numba and NumPy."""
    return f"{source_hash()} {np.__version__}"


def _submitted(pool: Executor, work: Callable[[Task], Found], task: Task) -> Future[Found]:
    try:
        return pool.submit(work, task)
    except RuntimeError as error:  # it was shut down, or a process of it died
        raise UnimodalError(
            f"the executor takes no more work ({error}): make a new one and run again."
        ) from error
    except Exception as error:
        raise _explained(error) from error


def _explained(error: BaseException) -> BaseException:
    """A sentence in place of an error that comes from sending work; other errors as they are."""
    if isinstance(error, ImportError):
        return UnimodalError(
            f"a worker cannot import what the work needs ({error}): install there what this "
            "machine has, and put policies and families of your own into a module that it has."
        )
    if isinstance(error, pickle.PicklingError) or "pickle" in str(error):
        return UnimodalError(
            f"the work cannot be sent to another process ({error}): define policies and families "
            "of your own in a module, at its top level."
        )
    return error
