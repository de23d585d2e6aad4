"""What every request passes first: a limit on its body, a time for it to arrive, its latency.

Plain ASGI, since a body has to be refused before anybody parses or keeps it. Who has no token may
send little: else strangers could fill the memory with bodies that are refused in the end.
"""

from __future__ import annotations

import asyncio
import functools
import ipaddress
import json
import time
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from unimodal.errors import TooLarge, UnimodalError
from unimodal.escape_text import printable
from unimodal.service import problems
from unimodal.service.access import Access
from unimodal.service.limits import Limits
from unimodal.service.metrics import Metrics
from unimodal.service.problems import Endpoint

_CAMPAIGNS = "/v1/campaigns/"
_OF_PROXIES = (b"forwarded", b"via", b"x-real-ip")
_WITH_BODY = ("POST", "PUT", "PATCH", "DELETE")
# No page of another site may frame, script or sniff what this service answers.
_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
    (b"cross-origin-resource-policy", b"same-origin"),
]


class _Refused(Exception):
    def __init__(self, problem: dict[str, Any]) -> None:
        super().__init__(problem["detail"])
        self.problem = problem


class Gate:
    """Refuses bodies that are too large, too slow or not JSON, and measures how long answers take.

    `quick` has the endpoints below a campaign that are called so often that they are not looked for
    among the routes of FastAPI, which would take as long as all the rest. Without tokens whoever
    reaches the service may do all, so it answers to this machine under a name of this machine only,
    or a page in a browser could reach it under a name of its own.
    """

    def __init__(
        self,
        app: ASGIApp,
        limits: Limits,
        metrics: Metrics,
        access: Access,
        quick: Mapping[str, Endpoint],
    ) -> None:
        self._app, self._limits, self._metrics = app, limits, metrics
        self._access, self._quick = access, quick
        self._loopback_only = access.tokens is None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun, status = time.perf_counter(), 500

        async def send_on(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                given = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [
                    *message["headers"],
                    *(header for header in _HEADERS if header[0] not in given),
                ]
            await send(message)

        try:
            self._check_host(scope)
            if scope["method"] in _WITH_BODY:
                receive = await self._body(scope, receive)
            endpoint = self._quick_endpoint(scope)
            if endpoint is None:
                await self._app(scope, receive, send_on)
            else:
                answer = await problems.answered(endpoint, Request(scope, receive))
                await answer(scope, receive, send_on)
        except _Refused as refused:
            headers = {"Connection": "close"}  # what is left of the body is not read
            await problems.answer(refused.problem, headers)(scope, receive, send_on)
        finally:
            route = scope.get("quick_route", getattr(scope.get("route"), "path", "other"))
            self._metrics.answered(route, status, time.perf_counter() - begun)

    def _quick_endpoint(self, scope: Scope) -> Endpoint | None:
        """The endpoint of a decision or of a reward, found without asking every route."""
        path = scope["path"]
        if scope["method"] != "POST" or not path.startswith(_CAMPAIGNS):
            return None
        name, _, rest = path[len(_CAMPAIGNS) :].partition("/")
        endpoint = self._quick.get(rest)
        if endpoint is not None:
            scope["path_params"] = {"name": name}
            scope["quick_route"] = f"{_CAMPAIGNS}{{name}}/{rest}"
        return endpoint

    async def _body(self, scope: Scope, receive: Receive) -> Receive:
        """Read the whole body, so that a slow client holds nothing but its own connection."""
        headers = dict(scope["headers"])
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > self._limits.body:
            raise self._too_large(self._limits.body)
        if int(length) > self._limits.stranger_body:
            self._check_known(scope)
        try:
            async with asyncio.timeout(self._limits.body_seconds):
                body = await self._read(scope, receive)
        except TimeoutError:
            seconds = f"{self._limits.body_seconds:g}"
            detail = f"the body must arrive within {seconds} s, and did not: send it again."
            raise _Refused(problems.invalid(detail, 408)) from None
        if body and not _is_json(headers.get(b"content-type", b"")):
            detail = (
                "the body must be JSON, got another or no Content-Type: send the header "
                "'Content-Type: application/json'."
            )
            raise _Refused(problems.invalid(detail, 415))
        if not has_few_fields(body, self._limits.fields):
            detail = f"a body must have at most {self._limits.fields:,} fields, got more."
            raise _Refused(problems.of_error(TooLarge(f"{detail[:-1]}: send it in parts.")))
        sent = False

        async def again() -> Message:
            nonlocal sent
            if sent:
                return await receive()
            sent = True
            return {"type": "http.request", "body": body, "more_body": False}

        return again

    async def _read(self, scope: Scope, receive: Receive) -> bytes:
        parts: list[bytes] = []
        size, is_known = 0, False
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise _Refused(problems.invalid("the client hung up.", 400))
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self._limits.body:
                raise self._too_large(self._limits.body)
            if size > self._limits.stranger_body and not is_known:
                self._check_known(scope)
                is_known = True
            if not message.get("more_body", False):
                return b"".join(parts)

    def _check_known(self, scope: Scope) -> None:
        """Refuse a long body of somebody without a token, and one where a token is yet to come."""
        if scope["path"] == "/session":
            raise self._too_large(self._limits.stranger_body)
        try:
            self._access.check_known(Request(scope))
        except UnimodalError as error:
            raise _Refused(problems.of_error(error)) from None

    def _too_large(self, most: int) -> _Refused:
        error = TooLarge(f"a body must have at most {most:,} bytes, got more: send it in parts.")
        return _Refused(problems.of_error(error))

    def _check_host(self, scope: Scope) -> None:
        """Without tokens: refuse other machines, proxies, names that are not its own, and sites."""
        if not self._loopback_only:
            return
        client = (scope.get("client") or ("localhost", 0))[0]
        if not is_loopback(client):
            detail = (
                f"a service without tokens answers on its own machine only, got {client!r:.60}: "
                "start it with a token file."
            )
            raise _Refused(problems.document("NotAllowed", 403, printable(detail)))
        headers = dict(scope["headers"])
        if any(name in _OF_PROXIES or name.startswith(b"x-forwarded") for name in headers):
            detail = (
                "a service without tokens answers on its own machine only, got a request that a "
                "proxy has passed on: start it with a token file."
            )
            raise _Refused(problems.document("NotAllowed", 403, detail))
        host, origin = (headers.get(name, b"").decode("latin-1") for name in (b"host", b"origin"))
        if not is_loopback(host_of(host)):
            detail = (
                "a service without tokens answers to names of its own machine only, got "
                f"{host!r:.60}: start it with a token file."
            )
            raise _Refused(problems.document("NotAllowed", 403, printable(detail)))
        if origin and origin != f"{scope['scheme']}://{host}":
            detail = (
                f"a service without tokens takes no request of a page from {origin!r:.60}: start "
                "it with a token file."
            )
            raise _Refused(problems.document("NotAllowed", 403, printable(detail)))


def host_of(text: str) -> str:
    """The host in a Host header.

    >>> host_of("[::1]:8000"), host_of("127.0.0.1:8000"), host_of("localhost")
    ('::1', '127.0.0.1', 'localhost')
    """
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.rpartition(":")[0] if text.count(":") == 1 else text


@functools.lru_cache(maxsize=256)
def is_loopback(host: str) -> bool:
    """Whether an address leads to this machine only.

    >>> is_loopback("127.0.0.1"), is_loopback("0.0.0.0"), is_loopback("localhost")
    (True, False, True)
    """
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_json(content_type: bytes) -> bool:
    return content_type.split(b";")[0].strip().lower() == b"application/json"


def has_few_fields(body: bytes, most: int) -> bool:
    """Whether JSON has at most so many fields: each that is not known would become an error.

    >>> has_few_fields(b'{"a": 1, "b": [{"c": "::::::"}]}', 3), has_few_fields(b'{"a":1,"b":2}', 1)
    (True, False)
    """
    if body.count(b":") <= most:
        return True
    found = 0

    def count(pairs: list[tuple[str, Any]]) -> None:
        nonlocal found
        found += len(pairs)

    try:
        json.loads(body, object_pairs_hook=count)
    except (ValueError, RecursionError):
        return True  # it is no JSON, and refused for that
    return found <= most
