"""Server-sent events: a line when there is something new, at most one per second."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable

from fastapi import Request
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from unimodal.errors import Overloaded, UnimodalError
from unimodal.service.dashboard.watched import Dashboard
from unimodal.service.security.tokens import Token

_EVERY = 1.0  # seconds between two looks
_SHARE = 5.0  # times as long as a look took, until the next one
_QUIET = 15.0  # seconds after which a stream says that it is still there
MOST_STREAMS, MOST_OF_ONE_TOKEN = 200, 50


class _Stream(StreamingResponse):
    """Is counted until it has ended, however it ends."""

    def __init__(self, lines: AsyncIterator[str], streams: Counter[str], owner: str) -> None:
        headers = {"X-Accel-Buffering": "no"}
        super().__init__(lines, media_type="text/event-stream", headers=headers)
        self._streams, self._owner = streams, owner
        streams[owner] += 1

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._streams[self._owner] -= 1


def stream(
    request: Request,
    dashboard: Dashboard,
    token: Token,
    version: Callable[[], Awaitable[int]],
) -> StreamingResponse:
    """A stream that says so when a version has changed; it ends with the session and the service.

    Whoever reads it fetches what has changed: a slow reader misses lines, but nothing else. One
    token has a part of the streams only, so that others can look, too.
    """
    streams = dashboard.streams
    most = MOST_STREAMS if dashboard.service.access.tokens is None else MOST_OF_ONE_TOKEN
    if streams.total() >= MOST_STREAMS or streams[token.id] >= most:
        raise Overloaded(
            f"{min(most, MOST_STREAMS)} pages are live already, as many as the service lets: this "
            "one asks now and then instead."
        )
    return _Stream(_lines(request, dashboard, version), streams, token.id)


async def _lines(
    request: Request, dashboard: Dashboard, version: Callable[[], Awaitable[int]]
) -> AsyncIterator[str]:
    service = dashboard.service

    def is_let() -> bool:
        return service.access.tokens is None or service.access.session_of(request) is not None

    known, said = -1, time.monotonic()
    yield "retry: 3000\n\n"
    while not service.stopping and is_let():
        began = time.monotonic()
        try:
            now = await version()
        except UnimodalError:  # busy, or gone: a page is told when it asks by itself
            now = max(known, 0)
        if not is_let():
            break
        if now != known:
            known, said = now, time.monotonic()
            yield f'event: changed\ndata: {{"version": {now}}}\n\n'
        elif time.monotonic() - said > _QUIET:
            said = time.monotonic()
            yield ": still here\n\n"
        pause = max(_EVERY, _SHARE * (time.monotonic() - began))
        await _wait(pause, lambda: not service.stopping and is_let())
    if not service.stopping:
        yield "event: signed-out\ndata: {}\n\n"


async def _wait(seconds: float, goes_on: Callable[[], bool]) -> None:
    """Sleep, in parts: neither a service that is being stopped nor one who has left need wait."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0 and goes_on():
        await asyncio.sleep(min(left, 0.25))
