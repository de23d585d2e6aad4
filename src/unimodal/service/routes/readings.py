"""What the log of a campaign says: certificate, explanation, alarms, events."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from unimodal.agents import Agent
from unimodal.campaigns.alarms import alarms_of
from unimodal.campaigns.certifying import certificate_of
from unimodal.campaigns.events import Row
from unimodal.campaigns.log_facts import LogFacts
from unimodal.campaigns.log_start import WHOLE, LogStart, begins_after, start_of
from unimodal.campaigns.reading import read
from unimodal.campaigns.stores import StoreToRead
from unimodal.service.campaigns.open_campaigns import unknown_campaign
from unimodal.service.http import problem_documents
from unimodal.service.http.json_answers import as_json, finite
from unimodal.service.http.models import (
    AlarmsAnswer,
    CertificateAnswer,
    EventsAnswer,
    ExplanationAnswer,
    Name,
)
from unimodal.service.limits import LARGEST, MOST_EVENTS
from unimodal.service.security.access import allow
from unimodal.service.service import Service, service_of

router = APIRouter(
    prefix="/v1/campaigns/{name}", tags=["readings"], dependencies=[Depends(allow("read"))]
)
NDJSON = "application/x-ndjson"
Confidence = Annotated[float, Query(gt=0, lt=1, allow_inf_nan=False)]


@router.get(
    "/certificate",
    operation_id="read_certificate",
    response_model=CertificateAnswer,
    responses=problem_documents.responses(404),
)
async def read_certificate(
    request: Request,
    name: Name,
    confidence: Confidence = 0.95,
    tolerance: Annotated[float | None, Query(ge=0, allow_inf_nan=False)] = None,
) -> Response:
    """Say which arm is the peak, at a confidence that holds however often one looks."""

    def certified(agent: Agent, facts: LogFacts) -> dict[str, Any]:
        found = certificate_of(agent, facts, confidence, tolerance)
        data = found.to_dict()
        if found.belief is not None:
            data["belief"]["best"] = [[arm, share] for arm, share in found.belief.best.items()]
        return {**data, "certified": bool(found), "sentence": str(found)}

    return as_json(finite(await _read(service_of(request), name, certified)))


@router.get(
    "/decisions/{decision}/explanation",
    operation_id="explain_decision",
    response_model=ExplanationAnswer,
    responses=problem_documents.responses(404),
)
async def explain_decision(
    request: Request, name: Name, decision: Annotated[int, Path(ge=1, le=LARGEST)]
) -> Response:
    """Say why a decision fell on its arm: what was known then, what was drawn, who won."""
    found = await service_of(request).queue.read(
        name, lambda campaign: campaign.explain(decision).to_dict()
    )
    return as_json(finite(found))


@router.get(
    "/alarms",
    operation_id="list_alarms",
    response_model=AlarmsAnswer,
    responses=problem_documents.responses(404),
)
async def list_alarms(request: Request, name: Name, confidence: Confidence = 0.99) -> Response:
    """List what the owner should look at: a second peak, a change, rewards that do not come."""

    def raised(agent: Agent, facts: LogFacts) -> list[dict[str, Any]]:
        return [alarm.to_dict() for alarm in alarms_of(agent, facts, confidence)]

    found = await _read(service_of(request), name, raised)
    service_of(request).metrics.alarms.labels(name).set(len(found))
    return as_json(finite({"alarms": found}))


@router.get(
    "/events",
    operation_id="list_events",
    response_model=EventsAnswer,
    responses={
        200: {"content": {NDJSON: {"schema": {"type": "string"}}}},
        **problem_documents.responses(404),
    },
)
async def list_events(
    request: Request,
    name: Name,
    after: Annotated[int, Query(ge=0, le=LARGEST)] = 0,
    limit: Annotated[int, Query(ge=1, le=MOST_EVENTS)] = 1000,
) -> Response:
    """List the events of the log after a number, in order.

    As JSON; or, with `Accept: application/x-ndjson`, one event per line. An empty page is the end.
    The log of a campaign that was compacted begins later: `start` says where, on pages before that.
    """
    service = service_of(request)
    rows, start = await service.queue.aside(lambda: _events(service, name, after, limit))
    if NDJSON in request.headers.get("accept", ""):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        return Response(lines, media_type=NDJSON)
    is_last = len(rows) < limit
    next_page = None if is_last else rows[-1]["seq"]
    return as_json({"events": rows, "next": next_page, "start": start})


async def _read(
    service: Service, name: str, work: Callable[[Agent, LogFacts], dict[str, Any] | list[Any]]
) -> Any:
    """What some work finds in a campaign that is there; its log is read once for all who ask."""
    return await service.queue.read(name, lambda _: service.logs.of(name).read(work))


def _events(
    service: Service, name: str, after: int, limit: int
) -> tuple[list[dict[str, Any]], dict[str, Any] | None]:
    """A page of the log, and what was before the log if the page could have begun there."""
    if not service.catalog.has(name):
        raise unknown_campaign(name)

    def page(store: StoreToRead) -> tuple[list[tuple[Any, ...]], LogStart]:
        start = start_of(store) if after < begins_after(store) else WHOLE
        events = itertools.chain.from_iterable(store.rows(max(after, start.seq)))
        return list(itertools.islice(events, limit)), start

    rows, start = read(service.catalog.address(name), page)
    events = [finite(dict(zip(Row._fields, row, strict=True))) for row in rows]
    return events, start._asdict() if start.seq else None
