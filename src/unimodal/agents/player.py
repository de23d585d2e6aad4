"""A policy at work: it chooses arms and learns, on a graph that is held or looked up."""

from __future__ import annotations

import math
import sys
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from unimodal.agents.late import LateRule, Made, Outcome, new_rule
from unimodal.agents.limits import Limits
from unimodal.agents.past_data import Known, PastRewards
from unimodal.families import Family
from unimodal.graphs import Graph
from unimodal.kernels.compile import record, specialised
from unimodal.kernels.leaderboard import hide, show
from unimodal.kernels.user_code_errors import explaining
from unimodal.lookup.graph_view import LazyGraphView, WholeGraphView
from unimodal.policies import Policy, explained
from unimodal.policies.index import refresh
from unimodal.policies.npts import with_room
from unimodal.policies.peak import look_probabilities
from unimodal.policies.peak_doubt import doubtful
from unimodal.policies.policy import own_functions
from unimodal.policies.round import ask, choose, effective_clock, observe
from unimodal.policies.scope import clock, contests, lead, span
from unimodal.policies.state import (
    BEGUN,
    CAPPED,
    CONTEST,
    LAST,
    LEADER,
    LOOK,
    REASON,
    REASONS,
    ROUND,
    State,
    implied_board,
    mean_earned,
    new_state,
    set_factors,
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
        self.scope = record(policy.scope_for(getattr(view, "played", None), family))
        self.index, self.family_record = record(policy.index_for(family)), record(family)
        # Where arms cost a look-up, one that was only met does not lead: it would be looked up too.
        held = isinstance(view, WholeGraphView)
        self.unpulled = policy.opening.unpulled_mean if held else -np.inf
        self._known = view.n_arms
        # For certificates: the order in which arms were first pulled (None: it was not kept), and
        # whether an arm has ever had other neighbours than now.
        self.first_pulls: dict[int, None] | None = {}
        self.graph_changed = False
        # What of the arms' pulls and totals comes from past data, by arm; and whether it counts as
        # evidence.
        self.past_sums: dict[int, tuple[int, float]] = {}
        self.past_certifies = False
        self._counted = policy.counted_prior(view.n_arms, family) if held else 0.0
        slots = view.slots
        state = new_state(view.n_arms, slots, family, policy.beliefs, begin, self.unpulled, rng)
        state = policy.equip(state, family, self.unpulled)
        self._set_factors(state.arms, 0, view.n_arms)
        self.late: LateRule | None = None  # None: a reward counts as it is told
        self.take_state(self.with_board(with_room(self.index, state, 0)))

    def take_state(self, state: State) -> None:
        """Go on with a state, whose kind decides which machine code chooses and learns."""
        policy, family, self.state = self.policy, self.family, state
        rule = (self.scope, self.index, self.family_record)
        self.choose: Any = choose
        with explained(policy, family):
            self.observe = specialised(observe, *rule, self.state, 0, 0.0)
            if not policy.is_plain:
                self.choose = specialised(ask, *rule, self.view.arena, self.state)
        own = own_functions(policy, family)
        self.choose, self.observe = explaining(self.choose, own), explaining(self.observe, own)

    def use_late(self, late: str, time_to_live: float) -> None:
        """Begin with a rule for rewards that come late, before anything else: see `late.py`."""
        self.late = new_rule(late, self, time_to_live)

    def pass_time(self, now: float) -> None:
        """Know that it is so late: before anything else that happens at that time."""
        if self.late is not None:
            self.late.pass_time(self, now)

    def decided(self, arm: int, now: float) -> None:
        """Note that a decision was made, of which nothing is known yet."""
        if self.late is not None:
            self.late.decided(self, arm, now)

    def look(self) -> None:
        """Let the arms' records say what is known: after whatever happened but a decision."""
        if self.late is not None:
            self.late.look(self)

    def closed(self, number: int, made: Made, outcome: Outcome | None) -> None:
        """Learn how a decision of an arm and a time was closed; None if nothing is to be learnt."""
        arm = made[0]
        if arm < 0 or outcome is None:  # or nobody is there to learn it
            return
        if self.late is None or self.late.closed(self, number, made, outcome):
            self.learn(arm, outcome.reward)

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
        """Why the last arm was chosen: one of `REASONS`."""
        return REASONS[self.state.notes[REASON]]

    @property
    def leader(self) -> Hashable:
        """The arm that led in the last round; None in a start, or where nobody leads."""
        leader = int(self.state.notes[LEADER])
        return self.view.label_of(leader) if leader >= 0 else None

    def arms(self) -> pl.DataFrame:
        """The arms that have led or have rewards: label, pulls, mean reward, leads.

        With past data, also how many of the pulls are from before.
        """
        import polars as pl

        known = self.state.arms[: self.view.n_arms]
        met = np.flatnonzero((known["pulls"] > 0) | (known["leads"] > 0))
        pulls = known["pulls"][met]
        means = mean_earned(known[met])
        labels = [self.view.label_of(int(arm)) for arm in met]
        if len(set(map(type, labels))) > 1:
            labels = list(map(str, labels))  # a column has one type
        columns = {"arm": labels, "pulls": pulls, "mean": means, "leads": known["leads"][met]}
        if self.past_sums:
            columns["past"] = self.past.pulls[met]
        return pl.DataFrame(columns).sort("pulls", descending=True)

    def begin_with(self, known: Known) -> None:
        """Begin with past data, as if they had been learnt, but without a round."""
        state = self.state
        for arm, count, total, _ in known.counted():
            row = state.arms[arm]
            row["pulls"], row["total"] = count, total
            row["successes"] = self.family.expected_successes(count, total)
            if self.policy.data_leads and known.interpretation.may_lead:
                row["leads"] = count
            refresh(self.index, self.family_record, state.arms, arm)
            self.past_sums[arm] = (count, total)
            if known.certify and self.first_pulls is not None:
                self.first_pulls.setdefault(arm)
        self.past_certifies = known.certify
        is_known = state.arms["pulls"] > 0
        state = state._replace(begin=self.policy.opening.without(state.begin, is_known))
        state = with_room(self.index, state, 0)
        if len(state.seen) and known.weight:
            seen = [(of.arm, reward) for of in known.arms for reward in of.rewards or ()]
            state.seen["arm"][: len(seen)] = [arm for arm, _ in seen]
            state.seen["reward"][: len(seen)] = [reward for _, reward in seen]
        self.state = self.with_board(state)

    @property
    def past(self) -> PastRewards:
        """What of the arms' pulls and totals comes from past data."""
        pulls, totals = np.zeros(self.view.n_arms, np.int64), np.zeros(self.view.n_arms)
        for arm, (count, total) in self.past_sums.items():
            pulls[arm], totals[arm] = count, total
        return PastRewards(pulls, totals, self.past_certifies)

    def next_arm(self) -> int:
        """Choose the arm of the next round."""
        if isinstance(self.view, LazyGraphView):
            if self.late is not None:
                self.late.look(self)  # who leads may depend on it, and whose neighbours are met
            self._meet_neighbours(self.view)
        arm = self.choose_now() if self.late is None else self.late.choose(self)
        if self.first_pulls is not None:
            self.first_pulls.setdefault(arm)
        return arm if self.limits.cap is None else self._within_cap(arm)

    def choose_now(self) -> int:
        """The arm that the policy chooses by the records as they are."""
        arena = self.view.arena
        return int(self.choose(self.scope, self.index, self.family_record, arena, self.state))

    def _within_cap(self, arm: int) -> int:
        """The arm, or the leader where the arm has had its share of the last decisions."""
        notes, limits = self.state.notes, self.limits
        leader = int(notes[LEADER])
        if notes[REASON] in (CONTEST, LOOK):
            limits.note_full(leader)
            if arm in limits.full:
                limits.overruled = arm, int(notes[REASON])
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
        if self.first_pulls is not None:
            self.first_pulls.setdefault(arm)  # it may be told without having been asked for
        self.state = with_room(self.index, self.state, 1)
        self.observe(self.scope, self.index, self.family_record, self.state, arm, reward)
        if self.limits.paused:  # a reward shows its arm, and a memory those that it forgets
            hide(self.state.best, self.state.count, np.array(self.limits.paused))

    def learnt_records(self) -> Any:
        """The arms' records with the rewards that were told, whatever a rule makes of them."""
        arms = self.state.arms
        if self.late is not None:
            arms, known = arms.copy(), self.view.n_arms
            self.late.learnt(arms["pulls"][:known], arms["total"][:known])
        return arms

    def propensity(self, arm: int, leader: int, reason: str) -> float | None:
        """How likely the arm was, given the leader and all that was known."""
        if reason in ("start", "forced leader"):
            return 1.0
        drawn = self.look_probabilities(leader)
        if drawn is not None:
            played = [arm, *self.limits.full] if arm == leader else [arm]
            return min(math.fsum(drawn[played].tolist()), 1.0)
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

    def look_probabilities(self, leader: int) -> Any:
        """How likely each arm was, if the leader looked around in the last round; else None.

        It is about what the policy chose, before the cap.
        """
        notes = self.state.notes
        is_capped = notes[REASON] == CAPPED
        chosen, reason = self.limits.overruled if is_capped else (notes[LAST], notes[REASON])
        looked_at = int(chosen) if reason == LOOK else -1
        return look_probabilities(
            self.scope, self.family_record, self.view.arena, self.state, leader, looked_at
        )

    def doubtful(self, leader: int) -> int:
        """The neighbour of a leader that has too few rewards, as a look of PeakUTS says; or -1."""
        arms = self.state.arms.view(np.recarray)
        return int(doubtful(self.scope, self.family_record, self.view.arena, arms, leader))

    def _meet_neighbours(self, view: LazyGraphView) -> None:
        """Let the coming leader's neighbours be looked up, and make room for them."""
        if self.state.notes[BEGUN] >= len(self.state.begin):
            leader = int(lead(self.scope, self.state))
            leads = int(self.state.arms["leads"][leader])
            rounds = int(self.state.notes[ROUND])
            view.prepare_lead(leader, leads, rounds, self._is_new, self.state.rng)
            if view.n_arms > self._known:
                self.make_room()

    def _is_new(self, arm: int) -> bool:
        """Whether an arm has no reward yet."""
        return arm >= self._known or self.state.arms["pulls"][arm] == 0

    def make_room(self) -> None:
        """Give every arm that has been met a record and a place on the leader board."""
        state, needed = self.state, self.view.n_arms
        if needed > len(state.arms):
            more = needed // 4  # only a quarter: these are most of memory
            arms = np.zeros(needed + more, dtype=state.arms.dtype)
            set_prior(arms, self.family, self.policy.beliefs)
            arms[: len(state.arms)] = state.arms
            self._set_factors(arms, self._known, needed)
            self.state = self.with_board(state._replace(arms=arms))
        else:
            self._set_factors(state.arms, self._known, needed)
            for arm in range(self._known, needed):
                show(state.best, state.count, arm, self.unpulled)
        self._known = needed

    def _set_factors(self, arms: Any, first: int, last: int) -> None:
        """Write down what rewards of the arms from `first` to `last` - 1 are worth."""
        set_factors(arms[first:last], self.family, map(self.view.label_of, range(first, last)))

    def with_board(self, state: State) -> State:
        """The state with the leader board that its arms imply."""
        best, count = implied_board(state.arms, self.view.n_arms, self.unpulled, self._counted)
        if isinstance(self.view, LazyGraphView) and state.arms[0]["pulls"] == 0:
            # Before any reward the root leads, and not one of those met by looking around it.
            show(best, count, 0, -sys.float_info.max)
        if self.limits.paused:
            hide(best, count, np.array(self.limits.paused))
        return state._replace(best=best, count=count)
