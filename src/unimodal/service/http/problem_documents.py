"""Errors as problem documents (RFC 9457): `type` is an error's class, `detail` its sentence."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from unimodal import descriptors, errors
from unimodal.errors import URN, UnimodalError
from unimodal.escape_text import printable

Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]
MEDIA_TYPE = "application/problem+json"
_LONGEST_INPUT = 60
_NOT_THIS_FORM = ("missing", "extra_forbidden", "model_type", "model_attributes_type")
_log = logging.getLogger("unimodal")

# The first class that an error is an instance of tells its status: subclasses come first.
STATUS: dict[type[UnimodalError], int] = {
    errors.UnknownCampaign: 404,
    errors.UnknownDecision: 404,
    errors.CampaignExists: 409,
    errors.CampaignEnded: 409,
    errors.OtherCampaign: 409,
    errors.ConflictingReward: 409,
    errors.ExpiredDecision: 410,
    errors.NotAuthenticated: 401,
    errors.NotAllowed: 403,
    errors.TooLarge: 413,
    errors.TooManyRequests: 429,
    errors.Overloaded: 503,
    errors.DamagedFile: 500,
    errors.WrongVersion: 500,
    errors.StoreError: 503,  # Busy, ReadOnly, a full disk, a database that is away
    UnimodalError: 422,
}
_TITLES = {
    **{400: "Not valid", 401: "Not authenticated", 403: "Not allowed", 404: "Not found"},
    **{405: "Method not allowed", 408: "Too slow", 409: "Conflict", 410: "Expired"},
    **{413: "Too large", 415: "Not JSON", 422: "Not valid", 429: "Too many requests"},
    **{500: "Failed", 503: "Not available now"},
}


def status_of(error: UnimodalError) -> int:
    """The HTTP status of an error."""
    return next(status for kind, status in STATUS.items() if isinstance(error, kind))


def document(kind: str, status: int, detail: str) -> dict[str, Any]:
    """A problem as plain data.

    >>> document("UnknownDecision", 404, "there is no decision 7.")["type"]
    'urn:unimodal:error:UnknownDecision'
    """
    return {"type": URN + kind, "title": _TITLES[status], "status": status, "detail": detail}


def of_error(error: UnimodalError) -> dict[str, Any]:
    """The problem that an error is."""
    return document(type(error).__name__, status_of(error), str(error))


def answer(problem: dict[str, Any], headers: dict[str, str] | None = None) -> Response:
    """A problem as an HTTP response."""
    status, more = problem["status"], dict(headers or {})
    if status in (429, 503):
        more.setdefault("Retry-After", "1")
    if status == 401:
        more.setdefault("WWW-Authenticate", 'Bearer realm="unimodal"')
    return Response(json.dumps(problem), status, more, MEDIA_TYPE)


def refusal(error: UnimodalError) -> Response:
    """An error as an HTTP response."""
    seconds = error.seconds if isinstance(error, errors.TooManyRequests) else None
    return answer(of_error(error), None if seconds is None else {"Retry-After": str(seconds)})


def invalid(detail: str, status: int = 422) -> dict[str, Any]:
    """The problem of a request that is wrong in itself."""
    return document(errors.InvalidRequest.__name__, status, printable(detail))


def add_handlers(app: FastAPI) -> None:
    """Have every error of an application answered by a problem document."""

    @app.exception_handler(UnimodalError)
    async def refused(request: Request, error: UnimodalError) -> Response:
        return refusal(error)

    @app.exception_handler(RequestValidationError)
    async def not_valid(request: Request, error: RequestValidationError) -> Response:
        return answer(_of_validation(error))

    @app.exception_handler(HTTPException)
    async def http_error(request: Request, error: HTTPException) -> Response:
        return answer(_of_http(request, error), dict(error.headers or {}))

    @app.exception_handler(Exception)
    async def failed(request: Request, error: Exception) -> Response:
        return answer(failure(error))


async def answered(endpoint: Endpoint, request: Request) -> Response:
    """The answer of an endpoint, or the problem that it raised, as the handlers would tell it."""
    try:
        return await endpoint(request)
    except UnimodalError as error:
        return refusal(error)
    except RequestValidationError as error:
        return answer(_of_validation(error))
    except Exception as error:
        return answer(failure(error))


def failure(error: BaseException) -> dict[str, Any]:
    """The problem of an error that nobody foresaw: logged here, not shown to strangers."""
    if descriptors.is_lack(error):
        lack = "the service has as many files and connections open as the system lets: call again."
        return of_error(errors.TooManyOpenFiles(lack))
    _log.error("a request failed", exc_info=error)
    detail = "the service failed at this request: its log says why; try again, or tell its owner."
    return document("InternalError", 500, detail)


def _of_validation(error: RequestValidationError) -> dict[str, Any]:
    found: list[dict[str, Any]] = [dict(one) for one in error.errors()]
    # Where a body may have one of several forms, what is wrong within a form says the most.
    inside = [one for one in found if one["type"] not in _NOT_THIS_FORM]
    first = (inside or found)[0]
    if first["type"] == "json_invalid":
        return invalid("the body must be JSON, got something else: check quotes and commas.", 400)
    parts = [str(part) for part in first["loc"]]
    field = ".".join(part for part in parts if not part[:1].isupper() and "[" not in part)
    given = repr(first.get("input"))
    came = given if len(given) <= _LONGEST_INPUT else f"{given[:_LONGEST_INPUT]}…"
    reason = first["msg"][:1].lower() + first["msg"][1:]
    return invalid(f"{field:.200}: {reason}, got {came}; /openapi.json describes every field.")


def _of_http(request: Request, error: HTTPException) -> dict[str, Any]:
    path = printable(request.url.path)[:_LONGEST_INPUT]
    sentences = {
        400: "the body must be JSON in UTF-8, got something else: check its encoding.",
        404: f"there is nothing at {path}: /openapi.json lists the addresses.",
        405: f"{path} does not take {request.method[:20]}: /openapi.json lists what it takes.",
    }
    detail = sentences.get(error.status_code, str(error.detail))
    status = error.status_code if error.status_code in _TITLES else 400
    return invalid(detail, status)


def responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """What OpenAPI says of problems, for statuses besides those that any request may get."""
    always = (400, 401, 403, 408, 413, 415, 422, 429, 503)
    schema = {"$ref": "#/components/schemas/Problem"}
    return {
        status: {
            "description": _TITLES[status],
            "content": {MEDIA_TYPE: {"schema": schema}},
        }
        for status in sorted({*always, *statuses})
    }
