"""Endpoints that are called thousands of times a minute, checked in less time than by FastAPI.

FastAPI takes as long to resolve the arguments of an endpoint as a campaign takes to decide. So the
endpoints of `decisions` take the request as it is, and read what they need by these functions;
what they take is described by `described`, and checked by the same models.
"""

from __future__ import annotations

import re
from typing import Any, TypeVar

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, TypeAdapter, ValidationError

from unimodal.errors import InvalidRequest
from unimodal.service.campaigns.catalog import check_name
from unimodal.service.limits import LONGEST_KEY, NAME
from unimodal.service.security.access import check
from unimodal.service.service import Service, service_of

Read = TypeVar("Read")
_KEY = re.compile(rf"[\x21-\x7e]{{1,{LONGEST_KEY}}}")
_COMPONENTS = "#/components/schemas/{model}"


def entered(request: Request, role: str) -> tuple[Service, str]:
    """The service and the campaign of a request, whose token must cover the role."""
    service, name = service_of(request), str(request.path_params["name"])
    token = service.access.token_of(request)
    check_name(name)
    check(token, role, name)
    return service, name


async def read_body(request: Request, adapter: TypeAdapter[Read], usual: bytes = b"") -> Read:
    """The body of a request, checked; `usual` where there is none."""
    try:
        return adapter.validate_json(await request.body() or usual)
    except ValidationError as error:
        found = [{**one, "loc": ("body", *one["loc"])} for one in error.errors()]
        raise RequestValidationError(found) from None


def read_key(request: Request) -> str | None:
    """The idempotency key of a request."""
    key = request.headers.get("idempotency-key")
    if key is not None and not _KEY.fullmatch(key):
        raise InvalidRequest(
            f"an Idempotency-Key must have 1 to {LONGEST_KEY} printable ASCII characters without "
            f"spaces, got {key!r:.60}: use a UUID."
        )
    return key


def described(*models: type[BaseModel], required: bool = True, keyed: bool = False) -> Any:
    """What OpenAPI says of such an endpoint: the campaign's name, a key, a body of some form."""
    name = {"name": "name", "in": "path", "required": True, "example": "prices"}
    parameters: list[dict[str, Any]] = [{**name, "schema": {"type": "string", "pattern": NAME}}]
    if keyed:
        schema = {"type": "string", "pattern": f"^{_KEY.pattern}$"}
        about = "The same key gives the same decisions again, also after a crash"
        key = {"name": "Idempotency-Key", "in": "header", "required": False, "schema": schema}
        parameters.append({**key, "description": about, "example": "order-4711"})
    extra: dict[str, Any] = {"parameters": parameters}
    if models:
        forms = [{"$ref": _COMPONENTS.format(model=model.__name__)} for model in models]
        schema_of_all: Any = forms[0] if len(forms) == 1 else {"anyOf": forms}
        content = {"application/json": {"schema": schema_of_all}}
        extra["requestBody"] = {"required": required, "content": content}
    return extra


def schemas(*models: type[BaseModel]) -> dict[str, Any]:
    """The schemas of models, for the components of OpenAPI."""
    found: dict[str, Any] = {}
    for model in models:
        made = model.model_json_schema(ref_template=_COMPONENTS)
        found |= made.pop("$defs", {})
        found[model.__name__] = made
    return found
