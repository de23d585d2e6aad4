"""A campaign as its readers see it: an agent, and the log of what it did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from unimodal.agent.online import Agent
from unimodal.errors import UnimodalError
from unimodal.graphs import Graph
from unimodal.graphs.build import lay_out

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
        """A row an event, in order, with the `COLUMNS`; arms and leaders are labels as text."""


def history_of(campaign: Recorded) -> pl.DataFrame:
    """The log, or a sentence if it is not one."""
    frame = campaign.history()
    missing = [name for name in COLUMNS if name not in frame.columns]
    if missing:
        raise UnimodalError(
            f"the history of a campaign must have the columns {', '.join(COLUMNS)}; "
            f"{', '.join(missing)} is missing."
        )
    return frame


def known_graph(agent: Agent) -> Graph:
    """The graph an agent moves on; where it is looked up, the part that is known so far.

    An arm that was met but never looked up has only the edges by which it was met.

    >>> import unimodal as um
    >>> agent = um.Agent(um.ScoutUTS(), lambda x: (x - 1, x + 1), root=0, seed=1)
    >>> agent.tell(agent.ask(), 1.0)
    >>> arm = agent.ask()
    >>> known_graph(agent).arm_of(0)
    0
    """
    territory: Any = agent._territory
    if hasattr(territory, "graph"):
        graph: Graph = territory.graph
        return graph
    rows = territory.known_rows()
    pairs = {(min(arm, other), max(arm, other)) for arm, row in rows.items() for other in row[1:]}
    if not pairs:
        raise UnimodalError(
            "nothing is known of the graph yet, since no arm was looked up: decide some arms first."
        )
    ends = np.array(sorted(pairs), dtype=np.int64)
    labels = [territory.label_of(arm) for arm in range(territory.n_arms)]
    return lay_out(len(labels), ends[:, 0], ends[:, 1], {"kind": "edges"}, labels)


def is_partial(agent: Agent) -> bool:
    """Whether there may be arms that the agent has not met."""
    return not hasattr(agent._territory, "graph")


def arms_by_text(graph: Graph) -> dict[str, int]:
    """The arm that a log means by a label's text."""
    labels = graph.labels if graph.labels is not None else range(graph.n_arms)
    found = {str(label): arm for arm, label in enumerate(labels)}
    if len(found) < graph.n_arms:
        raise UnimodalError(
            "the labels of the arms must differ as text for a log to tell them apart: "
            "rename those that do not, such as 1 and '1'."
        )
    return found
