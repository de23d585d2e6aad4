"""A campaign as its readers see it: an agent, and the log of what it did."""

from __future__ import annotations

import json
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from unimodal.agents.agent import Agent
from unimodal.errors import UnimodalError
from unimodal.graphs import Graph
from unimodal.graphs.build import components, lay_out
from unimodal.policies.state import set_factors, set_prior

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


def known_graph(agent: Agent) -> Graph:
    """The graph an agent moves on; where it is looked up, the part around the leader that is known.

    An arm that was never looked up has only the edges by which it was met.

    >>> import unimodal as um
    >>> agent = um.Agent(um.ScoutUTS(), lambda x: (x - 1, x + 1), root=0, seed=1)
    >>> agent.tell(agent.ask(), 1.0)
    >>> arm = agent.ask()
    >>> known_graph(agent).arm_of(0)
    0
    """
    if agent.graph is not None:
        return agent.graph
    view: Any = agent._player.view
    centre = view.labels[0] if agent.leader is None else agent.leader
    numbers: dict[Any, int] = {centre: 0}
    pairs = set()
    for label, answer in view.answers.kept():
        for other in answer:
            one, two = (numbers.setdefault(x, len(numbers)) for x in (label, other))
            pairs.add((min(one, two), max(one, two)))
    if not pairs:
        raise UnimodalError(
            "nothing is known of the graph yet, since no arm was looked up: decide some arms first."
        )
    ends = np.array(sorted(pairs), dtype=np.int64)
    joined = components(len(numbers), ends[:, 0], ends[:, 1])
    inside = joined == joined[0]  # of what was forgotten, islands may remain: without the leader
    kept = np.cumsum(inside) - 1
    ends = kept[ends[inside[ends[:, 0]]]]
    labels = [label for label, arm in numbers.items() if inside[arm]]
    return lay_out(len(labels), ends[:, 0], ends[:, 1], {"kind": "edges"}, labels)


def known_records(agent: Agent, graph: Graph) -> Any:
    """What the agent knows of the arms of a graph, in their order; a prior of those not met."""
    if agent.graph is not None:
        return agent._player.state.arms
    arms = agent._player.state.arms
    records = np.zeros(graph.n_arms, dtype=arms.dtype)
    set_prior(records, agent.family, agent.policy.beliefs)
    set_factors(records, agent.family, graph.labels)
    view: Any = agent._player.view
    met = {label: arm for arm, label in enumerate(view.labels)}
    for arm, label in enumerate(graph.labels):
        if label in met:
            records[arm] = arms[met[label]]
    return records


def evidence_sums(agent: Agent, graph: Graph) -> tuple[Any, Any]:
    """The pulls and totals of the arms of a graph that count as evidence.

    Past data count only where the caller said that they are of the same kind (`certify=True`).
    """
    records = known_records(agent, graph)
    pulls, totals = records["pulls"].astype(np.float64), records["total"].copy()
    past = agent.past
    if past.pulls.any() and not past.certify:  # then the graph is held: the numbers are its own
        pulls -= past.pulls
        totals = np.where(pulls > 0, totals - past.totals, 0.0)
    return pulls, totals


def past_pulls(agent: Agent, graph: Graph) -> Any:
    """How many pulls of each arm of a graph are from past data, which need a graph that is held."""
    return np.zeros(graph.n_arms, np.int64) if is_partial(agent) else agent.past.pulls


def rounds_led(agent: Agent, graph: Graph) -> Any:
    """In how many rounds each arm of a graph led, without what past data count as.

    The first logs with past data did not count them as leads: there, arms led less often.
    """
    leads, past = known_records(agent, graph)["leads"], past_pulls(agent, graph)
    counted = agent.policy.data_leads and bool((leads >= past).all())
    return leads - past if counted else leads


def is_partial(agent: Agent) -> bool:
    """Whether there may be arms that the agent has not met."""
    return agent.graph is None


def as_text(label: Hashable) -> Any:
    """A label as a log's column holds it: text and numbers as they are, others as JSON."""
    if isinstance(label, int) and not -(2**63) <= label < 2**63:
        return str(label)  # more than a column holds
    if isinstance(label, bool):
        return int(label)
    known = label is None or isinstance(label, str | int | float)
    return label if known else json.dumps(label, default=str)


def shown(label: Hashable) -> str:
    """A label as a table of the log has it, where all are text."""
    return str(as_text(label))


def arms_by_text(graph: Graph) -> dict[str, int]:
    """The arm that a log means by a label's text."""
    labels = graph.labels
    found = {shown(label): arm for arm, label in enumerate(labels)}
    if len(found) < graph.n_arms:
        raise UnimodalError(
            "the labels of the arms must differ as text for a log to tell them apart: "
            "rename those that do not, such as 1 and '1'."
        )
    return found
