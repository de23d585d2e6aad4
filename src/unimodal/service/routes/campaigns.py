"""Campaigns themselves: made, listed, read, changed."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response

from unimodal.agents import Agent
from unimodal.campaigns import Campaign
from unimodal.service.campaigns.open_campaigns import Work
from unimodal.service.campaigns.requested_settings import settings_of
from unimodal.service.http import problem_documents
from unimodal.service.http.json_answers import as_json, finite
from unimodal.service.http.models import (
    CampaignAnswer,
    CampaignsAnswer,
    Change,
    Name,
    NewCampaign,
)
from unimodal.service.limits import NAME
from unimodal.service.security.access import allow, check
from unimodal.service.security.tokens import Token
from unimodal.service.service import Service, service_of

router = APIRouter(prefix="/v1/campaigns", tags=["campaigns"])
_PAGE = 100


def _link(operation: str) -> dict[str, Any]:
    return {"operationId": operation, "parameters": {"name": "$response.body#/name"}}


@router.post(
    "",
    status_code=201,
    operation_id="create_campaign",
    response_model=CampaignAnswer,
    responses={
        201: {
            "description": "The campaign, which is on disk",
            "links": {name: _link(name) for name in ("decide", "read_campaign", "list_arms")},
        },
        **problem_documents.responses(409),
    },
)
async def create_campaign(
    request: Request, body: NewCampaign, token: Annotated[Token, Depends(allow("admin"))]
) -> Response:
    """Make a campaign.

    The policy, the family and a generator are given by their text, as on the command line; a graph
    also by its edges, or as the text of a CSV file. Code and files of the server cannot be named.
    """
    check(token, "admin", body.name)
    service = service_of(request)

    def make() -> None:
        service.campaigns.create(body.name, **settings_of(body, service.limits))

    await service.queue.manage_aside(make)
    return as_json(await _campaign(service, body.name), 201)


@router.get(
    "",
    operation_id="list_campaigns",
    response_model=CampaignsAnswer,
    responses=problem_documents.responses(),
)
async def list_campaigns(
    request: Request,
    token: Annotated[Token, Depends(allow("read"))],
    after: Annotated[str | None, Query(pattern=NAME)] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = _PAGE,
) -> Response:
    """List the campaigns that the token is for, in the order of their names."""
    service = service_of(request)
    return as_json(await service.queue.manage_aside(lambda: _listed(service, token, after, limit)))


def _listed(service: Service, token: Token, after: str | None, limit: int) -> dict[str, Any]:
    names = [name for name in service.catalog.names() if token.sees(name) and name > (after or "")]
    page = [{"name": name, "ended": service.is_ended(name)} for name in names[:limit]]
    return {"campaigns": page, "next": names[limit - 1] if len(names) > limit else None}


@router.get(
    "/{name}",
    operation_id="read_campaign",
    response_model=CampaignAnswer,
    responses=problem_documents.responses(404),
    dependencies=[Depends(allow("read"))],
)
async def read_campaign(request: Request, name: Name) -> Response:
    """Read what a campaign is about, and how it stands."""
    service = service_of(request)
    return as_json(await service.queue.do(name, _read(service, name)))


@router.patch(
    "/{name}",
    operation_id="change_campaign",
    response_model=CampaignAnswer,
    responses=problem_documents.responses(404, 409),
    dependencies=[Depends(allow("admin"))],
)
async def change_campaign(request: Request, name: Name, body: Change) -> Response:
    """Change a cap on arms that do not lead (null lifts it), or whether a campaign has ended."""
    service = service_of(request)
    if "cap" in body.model_fields_set:
        given = (None, 100) if body.cap is None else (body.cap.share, body.cap.over)
        await service.queue.manage(name, lambda campaign: campaign.cap(*given))
    if "ended" in body.model_fields_set:
        await service.queue.manage_aside(lambda: service.set_ended(name, body.ended))
    return as_json(await _campaign(service, name))


async def _campaign(service: Service, name: str) -> Any:
    """A campaign as its owner has just made or changed it."""
    return await service.queue.manage(name, _read(service, name))


def _read(service: Service, name: str) -> Work:
    def read(campaign: Campaign) -> Any:
        found: dict[str, Any] = campaign._call(_described)
        reports = [*campaign._writer.reports, *found["reports"]]
        ended = service.is_ended(name)
        return finite({"name": name, **found, "reports": reports, "ended": ended})

    return read


def _described(agent: Agent) -> dict[str, Any]:
    graph, cap = agent.graph, agent.limits.cap
    known = {"kind": "look-up", "arms": agent.known_arms, "edges": None}
    if graph is not None:
        known = {"kind": graph.recipe["kind"], "arms": graph.n_arms, "edges": graph.n_edges}
    return {
        "policy": agent.policy.name,
        "family": repr(agent.family),
        "graph": known,
        "leader": agent.leader,
        "decisions": agent.book.made,
        "outstanding": agent.outstanding,
        "round": int(agent.round),
        "paused": list(agent.paused),
        "cap": None if cap is None else {"share": cap.share, "over": cap.over},
        "time_to_live": agent.book.time_to_live,
        "on_expiry": agent.book.on_expiry,
        "reports": agent.reports,
    }
