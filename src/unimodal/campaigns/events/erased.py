"""The label or the data of an arm were erased."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from unimodal.campaigns.events.event import NOTHING, TEXT, WHOLE, Damage, Event
from unimodal.campaigns.events.json_text import parsed
from unimodal.campaigns.events.row import ERASED, Row

if TYPE_CHECKING:
    from unimodal.campaigns.state import State


@dataclass(slots=True)
class Erased(Event):
    """That something was erased, as the `number`-th time; whoever follows the log reads it anew.

    In an archive also what is left of a reward whose data were erased: such an event has no number.
    """

    kind: ClassVar[str] = ERASED
    columns: ClassVar[dict[str, tuple[type, ...]]] = {
        "decision": WHOLE + NOTHING,
        "data": TEXT + NOTHING,
    }

    number: int

    @classmethod
    def of(cls, row: Row) -> Erased:
        try:
            return cls(row.seq, row.time, int(parsed(row.data)["number"]))
        except (ValueError, LookupError, TypeError):
            raise Damage("must be an erasure") from None

    def row(self) -> Row:
        return Row(self.seq, self.time, self.kind, data=json.dumps({"number": self.number}))

    def apply(self, state: State) -> None:
        state.check_erasures(self.number)
