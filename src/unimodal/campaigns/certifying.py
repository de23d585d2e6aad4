"""The certificate of a campaign, from its log: rewards in the order of their decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unimodal.agents.agent import Agent
from unimodal.agents.certifying import (
    assumptions,
    believed,
    check_policy,
    known_neighbours,
    past_left_out,
    played_graph,
    sums_by_arm,
)
from unimodal.agents.history import (
    Recorded,
    arms_by_text,
    events_before,
    history_of,
    is_partial,
    shown,
)
from unimodal.campaigns.event_checks import parsed
from unimodal.inference.certificate import Certificate, Counted, certify
from unimodal.inference.peak_test import Numbering

if TYPE_CHECKING:
    import polars as pl


def certificate(campaign: Recorded, confidence: Any = 0.95, tolerance: Any = None) -> Certificate:
    """Which arm of a campaign is the peak, with which confidence; or what cannot be told yet."""
    agent = campaign.agent  # before the log, which then has all that the agent has seen
    check_policy(agent.policy)
    return certificate_of(agent, history_of(campaign), confidence, tolerance)


def certificate_of(
    agent: Agent, history: pl.DataFrame, confidence: Any = 0.95, tolerance: Any = None
) -> Certificate:
    """The same, from an agent and its log."""
    graph = played_graph(agent)
    told = _in_order(history)
    dropped = told["reward"].is_null().any()
    told = told.drop_nulls("reward") if dropped else told
    arm_of = arms_by_text(graph)
    arms = _numbered(told["arm"], arm_of)
    pulls = sums_by_arm(arms, np.ones(len(arms)), graph.n_arms)
    totals = sums_by_arm(arms, told["reward"].to_numpy(), graph.n_arms)
    if agent.past.certify:
        pulls, totals = pulls + agent.past.pulls, totals + agent.past.totals
    late = arms[len(arms) // 2 :]
    recent = sums_by_arm(late, np.ones(len(late)), graph.n_arms)
    paused = list(agent._player.limits.paused)
    pulls[paused] = totals[paused] = recent[paused] = 0.0
    stays = not is_partial(agent) and not _graph_changed(history)
    numbering = Numbering(graph.n_arms) if stays else _by_first_pull(agent, history, arm_of)
    counted = Counted(
        graph.labels,
        known_neighbours(agent, graph),
        agent.family.of_arms(graph.labels),
        pulls,
        totals,
        numbering,
        recent,
        int(history["reward"].is_not_null().sum()) - len(told),
        (*assumptions(agent, bool(dropped)), *_since(history)),
        past_left_out(agent),
    )
    return certify(counted, confidence, tolerance, believed(agent, graph))


def _since(history: pl.DataFrame) -> tuple[str, ...]:
    """A sentence for a log whose first events are in an archive: the test then begins later."""
    before = events_before(history)
    if not before:
        return ()
    return (
        f"Only rewards after event {before:,} are counted, as if the campaign had begun there: the "
        "events before are in an archive.",
    )


def _in_order(history: pl.DataFrame) -> pl.DataFrame:
    """Arm and reward of the decisions before the oldest open one, in their order; null: dropped.

    Rewards that were told without a decision stand where they were told.
    """
    import polars as pl

    def of(kinds: list[str], *columns: str) -> pl.DataFrame:
        # Lazily, so that only these columns are copied: a log may have a million events.
        return history.lazy().filter(pl.col("kind").is_in(kinds)).select(columns).collect()

    made = of(["decide"], "seq", "decision")
    closed = of(["reward", "expire"], "decision", "arm", "reward")
    # Ids of decisions grow with the log, so each is found by bisection: a join takes more memory.
    # Decisions before the history are in an archive; their rewards do not count.
    ids, closed_ids = made["decision"].to_numpy(), closed["decision"].to_numpy()
    found = np.searchsorted(ids, closed_ids)
    known = np.flatnonzero(np.searchsorted(ids, closed_ids, side="right") > found)
    place = np.full(made.height, closed.height, dtype=np.uint32)
    place[found[known]] = known
    at = pl.Series(place).set(pl.Series(place == closed.height), None)
    del found, known, place
    rows = made.select("seq", arm=closed["arm"].gather(at), reward=closed["reward"].gather(at))
    del made, closed, at
    before = rows.filter(pl.col("arm").is_null())["seq"].min()  # the oldest open decision
    told = of(["tell"], "seq", "arm", "reward")
    ordered = pl.concat([rows, told]).sort("seq") if told.height else rows
    return ordered.filter(pl.col("seq") < before) if before is not None else ordered


def _numbered(labels: pl.Series, arm_of: dict[str, int]) -> NDArray[np.int64]:
    """Labels of the log as arms; -1 where the graph has them no longer."""
    import polars as pl

    words = labels.cast(pl.Categorical)
    each = words.unique().drop_nulls()
    names, codes = each.cast(pl.String).to_list(), each.to_physical().to_numpy()
    arms = np.full(int(codes.max(initial=0)) + 1, -1, dtype=np.int64)
    arms[codes] = [arm_of.get(name, -1) for name in names]
    found: NDArray[np.int64] = arms[words.to_physical().to_numpy()]
    return found


def _graph_changed(history: pl.DataFrame) -> bool:
    """Whether arms have had other neighbours than now: after a revision, a pause or a resumption.

    A cap is a limit that leaves the graph as it is; a history without `data` does not tell.
    """
    import polars as pl

    kind = history["kind"].cast(pl.String)
    limits = history.filter(kind == "limit")
    texts = limits["data"].cast(pl.String) if "data" in history.columns else ["{}"] * len(limits)
    return bool((kind == "revision").any()) or any("cap" not in parsed(text) for text in texts)


def _by_first_pull(agent: Agent, history: pl.DataFrame, arm_of: dict[str, int]) -> Numbering:
    """Numbers of arms by their first pull, of all arms in the log."""
    import polars as pl

    label_of, past = agent._player.view.label_of, np.flatnonzero(agent.past.pulls)
    counted = [shown(label_of(int(arm))) for arm in past if agent.past.certify]

    pulled = pl.col("kind").cast(pl.String).is_in(["decide", "tell"])
    decided = history.filter(pulled)["arm"].cast(pl.String)
    numbers = np.zeros(len(arm_of), dtype=np.int64)
    names = dict.fromkeys([*counted, *decided.unique(maintain_order=True)])
    for number, name in enumerate(names, 1):
        if name in arm_of:
            numbers[arm_of[name]] = number
    return Numbering(len(arm_of), numbers, len(names))
