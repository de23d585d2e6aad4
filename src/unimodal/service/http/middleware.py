"""What every request passes first: a limit on its body, a time for it to arrive, its latency.

Plain ASGI, since a body has to be refused before anybody parses or keeps it. Who has no token may
send little: else strangers could fill the memory with bodies that are refused in the end.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from unimodal.errors import TooLarge, UnimodalError
from unimodal.service.http import problem_documents
from unimodal.service.http.problem_documents import Endpoint
from unimodal.service.limits import ServiceLimits
from unimodal.service.metrics import Metrics
from unimodal.service.security.access import Access
from unimodal.service.security.loopback import check_local

_CAMPAIGNS = "/v1/campaigns/"
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


class RequestMiddleware:
    """Refuses bodies that are too large, too slow or not JSON, and measures how long answers take.

    `quick` has the endpoints below a campaign that are called so often that they are not looked for
    among the routes of FastAPI, which would take as long as all the rest. Without tokens whoever
    reaches the service may do all, so it answers to this machine only.
    """

    def __init__(
        self,
        app: ASGIApp,
        limits: ServiceLimits,
        metrics: Metrics,
        access: Access,
        quick: Mapping[str, Endpoint],
    ) -> None:
        self._app, self._limits, self._metrics = app, limits, metrics
        self._access, self._quick = access, quick

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
            if self._access.tokens is None:
                check_local(scope)
            if scope["method"] in _WITH_BODY:
                receive = await self._body(scope, receive)
            endpoint = self._quick_endpoint(scope)
            if endpoint is None:
                await self._app(scope, receive, send_on)
            else:
                answer = await problem_documents.answered(endpoint, Request(scope, receive))
                await answer(scope, receive, send_on)
        except (_Refused, UnimodalError) as error:
            problem = _problem_of(error)
            headers = {"Connection": "close"}  # what is left of the body is not read
            await problem_documents.answer(problem, headers)(scope, receive, send_on)
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
            raise _too_large(self._limits.body)
        if int(length) > self._limits.stranger_body:
            self._check_known(scope)
        try:
            async with asyncio.timeout(self._limits.body_seconds):
                body = await self._read(scope, receive)
        except TimeoutError:
            seconds = f"{self._limits.body_seconds:g}"
            detail = f"the body must arrive within {seconds} s, and did not: send it again."
            raise _Refused(problem_documents.invalid(detail, 408)) from None
        if body and not _is_json(headers.get(b"content-type", b"")):
            detail = (
                "the body must be JSON, got another or no Content-Type: send the header "
                "'Content-Type: application/json'."
            )
            raise _Refused(problem_documents.invalid(detail, 415))
        if not has_few_fields(body, self._limits.fields):
            raise _too_large(self._limits.fields, "fields")
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
                raise _Refused(problem_documents.invalid("the client hung up.", 400))
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self._limits.body:
                raise _too_large(self._limits.body)
            if size > self._limits.stranger_body and not is_known:
                self._check_known(scope)
                is_known = True
            if not message.get("more_body", False):
                return b"".join(parts)

    def _check_known(self, scope: Scope) -> None:
        """Refuse a long body of somebody without a token, and one where a token is yet to come."""
        if scope["path"] == "/session":
            raise _too_large(self._limits.stranger_body)
        self._access.check_known(Request(scope))


def _problem_of(error: _Refused | UnimodalError) -> dict[str, Any]:
    return error.problem if isinstance(error, _Refused) else problem_documents.of_error(error)


def _too_large(most: int, what: str = "bytes") -> TooLarge:
    return TooLarge(f"a body must have at most {most:,} {what}, got more: send it in parts.")


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
