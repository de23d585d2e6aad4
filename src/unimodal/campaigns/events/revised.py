"""The graph was changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from unimodal import graphs
from unimodal.campaigns.events.event import TEXT, Damage, Event
from unimodal.campaigns.events.json_text import as_json, as_labels, parsed
from unimodal.campaigns.events.row import Row
from unimodal.errors import UnimodalError
from unimodal.graphs import Graph

if TYPE_CHECKING:
    from unimodal.campaigns.log_facts import LogFacts
    from unimodal.campaigns.state import State
    from unimodal.campaigns.upkeep.neutral_labels import Relabelling


@dataclass(slots=True)
class Revised(Event):
    """Edges were added or removed, and arms retired; `fingerprint` is that of the new graph."""

    kind: ClassVar[str] = "revision"
    columns: ClassVar[dict[str, tuple[type, ...]]] = {"data": TEXT}

    add: list[tuple[Any, Any]]
    retire: list[Any]
    fingerprint: str
    remove: list[tuple[Any, Any]] = field(default_factory=list)

    @classmethod
    def of(cls, row: Row) -> Revised:
        try:
            data = parsed(row.data)
            add, remove = _pairs(data["add"]), _pairs(data.get("remove", ()))
            retire, fingerprint = as_labels(data["retire"]), str(data["fingerprint"])
        except (ValueError, LookupError, TypeError, AttributeError):
            raise Damage("must be a change of the graph") from None
        return cls(row.seq, row.time, add, retire, fingerprint, remove)

    def row(self) -> Row:
        data: dict[str, Any] = {"add": self.add, "retire": self.retire}
        if self.remove:
            data["remove"] = self.remove
        such_as = repr(self.add or self.retire or self.remove)
        text = as_json({**data, "fingerprint": self.fingerprint}, such_as)
        return Row(self.seq, self.time, self.kind, data=text)

    def revised(self, graph: Graph) -> Graph:
        """The graph after the change; `Damage` if that cannot be, or is another one."""
        try:
            changed = graphs.revised(graph, self.add, self.retire, self.remove)
        except UnimodalError as error:
            raise Damage(f"makes no graph ({str(error).removesuffix('.')})") from None
        if changed.fingerprint != self.fingerprint:
            raise Damage("makes another graph than it did")
        return changed

    @classmethod
    def count(cls, row: tuple[Any, ...], facts: LogFacts) -> None:
        facts.graph_changed = True

    def apply(self, state: State) -> None:
        try:
            state.revise(self.revised(state.held_graph()))
        except UnimodalError as error:  # of arms that are paused, or of a graph that is looked up
            raise Damage(f"cannot be ({str(error).removesuffix('.')})") from None

    @classmethod
    def needed(cls, row: Row, since: float) -> Iterator[tuple[int, int, type[Event]]]:
        yield row.seq, row.seq, cls  # the state is made from it, snapshot or not

    @classmethod
    def relabelled(cls, row: Row, names: Relabelling) -> Row:
        return names.revisions[row.seq]

    @classmethod
    def labels(cls, row: Row) -> list[Any]:
        return [end for pair in cls.of(row).add for end in pair]


def _pairs(data: Any) -> list[tuple[Any, Any]]:
    pairs = [as_labels(pair) for pair in data]
    return [(one, two) for one, two in pairs]
