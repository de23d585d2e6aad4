"""Work off the event loop, by a few threads: one token's after another's, and never too much."""

from __future__ import annotations

import asyncio
import collections
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from unimodal.errors import Overloaded
from unimodal.service.access import ASKING


class Places:
    """How many may wait, in all and of one token; where there are no tokens, one may have all."""

    def __init__(self, most: int, most_of_one: int) -> None:
        self._most, self._most_of_one = most, max(most_of_one, 1)
        self._taken: collections.Counter[str] = collections.Counter()
        self.count = 0

    def take(self) -> str:
        """A place of the token that asks, which is to be given back; refused if there is none."""
        token = ASKING.get()
        if self.count >= self._most:
            raise Overloaded(
                f"{self.count:,} calls wait already, as many as the service lets: call again in a "
                "second."
            )
        if token and self._taken[token] >= self._most_of_one:
            raise Overloaded(
                f"{self._most_of_one:,} calls of this token wait already, as many as the service "
                "lets of one: call again in a second."
            )
        self._taken[token] += 1
        self.count += 1
        return token

    def give_back(self, token: str) -> None:
        """Let the next one have a place."""
        self.count -= 1
        self._taken[token] -= 1
        if not self._taken[token]:
            del self._taken[token]


class Turns:
    """Threads that take turns among tokens: nobody waits for all that another one has asked."""

    def __init__(self, threads: int, places: Places, name: str) -> None:
        self._threads, self._places = ThreadPoolExecutor(threads, name), places
        self._lock = threading.Lock()
        self._waiting: dict[str, collections.deque[tuple[Future[Any], Callable[[], Any]]]] = {}

    async def do(self, work: Callable[[], Any]) -> Any:
        """What some work returns, which a thread does when it is this token's turn."""
        token = self._places.take()
        done: Future[Any] = Future()
        loop = asyncio.get_running_loop()
        done.add_done_callback(lambda _: loop.call_soon_threadsafe(self._places.give_back, token))
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
