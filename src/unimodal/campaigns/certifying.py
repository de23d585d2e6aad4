"""The certificate of a campaign, from its log: rewards in the order of their decisions."""

from __future__ import annotations

from typing import Any

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
)
from unimodal.agents.known_arms import evidence_sums, is_partial
from unimodal.agents.label_text import arms_by_text, shown
from unimodal.agents.recorded_history import Recorded
from unimodal.campaigns.log_facts import LogFacts
from unimodal.campaigns.reading import with_facts
from unimodal.graphs import Graph
from unimodal.inference.certificate import Certificate, Counted, certify
from unimodal.inference.peak_test import Numbering


def certificate(campaign: Recorded, confidence: Any = 0.95, tolerance: Any = None) -> Certificate:
    """Which arm of a campaign is the peak, with which confidence; or what cannot be told yet."""
    return with_facts(
        campaign, lambda agent, facts: certificate_of(agent, facts, confidence, tolerance)
    )


def certificate_of(
    agent: Agent, facts: LogFacts, confidence: Any = 0.95, tolerance: Any = None
) -> Certificate:
    """The same, from an agent and its log."""
    check_policy(agent.policy)
    graph = played_graph(agent)
    arm_of = arms_by_text(graph)
    pulls, totals = facts.counted_sums(arm_of)
    if agent.past.certify:
        pulls, totals = pulls + agent.past.pulls, totals + agent.past.totals
    recent = facts.late_pulls(arm_of)
    paused = list(agent.limits.paused)
    pulls[paused] = totals[paused] = recent[paused] = 0.0
    stays = not is_partial(agent) and not facts.graph_changed
    numbering = Numbering(graph.n_arms) if stays else _by_first_pull(agent, facts, arm_of)
    counted = Counted(
        graph.labels,
        known_neighbours(agent, graph),
        agent.family.of_arms(graph.labels),
        pulls,
        totals,
        numbering,
        recent,
        facts.waiting,
        (*assumptions(agent, facts.dropped > 0), *_since(facts)),
        obstacle_of(agent, facts),
        past_left_out(agent),
    )
    return certify(counted, confidence, tolerance, believed(agent, graph))


def obstacle_of(agent: Agent, facts: LogFacts) -> str | None:
    """Why nothing can be told of a campaign at a confidence; None where it can."""
    return obstacle(agent, facts.kinds["expire"] > 0)


def _since(facts: LogFacts) -> tuple[str, ...]:
    """A sentence for a log whose first events are in an archive: the test then begins later."""
    if not facts.start.seq > 0:
        return ()
    return (
        f"Only rewards after event {facts.start.seq:,} are counted, as if the campaign had begun "
        "there: the events before are in an archive.",
    )


def counted_sums(
    agent: Agent, facts: LogFacts, graph: Graph
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Pulls and totals by arm of the rewards that count, in the order of their decisions.

    Where the log begins after an archive, all that came before counts as well, unless one of those
    decisions is still open. Agent and log must be of one moment, or only the log's rewards count.
    """
    arm_of = arms_by_text(graph)
    pulls, totals = facts.counted_sums(arm_of)
    if not facts.start.seq > 0:
        past = agent.past
        return (pulls + past.pulls, totals + past.totals) if past.certify else (pulls, totals)
    pulls_waiting, totals_waiting = facts.waiting_sums(arm_of)
    all_pulls, all_totals = evidence_sums(agent, graph)
    earlier = all_pulls - pulls - pulls_waiting
    if (earlier < 0).any() or facts.is_open_before:
        return pulls, totals
    before = np.where(earlier > 0, all_totals - totals - totals_waiting, 0.0)
    return pulls + earlier, totals + before


def _by_first_pull(agent: Agent, facts: LogFacts, arm_of: dict[str, int]) -> Numbering:
    """Numbers of arms by their first pull, of all arms in the log."""
    past = np.flatnonzero(agent.past.pulls)
    counted = [shown(agent.label_of(int(arm))) for arm in past if agent.past.certify]
    numbers = np.zeros(len(arm_of), dtype=np.int64)
    names = dict.fromkeys([*counted, *facts.first_pulls])
    for number, name in enumerate(names, 1):
        if name in arm_of:
            numbers[arm_of[name]] = number
    return Numbering(len(arm_of), numbers, len(names))
