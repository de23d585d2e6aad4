"""What became of decisions, and rewards of arms that were not decided here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from unimodal.agents.label_text import as_text
from unimodal.campaigns.events import Observed
from unimodal.campaigns.group_commit import Call
from unimodal.campaigns.log_questions import LogNeeded, RewardOf
from unimodal.campaigns.state import State
from unimodal.errors import UnimodalError


def rewarding(decision: Any, value: Any) -> Call:
    """The call for the reward of a decision, or of several: all of them count, or none."""
    return Call(lambda state: _reward(state, decision, value), may_repeat=True)


def rewarding_each(decisions: Sequence[int], values: Sequence[float]) -> Call:
    """The call for rewards of which one that is refused keeps no other from counting.

    Its result is True, False or an error for each.
    """
    return Call(lambda state: _reward_each(state, decisions, values), may_repeat=True)


def telling(arm: Any, value: Any) -> Call:
    """The call for rewards that belong to no decision."""
    return Call(lambda state: _tell(state, arm, value), may_repeat=True)


def expiring() -> Call:
    """The call that closes the decisions whose time is over; its result is how many."""
    return Call(lambda state: state.agent.expire())


def _reward(state: State, decision: Any, value: Any) -> Any:
    several = hasattr(decision, "__len__") and not isinstance(decision, str | bytes)
    _ask_for_closed(state, decision if several else (decision,))
    return state.agent.reward(decision, value)


def _reward_each(
    state: State, decisions: Sequence[int], values: Sequence[float]
) -> list[bool | UnimodalError]:
    _ask_for_closed(state, decisions)
    if len(decisions) > 1:
        try:
            return list(state.agent.reward(decisions, values))
        except UnimodalError:  # one of them is wrong, and none has counted
            pass
    return [_or_error(state, *one) for one in zip(decisions, values, strict=True)]


def _or_error(state: State, decision: int, value: float) -> bool | UnimodalError:
    try:
        return state.agent.reward(decision, value)
    except UnimodalError as error:
        return error


def _ask_for_closed(state: State, decisions: Iterable[Any]) -> None:
    """Ask together for what is known of all decisions that may have a reward already."""
    book, rewards, answers = state.book, state.rewards.recent, state.answers
    questions = [
        RewardOf(int(number))
        for number in decisions
        if isinstance(number, int | np.integer) and 0 < number <= book.made
        if number not in book.open and number not in rewards
        if RewardOf(int(number)) not in answers
    ]
    if questions:
        raise LogNeeded(*questions)


def _tell(state: State, arm: Any, value: Any) -> None:
    told, label_of = state.agent.checked_rewards(arm, value), state.agent.label_of
    now = state.now()
    for number, each in told:
        state.add(Observed(state.seq + 1, now, as_text(label_of(number)), each))
        state.agent.learn(number, each)
