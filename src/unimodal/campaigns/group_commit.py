"""Group commit: calls of several threads share one transaction, and return when it is on disk."""

from __future__ import annotations

import itertools
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from unimodal.errors import UnimodalError

_NOBODY_YET = -1  # no thread has this number
_INTERRUPTED = "a call was interrupted, so that it may not have been kept: call again."
WITHIN = (  # it would wait for itself, for ever
    "a campaign cannot be called from within one of its own calls, such as by its neighbour "
    "function or a signal handler: call it before or after."
)


class Call:
    """What somebody wants done, and what came of it: `result`, or `error`.

    `checks_first`: if it is refused, it has changed nothing. `may_repeat`: it may be done twice,
    the second time from the state as it was before the first. `is_of_nobody`: no caller waits for
    it, so what goes wrong with the store is told to the next one.
    """

    __slots__ = ("checks_first", "error", "is_of_nobody", "may_repeat", "result", "work")

    def __init__(
        self, work: Callable[[Any], Any], checks_first: bool = True, may_repeat: bool = False
    ) -> None:
        self.work, self.checks_first, self.may_repeat = work, checks_first, may_repeat
        self.is_of_nobody = False
        self.result: Any = None
        self.error: BaseException | None = None


class _Ticket:
    """The calls of a thread that waits; one without calls asks for a time when nobody commits."""

    __slots__ = ("calls", "done", "signal")

    def __init__(self, calls: Sequence[Call]) -> None:
        self.calls, self.done = calls, False
        self.signal: Any = None  # a lock that is released in order to wake its thread

    def expect(self) -> None:
        """Get ready to `sleep`."""
        self.signal = threading.Lock()
        self.signal.acquire()

    def sleep(self, seconds: float = -1) -> None:
        """Wait until somebody calls `wake`, or so long."""
        self.signal.acquire(timeout=seconds)

    def wake(self) -> None:
        """Let its thread go on, if it sleeps."""
        if self.signal is not None and self.signal.locked():
            self.signal.release()


class GroupCommit:
    """The thread that finds nobody at it commits for all that wait; alone, it waits for nobody.

    Calls that arrive while a commit is on its way go into the next one, which the thread of the
    first of them makes: a call waits for at most one commit besides its own.

    `commit` does a list of calls in one transaction. It returns only when that is on disk, and
    until then no call is answered: an acknowledgement before the commit could be lost in a crash.
    """

    def __init__(self, commit: Callable[[list[Call]], None]) -> None:
        self._commit = commit
        self._lock = threading.Lock()  # of what follows; held for an instant only
        self._waiting: deque[_Ticket] = deque()
        self._taken: list[_Ticket] = []  # what is committed now
        self._server: int | None = None  # the thread that commits now
        self._next: _Ticket | None = None  # whose thread was woken in order to commit

    def __call__(self, calls: Sequence[Call]) -> None:
        """Do calls, durably; each has its result or its error then."""
        if not calls:
            return  # a ticket without calls would ask for a time when nobody commits
        me, ticket = self.check_outside(), _Ticket(calls)
        try:
            if self._serves(ticket, me):
                self._serve()
        except BaseException:  # such as Ctrl-C, at whatever moment: nobody may wait for ever
            self._withdraw(ticket, me)
            raise

    def check_outside(self) -> int:
        """Refuse a thread that is inside of a call; its number."""
        me = threading.get_ident()
        if self._server == me:
            raise UnimodalError(WITHIN)
        return me

    def hold(self, seconds: float = -1) -> bool:
        """Let nobody commit from now on; False if that took longer, or this thread commits."""
        me, ticket = threading.get_ident(), _Ticket(())
        if self._server == me:
            return False
        try:
            if not self._serves(ticket, me, seconds):
                self._withdraw(ticket, me)
                return False
            self._waiting.popleft()
        except BaseException:
            self._withdraw(ticket, me)
            raise
        return True

    def release(self) -> None:
        """Let those commit who waited in the meantime."""
        self._finish()

    def alone(self, work: Callable[[], None]) -> None:
        """Do something while nobody commits; who waits goes on after it."""
        if not self.hold():
            raise UnimodalError(WITHIN)
        try:
            work()
        finally:
            self.release()

    def _serves(self, ticket: _Ticket, me: int, seconds: float = -1) -> bool:
        """Queue; True when it is this thread's turn to commit, False when its calls are done."""
        with self._lock:
            self._waiting.append(ticket)
            if self._server is None:
                self._server = me
                return True
            ticket.expect()
        ticket.sleep(seconds)
        with self._lock:
            if self._next is not ticket:
                return False
            self._next, self._server = None, me
        return True

    def _serve(self) -> None:
        """Commit what waits."""
        calls: list[Call] = []
        try:
            with self._lock:
                self._taken = list(itertools.takewhile(lambda one: one.calls, self._waiting))
                calls = [call for ticket in self._taken for call in ticket.calls]
                for _ in self._taken:
                    self._waiting.popleft()
            self._commit(calls)
        except UnimodalError as error:
            for call in calls:  # one sentence each: tracebacks of several threads would mix
                call.error, call.result = type(error)(str(error)), None
        except BaseException:  # such as Ctrl-C, which is this thread's alone
            for call in calls:
                call.error = UnimodalError(_INTERRUPTED)
            raise
        finally:
            self._finish()

    def _finish(self) -> None:
        """Answer the calls that were taken, and let the first thread that waits commit next."""
        for ticket in self._taken:
            ticket.done = True
            ticket.wake()
        with self._lock:
            while self._waiting and self._waiting[0].done:  # an interruption left them there
                self._waiting.popleft()
            self._taken = []
            self._next = heir = self._waiting[0] if self._waiting else None
            # Until the heir is awake, those who come queue behind it.
            self._server = None if heir is None else _NOBODY_YET
        if heir is not None:
            heir.wake()

    def _withdraw(self, ticket: _Ticket, me: int) -> None:
        """Give up calls, and their thread's turn if it has come."""
        with self._lock:
            if ticket in self._waiting:
                self._waiting.remove(ticket)
            its_turn = self._server == me or self._next is ticket
        if its_turn:
            self._finish()
