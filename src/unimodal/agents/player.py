"""A policy at work: it chooses arms and learns, on a graph that is held or looked up."""

from __future__ import annotations

import sys
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from unimodal.agents.limits import Limits
from unimodal.families import Family
from unimodal.graphs import Graph
from unimodal.kernels.compile import record, specialised
from unimodal.kernels.leaderboard import hide, show
from unimodal.kernels.user_code_errors import explaining
from unimodal.lookup.graph_view import LazyGraphView, WholeGraphView
from unimodal.policies import Policy, explained
from unimodal.policies.npts import with_room
from unimodal.policies.policy import own_functions
from unimodal.policies.round import ask, choose, effective_clock, observe
from unimodal.policies.scope import clock, contests, lead, span
from unimodal.policies.state import (
    ARM,
    BEGUN,
    CAPPED,
    CONTEST,
    LAST,
    LEADER,
    REASON,
    REASONS,
    ROUND,
    State,
    implied_board,
    new_state,
    set_prior,
)

if TYPE_CHECKING:
    import polars as pl


class Player:
    """A policy on a graph: it chooses arms and learns rewards, and knows nothing of decisions.

    It begins with the arms of `begin`; what was learnt before is filled in by `saving`.
    """

    def __init__(
        self,
        policy: Policy,
        view: WholeGraphView | LazyGraphView,
        family: Family,
        seed: int,
        begin: Any,
        rng: Any,
        limits: Limits | None = None,
    ) -> None:
        self.policy, self.family, self.seed = policy, family, seed
        self.view = view
        self.limits = limits or Limits()
        self.scope = record(policy.scope(getattr(view, "played", None)))
        self.index, self.family_record = record(policy.index_for(family)), record(family)
        # Where arms cost a look-up, one that was only met does not lead: it would be looked up too.
        held = isinstance(view, WholeGraphView)
        self._unpulled = policy.opening.unpulled_mean if held else -np.inf
        self._known = view.n_arms
        slots = view.slots
        state = new_state(view.n_arms, slots, family, policy.beliefs, begin, self._unpulled, rng)
        state = policy.equip(state, family, self._unpulled)
        self.state = self.with_board(with_room(self.index, state, 0))
        rule = (self.scope, self.index, self.family_record)
        self.choose: Any = choose
        with explained(policy, family):
            self.observe = specialised(observe, *rule, self.state, 0, 0.0)
            if not policy.is_plain:
                self.choose = specialised(ask, *rule, view.arena, self.state)
        own = own_functions(policy, family)
        self.choose, self.observe = explaining(self.choose, own), explaining(self.observe, own)

    @property
    def round(self) -> int:
        """How many arms have been asked for."""
        return int(self.state.notes[ROUND])

    @property
    def graph(self) -> Graph | None:
        """The graph; None where it is known only by look-up."""
        return self.view.graph if isinstance(self.view, WholeGraphView) else None

    @property
    def known_arms(self) -> int:
        """How many arms it knows: all of a graph, or those it has met."""
        return self.view.n_arms

    @property
    def look_ups(self) -> int:
        """How often an arm's neighbours were looked up (0 where the graph is held)."""
        return self.view.look_ups if isinstance(self.view, LazyGraphView) else 0

    @property
    def oracle(self) -> Any:
        """The oracle that it asks for neighbours; None where the graph is held."""
        return getattr(self.view, "oracle", None)

    @property
    def look_up_counts(self) -> dict[str, int]:
        """How many look-ups there were, failed, were made again; what was odd, and forgotten."""
        view = self.view
        return dict(view.answers.counts) if isinstance(view, LazyGraphView) else {}

    @property
    def reports(self) -> list[str]:
        """What went wrong with look-ups: the last sentences of the oracle and about its answers."""
        if not isinstance(self.view, LazyGraphView):
            return []
        return [*getattr(self.oracle, "troubles", ()), *self.view.answers.reports]

    @property
    def reason(self) -> str:
        """Why the last arm was chosen: 'start', 'forced leader', 'contest' or 'cap'."""
        return REASONS[self.state.notes[REASON]]

    @property
    def leader(self) -> Hashable:
        """The arm that led in the last round; None in a start, or where nobody leads."""
        leader = int(self.state.notes[LEADER])
        return self.view.label_of(leader) if leader >= 0 else None

    def arms(self) -> pl.DataFrame:
        """The arms that have led or have rewards: label, pulls, mean reward, leads."""
        import polars as pl

        known = self.state.arms[: self.view.n_arms]
        met = np.flatnonzero((known["pulls"] > 0) | (known["leads"] > 0))
        pulls = known["pulls"][met]
        means = np.full(len(met), np.nan)
        np.divide(known["total"][met], pulls, out=means, where=pulls > 0)
        labels = [self.view.label_of(int(arm)) for arm in met]
        if len(set(map(type, labels))) > 1:
            labels = list(map(str, labels))  # a column has one type
        return pl.DataFrame(
            {
                "arm": labels,
                "pulls": pulls,
                "mean": means,
                "leads": known["leads"][met],
            }
        ).sort("pulls", descending=True)

    def next_arm(self) -> int:
        """Choose the arm of the next round."""
        if isinstance(self.view, LazyGraphView):
            self._meet_neighbours(self.view)
        arena = self.view.arena
        arm = int(self.choose(self.scope, self.index, self.family_record, arena, self.state))
        return arm if self.limits.cap is None else self._within_cap(arm)

    def _within_cap(self, arm: int) -> int:
        """The arm, or the leader where the arm has had its share of the last decisions."""
        notes, limits = self.state.notes, self.limits
        leader = int(notes[LEADER])
        if notes[REASON] == CONTEST:
            limits.note_full(leader)
            if arm in limits.full:
                arm = leader
                notes[LAST], notes[REASON] = leader, CAPPED
        limits.add(arm)
        return arm

    def play(self) -> tuple[int, str, int, int]:
        """Play the next round: the arm, why, who led (-1: nobody), and how many were near."""
        arm = self.next_arm()
        notes, view = self.state.notes.tolist(), self.view
        leader, reason = notes[LEADER], REASONS[notes[REASON]]
        if leader >= 0:
            arena = view.arena
            return arm, reason, leader, arena.last.item(leader) - arena.first.item(leader)
        return arm, reason, leader, view.offered if reason == "contest" else 1

    def learn(self, arm: int, reward: float) -> None:
        self.state = with_room(self.index, self.state, 1)
        self.observe(self.scope, self.index, self.family_record, self.state, arm, reward)
        if self.limits.paused:  # a reward shows its arm, and a memory those that it forgets
            hide(self.state.best, self.state.count, np.array(self.limits.paused))

    def propensity(self, arm: int, leader: int, reason: str) -> float | None:
        """How likely the arm was, given the leader and all that was known."""
        if reason in ("start", "forced leader"):
            return 1.0
        from unimodal.agents.propensity import propensity  # which needs SciPy

        first, last = span(self.scope, self.view.arena, leader)
        return propensity(
            self.policy,
            self.family,
            self.state.arms,
            self.view.arena.near[first:last],
            arm,
            leader=leader,
            contests=contests(self.scope, self.state, leader, last - first),
            clock=effective_clock(
                self.state.memory, self.state, clock(self.scope, self.state, leader)
            ),
            capped=self.limits.full,
        )

    def _meet_neighbours(self, view: LazyGraphView) -> None:
        """Let the coming leader's neighbours be looked up, and make room for them."""
        if self.state.notes[BEGUN] >= len(self.state.begin):
            leader = int(lead(self.scope, self.state))
            leads = int(self.state.arms["leads"][leader])
            rounds = int(self.state.notes[ROUND])
            view.settle(leader, leads, rounds, self._is_new, self.state.rng)
            if view.n_arms > self._known:
                self.make_room()

    def _is_new(self, arm: int) -> bool:
        """Whether an arm has no reward yet."""
        return arm >= self._known or self.state.arms["pulls"][arm] == 0

    def make_room(self) -> None:
        """Give every arm that has been met a record and a place on the leader board."""
        state, needed = self.state, self.view.n_arms
        if needed > len(state.arms):
            arms = np.zeros(needed + needed // 4, dtype=ARM)  # a quarter: these are most of memory
            set_prior(arms, self.family, self.policy.beliefs)
            arms[: len(state.arms)] = state.arms
            self.state = self.with_board(state._replace(arms=arms))
        else:
            for arm in range(self._known, needed):
                show(state.best, state.count, arm, self._unpulled)
        self._known = needed

    def with_board(self, state: State) -> State:
        """The state with the leader board that its arms imply."""
        best, count = implied_board(state.arms, self.view.n_arms, self._unpulled)
        if isinstance(self.view, LazyGraphView) and state.arms[0]["pulls"] == 0:
            # Before any reward the root leads, and not one of those met by looking around it.
            show(best, count, 0, -sys.float_info.max)
        if self.limits.paused:
            hide(best, count, np.array(self.limits.paused))
        return state._replace(best=best, count=count)
