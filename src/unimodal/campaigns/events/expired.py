"""The time of a decision was over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from unimodal.campaigns.events.event import WHOLE, Damage, Event
from unimodal.campaigns.events.row import Row

if TYPE_CHECKING:
    from unimodal.campaigns.log_facts import LogFacts
    from unimodal.campaigns.state import State


@dataclass(slots=True)
class Expired(Event):
    """A decision was closed because its time was over: `Agent.settle` says what that counts as."""

    kind: ClassVar[str] = "expire"
    columns: ClassVar[dict[str, tuple[type, ...]]] = {"decision": WHOLE}
    closes: ClassVar[bool] = True

    decision: int

    @classmethod
    def of(cls, row: Row) -> Expired:
        return cls(row.seq, row.time, row.decision)  # type: ignore[arg-type]

    @classmethod
    def recorded(cls, seq: int, time: float, decision: int, what: None) -> Expired:
        return cls(seq, time, decision)

    def row(self) -> Row:
        return Row(self.seq, self.time, self.kind, self.decision)

    @classmethod
    def count(cls, row: tuple[Any, ...], facts: LogFacts) -> str:
        return facts.expired(row[3])

    def apply(self, state: State) -> None:
        if self.decision not in state.book.open:
            raise Damage(f"closes decision {self.decision}, which is not open")
        raise Damage(f"lets decision {self.decision} expire before its time")
