"""A thread that looks for alarms now and then, and tells each new one once."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Iterable
from typing import Any

from unimodal.errors import UnimodalError
from unimodal.escape_text import printable

_log = logging.getLogger("unimodal")


class AlarmWatch:
    """Looks every so many seconds, outside of all calls; what goes wrong there is logged.

    `look` finds the alarms as they are now; an alarm is known by its kind and its arm.
    """

    def __init__(
        self, look: Callable[[], Iterable[Any]], tell: Callable[[Any], object], every: float
    ) -> None:
        self._look, self._tell, self._every = look, tell, every
        self._known: set[tuple[str, Any]] = set()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="unimodal alarms", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Look no more; the thread ends when it has told what it found."""
        self._stopped.set()
        if self._thread is not threading.current_thread():
            self._thread.join()

    def _run(self) -> None:
        while True:
            with contextlib.suppress(UnimodalError):  # such as a file that is busy: next time
                self.look_once()
            if self._stopped.wait(self._every):
                return

    def look_once(self) -> None:
        """Tell what is new; an exception of the one who is told is logged and goes no further."""
        found = {(alarm.kind, repr(alarm.arm)): alarm for alarm in self._look()}
        for key, alarm in found.items():
            if key not in self._known and not self._stopped.is_set():
                try:
                    self._tell(alarm)
                except Exception:
                    what = "the function that watches a campaign failed: %s"
                    _log.exception(what, printable(alarm))  # it names an arm
        self._known = set(found)
