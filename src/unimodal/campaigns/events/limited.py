"""Arms were paused or resumed, or a cap was set or lifted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from unimodal.agents.revision import limit
from unimodal.campaigns.events.event import TEXT, Damage, Event
from unimodal.campaigns.events.json_text import as_json, as_labels, parsed
from unimodal.campaigns.events.row import Row
from unimodal.errors import UnimodalError

if TYPE_CHECKING:
    from unimodal.campaigns.log_facts import LogFacts
    from unimodal.campaigns.state import State
    from unimodal.campaigns.upkeep.neutral_labels import Relabelling

_ARMS = ("pause", "resume")


@dataclass(slots=True)
class Limited(Event):
    """What was changed ('pause', 'resume' or 'cap'), and the arms, or share and window, or None."""

    kind: ClassVar[str] = "limit"
    columns: ClassVar[dict[str, tuple[type, ...]]] = {"data": TEXT}
    since: ClassVar[int] = 3

    change: str
    given: Any

    @classmethod
    def of(cls, row: Row) -> Limited:
        try:
            ((change, given),) = parsed(row.data).items()
            if change in _ARMS and isinstance(given, list):
                return cls(row.seq, row.time, change, as_labels(given))
            if change == "cap" and (given is None or (isinstance(given, list) and len(given) == 2)):
                return cls(row.seq, row.time, change, given)
        except (ValueError, AttributeError):
            pass
        raise Damage("must be a limit")

    def row(self) -> Row:
        data = as_json({self.change: self.given}, repr(self.given))
        return Row(self.seq, self.time, self.kind, data=data)

    @classmethod
    def count(cls, row: tuple[Any, ...], facts: LogFacts) -> None:
        try:
            changes = "cap" not in parsed(row[-1])  # a cap leaves the graph as it is
        except ValueError:
            changes = True
        facts.graph_changed |= changes

    def apply(self, state: State) -> None:
        try:
            limit(state.agent, self.change, self.given)
        except UnimodalError as error:
            raise Damage(f"cannot be ({str(error).removesuffix('.')})") from None

    @classmethod
    def relabelled(cls, row: Row, names: Relabelling) -> Row:
        data = {
            change: names.labels(given) if change in _ARMS else given
            for change, given in parsed(row.data).items()
        }
        return row._replace(data=as_json(data, repr(names.new)))
