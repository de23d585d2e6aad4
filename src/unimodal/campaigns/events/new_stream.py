"""Processes that would have decided differently agreed on a new random stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from unimodal.campaigns.events.event import Event

if TYPE_CHECKING:
    from unimodal.campaigns.state import State


@dataclass(slots=True)
class NewStream(Event):
    """From here on the random numbers depend on the seed and the number of this event only."""

    kind: ClassVar[str] = "stream"

    def apply(self, state: State) -> None:
        state.begin_stream(self.seq)
