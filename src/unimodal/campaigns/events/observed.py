"""A reward was told of an arm that was not decided here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from unimodal.campaigns.events.event import LABEL, NUMBER, Damage, Event
from unimodal.campaigns.events.rewarded import reward_fault
from unimodal.campaigns.events.row import ERASED, Row, short

if TYPE_CHECKING:
    from unimodal.campaigns.log_facts import LogFacts
    from unimodal.campaigns.state import State
    from unimodal.campaigns.upkeep.erase import Erasure
    from unimodal.campaigns.upkeep.neutral_labels import Relabelling


@dataclass(slots=True)
class Observed(Event):
    """A reward of an arm that belongs to no decision."""

    kind: ClassVar[str] = "tell"
    columns: ClassVar[dict[str, tuple[type, ...]]] = {"arm": LABEL, "reward": NUMBER}
    since: ClassVar[int] = 3
    names_met_arms: ClassVar[bool] = True

    arm: Any
    reward: float

    @classmethod
    def of(cls, row: Row) -> Observed:
        return cls(row.seq, row.time, row.arm, row.reward)  # type: ignore[arg-type]

    def row(self) -> Row:
        return Row(self.seq, self.time, self.kind, arm=self.arm, reward=self.reward)

    @classmethod
    def count(cls, row: tuple[Any, ...], facts: LogFacts) -> str:
        _, _, _, _, arm, _, _, _, _, reward, _ = row
        facts.observed(arm, reward)
        return str(arm)

    def apply(self, state: State) -> None:
        """Learn the reward of an arm that others met and that was not met here.

        Where others look up differently, they meet other arms; the rest was followed already.
        """
        wrong = reward_fault(state.agent.family, self.reward)
        arm = None if wrong or state.decides_again else state.number_of(self.arm)
        if arm is None:
            raise Damage(wrong or f"tells a reward of arm {short(self.arm)}, which there is not")
        state.agent.learn(arm, self.reward)

    @classmethod
    def relabelled(cls, row: Row, names: Relabelling) -> Row:
        return row._replace(arm=names.text(row.arm))

    @classmethod
    def without_data(cls, row: Row, erasure: Erasure) -> Row:
        is_its = row.arm == erasure.label
        return Row(row.seq, row.time, ERASED) if is_its else row
