"""HTTP on one connection, with a time for each thing that a client has to do.

uvicorn waits for ever for the head of a request and for an answer to be taken. A client that does
neither would hold a connection, and the memory of an answer, until there are none left for others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from unimodal.service.limits import Limits


class TimedProtocol(H11Protocol):
    """Closes a connection whose client sends no whole head, or takes no answer, in time."""

    limits = Limits()

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._head_timer: asyncio.TimerHandle | None = None
        self._answer_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first head."""
        super().connection_made(transport)
        self._head_timer = self._after(self.limits.head_seconds, transport.close)

    def data_received(self, data: bytes) -> None:
        """Wait on, if the head is not whole; else for nothing, until another one begins."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            _cancel(self._head_timer)
            self._head_timer = None
        elif self._head_timer is None and not self.transport.is_closing():
            self._head_timer = self._after(self.limits.head_seconds, self.transport.close)

    def pause_writing(self) -> None:
        """Wait for an answer to be taken: more of it is in memory than is good."""
        super().pause_writing()
        if self._answer_timer is None:
            self._answer_timer = self._after(self.limits.answer_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """The answer, or most of it, was taken."""
        super().resume_writing()
        _cancel(self._answer_timer)
        self._answer_timer = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        _cancel(self._head_timer)
        _cancel(self._answer_timer)
        super().connection_lost(exc)

    def _after(self, seconds: float, work: Callable[[], object]) -> asyncio.TimerHandle:
        return self.loop.call_later(seconds, work)


def timed_protocol(limits: Limits) -> type[TimedProtocol]:
    """The protocol with these limits; a server makes one per connection by itself."""
    return type("TimedProtocol", (TimedProtocol,), {"limits": limits})


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
