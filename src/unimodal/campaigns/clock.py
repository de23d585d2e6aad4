"""The time of a campaign: the clock's, unless it jumps.

One bad reading far ahead would expire every open decision for good. So a reading is held against
a clock that cannot be set: what is further ahead than that allows is not believed before it has
lasted for a minute, and time passes meanwhile as that clock says. A clock that was set back does
not stop the time either.
"""

from __future__ import annotations

import logging
import math
import time
from collections import deque
from collections.abc import Callable

_SYSTEM_STEP = 60.0  # seconds by which the system's clock may be set ahead, and is believed at once
_OWN_STEP = 86_400.0  # the same for a clock of the caller's, which may be that of a simulation
_WHILE_CLOSED = 30 * 86_400.0  # the same at an opening: nobody knows how long the file was closed
_BELIEVED_AFTER = 60.0  # seconds for which a clock has to be ahead
_REPORTS = 100

_log = logging.getLogger("unimodal")


def steady() -> float:
    """Seconds that nobody sets, and that count while a machine sleeps where that is known."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()


class CampaignClock:
    """Reads a clock, which is believed as far as a steady one allows; it never goes back.

    >>> readings = iter([1000.0, 4e9, 1001.0])
    >>> clock = CampaignClock(lambda: next(readings))
    >>> clock(), clock(), clock()
    (1000.0, 1000.0, 1001.0)
    >>> clock.reports[0]
    'the clock is 3,999,999,000 s ahead at once: this is believed if it lasts for 60 s.'
    """

    def __init__(
        self,
        clock: Callable[[], float],
        steadily: Callable[[], float] = steady,
        is_system: bool | None = None,
    ) -> None:
        """Read `clock`; `is_system` says that it is a machine's, not one of the caller's."""
        self._clock, self._steadily = clock, steadily
        self._is_system = clock is time.time if is_system is None else is_system
        self._step = _SYSTEM_STEP if self._is_system else _OWN_STEP
        self._allowed = math.inf  # at the first reading: nothing is known before
        self._last, self._then = -math.inf, steadily()  # the time told last, and when that was
        self._odd_since = math.inf  # since when the clock is ahead of what is believed
        self._is_behind = False
        self.reports: deque[str] = deque(maxlen=_REPORTS)

    def follow(self, told: float) -> None:
        """Not to go back behind a time that the log tells."""
        if told > self._last:
            if self._allowed == math.inf:
                self._allowed = _WHILE_CLOSED
            self._last, self._then = told, self._steadily()

    def __call__(self) -> float:
        """The time now."""
        told = self._clock()
        try:
            reading = float(told)
        except (TypeError, ValueError, OverflowError):
            reading = math.nan
        if not math.isfinite(reading):
            return told  # which the agent refuses
        now = self._steadily()
        likely = self._last + (now - self._then if self._is_system else 0.0)
        self._last, self._then = max(self._last, self._believed(reading, likely, now)), now
        self._allowed = self._step
        return self._last

    def _believed(self, reading: float, likely: float, now: float) -> float:
        ahead = reading - likely
        if ahead > self._allowed and self._odd_since == math.inf:
            self._odd_since = now
            self._report(
                f"the clock is {ahead:,.0f} s ahead at once: this is believed if it lasts for "
                f"{_BELIEVED_AFTER:g} s."
            )
        if ahead > self._allowed and now - self._odd_since < _BELIEVED_AFTER:
            return likely
        if ahead > self._allowed:
            self._report(f"the clock has stayed {ahead:,.0f} s ahead, and is believed now.")
        self._odd_since = math.inf
        was_behind, self._is_behind = self._is_behind, -ahead > self._step
        if self._is_behind and not was_behind:
            self._report(f"the clock is {-ahead:,.0f} s behind: times do not go back.")
        return likely if self._is_behind else reading

    def _report(self, sentence: str) -> None:
        self.reports.append(sentence)
        _log.warning(sentence)
