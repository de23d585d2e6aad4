"""The one loop that hands work to threads or to an executor: simulations, studies and replays."""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

_AHEAD = 4  # tasks handed out beyond those that run, for each worker
_RETRIES = 3  # of a task on somebody else's executor, whose worker may have died
_TICK = 0.1  # seconds between two calls of `tick`

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
    that of a Dask cluster. Tasks are handed out as workers need them, a few ahead. A task that
    fails on an executor is tried again a few times, since its worker may have died. `tick` is
    called several times a second meanwhile. Closing the generator gives up what has not begun.

    >>> sorted(run([1, 2, 3], lambda number: number**2))
    [(1, 1), (2, 4), (3, 9)]
    """
    pool = executor or ThreadPoolExecutor(workers or cores(), thread_name_prefix="unimodal")
    queue, again = iter(enumerate(tasks)), deque[tuple[int, Task]]()
    running: dict[Future[Found], tuple[int, Task]] = {}
    failures: Counter[int] = Counter()
    try:
        while True:
            for _ in range((1 + _AHEAD) * workers_of(pool) - len(running)):
                next_one = again.popleft() if again else next(queue, None)
                if next_one is None:
                    break
                running[pool.submit(work, next_one[1])] = next_one
            if not running:
                return
            done, _ = wait(running, timeout=_TICK, return_when=FIRST_COMPLETED)
            tick()
            for future in done:
                number, task = running.pop(future)
                error = future.exception()
                if error is None:
                    yield task, future.result()
                    continue
                failures[number] += 1
                if executor is None or failures[number] > _RETRIES:
                    raise error
                again.append((number, task))
    finally:
        for future in running:
            future.cancel()
        if executor is None:
            pool.shutdown(wait=False, cancel_futures=True)


def workers_of(executor: Executor) -> int:
    """How many tasks an executor works on at a time; this machine's cores if it does not say."""
    client: Any = getattr(executor, "_client", None)  # Dask's: its cluster may grow and shrink
    if client is not None:
        return max(int(sum(client.ncores().values())), 1)
    return int(getattr(executor, "_max_workers", None) or cores())
