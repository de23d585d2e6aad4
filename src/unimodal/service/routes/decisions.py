"""Decisions and their rewards: what a shop calls thousands of times a minute."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import TypeAdapter

from unimodal.agents.decisions import Decision
from unimodal.campaigns.commands.deciding import Made, deciding
from unimodal.campaigns.commands.rewarding import expiring, rewarding, rewarding_each, telling
from unimodal.campaigns.events.keyed import key_digest
from unimodal.errors import UnimodalError
from unimodal.graphs.text import as_label
from unimodal.service.http import problem_documents
from unimodal.service.http.direct_requests import described, entered, read_body, read_key
from unimodal.service.http.json_answers import as_json
from unimodal.service.http.models import (
    DecisionsAnswer,
    DecisionsBody,
    DoneAnswer,
    ExpiredAnswer,
    RewardAnswer,
    RewardBody,
    RewardsAnswer,
    RewardsBody,
    TellsBody,
)
from unimodal.service.http.problem_documents import Endpoint
from unimodal.service.service import Service

router = APIRouter(prefix="/v1/campaigns/{name}", tags=["decisions"])
BODIES = (DecisionsBody, RewardBody, RewardsBody, TellsBody)
_DECISIONS = TypeAdapter(DecisionsBody)
_REWARDS: TypeAdapter[RewardsBody | RewardBody] = TypeAdapter(RewardsBody | RewardBody)
_TELLS = TypeAdapter(TellsBody)
_REWARD_LINK = {
    "operationId": "tell_rewards",
    "parameters": {"name": "$request.path.name"},
    "requestBody": {"decision": "$response.body#/decisions/0/id", "reward": 1.0},
}


@router.post(
    "/decisions",
    operation_id="decide",
    response_model=DecisionsAnswer,
    responses={
        200: {
            "description": "The decisions, which are on disk",
            "links": {"TellReward": _REWARD_LINK},
        },
        **problem_documents.responses(404, 409),
    },
    openapi_extra=described(DecisionsBody, required=False, keyed=True),
)
async def decide(request: Request) -> Response:
    """Make decisions; they are on disk when this is answered.

    Send an `Idempotency-Key` of your own, and send it again if no answer came: the same decisions
    are returned.
    """
    service, name = entered(request, "decide")
    key, wanted = read_key(request), await read_body(request, _DECISIONS, b"{}")
    await service.check_not_ended(name)
    made = await _made(service, name, wanted, key)
    service.metrics.decided(name, [each for each in made.decisions if each.id > made.before])
    return as_json({"decisions": [_told(decision) for decision in made.decisions]})


async def _made(service: Service, name: str, wanted: DecisionsBody, key: str | None) -> Made:
    """The decisions that a request asks for."""
    digest = None if key is None else key_digest(key)
    made: Made = await service.queue.change(name, deciding(wanted.n, wanted.propensity, digest))
    if made.needed is None:
        return made
    named: Any = {"propensity": wanted.propensity, "key": key}  # looked up outside of calls
    all_made = await service.queue.do(name, lambda campaign: campaign.decide(wanted.n, **named))
    return made._replace(decisions=all_made, needed=None)


def _told(made: Decision) -> dict[str, Any]:
    """A decision as JSON data; `to_dict` copies all of it, which takes longer than to decide."""
    return {
        **{"id": made.id, "arm": made.arm, "reason": made.reason, "leader": made.leader},
        **{"near": made.near, "time": made.time, "propensity": made.propensity},
    }


@router.post(
    "/rewards",
    operation_id="tell_rewards",
    response_model=RewardsAnswer | RewardAnswer,
    responses=problem_documents.responses(404, 409, 410),
    openapi_extra=described(RewardsBody, RewardBody),
)
async def tell_rewards(request: Request) -> Response:
    """Tell the reward of one decision, or of many.

    A reward that is told again is known, and counts once. Of many, each is answered by itself; one
    alone that is refused is answered by its problem.
    """
    service, name = entered(request, "decide")
    body = await read_body(request, _REWARDS)
    told = body.rewards if isinstance(body, RewardsBody) else [body]
    together = isinstance(body, RewardsBody) and body.all_or_none
    named = [one.decision for one in told], [one.reward for one in told]
    call = rewarding(*named) if together else rewarding_each(*named)
    found = await service.queue.change(name, call)
    answers = [_answer(one.decision, outcome) for one, outcome in zip(told, found, strict=True)]
    service.metrics.rewarded(name, [answer["outcome"] for answer in answers])
    if isinstance(body, RewardsBody):
        return as_json({"rewards": answers})
    if isinstance(found[0], UnimodalError):
        raise found[0]
    return as_json(answers[0])


def _answer(decision: int, found: bool | UnimodalError) -> dict[str, Any]:
    if isinstance(found, UnimodalError):
        return {
            "decision": decision,
            "outcome": "refused",
            "problem": problem_documents.of_error(found),
        }
    return {"decision": decision, "outcome": "counted" if found else "known", "problem": None}


@router.post(
    "/observations",
    operation_id="tell",
    response_model=DoneAnswer,
    responses=problem_documents.responses(404),
    openapi_extra=described(TellsBody),
)
async def tell(request: Request) -> Response:
    """Tell rewards of arms that were not decided here.

    They count again if they are told again, since there is no id to know them by.
    """
    service, name = entered(request, "decide")
    body = await read_body(request, _TELLS)
    arms = [as_label(one.arm) for one in body.rewards]
    rewards = [one.reward for one in body.rewards]
    await service.queue.change(name, telling(arms, rewards))
    return as_json({"done": True})


@router.post(
    "/expire",
    operation_id="expire",
    response_model=ExpiredAnswer,
    responses=problem_documents.responses(404),
    openapi_extra=described(),
)
async def expire(request: Request) -> Response:
    """Close the decisions whose time is over, which deciding and rewarding do, too."""
    service, name = entered(request, "decide")
    return as_json({"expired": int(await service.queue.change(name, expiring()))})


QUICK: dict[str, Endpoint] = {"decisions": decide, "rewards": tell_rewards}
