"""A campaign: an agent that survives crashes, for several threads and processes."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from unimodal import files
from unimodal.agents.agent import Agent
from unimodal.agents.decisions import Decision
from unimodal.campaigns.history_table import plain
from unimodal.campaigns.reading import backup, read_table
from unimodal.campaigns.settings import Settings
from unimodal.campaigns.stores import Store, kind_of
from unimodal.campaigns.transactions import TransactionRunner
from unimodal.errors import UnimodalError, whole_number
from unimodal.families import Family
from unimodal.graphs.graph import plain_label
from unimodal.policies import Policy

if TYPE_CHECKING:
    import polars as pl


class Campaign:
    """Decisions that survive a crash: the state and the log of an agent, in one SQLite file.

    `Campaign.open` makes the file or goes on with it. Whatever a method returned is on disk: a
    decision is never made twice, a reward is never lost and never counted twice. One file may be
    open in several threads and processes of one machine at once.

    >>> import tempfile, unimodal as um
    >>> file = tempfile.mkdtemp() + "/prices.db"
    >>> ladder = um.graphs.from_edges([("9.90", "12.90"), ("12.90", "14.90")])
    >>> money = um.Scaled(um.Bernoulli(), by=float)  # sold or not, and a sale is worth its price
    >>> with um.Campaign.open(file, um.UTS(), ladder, money, seed=1) as campaign:
    ...     decision = campaign.decide()
    >>> with um.Campaign.open(file) as campaign:
    ...     campaign.reward(decision.id, 1.0), campaign.reward(decision.id, 1.0)  # sold
    (True, False)
    """

    def __init__(self, store: Store, given: Settings, clock: Callable[[], float]) -> None:
        self._store = store
        self._transactions = TransactionRunner(store, given, clock)

    @classmethod
    def open(
        cls,
        path: str | Path,
        policy: Policy | None = None,
        graph: Any = None,
        family: Family | None = None,
        *,
        seed: int | None = None,
        root: Any = None,
        time_to_live: float | None = None,
        on_expiry: str | None = None,
        durability: str = "full",
        wait: float = 30.0,
        clock: Callable[[], float] = time.time,
    ) -> Campaign:
        """Open the file of a campaign, or make it.

        What a file is about is written into it; pass it again to have it compared, or leave it
        out. Only code is not kept: a neighbour function and a policy of your own are passed at
        every opening. `durability="fast"` leaves the syncing of commits to the system: they survive
        a killed process, but not a power failure. `wait` is how many seconds another process may
        keep the file busy.
        """
        given = Settings(policy, graph, family, seed, root, time_to_live, on_expiry)
        path = files.as_path(path, "the path of a campaign")
        if not callable(clock):
            raise UnimodalError(f"the clock of a campaign must be a function, got {clock!r}.")
        if not path.exists():
            given.check()  # a mistake leaves no file behind
        store = kind_of(path).open_store(path, durability, wait)
        try:
            return cls(store, given, clock)
        except BaseException:
            store.close()
            raise

    # What users call.

    @overload
    def decide(self, n: None = None, *, propensity: bool = False) -> Decision: ...

    @overload
    def decide(self, n: int, *, propensity: bool = False) -> list[Decision]: ...

    def decide(
        self, n: int | None = None, *, propensity: bool = False
    ) -> Decision | list[Decision]:
        """The next decision, or a list of the next `n`; on disk when this returns."""
        count = 1 if n is None else whole_number(n, "the 'n' of decide")
        made = self._transactions.decisions(count, propensity)
        return made[0] if n is None else made

    @overload
    def reward(self, decision: int, reward: float) -> bool: ...

    @overload
    def reward(self, decision: Sequence[int], reward: Sequence[float]) -> list[bool]: ...

    def reward(self, decision: Any, reward: Any) -> bool | list[bool]:
        """The reward of a decision, by its id; or ids and rewards, two sequences.

        True if it counts now, False if the same was told before; on disk when this returns. What
        `Agent.reward` refuses is refused here.
        """
        new: bool | list[bool] = self._transactions(
            lambda machine: machine.agent.reward(decision, reward), may_repeat=True
        )
        return new

    def expire(self) -> int:
        """Close the decisions whose time is over, which `decide` and `reward` do too; how many."""
        return int(self._call(lambda agent: agent.expire()))

    def add_edges(self, edges: Iterable[tuple[Any, Any]]) -> None:
        """Go on with more edges between arms; labels that are new are new arms."""
        if not isinstance(edges, Iterable):
            raise UnimodalError(f"add_edges needs a list of pairs of labels, got {edges!r}.")
        pairs = (tuple(edge) if isinstance(edge, list) else edge for edge in edges)
        self._revise(map(plain_label, pairs), [])

    def retire(self, *arms: Any) -> None:
        """Go on without some arms; what is left must be connected."""
        self._revise([], map(plain_label, arms))

    def _revise(self, add: Iterable[Any], retire: Iterable[Any]) -> None:
        more, fewer = list(add), list(retire)  # what is done may be done again
        self._transactions(lambda machine: machine.revise(more, fewer))

    @property
    def agent(self) -> Agent:
        """The agent with the state of the file as it is now: to look at, not to ask."""
        return self._transactions(lambda machine: machine.agent)  # type: ignore[no-any-return]

    @property
    def leader(self) -> Hashable:
        """The arm that led in the last round."""
        led: Hashable = self._call(lambda agent: agent.leader)
        return led

    @property
    def outstanding(self) -> int:
        """How many decisions wait for their reward."""
        return int(self._call(lambda agent: agent.outstanding))

    @property
    def reports(self) -> list[str]:
        """What went wrong with the clock and with look-ups: the last sentences."""
        return [*self._transactions.clock.reports, *self._call(lambda agent: agent.reports)]

    def arms(self) -> pl.DataFrame:
        """The arms that have led or have rewards: label, pulls, mean reward, leads."""
        return self._call(lambda agent: agent.arms())  # type: ignore[no-any-return]

    def history(self) -> pl.DataFrame:
        """The log, one row per event, with all that was on disk when this was called."""
        return plain(self.compact_history())

    def compact_history(self) -> pl.DataFrame:
        """The log as `history` has it, but with words as categories: a fraction of the memory.

        Both read beside the calls of others, which go on meanwhile.
        """
        if self._transactions.is_copy or self._store.closed:
            self._call(lambda agent: None)  # which refuses, in its own words
        self._store.check_place()
        table = read_table(self._store.path)
        self._store.check_place()  # else it was another file that was read
        return table

    def backup(self, path: str | Path) -> Path:
        """Copy the campaign, as it is now, into a new file; calls go on meanwhile.

        Never copy the file of a running campaign by other means: a part of it is in its -wal, and
        a copy made by this very process makes SQLite drop its locks.
        """
        return backup(self._store.path, path)

    def close(self) -> None:
        """Write a snapshot, so that the next opening is quick, and let the file go."""
        self._transactions.close()

    def __enter__(self) -> Campaign:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        """The file, and who decides; only the file where it cannot be read just now."""
        path = repr(str(self._store.path))
        try:
            return f"Campaign({path}, {'closed' if self._store.closed else self.agent})"
        except UnimodalError:  # in a forked copy, within a call, or while the file is busy
            return f"Campaign({path})"

    def _repr_html_(self) -> str:
        return self.agent._repr_html_()

    def _call(self, work: Callable[[Agent], Any]) -> Any:
        return self._transactions(lambda machine: work(machine.agent))
