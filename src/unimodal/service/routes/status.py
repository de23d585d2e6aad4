"""Whether the service is well: for load balancers, container engines and Prometheus."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from unimodal.errors import NotAllowed, UnimodalError
from unimodal.service.http import problem_documents
from unimodal.service.http.json_answers import as_json
from unimodal.service.http.models import HealthAnswer
from unimodal.service.security.access import allow
from unimodal.service.security.tokens import Token
from unimodal.service.service import Service, service_of

router = APIRouter(tags=["status"])
_TEXT = "text/plain; version=0.0.4; charset=utf-8"


@router.get("/healthz", operation_id="health", response_model=HealthAnswer)
async def health() -> Response:
    """Say that the process answers."""
    return as_json({"status": "ok"})


@router.get(
    "/readyz",
    operation_id="readiness",
    response_model=HealthAnswer,
    responses=problem_documents.responses(),
)
async def readiness(request: Request) -> Response:
    """Say whether campaigns can be reached, as it was in the last second; 503 if not."""
    await service_of(request).check_ready()
    return as_json({"status": "ready"})


@router.get(
    "/metrics",
    operation_id="metrics",
    response_class=Response,
    responses={
        200: {"description": "For Prometheus", "content": {_TEXT: {"schema": {"type": "string"}}}},
        **problem_documents.responses(),
    },
)
async def metrics(request: Request, token: Annotated[Token, Depends(allow("read"))]) -> Response:
    """Tell decisions, rewards, latencies and more, as Prometheus reads them; of all campaigns."""
    if token.campaigns:
        raise NotAllowed(
            f"metrics are of all campaigns, and this token is for {', '.join(token.campaigns)}: "
            "have its owner make another."
        )
    service = service_of(request)
    return Response(await service.queue.aside(lambda: _text(service)), media_type=_TEXT)


def _text(service: Service) -> bytes:
    service.metrics.waiting.set(service.queue.waiting)
    for name in service.campaigns.names_open():
        try:
            with service.campaigns.if_open(name) as campaign:
                if campaign is not None:
                    service.metrics.look_at(name, campaign)
        except UnimodalError:
            continue  # busy, or gone: its last figures stand
    return service.metrics.text()
