"""A campaign in memory, played by an agent on a problem that is known: for examples and tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unimodal.agent.online import Agent
from unimodal.agent.recorded import COLUMNS
from unimodal.kernels.random import REWARDS, stream
from unimodal.policies import Policy
from unimodal.problems import Problem

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class Rehearsal:
    """An agent and the log of what it did, with the interface of `recorded.Recorded`."""

    agent: Agent
    events: list[tuple[Any, ...]]

    def history(self) -> pl.DataFrame:
        """A row a decision or reward, in order."""
        import polars as pl

        return pl.DataFrame(
            self.events, schema=dict(zip(COLUMNS, _TYPES, strict=True)), orient="row"
        )


_TYPES: Any = (int, float, str, int, str, str, str, int, float, float)


def rehearse(
    policy: Policy,
    problem: Problem,
    rounds: int,
    seed: int = 0,
    *,
    at_once: int = 1,
    began: float = 1.7e9,
    root: Any = None,
) -> Rehearsal:
    """Play a policy on a problem, `at_once` decisions before any of them is rewarded.

    With a `root` the agent has to look the graph up. There is an event every ten seconds.

    >>> import unimodal as um
    >>> campaign = rehearse(um.UTS(), um.problems.triangular(3), rounds=4)
    >>> campaign.history()["reason"].to_list()
    ['start', None, 'start', None, 'start', None, 'forced leader', None]
    """
    graph, rng = problem.graph, stream(seed, 0, REWARDS)
    source: Any = graph
    if root is not None:
        source = lambda label: map(graph.label_of, graph.neighbours(graph.arm_of(label)))  # noqa: E731
    agent = Agent(policy, source, problem.rewards, seed, root=root)
    events: list[tuple[Any, ...]] = []

    def note(kind: str, decision: int, arm: Any, *more: Any) -> None:
        number = len(events)
        events.append((number, began + 10.0 * number, kind, decision, str(arm), *more))

    for first in range(0, rounds, at_once):
        asked = []
        for decision in range(first, min(first + at_once, rounds)):
            arm = agent.ask()
            asked.append((decision, arm))
            leader, arena = agent.leader, agent._territory.arena
            row = agent._territory.arm_of(leader) if leader is not None else 0
            near = int(arena.last[row] - arena.first[row])
            shown = None if leader is None else str(leader)
            note("decide", decision, arm, agent.reason, shown, near, None, None)
        for decision, arm in asked:
            reward = problem.rewards.sample(problem.means[graph.arm_of(arm)], rng)
            agent.tell(arm, reward)
            note("reward", decision, arm, None, None, None, None, reward)
    return Rehearsal(agent, events)
