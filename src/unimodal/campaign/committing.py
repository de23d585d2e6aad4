"""Group commit: calls of several threads share one transaction, and return when it is on disk."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from unimodal.errors import UnimodalError

_INTERRUPTED = "a call was interrupted, so that it may not have been kept: call again."


_WITHIN = (  # it would wait for itself, for ever
    "a campaign cannot be called from within one of its own calls, such as by its neighbour "
    "function or a signal handler: call it before or after."
)


class Call:
    """What a thread wants done, and what came of it.

    `checks_first`: if it is refused, it has changed nothing. `may_repeat`: it may be done twice,
    the second time from the state as it was before the first.
    """

    __slots__ = ("checks_first", "done", "error", "may_repeat", "result", "work")

    def __init__(
        self, work: Callable[[Any], Any], checks_first: bool = True, may_repeat: bool = False
    ) -> None:
        self.work, self.checks_first, self.may_repeat = work, checks_first, may_repeat
        self.done = False
        self.result: Any = None
        self.error: BaseException | None = None


class GroupCommit:
    """Whoever gets the turn commits for all that wait; alone, a thread waits for nobody.

    `commit` does a list of calls in one transaction. It returns only when that is on disk, and
    until then no call is answered: an acknowledgement before the commit could be lost in a crash.
    """

    def __init__(self, commit: Callable[[list[Call]], None]) -> None:
        self._commit = commit
        self._waiting: deque[Call] = deque()
        self._turn = threading.Lock()
        self._server: int | None = None  # the thread that commits now

    def __call__(self, call: Call) -> Any:
        """Do it, durably; its result."""
        me = threading.get_ident()
        if self._server == me:
            raise UnimodalError(_WITHIN)
        self._waiting.append(call)
        with self._turn:
            if not call.done:
                self._serve(me)
        if not call.done:  # whoever took it out of the queue was interrupted in the next instant
            raise UnimodalError(_INTERRUPTED)
        if call.error is not None:
            raise call.error
        return call.result

    def alone(self, work: Callable[[], None]) -> None:
        """Do something while nobody commits; who waits goes on after it."""
        if self._server == threading.get_ident():
            raise UnimodalError(_WITHIN)
        with self._turn:
            work()

    def _serve(self, server: int) -> None:
        calls: list[Call] = []
        try:
            self._server = server
            for _ in range(len(self._waiting)):
                calls.append(self._waiting.popleft())
            self._commit(calls)
        except UnimodalError as error:
            for call in calls:  # one sentence each: tracebacks of several threads would mix
                call.error = UnimodalError(str(error))
        except BaseException:  # such as Ctrl-C, which is this thread's alone
            for call in calls:
                call.error = UnimodalError(_INTERRUPTED)
            raise
        finally:
            self._server = None
            for call in calls:
                call.done = True
