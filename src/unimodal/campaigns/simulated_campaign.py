"""A campaign in memory, played on a problem that is known: for examples and tests."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

from unimodal.agents.agent import Agent
from unimodal.campaigns.events import KINDS, Row
from unimodal.campaigns.reading import Reading
from unimodal.kernels.random import REWARDS, stream
from unimodal.policies import Policy
from unimodal.problems import Problem


def simulated_campaign(
    policy: Policy,
    problem: Problem,
    rounds: int,
    seed: int = 0,
    *,
    at_once: int = 1,
    root: Any = None,
) -> Reading:
    """Play a policy on a problem, `at_once` decisions before any of them is rewarded.

    With a `root` the agent has to look the graph up. Ten seconds pass between two events.

    >>> import unimodal as um
    >>> campaign = simulated_campaign(um.UTS(), um.problems.triangular(3), rounds=4)
    >>> campaign.history()["reason"].to_list()
    ['start', None, 'start', None, 'start', None, 'forced leader', None]
    """
    graph, rng = problem.graph, stream(seed, 0, REWARDS)

    def neighbours(label: Any) -> Any:
        return map(graph.label_of, graph.neighbors(graph.arm_of(label)))

    ticks, events = itertools.count(1_700_000_000, 10), list[Row]()
    source: Any = graph if root is None else neighbours
    agent = Agent(policy, source, problem.family, seed, root=root, clock=lambda: next(ticks))

    def record(kind: str, *what: Any) -> None:
        events.append(KINDS[kind].recorded(len(events) + 1, *what).row())

    agent.recorder = record
    for first in range(0, rounds, at_once):
        for decision in agent.decide(min(at_once, rounds - first)):
            mean = problem.means[graph.arm_of(decision.arm)]
            family = problem.family.of_arm(decision.arm)
            agent.reward(decision.id, family.sample(mean, rng))
    return Reading(Path("simulated campaign"), agent, events)
