"""A log that strangers cannot fill: each sentence once per interval, with how often it was true."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

_log = logging.getLogger("unimodal")
EVERY = 60.0  # seconds between two lines of the same kind


class QuietLog(logging.Filter):
    """Logs a line once per interval; the others of its kind are counted, and logged with the next.

    The kind of a line is its text before arguments are put in, so that text must be fixed. As a
    filter of another logger it does the same to that one's lines.

    >>> quiet = QuietLog(clock=lambda: 0.0)
    >>> quiet.is_due("a wrong token from %s"), quiet.is_due("a wrong token from %s")
    (True, False)
    """

    def __init__(self, every: float = EVERY, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._every, self._clock = every, clock
        self._lock = threading.Lock()
        self._kinds: dict[
            str, tuple[float, int]
        ] = {}  # when it was last logged, and how many since

    def warning(self, text: str, *arguments: object) -> None:
        """Log a line, or count it where one of its kind was logged within the interval."""
        left_out = self._left_out(text)
        if left_out is not None:
            _log.warning(text + _more(left_out), *arguments)

    def is_due(self, text: str) -> bool:
        """Whether a line of this kind is to be logged now; counted if not."""
        return self._left_out(text) is not None

    def filter(self, record: logging.LogRecord) -> bool:
        """The same for a line of a logger that this is a filter of."""
        left_out = self._left_out(str(record.msg))
        if left_out:
            record.msg = f"{record.msg}{_more(left_out)}"
        return left_out is not None

    def tell_left_out(self) -> None:
        """Log how many lines were left out, of the kinds whose interval is over."""
        now = self._clock()
        with self._lock:
            over = [
                kind for kind, (logged, _) in self._kinds.items() if now - logged >= self._every
            ]
            left_out = [(kind, self._kinds.pop(kind)[1]) for kind in over]
        for kind, times in left_out:
            if times:
                _log.warning("%d more times in %g s: %s", times, self._every, kind)

    def _left_out(self, kind: str) -> int | None:
        """How many were left out since the last line of a kind; None if this one is, too."""
        now = self._clock()
        with self._lock:
            logged, times = self._kinds.get(kind, (-self._every, 0))
            is_due = kind not in self._kinds or now - logged >= self._every
            self._kinds[kind] = (now, 0) if is_due else (logged, times + 1)
        return times if is_due else None


def _more(times: int) -> str:
    return f" ({times} more since the last such line)" if times else ""


@contextlib.contextmanager
def quieted(quiet: QuietLog) -> Iterator[None]:
    """Have uvicorn and the event loop log each kind of line once per interval.

    Strangers cause their lines: requests that are no HTTP, and errors of accepting, of which
    asyncio logs a thousand at once when there are no descriptors left.
    """

    def once(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if quiet.is_due(str(context.get("message"))):
            loop.default_exception_handler(context)

    loop, log = asyncio.get_running_loop(), logging.getLogger("uvicorn.error")
    before = loop.get_exception_handler()
    loop.set_exception_handler(once)
    log.addFilter(quiet)
    try:
        yield
    finally:
        log.removeFilter(quiet)
        loop.set_exception_handler(before)
