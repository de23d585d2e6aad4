"""A server process: where it listens, how it starts, and how it ends."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import selectors
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI

from unimodal import descriptors
from unimodal.errors import UnimodalError
from unimodal.service.app import create_app
from unimodal.service.limits import ServiceLimits
from unimodal.service.security.loopback import is_loopback
from unimodal.service.server.timed_protocol import timed_protocol

_log = logging.getLogger("unimodal")
_GRACE = 30  # seconds for what is in flight
_CLOSING = 15  # seconds after that for campaigns to be closed
_BACKLOG = 1024  # connections that the system keeps until they are accepted
_ACCEPTED = 4  # of them at once: each has a descriptor before it can be refused
_LAST_ACCEPTED = 0.5  # seconds in which connections are accepted at the end
_Selector = getattr(selectors, "PollSelector", selectors.SelectSelector)  # without a descriptor
_SWITCH = 0.0005  # seconds: a thread that commits need not wait 5 ms for the event loop's turn


def check_address(host: str, token_file: Path | None) -> None:
    """Refuse an address that others can reach where there is no token file.

    >>> check_address("0.0.0.0", None)
    Traceback (most recent call last):
        ...
    unimodal.errors.UnimodalError: without a token file a service listens on this machine only, ...
    """
    if token_file is None and not is_loopback(host):
        raise UnimodalError(
            f"without a token file a service listens on this machine only, got the address {host}: "
            "make one with `unimodal token add tokens.json --role admin`, and pass --tokens."
        )


def serve(
    store: str,
    host: str = "127.0.0.1",
    port: int = 8000,
    token_file: Path | None = None,
    *,
    limits: ServiceLimits | None = None,
    durability: str = "full",
    watch: float = 60.0,
    demo: bool = False,
    ready: Callable[[str], None] = print,
) -> None:
    """Serve until SIGTERM or Ctrl-C; then answer what is in flight, and close the campaigns.

    `ready` is called with the address when requests are answered.
    """
    check_address(host, token_file)
    descriptors.raise_limit()
    named: dict[str, Any] = {"limits": limits, "durability": durability, "watch": watch}
    app = create_app(store, token_file, demo=demo, **named)
    config = configured(app)
    with listening(host, port) as listener, _switching_quickly():
        server = _Server(config, lambda: ready(_address(listener)))
        try:
            server.run(sockets=[listener])
        finally:
            server.deadline.cancel()


def configured(app: FastAPI) -> uvicorn.Config:
    """How an application is served."""
    limits: ServiceLimits = app.state.service.limits
    return uvicorn.Config(
        app,
        http=timed_protocol(app.state.service),
        ws="none",
        lifespan="on",
        access_log=False,
        log_level="warning",
        server_header=False,
        timeout_graceful_shutdown=_GRACE,
        timeout_keep_alive=limits.keep_seconds,  # type: ignore[arg-type]  # any number of seconds
        backlog=_ACCEPTED,
    )


class _Server(uvicorn.Server):
    """Says when it is ready."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready
        self.deadline = threading.Timer(_GRACE + _CLOSING, _end)
        self.deadline.daemon = True

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """End by SIGTERM and SIGINT in order; uvicorn would raise them again at the end."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        numbers = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self.handle_exit) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say so."""
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(_BACKLOG)  # which uvicorn has set to what is accepted at once
        if self.started:
            self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept who has connected, end the streams, which last for ever, and wait for the rest."""
        app: Any = self.config.app
        app.state.service.stopping = True
        self.deadline.start()
        await _accept_the_last(sockets or [])
        await super().shutdown(sockets)


async def _accept_the_last(listeners: list[socket.socket]) -> None:
    """Let the event loop accept the connections that the system has for it: else they are reset."""
    loop = asyncio.get_running_loop()
    until = loop.time() + _LAST_ACCEPTED
    with _Selector() as waiting:
        for listener in listeners:
            waiting.register(listener, selectors.EVENT_READ)
        while waiting.select(0) and loop.time() < until:
            await asyncio.sleep(0)
    await asyncio.sleep(0.01)  # for their protocols to be made


def _end() -> None:
    """End a process in which something goes on for ever; what was answered is on disk."""
    _log.error("the service did not end within %g s, and is ended", _GRACE + _CLOSING)
    os._exit(1)


@contextlib.contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """A socket on an address, or a sentence why there is none."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named because asyncio sets TCP_NODELAY only where it is. Without that, the
    # second packet of an answer waits 40 ms for the client's acknowledgement of the first.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except (OSError, OverflowError) as error:
            why = getattr(error, "strerror", None) or error
            raise UnimodalError(
                f"the service cannot listen on {host}, port {port}: {why}; choose others with "
                "--host and --port."
            ) from None
        yield listener
    finally:
        listener.close()


@contextlib.contextmanager
def _switching_quickly() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def _address(listener: socket.socket) -> str:
    name: Any = listener.getsockname()
    host = f"[{name[0]}]" if ":" in name[0] else name[0]
    return f"http://{host}:{name[1]}"
