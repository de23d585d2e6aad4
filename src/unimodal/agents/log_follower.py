"""An agent does again what a log says: decisions are made and compared, rewards are learnt."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from unimodal.agents.agent import Agent
from unimodal.agents.decisions import Decision
from unimodal.agents.label_text import as_text
from unimodal.errors import UnimodalError
from unimodal.lookup.graph_view import LazyGraphView, WholeGraphView
from unimodal.policies.index import Budgeted
from unimodal.policies.npts import Reweighed
from unimodal.policies.peak import AroundDoubted
from unimodal.policies.peak_places import PlacesArena
from unimodal.policies.scope import has_leader, span
from unimodal.policies.scout import ScoutArena
from unimodal.policies.state import LAST, LEADER, REASON, REASONS

_KNOWN = 1000  # rewards that were checked and need not be again


class LogFollower:
    """Follows the rows of a log, which have the columns of `campaign.events.Event`.

    A log may have millions of rows, so this is as quick as Python is: it only sees that something
    is wrong with a row, and stops there; what it is, others say. Rewards that were learnt are put
    into `rewards`.

    A decision is made here as well, since that is how the state changes. If it comes out otherwise
    than in the log, `take_over` puts the log's in its place.
    """

    def __init__(self, agent: Agent, rewards: dict[int, float]) -> None:
        self.seq = 0  # of the event at which it stopped
        # A decision is of the time when it was asked for, and what it looked up came later.
        self.asked_after: float | None = None
        self._agent, self._rewards = agent, rewards
        self._texts = _Texts(agent)
        self._allowed: set[Any] = set()
        self._numbers: dict[Any, int] = {}  # of arms, by how a log writes them and of what kind
        # Whether choosing takes random numbers, of which arithmetic may decide how many.
        self.draws = not issubclass(agent._player.index.component, Budgeted)

    def follow(self, rows: Iterable[tuple[Any, ...]], seq: int) -> tuple[int, Decision | None]:
        """Follow rows after event `seq`, as long as they are decisions, expiries and rewards.

        How many were followed; and what was decided instead, if it stopped where the log has
        another decision. If it stopped for another reason, that row has changed nothing.
        """
        book, player = self._agent.book, self._agent._player
        view = player.view
        made, still_open, before = book.made, book.open, seq
        now = book.now if self.asked_after is None else self.asked_after
        rewards, texts, allowed, never = self._rewards, self._texts, self._allowed, math.inf
        # What `player.play` and `player.learn` do, without the time that calling them takes.
        choose, observe, learn, play = player.choose, player.observe, player.learn, player.next_arm
        scope, index, family = player.scope, player.index, player.family_record
        is_held = isinstance(view, WholeGraphView) and not player.limits
        keeps_all = index.component is Reweighed or bool(player.limits)
        arena, state = view.arena, player.state
        first: Any = memoryview(arena.first)  # of which an item is a plain number
        last: Any = memoryview(arena.last)
        notes: Any = memoryview(state.notes)
        try:
            for row in rows:
                number, time, kind, decision, arm, reason, leader, near, chance, reward, data = row
                seq += 1
                if number != seq or time.__class__ is not float or not now <= time < never:
                    break
                if kind == "decide":
                    if not (reward is data is None) or not (chance is None or _is_chance(chance)):
                        break
                    if is_held:
                        chosen = choose(scope, index, family, arena, state)
                    else:  # within limits; or it may have met more arms, and need room for them
                        chosen, state, arena = play(), player.state, view.arena
                        first, last, notes = arena.first, arena.last, state.notes
                    made += 1
                    still_open[made] = chosen, time
                    led, why = notes[LEADER], REASONS[notes[REASON]]
                    if led >= 0:
                        competed = last[led] - first[led]
                    else:
                        competed = view.offered if why == "contest" else 1
                    text, leading = texts[chosen], texts[led]
                    if (
                        decision != made
                        or arm != text
                        or reason != why
                        or leader != leading
                        or near != competed
                        or arm.__class__ is not text.__class__
                        or leader.__class__ is not leading.__class__
                    ):
                        instead = self._decision(made, chosen, why, led, competed, time)
                        return seq - before - 1, instead
                elif kind == "reward":
                    if not (arm is reason is leader is near is chance is data is None) or (
                        reward not in allowed and not self._is_reward(reward)
                    ):
                        break
                    entry = still_open.pop(decision, None)
                    if entry is None:
                        break
                    chosen = entry[0]
                    rewards[decision] = reward
                    if keeps_all and chosen >= 0:
                        learn(chosen, reward)
                        state = player.state  # with room for the next one
                    elif chosen >= 0:  # else it was retired, and nobody learns
                        observe(scope, index, family, state, chosen, reward)
                elif kind == "tell":
                    chosen = self.number_of(arm, _none_else)
                    is_told = decision is reason is leader is near is chance is data is None
                    if chosen is None or not is_told or not self._is_reward(reward):
                        break
                    learn(chosen, reward)
                    state = player.state
                elif kind == "expire":
                    if (
                        decision not in still_open
                        or not (arm is reason is leader is near is chance is reward is data is None)
                        or time < still_open[decision][1] + book.time_to_live
                    ):
                        break
                    chosen = still_open.pop(decision)[0]
                    if book.on_expiry == "zero" and chosen >= 0:
                        learn(chosen, 0.0)
                        state = player.state
                else:
                    break
                now = time
            else:
                seq += 1  # as if it had stopped at the next one
        finally:
            book.made, book.now, self.seq = made, max(book.now, now), seq
            if seq > before + 1:
                self.asked_after = None
        return seq - before - 1, None

    def take_over(self, event: Any, labels_met: Callable[[], Iterable[Any]]) -> bool:
        """Put a decision of the log in the place of the one at which `follow` stopped.

        False if the log's cannot be. `labels_met` tells all arms that were met by look-up.
        """
        agent, book = self._agent, self._agent.book
        arm = self.number_of(event.arm, labels_met)
        leader = -1 if event.leader is None else self.number_of(event.leader, labels_met)
        if event.decision != book.made or arm is None or leader is None:
            return False
        if not self._can_be(event, arm, leader):
            return False
        notes, state = agent._player.state.notes, agent._player.state
        if leader != notes[LEADER]:
            if notes[LEADER] >= 0:
                state.arms["leads"][notes[LEADER]] -= 1
            if leader >= 0:
                state.arms["leads"][leader] += 1
        notes[LAST], notes[LEADER], notes[REASON] = arm, leader, REASONS.index(event.reason)
        agent._player.limits.replace_last(arm)
        book.open[book.made] = arm, event.time
        book.now, self.asked_after = max(book.now, event.time), None
        return True

    def number_of(self, text: Any, labels_met: Callable[[], Iterable[Any]]) -> int | None:
        """The arm that a log writes so; None if there is none, nor among the `labels_met`."""
        view, written = self._agent._player.view, (text.__class__, text)
        for arm in range(len(self._numbers), view.n_arms):  # those met since it was asked last
            known = as_text(view.label_of(arm))
            self._numbers[known.__class__, known] = arm
        if written not in self._numbers and isinstance(view, LazyGraphView):
            for label in labels_met():
                known = as_text(label)
                if (known.__class__, known) == written:
                    self._numbers[written] = view._number(label)
                    self._agent._player.make_room()
                    break
        return self._numbers.get(written)

    def _can_be(self, event: Any, arm: int, leader: int) -> bool:
        """Whether an agent with another arithmetic could have made a decision."""
        agent, view = self._agent, self._agent._player.view
        if event.reason == "start":
            return leader < 0 and event.near == 1
        if (leader >= 0) != has_leader(agent._player.scope):
            return False
        if event.reason in ("forced leader", "cap") and arm != leader:
            return False
        if event.reason == "cap" and agent._player.limits.cap is None:
            return False
        is_look = event.reason == "look around"
        if is_look and not issubclass(agent._player.scope.component, AroundDoubted):
            return False
        if not isinstance(view, WholeGraphView) or isinstance(view.arena, ScoutArena):
            return bool(event.near >= 1)  # links and look-ups depend on the random stream
        first, last = span(agent._player.scope, view.arena, leader)
        if is_look and isinstance(view.arena, PlacesArena):  # any arm may be drawn
            return bool(event.near == last - first)
        return bool(event.near == last - first and arm in view.arena.near[first:last])

    def _is_reward(self, reward: Any) -> bool:
        """Whether it can be one; of most logs, a few different ones are all there are."""
        if reward.__class__ is not float:
            return False
        try:
            self._agent.family.check_reward(reward)
        except UnimodalError:
            return False
        if len(self._allowed) < _KNOWN:
            self._allowed.add(reward)
        return True

    def _decision(
        self, number: int, arm: int, reason: str, leader: int, near: int, time: float
    ) -> Decision:
        label_of = self._agent._player.view.label_of
        led = label_of(leader) if leader >= 0 else None
        return Decision(number, label_of(arm), reason, led, int(near), time)


def _none_else() -> Iterable[Any]:
    return ()


def _is_chance(value: Any) -> bool:
    return value.__class__ is float and 0.0 <= value <= 1.0


class _Texts(dict[int, Any]):
    """Arms as a log writes them; -1 is nobody."""

    def __init__(self, agent: Agent) -> None:
        super().__init__({-1: None})
        self._agent = agent

    def __missing__(self, arm: int) -> Any:
        self[arm] = text = as_text(self._agent._player.view.label_of(arm))
        return text
