"""A campaign: an agent that survives crashes, for several threads and processes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, overload

from unimodal.agents.agent import Agent
from unimodal.agents.decisions import Decision
from unimodal.agents.explanation import Explanation
from unimodal.agents.limits import checked_cap
from unimodal.agents.past_data import as_past_data
from unimodal.campaigns.alarm_watch import AlarmWatch
from unimodal.campaigns.alarms import Alarm, alarms
from unimodal.campaigns.certifying import certificate
from unimodal.campaigns.commands.changing import inserting, limiting, revising
from unimodal.campaigns.commands.deciding import KEY_LIFETIME
from unimodal.campaigns.commands.rewarding import expiring, rewarding, telling
from unimodal.campaigns.events.keyed import key_digest
from unimodal.campaigns.explain import explain
from unimodal.campaigns.group_commit import Call
from unimodal.campaigns.history_table import plain
from unimodal.campaigns.log_facts import LogFacts
from unimodal.campaigns.log_reader import LogReader
from unimodal.campaigns.reading import Reading, backup, look, read_table
from unimodal.campaigns.settings import Settings
from unimodal.campaigns.stores import Place, Store, as_place, kind_of
from unimodal.campaigns.writer import Writer
from unimodal.errors import UnimodalError, real_number, whole_number
from unimodal.families import Family
from unimodal.graphs.graph import plain_label
from unimodal.inference.certificate import Certificate
from unimodal.inference.peak_test import check_confidence
from unimodal.policies import Policy

if TYPE_CHECKING:
    import polars as pl

Found = TypeVar("Found")


class Campaign:
    """Decisions that survive a crash: the state and the log of an agent, in one SQLite file.

    `Campaign.open` makes the file or goes on with it. Whatever a method returned is on disk: a
    decision is never made twice, a reward is never lost and never counted twice. One file may be
    open in several threads and processes of one machine at once.

    Parameters
    ----------
    store
        Where the log is kept. `Campaign.open` makes all four of these.
    given
        The settings that were passed.
    clock
        The time in seconds, a function.
    key_lifetime
        For how many seconds keys of `decide` are known.

    Examples
    --------
    >>> import tempfile, unimodal as um
    >>> file = tempfile.mkdtemp() + "/prices.db"
    >>> ladder = um.graphs.line(["9.90", "12.90", "14.90"])
    >>> money = um.Scaled(um.Bernoulli(), by=float)  # sold or not, and a sale is worth its price
    >>> with um.Campaign.open(file, um.UTS(), ladder, money, seed=1) as campaign:
    ...     decision = campaign.decide()
    >>> with um.Campaign.open(file) as campaign:
    ...     campaign.reward(decision.id, 1.0), campaign.reward(decision.id, 1.0)  # sold
    (True, False)
    """

    def __init__(
        self,
        store: Store,
        given: Settings,
        clock: Callable[[], float],
        key_lifetime: float = KEY_LIFETIME,
    ) -> None:
        self._store, self._key_lifetime = store, key_lifetime
        self._watch: AlarmWatch | None = None
        self._writer = Writer(store, given, clock)
        self._reader, self._reading = LogReader(given.policy), threading.Lock()

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
        data: Any = None,
        durability: str = "full",
        wait: float = 30.0,
        clock: Callable[[], float] = time.time,
        key_lifetime: float = KEY_LIFETIME,
    ) -> Campaign:
        """Open the file of a campaign, or make it.

        What a file is about is written into it; pass it again to have it compared, or leave it
        out. Only code is not kept: a neighbour function and a policy of your own are passed at
        every opening. `data` are rewards from before, as in `Agent`: they become the first event of
        a new file, and are only compared if they are passed again. `durability="fast"` leaves the
        syncing of commits to the system: they survive a killed process, but not a power failure.
        `wait` is how many seconds another process may keep the file busy.

        An address such as "postgresql://user@host/database?campaign=prices" keeps the campaign in
        PostgreSQL, where several machines can share it; the tables are made at the first opening.
        `wait` is then also how long a server is tried to be reached, and by default times are the
        server's. `key_lifetime` is for how many seconds `decide(key=…)` remembers a key.

        Parameters
        ----------
        path
            A file, or the address of a campaign in PostgreSQL.
        policy
            As in `Agent`; may be left out when the campaign exists.
        graph
            As in `Agent`; may be left out when the campaign exists.
        family
            As in `Agent`; may be left out when the campaign exists.
        seed
            As in `Agent`.
        root
            As in `Agent`.
        time_to_live
            As in `Agent`.
        on_expiry
            As in `Agent`.
        data
            As in `Agent`.
        durability
            "full" survives a power failure, "fast" only a crash of the program.
        wait
            For how many seconds a busy file is waited for.
        clock
            The time in seconds, a function.
        key_lifetime
            For how many seconds keys of `decide` are known.

        Returns
        -------
        Campaign
            The campaign; use it in a `with` block, or `close` it.

        Raises
        ------
        OtherCampaign
            If it has other settings than those passed.
        StoreError
            If the file or database cannot be read or written.
        """
        past = None if data is None else as_past_data(data)
        given = Settings(policy, graph, family, seed, root, time_to_live, on_expiry, data=past)
        place = as_place(path, "the path of a campaign")
        if not callable(clock):
            raise UnimodalError(f"the clock of a campaign must be a function, got {clock!r}.")
        kind = kind_of(place)
        if not kind.is_there(place, real_number(wait, "the 'wait' of a campaign", above=0)):
            given.check()  # a mistake leaves no file behind
        lifetime = real_number(key_lifetime, "the 'key_lifetime' of a campaign", above=0)
        store = kind.open_store(place, durability, wait)
        try:
            return cls(store, given, clock, lifetime)
        except BaseException:
            store.close()
            raise

    # What users call.

    @overload
    def decide(
        self, n: None = None, *, propensity: bool = False, key: str | None = None
    ) -> Decision: ...

    @overload
    def decide(
        self, n: int, *, propensity: bool = False, key: str | None = None
    ) -> list[Decision]: ...

    def decide(
        self, n: int | None = None, *, propensity: bool = False, key: str | None = None
    ) -> Decision | list[Decision]:
        """The next decision, or a list of the next `n`; on disk when this returns.

        The same `key` gives the same decisions for a day (`key_lifetime`), also after a crash and
        in another process: whoever does not know whether a call arrived makes it again with the key
        that it had. The log has a digest of it, written with the decisions.

        Parameters
        ----------
        n
            How many decisions; one by default.
        propensity
            Whether the probability of each choice is computed.
        key
            A name of yours for the call: the same key gets the same decisions again.

        Returns
        -------
        Decision | list[Decision]
            A decision, or a list of `n`.

        Raises
        ------
        StoreError
            If nothing could be written; then nothing was decided.

        Examples
        --------
        >>> import tempfile, unimodal as um
        >>> file = tempfile.mkdtemp() + "/prices.db"
        >>> with um.Campaign.open(file, um.UTS(), um.graphs.line(3)) as campaign:
        ...     campaign.decide(key="visit 17") == campaign.decide(key="visit 17")
        True
        """
        count = 1 if n is None else whole_number(n, "the 'n' of decide")
        digest = None if key is None else key_digest(key)
        made = self._writer.decisions(count, propensity, digest, self._key_lifetime)
        return made[0] if n is None else made

    @overload
    def reward(self, decision: int, reward: float) -> bool: ...

    @overload
    def reward(self, decision: Sequence[int], reward: Sequence[float]) -> list[bool]: ...

    def reward(self, decision: Any, reward: Any) -> bool | list[bool]:
        """The reward of a decision, by its id; or ids and rewards, two sequences.

        True if it counts now, False if the same was told before; on disk when this returns. What
        `Agent.reward` refuses is refused here.

        Parameters
        ----------
        decision
            The id of a decision, or a list of ids.
        reward
            Its reward, or a list of rewards.

        Returns
        -------
        bool | list[bool]
            Whether it was counted: False if it was known already.

        Raises
        ------
        UnknownDecision
            If the decision was never made.
        ConflictingReward
            If the decision has another reward already.
        ExpiredDecision
            If it came after the decision's `time_to_live`.
        """
        return self._writer(rewarding(decision, reward))  # type: ignore[no-any-return]

    def tell(self, arm: Any, reward: Any) -> None:
        """A reward of an arm that was not decided here; or arms and rewards, two sequences.

        Such as one of a visitor to whom another system showed a price. It counts like the reward of
        a decision, and counts again if it is told again: there is no id to know it by. On disk when
        this returns.

        Parameters
        ----------
        arm
            The label of an arm, or a list of labels.
        reward
            Its reward, or a list of rewards.
        """
        self._writer(telling(arm, reward))

    def _do(self, calls: list[Call]) -> None:
        """Do calls of a service (`commands`) in one commit, as far as none of them fails half-way.

        Each has its result or its error when this returns.
        """
        self._writer.do(calls)

    def expire(self) -> int:
        """Close the decisions whose time is over, which `decide` and `reward` do too; how many."""
        return int(self._writer(expiring()))

    def add_edges(self, edges: Iterable[tuple[Any, Any]]) -> None:
        """Go on with more edges between arms; labels that are new are new arms."""
        if not isinstance(edges, Iterable):
            raise UnimodalError(f"add_edges needs a list of pairs of labels, got {edges!r}.")
        pairs = (tuple(edge) if isinstance(edge, list) else edge for edge in edges)
        more = list(map(plain_label, pairs))  # what is done may be done again
        self._writer(revising(add=more))

    def remove_edges(self, edges: Iterable[tuple[Any, Any]]) -> None:
        """Go on without some edges; the graph must stay connected."""
        if not isinstance(edges, Iterable) or isinstance(edges, str):
            raise UnimodalError(f"remove_edges needs a list of pairs of labels, got {edges!r}.")
        pairs = (tuple(edge) if isinstance(edge, list) else edge for edge in edges)
        fewer = list(map(plain_label, pairs))
        if not fewer:
            raise UnimodalError("remove_edges needs the edges to remove, got none: name one.")
        self._writer(revising(remove=fewer))

    def insert(self, arm: Any, between: tuple[Any, Any]) -> None:
        """Go on with a new arm between two that are joined: their edge is replaced by two.

        >>> import tempfile, unimodal as um
        >>> ladder = um.graphs.line(["9.90", "12.90", "14.90"])
        >>> file = tempfile.mkdtemp() + "/prices.db"
        >>> with um.Campaign.open(file, um.UTS(), ladder) as campaign:
        ...     campaign.insert("13.90", between=("12.90", "14.90"))
        ...     campaign.agent.graph.n_edges
        3
        """
        if not isinstance(between, tuple | list) or len(between) != 2:
            raise UnimodalError(
                f"insert needs the two arms between which the new one is, got {between!r}: "
                "between=('12.90', '14.90')."
            )
        new, ends = plain_label(arm), plain_label(tuple(between))
        self._writer(inserting(new, ends))

    def retire(self, *arms: Any) -> None:
        """Go on without some arms; what is left must be connected."""
        fewer = list(map(plain_label, arms))
        self._writer(revising(retire=fewer))

    def pause(self, *arms: Any) -> None:
        """Do not offer some arms until they are resumed; what is known of them is kept.

        The policy passes them by: their neighbours are joined to each other. Their open decisions
        still take rewards. Every process follows it, since the log tells it.
        """
        self._limit("pause", [plain_label(arm) for arm in arms])

    def resume(self, *arms: Any) -> None:
        """Offer paused arms again, with all that is known of them."""
        self._limit("resume", [plain_label(arm) for arm in arms])

    def cap(self, share: float | None, over: int = 100) -> None:
        """Let an arm have at most this share of the last `over` decisions unless it leads.

        Where the policy chooses an arm that has had its share, the leader is played instead, with
        the reason 'cap'. Decisions count from now on; `cap(None)` lifts it.
        """
        cap = checked_cap(share, over)
        self._limit("cap", None if cap is None else [cap.share, cap.over])

    def _limit(self, change: str, given: Any) -> None:
        self._writer(limiting(change, given))

    @property
    def paused(self) -> list[Hashable]:
        """The arms that are not offered."""
        return list(self._call(lambda agent: agent.paused))

    @property
    def agent(self) -> Agent:
        """The agent with the state of the file as it is now: to look at, not to ask."""
        return self._writer(Call(lambda state: state.agent))  # type: ignore[no-any-return]

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
        """What went wrong with the clock, the store and look-ups: the last sentences."""
        look_ups = self._call(lambda agent: agent.reports)
        return [*self._writer.reports, *look_ups]

    def arms(self) -> pl.DataFrame:
        """The arms that have led or have rewards: label, pulls, mean reward, leads."""
        return self._call(lambda agent: agent.arms())  # type: ignore[no-any-return]

    def certificate(self, confidence: float = 0.95, tolerance: float | None = None) -> Certificate:
        """Which arm is the peak, with which confidence; or what cannot be told yet.

        As `Agent.certificate`, from the log; others go on meanwhile.

        Parameters
        ----------
        confidence
            The confidence that is asked for.
        tolerance
            By how much the leader's mean may be below the peak's.

        Returns
        -------
        Certificate
            Which arm is the peak, or what is missing; true if it is certified.
        """
        return certificate(self, confidence, tolerance)

    def history(self) -> pl.DataFrame:
        """The log, one row per event, with all that was on disk when this was called."""
        return plain(self.compact_history())

    def compact_history(self) -> pl.DataFrame:
        """The log as `history` has it, but with words as categories: a fraction of the memory.

        Both read beside the calls of others, which go on meanwhile.
        """
        self._check_readable()
        table = read_table(self._store.path)
        self._store.check_place()  # else it was another file that was read
        return table

    def explain(self, decision: int) -> Explanation:
        """Why a decision fell on its arm: what was known, what was drawn, who won.

        It is read from the log, beside the calls of others; no look-up is made.

        Parameters
        ----------
        decision
            The id of a decision.

        Returns
        -------
        Explanation
            What was known then, what was drawn, who won.

        Examples
        --------
        >>> import tempfile, unimodal as um
        >>> file = tempfile.mkdtemp() + "/prices.db"
        >>> with um.Campaign.open(file, um.UTS(), um.graphs.line(3)) as campaign:
        ...     decisions = campaign.decide(5)
        ...     campaign.explain(1).because
        'The start pulls some arms before anybody leads; this was number 1 of 3.'
        """
        self._check_readable()
        return explain(self._store.path, decision, self._writer.policy)

    def alarms(self, confidence: float = 0.99) -> list[Alarm]:
        """What is wrong: a second peak, a change, look-ups that fail, rewards that do not come.

        `um.alarms` says when each is raised; an empty list if nothing shows. It reads what has
        come since it was last asked, the first time the whole log, beside the calls of others.

        Parameters
        ----------
        confidence
            At which second peaks and changes are tested.

        Returns
        -------
        list[Alarm]
            What the owner should look at; empty if nothing shows.
        """
        self._check_readable()
        return alarms(self, confidence)

    def _followed(self, work: Callable[[Agent, LogFacts], Found]) -> Found:
        """What some work finds in the agent and the facts of the log, as they are at one moment.

        Each event is read once, beside the calls of others: the campaign keeps what it read. The
        work must not keep the agent, which goes on with the log.
        """
        self._check_readable()
        with self._reading:
            found = self._reader.read(self._store.path, work)
        self._store.check_place()  # else it was another file that was read
        return found

    def _looked_at(self) -> Reading:
        """The agent and the log as they are at one moment, and stay: to inspect and to replay."""
        self._check_readable()
        found = look(self._store.path, self._writer.policy)
        self._store.check_place()
        return found

    def watch(
        self,
        tell: Callable[[Alarm], object],
        *,
        every: float = 60.0,
        confidence: float = 0.99,
    ) -> None:
        """Call a function with each alarm when it is first seen, until the campaign is closed.

        A thread looks at once and then after so many seconds, outside of all calls. What the
        function raises is logged by the logger "unimodal" and disturbs nobody. Watching again
        replaces the function.
        """
        if not callable(tell):
            raise UnimodalError(f"watch needs a function that takes an alarm, got {tell!r}.")
        pause = real_number(every, "the 'every' of watch", above=0)
        level = check_confidence(confidence, "the 'confidence' of alarms")
        self._check_readable()
        self._stop_watching()
        self._watch = AlarmWatch(lambda: self.alarms(level), tell, pause)

    def _stop_watching(self) -> None:
        if self._watch is not None:
            self._watch.stop()
            self._watch = None

    def backup(self, path: str | Path) -> Place:
        """Copy the campaign, as it is now, into a new file; calls go on meanwhile.

        Never copy the file of a running campaign by other means: a part of it is in its -wal, and
        a copy made by this very process makes SQLite drop its locks.
        """
        return backup(self._store.path, path)

    def close(self) -> None:
        """Write a snapshot, so that the next opening is quick, and let the file go."""
        if not self._writer.is_copy:
            self._stop_watching()
        self._writer.close()

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

    def _check_readable(self) -> None:
        """Refuse to read beside the calls where there is no file to be read."""
        if self._writer.is_copy or self._store.closed:
            self._call(lambda agent: None)  # which refuses, in its own words
        self._store.check_place()

    def _call(self, work: Callable[[Agent], Any]) -> Any:
        return self._writer(Call(lambda state: work(state.agent)))
