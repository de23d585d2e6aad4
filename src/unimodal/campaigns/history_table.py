"""The log as a table: checked, with the arm beside each reward, and in little memory.

Words that come again and again (kinds, reasons, labels) are kept once: 10⁶ events take 60 MB as a
`compact` table, and twice that as the plain one that users are given.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from unimodal.campaigns.events import KINDS, Row, all_sound, fault, kinds_that
from unimodal.campaigns.events.rewarded import reward_fault
from unimodal.campaigns.log_start import WHOLE, LogStart
from unimodal.errors import DamagedFile, UnimodalError
from unimodal.families import Family
from unimodal.policies.state import REASONS

if TYPE_CHECKING:
    import polars as pl

_DECIDE, _CLOSE = frozenset(kinds_that("decides")), frozenset(kinds_that("closes"))
_CHUNK = 5_000  # events that are plain Python objects at the same time


def compact(
    events: Iterable[tuple[Any, ...]],
    family: Family | None = None,
    source: Any = "the log",
    start: LogStart = WHOLE,
) -> pl.DataFrame:
    """Events as a table; labels become text, since a column has one type.

    The log has the arm with the decision only; here it stands beside the reward, too. `family` is
    the family that rewards have to be of; `source` is what a sentence calls the log; `start` is
    what was before the first event.
    """
    import polars as pl

    word, kind, reason = pl.Categorical, pl.Enum(list(KINDS)), pl.Enum(REASONS)
    schema: dict[str, Any] = {
        **{"seq": pl.Int64, "time": pl.Float64, "kind": kind, "decision": pl.Int64, "arm": word},
        **{"reason": reason, "leader": word, "near": pl.Int64, "propensity": pl.Float64},
        **{"reward": pl.Float64, "data": word},
    }
    parts = [pl.DataFrame(schema=schema)]
    arms = _Arms(source, start)
    for rows in _some(events):
        columns: list[Any] = list(zip(*rows, strict=True))
        if not all_sound(columns):
            _refuse(rows, fault, source)
        if family is not None and not _all_are(family, columns[9]):
            _refuse(rows, lambda row: reward_fault(family, row.reward), source)
        columns[4] = arms.beside(rows)
        columns[6] = [None if leader is None else str(leader) for leader in columns[6]]
        parts.append(pl.DataFrame(dict(zip(schema, columns, strict=True)), schema=schema))
    return pl.concat(parts)


def plain(table: pl.DataFrame) -> pl.DataFrame:
    """A compact table with text as text."""
    import polars as pl

    return table.with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String))


class _Arms:
    """The arms of open decisions, to be put beside their rewards."""

    def __init__(self, source: Any, start: LogStart) -> None:
        self._source = source
        self._open: dict[int, str | None] = dict(start.open)
        self._made, self._seq = start.made, start.seq

    def beside(self, rows: list[tuple[Any, ...]]) -> list[str | None]:
        """The arms of events, as text."""
        found: list[str | None] = []
        for row in rows:
            seq, _, kind, decision, arm = row[:5]
            text = None if arm is None else str(arm)
            wrong = None
            if seq != self._seq + 1:
                wrong = f"follows event {self._seq}, so some are missing"
            elif kind in _DECIDE:
                self._made += 1
                self._open[decision] = text
                if decision != self._made:
                    wrong = f"is not decision {self._made}"
            elif kind in _CLOSE:
                text = self._open.pop(decision, None)
                if text is None:
                    wrong = f"closes decision {decision}, which is not open"
            if wrong is not None:
                raise _damage(self._source, Row._make(row), wrong)
            self._seq = seq
            found.append(text)
        return found


def _all_are(family: Family, rewards: Iterable[float | None]) -> bool:
    try:
        for reward in set(rewards) - {None}:
            family.check_reward(reward)
    except UnimodalError:
        return False
    return True


def _refuse(
    rows: Iterable[tuple[Any, ...]], fault_of: Callable[[Row], str | None], source: Any
) -> None:
    """Say which event is the first to have a fault, and which one."""
    for event in map(Row._make, rows):
        if (wrong := fault_of(event)) is not None:
            raise _damage(source, event, wrong)


def _some(events: Iterable[tuple[Any, ...]]) -> Iterator[list[tuple[Any, ...]]]:
    rest = iter(events)
    while rows := list(itertools.islice(rest, _CHUNK)):
        yield rows


def _damage(source: Any, event: Row, what: str) -> UnimodalError:
    return DamagedFile(
        f"event {event.seq} of {source} {what}: the file was changed by hand or is damaged; "
        "`unimodal verify` says more."
    )
