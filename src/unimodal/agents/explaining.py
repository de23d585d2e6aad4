"""Why a round fell on its arm: the contests that were held, who won, and in which words."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from unimodal.agents.arm_intervals import means_and_intervals
from unimodal.agents.explanation import Competitor, as_shown
from unimodal.policies.contest_values import Contest, noting, value_name
from unimodal.policies.state import BEGUN

if TYPE_CHECKING:
    from unimodal.agents.agent import Agent

# What the winner of a contest did, by whether the highest wins; None where one is drawn.
_WON_BY = {True: "had the highest of", False: "had the lowest of", None: "was drawn from"}


class NotedRound(NamedTuple):
    """A round that was played with a note of every contest; arms are numbers."""

    arm: int
    reason: str  # as in `Decision.reason`
    leader: int  # -1: nobody led
    near: int  # how many arms competed
    contests: list[Contest]
    value_name: str  # what the values of the last contest are; empty where there are none
    highest_wins: bool | None  # None where one is drawn

    def leader_of(self, agent: Agent) -> Hashable:
        """The label of the leader; None if nobody led."""
        return agent.label_of(self.leader) if self.leader >= 0 else None


def play_with_contests(agent: Agent) -> NotedRound:
    """Play the next round of an agent, with a note of every contest.

    It plays by uncompiled code from then on: the agent is of no use for anything else afterwards.
    """
    player, contests = agent._player, list[Contest]()
    player.choose = noting(contests)
    played = player.play()
    has_values = bool(contests and contests[-1].values)
    name, highest = value_name(player.index) if has_values else ("", True)
    return NotedRound(*played, contests, name, highest)


def competitors(agent: Agent, played: NotedRound) -> Iterator[Competitor]:
    """The arms that could have been chosen in a round, as they were known then."""
    player, rivals = agent._player, _rivals(agent, played)
    records = player.state.arms[rivals]
    means, low, high = means_and_intervals(agent.family, records)
    values = played.contests[-1].values if played.contests else None
    for place, one in enumerate(rivals):
        yield Competitor(
            arm=agent.label_of(one),
            pulls=records["pulls"][place].item(),
            mean=_known(means[place]),
            low=_known(low[place]),
            high=_known(high[place]),
            value=None if values is None else values[place],
            is_leader=one == played.leader,
            is_chosen=one == played.arm,
        )


def _rivals(agent: Agent, played: NotedRound) -> list[int]:
    """Those of the last contest; without one the arms around the leader, and the one chosen."""
    if played.contests:
        return played.contests[-1].near
    if played.leader < 0:
        return [played.arm]
    arena: Any = agent._player.view.arena
    near: list[int] = arena.near[arena.first[played.leader] : arena.last[played.leader]].tolist()
    return near + ([played.arm] if played.arm not in near else [])  # a leader may look around


def because(agent: Agent, played: NotedRound) -> str:
    """Who won a round, and why, in words."""
    state, arm, leader = agent._player.state, played.arm, played.leader
    if played.reason == "start":
        return (
            "The start pulls some arms before anybody leads; this was number "
            f"{int(state.notes[BEGUN]):,} of {len(state.begin):,}."
        )
    leads = f"{agent.label_of(leader)!r} led" if leader >= 0 else "Nobody leads with this policy"
    if played.reason == "forced leader":
        before = int(state.arms["leads"][leader]) - 1
        counted = agent.policy.data_leads and agent._player.past_sums
        past = ", past rewards included" if counted else ""
        return (
            f"{leads} and was pulled without a contest, as in some of the rounds that it leads; it "
            f"had led {before:,} before{past}."
        )
    if not played.contests:
        return _because_of_a_look(agent, played, leads)
    won, winner = _won(played), played.contests[-1].winner
    if played.reason == "cap":
        return f"{leads}. {agent.label_of(winner)!r} won the contest: {won}. {_but_capped(agent)}"
    if arm == leader:
        return f"{leads} and won the contest: {won}."
    return f"{leads}. {agent.label_of(arm)!r} won the contest: {won}."


def _won(played: NotedRound) -> str:
    """What the winner of the last contest showed."""
    last, many = played.contests[-1], len(played.contests)
    if last.values is None:
        return "its policy chose it, and does not tell what it compared"
    best = last.values[last.near.index(last.winner)]
    held = f", the last of {many} contests of this round" if many > 1 else ""
    what = f"{played.value_name} {as_shown(best)}"
    return f"it {_WON_BY[played.highest_wins]} {len(last.near)} ({what}){held}"


def _because_of_a_look(agent: Agent, played: NotedRound, leads: str) -> str:
    """Why an arm was pulled in a lead in which the leader looked around."""
    player, arm, leader = agent._player, played.arm, played.leader
    looked = f"{leads} and looked around for the peak by all rewards so far"
    if played.reason == "cap":
        return f"{looked}, and drew an arm. {_but_capped(agent)}"
    share = f"probability {as_shown(player.look_probabilities(leader)[arm])}"
    if arm == player.doubtful(leader):
        return (
            f"{leads} and looked around: {agent.label_of(arm)!r} is a neighbour with few "
            f"rewards for how little they speak against it ({share})."
        )
    if arm == leader:
        return f"{looked}: it drew its own place, or one that its own rewards refute ({share})."
    return f"{looked}: {agent.label_of(arm)!r} was drawn as its place ({share})."


def _but_capped(agent: Agent) -> str:
    cap: Any = agent.limits.cap
    return (
        f"But it had had its {cap.most} of the last {cap.over} decisions (a cap of "
        f"{cap.share:g}), so the leader was played."
    )


def _known(number: float) -> float | None:
    return None if math.isnan(number) else float(number)
