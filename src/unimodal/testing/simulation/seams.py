"""The only file of the simulator that reaches into private parts of campaigns.

What it touches: `campaigns.events.keyed.keys_between`, `campaigns.stores.event_identity` (whether a
log is still the one that was known), `campaigns.snapshots` (how often one is taken),
`campaigns.writer` (after how many transactions one is taken to be alone) and
`campaigns.state_text` (the state as text). Threads, times and random numbers are replaced by name,
in whichever module of campaigns imports them: see `stand_ins.py`.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

from unimodal.campaigns import snapshots, writer
from unimodal.campaigns.events.keyed import keys_between
from unimodal.campaigns.state_text import state_in_pieces
from unimodal.campaigns.stores import event_identity as identities
from unimodal.campaigns.stores.store import Interrupted, NumberTaken, SetBack
from unimodal.errors import StoreError

__all__ = ["identities", "is_unknown", "keys_between", "small", "state_of"]

INTERNAL = (Interrupted, NumberTaken, SetBack)  # errors that must not leave a campaign


def state_of(agent: Any) -> str:
    """All of the state of an agent, as text: equal states are equal texts."""
    return "".join(state_in_pieces(agent))


def is_unknown(error: BaseException) -> bool:
    """Whether an error says that a call may have been kept or not."""
    words = ("not known whether", "may not have been kept", "compacted before it was seen")
    return isinstance(error, StoreError) and any(each in str(error) for each in words)


@contextlib.contextmanager
def small(history: dict[str, Any]) -> Iterator[None]:
    """Have things happen after few events that else happen after many, as a history says."""
    before = snapshots.SNAPSHOT_EVERY, snapshots._REWARDS, writer._ALONE
    snapshots.SNAPSHOT_EVERY = history["snapshot_every"]
    snapshots._REWARDS = history["rewards_at_once"]
    writer._ALONE = history["alone_after"]
    try:
        yield
    finally:
        snapshots.SNAPSHOT_EVERY, snapshots._REWARDS, writer._ALONE = before


def modules() -> list[Any]:
    """The modules of campaigns in which threads, times and random numbers are replaced."""
    return [
        module
        for name, module in list(sys.modules.items())
        if name.startswith("unimodal.campaigns.") and ".stores" not in name
    ]
