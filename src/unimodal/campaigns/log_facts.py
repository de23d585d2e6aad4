"""What readers need of a log, as narrow columns and sums that go on from where they were.

Certificates, alarms and second peaks ask for these facts, whether a log was taken all at once or
a few events at a time: the sums are added up in the same order, so they are the same to the bit.
A decision takes 29 bytes.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unimodal.campaigns.events import (
    KINDS,
    NO_EVENT,
    Damage,
    Row,
    all_sound,
    fault,
    identity_of,
    kinds_that,
)
from unimodal.campaigns.events.rewarded import reward_fault
from unimodal.campaigns.log_start import WHOLE, LogStart
from unimodal.errors import DamagedFile, UnimodalError
from unimodal.families import Family
from unimodal.inference.change import ChangeTest

if TYPE_CHECKING:
    import polars as pl

LOOK_UPS = 100  # of which it is known how they ended: the last
OPEN, REWARDED, EXPIRED = 0, 1, 2  # what became of a decision
_MOST_LAG = 2**32 - 1
_KIND = itemgetter(Row._fields.index("kind"))
_PLACES = {name: place for place, name in enumerate(Row._fields)}


class LogFacts:
    """What is known of a log after event `seq`; `take` goes on with the events that follow.

    Decisions have rows, in their order; those that were open where the log begins come first.

    Attributes
    ----------
    start
        What was before the first event.
    seq
        The last event that was taken.
    end
        Which event that is.
    kinds
        How many events there are of each kind.
    dropped
        How many decisions before the oldest open one have no reward.
    graph_changed
        Whether arms have had other neighbours than now.
    look_ups
        The last look-ups: data and time.
    last_closed, longest_run
        How many decisions had been made when the last one was closed; and the longest run of
        decisions in which none was.
    """

    def __init__(
        self,
        source: Any = "the log",
        start: LogStart = WHOLE,
        family: Family | None = None,
        zero_on_expiry: bool = False,
    ) -> None:
        self._source, self._family, self._zero_on_expiry = source, family, zero_on_expiry
        self.start, self.seq, self.end = start, start.seq, NO_EVENT
        self.kinds: Counter[str] = Counter()
        self.arms: list[str] = []  # as text, by their number here
        self.leaders: set[str] = set()
        self.graph_changed = False
        self.look_ups: deque[tuple[Any, float]] = deque(maxlen=LOOK_UPS)
        self.last_closed, self.longest_run = start.made, 0
        self._numbers: dict[str, int] = {}
        self._pulled: dict[int, None] = {}  # arms in the order of their first pulls
        self._rewards_of: Counter[int] = Counter()  # by arm, in the order of their first rewards
        # By row: time, arm, what became of it, reward (NaN: none), decisions made until it closed.
        self._times, self._of = array("d"), array("i")
        self._status = bytearray()
        self._rewards, self._lags = array("d"), array("I")
        # Rewards without a decision: how many rows there were, arm, reward.
        self._told_at, self._told_of, self._told = array("q"), array("i"), array("d")
        # What counts for a certificate: up to the oldest open decision.
        self._row = self._next_told = 0
        self._pulls: list[int] = []
        self._totals: list[float] = []
        self._counted_of = array("i")
        self.dropped, self._with_reward = 0, 0
        self._changes: dict[int, tuple[ChangeTest, int]] = {}
        self._ids_before = [decision for decision, _ in sorted(start.open)]
        self._rows_before = {decision: row for row, decision in enumerate(self._ids_before)}
        for _, arm in sorted(start.open):
            self._add(math.nan, self._number(arm))
        self._row = len(self._status)  # rewards of those do not count, nor are they waited for

    @property
    def made(self) -> int:
        """How many decisions were made, with those before the log."""
        return self.start.made + len(self._status) - len(self._rows_before)

    @property
    def counted(self) -> int:
        """How many rewards count for a certificate."""
        return len(self._counted_of)

    @property
    def waiting(self) -> int:
        """How many rewards do not count yet, since an earlier decision is open."""
        return self._with_reward - self.counted

    # Events.

    def take(self, rows: Sequence[tuple[Any, ...]]) -> list[str | None]:
        """Go on with some events; the arms of all of them, as text.

        The log has the arm of a reward with the decision only.
        """
        if not rows:
            return []
        columns = list(zip(*rows, strict=True))
        if not all_sound(columns):
            _refuse(rows, fault, self._source)
        family = self._family
        if family is not None and not _all_are(family, columns[_PLACES["reward"]]):
            _refuse(rows, lambda row: reward_fault(family, row.reward), self._source)
        self.leaders.update(map(str, set(columns[_PLACES["leader"]]) - {None}))
        arms = [self._taken(row) for row in rows]
        self.kinds.update(map(_KIND, rows))
        self.end = identity_of(Row._make(rows[-1]))
        self._count()
        return arms

    def _taken(self, row: tuple[Any, ...]) -> str | None:
        seq, _, kind = row[:3]
        if seq != self.seq + 1:
            raise _damage(self._source, row, f"follows event {self.seq}, so some are missing")
        self.seq = seq
        try:
            return KINDS[kind].count(row, self)
        except Damage as damage:
            raise _damage(self._source, row, damage.what) from None

    # What kinds of events call, with what their rows have.

    def decided(self, time: float, decision: int, arm: Any) -> None:
        """A decision was made."""
        self._add(time, self._pull(str(arm)))
        if decision != self.made:
            raise Damage(f"is not decision {self.made}")

    def rewarded(self, decision: int, reward: float) -> str:
        """A decision was closed by its reward: its arm."""
        return self._close(decision, REWARDED, reward)

    def expired(self, decision: int) -> str:
        """The time of a decision was over: its arm."""
        return self._close(decision, EXPIRED, 0.0 if self._zero_on_expiry else None)

    def observed(self, arm: Any, reward: float) -> None:
        """A reward was told without a decision."""
        self._told_at.append(len(self._status))
        self._told_of.append(self._pull(str(arm)))
        self._told.append(reward)
        self._with_reward += 1

    def _number(self, arm: str) -> int:
        number = self._numbers.get(arm)
        if number is None:
            number = self._numbers[arm] = len(self.arms)
            self.arms.append(arm)
            self._pulls.append(0)
            self._totals.append(0.0)
        return number

    def _pull(self, arm: str) -> int:
        number = self._number(arm)
        if number not in self._pulled:
            self._pulled[number] = None
        return number

    def _add(self, time: float, arm: int) -> None:
        self._times.append(time)
        self._of.append(arm)
        self._status.append(OPEN)
        self._rewards.append(math.nan)
        self._lags.append(0)

    def _close(self, decision: int, status: int, reward: float | None) -> str:
        row = self._row_of(decision)
        if row is None or self._status[row] != OPEN:
            raise Damage(f"closes decision {decision}, which is not open")
        made, arm = self.made, self._of[row]
        self._status[row], self._lags[row] = status, min(made - decision, _MOST_LAG)
        self.longest_run = max(self.longest_run, made - self.last_closed)
        self.last_closed = made
        if reward is not None:
            self._rewards[row] = reward
            self._rewards_of[arm] += 1
            self._with_reward += row >= len(self._rows_before)
        return self.arms[arm]

    def _row_of(self, decision: int) -> int | None:
        if decision <= self.start.made:
            return self._rows_before.get(decision)
        row = decision - self.start.made - 1 + len(self._rows_before)
        return row if row < len(self._status) else None

    def _count(self) -> None:
        """Count rewards in the order of their decisions, up to the oldest open one."""
        status, rewards, told_at = self._status, self._rewards, self._told_at
        row, told = self._row, self._next_told
        while True:
            while told < len(told_at) and told_at[told] <= row:
                self._count_one(self._told_of[told], self._told[told])
                told += 1
            if row == len(status) or status[row] == OPEN:
                break
            if (reward := rewards[row]) == reward:
                self._count_one(self._of[row], reward)
            else:
                self.dropped += 1
            row += 1
        self._row, self._next_told = row, told

    def _count_one(self, arm: int, reward: float) -> None:
        self._pulls[arm] += 1
        self._totals[arm] += reward
        self._counted_of.append(arm)

    # What certificates and second peaks ask for.

    def counted_sums(self, arm_of: dict[str, int]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Pulls and totals of the rewards that count, by arm of a graph."""
        pulls, totals = np.zeros((2, len(arm_of)))
        for name, pulled, total in zip(self.arms, self._pulls, self._totals, strict=True):
            if (arm := arm_of.get(name)) is not None:
                pulls[arm], totals[arm] = pulled, total
        return pulls, totals

    def waiting_sums(self, arm_of: dict[str, int]) -> tuple[NDArray[Any], NDArray[Any]]:
        """The same of the rewards that do not count yet, since an earlier decision is open."""
        rewards, told = np.array(self._rewards[self._row :]), np.array(self._told_at)
        rows = np.flatnonzero(~np.isnan(rewards))
        told = np.arange(self._next_told, len(told))
        at = np.concatenate([rows + self._row, np.array(self._told_at)[told]])
        order = np.lexsort((np.repeat([1, 0], [len(rows), len(told)]), at))
        of = np.array(self._of[self._row :])[rows], np.array(self._told_of)[told]
        values = np.concatenate([rewards[rows], np.array(self._told)[told]])[order]
        arms = self._by_graph(arm_of)[np.concatenate(of)[order]]
        pulls, totals = np.zeros((2, len(arm_of)))
        known = arms >= 0
        np.add.at(pulls, arms[known], 1.0)
        np.add.at(totals, arms[known], values[known])
        return pulls, totals

    def late_pulls(self, arm_of: dict[str, int]) -> NDArray[np.float64]:
        """How many of the later half of the rewards that count are of each arm of a graph."""
        late = np.bincount(self._counted_of[len(self._counted_of) // 2 :], minlength=len(self.arms))
        found = np.zeros(len(arm_of))
        arms = self._by_graph(arm_of)
        found[arms[arms >= 0]] = late[arms >= 0]
        return found

    def _by_graph(self, arm_of: dict[str, int]) -> NDArray[np.int64]:
        """The arms of a graph by their numbers here; -1 where it has them no longer."""
        return np.array([arm_of.get(name, -1) for name in self.arms], dtype=np.int64)

    @property
    def first_pulls(self) -> list[str]:
        """The arms of decisions and of rewards without one, in the order of their first pulls."""
        return [self.arms[number] for number in self._pulled]

    @property
    def is_open_before(self) -> bool:
        """Whether a decision is still open that was made before the log."""
        return any(self._status[row] == OPEN for row in self._rows_before.values())

    # What alarms ask for.

    @property
    def most_rewarded(self) -> str | None:
        """The arm of which most decisions have a reward; of equals, the one that had it last."""
        if not self._rewards_of:
            return None
        most = max(self._rewards_of.values())
        return self.arms[[arm for arm, n in self._rewards_of.items() if n == most][-1]]

    def change_test(self, arm: str, family: Family) -> ChangeTest:
        """The test of an arm's rewards, in the order of decisions, up to its oldest open one."""
        number = self._numbers.get(arm, -1)
        test, row = self._changes.get(number) or (ChangeTest(family), 0)
        mine = row + np.flatnonzero(np.array(self._of[row:]) == number)
        if len(still_open := np.flatnonzero(self._statuses()[mine] == OPEN)):
            row = int(mine[still_open[0]])  # what comes late may differ from what comes soon
            mine = mine[: still_open[0]]
        else:
            row = len(self._status)
        rewards = np.array(self._rewards)[mine]
        test.take(rewards[~np.isnan(rewards)])
        self._changes[number] = test, row
        return test

    def decision_of(self, arm: str, reward: int) -> int:
        """The decision of an arm's reward, counted from 0 in the order of decisions."""
        is_of = np.array(self._of) == self._numbers[arm]
        return self._id(int(np.flatnonzero(is_of & ~np.isnan(self._rewards))[reward]))

    def time_of(self, decision: int) -> float | None:
        """When a decision was made; None if that was before the log."""
        row = self._row_of(decision)
        return None if decision <= self.start.made or row is None else self._times[row]

    def lags(self) -> NDArray[np.uint32]:
        """How many decisions were made from each closed one until it was closed."""
        lags: NDArray[np.uint32] = np.array(self._lags)[self._statuses() != OPEN]
        return lags

    def still_open(self) -> NDArray[np.int64]:
        """The rows of open decisions."""
        return np.flatnonzero(self._statuses() == OPEN)

    def open_up_to(self, last: int) -> list[int]:
        """The open decisions up to one, in order."""
        found = map(self._id, self.still_open().tolist())
        return [decision for decision in found if decision <= last]

    def since_last_reward(self) -> tuple[int, int, int, int | None]:
        """Of closed decisions, in their order: how many are there up to the last with a reward.

        How many of those have one, how many follow, and the first that follows.
        """
        statuses = self._statuses()
        closed = np.flatnonzero(statuses != OPEN)
        told = np.flatnonzero(statuses[closed] == REWARDED)
        before = int(told[-1]) + 1 if len(told) else 0
        first = self._id(int(closed[before])) if before < len(closed) else None
        return before, len(told), len(closed) - before, first

    def open_times(self) -> NDArray[np.float64]:
        """When the open decisions were made; NaN for those before the log."""
        return np.array(self._times)[self.still_open()]

    def _statuses(self) -> NDArray[np.uint8]:
        return np.array(self._status)

    def _id(self, row: int) -> int:
        before = len(self._ids_before)
        return self._ids_before[row] if row < before else self.start.made + 1 + row - before


def facts_of(history: pl.DataFrame, zero_on_expiry: bool = False) -> LogFacts:
    """The facts of a log that is a table; it may begin anywhere.

    There the arm stands beside the reward, also where the decision is in an archive.
    """
    import polars as pl

    if not history["seq"].is_sorted():
        history = history.sort("seq", maintain_order=True)
    kind = pl.col("kind").cast(pl.String)
    made = history.filter(kind.is_in(kinds_that("decides")))["decision"]
    closed = history.filter(kind.is_in(kinds_that("closes")))
    first = int(made[0]) if len(made) else int(closed["decision"].max() or 0) + 1  # type: ignore[arg-type]
    before = closed.filter(pl.col("decision") < first).select("decision", pl.col("arm").cast(str))
    start = LogStart(
        int(history["seq"][0]) - 1 if history.height else 0, first - 1, tuple(before.iter_rows())
    )
    facts = LogFacts("the history", start, None, zero_on_expiry)
    columns = [name for name in Row._fields if name in history.columns]
    for part in history.select(columns).iter_slices(5_000):
        facts.take([_row(**row) for row in part.iter_rows(named=True)])
    return facts


def _row(**named: Any) -> tuple[Any, ...]:
    """A row of a table as the log has it."""
    columns = KINDS[named["kind"]].columns if named["kind"] in KINDS else {}
    for name in ("arm", "reward"):  # which a table has beside the rewards of other events
        if name not in columns:
            named[name] = None
    if "data" in columns:
        named.setdefault("data", "")
    return Row(**named)


def _all_are(family: Family, rewards: Iterable[float | None]) -> bool:
    try:
        for reward in set(rewards) - {None}:
            family.check_reward(reward)
    except UnimodalError:
        return False
    return True


def _refuse(
    rows: Iterable[tuple[Any, ...]], fault_of: Callable[[Row], str | None], source: Any
) -> None:
    """Say which event is the first to have a fault, and which one."""
    for row in rows:
        if (wrong := fault_of(Row._make(row))) is not None:
            raise _damage(source, row, wrong)


def _damage(source: Any, row: tuple[Any, ...], what: str) -> UnimodalError:
    return DamagedFile(
        f"event {row[0]} of {source} {what}: the file was changed by hand or is damaged; "
        "`unimodal verify` says more."
    )
