"""The state of a campaign: the fold of its log, held as an agent.

Every process that has the campaign open holds one. It follows the log by doing again what the log
says. An agent is deterministic given its seed, so the same decisions come out, as far as the
arithmetic of two machines is the same. Where another one comes out, that of the log counts: it is
taken over, and only `verify` refuses it (docs/decisions/0011-folding-follows-the-log.md).
"""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from unimodal import graphs
from unimodal.agents.agent import Agent
from unimodal.agents.decisions import Decision
from unimodal.agents.explaining import NotedRound, play_with_contests
from unimodal.agents.label_text import as_text
from unimodal.agents.log_follower import LogFollower
from unimodal.agents.past_data import Known, PastData, checked
from unimodal.agents.revision import limit, revised
from unimodal.agents.saving import in_state
from unimodal.campaigns import event_checks
from unimodal.campaigns.event_checks import (
    KeyedDecisions,
    answer,
    change,
    fault,
    keyed_decisions,
    keys_between,
    parsed,
    past_data,
    reward_fault,
    short,
    told,
)
from unimodal.campaigns.events import Event, as_event, as_json
from unimodal.campaigns.log_start import begins_after, erasures
from unimodal.campaigns.lookup_requests import LoggedOracle, LookUpNeeded, LookUpRequests
from unimodal.campaigns.reward_lookup import RewardsInLog
from unimodal.campaigns.settings import Settings
from unimodal.campaigns.state_text import state_in_pieces
from unimodal.campaigns.stores import StoreToRead
from unimodal.campaigns.stores.event_identity import fitting_snapshots
from unimodal.errors import LONGEST, DamagedFile, OtherCampaign, UnimodalError
from unimodal.graphs import Graph
from unimodal.policies.state import ROUND
from unimodal.version import __version__

_KIND = operator.itemgetter(Event._fields.index("kind"))
_AGREED = 4  # what a stream is for, besides those of `kernels.random`: see `agree_on_stream`


class LogMoved(DamagedFile):
    """Events or labels are no longer what they were: begin anew, from the last snapshot.

    Who has just begun finds that the store is damaged.
    """


class StateMachine:
    """An agent that has come as far as event `seq` of a log.

    With `decides_again`, a decision of the log that it would have made otherwise is refused.
    """

    def __init__(
        self,
        settings: Settings,
        store: StoreToRead,
        clock: Callable[[], float],
        look_ups: LookUpRequests | None = None,
        decides_again: bool = False,
    ) -> None:
        self._settings, self._store, self._clock = settings, store, clock
        self._look_ups = look_ups or LookUpRequests(settings.graph)
        self._decides_again = decides_again
        self._outcomes = RewardsInLog(store)
        self._erasures = len(erasures(store))  # that the labels here have followed
        self._differs = False  # whether the random stream may be another than that of others
        self.seq = 0
        self.unfit: list[int] = []  # snapshots, by event, that are of another history than the log
        self.counts: Counter[str] = Counter()  # of the events that were followed, by kind
        self.news: list[Event] = []  # what happened here and is not in the log yet
        self._folding = False
        self._oracle: LoggedOracle | None = None
        self.agent = self._watched(self._new_agent())

    @classmethod
    def restored(
        cls,
        settings: Settings,
        store: StoreToRead,
        clock: Callable[[], float],
        seq: int | None = None,
        look_ups: LookUpRequests | None = None,
        decides_again: bool = False,
    ) -> StateMachine:
        """The state at a snapshot: the last one by default, or the one after event `seq`."""
        machine = cls(settings, store, clock, look_ups, decides_again)
        if seq is None:
            snapshots, machine.unfit = fitting_snapshots(store)
            seq = snapshots[-1][0] if snapshots else 0
            if seq > store.last():
                raise _damaged_snapshot(seq, store)
        if seq:
            machine._restore(seq)
        return machine

    def _new_agent(self) -> Agent:
        settings = self._settings
        if isinstance(settings.graph, Graph):
            return settings.agent(settings.graph)
        root, cache = settings.root, settings.cache
        if settings.graph is not None:
            root, cache = settings.graph.root, settings.graph.cache
        self._oracle = LoggedOracle(self._look_ups, root, cache or 1, self._note_look_up)
        # A start may look arms up before there is an agent: these answers stand first in the log.
        before = begins_after(self._store) or math.inf  # after `compact`, others of a later time
        for event in itertools.takewhile(
            lambda e: e.kind == "look-up" and e.seq < before, _events(self._store)
        ):
            self._check(event)
            self._take_answer(event)
            self.seq = event.seq
            self.counts[event.kind] += 1
        self._oracle.folding = self.seq > 0
        agent = settings.agent(self._oracle)
        self._oracle.folding = False
        self._oracle.is_strict = self._decides_again
        return agent

    def _note_look_up(self, arm: Any, data: str) -> None:
        time = self._now() if hasattr(self, "agent") else self._clock()
        self._note(time, "look-up", arm=arm, data=data)

    def _watched(self, agent: Agent) -> Agent:
        agent.clock, agent.recorder = self._clock, self._record
        agent.book.outcomes = self._outcomes
        agent.book.late = getattr(self._clock, "late", ())  # a list that the clock writes
        self._follower = LogFollower(agent, self._outcomes.recent)
        return agent

    def _restore(self, seq: int) -> None:
        for event in self._store.revisions():
            if event.seq <= seq:
                self._revise(self.revised_graph(event))
        text = self._store.snapshot(seq)
        try:
            state = parsed(text)
            if max(state["decisions"]["made"], state["notes"][ROUND]) > min(seq, LONGEST):
                raise ValueError("more decisions than events, or more than are counted")
            self.agent = self._watched(in_state(self.agent, state))
        except (
            *(LookupError, TypeError, ValueError, AttributeError),
            *(OverflowError, RecursionError, MemoryError),
        ):
            raise _damaged_snapshot(seq, self._store) from None
        self.seq = seq

    def state(self) -> str:
        """All of the state, as text: equal states are equal texts."""
        return "".join(state_in_pieces(self.agent))

    def catch_up(self, until: int | None = None) -> None:
        """Follow the log to its end, or as far as an event."""
        self._fold(True)
        try:
            for rows in self._store.rows(self.seq, until):
                self._follow(rows)
                self.counts.update(map(_KIND, rows))
                self._outcomes.written()
        except DamagedFile:
            if len(erasures(self._store)) > self._erasures:
                raise self._moved() from None  # events before it have labels not known here
            raise
        finally:
            self._fold(False)

    def _follow(self, rows: list[tuple[Any, ...]]) -> None:
        while rows:
            try:
                followed, instead = self._follower.follow(rows, self.seq)
            except IndexError:
                if self._oracle is None:
                    raise  # a policy of one's own
                event = Event._make(rows[self._follower.seq - self.seq - 1])
                raise self._damage(event, "follows an answer without neighbours") from None
            except DamagedFile as error:  # other look-ups are in the log than would be made here
                which = f"event {self._follower.seq} of {self._store.path}"
                raise DamagedFile(f"{which} would be decided otherwise: {error}") from None
            self.seq += followed
            if followed == len(rows):
                return
            event = Event._make(rows[followed])
            if instead is None:
                self._apply(event)
            elif self._decides_again:
                raise self._other_decision(event, instead)
            else:
                self._take_over(event)
            self.seq = event.seq
            rows = rows[followed + 1 :]

    def _take_over(self, event: Event) -> None:
        """Follow a decision of the log instead of the one that was made here."""
        if fault(event) is not None or not self._follower.take_over(event, self._labels_met):
            raise self._damage(event, f"is {told(event)}, which cannot be")
        self._differs |= self._follower.draws

    def _labels_met(self) -> Iterator[Any]:
        """The arms that the look-ups of the log have named so far."""
        for event in _events(self._store):
            if event.seq > self.seq:
                return
            if event.kind == "look-up":
                with contextlib.suppress(ValueError):  # a damaged one, before the last snapshot
                    label, others = answer(event.data)
                    yield from (label, *(others or ()))

    def agree_on_stream(self) -> None:
        """Begin a new random stream for all who follow the log, if this one may be another.

        Two that differ could be the same numbers at different places, so that two decisions would
        be drawn from the same ones. The new one depends on the seed and the event only.
        """
        if self._differs or (self._oracle is not None and self._oracle.differs):
            self._note(self._now(), "stream")
            self._begin_stream(self.seq)

    def _begin_stream(self, seq: int) -> None:
        self.agent.begin_stream(seq, _AGREED)
        self._differs = False
        if self._oracle is not None:
            self._oracle.differs = False

    def _fold(self, folding: bool) -> None:
        """Begin or end to do again what a log says: nothing is noted then, and nobody is asked."""
        self._folding = folding
        if self._oracle is not None:
            self._oracle.folding = folding

    def written(self) -> None:
        """What is new has been written: forget that it was."""
        self.news.clear()
        self._outcomes.written()

    def _apply(self, event: Event) -> None:
        """Do what the follower leaves; or say what is wrong with a decision, reward or expiry."""
        self._check(event)
        now = self.agent.book.now
        if event.time < now:
            raise self._damage(event, f"is of time {event.time!r}, after one of {now!r}")
        if event.kind == "look-up" and self._oracle is not None:
            if self._follower.asked_after is None:
                self._follower.asked_after = now
                self._oracle.drop_answers()
            self._take_answer(event)
        elif event.kind == "stream":
            self._begin_stream(event.seq)
        elif event.kind == "revision":
            self._follow_revision(event)
        elif event.kind == "limit":
            self._follow_limit(event)
        elif event.kind == "data":
            self._begin_with(event)
        elif event.kind == "erase":
            self._follow_erasure(event)
        elif event.kind == "key":
            self._keyed(event)
        elif event.kind != "open" and not self._learn_told(event):
            raise self._damage(event, self._why_not(event))
        self.agent.book.now = event.time

    def _learn_told(self, event: Event) -> bool:
        """Learn a reward of an arm that others met and that was not met here; False if it is none.

        Where others look up differently, they meet other arms (`_take_over`).
        """
        is_told = event.kind == "tell" and not self._decides_again
        if not is_told or reward_fault(self.agent.family, event) is not None:
            return False
        arm = self._follower.number_of(event.arm, self._labels_met)
        if arm is None or event.reward is None:
            return False
        self.agent.learn(arm, event.reward)
        return True

    def _check(self, event: Event) -> None:
        if event.seq != self.seq + 1:
            if self.seq < begins_after(self._store):
                raise self._moved()
            raise self._damage(event, f"follows event {self.seq}, so some are missing")
        if (wrong := fault(event)) is not None:
            raise self._damage(event, wrong)

    def _why_not(self, event: Event) -> str:
        """Why what an event says cannot have happened here."""
        if event.kind == "look-up":
            return "is of kind 'look-up', which there is not here"
        if event.kind == "tell":
            unknown = f"tells a reward of arm {short(event.arm)}, which there is not"
            return reward_fault(self.agent.family, event) or unknown
        if event.decision not in self.agent.book.open:
            return f"closes decision {event.decision}, which is not open"
        if event.kind == "expire":
            return f"lets decision {event.decision} expire before its time"
        return reward_fault(self.agent.family, event) or "cannot be"

    def _take_answer(self, event: Event) -> None:
        assert self._oracle is not None
        try:
            self._oracle.take(event)
        except ValueError:
            raise self._damage(
                event, f"must be the answer to a look-up, got {short(event.data)}"
            ) from None

    def _other_decision(self, event: Event, instead: Decision) -> UnimodalError:
        again = as_event(event.seq, "decide", event.time, instead.id, instead)
        return DamagedFile(
            f"event {event.seq} of {self._store.path} is {told(event)}, but unimodal "
            f"{__version__} makes it {told(again)}: it is damaged, or another version decided so; "
            "if one did, open and close it with this version, from which on it can be verified."
        )

    def _moved(self) -> LogMoved:
        return LogMoved(
            f"{self._store.path} has events moved or labels erased otherwise than its settings "
            "tell: it was changed by hand or is damaged; go back to a copy of it."
        )

    def _damage(self, event: Event, what: str) -> UnimodalError:
        return DamagedFile(
            f"event {event.seq} of {self._store.path} {what}: the file was changed by hand or is "
            "damaged; go back to a copy of it."
        )

    def _record(self, kind: str, time: float, decision: int, what: Any) -> None:
        """Note what the agent did, for the log."""
        if not self._folding:
            self._count()
            self.news.append(as_event(self.seq, kind, time, decision, what))

    def _count(self) -> None:
        """Take the next number, of those that any reader takes."""
        self.seq += 1  # also where it is refused: what the agent has done already is given up
        if self.seq > LONGEST:
            raise UnimodalError(
                f"a campaign must have at most {LONGEST:,} events, got one more for "
                f"{self._store.path}: begin another with what is known of its arms as past data."
            )

    def _note(self, time: float, kind: str, **named: Any) -> None:
        self._count()
        self.news.append(Event(self.seq, time, kind, **named))

    def decide(self, n: int, propensity: bool) -> tuple[list[Decision], Any]:
        """The next `n` decisions, or as many as can be made without another look-up: of whom?"""
        made: list[Decision] = []
        try:
            while len(made) < n:
                made.append(self.agent.decide(propensity=propensity))
        except LookUpNeeded as needed:
            return made, needed
        return made, None

    def decide_once(
        self, digest: str, lifetime: float, n: int, propensity: bool
    ) -> tuple[list[Decision], Any]:
        """As `decide`; but what was decided under the same key before is told again.

        If a look-up is needed in the middle, the key is written with what was made so far, and the
        next call under it goes on from there.
        """
        known = self._known_under(digest, lifetime)
        if known is not None and known.n != n:
            return [], UnimodalError(
                f"this key was used for n={known.n} in decide, got n={n}: use another key for "
                "another decision."
            )
        spans = [] if known is None else known.events
        made = [decision for span in spans for decision in self._decided_among(*span)]
        before = self.seq
        more, needed = self.decide(n - len(made), propensity) if len(made) < n else ([], None)
        if more:
            spans = [*spans, [before + 1, self.seq]]
            self._note(self._now(), "key", data=KeyedDecisions(digest, n, spans).to_json())
        return [*made, *more], needed

    def _known_under(self, digest: str, lifetime: float) -> KeyedDecisions | None:
        """What was decided under a key that still lives: here, or by those before in the log."""
        least, above = keys_between(digest)
        here = (e for e in reversed(self.news) if e.kind == "key" and least <= e.data < above)
        event = next(here, None) or self._store.last_key(digest)
        if event is None:
            return None
        if (wrong := fault(event)) is not None:  # one before the last snapshot was not folded here
            raise self._damage(event, wrong)
        now = max(self._clock(), self.agent.book.now)
        if self.agent.book.since(event.time) + lifetime <= now:
            return None
        return self._keyed(event)

    def _keyed(self, event: Event) -> KeyedDecisions:
        try:
            return keyed_decisions(event.data)
        except ValueError:
            raise self._damage(event, "must be decisions under a key") from None

    def _decided_among(self, first: int, last: int) -> Iterator[Decision]:
        """The decisions among some events, of the log or not yet in it."""
        written = (Event._make(row) for rows in self._store.rows(first - 1, last) for row in rows)
        new = (event for event in self.news if first <= event.seq <= last)
        for event in itertools.chain(written, new):
            if event.kind == "decide":
                arm, leader = self._label(event, event.arm), self._label(event, event.leader)
                rest = (event.near, event.time, event.propensity)
                yield Decision(event.decision, arm, event.reason, leader, *rest)  # type: ignore[arg-type]

    def _label(self, event: Event, text: Any) -> Any:
        """The label that an event writes so, also of an arm that was retired since."""
        if text is None:
            return None
        number = self._follower.number_of(text, self._labels_met)
        if number is not None:
            return self.agent.label_of(number)
        first = self._settings.graph.labels if isinstance(self._settings.graph, Graph) else ()
        added = (
            end for e in self._store.revisions() for edge in change(e.data).add for end in edge
        )
        for label in itertools.chain(first, added):
            known = as_text(label)
            if known == text and known.__class__ is text.__class__:
                return label
        raise self._damage(event, f"is of an arm {short(text)}, which there never was")

    def tell(self, arm: Any, reward: Any) -> None:
        """Learn rewards that belong to no decision."""
        told, label_of = self.agent.checked_rewards(arm, reward), self.agent.label_of
        now = self._now()
        for number, value in told:
            self._note(now, "tell", arm=as_text(label_of(number)), reward=value)
            self.agent.learn(number, value)

    def begin_with(self, data: PastData) -> None:
        """Begin a new log with past data; or compare them with those that the log has."""
        if self.seq == 0:
            known = self._checked(data)
            self.agent.begin_with(data)
            label_of = self.agent.label_of
            such_as = f"labels such as {label_of(0)!r}"
            self._note(self._now(), "data", data=as_json(known.to_log(label_of), such_as))
            return
        first = next(_events(self._store), None)
        has_data = first is not None and first.kind == "data"
        if not has_data or self._checked(self._past_data(first)) != self._checked(data):
            has = "other past data" if has_data else "none"
            raise OtherCampaign(
                f"{self._store.path} is another campaign: past data stand at the beginning of a "
                f"log, and it has {has}. Leave data=… out, and tell rewards that came since with "
                "`tell`."
            )

    def _checked(self, data: PastData) -> Known:
        """Past data on the graph as it was when the log began."""
        graph = self._settings.graph if isinstance(self._settings.graph, Graph) else None
        return checked(data, self.agent.policy, graph, self.agent.family)

    def _begin_with(self, event: Event) -> None:
        if event.seq > 1:
            raise self._damage(event, "is of kind 'data', which only the first can be")
        try:
            self.agent.begin_with(self._past_data(event))
        except UnimodalError as error:
            if isinstance(error, DamagedFile):
                raise
            raise self._damage(event, f"cannot be ({str(error).removesuffix('.')})") from None

    def _follow_erasure(self, event: Event) -> None:
        """See whether the labels here are those from after an erasure."""
        try:
            number = int(parsed(event.data)["number"])
        except (ValueError, LookupError, TypeError):
            raise self._damage(event, "must be an erasure") from None
        if number > self._erasures:
            raise self._moved()

    def _past_data(self, event: Any) -> PastData:
        try:
            return past_data(event.data)
        except ValueError:
            raise self._damage(event, f"must be past data, got {short(event.data)}") from None

    def play_with_contests(self) -> tuple[NotedRound, bool]:
        """Make the next decision of the log again, with a note of every contest.

        And whether it may be another here than it was. It is not compared with the log, and the
        state is of no use for anything else afterwards.
        """
        differs = self._differs or (self._oracle is not None and self._oracle.differs)
        self._fold(True)
        try:
            return play_with_contests(self.agent), differs
        finally:
            self._fold(False)

    def note_opening(self) -> None:
        """Say in the log which version opened it."""
        self._note(self._now(), "open", data=json.dumps({"version": __version__}))

    def revise(self, add: Iterable[Any], retire: Iterable[Any], remove: Iterable[Any] = ()) -> None:
        """Go on with another graph."""
        change = {"add": list(add), "retire": list(retire)}
        removed = list(remove)
        graph = graphs.revised(self._held_graph(), change["add"], change["retire"], removed)
        if removed:
            change["remove"] = removed
        such_as = repr(change["add"] or change["retire"] or removed)
        data = as_json({**change, "fingerprint": graph.fingerprint}, such_as)
        self._revise(graph)
        self._note(self._now(), "revision", data=data)

    def insert(self, label: Any, between: tuple[Any, Any]) -> None:
        """Put a new arm on an edge, which is replaced by two."""
        one, two = between
        if label in self._held_graph().labels:
            raise UnimodalError(
                f"the arm to insert must be new, got {label!r}, which the graph has: use add_edges "
                "and remove_edges."
            )
        self.revise([(one, label), (label, two)], [], [(one, two)])

    def limit(self, change: str, given: Any) -> None:
        """Pause or resume arms, or set or lift a cap."""
        data = as_json({change: given}, repr(given))
        limit(self.agent, change, given)
        self._note(self._now(), "limit", data=data)

    def _follow_limit(self, event: Event) -> None:
        try:
            limit(self.agent, *event_checks.limit(event.data))
        except UnimodalError as error:
            raise self._damage(event, f"cannot be ({str(error).removesuffix('.')})") from None
        except ValueError:
            raise self._damage(event, "must be a limit") from None

    def _follow_revision(self, event: Event) -> None:
        graph = self.revised_graph(event)
        try:
            self._revise(graph)
        except UnimodalError as error:  # of arms that are paused
            raise self._damage(event, f"cannot be ({str(error).removesuffix('.')})") from None

    def _revise(self, graph: Graph) -> None:
        before, self.agent = self.agent, self._watched(revised(self.agent, graph))
        before.locked = True  # somebody may still look at it

    def revised_graph(self, event: Event) -> Graph:
        """The graph after a change that a log tells."""
        try:
            made = change(event.data)
        except ValueError:
            raise self._damage(event, "must be a change of the graph") from None
        try:
            graph = graphs.revised(self._held_graph(), made.add, made.retire, made.remove)
        except UnimodalError as error:
            raise self._damage(event, f"makes no graph ({str(error).removesuffix('.')})") from None
        if graph.fingerprint != made.fingerprint:
            raise self._damage(event, "makes another graph than it did")
        return graph

    def _held_graph(self) -> Graph:
        if self.agent.graph is None:
            raise UnimodalError(
                "a graph known by look-up changes by itself: let the function answer for new arms."
            )
        return self.agent.graph

    def _now(self) -> float:
        return self.agent.book.tick(self._clock())


def _events(store: StoreToRead) -> Iterator[Event]:
    for rows in store.rows():
        yield from map(Event._make, rows)


def graph_fingerprints(store: StoreToRead) -> set[str]:
    """Those of the graphs that changes in a log have made."""
    found = set()
    for event in store.revisions():
        try:
            found.add(change(event.data).fingerprint)
        except ValueError:
            raise DamagedFile(
                f"event {event.seq} of {store.path} must be a change of the graph: it was changed "
                "by hand or is damaged; go back to a copy."
            ) from None
    return found


def _damaged_snapshot(seq: int, store: StoreToRead) -> UnimodalError:
    return DamagedFile(
        f"the snapshot after event {seq} of {store.path} is damaged: delete it from the table "
        "'snapshots', and the state is folded from the log."
    )
