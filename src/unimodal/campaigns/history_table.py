"""The log as a table: checked, with the arm beside each reward, and in little memory.

Words that come again and again (kinds, reasons, labels) are kept once, whole numbers in four bytes
where they fit, and columns in which there is nothing take nothing: 10⁶ events take 43 MB as a
`compact` table.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from unimodal.campaigns.events import KINDS, Row
from unimodal.campaigns.log_facts import LogFacts
from unimodal.policies.state import REASONS

if TYPE_CHECKING:
    import polars as pl

_CHUNK = 5_000  # events that are plain Python objects at the same time
_MOST = 2**32 - 1
_TEXTS = ("kind", "arm", "reason", "leader", "data")
_NUMBERS, _OFTEN_EMPTY = ("seq", "decision", "near"), ("propensity", "data")


def compact(events: Iterable[tuple[Any, ...]], facts: LogFacts) -> pl.DataFrame:
    """Events as a table; labels become text, since a column has one type.

    The log has the arm with the decision only; here it stands beside the reward, too. `facts` takes
    the events: it checks them, and knows the arms.
    """
    import polars as pl

    parts = [_frame([], [])]
    parts += [_frame(rows, facts.take(rows)) for rows in _some(events)]
    return pl.concat(parts, how="vertical_relaxed")


def plain(table: pl.DataFrame) -> pl.DataFrame:
    """A compact table with text as text, and numbers as wide as in any other."""
    import polars as pl

    return table.with_columns(
        pl.col(_TEXTS).cast(pl.String),
        pl.col(_NUMBERS).cast(pl.Int64),
        pl.col("propensity").cast(pl.Float64),
    )


def _frame(rows: Sequence[tuple[Any, ...]], arms: list[str | None]) -> pl.DataFrame:
    """Some events as narrow columns."""
    import polars as pl

    word, kind, reason = pl.Categorical, pl.Enum(list(KINDS)), pl.Enum(REASONS)
    schema: dict[str, Any] = {
        **{"seq": pl.UInt32, "time": pl.Float64, "kind": kind, "decision": pl.UInt32},
        **{"arm": word, "reason": reason, "leader": word, "near": pl.UInt32},
        **{"propensity": pl.Float64, "reward": pl.Float64, "data": word},
    }
    columns: dict[str, Any] = dict.fromkeys(schema, ())
    if rows:
        columns = dict(zip(Row._fields, zip(*rows, strict=True), strict=True))
        leaders = columns["leader"]
        columns |= {"arm": arms, "leader": [None if one is None else str(one) for one in leaders]}
    for name in _NUMBERS:
        if not all(number is None or 0 <= number <= _MOST for number in columns[name]):
            schema[name] = pl.Int64
    for name in _OFTEN_EMPTY:
        if all(value is None for value in columns[name]):
            schema[name] = pl.Null
    return pl.DataFrame(columns, schema=schema)


def _some(events: Iterable[tuple[Any, ...]]) -> Iterator[list[tuple[Any, ...]]]:
    rest = iter(events)
    while rows := list(itertools.islice(rest, _CHUNK)):
        yield rows
