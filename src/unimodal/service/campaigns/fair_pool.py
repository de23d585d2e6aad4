"""Work off the event loop, by a few threads: one token's after another's, and never too much."""

from __future__ import annotations

import asyncio
import collections
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from unimodal.service.campaigns.admission import Admission


class FairPool:
    """Threads that take turns among tokens: nobody waits for all that another one has asked."""

    def __init__(self, threads: int, admission: Admission, name: str) -> None:
        self._threads, self._admission = ThreadPoolExecutor(threads, name), admission
        self._lock = threading.Lock()
        self._waiting: dict[str, collections.deque[tuple[Future[Any], Callable[[], Any]]]] = {}

    async def do(self, work: Callable[[], Any]) -> Any:
        """What some work returns, which a thread does when it is this token's turn."""
        token = self._admission.enter()
        done: Future[Any] = Future()
        loop = asyncio.get_running_loop()
        done.add_done_callback(lambda _: loop.call_soon_threadsafe(self._admission.leave, token))
        with self._lock:
            self._waiting.setdefault(token, collections.deque()).append((done, work))
        self._threads.submit(self._next)
        return await asyncio.wrap_future(done)

    def close(self) -> None:
        """Finish what is being done, and give up what waits."""
        with self._lock:
            given_up = [done for queue in self._waiting.values() for done, _ in queue]
            self._waiting = {}
        for done in given_up:
            done.cancel()
        self._threads.shutdown(wait=True)

    def _next(self) -> None:
        """Do what the token has asked first whose turn it is; it is the last one then."""
        with self._lock:
            if not self._waiting:
                return  # it was given up
            token = next(iter(self._waiting))
            queue = self._waiting.pop(token)
            done, work = queue.popleft()
            if queue:
                self._waiting[token] = queue
        if not done.set_running_or_notify_cancel():
            return  # whoever asked has gone
        try:
            result = work()
        except BaseException as error:
            done.set_exception(error)
        else:
            done.set_result(result)
