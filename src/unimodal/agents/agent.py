"""The agent: a policy that runs online, one `ask` and one `tell` at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Hashable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from unimodal.agents.decisions import Book, Decision, check_expiry
from unimodal.agents.late import EXPIRED, Outcome, WeighByAge, checked_late
from unimodal.agents.limits import Limits
from unimodal.agents.past_data import PastData, PastRewards, as_past_data, checked
from unimodal.agents.player import Player
from unimodal.errors import UnimodalError, refuse_set, whole_number
from unimodal.families import Family, as_family
from unimodal.families.family import divergence
from unimodal.graphs import Graph
from unimodal.graphs.graph import plain_label
from unimodal.inference.late_rewards import delay_shares, viewed
from unimodal.kernels.random import POLICY, stream
from unimodal.lookup.graph_view import LazyGraphView, WholeGraphView
from unimodal.lookup.oracle import Neighbours, Oracle, as_oracle
from unimodal.policies import UTS, PeakUTS, Policy, as_policy
from unimodal.policies.policy import arena_of

if TYPE_CHECKING:
    import polars as pl

    from unimodal.inference.certificate import Certificate

_SHOWN = 10  # arms, in a notebook
MOST_AT_ONCE = 10**6  # arms in one call: more would take minutes, and gigabytes
# Called with what happens to decisions: kind, time, id, and the decision or the reward.
Recorder = Callable[[str, float, int, Any], None]


class Agent:
    """A policy on a graph, choosing arms for you.

    `graph` is a Graph, or an Oracle, or a function that returns the neighbours of an arm's label;
    then `root` is the arm from which it sets out. Behind an oracle or a function arms are met as
    they are needed, and only arms that have been pulled lead. `policy` is PeakUTS by default (UTS
    for a family of your own that has no divergence), and `family`, the rewards', is Bernoulli.
    `Agent(seed=s)` has the random stream of trial 0 of `simulate(seed=s)`.

    `ask` and `tell` are the light form. `decide` and `reward` are for rewards that come late, twice
    or never: a decision has an id, its reward counts once, and after `time_to_live` seconds it is
    dropped, or counts as 0 with `on_expiry="zero"`. An agent belongs to one thread; for several,
    and for decisions that survive a crash, see `Campaign`.

    `data` are rewards from before, as a table or as `PastData`. They count as pulls of their arms,
    which are not swept then: docs/guide/past-data.md.

    Parameters
    ----------
    policy
        How arms are chosen.
    graph
        The arms, or how neighbours are looked up.
    family
        The law of the rewards.
    seed
        Determines every random number.
    root
        The first arm, if `graph` is a function.
    time_to_live
        After how many seconds a decision without a reward is closed; never by default.
    on_expiry
        "drop" or "zero": what such a decision counts as; "zero" takes Bernoulli or Bounded rewards.
    late
        What decisions without a reward count for with "zero": by default "weigh", as much as their
        age says; "hold", nothing until their time is over, whatever is told; "count", nothing.
    clock
        The time in seconds, a function; that of the machine by default.
    data
        Rewards from before.

    Examples
    --------
    >>> import unimodal as um
    >>> prices = um.graphs.line(["9.90", "12.90", "14.90"])
    >>> money = um.Scaled(um.Bernoulli(), by=float)  # sold or not, and a sale is worth its price
    >>> agent = um.Agent(um.UTS(), prices, family=money, seed=1)
    >>> price = agent.ask()
    >>> agent.tell(price, 1.0)  # sold
    >>> agent.round
    1
    >>> decision = agent.decide()
    >>> decision.id, decision.reason
    (1, 'start')
    >>> agent.reward(decision.id, 0.0), agent.reward(decision.id, 0.0)
    (True, False)
    """

    def __init__(
        self,
        policy: Policy | None = None,
        graph: Graph | Oracle | Neighbours | None = None,
        family: Family | None = None,
        seed: int = 0,
        *,
        root: Any = None,
        time_to_live: float | None = None,
        on_expiry: str = "drop",
        late: str | None = None,
        clock: Callable[[], float] = time.time,
        data: Any = None,
    ) -> None:
        family = as_family(family, "Agent")
        policy = as_policy(usual_policy(family) if policy is None else policy)
        if not callable(clock):
            raise UnimodalError(f"the clock of an agent must be a function, got {clock!r}.")
        seed = whole_number(seed, "the 'seed'", 0)
        rng = stream(seed, 0, POLICY)
        view: WholeGraphView | LazyGraphView
        if isinstance(graph, Graph):
            check_no_root(root)
            view = WholeGraphView(graph, arena_of(policy, graph))
        else:
            oracle = as_oracle(graph, root)
            self.check_look_ups(policy)
            view = LazyGraphView(oracle, [oracle.root], policy)
        begin = view.begin(policy.opening, rng)
        family = family.on(graph if isinstance(graph, Graph) else None)
        if isinstance(graph, Graph):
            known = policy.counted_prior(graph.n_arms, family)[0] > 0
            begin = policy.opening.without(begin, known)
        book = Book(family, time_to_live, on_expiry)
        check_expiry(family, on_expiry)
        late = checked_late(late, policy, family, book.time_to_live, on_expiry)
        self._assemble(policy, view, family, seed, begin, rng, book, clock)
        self._player.use_late(late, book.time_to_live)
        if data is not None:
            self.begin_with(as_past_data(data))

    def _assemble(
        self,
        policy: Policy,
        view: WholeGraphView | LazyGraphView,
        family: Family,
        seed: int,
        begin: Any,
        rng: Any,
        book: Book,
        clock: Callable[[], float] = time.time,
        limits: Limits | None = None,
    ) -> None:
        """Put the pieces together: new ones here, saved ones in `saving`."""
        self._player = Player(policy, view, family, seed, begin, rng, limits)
        self.clock = clock
        self.recorder: Recorder | None = None
        self.locked = False  # a campaign's agent, between its calls: to look at only
        self._book = book

    def begin_with(self, data: PastData) -> None:
        """Begin with past data, before anything else: what `data=…` does."""
        self._check_lock()
        known = checked(data, self.policy, self.graph, self.family)
        if self.round or self._book.made or self._player.state.arms["pulls"].any():
            raise UnimodalError(
                f"past data must come before the first round, got them in {self!r}: tell rewards "
                "that come later with `tell`."
            )
        self._player.begin_with(known)

    @property
    def past(self) -> PastRewards:
        """What of the arms' pulls and totals comes from past data, in the order of the arms."""
        return self._player.past

    @staticmethod
    def check_look_ups(policy: Policy) -> None:
        """Refuse a policy that cannot do with a graph known by look-up."""
        if policy.forgets:
            raise UnimodalError(
                f"{policy!r} forgets, so it would look arms up again and again: "
                "pass a Graph, or a policy that does not forget."
            )
        if policy.needs_every_arm:
            raise UnimodalError(
                f"{policy!r} compares all arms, but a neighbour function cannot list them: "
                "use ScoutUTS(), or pass a Graph."
            )

    @overload
    def ask(self, n: None = None) -> Hashable: ...

    @overload
    def ask(self, n: int) -> list[Hashable]: ...

    def ask(self, n: int | None = None) -> Hashable | list[Hashable]:
        """The next arm; or a list of the next `n`, to be pulled before any of them is told.

        Parameters
        ----------
        n
            How many arms; one by default.

        Returns
        -------
        Hashable | list[Hashable]
            The label of an arm, or a list of `n` labels.
        """
        self._check_lock()
        if n is not None:
            count = whole_number(n, "the 'n' of ask", at_most=MOST_AT_ONCE)
            return [self.ask() for _ in range(count)]
        return self._player.view.label_of(self._player.next_arm())

    def tell(self, arm: Any, reward: Any) -> None:
        """The reward of an arm; or arms and rewards, two sequences. Late or unordered is fine.

        Parameters
        ----------
        arm
            The label of an arm, or a list of labels.
        reward
            Its reward, or a list of rewards.

        Raises
        ------
        UnimodalError
            If there is no such arm, or the family has no such reward.
        """
        self._check_lock()
        for number, value in self.checked_rewards(arm, reward):
            self._book.tell(number, value)
            self._player.learn(number, value)

    def learn(self, arm: int, reward: float) -> None:
        """Learn a reward that was checked, by the number of its arm; the book is left as it is.

        For those who keep a log, such as a campaign: others call `tell`.
        """
        self._check_lock()
        self._player.learn(arm, reward)

    def begin_stream(self, number: int, purpose: int) -> None:
        """Go on with the random stream of the seed, a number and a purpose (`kernels.random`).

        The word by which ties are broken stays. For those who follow one log and must agree.
        """
        self._check_lock()
        self._player.state.rng[:4] = stream(self.seed, number, purpose)[:4]

    def checked_rewards(self, arm: Any, reward: Any) -> list[tuple[int, float]]:
        """What `tell` is told: arms and rewards, all of which are checked before any is learnt."""
        arm_of, check_reward = self._player.view.arm_of, self._player.family.check_reward
        if _is_batch(reward):
            return [(arm_of(a), check_reward(r)) for a, r in _paired(arm, reward, "tell", "arms")]
        return [(arm_of(arm), check_reward(reward))]

    @property
    def policy(self) -> Policy:
        """The policy that chooses."""
        return self._player.policy

    @property
    def family(self) -> Family:
        """The reward family."""
        return self._player.family

    @property
    def seed(self) -> int:
        """What its random stream was made from."""
        return self._player.seed

    @property
    def round(self) -> int:
        """How many arms have been asked for."""
        return self._player.round

    @property
    def reason(self) -> str:
        """Why the last arm was chosen, in the words of `Decision.reason`."""
        return self._player.reason

    @property
    def leader(self) -> Hashable:
        """The arm that led in the last round; None in a start, or where nobody leads."""
        return self._player.leader

    @property
    def graph(self) -> Graph | None:
        """The graph; None where it is known only by look-up."""
        return self._player.graph

    @property
    def known_arms(self) -> int:
        """How many arms it knows: all of a graph, or those it has met."""
        return self._player.known_arms

    @property
    def labels(self) -> list[Hashable]:
        """The labels of the arms that it knows, in the order of their numbers.

        >>> import unimodal as um
        >>> um.Agent(um.UTS(), um.graphs.line(["low", "high"])).labels
        ['low', 'high']
        """
        return [self.label_of(arm) for arm in range(self.known_arms)]

    def label_of(self, arm: int) -> Hashable:
        """The label of an arm, by its number.

        Parameters
        ----------
        arm
            The number of an arm that the agent knows, from 0.

        Returns
        -------
        Hashable
            The label of the arm.

        Examples
        --------
        >>> import unimodal as um
        >>> um.Agent(um.UTS(), um.graphs.line(["low", "high"])).label_of(1)
        'high'
        """
        return self._player.view.label_of(arm)

    def arms(self) -> pl.DataFrame:
        """One row per arm that has led or has rewards: label, pulls, mean reward, leads.

        With past data, also how many of the pulls are from before (`past`); PeakUTS counts them as
        leads, too.
        """
        return self._player.arms()

    @property
    def oracle(self) -> object:
        """The oracle that it asks for neighbours; None where it holds the graph."""
        return self._player.oracle

    @property
    def look_ups(self) -> int:
        """How often the neighbours of an arm were looked up (0 where it holds the graph)."""
        return self._player.look_ups

    @property
    def look_up_counts(self) -> dict[str, int]:
        """How many look-ups there were, failed, were made again; what was odd, and forgotten."""
        return self._player.look_up_counts

    @property
    def reports(self) -> list[str]:
        """What went wrong with look-ups: the last sentences of the oracle and about its answers."""
        return self._player.reports

    @property
    def book(self) -> Book:
        """Its decisions, for those who keep a log of them: which are open, what became of others.

        Only `decide` and `reward` should change it, or what does again what they did.
        """
        return self._book

    @book.setter
    def book(self, book: Book) -> None:
        self._book = book

    @property
    def late(self) -> str:
        """What becomes of rewards that come late: "weigh", "hold" or "count"."""
        return "count" if self._player.late is None else self._player.late.name

    def delays(self) -> pl.DataFrame:
        """How late rewards above 0 come: the share by each age, of those in time, with intervals.

        It is known where decisions are weighed (`late="weigh"`), as far as they are old enough.

        Returns
        -------
        pl.DataFrame
            One row per age, with the share and the ends of its 95 % interval.

        Examples
        --------
        >>> import unimodal as um
        >>> agent = um.Agent(graph=um.graphs.line(3), time_to_live=7.0, on_expiry="zero")
        >>> agent.delays().columns
        ['age', 'share', 'low', 'high']
        """
        import polars as pl

        if not isinstance(self._player.late, WeighByAge):
            raise UnimodalError(
                f"delays are learnt where decisions are weighed, got late={self.late!r}: use "
                "late='weigh', with a time_to_live and on_expiry='zero'."
            )
        found = delay_shares(viewed(self._player.late.arrays))
        columns = {"age": found.ages, "share": found.shares, "low": found.low, "high": found.high}
        return pl.DataFrame(columns)

    @property
    def outstanding(self) -> int:
        """How many decisions wait for their reward."""
        return len(self._book.open)

    @overload
    def decide(self, n: None = None, *, propensity: bool = False) -> Decision: ...

    @overload
    def decide(self, n: int, *, propensity: bool = False) -> list[Decision]: ...

    def decide(
        self, n: int | None = None, *, propensity: bool = False
    ) -> Decision | list[Decision]:
        """The next decision; or a list of the next `n`, made before any of them has its reward.

        Parameters
        ----------
        n
            How many decisions; one by default.
        propensity
            Whether the probability of each choice is computed.

        Returns
        -------
        Decision | list[Decision]
            A decision, or a list of `n`.
        """
        self._check_lock()
        if n is not None:
            count = whole_number(n, "the 'n' of decide", at_most=MOST_AT_ONCE)
            return [self.decide(propensity=propensity) for _ in range(count)]
        now, before = self._expire_before(self._book.tick(self.clock())), self.look_ups
        played = self._player.play()
        if self.look_ups > before:  # they take time, which is not the decision's
            now = self._book.tick(self.clock())
        return self._decided(*played, now, propensity)

    def _decided(
        self, arm: int, reason: str, leader: int, near: int, now: float, propensity: bool
    ) -> Decision:
        decision = Decision(
            self._book.add(arm, now),
            self._player.view.label_of(arm),
            reason,
            self._player.view.label_of(leader) if leader >= 0 else None,
            near,
            now,
            self._player.propensity(arm, leader, reason) if propensity else None,
        )
        self._player.decided(arm, now)
        if self.recorder is not None:
            self.recorder("decide", now, decision.id, decision)
        return decision

    @overload
    def reward(self, decision: int, reward: float, *, time: float | None = None) -> bool: ...

    @overload
    def reward(
        self,
        decision: Sequence[int],
        reward: Sequence[float],
        *,
        time: Sequence[float] | float | None = None,
    ) -> list[bool]: ...

    def reward(self, decision: Any, reward: Any, *, time: Any = None) -> bool | list[bool]:
        """The reward of a decision, by its id; or ids and rewards, two sequences.

        True if it counts now, False if the same was told before. Another reward than before, an
        id that does not exist and a decision that has expired are refused; a batch with a mistake
        in it is refused as a whole.

        Parameters
        ----------
        decision
            The id of a decision, or a list of ids.
        reward
            Its reward, or a list of rewards.
        time
            When it happened, or a list of times; now by default. It decides how late the reward
            came, and whether it came in time.

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
        self._check_lock()
        many = _is_batch(reward)
        told = _paired(decision, reward, "reward", "ids") if many else [(decision, reward)]
        now = self._book.tick(self.clock())
        happened = None if time is None else _times(time, len(told))
        news = self._book.news(told, now, happened)
        numbers = [int(number) for number, _ in told]
        times = dict(zip(numbers, happened or (), strict=happened is not None))
        self._expire_before(now, news)
        for number, value in news.items():
            self.settle(number, value, now, float(times.get(number, now)))
        self._player.look()
        if not many:
            return bool(news)
        return [news.pop(int(number), None) is not None for number, _ in told]

    def settle(
        self, decision: int, reward: float | None, now: float, happened: float | None = None
    ) -> None:
        """Close a decision with its reward, or (None) because its time is over."""
        self._check_lock()
        made = self._book.close(decision, reward)
        if self.recorder is not None:  # only now: what is not open must not be in the log
            self.recorder("expire" if reward is None else "reward", now, decision, reward)
        outcome = None
        if reward is not None:
            outcome = Outcome(reward, now if happened is None else happened)
        elif self._book.on_expiry == "zero":
            outcome = EXPIRED
        self._player.closed(decision, made, outcome)

    @property
    def limits(self) -> Limits:
        """Within which limits it chooses: the numbers of paused arms, and the cap or None.

        It is to be read; `pause`, `resume` and `cap` change it.

        >>> import unimodal as um
        >>> agent = um.Agent(um.UTS(), um.graphs.line(3))
        >>> agent.cap(0.1, over=50)
        >>> agent.limits.cap.share, agent.limits.cap.over
        (0.1, 50)
        """
        return self._player.limits

    @property
    def paused(self) -> list[Hashable]:
        """The arms that are not offered."""
        return [self.label_of(arm) for arm in self.limits.paused]

    def pause(self, *arms: Any) -> None:
        """Do not offer some arms until they are resumed; what is known of them is kept.

        Their neighbours are joined to each other, so that the policy passes them by. Their open
        decisions still take rewards.

        Parameters
        ----------
        *arms
            Labels of arms.

        Examples
        --------
        >>> import unimodal as um
        >>> agent = um.Agent(um.UTS(), um.graphs.line(3))
        >>> agent.pause(1)
        >>> sorted(decision.arm for decision in agent.decide(2))
        [0, 2]
        >>> agent.resume(1)
        """
        self._limit("pause", [plain_label(arm) for arm in arms])

    def resume(self, *arms: Any) -> None:
        """Offer paused arms again, with all that is known of them.

        Parameters
        ----------
        *arms
            Labels of arms.
        """
        self._limit("resume", [plain_label(arm) for arm in arms])

    def cap(self, share: float | None, over: int = 100) -> None:
        """Let an arm have at most this share of the last `over` decisions unless it leads.

        Where the policy chooses an arm that has had its share, the leader is played instead, with
        the reason 'cap'. Decisions count from now on; `cap(None)` lifts it.

        Parameters
        ----------
        share
            The largest share of the last decisions; None lifts the cap.
        over
            Of how many last decisions.

        Examples
        --------
        >>> import unimodal as um
        >>> agent = um.Agent(um.UTS(), um.graphs.line(3))
        >>> agent.cap(0.1, over=100)
        """
        self._limit("cap", None if share is None else [share, over])

    def _limit(self, change: str, given: Any) -> None:
        from unimodal.agents.revision import limit

        self._check_lock()
        limit(self, change, given)

    def expire(self) -> int:
        """Close the decisions whose time is over, which `decide` and `reward` do too; how many."""
        self._check_lock()
        before = self.outstanding
        self._expire_before(self._book.tick(self.clock()))
        closed = before - self.outstanding
        if closed:  # else nothing happened
            self._player.look()
        return closed

    def _check_lock(self) -> None:
        if self.locked:  # what it did here would not be in the log, which could not be folded again
            raise UnimodalError(
                "the agent of a campaign is there to look at: call the campaign's own decide "
                "and reward."
            )

    def _expire_before(self, now: float, told: Container[int] = ()) -> float:
        """Close the decisions whose time is over, but for those that are told, and grow older."""
        for decision in self._book.due(now):
            if decision not in told:
                self.settle(decision, None, now)
        self._player.pass_time(now)
        return now

    def certificate(self, confidence: float = 0.95, tolerance: float | None = None) -> Certificate:
        """Which arm is the peak, with which confidence; or what cannot be told yet.

        It may be asked as often as one likes, after any policy: a wrong arm is ever certified with
        probability at most 1 - `confidence`. Rewards count in the order of their decisions, up to
        the oldest open one. With a `tolerance`, it is true as well once every arm that may be the
        peak is within it of the leader.

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

        Examples
        --------
        >>> import unimodal as um
        >>> agent = um.Agent(um.UTS(), um.graphs.line(3), seed=1)
        >>> agent.tell([0, 1, 2] * 100, [0, 1, 0] * 100)
        >>> print(agent.certificate())
        The peak is 1, at over 99.9999 % confidence (95 % was asked for), after 300 rewards.
        Posterior, not part of the certificate: ...
        """
        from unimodal.agents import certifying

        return certifying.certificate(self, confidence, tolerance)

    def save(self, path: str | Path) -> Path:
        """Write all it knows as readable JSON; `Agent.load` continues exactly from there.

        Parameters
        ----------
        path
            The JSON file to write.

        Returns
        -------
        Path
            The path, for `um.load`.
        """
        from unimodal.agents import saving

        return saving.save(self, path)

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        policy: Policy | None = None,
        graph: Oracle | Neighbours | None = None,
    ) -> Agent:
        """An agent from its file.

        Functions are not saved: give an oracle or a neighbour function as `graph` and a policy of
        your own as `policy` again.

        Parameters
        ----------
        path
            The file that `save` wrote.
        policy
            A policy of your own, which is not in the file.
        graph
            The function or oracle, where neighbours are looked up.

        Returns
        -------
        Agent
            The agent, as it was.
        """
        from unimodal.agents import saving

        return saving.load(path, policy, graph)

    def __repr__(self) -> str:
        return f"Agent({self.policy!r}, round {self.round:,}, {self._player.view.n_arms:,} arms)"

    def _repr_html_(self) -> str:
        from unimodal.report import page

        table = self.arms()[:_SHOWN]
        formats = {"pulls": ",.6g", "mean": ".4g", "leads": ",", "past": ","}
        rows = [
            tuple(format(value, formats.get(name, "")) for name, value in row.items())
            for row in table.iter_rows(named=True)
        ]
        leads = "no leader" if self.leader is None else f"{self.leader!r} leads"
        return page.notebook_table(f"{self!r}: {leads}", table.columns, rows)


def check_no_root(root: Any) -> None:
    """Refuse a root where it would mean nothing: who holds the graph may begin anywhere."""
    if root is not None:
        raise UnimodalError(
            f"the root is where a search behind a neighbour function sets out, got {root!r} with "
            "a Graph, which has none: leave it out."
        )


def usual_policy(family: Family) -> Policy:
    """The policy of who names none: PeakUTS, if the family has what it compares arms by."""
    return PeakUTS() if family.told.has(divergence) else UTS()


def _is_batch(reward: Any) -> bool:
    """Whether there are several: a sequence, an array, or a column of a table."""
    if isinstance(reward, float):  # asking for more takes as long as learning
        return False
    if isinstance(reward, set | frozenset):
        return True  # which is then refused
    several = hasattr(reward, "__len__") and hasattr(reward, "__getitem__")
    return several and not isinstance(reward, str | bytes | bytearray | Mapping)


def _times(time: Any, count: int) -> list[Any]:
    """When outcomes happened, one time for each."""
    times = list(time) if _is_batch(time) else [time] * count
    if len(times) != count:
        raise UnimodalError(f"reward needs as many times as rewards, got {len(times)} and {count}.")
    return times


def _paired(names: Any, rewards: Any, method: str, what: str) -> list[tuple[Any, Any]]:
    """Two sequences as pairs, or a sentence if they differ in length."""
    for values, which in ((names, what), (rewards, "rewards")):
        refuse_set(values, f"the {which} of {method}")
    single = 0 in (getattr(names, "ndim", 1), getattr(rewards, "ndim", 1))  # arrays of no length
    if single or isinstance(names, str | bytes | Mapping) or not hasattr(names, "__len__"):
        raise UnimodalError(f"{method} needs {what} for its rewards, got {names!r} for a batch.")
    if len(names) != len(rewards):
        raise UnimodalError(
            f"{method} needs as many {what} as rewards, got {len(names)} and {len(rewards)}."
        )
    return list(zip(names, rewards, strict=True))
