"""The certificate of a campaign, from its log: rewards in the order of their decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unimodal.agents.agent import Agent
from unimodal.agents.certifying import (
    assumptions,
    believed,
    check_policy,
    known_neighbours,
    obstacle,
    past_left_out,
    played_graph,
    sums_by_arm,
)
from unimodal.agents.known_arms import evidence_sums, is_partial
from unimodal.agents.label_text import arms_by_text, shown
from unimodal.agents.recorded_history import Recorded, events_before, history_of
from unimodal.campaigns.events.json_text import parsed
from unimodal.graphs import Graph
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
    told = in_order(history)
    dropped = told.counted["reward"].is_null().any()
    arm_of = arms_by_text(graph)
    arms, pulls, totals = _summed(told.counted, arm_of)
    if agent.past.certify:
        pulls, totals = pulls + agent.past.pulls, totals + agent.past.totals
    late = arms[len(arms) // 2 :]
    recent = sums_by_arm(late, np.ones(len(late)), graph.n_arms)
    paused = list(agent.limits.paused)
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
        told.behind.height,
        (*assumptions(agent, bool(dropped)), *_since(history)),
        obstacle_of(agent, history),
        past_left_out(agent),
    )
    return certify(counted, confidence, tolerance, believed(agent, graph))


def obstacle_of(agent: Agent, history: pl.DataFrame) -> str | None:
    """Why nothing can be told of a campaign at a confidence; None where it can."""
    return obstacle(agent, bool((history["kind"] == "expire").any()))


def _since(history: pl.DataFrame) -> tuple[str, ...]:
    """A sentence for a log whose first events are in an archive: the test then begins later."""
    before = events_before(history)
    if not before:
        return ()
    return (
        f"Only rewards after event {before:,} are counted, as if the campaign had begun there: the "
        "events before are in an archive.",
    )


_ROWS = 50_000  # of a history that are looked at together


class InOrder(NamedTuple):
    """Rewards of a log in the order of their decisions, as `seq`, `arm` and `reward`.

    Rewards that were told without a decision stand where they were told.
    """

    counted: pl.DataFrame  # before the oldest open decision; null: dropped
    behind: pl.DataFrame  # rewards after it, which do not count yet


def in_order(history: pl.DataFrame) -> InOrder:
    """The rewards of the log's decisions: of those in an archive no reward is among them."""
    import polars as pl

    kind = pl.col("kind")
    made = history.lazy().filter(kind == "decide").select("seq", "decision").collect()
    at = _closed_at(history, made["decision"].to_numpy())
    rows = made.select("seq", arm=history["arm"].gather(at), reward=history["reward"].gather(at))
    before = rows.filter(pl.col("arm").is_null())["seq"].min()  # the oldest open decision
    told = history.lazy().filter(kind == "tell").select("seq", "arm", "reward").collect()
    ordered = pl.concat([rows, told]).sort("seq") if told.height else rows
    if before is None:
        return InOrder(ordered, ordered.clear())
    behind = ordered.filter(pl.col("seq") > before).drop_nulls("reward")
    return InOrder(ordered.filter(pl.col("seq") < before), behind)


def _closed_at(history: pl.DataFrame, ids: NDArray[np.int64]) -> pl.Series:
    """The row in which each of these decisions got a reward or expired; null where none did.

    Ids of decisions grow with the log, so each is found by bisection, some rows at a time: a join
    takes more memory, and a log may have a million events. Decisions before the history are in an
    archive; their rewards do not count.
    """
    import polars as pl

    rows = np.full(len(ids), history.height, dtype=np.uint32)
    begin = 0
    for part in history.select("kind", "decision").iter_slices(_ROWS):
        closed = part["kind"].is_in(["reward", "expire"])
        number = part["decision"].filter(closed).to_numpy()
        place = np.minimum(np.searchsorted(ids, number), max(len(ids) - 1, 0))
        known = np.flatnonzero(ids[place] == number) if len(ids) else np.empty(0, np.int64)
        rows[place[known]] = begin + np.flatnonzero(closed.to_numpy())[known]
        begin += part.height
    return pl.Series(rows).set(pl.Series(rows == history.height), None)


def counted_sums(
    agent: Agent, history: pl.DataFrame, graph: Graph
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Pulls and totals by arm of the rewards that count, in the order of their decisions.

    Where the log begins after an archive, all that came before counts as well, unless one of those
    decisions is still open. Agent and log must be of one moment, or only the log's rewards count.
    """
    told, arm_of = in_order(history), arms_by_text(graph)
    _, pulls, totals = _summed(told.counted, arm_of)
    if not events_before(history):
        past = agent.past
        return (pulls + past.pulls, totals + past.totals) if past.certify else (pulls, totals)
    _, pulls_behind, totals_behind = _summed(told.behind, arm_of)
    all_pulls, all_totals = evidence_sums(agent, graph)
    earlier = all_pulls - pulls - pulls_behind
    if (earlier < 0).any() or not _is_closed_before(agent, history):
        return pulls, totals
    before = np.where(earlier > 0, all_totals - totals - totals_behind, 0.0)
    return pulls + earlier, totals + before


def _is_closed_before(agent: Agent, history: pl.DataFrame) -> bool:
    """Whether all decisions before a log that begins after an archive are closed."""
    import polars as pl

    made = history.lazy().filter(pl.col("kind") == "decide").select("decision").collect()
    first = agent.book.made + 1 if made.is_empty() else int(made["decision"][0])
    return all(number >= first for number in tuple(agent.book.open))


def _summed(
    told: pl.DataFrame, arm_of: dict[str, int]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """The arms of rewards, one by one; and their number and sum by arm."""
    told = told.drop_nulls("reward")
    arms, n_arms = _numbered(told["arm"], arm_of), len(arm_of)
    pulls = sums_by_arm(arms, np.ones(len(arms)), n_arms)
    return arms, pulls, sums_by_arm(arms, told["reward"].to_numpy(), n_arms)


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

    past = np.flatnonzero(agent.past.pulls)
    counted = [shown(agent.label_of(int(arm))) for arm in past if agent.past.certify]

    pulled = pl.col("kind").cast(pl.String).is_in(["decide", "tell"])
    decided = history.filter(pulled)["arm"].cast(pl.String)
    numbers = np.zeros(len(arm_of), dtype=np.int64)
    names = dict.fromkeys([*counted, *decided.unique(maintain_order=True)])
    for number, name in enumerate(names, 1):
        if name in arm_of:
            numbers[arm_of[name]] = number
    return Numbering(len(arm_of), numbers, len(names))
