"""Decisions with a number: which are open, what became of the others, and when one is too late."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
from array import array
from collections import OrderedDict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from unimodal.errors import (
    ConflictingReward,
    ExpiredDecision,
    UnimodalError,
    UnknownDecision,
    real_number,
    unknown_name,
    whole_number,
)
from unimodal.families import Family

ON_EXPIRY = ("drop", "zero")
_FLAGS = (bool, np.bool_)


@dataclass(frozen=True, slots=True)
class Decision:
    """An arm to pull now, with the number under which its reward is to be told.

    `reason` is 'start', 'forced leader', 'contest', 'look around' (PeakUTS drew a likely peak) or
    'cap' (an arm had had its share, so the leader was played: `Agent.cap`); `leader` the arm that
    led (None in a start, or where nobody leads); `near` how many arms competed, or would have if
    there had been a contest (1 in a start); `propensity`, if it was asked for, the probability with
    which this arm was chosen, given the leader (None where it is not known).

    Attributes
    ----------
    id
        The number under which its reward is told.
    arm
        The label of the arm.
    reason
        Why it was chosen.
    leader
        The arm that led.
    near
        How many arms competed.
    time
        When it was made, in seconds.
    propensity
        With which probability it was chosen, if that was asked for.

    Examples
    --------
    >>> import unimodal as um
    >>> um.Agent(um.UTS(), um.graphs.line(3), seed=1).decide().reason
    'start'
    """

    id: int
    arm: Any
    reason: str
    leader: Any
    near: int
    time: float
    propensity: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """The fields by name, to hand on.

        >>> Decision(1, "9.90", "contest", "9.90", 3, 0.5).to_dict()["arm"]
        '9.90'
        """
        return dataclasses.asdict(self)

    def to_json(self) -> str:
        """The same as JSON; labels must be text, numbers or tuples of them."""
        return json.dumps(self.to_dict())


class Outcomes(Protocol):
    """The rewards of decisions that were closed by one."""

    def get(self, decision: int) -> float | None:
        """The reward of a decision, or None if it has none."""

    def set(self, decision: int, reward: float) -> None:
        """Keep a reward."""

    def decided(self, arm: int) -> None:
        """Keep the arm of the next decision, if that is not kept elsewhere."""

    def told(self, oldest: int, made: int, arm: int, reward: float) -> None:
        """Keep a reward without a decision that came while one is open, if it is not elsewhere."""


class Told(NamedTuple):
    """A reward that was told without a decision, and how many decisions had been made by then."""

    made: int
    arm: int
    reward: float


class RewardsInMemory:
    """Sixteen bytes a decision, so that millions of them can be told twice and certified."""

    def __init__(
        self,
        rewards: Sequence[float | None] = (),
        arms: Sequence[int] = (),
        told: Iterable[Sequence[Any]] | None = (),
    ) -> None:
        self._rewards = array("d", (math.nan if r is None else r for r in rewards))
        self.arms = array("q", arms)
        # Those that were told behind an open decision; None: the file's version did not keep them.
        self.behind = None if told is None else deque(Told(*each) for each in told)

    def get(self, decision: int) -> float | None:
        """The reward of a decision, or None if it has none."""
        known = decision <= len(self._rewards) and not math.isnan(self._rewards[decision - 1])
        return self._rewards[decision - 1] if known else None

    def set(self, decision: int, reward: float) -> None:
        """Keep a reward."""
        self._rewards.extend([math.nan] * (decision - len(self._rewards)))
        self._rewards[decision - 1] = reward

    def decided(self, arm: int) -> None:
        """Keep the arm of the next decision."""
        self.arms.append(arm)

    def told(self, oldest: int, made: int, arm: int, reward: float) -> None:
        """Keep a reward without a decision, and none of those before the oldest open decision."""
        if self.behind is not None:
            while self.behind and self.behind[0].made < oldest:
                self.behind.popleft()
            self.behind.append(Told(made, arm, reward))

    def as_arrays(self, made: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The arms of the decisions, as far as they are known, and their rewards or NaN."""
        rewards = np.full(made, math.nan)
        rewards[: len(self._rewards)] = self._rewards
        return np.array(self.arms, dtype=np.int64), rewards

    def to_data(self) -> list[float | None]:
        """The rewards in the order of the decisions, as plain JSON data."""
        return [None if math.isnan(reward) else reward for reward in self._rewards]


def check_expiry(family: Family, on_expiry: str) -> None:
    """Refuse expiries that count as 0 where rewards would then not be of the family.

    Neither certificates nor alarms would hold. Files of before may have them, and are not refused.
    """
    if on_expiry == "zero" and not family.takes_zeros:
        raise UnimodalError(
            "on_expiry='zero' must go with rewards that are still of their family if some are 0 "
            f"instead, Bernoulli or Bounded, got {family.told!r}: use um.Bounded(a, b) with the "
            "bounds of your rewards ('drop' is no way out: which rewards are late may depend on "
            "them)."
        )


class Book:
    """The decisions of an agent: numbered from 1, open until a reward or their time closes them."""

    def __init__(
        self, family: Family, time_to_live: float | None = None, on_expiry: str = "drop"
    ) -> None:
        self.time_to_live = (
            math.inf if time_to_live is None else real_number(time_to_live, "time_to_live", above=0)
        )
        if not isinstance(on_expiry, str) or on_expiry not in ON_EXPIRY:
            raise unknown_name("on_expiry", on_expiry, ON_EXPIRY)
        if on_expiry == "zero":
            family.check_reward(0.0)  # the family may not have it
        self.on_expiry, self._family = on_expiry, family
        self.made, self.now = 0, -math.inf
        # Arm and time, the earliest first: a dict would have to look for its first one.
        self.open: OrderedDict[int, tuple[int, float]] = OrderedDict()
        self.outcomes: Outcomes = RewardsInMemory()
        # Times after the first of three numbers, up to the second, are so many seconds too early.
        self.late: Sequence[float] = ()

    def tick(self, time: float) -> float:
        """The time, which never goes back here even if the machine's clock does."""
        try:
            seconds = float(time)  # a clock may count whole seconds
        except (TypeError, ValueError, OverflowError):
            seconds = math.nan
        if not math.isfinite(seconds):
            raise UnimodalError(f"the clock must tell a finite number of seconds, got {time!r}.")
        self.now = max(self.now, seconds)
        return self.now

    def add(self, arm: int, now: float) -> int:
        """Open a decision."""
        self.made += 1
        self.open[self.made] = arm, now
        self.outcomes.decided(arm)
        return self.made

    @property
    def spoils_evidence(self) -> bool:
        """Whether an expiry makes rewards that are not of the family: see `check_expiry`."""
        return self.on_expiry == "zero" and not self._family.takes_zeros

    def tell(self, arm: int, reward: float) -> None:
        """Note a reward without a decision, which counts behind all decisions so far."""
        if self.open:
            self.outcomes.told(next(iter(self.open)), self.made, arm, reward)

    def due(self, now: float) -> list[int]:
        """The open decisions whose time is over."""
        due: list[int] = []
        if self.time_to_live == math.inf:
            return due
        for decision in self.open:
            if self._is_open(decision, now):
                break  # and so are all that came later
            due.append(decision)
        return due

    def close(self, decision: int, reward: float | None) -> tuple[int, float]:
        """Close a decision, with its reward if it has one; its arm and its time."""
        if reward is not None:
            self.outcomes.set(decision, reward)
        return self.open.pop(decision)

    def news(
        self, told: Sequence[tuple[Any, Any]], now: float, happened: Sequence[Any] | None = None
    ) -> dict[int, float]:
        """What is new among decisions and rewards; a mistake anywhere refuses all of them.

        `happened` is when each outcome did, where that is known: then it must have been in time.
        """
        news: dict[int, float] = {}
        for place, (decision, reward) in enumerate(told):
            decision, value = self._known(decision), self._checked(reward)
            at = now if happened is None else self._happened(decision, happened[place], now)
            before = news.get(decision)
            if before is None and self._is_open(decision, at):
                news[decision] = value
                continue
            if before is None:
                before = self.outcomes.get(decision)
            if before is None:
                raise ExpiredDecision(
                    f"decision {decision} has expired: its reward came later than "
                    f"{self.time_to_live:g} s after it; allow more with time_to_live=…."
                )
            if before != value:
                raise ConflictingReward(
                    f"decision {decision} has the reward {before:g} already, got {value:g}: "
                    "a reward cannot be changed."
                )
        return news

    def to_data(self) -> dict[str, Any]:
        """All of it as plain JSON data; rewards only if they are kept in memory."""
        lives = self.time_to_live
        data: dict[str, Any] = {
            "time_to_live": lives if math.isfinite(lives) else None,
            "on_expiry": self.on_expiry,
            "made": self.made,
            "now": self.now if math.isfinite(self.now) else None,
            "open": [[number, arm, made] for number, (arm, made) in self.open.items()],
        }
        if isinstance(self.outcomes, RewardsInMemory):
            data["rewards"], data["arms"] = self.outcomes.to_data(), self.outcomes.arms.tolist()
            if self.outcomes.behind is not None:
                data["told"] = list(map(list, self.outcomes.behind))
        return data

    def copied(self) -> Book:
        """A book whose data stays what it is now; to look at only."""
        twin = copy.copy(self)
        twin.open = self.open.copy()
        if isinstance(self.outcomes, RewardsInMemory):
            twin.outcomes = copy.deepcopy(self.outcomes)
        return twin

    @classmethod
    def from_data(cls, family: Family, data: dict[str, Any]) -> Book:
        """The book that `to_data` described."""
        book = cls(family, data["time_to_live"], data["on_expiry"])
        book.made = data["made"]
        book.now = -math.inf if data["now"] is None else float(data["now"])
        book.open.update((number, (arm, made)) for number, arm, made in data["open"])
        kept = (data.get("rewards", ()), data.get("arms", ()), data.get("told"))
        book.outcomes = RewardsInMemory(*kept)
        return book

    def since(self, time: float) -> float:
        """The time from which something lives that got this one."""
        if self.late and self.late[0] < time <= self.late[1]:
            return time + self.late[2]
        return time

    def _is_open(self, decision: int, now: float) -> bool:
        return (
            decision in self.open and now < self.since(self.open[decision][1]) + self.time_to_live
        )

    def _happened(self, decision: int, time: Any, now: float) -> float:
        """When an outcome happened: after its decision, and not in the future."""
        at = real_number(time, "the 'time' of reward")
        made = self.open[decision][1] if decision in self.open else -math.inf
        if not made <= at <= now:
            raise UnimodalError(
                f"the 'time' of reward must lie between its decision (at {made:g}) and now "
                f"({now:g}), got {time!r} for decision {decision}: give when the outcome happened, "
                "in seconds of the agent's clock."
            )
        return at

    def _known(self, decision: Any) -> int:
        number: int = decision
        if type(decision) is not int or decision < 1:  # whole_number takes as long as learning
            number = whole_number(decision, "the id of a decision")
        if number > self.made:
            made = f"made {self.made:,} so far" if self.made else "made none yet"
            raise UnknownDecision(f"there is no decision {number}: the agent {made}.")
        return number

    def _checked(self, reward: Any) -> float:
        if isinstance(reward, _FLAGS):
            raise UnimodalError(f"a reward must be a number, got {reward!r}: pass 1.0 or 0.0.")
        return self._family.check_reward(reward) + 0.0  # -0.0 is 0.0, as in a file
