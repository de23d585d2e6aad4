"""Decisions and their rewards: what a shop calls thousands of times a minute."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import TypeAdapter

from unimodal.agents.decisions import Decision
from unimodal.campaigns.group_commit import Call
from unimodal.campaigns.state_machine import StateMachine
from unimodal.errors import UnimodalError
from unimodal.graphs.text import as_label
from unimodal.service.campaigns.keyed_decisions import decisions
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
    made, new = await decisions(service.queue, name, wanted.n, wanted.propensity, key)
    service.metrics.decided(name, new)
    return as_json({"decisions": [_told(decision) for decision in made]})


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
    found = await service.queue.change(name, _rewards(told, together))
    answers = [_answer(one.decision, outcome) for one, outcome in zip(told, found, strict=True)]
    service.metrics.rewarded(name, [answer["outcome"] for answer in answers])
    if isinstance(body, RewardsBody):
        return as_json({"rewards": answers})
    if isinstance(found[0], UnimodalError):
        raise found[0]
    return as_json(answers[0])


def _rewards(told: list[RewardBody], together: bool) -> Call:
    """A call that gives True, False or an error for each reward."""
    ids, values = [one.decision for one in told], [one.reward for one in told]

    def work(machine: StateMachine) -> list[bool | UnimodalError]:
        if len(ids) > 1 or together:
            try:
                return list(machine.agent.reward(ids, values))
            except UnimodalError:  # one of them is wrong, and none has counted
                if together:
                    raise
        return [_reward(machine, *one) for one in zip(ids, values, strict=True)]

    return Call(work, may_repeat=True)


def _reward(machine: StateMachine, decision: int, reward: float) -> bool | UnimodalError:
    try:
        return machine.agent.reward(decision, reward)
    except UnimodalError as error:
        return error


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
    work = Call(lambda machine: machine.tell(arms, rewards), may_repeat=True)
    await service.queue.change(name, work)
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
    work = Call(lambda machine: machine.agent.expire())
    return as_json({"expired": int(await service.queue.change(name, work))})


QUICK: dict[str, Endpoint] = {"decisions": decide, "rewards": tell_rewards}
