"""Doing the work: tasks over an executor, each kept the moment it is done."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, cast

from unimodal.engines import runner
from unimodal.errors import UnimodalError
from unimodal.escape_text import printable
from unimodal.studies import tasks as kinds
from unimodal.studies.finished_tasks import FinishedTasks
from unimodal.studies.tasks import Setting, Task


def do(
    tasks: list[Task[Setting]],
    store: FinishedTasks,
    executor: Executor | None = None,
    tell: Callable[[Task[Setting]], object] = lambda task: None,
    run: Callable[[Task[Setting]], Any] = kinds.run,
) -> None:
    """Run what is not finished yet; `tell` hears of each task as it is done.

    `run` makes a task's rows, one per trial: its regrets by default.
    A task whose worker died is handed out again, a few times.
    """
    todo = [task for task in tasks if not store.has(task)]
    # Quick cells first, so that much is complete early.
    todo.sort(key=lambda task: task.setting.seconds_a_trial(task.policy))
    for task, found in runner.run(todo, run, executor=executor):
        store.put(task, found)
        tell(task)


_PATIENCE = 10.0  # seconds for a scheduler to answer


@contextmanager
def dask_workers(address: str) -> Iterator[Executor]:
    """The workers of a Dask cluster, as an Executor; let go at the end.

    A client left open would look for its scheduler, in a thread of its own, until the process ends.
    """
    try:
        from distributed import Client
    except ImportError:
        raise UnimodalError(
            "--dask needs Dask: install the extra with pip install 'unimodal[dask]'."
        ) from None
    connect: Any = Client
    try:
        with ThreadPoolExecutor(1) as beside:  # this thread may have a running event loop already
            beside.submit(asyncio.run, _greet(address)).result()
        client = connect(address, timeout=_PATIENCE, set_as_default=False)
    except Exception as error:  # of Dask, of asyncio, of the transport: OSError, TypeError, …
        why = printable(str(error) or "another kind of server does")
        raise UnimodalError(
            f"no Dask scheduler answers at {printable(address)} ({why}): check the address."
        ) from None
    with client:
        yield client.get_executor()


async def _greet(address: str) -> None:
    """Shake hands with a scheduler: a client would wait for ever for a server of another kind."""
    from distributed import Security, comm

    security: Any = Security
    how = security().get_connection_args("client")
    async with asyncio.timeout(_PATIENCE + 1):
        opened: Any = await cast(Any, comm).connect(address, timeout=_PATIENCE, **how)
        await opened.close()


@contextmanager
def workers_at(address: str) -> Iterator[Executor | None]:
    """The workers of the cluster that `--dask` names; None, for threads, where it names none."""
    if not address:
        yield None
        return
    with dask_workers(address) as executor:
        yield executor
