"""What an agent makes of decisions that wait: counts them at once, holds them back, weighs them.

A rule sees what happens in its order: time passes (before anything else at that time), a decision
is made, a decision is closed. What it does is determined by these calls, so that whoever follows a
log makes the same ones: `Player.pass_time`, `Player.decided` and `Player.closed`.
"""

from __future__ import annotations

import copy
import heapq
import math
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from unimodal.errors import UnimodalError, unknown_name
from unimodal.families import Family
from unimodal.inference.late_rewards import (
    ABOVE,
    ACTIVE,
    CHANGED,
    FIRST,
    MADE,
    NONE_LEFT,
    NOTES,
    ZERO,
    LateArrays,
    new_late,
    viewed,
    weigh_again,
    with_room_for,
)
from unimodal.kernels.compile import specialised
from unimodal.kernels.leaderboard import hide
from unimodal.kernels.user_code_errors import explaining
from unimodal.policies import Policy
from unimodal.policies.late_rewards import (
    check_weighed,
    choose_older,
    grow_older,
    note_closed,
    why_not_weighed,
    with_shares,
)
from unimodal.policies.policy import own_functions

if TYPE_CHECKING:
    from unimodal.agents.player import Player

Made = tuple[int, float]  # the arm and the time of a decision
LATE = ("weigh", "hold", "count")
_NONE: Made = (NONE_LEFT, 0.0)
_ARRAYS = ("left", "delays", "at_risk", "shares")  # that are saved as they are
SAVED = ("closed", "rewarded", "expected", "unwritten", "extra")  # of an arm


class Outcome(NamedTuple):
    """The reward that closed a decision, and when it happened; None if its time is over."""

    reward: float
    happened: float | None


EXPIRED = Outcome(0.0, None)


class LateRule(Protocol):
    """What a rule does as time passes and decisions are made and closed."""

    name: str

    def pass_time(self, player: Player, now: float) -> None:
        """Know that it is so late now."""

    def decided(self, player: Player, arm: int, now: float) -> None:
        """Note the next decision."""

    def choose(self, player: Player) -> int:
        """The next arm."""

    def look(self, player: Player) -> None:
        """Let the arms' records say what is known now: before the next arm is chosen."""

    def closed(self, player: Player, number: int, made: Made, outcome: Outcome) -> bool:
        """Note how a decision was closed; whether its reward is to be learnt now."""

    def learnt(self, pulls: Any, totals: Any) -> None:
        """Turn what the arms' records have into rewards that were told, in place."""

    def to_data(self) -> dict[str, Any]:
        """All of it as plain JSON data."""

    def fill(self, player: Player, data: dict[str, Any]) -> None:
        """Become what `to_data` told."""

    def copied(self) -> LateRule:
        """One that stays as it is now."""


def checked_late(
    late: Any, policy: Policy, family: Family, time_to_live: float, on_expiry: str
) -> str:
    """The rule for late rewards by its name; without one "weigh" where that is possible."""
    if late is None:
        fits = on_expiry == "zero" and math.isfinite(time_to_live)
        return "weigh" if fits and not why_not_weighed(policy, family) else "count"
    if not isinstance(late, str) or late not in LATE:
        raise unknown_name("rule for late rewards", late, LATE)
    if late == "count":
        return late
    if on_expiry != "zero" or not math.isfinite(time_to_live):
        raise UnimodalError(
            f"late={late!r} goes with a time_to_live and on_expiry='zero', got time_to_live="
            f"{time_to_live:g} and on_expiry={on_expiry!r}: give both, or leave 'late' out."
        )
    if late == "weigh":
        check_weighed(policy, family)
    return late


def new_rule(late: str, player: Player, time_to_live: float) -> LateRule | None:
    """A rule that knows nothing yet; None where rewards count as they are told."""
    if late == "count":
        return None
    return HoldBack(time_to_live) if late == "hold" else WeighByAge(player, time_to_live)


def _rule(player: Player) -> tuple[Any, Any, Any]:
    return player.scope, player.index, player.family_record


class HoldBack:
    """Rewards are learnt when the time of their decision is over, as its zero would be."""

    name = "hold"

    def __init__(self, time_to_live: float) -> None:
        self.time_to_live = time_to_live
        self.held: list[tuple[int, int, float, float]] = []  # number, arm, when to learn, reward

    def pass_time(self, player: Player, now: float) -> None:
        """Learn what is no longer young."""
        while self.held and self.held[0][2] <= now:
            _, arm, _, reward = heapq.heappop(self.held)
            if arm >= 0:
                player.learn(arm, reward)

    def decided(self, player: Player, arm: int, now: float) -> None:
        """Nothing: the book has its time."""

    def choose(self, player: Player) -> int:
        """The next arm."""
        return player.choose_now()

    def look(self, player: Player) -> None:
        """Nothing: what was learnt is what is known."""

    def closed(self, player: Player, number: int, made: Made, outcome: Outcome) -> bool:
        """Keep a reward; a time that is over is learnt at once."""
        if outcome.happened is None:
            return True
        arm, begun = made
        heapq.heappush(self.held, (number, arm, begun + self.time_to_live, outcome.reward))
        return False

    def learnt(self, pulls: Any, totals: Any) -> None:
        """Add what is held back, which was told."""
        for _, arm, _, reward in self.held:
            if arm >= 0:
                pulls[arm] += 1
                totals[arm] += reward

    def to_data(self) -> dict[str, Any]:
        """All of it as plain JSON data."""
        return {"rule": self.name, "held": [list(each) for each in sorted(self.held)]}

    def fill(self, player: Player, data: dict[str, Any]) -> None:
        """Become what `to_data` told."""
        self.held = [(int(n), int(arm), float(at), float(r)) for n, arm, at, r in data["held"]]
        heapq.heapify(self.held)

    def copied(self) -> HoldBack:
        """One that stays as it is now."""
        twin = copy.copy(self)
        twin.held = self.held.copy()
        return twin


class WeighByAge:
    """A decision counts for what its age says: see docs/theory/late-rewards.md."""

    name = "weigh"

    def __init__(self, player: Player, time_to_live: float) -> None:
        self.arrays = new_late(player.view.n_arms, time_to_live)
        self._last = _NONE  # arm and time of the last decision, until it is noted
        self._now = 0.0
        self._room = self._slots = 0  # for more decisions, and for arms
        player.take_state(with_shares(player.state))
        self._compile(player)

    def _compile(self, player: Player) -> None:
        rule, now = _rule(player), (self.arrays, self._last, 0.0)
        self._grow_older = specialised(grow_older, *now, 0.0, *rule, player.state)
        self._close = specialised(note_closed, *now, 0, 0, 0, 0.0)
        self._choose: Any = None  # a policy in plain Python chooses by itself
        if not player.policy.is_plain:
            examples = (*now, 0.0, *rule, player.view.arena, player.state)
            chosen = specialised(choose_older, *examples)
            self._choose = explaining(chosen, own_functions(player.policy, player.family))

    def _so_far(self, n_arms: int) -> tuple[LateArrays, tuple[int, float], float]:
        """What is known, the decision that is to be noted, and the time."""
        last, self._last = self._last, _NONE
        if last is not _NONE:
            self._room -= 1
            if self._room <= 0 or n_arms > self._slots:
                self._make_room(n_arms)
        return self.arrays, last, self._now

    def _make_room(self, n_arms: int) -> None:
        """Make room for the arms that have been met, and for more decisions."""
        self.arrays = arrays = with_room_for(self.arrays, n_arms, 2)
        notes, self._slots = viewed(arrays).notes, len(arrays.sums)
        self._room = len(arrays.ring) - int(notes[MADE] - notes[FIRST] + 1)

    def pass_time(self, player: Player, now: float) -> None:
        """Keep the time: decisions grow older when it matters."""
        self._now = now

    def look(self, player: Player) -> None:
        """Write what arms' pulls are worth by the ages of their decisions."""
        now = self._so_far(player.view.n_arms)
        self._grow_older(*now, player.unpulled, *_rule(player), player.state)
        if player.limits.paused:
            hide(player.state.best, player.state.count, np.array(player.limits.paused))

    def choose(self, player: Player) -> int:
        """The next arm."""
        if self._choose is None or player.limits.paused:
            self.look(player)
            return player.choose_now()
        now, rule = self._so_far(player.view.n_arms), _rule(player)
        return int(self._choose(*now, player.unpulled, *rule, player.view.arena, player.state))

    def decided(self, player: Player, arm: int, now: float) -> None:
        """Keep the next decision, which is noted when time passes."""
        self._last = arm, now

    def closed(self, player: Player, number: int, made: Made, outcome: Outcome) -> bool:
        """Note a reward, and how long it took."""
        if outcome.happened is not None:  # else its time is over, which its age tells
            kind = ABOVE if outcome.reward > 0.0 else ZERO
            now = self._so_far(player.view.n_arms)
            self._close(*now, made[0], number, kind, outcome.happened)
        return True

    def learnt(self, pulls: Any, totals: Any) -> None:
        """Take off what open decisions are worth."""
        known = min(len(pulls), len(self.arrays.sums))
        pulls[:known] = np.round(pulls[:known] - self.arrays.sums["extra"][:known])

    def to_data(self) -> dict[str, Any]:
        """All of it as plain JSON data."""
        late = viewed(self.arrays)
        numbers = np.arange(late.notes[FIRST], late.notes[MADE] + 1)
        some = np.flatnonzero((late.sums["closed"] > 0) | (late.sums["young"] > 0))
        notes = late.notes[:NOTES].copy()
        notes[[CHANGED, ACTIVE]] = 0  # how many are in lists, of which one is saved as such
        columns = late.sums[list(SAVED)]
        return {
            "rule": self.name,
            "last": list(self._last),
            "now": self._now,
            "notes": notes.tolist(),
            "changed": np.flatnonzero(late.sums["is_changed"]).tolist(),
            **{name: getattr(late, name).tolist() for name in _ARRAYS},
            "sums": [[int(arm), *columns[arm].item()] for arm in some],
            "young": list(map(list, late.ring[numbers & (len(late.ring) - 1)].tolist())),
        }

    def fill(self, player: Player, data: dict[str, Any]) -> None:
        """Become what `to_data` told."""
        made, first = int(data["notes"][MADE]), int(data["notes"][FIRST])
        self.arrays = with_room_for(self.arrays, player.view.n_arms, made + 3 - first)
        late, self._now = viewed(self.arrays), float(data["now"])
        arm, made_at = data["last"]
        self._last = _NONE if arm == NONE_LEFT else (int(arm), float(made_at))
        late.notes[:NOTES] = data["notes"]
        for name in _ARRAYS:
            getattr(late, name)[...] = data[name]
        for number, row in zip(range(first, made + 1), data["young"], strict=True):
            late.ring[number & (len(late.ring) - 1)] = tuple(row)
        for arm, *values in data["sums"]:
            late.sums[list(SAVED)][arm] = tuple(values)
        weigh_again(late, data["changed"])
        self._make_room(player.view.n_arms)

    def copied(self) -> WeighByAge:
        """One that stays as it is now."""
        twin = copy.copy(self)
        twin.arrays = type(self.arrays)(*(each.copy() for each in self.arrays))
        return twin


def renumbered_late(data: dict[str, Any], where: list[int]) -> dict[str, Any]:
    """What `to_data` told, for arms with other numbers; -1 is an arm that is gone."""
    if data["rule"] == "hold":
        held = [[n, where[arm] if arm >= 0 else -1, *rest] for n, arm, *rest in data["held"]]
        return {**data, "held": held}
    last, at = data["last"]
    last = where[last] if last >= 0 else last
    young = [[t, where[arm] if arm >= 0 else -1, *rest] for t, arm, *rest in data["young"]]
    sums = [[where[arm], *rest] for arm, *rest in data["sums"] if where[arm] >= 0]
    changed = sorted(where[arm] for arm in data["changed"] if where[arm] >= 0)
    return {**data, "last": [last, at], "young": young, "sums": sums, "changed": changed}
