"""A log of any length in a few parts, each with the same number of events.

Parts go by the order of events and not by the clock, which may stand still or go back.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import polars as pl

_TOGETHER = 100_000  # events


def parts(history: pl.DataFrame, bins: int) -> pl.DataFrame:
    """One row per part, in order.

    `began` is the time of its first event, `until` the decisions made by its end, `spread` the
    standard deviation of its rewards; `leader` led most of its rounds, `share` of those with one.
    """
    import polars as pl

    leaders = (
        led_by(history, bins)
        .sort("part", "rounds", "leader", descending=[False, True, False])
        .group_by("part", maintain_order=True)
        .agg(pl.col("leader").first(), share=pl.col("rounds").first() / pl.col("rounds").sum())
    )
    found = pl.concat(
        piece.group_by("part", maintain_order=True).agg(
            began=pl.col("time").first(),
            decisions=(pl.col("kind") == "decide").sum().cast(pl.Int64),
            rewards=pl.col("reward").count().cast(pl.Int64),
            mean=pl.col("reward").mean(),
            spread=pl.col("reward").std(),
        )
        for piece in _pieces(history, bins, "time", "kind", "reward")
    )
    return found.with_columns(until=pl.col("decisions").cum_sum()).join(
        leaders, on="part", how="left", maintain_order="left"
    )


def led_by(history: pl.DataFrame, bins: int) -> pl.DataFrame:
    """How many rounds each arm led, part by part."""
    import polars as pl

    return pl.concat(
        piece.filter(pl.col("leader").is_not_null())
        .group_by("part", "leader", maintain_order=True)
        .agg(rounds=pl.len().cast(pl.Int64))
        .with_columns(pl.col("leader").cast(pl.String))
        for piece in _pieces(history, bins, "leader")
    )


def shares(history: pl.DataFrame, bins: int, most: int = 10) -> tuple[list[str], Any]:
    """Who led when: names, in the order in which they first led, and a row of shares for each.

    Beyond the `most` arms that led the most rounds, all others make up a last row.
    """
    led = led_by(history, bins)
    rounds: dict[str, int] = {}
    for leader, count in led.select("leader", "rounds").iter_rows():
        rounds[leader] = rounds.get(leader, 0) + count
    top = set(sorted(rounds, key=lambda name: -rounds[name])[:most])
    names = [name for name in rounds if name in top]
    others = len(rounds) - len(names)
    rows = {name: row for row, name in enumerate(names)}
    found = np.zeros((len(names) + (others > 0), max(min(bins, history.height), 1)))
    for part, leader, count in led.select("part", "leader", "rounds").iter_rows():
        found[rows.get(leader, len(names)), part] += count
    total = found.sum(axis=0)
    np.divide(found, total, out=found, where=total > 0)
    return [*names, f"{others:,} others"] if others else names, found


def path(history: pl.DataFrame) -> tuple[int, list[str]]:
    """How often the lead changed, and the arms that held it in order.

    A stay of less than a hundredth of the rounds counts as passing by, and is left out.
    """
    import polars as pl

    leaders = history["leader"].drop_nulls()
    if leaders.is_empty():
        return 0, []
    stays = leaders.rle().struct.unnest()
    long = stays.filter(pl.col("len") >= 0.01 * len(leaders))["value"]
    return stays.height - 1, long.rle().struct.field("value").to_list()


def _pieces(history: pl.DataFrame, bins: int, *columns: str) -> Iterator[pl.DataFrame]:
    """Some columns of the history, and the part that each event belongs to: a few parts at a time.

    Grouping takes several times the memory of what is grouped.
    """
    import polars as pl

    if not history["seq"].is_sorted():
        history = history.select("seq", *columns).sort("seq", maintain_order=True)
    height = max(history.height, 1)
    count = max(min(bins, history.height), 1)
    first = [-(-part * height // count) for part in range(count + 1)]  # event of each part
    together = max(_TOGETHER * count // height, 1)
    for part in range(0, count, together):
        begin, end = first[part], min(first[min(part + together, count)], history.height)
        number = pl.int_range(begin, end, dtype=pl.Int64) * count // height
        yield history.slice(begin, end - begin).select(*columns, part=number)
