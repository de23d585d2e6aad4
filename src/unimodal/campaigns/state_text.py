"""The state of an agent as text: equal states are equal texts, and a long one comes in pieces."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from unimodal.agents.agent import Agent
from unimodal.agents.saving import renewed_state, whole_state
from unimodal.campaigns.events.json_text import parsed

_PIECE = 1_000  # elements of a list that are turned into text at a time


def state_in_pieces(agent: Agent) -> Iterator[str]:
    """All of the state of an agent as JSON, in pieces that take a millisecond or so each."""
    return _json_pieces(whole_state(agent))


def is_state(saved: str, state: str) -> bool:
    """Whether a snapshot, which an older version may have written, is of a state."""
    if saved == state:
        return True
    try:
        return _json(renewed_state(parsed(saved))) == state
    except (LookupError, TypeError, ValueError, AttributeError):
        return False


def _json_pieces(data: Any) -> Iterator[str]:
    if isinstance(data, dict):
        for number, (key, value) in enumerate(data.items()):
            yield f"{',' if number else '{'}{json.dumps(key)}:"
            yield from _json_pieces(value)
        yield "}" if data else "{}"
    elif isinstance(data, list) and len(data) > _PIECE:
        for first in range(0, len(data), _PIECE):
            yield "," if first else "["
            yield _json(data[first : first + _PIECE])[1:-1]
        yield "]"
    else:
        yield _json(data)


def _json(data: Any) -> str:
    return json.dumps(data, separators=(",", ":"))
