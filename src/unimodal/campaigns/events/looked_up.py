"""The neighbours of an arm were looked up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from unimodal.campaigns.events.event import LABEL, TEXT, Damage, Event
from unimodal.campaigns.events.json_text import as_json, as_labels, parsed
from unimodal.campaigns.events.row import Row, short

if TYPE_CHECKING:
    from unimodal.campaigns.log_facts import LogFacts
    from unimodal.campaigns.state import State
    from unimodal.campaigns.upkeep.neutral_labels import Relabelling


@dataclass(slots=True)
class LookedUp(Event):
    """An answer of the oracle: the neighbours of an arm, or None where they could not be told.

    The first ones of a log were asked for by a start, before there was an agent.
    """

    kind: ClassVar[str] = "look-up"
    columns: ClassVar[dict[str, tuple[type, ...]]] = {"arm": LABEL, "data": TEXT}
    precedes_agent: ClassVar[bool] = True

    arm: Any  # as a log writes it
    data: str  # the arm and its neighbours, as JSON

    @classmethod
    def of(cls, row: Row) -> LookedUp:
        return cls(row.seq, row.time, row.arm, row.data)  # type: ignore[arg-type]

    def row(self) -> Row:
        return Row(self.seq, self.time, self.kind, arm=self.arm, data=self.data)

    def answer(self) -> tuple[Any, list[Any] | None]:
        """The arm and its neighbours; `Damage` if the data are no answer."""
        try:
            data = parsed(self.data)
            if len(data) != 2 or not isinstance(data, list) or not isinstance(data[1], list | None):
                raise ValueError("no arm and its neighbours")
            label, *others = as_labels([data[0], *(data[1] or ())])
        except (ValueError, TypeError):
            wrong = f"must be the answer to a look-up, got {short(self.data)}"
            raise Damage(wrong) from None
        return label, None if data[1] is None else others

    @classmethod
    def count(cls, row: tuple[Any, ...], facts: LogFacts) -> str:
        _, time, _, _, arm, *_, data = row
        facts.look_ups.append((data, time))
        return str(arm)

    def apply(self, state: State) -> None:
        if state.oracle is None:
            raise Damage(f"is of kind {self.kind!r}, but the whole graph is known")
        state.take_answer(*self.answer())

    @classmethod
    def relabelled(cls, row: Row, names: Relabelling) -> Row:
        arm, others = parsed(row.data)
        data = as_json([names.label(arm), names.labels(others)], repr(names.new))
        return row._replace(arm=names.text(row.arm), data=data)

    @classmethod
    def labels(cls, row: Row) -> list[Any]:
        label, others = cls.of(row).answer()
        return [label, *(others or ())]


def labels_met(rows: Iterator[Row], until: int) -> Iterator[Any]:
    """The arms that the look-ups of a log have named up to an event."""
    for row in rows:
        if row.seq > until:
            return
        if row.kind == LookedUp.kind:
            try:
                yield from LookedUp.labels(row)
            except Damage:  # before the last snapshot, so that nobody folds it
                continue
