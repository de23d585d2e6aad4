"""The reward of a decision was told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from unimodal.campaigns.events.event import NUMBER, WHOLE, Damage, Event
from unimodal.campaigns.events.row import ERASED, Row
from unimodal.errors import UnimodalError
from unimodal.families import Family

if TYPE_CHECKING:
    from unimodal.campaigns.log_facts import LogFacts
    from unimodal.campaigns.state import State
    from unimodal.campaigns.upkeep.erase import Erasure


@dataclass(slots=True)
class Rewarded(Event):
    """The reward of a decision, which closes it."""

    kind: ClassVar[str] = "reward"
    columns: ClassVar[dict[str, tuple[type, ...]]] = {"decision": WHOLE, "reward": NUMBER}
    closes: ClassVar[bool] = True

    decision: int
    reward: float

    @classmethod
    def of(cls, row: Row) -> Rewarded:
        return cls(row.seq, row.time, row.decision, row.reward)  # type: ignore[arg-type]

    @classmethod
    def recorded(cls, seq: int, time: float, decision: int, what: float) -> Rewarded:
        return cls(seq, time, decision, what)

    def row(self) -> Row:
        nothing = (None, None, None, None, None)
        return Row(self.seq, self.time, self.kind, self.decision, *nothing, self.reward)

    @classmethod
    def count(cls, row: tuple[Any, ...], facts: LogFacts) -> str:
        return facts.rewarded(row[3], row[9])

    def apply(self, state: State) -> None:
        if self.decision not in state.book.open:
            raise Damage(f"closes decision {self.decision}, which is not open")
        raise Damage(reward_fault(state.agent.family, self.reward) or "cannot be")

    @classmethod
    def without_data(cls, row: Row, erasure: Erasure) -> Row:
        if row.decision not in erasure.decisions:
            return row
        return Row(row.seq, row.time, ERASED, row.decision)


def reward_fault(family: Family, reward: float | None) -> str | None:
    """What is wrong with the reward of an event; None if nothing is, or if it has none."""
    try:
        if reward is not None:
            family.check_reward(reward)
    except UnimodalError as error:
        return f"cannot be ({str(error).removesuffix('.')})"
    return None
