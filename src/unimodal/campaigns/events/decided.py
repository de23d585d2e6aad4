"""A decision was made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from unimodal.agents.decisions import Decision
from unimodal.agents.label_text import as_text
from unimodal.campaigns.events.event import LABEL, NOTHING, NUMBER, TEXT, WHOLE, Damage, Event
from unimodal.campaigns.events.row import Row, short
from unimodal.policies.state import REASONS

if TYPE_CHECKING:
    from unimodal.campaigns.log_facts import LogFacts
    from unimodal.campaigns.state import State
    from unimodal.campaigns.upkeep.erase import Erasure
    from unimodal.campaigns.upkeep.neutral_labels import Relabelling


@dataclass(slots=True)
class Decided(Event):
    """A decision: its number, arm, reason, leader, how many competed, and its propensity."""

    kind: ClassVar[str] = "decide"
    columns: ClassVar[dict[str, tuple[type, ...]]] = {
        **{"decision": WHOLE, "arm": LABEL, "reason": TEXT, "near": WHOLE},
        **{"leader": LABEL + NOTHING, "propensity": NUMBER + NOTHING},
    }
    decides: ClassVar[bool] = True
    names_met_arms: ClassVar[bool] = True

    decision: int
    arm: Any
    reason: str
    leader: Any
    near: int
    propensity: float | None = None

    @classmethod
    def of(cls, row: Row) -> Decided:
        seq, time, _, decision, arm, reason, leader, near, propensity, *_ = row
        return cls(seq, time, decision, arm, reason, leader, near, propensity)  # type: ignore[arg-type]

    @classmethod
    def recorded(cls, seq: int, time: float, decision: int, what: Decision) -> Decided:
        arm, leader = what.arm, what.leader
        if type(arm) is not str or type(leader) is not str:  # which is as the log has it
            arm, leader = as_text(arm), as_text(leader)
        return cls(seq, time, decision, arm, what.reason, leader, what.near, what.propensity)

    def row(self) -> Row:
        rest = (self.arm, self.reason, self.leader, self.near, self.propensity)
        return Row(self.seq, self.time, self.kind, self.decision, *rest)

    @classmethod
    def count(cls, row: tuple[Any, ...], facts: LogFacts) -> str:
        _, time, _, decision, arm, *_ = row
        facts.decided(time, decision, arm)
        return str(arm)

    def apply(self, state: State) -> None:
        raise Damage(f"is {self.told()}, which cannot be")  # else it would have been followed

    @classmethod
    def fault(cls, row: Row) -> str | None:
        if (wrong := super(Decided, cls).fault(row)) is not None:
            return wrong
        if row.reason not in REASONS:
            return f"must have one of the reasons {', '.join(REASONS)}, got {short(row.reason)}"
        if row.propensity is not None and not 0.0 <= row.propensity <= 1.0:
            return f"must have a propensity between 0 and 1, got {row.propensity!r}"
        return None

    def told(self) -> str:
        """The decision in words."""
        reason = self.reason if self.reason in REASONS else short(self.reason)
        leader = f", leader {short(self.leader)}" if self.leader is not None else ""
        return (
            f"decision {short(self.decision)} for arm {short(self.arm)} "
            f"({reason}{leader}, {short(self.near)} near)"
        )

    @classmethod
    def relabelled(cls, row: Row, names: Relabelling) -> Row:
        return row._replace(arm=names.text(row.arm), leader=names.text(row.leader))

    @classmethod
    def without_data(cls, row: Row, erasure: Erasure) -> Row:
        return row._replace(propensity=None) if row.decision in erasure.decisions else row
