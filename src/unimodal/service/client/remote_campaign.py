"""A campaign of a service, with the methods and the errors of `Campaign`; each is a request."""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, overload

from unimodal.agents.decisions import Decision
from unimodal.agents.explanation import Competitor, Explanation
from unimodal.campaigns.alarm_watch import AlarmWatch
from unimodal.campaigns.alarms import Alarm
from unimodal.campaigns.events import Row
from unimodal.campaigns.history_table import compact, plain
from unimodal.campaigns.log_facts import LogFacts
from unimodal.campaigns.log_start import WHOLE, LogStart
from unimodal.errors import UnimodalError, real_number, whole_number
from unimodal.graphs.graph import plain_label
from unimodal.graphs.text import as_label
from unimodal.inference.certificate import Belief, Certificate
from unimodal.inference.peak_test import check_confidence
from unimodal.service.client.http_connection import HttpConnection

if TYPE_CHECKING:
    import polars as pl

_PAGE = 10_000  # events


class _Compacted(Exception):
    """Events that were still to be read have moved into an archive."""


class RemoteCampaign:
    """A campaign of a service: the methods of `Campaign`, each a request."""

    def __init__(self, connection: HttpConnection, name: str) -> None:
        self._connection, self.name = connection, name
        self._watch: AlarmWatch | None = None

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
        """The next decision, or a list of the next `n`; the same ones again for the same key.

        Without a key of yours it has one of its own, by which a lost answer is asked for again.
        """
        count = 1 if n is None else whole_number(n, "the 'n' of decide")
        headers = {"Idempotency-Key": str(uuid.uuid4()) if key is None else str(key)}
        body = {"n": count, "propensity": bool(propensity)}
        answer = self._post("decisions", body, headers=headers)
        made = [_decision(one) for one in answer["decisions"]]
        return made[0] if n is None else made

    @overload
    def reward(self, decision: int, reward: float) -> bool: ...

    @overload
    def reward(self, decision: Sequence[int], reward: Sequence[float]) -> list[bool]: ...

    def reward(self, decision: Any, reward: Any) -> bool | list[bool]:
        """The reward of a decision, by its id; or ids and rewards: all of them count, or none.

        True if it counts now, False if the same was told before.
        """
        if not _is_many(decision) and not _is_many(reward):
            body = {"decision": plain_label(decision), "reward": plain_label(reward)}
            return bool(self._post("rewards", body)["outcome"] == "counted")
        rewards = [
            {"decision": one, "reward": value}
            for one, value in _pairs(decision, reward, "decision")
        ]
        if not rewards:
            return []
        answer = self._post("rewards", {"rewards": rewards, "all_or_none": True})
        return [one["outcome"] == "counted" for one in answer["rewards"]]

    def tell(self, arm: Any, reward: Any) -> None:
        """A reward of an arm that was not decided here; or arms and rewards, two sequences.

        It is never sent again by itself, since it would count again.
        """
        many = _is_many(reward)
        pairs = _pairs(arm, reward, "arm") if many else [(plain_label(arm), plain_label(reward))]
        rewards = [{"arm": one, "reward": value} for one, value in pairs]
        self._post("observations", {"rewards": rewards}, again=False)

    def expire(self) -> int:
        """Close the decisions whose time is over; how many."""
        return int(self._post("expire", None)["expired"])

    def add_edges(self, edges: Iterable[tuple[Any, Any]]) -> None:
        """Go on with more edges between arms; labels that are new are new arms."""
        self._change("edges", {"edges": _edges(edges, "add_edges")})

    def remove_edges(self, edges: Iterable[tuple[Any, Any]]) -> None:
        """Go on without some edges; the graph must stay connected."""
        self._change("edges/remove", {"edges": _edges(edges, "remove_edges")})

    def insert(self, arm: Any, between: tuple[Any, Any]) -> None:
        """Go on with a new arm between two that are joined: their edge is replaced by two."""
        if not isinstance(between, tuple | list) or len(between) != 2:
            raise UnimodalError(
                f"insert needs the two arms between which the new one is, got {between!r}: "
                "between=('12.90', '14.90')."
            )
        ends = [plain_label(label) for label in between]
        self._change("insert", {"arm": plain_label(arm), "between": ends})

    def retire(self, *arms: Any) -> None:
        """Go on without some arms; what is left must be connected."""
        self._change("retire", {"arms": list(map(plain_label, arms))})

    def pause(self, *arms: Any) -> None:
        """Do not offer some arms until they are resumed; what is known of them is kept."""
        self._change("pause", {"arms": list(map(plain_label, arms))})

    def resume(self, *arms: Any) -> None:
        """Offer paused arms again, with all that is known of them."""
        self._change("resume", {"arms": list(map(plain_label, arms))})

    def cap(self, share: float | None, over: int = 100) -> None:
        """Let an arm have at most this share of the last `over` decisions unless it leads."""
        cap = None if share is None else {"share": plain_label(share), "over": plain_label(over)}
        self._connection.patch(self._path(), {"cap": cap})

    def end(self) -> None:
        """End the campaign: it decides no more, and still takes rewards."""
        self._connection.patch(self._path(), {"ended": True})

    @property
    def paused(self) -> list[Hashable]:
        """The arms that are not offered."""
        return [as_label(label) for label in self._get()["paused"]]

    @property
    def leader(self) -> Hashable:
        """The arm that led in the last round."""
        return as_label(self._get()["leader"])

    @property
    def outstanding(self) -> int:
        """How many decisions wait for their reward."""
        return int(self._get()["outstanding"])

    @property
    def reports(self) -> list[str]:
        """What went wrong with the clock, the store and look-ups: the last sentences."""
        return [str(report) for report in self._get()["reports"]]

    def arms(self) -> pl.DataFrame:
        """The arms that have led or have rewards: label, pulls, mean reward, leads."""
        import polars as pl

        rows = self._get("arms")["arms"]
        labels = [as_label(row["arm"]) for row in rows]
        if len(set(map(type, labels))) > 1:
            labels = list(map(str, labels))  # a column has one type
        means = [math.nan if row["mean"] is None else row["mean"] for row in rows]
        columns: dict[str, Any] = {"arm": labels, "pulls": [row["pulls"] for row in rows]}
        columns |= {"mean": pl.Series(means, dtype=pl.Float64)}
        columns |= {"leads": [row["leads"] for row in rows]}
        if any(row["past"] is not None for row in rows):
            columns["past"] = [row["past"] for row in rows]
        return pl.DataFrame(columns)

    def certificate(self, confidence: float = 0.95, tolerance: float | None = None) -> Certificate:
        """Which arm is the peak, with which confidence; or what cannot be told yet."""
        query = {"confidence": check_confidence(confidence)}
        if tolerance is not None:
            query["tolerance"] = real_number(tolerance, "the 'tolerance'")
        return _certificate(self._get("certificate", query))

    def history(self) -> pl.DataFrame:
        """The log, one row per event."""
        return plain(self.compact_history())

    def compact_history(self) -> pl.DataFrame:
        """The log as `history` has it, but with words as categories."""
        while True:
            page = self._page(0)
            try:
                return compact(self._events(page), LogFacts(repr(self), _start(page)))
            except _Compacted:  # between two pages: the log begins later now
                continue

    def _events(self, page: dict[str, Any]) -> Iterable[tuple[Any, ...]]:
        while True:
            for event in page["events"]:
                yield tuple(event[name] for name in Row._fields)
            if page["next"] is None:
                return
            page = self._page(page["next"])
            if _start(page) != WHOLE:
                raise _Compacted

    def _page(self, after: int) -> dict[str, Any]:
        return self._get("events", {"after": after, "limit": _PAGE})

    def explain(self, decision: int) -> Explanation:
        """Why a decision fell on its arm: what was known, what was drawn, who won."""
        number = whole_number(decision, "the id of a decision")
        data = self._get(f"decisions/{number}/explanation")
        labelled = {name: as_label(data[name]) for name in ("arm", "leader", "winner")}
        rows = [{**row, "arm": as_label(row["arm"])} for row in data["competitors"]]
        paused = tuple(as_label(label) for label in data["paused"])
        competitors = tuple(Competitor(**row) for row in rows)
        return Explanation(**{**data, **labelled, "competitors": competitors, "paused": paused})

    def alarms(self, confidence: float = 0.99) -> list[Alarm]:
        """What is wrong: a second peak, a change, look-ups that fail, rewards that do not come."""
        query = {"confidence": check_confidence(confidence, "the 'confidence' of alarms")}
        found = self._get("alarms", query)["alarms"]
        return [Alarm(**{**alarm, "arm": as_label(alarm["arm"])}) for alarm in found]

    def watch(
        self, tell: Callable[[Alarm], object], *, every: float = 60.0, confidence: float = 0.99
    ) -> None:
        """Call a function with each alarm when it is first seen, until the campaign is closed."""
        if not callable(tell):
            raise UnimodalError(f"watch needs a function that takes an alarm, got {tell!r}.")
        pause = real_number(every, "the 'every' of watch", above=0)
        level = check_confidence(confidence, "the 'confidence' of alarms")
        self.close()
        self._watch = AlarmWatch(lambda: self.alarms(level), tell, pause)

    def close(self) -> None:
        """Stop watching; the campaign itself stays open in the service."""
        if self._watch is not None:
            self._watch.stop()
            self._watch = None

    def __enter__(self) -> RemoteCampaign:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"RemoteCampaign({self.name!r} at {self._connection.url})"

    def _path(self, rest: str = "") -> str:
        return f"/v1/campaigns/{self._connection.quoted(self.name)}" + (rest and f"/{rest}")

    def _get(self, rest: str = "", query: dict[str, Any] | None = None) -> dict[str, Any]:
        return self._connection.get(self._path(rest), query)

    def _post(self, rest: str, body: Any, **named: Any) -> dict[str, Any]:
        return self._connection.post(self._path(rest), body, **named)

    def _change(self, rest: str, body: Any) -> None:
        """A change that would be refused the second time, so it is not sent again by itself."""
        self._post(rest, body, again=False)


def _start(page: dict[str, Any]) -> LogStart:
    """What was before a page of the log; services of older versions do not tell."""
    found = page.get("start")
    if found is None:
        return WHOLE
    return LogStart(found["seq"], found["made"], tuple(map(tuple, found["open"])))


def _decision(data: dict[str, Any]) -> Decision:
    return Decision(**{**data, "arm": as_label(data["arm"]), "leader": as_label(data["leader"])})


def _certificate(data: dict[str, Any]) -> Certificate:
    derived = ("certified", "sentence")
    fields = {name: value for name, value in data.items() if name not in derived}
    belief = data["belief"]
    if belief is not None:
        best = {as_label(arm): share for arm, share in belief["best"]}
        loss = belief["expected_loss"]
        fields["belief"] = Belief(best=best, expected_loss=math.nan if loss is None else loss)
    for name in ("open", "among"):
        if data[name] is not None:
            fields[name] = tuple(as_label(label) for label in data[name])
    fields |= {name: as_label(data[name]) for name in ("leader", "peak")}
    fields["gap"] = math.inf if data["gap"] is None else data["gap"]
    return Certificate(**{**fields, "assumptions": tuple(data["assumptions"])})


def _is_many(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, str | bytes)


def _pairs(ones: Any, values: Any, what: str) -> list[tuple[Any, Any]]:
    """Two sequences, side by side; refused if they are not equally long."""
    if not _is_many(ones) or not _is_many(values) or len(ones) != len(values):
        raise UnimodalError(
            f"{what}s and rewards must be two sequences of the same length, got {ones!r:.60} and "
            f"{values!r:.60}."
        )
    return [(plain_label(a), plain_label(b)) for a, b in zip(ones, values, strict=True)]


def _edges(edges: Any, owner: str) -> list[list[Any]]:
    if not isinstance(edges, Iterable) or isinstance(edges, str):
        raise UnimodalError(f"{owner} needs a list of pairs of labels, got {edges!r}.")
    found = [list(plain_label(tuple(edge))) for edge in edges]
    if not found:
        raise UnimodalError(f"{owner} needs edges, got none: name one.")
    return found
