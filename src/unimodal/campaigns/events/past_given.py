"""The campaign began with rewards from before."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from unimodal import graphs
from unimodal.agents.past_data import PastData
from unimodal.campaigns.events.event import TEXT, Damage, Event
from unimodal.campaigns.events.json_text import as_json, parsed
from unimodal.campaigns.events.row import Row, short
from unimodal.errors import UnimodalError

if TYPE_CHECKING:
    from unimodal.campaigns.state import State
    from unimodal.campaigns.upkeep.erase import Erasure
    from unimodal.campaigns.upkeep.neutral_labels import Relabelling


@dataclass(slots=True)
class PastGiven(Event):
    """Past data, which can only be the first event of a log."""

    kind: ClassVar[str] = "data"
    columns: ClassVar[dict[str, tuple[type, ...]]] = {"data": TEXT}
    since: ClassVar[int] = 3

    data: str

    @classmethod
    def of(cls, row: Row) -> PastGiven:
        return cls(row.seq, row.time, row.data)  # type: ignore[arg-type]

    def row(self) -> Row:
        return Row(self.seq, self.time, self.kind, data=self.data)

    def past_data(self) -> PastData:
        """The data as an agent takes them; `Damage` if they are none."""
        try:
            return PastData.from_log(parsed(self.data), graphs.as_label)
        except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError):
            raise Damage(f"must be past data, got {short(self.data)}") from None

    def apply(self, state: State) -> None:
        if self.seq > 1:
            raise Damage(f"is of kind {self.kind!r}, which only the first can be")
        try:
            state.agent.begin_with(self.past_data())
        except UnimodalError as error:
            raise Damage(f"cannot be ({str(error).removesuffix('.')})") from None

    @classmethod
    def needed(cls, row: Row, since: float) -> Iterator[tuple[int, int, type[Event]]]:
        yield row.seq, row.seq, cls  # the state is made from it, snapshot or not

    @classmethod
    def relabelled(cls, row: Row, names: Relabelling) -> Row:
        data = parsed(row.data)
        data["rows"] = [[names.label(label), *rest] for label, *rest in data["rows"]]
        return row._replace(data=as_json(data, repr(names.new)))

    @classmethod
    def without_data(cls, row: Row, erasure: Erasure) -> Row:
        data = parsed(row.data)
        data["rows"] = [each for each in data["rows"] if each[0] != erasure.label]
        data.pop("counted", None)  # other arms' totals were read with those of this arm
        return row._replace(data=json.dumps(data, ensure_ascii=False))
