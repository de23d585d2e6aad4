"""A policy at work: it chooses arms and learns, on a graph that is held or looked up."""

from __future__ import annotations

import sys
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from unimodal.families import Family
from unimodal.graphs import Graph
from unimodal.kernels.compile import record, specialised
from unimodal.kernels.leaderboard import show
from unimodal.kernels.own_code import explaining
from unimodal.lookup.view import LazyGraphView, WholeGraphView
from unimodal.policies import Policy, explained
from unimodal.policies.npts import with_room
from unimodal.policies.policy import own_functions
from unimodal.policies.round import ask, choose, effective_clock, observe
from unimodal.policies.scope import clock, contests, lead, span
from unimodal.policies.state import (
    ARM,
    BEGUN,
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
    """The half of an agent that plays rounds; the other half, `Agent`, is told of them by users."""

    def _set_up(
        self,
        policy: Policy,
        view: WholeGraphView | LazyGraphView,
        family: Family,
        seed: int,
        begin: Any,
        rng: Any,
    ) -> None:
        """Begin, with the arms of `begin`; what was learnt before is filled in by `saving`."""
        self.policy, self.family, self.seed = policy, family, seed
        self._view = view
        self._scope = record(policy.scope(getattr(view, "graph", None)))
        self._index, self._family = record(policy.index_for(family)), record(family)
        # Where arms cost a look-up, one that was only met does not lead: it would be looked up too.
        held = isinstance(view, WholeGraphView)
        self._unpulled = policy.opening.unpulled_mean if held else -np.inf
        self._known = view.n_arms
        slots = view.slots
        state = new_state(view.n_arms, slots, family, policy.beliefs, begin, self._unpulled, rng)
        state = policy.equip(state, family, self._unpulled)
        self._state = self._with_board(with_room(self._index, state, 0))
        rule = (self._scope, self._index, self._family)
        self._choose: Any = choose
        with explained(policy, family):
            self._observe = specialised(observe, *rule, self._state, 0, 0.0)
            if not policy.is_plain:
                self._choose = specialised(ask, *rule, view.arena, self._state)
        own = own_functions(policy, family)
        self._choose, self._observe = explaining(self._choose, own), explaining(self._observe, own)

    @property
    def round(self) -> int:
        """How many arms have been asked for."""
        return int(self._state.notes[ROUND])

    @property
    def graph(self) -> Graph | None:
        """The graph; None where it is known only by look-up."""
        return self._view.graph if isinstance(self._view, WholeGraphView) else None

    @property
    def known_arms(self) -> int:
        """How many arms it knows: all of a graph, or those it has met."""
        return self._view.n_arms

    @property
    def look_ups(self) -> int:
        """How often an arm's neighbours were looked up (0 where the graph is held)."""
        return self._view.look_ups if isinstance(self._view, LazyGraphView) else 0

    @property
    def oracle(self) -> Any:
        """The oracle that it asks for neighbours; None where the graph is held."""
        return getattr(self._view, "oracle", None)

    @property
    def look_up_counts(self) -> dict[str, int]:
        """How many look-ups there were, failed, were made again; what was odd, and forgotten."""
        view = self._view
        return dict(view.answers.counts) if isinstance(view, LazyGraphView) else {}

    @property
    def reports(self) -> list[str]:
        """What went wrong with look-ups: the last sentences of the oracle and about its answers."""
        if not isinstance(self._view, LazyGraphView):
            return []
        return [*getattr(self.oracle, "troubles", ()), *self._view.answers.reports]

    @property
    def reason(self) -> str:
        """Why the last arm was chosen: 'start', 'forced leader' or 'contest'."""
        return REASONS[self._state.notes[REASON]]

    @property
    def leader(self) -> Hashable:
        """The arm that led in the last round; None in a start, or where nobody leads."""
        leader = int(self._state.notes[LEADER])
        return self._view.label_of(leader) if leader >= 0 else None

    def arms(self) -> pl.DataFrame:
        """The arms that have led or have rewards: label, pulls, mean reward, leads."""
        import polars as pl

        known = self._state.arms[: self._view.n_arms]
        met = np.flatnonzero((known["pulls"] > 0) | (known["leads"] > 0))
        pulls = known["pulls"][met]
        means = np.full(len(met), np.nan)
        np.divide(known["total"][met], pulls, out=means, where=pulls > 0)
        labels = [self._view.label_of(int(arm)) for arm in met]
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

    def _next_arm(self) -> int:
        """Choose the arm of the next round."""
        if isinstance(self._view, LazyGraphView):
            self._meet_neighbours(self._view)
        arena = self._view.arena
        return int(self._choose(self._scope, self._index, self._family, arena, self._state))

    def _play(self) -> tuple[int, str, int, int]:
        """Play the next round: the arm, why, who led (-1: nobody), and how many were near."""
        arm = self._next_arm()
        notes, view = self._state.notes.tolist(), self._view
        leader, reason = notes[LEADER], REASONS[notes[REASON]]
        if leader >= 0:
            arena = view.arena
            return arm, reason, leader, arena.last.item(leader) - arena.first.item(leader)
        return arm, reason, leader, view.n_arms if reason == "contest" else 1

    def _learn(self, arm: int, reward: float) -> None:
        self._state = with_room(self._index, self._state, 1)
        self._observe(self._scope, self._index, self._family, self._state, arm, reward)

    def _propensity(self, arm: int, leader: int, reason: str) -> float | None:
        """How likely the arm was, given the leader and all that was known."""
        if reason != "contest":
            return 1.0
        from unimodal.agents.propensity import propensity  # which needs SciPy

        first, last = span(self._scope, self._view.arena, leader)
        return propensity(
            self.policy,
            self.family,
            self._state.arms,
            self._view.arena.near[first:last],
            arm,
            leader=leader,
            contests=contests(self._scope, self._state, leader, last - first),
            clock=effective_clock(
                self._state.memory, self._state, clock(self._scope, self._state, leader)
            ),
        )

    def _meet_neighbours(self, view: LazyGraphView) -> None:
        """Let the coming leader's neighbours be looked up, and make room for them."""
        if self._state.notes[BEGUN] >= len(self._state.begin):
            leader = int(lead(self._scope, self._state))
            leads = int(self._state.arms["leads"][leader])
            rounds = int(self._state.notes[ROUND])
            view.settle(leader, leads, rounds, self._is_new, self._state.rng)
            if view.n_arms > self._known:
                self._make_room()

    def _is_new(self, arm: int) -> bool:
        """Whether an arm has no reward yet."""
        return arm >= self._known or self._state.arms["pulls"][arm] == 0

    def _make_room(self) -> None:
        """Give every arm that has been met a record and a place on the leader board."""
        state, needed = self._state, self._view.n_arms
        if needed > len(state.arms):
            arms = np.zeros(needed + needed // 4, dtype=ARM)  # a quarter: these are most of memory
            set_prior(arms, self.family, self.policy.beliefs)
            arms[: len(state.arms)] = state.arms
            self._state = self._with_board(state._replace(arms=arms))
        else:
            for arm in range(self._known, needed):
                show(state.best, state.count, arm, self._unpulled)
        self._known = needed

    def _with_board(self, state: State) -> State:
        """The state with the leader board that its arms imply."""
        best, count = implied_board(state.arms, self._view.n_arms, self._unpulled)
        if isinstance(self._view, LazyGraphView) and state.arms[0]["pulls"] == 0:
            # Before any reward the root leads, and not one of those met by looking around it.
            show(best, count, 0, -sys.float_info.max)
        return state._replace(best=best, count=count)
