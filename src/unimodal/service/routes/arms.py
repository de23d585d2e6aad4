"""The arms: what is known of them, and what an owner may change of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Depends, Request, Response

from unimodal.agents.arm_intervals import arm_rows
from unimodal.campaigns import Campaign
from unimodal.errors import TooLarge
from unimodal.graphs.text import as_label
from unimodal.service.campaigns.requested_settings import check_room
from unimodal.service.http import problem_documents
from unimodal.service.http.json_answers import as_json, finite
from unimodal.service.http.models import (
    ArmsAnswer,
    ArmsBody,
    DoneAnswer,
    EdgesBody,
    InsertBody,
    Name,
)
from unimodal.service.security.access import allow
from unimodal.service.service import Service, service_of

router = APIRouter(prefix="/v1/campaigns/{name}", tags=["arms"])
_CHANGE: dict[str, Any] = {
    "response_model": DoneAnswer,
    "responses": problem_documents.responses(404),
    "dependencies": [Depends(allow("admin"))],
}


@router.get(
    "/arms",
    operation_id="list_arms",
    response_model=ArmsAnswer,
    responses=problem_documents.responses(404),
    dependencies=[Depends(allow("read"))],
)
async def list_arms(request: Request, name: Name) -> Response:
    """List the arms that have led or have rewards, the most pulled first."""
    found = await service_of(request).queue.do(name, lambda campaign: campaign._call(arm_rows))
    return as_json({"arms": finite(found)})


async def _changed(request: Request, name: str, work: Callable[[Campaign], None]) -> Response:
    await service_of(request).queue.manage(name, work)
    return as_json({"done": True})


def _room(service: Service, campaign: Campaign, more: int) -> None:
    """Refuse arms and edges beyond what a service takes."""
    agent, limits = campaign.agent, service.limits
    graph = agent.graph
    if graph is None:
        return
    check_room(agent.policy, graph.n_arms + more, limits)
    if max(graph.n_arms + more - limits.arms, graph.n_edges + more - limits.edges) > 0:
        raise TooLarge(
            f"a graph must have at most {limits.arms:,} arms and {limits.edges:,} edges here: "
            "retire some first, or have the service's owner raise the limit."
        )


@router.post("/pause", operation_id="pause_arms", **_CHANGE)
async def pause_arms(request: Request, name: Name, body: ArmsBody) -> Response:
    """Do not offer some arms until they are resumed; what is known of them is kept."""
    arms = [as_label(arm) for arm in body.arms]
    return await _changed(request, name, lambda campaign: campaign.pause(*arms))


@router.post("/resume", operation_id="resume_arms", **_CHANGE)
async def resume_arms(request: Request, name: Name, body: ArmsBody) -> Response:
    """Offer paused arms again, with all that is known of them."""
    arms = [as_label(arm) for arm in body.arms]
    return await _changed(request, name, lambda campaign: campaign.resume(*arms))


@router.post("/retire", operation_id="retire_arms", **_CHANGE)
async def retire_arms(request: Request, name: Name, body: ArmsBody) -> Response:
    """Go on without some arms; what is left must be connected."""
    arms = [as_label(arm) for arm in body.arms]
    return await _changed(request, name, lambda campaign: campaign.retire(*arms))


@router.post("/insert", operation_id="insert_arm", **_CHANGE)
async def insert_arm(request: Request, name: Name, body: InsertBody) -> Response:
    """Go on with a new arm between two that are joined: their edge is replaced by two."""
    service = service_of(request)
    one, two = (as_label(label) for label in body.between)

    def insert(campaign: Campaign) -> None:
        _room(service, campaign, 1)
        campaign.insert(as_label(body.arm), between=(one, two))

    return await _changed(request, name, insert)


@router.post("/edges", operation_id="add_edges", **_CHANGE)
async def add_edges(request: Request, name: Name, body: EdgesBody) -> Response:
    """Go on with more edges between arms; labels that are new are new arms."""
    service = service_of(request)
    edges = [(as_label(a), as_label(b)) for a, b in body.edges]

    def add(campaign: Campaign) -> None:
        _room(service, campaign, len(edges))
        campaign.add_edges(edges)

    return await _changed(request, name, add)


@router.post("/edges/remove", operation_id="remove_edges", **_CHANGE)
async def remove_edges(request: Request, name: Name, body: EdgesBody) -> Response:
    """Go on without some edges; the graph must stay connected."""
    edges = [(as_label(a), as_label(b)) for a, b in body.edges]
    return await _changed(request, name, lambda campaign: campaign.remove_edges(edges))
