"""How often a token, or an address without one, may ask."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from unimodal.errors import TooManyRequests

_MOST_BUCKETS = 10_000


class RequestRates:
    """A bucket per token or address: so many requests per second, as many at once after a pause."""

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._clock = rate, clock
        self._size = max(rate, 1.0)  # or with less than one per second the first would be refused
        self._buckets: dict[str, tuple[float, float]] = {}  # what is left, and when that was

    def take(self, whose: str, what: str = "this token may be used") -> None:
        """Count a request, or refuse it."""
        now = self._clock()
        left, before = self._buckets.pop(whose, (self._size, now))
        left = min(left + (now - before) * self._rate, self._size)
        is_refused = left < 1.0
        self._buckets[whose] = left if is_refused else left - 1.0, now
        while len(self._buckets) > _MOST_BUCKETS:  # of those who have not come for the longest time
            del self._buckets[next(iter(self._buckets))]
        if is_refused:
            seconds = math.ceil((1.0 - left) / self._rate)
            error = TooManyRequests(
                f"{what} {self._rate:g} times per second, and this was more often: wait "
                f"{seconds} s, or put several rewards into one request."
            )
            error.seconds = seconds
            raise error
