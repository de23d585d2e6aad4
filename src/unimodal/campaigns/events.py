"""What happens in a campaign: the lines of its log."""

from __future__ import annotations

import hashlib
import json
from typing import Any, NamedTuple

from unimodal.agents.decisions import Decision
from unimodal.agents.label_text import as_text
from unimodal.errors import UnimodalError


class Event(NamedTuple):
    """One line of the log.

    A decision, a reward, an expiry, a look-up, a revision of the graph, a limit (arms paused or
    resumed, a cap), an opening; a new random stream, on which processes agree after they would
    have decided differently; past data, before all others; a reward that was told without a
    decision; the key under which decisions just before it were asked for; or that a label was
    erased.
    """

    seq: int
    time: float
    kind: str
    decision: int | None = None
    arm: Any = None
    reason: str | None = None
    leader: Any = None
    near: int | None = None
    propensity: float | None = None
    reward: float | None = None
    data: str | None = None


class Identity(NamedTuple):
    """What never changes of an event, whatever is moved or erased: which one it is.

    A log that was set back has another event of the same number. The token is that of its
    transaction, where the store keeps one.
    """

    seq: int
    time: float
    kind: str
    decision: int | None
    token: int | None = None

    def is_that_of(self, other: Identity) -> bool:
        """Whether both are of the same event; the other may have lost its data since."""
        same_kind = other.kind in (self.kind, "erase")
        return same_kind and self._replace(kind="") == other._replace(kind="")


NO_EVENT = Identity(0, 0.0, "", None)  # before the first


def identity_of(event: Event, token: int | None = None) -> Identity:
    """Which event it is."""
    return Identity(event.seq, event.time, event.kind, event.decision, token)


def as_event(seq: int, kind: str, time: float, decision: int, what: Any) -> Event:
    """What an agent's recorder is told, as an event: `what` is a decision or a reward."""
    if isinstance(what, Decision):
        arm, leader = as_text(what.arm), as_text(what.leader)
        rest = (what.reason, leader, what.near, what.propensity)
        return Event(seq, time, kind, decision, arm, *rest)
    return Event(seq, time, kind, decision, None, None, None, None, None, what)


def key_digest(key: Any) -> str:
    """What a log keeps of a key: a digest, since the key itself may name a person."""
    if not isinstance(key, str) or not key:
        raise UnimodalError(f"the 'key' of decide must be a text, not empty, got {key!r}.")
    return hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def as_json(data: Any, such_as: str) -> str:
    """Data with labels in it as JSON; `such_as` names what is refused, if it is."""
    try:
        text = json.dumps(data, ensure_ascii=False)
        text.encode()  # half of a surrogate pair is no text
        return text
    except (TypeError, UnicodeEncodeError):
        raise UnimodalError(
            f"a campaign's arms must be labelled by text, numbers or tuples of them, got {such_as}."
        ) from None
