"""What happens in a campaign. Each kind of event is a class in a file of its own.

To add a kind, write its file and put it into `KINDS`: all that fold, verify, show, move, compact or
erase a log ask it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from unimodal.campaigns.events.decided import Decided
from unimodal.campaigns.events.erased import Erased
from unimodal.campaigns.events.event import NOTHING, Damage, Event
from unimodal.campaigns.events.expired import Expired
from unimodal.campaigns.events.keyed import Keyed
from unimodal.campaigns.events.limited import Limited
from unimodal.campaigns.events.looked_up import LookedUp
from unimodal.campaigns.events.new_stream import NewStream
from unimodal.campaigns.events.observed import Observed
from unimodal.campaigns.events.opened import Opened
from unimodal.campaigns.events.past_given import PastGiven
from unimodal.campaigns.events.revised import Revised
from unimodal.campaigns.events.rewarded import Rewarded
from unimodal.campaigns.events.row import NO_EVENT, REST, Identity, Row, identity_of, short
from unimodal.policies.state import REASONS

__all__ = [
    "KINDS", "NO_EVENT", "Damage", "Decided", "Erased", "Event", "Expired", "Identity", "Keyed",
    "Limited", "LookedUp", "NewStream", "Observed", "Opened", "PastGiven", "Revised", "Rewarded",
    "Row", "all_sound", "event_of", "fault", "identity_of", "kinds_that", "short",
]  # fmt: skip

# In the order in which tables have the names of kinds.
KINDS: dict[str, type[Event]] = {
    kind.kind: kind
    for kind in (
        *(Decided, Rewarded, Expired, LookedUp, Revised, Limited, Opened, NewStream),
        *(PastGiven, Observed, Erased, Keyed),
    )
}


def kinds_that(what: str) -> list[str]:
    """The names of the kinds with a property, such as 'closes'."""
    return [name for name, kind in KINDS.items() if getattr(kind, what)]


def fault(row: Row) -> str | None:
    """What is wrong with a row by itself, as the rest of a sentence; None if nothing is."""
    kind = KINDS.get(row.kind) if isinstance(row.kind, str) else None
    if kind is None:
        return f"is of kind {short(row.kind)}, which this version of unimodal does not know"
    return kind.fault(row)


def event_of(row: Row) -> Event:
    """The event of a row; `Damage` if the row cannot be one."""
    try:
        if (wrong := fault(row)) is not None:
            raise Damage(wrong)
        return KINDS[row.kind].of(row)
    except Damage as damage:
        damage.seq = row.seq
        raise


def all_sound(columns: Iterable[tuple[Any, ...]]) -> bool:
    """Whether `fault` finds nothing in many rows, given column by column: a quick first look."""
    _, times, kinds, *rest = columns
    if set(map(type, times)) != {float} or not all(map(math.isfinite, times)):
        return False
    if not set(rest[2]) <= {None, *REASONS}:
        return False
    for kind, *types in set(zip(kinds, *(map(type, column) for column in rest), strict=True)):
        known = KINDS.get(kind)
        if known is None or any(
            found not in known.columns.get(column, NOTHING)
            for column, found in zip(REST, types, strict=True)
        ):
            return False
    return all(chance is None or 0.0 <= chance <= 1.0 for chance in rest[5])
