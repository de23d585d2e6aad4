"""The state of a campaign: the fold of its log, held as an agent. No I/O, no thread.

Every process that has the campaign open holds one. It follows the log by doing again what the log
says. An agent is deterministic given its seed, so the same decisions come out, as far as the
arithmetic of two machines is the same. Where another one comes out, that of the log counts: it is
taken over, and only `verify` refuses it (docs/decisions/0011-folding-follows-the-log.md).
"""

from __future__ import annotations

import contextlib
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from unimodal.agents.agent import Agent
from unimodal.agents.decisions import Decision
from unimodal.agents.explaining import NotedRound, play_with_contests
from unimodal.agents.log_follower import LogFollower
from unimodal.agents.revision import revised
from unimodal.agents.saving import in_state
from unimodal.campaigns import known_rewards
from unimodal.campaigns.events import (
    KINDS,
    Damage,
    Decided,
    Event,
    LookedUp,
    Row,
    event_of,
    fault,
)
from unimodal.campaigns.known_rewards import KnownRewards
from unimodal.campaigns.log_questions import Answers
from unimodal.campaigns.lookup_requests import LoggedOracle, LookUpRequests
from unimodal.campaigns.settings import Settings
from unimodal.campaigns.state_text import state_in_pieces
from unimodal.errors import LONGEST, DamagedFile, UnimodalError
from unimodal.graphs import Graph
from unimodal.policies.state import ROUND
from unimodal.version import __version__

_KIND = operator.itemgetter(Row._fields.index("kind"))
_AGREED = 4  # what a stream is for, besides those of `kernels.random`: see `begin_stream`


class Moved(Damage):
    """The log no longer has what the state was to follow: begin anew from its last snapshot."""


class State:
    """An agent that has come as far as event `seq` of a log, and what has happened since.

    Parameters
    ----------
    settings
        What the campaign is about.
    clock
        The time in seconds, a function; folding reads none.
    look_ups
        The requests to the oracle, where the graph is known by look-up.
    first_rows
        The rows of the look-ups that a start made before there was an agent.
    erasures
        How many erasures the labels in the settings have followed.
    decides_again
        Whether a decision of the log that would come out otherwise here is refused.
    labels_met
        A function that names the arms of the log's look-ups up to an event.
    """

    def __init__(
        self,
        settings: Settings,
        clock: Callable[[], float],
        look_ups: LookUpRequests,
        first_rows: Iterable[Row] = (),
        erasures: int = 0,
        decides_again: bool = False,
        labels_met: Callable[[int], Iterable[Any]] = lambda until: (),
    ) -> None:
        self.settings, self.clock, self._look_ups = settings, clock, look_ups
        self._erasures, self.decides_again = erasures, decides_again
        self._labels_met = labels_met
        self.seq = 0
        self.counts: Counter[str] = Counter()  # of the events that were followed, by kind
        self.news: list[Row] = []  # what happened here and is not in the log yet
        self.answers = Answers()
        self.rewards = KnownRewards(self.answers)
        self.differs = False  # whether the random stream may be another than that of others
        self._is_folding = False
        self.oracle: LoggedOracle | None = None
        self.agent = self._watched(self._new_agent(first_rows))

    def _new_agent(self, first_rows: Iterable[Row]) -> Agent:
        settings = self.settings
        if isinstance(settings.graph, Graph):
            return settings.agent(settings.graph)
        root, cache = settings.root, settings.cache
        if settings.graph is not None:
            root, cache = settings.graph.root, settings.graph.cache
        self.oracle = LoggedOracle(self._look_ups, root, cache or 1, self._note_look_up)
        for row in first_rows:
            event = self._next(row)
            assert isinstance(event, LookedUp)
            self.oracle.take(*event.answer())
            self.seq = event.seq
            self.counts[event.kind] += 1
        self.oracle.folding = self.seq > 0
        agent = settings.agent(self.oracle)
        self.oracle.folding = False
        self.oracle.is_strict = self.decides_again
        return agent

    def _note_look_up(self, arm: Any, data: str) -> None:
        has_agent = hasattr(self, "agent")
        self.add(LookedUp(self.seq + 1, self.now() if has_agent else self.clock(), arm, data))

    def _watched(self, agent: Agent) -> Agent:
        agent.clock, agent.recorder = self.clock, self._record
        self.book = agent.book
        agent.book.outcomes = self.rewards
        agent.book.late = getattr(self.clock, "late", ())  # a list that the clock writes
        self._follower = LogFollower(agent, self.rewards.recent)
        return agent

    def restore(self, seq: int, state: Any) -> None:
        """Go on from what a snapshot after event `seq` has, on the graph of that time."""
        if max(state["decisions"]["made"], state["notes"][ROUND]) > min(seq, LONGEST):
            raise ValueError("more decisions than events, or more than are counted")
        self.agent = self._watched(in_state(self.agent, state))
        self.seq = seq

    def text(self) -> str:
        """All of the state, as text: equal states are equal texts."""
        return "".join(state_in_pieces(self.agent))

    def now(self) -> float:
        """The time, by the clock."""
        return self.book.tick(self.clock())

    # Following a log.

    def follow(self, rows: list[tuple[Any, ...]]) -> None:
        """Do again what rows of the log say; `Damage` of event `seq` + 1 if that cannot be."""
        with self.folding():
            self._follow(rows)
        self.counts.update(map(_KIND, rows))
        self.written()

    def _follow(self, rows: list[tuple[Any, ...]]) -> None:
        while rows:
            before = self.seq
            try:
                followed, instead = self._follower.follow(rows, before)
            except IndexError:
                self.seq = self._follower.seq - 1
                if self.oracle is None:
                    raise  # a policy of one's own
                raise Damage("follows an answer without neighbours") from None
            except DamagedFile as error:  # other look-ups are in the log than would be made here
                self.seq = self._follower.seq - 1
                raise Damage("would be decided otherwise", str(error).rstrip(".")) from None
            self.seq += followed
            if followed == len(rows):
                return
            self._apply(Row._make(rows[followed]), instead)
            rows = rows[followed + 1 :]

    def _apply(self, row: Row, instead: Decision | None) -> None:
        """Do what the follower leaves; `instead` is what would be decided here."""
        if instead is not None:
            self._take_over(row, instead)
        else:
            event = self._next(row)
            if event.time < (now := self.book.now):
                raise Damage(f"is of time {event.time!r}, after one of {now!r}")
            event.apply(self)
            self.book.now = event.time
        self.seq = row.seq

    def _next(self, row: Row) -> Event:
        """The event of a row, which must be the next one."""
        if row.seq != self.seq + 1:
            damage = Damage(f"follows event {self.seq}, so some are missing")
            damage.seq = row.seq
            raise damage
        return event_of(row)

    def _take_over(self, row: Row, instead: Decision) -> None:
        """Follow a decision of the log instead of the one that was made here."""
        there = Decided.of(row)
        if self.decides_again:
            here = Decided.recorded(row.seq, row.time, instead.id, instead)
            raise Damage(
                f"is {there.told()}, but unimodal {__version__} makes it {here.told()}",
                "it is damaged, or another version decided so; if one did, open and close it with "
                "this version, from which on it can be verified",
            )
        if fault(row) is not None or not self._follower.take_over(row, self._met):
            raise Damage(f"is {there.told()}, which cannot be")
        self.differs |= self._follower.draws

    def _met(self) -> Iterable[Any]:
        """The arms that the look-ups of the log have named so far."""
        return self._labels_met(self.seq)

    def number_of(self, text: Any) -> int | None:
        """The arm that a log writes so; None if there is none now."""
        return self._follower.number_of(text, self._met)

    def take_answer(self, label: Any, neighbours: list[Any] | None) -> None:
        """Have the answer of a look-up of the log ready for the decision that asked."""
        assert self.oracle is not None
        if self._follower.asked_after is None:
            self._follower.asked_after = self.book.now
            self.oracle.drop_answers()
        self.oracle.take(label, neighbours)

    def begin_stream(self, seq: int) -> None:
        """Begin a random stream that depends on the seed and the number of an event only."""
        self.agent.begin_stream(seq, _AGREED)
        self.differs = False
        if self.oracle is not None:
            self.oracle.differs = False

    def check_erasures(self, number: int) -> None:
        """Refuse to go on with labels from before an erasure."""
        if number > self._erasures:
            raise Moved("tells of a label that was erased")

    def held_graph(self) -> Graph:
        """The graph; refused where it is known by look-up."""
        if self.agent.graph is None:
            raise UnimodalError(
                "a graph known by look-up changes by itself: let the function answer for new arms."
            )
        return self.agent.graph

    def revise(self, graph: Graph) -> None:
        """Go on with another graph."""
        before, self.agent = self.agent, self._watched(revised(self.agent, graph))
        before.locked = True  # somebody may still look at it

    @contextlib.contextmanager
    def folding(self) -> Iterator[None]:
        """Do again what a log says: nothing is noted meanwhile, and nobody is asked."""
        self._fold(True)
        try:
            yield
        finally:
            self._fold(False)

    def _fold(self, is_folding: bool) -> None:
        self._is_folding = is_folding
        if self.oracle is not None:
            self.oracle.folding = is_folding

    def play_with_contests(self) -> tuple[NotedRound, bool]:
        """Make the next decision of the log again, with a note of every contest.

        And whether it may be another here than it was. It is not compared with the log, and the
        state is of no use for anything else afterwards.
        """
        with self.folding():
            return play_with_contests(self.agent), self.may_differ

    @property
    def may_differ(self) -> bool:
        """Whether the random stream may be another than that of others who follow the log."""
        return self.differs or (self.oracle is not None and self.oracle.differs)

    # What happens here.

    def add(self, event: Event) -> None:
        """Note what happened, as the next event of the log."""
        row = event.row()
        self.seq += 1  # also where it is refused: what the agent has done already is given up
        if self.seq > LONGEST:
            raise UnimodalError(
                f"a campaign must have at most {LONGEST:,} events, got one more: begin another "
                "with what is known of its arms as past data."
            )
        self.news.append(row)

    def _record(self, kind: str, time: float, decision: int, what: Any) -> None:
        """Note what the agent did."""
        if self._is_folding:
            return
        self.add(KINDS[kind].recorded(self.seq + 1, time, decision, what))

    def written(self) -> None:
        """The log has all that is new: forget that it was, and old rewards."""
        self.news.clear()
        if len(self.rewards.recent) > known_rewards.AT_HAND:
            self.rewards.recent.clear()
