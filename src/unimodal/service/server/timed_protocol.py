"""HTTP on one connection, with a time for each thing that a client has to do.

uvicorn waits for ever for the head of a request, for an answer to be taken, and for a body that
nobody reads. A client that does none of it would hold a connection, and the memory of an answer,
until there are none left for others.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import h11
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.flow_control import CLOSE_HEADER
from uvicorn.protocols.http.h11_impl import H11Protocol

from unimodal.service.http import problem_documents

if TYPE_CHECKING:
    from unimodal.service.service import Service

_LAST_REQUESTS = 0.5  # seconds, in which a request of before the end of the service may arrive


class TimedProtocol(H11Protocol):
    """Closes a connection whose client sends no whole head, or takes no answer, in time.

    A body that was not read when the answer begins is never read: the answer closes the connection,
    as does each one after the service was asked to end.
    """

    service: Service

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.app: Any = self._closing(self.app)
        self._limits = self.service.limits
        self._head_timer: asyncio.TimerHandle | None = None
        self._answer_timer: asyncio.TimerHandle | None = None
        self._since = 0.0  # the connection was made, or the last answer was
        self._stopping = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first head, if there is room for one more connection."""
        super().connection_made(transport)
        self._since = self.loop.time()
        if not self.service.enter(self, self._address):
            transport.write(_REFUSED)
            self._close()
            return
        self._head_timer = self._after(self._limits.head_seconds, self._close)

    def data_received(self, data: bytes) -> None:
        """Wait on, if the head is not whole; else for nothing, until another one begins."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            _cancel(self._head_timer)
            self._head_timer = None
        elif self._head_timer is None and not self.transport.is_closing():
            self._head_timer = self._after(self._limits.head_seconds, self._close)

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP, unless it came in the middle of a request."""
        if self._is_answering:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
            self.transport.close()
        else:
            super().send_400_response(msg)
        self._abort_later()

    def on_response_complete(self) -> None:
        """Wait for the next request, or for the answer to be taken."""
        self._since = self.loop.time()
        super().on_response_complete()
        if self.transport.is_closing():
            self._abort_later()

    def timeout_keep_alive_handler(self) -> None:
        """Close, and wait for the answers of before to be taken."""
        super().timeout_keep_alive_handler()
        self._abort_later()

    def pause_writing(self) -> None:
        """Wait for an answer to be taken: more of it is in memory than is good."""
        super().pause_writing()
        self._abort_later()

    def resume_writing(self) -> None:
        """The answer, or most of it, was taken."""
        super().resume_writing()
        if not self.transport.is_closing():
            _cancel(self._answer_timer)
            self._answer_timer = None

    def shutdown(self) -> None:
        """Answer what is in flight, or arrives at this moment, and close."""
        self._stopping = True
        if self._is_answering:
            self.cycle.keep_alive = False  # also where the answer has begun
        else:
            self._after(_LAST_REQUESTS, self._close_if_idle)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        _cancel(self._head_timer)
        _cancel(self._answer_timer)
        self.service.connections.leave(self, self._address)
        super().connection_lost(exc)

    @property
    def waiting_since(self) -> float | None:
        """Since when it waits for its client; None while a request is being answered."""
        is_whole = self.conn.their_state is not h11.SEND_BODY
        return None if self._is_answering and is_whole else self._since

    def drop(self) -> None:
        """End the connection at once."""
        self.transport.abort()

    @property
    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    @property
    def _address(self) -> str:
        return self.client[0] if self.client else ""

    def _closing(self, app: ASGIApp) -> ASGIApp:
        """The application, whose answers say so where they close the connection."""

        async def closing(scope: Scope, receive: Receive, send: Send) -> None:
            async def send_on(message: Message) -> None:
                if message["type"] == "http.response.start":
                    ends = self._stopping or self.conn.their_state is h11.SEND_BODY
                    if ends and CLOSE_HEADER not in message["headers"]:
                        message["headers"] = [*message["headers"], CLOSE_HEADER]
                await send(message)

            await app(scope, receive, send_on)

        return closing

    def _close(self) -> None:
        self.transport.close()
        self._abort_later()

    def _close_if_idle(self) -> None:
        if not self._is_answering:
            self._close()

    def _abort_later(self) -> None:
        """Closing waits for the answers to be taken: not for ever."""
        if self._answer_timer is None:
            self._answer_timer = self._after(self._limits.answer_seconds, self.transport.abort)

    def _after(self, seconds: float, work: Callable[[], object]) -> asyncio.TimerHandle:
        return self.loop.call_later(seconds, work)


def timed_protocol(service: Service) -> type[TimedProtocol]:
    """The protocol of a service; a server makes one per connection by itself."""
    return type("TimedProtocol", (TimedProtocol,), {"service": service})


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()


def _refused() -> bytes:
    """The answer to who finds no room."""
    detail = "the service has as many connections as it takes: connect again in a second."
    body = json.dumps(problem_documents.document("Overloaded", 503, detail))
    head = [
        "HTTP/1.1 503 Service Unavailable",
        "connection: close",
        "retry-after: 1",
        f"content-type: {problem_documents.MEDIA_TYPE}",
        f"content-length: {len(body)}",
    ]
    return "\r\n".join([*head, "", body]).encode()


_REFUSED = _refused()
