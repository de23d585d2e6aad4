"""A line of the log as a store keeps it, and which line it is."""

from __future__ import annotations

import reprlib
from typing import Any, NamedTuple

REST = ("decision", "arm", "reason", "leader", "near", "propensity", "reward", "data")


class Row(NamedTuple):
    """One line of a log: its number, its time, the kind of its event, and what that kind needs."""

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
        same_kind = other.kind in (self.kind, ERASED)
        return same_kind and self._replace(kind="") == other._replace(kind="")


ERASED = "erase"  # the kind of what is left of an event whose data were erased
NO_EVENT = Identity(0, 0.0, "", None)  # before the first


def identity_of(row: Row, token: int | None = None) -> Identity:
    """Which event it is."""
    return Identity(row.seq, row.time, row.kind, row.decision, token)


def short(value: Any) -> str:
    """A value for a sentence: not the whole of a long one."""
    return reprlib.repr(value)
