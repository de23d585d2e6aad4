"""Decisions under an idempotency key, as a call that shares its commit with others."""

from __future__ import annotations

from typing import Any

from unimodal.agents.decisions import Decision
from unimodal.campaigns.events import key_digest
from unimodal.campaigns.group_commit import Call
from unimodal.campaigns.state_machine import StateMachine
from unimodal.errors import UnimodalError
from unimodal.service.campaigns.call_queue import CallQueue

_LIFETIME = 86_400.0  # seconds for which a key is known


async def decisions(
    queue: CallQueue, name: str, n: int, propensity: bool, key: str | None
) -> tuple[list[Decision], list[Decision]]:
    """The next `n` decisions of a campaign, or those that were made under the key; the new ones."""
    digest, before = None if key is None else key_digest(key), 0

    def work(machine: StateMachine) -> Any:
        nonlocal before
        before = machine.agent.book.made
        if digest is None:
            return machine.decide(n, propensity)
        return machine.decide_once(digest, _LIFETIME, n, propensity)

    made, needed = await queue.change(name, Call(work, checks_first=False))
    if isinstance(needed, UnimodalError):  # the key was used for something else
        raise needed
    if needed is not None:  # a graph known by look-up: the campaign does that outside of calls
        named: Any = {"propensity": propensity, "key": key}
        made = await queue.do(name, lambda campaign: campaign.decide(n, **named))
    return list(made), [decision for decision in made if decision.id > before]
