"""What every kind of event has: the base class of those in the files beside this one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from unimodal.campaigns.events.row import REST, Row, short

if TYPE_CHECKING:
    from unimodal.campaigns.log_facts import LogFacts
    from unimodal.campaigns.state import State
    from unimodal.campaigns.upkeep.erase import Erasure
    from unimodal.campaigns.upkeep.neutral_labels import Relabelling

NOTHING, TEXT, WHOLE, NUMBER = (type(None),), (str,), (int,), (float,)
LABEL = (str, int, float)
ARM = Row._fields.index("arm")


class Damage(ValueError):
    """What is wrong with an event, as the rest of a sentence that begins with its number."""

    def __init__(
        self,
        what: str,
        advice: str = "the file was changed by hand or is damaged; go back to a copy of it",
    ) -> None:
        super().__init__(what)
        self.what, self.advice = what, advice
        self.seq: int | None = None  # of the event, where it is not the one that is being folded


@dataclass(slots=True)
class Event:
    """Something that happened in a campaign, and when.

    A kind of event is a class in a file of its own. It says which columns its row has, what makes
    a row damaged, what the event does to the state, and what compaction and erasure do with it.
    Those who read, move or change a log ask the kind, and know none by its name.
    """

    kind: ClassVar[str]
    columns: ClassVar[dict[str, tuple[type, ...]]] = {}  # the types of those that are not empty
    since: ClassVar[int] = 2  # the first format of a file whose readers know this kind
    decides: ClassVar[bool] = False  # it opens a decision
    closes: ClassVar[bool] = False  # it closes one
    precedes_agent: ClassVar[bool] = False  # a log may begin with some, before there is an agent
    names_met_arms: ClassVar[bool] = False  # only arms that the graph or a look-up has named

    seq: int
    time: float

    @classmethod
    def of(cls, row: Row) -> Self:
        """The event of a row that is `sound`; `Damage` if its data are not."""
        return cls(row.seq, row.time)

    @classmethod
    def recorded(cls, seq: int, time: float, decision: int, what: Any) -> Self:
        """The event of what an agent tells its recorder, for the kinds that agents record."""
        raise NotImplementedError(cls.kind)

    def row(self) -> Row:
        """The row that a log keeps of it."""
        return Row(self.seq, self.time, self.kind)

    def apply(self, state: State) -> None:
        """Do to the state what happened; `Damage` if that cannot have happened there."""

    @classmethod
    def fault(cls, row: Row) -> str | None:
        """What is wrong with the columns of a row by themselves; None if nothing is."""
        if not isinstance(row.time, float) or not math.isfinite(row.time):
            return f"must have a finite number of seconds as its time, got {short(row.time)}"
        for column in REST:
            value = getattr(row, column)
            if type(value) not in cls.columns.get(column, NOTHING):
                return (
                    f"is of kind {cls.kind} with {column} {short(value)}, a value of another kind "
                    "than its column has"
                )
        return None

    # What is done with logs; these take rows, of which only the data that are needed are parsed.

    @classmethod
    def needed(cls, row: Row, since: float) -> Iterator[tuple[int, int, type[Event]]]:
        """What compaction leaves in the log because of this event, snapshot or not.

        The first and the last number of some events, and which kind of them. Keys that are older
        than `since` are not needed. (Events that precede the agent stay as well.)
        """
        yield from ()

    @classmethod
    def count(cls, row: tuple[Any, ...], facts: LogFacts) -> str | None:
        """Count a row among what readers know of a log; the arm that it is about, as text."""
        return None if row[ARM] is None else str(row[ARM])

    @classmethod
    def relabelled(cls, row: Row, names: Relabelling) -> Row:
        """The row with the new name of an arm in the place of the old one."""
        return row

    @classmethod
    def without_data(cls, row: Row, erasure: Erasure) -> Row:
        """The relabelled row without what it tells of an arm whose data are erased."""
        return row

    @classmethod
    def labels(cls, row: Row) -> list[Any]:
        """The labels of arms that come into the campaign with this event."""
        return []
