"""Whether a line of a log can be one: SQLite keeps text where a number was declared."""

from __future__ import annotations

import itertools
import json
import math
import reprlib
from collections.abc import Iterable
from typing import Any, NamedTuple

from unimodal import graphs
from unimodal.agents.past_data import PastData
from unimodal.campaigns.events import Event
from unimodal.errors import LONGEST, UnimodalError
from unimodal.families import Family
from unimodal.graphs.graph import is_itself
from unimodal.policies.state import REASONS

_NOTHING, _TEXT, _WHOLE, _NUMBER = (type(None),), (str,), (int,), (float,)
_LABEL = (str, int, float)
_EMPTY: dict[str, tuple[type, ...]] = dict.fromkeys(Event._fields[3:], _NOTHING)
# What an event of each kind has in its columns; time is a number in all of them.
SHAPES: dict[str, dict[str, tuple[type, ...]]] = {
    "decide": {
        **_EMPTY,
        **{"decision": _WHOLE, "arm": _LABEL, "reason": _TEXT, "near": _WHOLE},
        **{"leader": _LABEL + _NOTHING, "propensity": _NUMBER + _NOTHING},
    },
    "reward": {**_EMPTY, "decision": _WHOLE, "reward": _NUMBER},
    "expire": {**_EMPTY, "decision": _WHOLE},
    "look-up": {**_EMPTY, "arm": _LABEL, "data": _TEXT},
    "revision": {**_EMPTY, "data": _TEXT},
    "limit": {**_EMPTY, "data": _TEXT},
    "open": {**_EMPTY, "data": _TEXT},
    "stream": _EMPTY,
    "data": {**_EMPTY, "data": _TEXT},
    "tell": {**_EMPTY, "arm": _LABEL, "reward": _NUMBER},
    # That something was erased; or, in an archive, what is left of a reward that was.
    "erase": {**_EMPTY, "decision": _WHOLE + _NOTHING, "data": _TEXT + _NOTHING},
    "key": {**_EMPTY, "data": _TEXT},
}


# Kinds that versions before them would take for damage, or not see behind a snapshot: a store marks
# a log that has one, so that they refuse it in their own words.
LATER_KINDS = frozenset({"data", "limit", "tell", "key"})


def fault(event: Event) -> str | None:
    """What is wrong with an event by itself, as the rest of a sentence; None if nothing is."""
    if event.kind not in SHAPES:
        return f"is of kind {short(event.kind)}, which there is not here"
    if not isinstance(event.time, float) or not math.isfinite(event.time):
        return f"has the time {short(event.time)}, which is none"
    for column, kinds in SHAPES[event.kind].items():
        value = getattr(event, column)
        if type(value) not in kinds:
            return (
                f"is of kind {event.kind} with {column} {short(value)}, a value of another kind "
                "than its column has"
            )
    if event.reason not in (None, *REASONS):
        return f"has the reason {short(event.reason)}, which there is not"
    if event.propensity is not None and not 0.0 <= event.propensity <= 1.0:
        return f"has the propensity {event.propensity!r}, which is none"
    return None


def all_sound(columns: Iterable[tuple[Any, ...]]) -> bool:
    """Whether `fault` finds nothing in many events, given column by column: a quick first look."""
    _, times, kinds, *rest = columns
    if set(map(type, times)) != {float} or not all(map(math.isfinite, times)):
        return False
    if not set(rest[2]) <= {None, *REASONS}:
        return False
    for kind, *types in set(zip(kinds, *(map(type, column) for column in rest), strict=True)):
        shape = SHAPES.get(kind)
        if shape is None or any(
            found not in kinds for found, kinds in zip(types, shape.values(), strict=True)
        ):
            return False
    return all(chance is None or 0.0 <= chance <= 1.0 for chance in rest[5])


def reward_fault(family: Family, event: Event) -> str | None:
    """What is wrong with the reward of an event; None if nothing is, or if it has none."""
    try:
        if event.reward is not None:
            family.check_reward(event.reward)
    except UnimodalError as error:
        return f"cannot be ({str(error).removesuffix('.')})"
    return None


def told(event: Event) -> str:
    """A decision of the log, in words."""
    reason = event.reason if event.reason in REASONS else short(event.reason)
    leader = f", leader {short(event.leader)}" if event.leader is not None else ""
    return (
        f"decision {short(event.decision)} for arm {short(event.arm)} "
        f"({reason}{leader}, {short(event.near)} near)"
    )


def short(value: Any) -> str:
    """A value for a sentence: not the whole of a long one."""
    return reprlib.repr(value)


def answer(text: Any) -> tuple[Any, list[Any] | None]:
    """An arm and its neighbours, as a log tells a look-up; a ValueError if it does not."""
    data = parsed(text)
    if not isinstance(data, list) or len(data) != 2 or not isinstance(data[1], list | None):
        raise ValueError("no arm and its neighbours")
    label, others = data
    found = [graphs.as_label(each) for each in (label, *(others or ()))]
    if not all(map(is_label, found)):
        raise ValueError("a label that is none")
    return found[0], None if others is None else found[1:]


class Change(NamedTuple):
    """A change of the graph: edges and arms, and the fingerprint of the graph that it made."""

    add: list[tuple[Any, Any]]
    retire: list[Any]
    fingerprint: str
    remove: list[tuple[Any, Any]]


def change(text: Any) -> Change:
    """A change of the graph, as a log tells it; a ValueError if it does not."""
    data = parsed(text)
    if not isinstance(data, dict):
        raise ValueError("no change of a graph")
    try:
        add, remove = (
            [(graphs.as_label(one), graphs.as_label(two)) for one, two in edges]
            for edges in (data["add"], data.get("remove", ()))
        )
        retire = list(map(graphs.as_label, data["retire"]))
        fingerprint = data["fingerprint"]
    except (KeyError, TypeError):
        raise ValueError("no change of a graph") from None
    if not all(map(is_label, [*(end for pair in (*add, *remove) for end in pair), *retire])):
        raise ValueError("a label that is none")
    return Change(add, retire, str(fingerprint), remove)


def limit(text: Any) -> tuple[str, Any]:
    """What was paused, resumed or capped, as a log tells it; a ValueError if it does not."""
    data = parsed(text)
    if not isinstance(data, dict) or len(data) != 1:
        raise ValueError("no limit")
    ((what, given),) = data.items()
    if what in ("pause", "resume") and isinstance(given, list):
        labels = list(map(graphs.as_label, given))
        if all(map(is_label, labels)):
            return what, labels
    if what == "cap" and (given is None or (isinstance(given, list) and len(given) == 2)):
        return what, given
    raise ValueError("no limit")


class KeyedDecisions(NamedTuple):
    """Decisions that were asked for under a key: how many, and the events among which they are."""

    key: str  # a digest, since a key may name a person
    n: int
    events: list[list[int]]  # the first and the last of each transaction that made some

    def to_json(self) -> str:
        """As a log keeps it; the key comes first, so that an index finds it."""
        return json.dumps(self._asdict())


def keys_between(digest: str) -> tuple[str, str]:
    """The least text with which data of a key begin, and one that is above all of them."""
    least = json.dumps({"key": digest}).removesuffix("}")
    return least, f"{least[:-1]}#"  # which is the next character after the quotation mark


def keyed_decisions(text: Any) -> KeyedDecisions:
    """Decisions under a key, as a log tells them; a ValueError if it does not."""
    data = parsed(text)
    try:
        found = KeyedDecisions(**data)
        spans = [(first, last) for first, last in found.events]
    except TypeError:
        raise ValueError("no decisions under a key") from None
    numbers = [found.n, *itertools.chain.from_iterable(spans)]
    are_whole = all(type(each) is int and 0 < each <= LONGEST for each in numbers)
    if not isinstance(found.key, str) or not are_whole or not spans:
        raise ValueError("no decisions under a key")
    return found


def past_data(text: Any) -> PastData:
    """Past data, as a log tells them; a ValueError if it does not."""
    data = parsed(text)
    try:
        return PastData.from_log(data, graphs.as_label)
    except (LookupError, TypeError, AttributeError, ArithmeticError):
        raise ValueError("no past data") from None


def is_label(label: Any) -> bool:
    """Whether data from a file can be the name of an arm."""
    if isinstance(label, tuple):
        return all(part is None or is_label(part) for part in label)
    return isinstance(label, str | int | float) and is_itself(label)


def parsed(text: Any) -> Any:
    """JSON as data; a ValueError where it is none, or goes deeper than any that is written."""
    try:
        return json.loads(text)
    except (TypeError, RecursionError):
        raise ValueError("no JSON") from None
