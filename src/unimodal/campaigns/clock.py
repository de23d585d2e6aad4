"""The time of a campaign: the clock's, unless it jumps.

One bad reading far ahead would expire every open decision for good. So a reading is held against
a clock that cannot be set: what is further ahead than that allows is not believed before it has
lasted for a minute, and time passes meanwhile as that clock says. A clock that was set back does
not stop the time either.

Nobody knows how long a store was closed. So an opening believes its first reading as far as the
openings before vouch for it: by the steady clock, where the machine has not been started anew since
(`boot`), or by a reading that was seen at least a minute ago and not taken back (`seen`). The store
keeps both for the next opening (docs/decisions/0027-clocks-and-copies-put-back.md).
"""

from __future__ import annotations

import functools
import logging
import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

_SYSTEM_STEP = 60.0  # seconds by which the system's clock may be set ahead, and is believed at once
_OWN_STEP = 86_400.0  # the same for a clock of the caller's, which may be that of a simulation
_BELIEVED_AFTER = 60.0  # seconds for which a clock has to be ahead
_REPORTS = 100

_log = logging.getLogger("unimodal")


def steady() -> float:
    """Seconds that nobody sets, and that count while a machine sleeps where that is known."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()


@functools.cache
def this_boot() -> str | None:
    """What `steady` counts from: the same for all processes until the machine is started anew."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):  # elsewhere than on Linux nobody tells
        return None


class Kept(NamedTuple):
    """What an opening leaves for the next one."""

    seen: float | None = None  # the first reading that was ahead and is not believed yet
    instead: float = 0.0  # what was believed instead
    boot: str | None = None  # since when `steadily` counts
    steadily: float = 0.0
    time: float = 0.0  # the campaign's, at that moment
    late: Sequence[float] = ()  # see `CampaignClock.late`

    @classmethod
    def from_data(cls, data: Any) -> Kept:
        """What a store has kept; nothing where it has none, or something that cannot be."""
        try:
            kept = cls(**data)
            numbers = (kept.seen or 0.0, kept.instead, kept.steadily, kept.time, *kept.late)
            is_right = all(map(math.isfinite, numbers)) and len(kept.late) in (0, 3)
        except TypeError:
            is_right = False
        return kept if is_right else cls()


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
        is_trusted: bool = False,
        boot: str | None = None,
    ) -> None:
        """Read `clock`; `is_system` says that it is a machine's, not one of the caller's.

        A clock that `is_trusted`, such as a database server's, is believed at an opening.
        """
        self._clock, self._steadily = clock, steadily
        self._is_system = clock is time.time if is_system is None else is_system
        self._step = _SYSTEM_STEP if self._is_system else _OWN_STEP
        self._is_trusted = is_trusted
        self._boot = boot if self._is_system and not is_trusted else None
        self._before: Kept | None = Kept()  # what openings before have kept, until it is read
        self._last, self._then = -math.inf, steadily()  # the time told last, and when that was
        self._seen: float | None = None  # the first reading that is ahead of what is believed
        self._instead = 0.0  # what was believed then
        self._odd_since = math.inf  # since when it is ahead, in this process
        # What got its time while a jump was looked at that proved right: it got times after the
        # first of these numbers and up to the second, and the third is how many seconds they lack.
        self.late: list[float] = []
        self._is_behind = False
        self.to_keep: dict[str, Any] | None = None  # what the store has to keep; None: it has it
        self.reports: deque[str] = deque(maxlen=_REPORTS)

    @property
    def opens(self) -> bool:
        """Whether what a store has kept is still to be told: a trusted clock needs none of it."""
        return self._before is not None and not self._is_trusted

    def open(self, kept: Any) -> None:
        """Let the first reading go on from what the store has kept."""
        self._before = Kept.from_data(kept)
        self._seen, self._instead = self._before.seen, self._before.instead
        self.late[:] = self._before.late

    def follow(self, told: float) -> None:
        """Not to go back behind a time that the log tells."""
        if told > self._last:
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
        before, self._before, seen = self._before, None, self._seen
        if before is not None:
            likely = max(likely, self._vouched_for(before, reading, now))
        is_first = likely == -math.inf or (before is not None and self._is_trusted)
        believed = reading if is_first else self._believed(reading, likely, now, before is not None)
        self._last, self._then = max(self._last, believed), now
        if self._seen != seen or (before is not None and self._boot is not None):
            self._keep(now)
        return self._last

    def _vouched_for(self, before: Kept, reading: float, now: float) -> float:
        """The time that openings before say has been reached; none after `reading`."""
        sure = -math.inf
        if before.boot is not None and before.boot == self._boot:
            sure = before.time + (now - before.steadily)
        if before.seen is not None and not before.seen <= reading < before.seen + _BELIEVED_AFTER:
            self._seen = None  # it has lasted, or was taken back
            if before.seen <= reading and before.seen > max(sure, self._last):
                sure = before.seen
                # What was decided then is as old as the readings are apart.
                if (late := 2 * before.seen - reading - before.instead) > 0:
                    self.late[:] = before.instead, self._last, late
                self._report(
                    "the clock has stayed ahead since an opening before, and is believed as far as "
                    "it was then."
                )
        return min(sure, reading)

    def _believed(self, reading: float, likely: float, now: float, is_opening: bool) -> float:
        ahead = reading - likely
        if ahead > self._step and self._odd_since == math.inf:
            self._odd_since = now
            if self._seen is None:
                self._seen, self._instead = reading, likely
            self._report(_ahead(ahead, is_opening))
        if ahead > self._step and now - self._odd_since < _BELIEVED_AFTER:
            return likely
        if ahead > self._step:
            self.late[:] = self._instead, self._last, ahead
            self._report(f"the clock has stayed {ahead:,.0f} s ahead, and is believed now.")
        self._odd_since, self._seen = math.inf, None
        was_behind, self._is_behind = self._is_behind, -ahead > self._step
        if self._is_behind and not was_behind:
            self._report(f"the clock is {-ahead:,.0f} s behind: times do not go back.")
        return likely if self._is_behind else reading

    def _keep(self, now: float) -> None:
        kept = Kept(self._seen, self._instead, self._boot, now, self._last, self.late[:])._asdict()
        self.to_keep = None if self._is_trusted else kept

    def _report(self, sentence: str) -> None:
        self.reports.append(sentence)
        _log.warning(sentence)


def _ahead(seconds: float, is_opening: bool) -> str:
    if not is_opening:
        return (
            f"the clock is {seconds:,.0f} s ahead at once: this is believed if it lasts for "
            f"{_BELIEVED_AFTER:g} s."
        )
    return (
        f"the clock is {seconds:,.0f} s ahead at this opening: nothing expires by it and no key is "
        f"forgotten before it has lasted for {_BELIEVED_AFTER:g} s, here or until a later opening."
    )
