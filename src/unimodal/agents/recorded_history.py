"""A campaign as its readers see it: an agent, and the history of what it did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from unimodal.agents.agent import Agent
from unimodal.agents.label_text import shown
from unimodal.errors import UnimodalError
from unimodal.graphs import Graph

if TYPE_CHECKING:
    import polars as pl

COLUMNS = (
    *("seq", "time", "kind", "decision", "arm"),
    *("reason", "leader", "near", "propensity", "reward"),
)


class Recorded(Protocol):
    """What `um.replay` and `um.inspect` need: a `um.Campaign` has it."""

    @property
    def agent(self) -> Agent:
        """The agent as it is now."""

    def history(self) -> pl.DataFrame:
        """One row per event, in order, with the `COLUMNS`; arms and leaders are labels as text."""


def history_of(campaign: Recorded) -> pl.DataFrame:
    """The log, or a sentence if it is not one; expiries that count as a reward of 0 have that.

    A campaign that has it gives its `compact_history`, with words as categories.
    """
    import polars as pl

    frame = getattr(campaign, "compact_history", campaign.history)()
    missing = [name for name in COLUMNS if name not in frame.columns]
    if missing:
        raise UnimodalError(
            f"the history of a campaign must have the columns {', '.join(COLUMNS)}; "
            f"{', '.join(missing)} is missing."
        )
    if campaign.agent.book.on_expiry == "zero":  # the agent learnt them, so its readers count them
        zero = pl.when(pl.col("kind") == "expire").then(0.0).otherwise(pl.col("reward"))
        frame = frame.with_columns(reward=zero)
    return frame


def events_before(history: pl.DataFrame) -> int:
    """How many events of a log are in an archive and not in a history; 0 where it is whole."""
    return 0 if history.is_empty() else max(int(history["seq"][0]) - 1, 0)


def in_money(history: pl.DataFrame, agent: Agent, graph: Graph) -> pl.DataFrame:
    """The log with what its rewards were worth in place of what was told; retired arms, too."""
    import polars as pl

    family = agent.family
    if family.told is family:
        return history
    labels = {shown(label): label for label in (*family.labels, *graph.labels)}
    arms = history["arm"].cast(pl.String)
    texts = arms.unique().drop_nulls().to_list()
    factors = np.atleast_1d(family.factors([labels.get(text, text) for text in texts]))
    known = pl.Series(texts, dtype=pl.String), pl.Series(factors, dtype=pl.Float64)
    factor = arms.replace_strict(*known, default=None, return_dtype=pl.Float64)
    return history.with_columns(reward=pl.col("reward") * factor)
