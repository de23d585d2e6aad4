"""The certificate of a campaign, from its log: rewards in the order of their decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unimodal.agents.certifying import believed, check_policy, known_neighbours, sums_by_arm
from unimodal.agents.history import Recorded, arms_by_text, history_of, known_graph, known_records
from unimodal.inference.certificate import DROPPED, Certificate, Counted, certify
from unimodal.inference.peak_test import Numbering

if TYPE_CHECKING:
    import polars as pl


def certificate(campaign: Recorded, confidence: Any = 0.95, tolerance: Any = None) -> Certificate:
    """Which arm of a campaign is the peak, with which confidence; or what cannot be told yet."""
    import polars as pl

    agent = campaign.agent  # before the log, which then has all that the agent has seen
    check_policy(agent.policy)
    history, graph = history_of(campaign), known_graph(agent)
    told = _in_order(history)
    dropped = told["reward"].is_null().any()
    told = told.drop_nulls("reward")
    arm_of = arms_by_text(graph)
    arms = _numbered(told["arm"], arm_of)
    changes = history["kind"].cast(pl.String).is_in(["revision"]).any()
    counted = Counted(
        graph.labels,
        known_neighbours(agent, graph),
        agent.family.of_arms(graph.labels),
        sums_by_arm(arms, np.ones(len(arms)), graph.n_arms),
        sums_by_arm(arms, told["reward"].to_numpy(), graph.n_arms),
        Numbering(graph.n_arms, _first(history, arm_of) if changes or agent.oracle else None),
        sums_by_arm(arms[len(arms) // 2 :], np.ones(len(arms) - len(arms) // 2), graph.n_arms),
        int(history["reward"].is_not_null().sum()) - len(told),
        (DROPPED,) if dropped else (),
    )
    records = known_records(agent, graph)
    return certify(counted, confidence, tolerance, believed(agent, records))


def _in_order(history: pl.DataFrame) -> pl.DataFrame:
    """Arm and reward of the decisions before the oldest open one, in their order; null: dropped."""
    import polars as pl

    closed = history.filter(pl.col("kind").is_in(["reward", "expire"])).sort("decision")
    # Decisions are numbered 1, 2, 3, …: the first gap is the oldest open one.
    place = pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    return closed.filter(pl.col("decision") == place).select("arm", "reward")


def _numbered(labels: pl.Series, arm_of: dict[str, int]) -> NDArray[np.int64]:
    """Labels of the log as arms; -1 where the graph has them no longer."""
    import polars as pl

    words = labels.cast(pl.String)
    names = words.unique().to_list()
    arms = pl.Series([arm_of.get(name, -1) for name in names], dtype=pl.Int64)
    return words.replace_strict(names, arms, return_dtype=pl.Int64).to_numpy()


def _first(history: pl.DataFrame, arm_of: dict[str, int]) -> NDArray[np.int64]:
    """The number of each arm by its first decision, of all arms in the log; 0 without one."""
    import polars as pl

    decided = history.filter(pl.col("kind") == "decide")["arm"].cast(pl.String)
    numbers = np.zeros(len(arm_of), dtype=np.int64)
    for number, name in enumerate(decided.unique(maintain_order=True).to_list(), 1):
        if name in arm_of:
            numbers[arm_of[name]] = number
    return numbers
