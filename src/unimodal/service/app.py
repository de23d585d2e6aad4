"""The application: endpoints, problem documents, and what every request passes first."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from unimodal.errors import UnimodalError
from unimodal.service.campaigns.catalog import catalog_of
from unimodal.service.dashboard.router import router as dashboard
from unimodal.service.demo import Demo
from unimodal.service.http import problem_documents
from unimodal.service.http.direct_requests import schemas
from unimodal.service.http.middleware import RequestMiddleware
from unimodal.service.http.models import Problem
from unimodal.service.limits import ServiceLimits
from unimodal.service.routes import arms, campaigns, decisions, readings, session, status
from unimodal.service.security.access import Access
from unimodal.service.security.sessions import COOKIE, Sessions
from unimodal.service.security.token_file import TokenFile
from unimodal.service.server.quiet_log import quieted
from unimodal.service.service import Service
from unimodal.version import __version__

SESSION_KEY = "UNIMODAL_SESSION_KEY"
_SHORTEST_KEY = 32
_ABOUT = """Campaigns over HTTP: decisions, rewards, and what they say.

Errors are problem documents (RFC 9457): `type` is the class of the error, `detail` a sentence.
ServiceLimits: see docs/guide/service.md.
"""
_OPEN = ("/healthz", "/readyz", "/session")  # without a token


def create_app(
    store: str | Path,
    token_file: str | Path | None = None,
    *,
    limits: ServiceLimits | None = None,
    durability: str = "full",
    watch: float = 60.0,
    demo: bool = False,
) -> FastAPI:
    """An ASGI application for the campaigns of a store, with a simulated world if `demo`.

    Without a token file all who reach it may do all, and it answers on loopback only.
    """
    tokens = None if token_file is None else TokenFile(Path(token_file))
    key = _session_key()
    limits = limits or ServiceLimits()
    access = Access(tokens, Sessions(key), limits.rate)
    service = Service(catalog_of(str(store), limits.wait), access, limits, durability, watch)

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        worlds = Demo(service) if demo else None
        service.start()
        if worlds is not None:
            worlds.start()
        try:
            with quieted(service.quiet):
                yield
        finally:
            if worlds is not None:
                await asyncio.to_thread(worlds.stop)
            await asyncio.to_thread(service.close)

    # FastAPI's own pages at /docs load their scripts from a CDN.
    named: dict[str, Any] = {"docs_url": None, "redoc_url": None, "lifespan": lifespan}
    app = FastAPI(title="unimodal", version=__version__, description=_ABOUT, **named)
    app.state.service = service
    problem_documents.add_handlers(app)
    for module in (decisions, campaigns, arms, readings, session, status):
        app.include_router(module.router)
    app.include_router(dashboard)
    app.add_middleware(
        RequestMiddleware,
        limits=limits,
        metrics=service.metrics,
        access=access,
        quick=decisions.QUICK,
    )
    app.openapi = lambda: _described(app)  # type: ignore[method-assign]
    return app


def _session_key() -> bytes:
    """The key that servers share; one that can be guessed would let anybody sign a session."""
    given = os.environ.get(SESSION_KEY, "").encode()
    if 0 < len(given) < _SHORTEST_KEY:
        raise UnimodalError(
            f"{SESSION_KEY} must have at least {_SHORTEST_KEY} characters, got {len(given)}: "
            "`openssl rand -hex 32` makes one."
        )
    return given or secrets.token_bytes(32)


def _described(app: FastAPI) -> dict[str, Any]:
    """OpenAPI, with the problem documents and the ways to authenticate."""
    if app.openapi_schema is None:
        made = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes
        )
        parts = made.setdefault("components", {})
        parts.setdefault("schemas", {}).update(schemas(Problem, *decisions.BODIES))
        parts["securitySchemes"] = {
            "token": {"type": "http", "scheme": "bearer"},
            "session": {
                "type": "apiKey",
                "in": "cookie",
                "name": COOKIE,
                "description": f"Under TLS its name is __Host-{COOKIE}.",
            },
        }
        for path, operations in made["paths"].items():
            for operation in operations.values():
                if path not in _OPEN:
                    operation["security"] = [{"token": []}, {"session": []}]
        app.openapi_schema = made
    return app.openapi_schema
