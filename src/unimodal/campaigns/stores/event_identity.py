"""Whether a log is still the one that was known, and a snapshot one of it: by events' identities.

A store that was set back, by a fail-over or a copy put in its place, has other events of the same
numbers as soon as somebody has written to it.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from unimodal.campaigns.events import NO_EVENT, Identity, Row, identity_of
from unimodal.campaigns.stores.address import Place
from unimodal.campaigns.stores.store import SetBack, StoreToRead
from unimodal.errors import DamagedFile

SNAPSHOTS = "snapshots"  # the setting that names the event which each follows
_Name = tuple[float, str, int | None]  # its time, kind and decision


def is_known(known: Identity, ends: Sequence[Identity], path: Place) -> bool:
    """Whether a log still has the last event that was known; refused if it has another.

    `ends` are the event of that number, as far as it is there, and the last one. False if it was
    moved into an archive, where it is not compared.
    """
    last = ends[-1] if ends else NO_EVENT
    if last.seq < known.seq:
        raise SetBack(
            f"{path} ends with event {last.seq:,} now, and with event {known.seq:,} before: its "
            "server was set back, and what came after that is lost; call again to go on from there."
        )
    if known.seq and ends[0].seq == known.seq and not known.is_that_of(ends[0]):
        raise SetBack(
            f"{path} has another event {known.seq:,} now than before: its server was set back, "
            "what was known here and is not in its log is lost, and others have written since; "
            "call again to go on from its log."
        )
    return not known.seq or ends[0].seq == known.seq


def event_at(store: StoreToRead, seq: int) -> Identity:
    """Which event has a number; `NO_EVENT` if none has it."""
    found = itertools.chain.from_iterable(store.rows(seq - 1, seq)) if seq else ()
    return next((identity_of(Row._make(row)) for row in found), NO_EVENT)


def names_with(store: StoreToRead, follows: Identity) -> dict[str, _Name]:
    """The events that the snapshots of a store follow, and one that another is to follow."""
    kept = {str(number) for number, _ in store.snapshots()}
    names = {number: name for number, name in _names(store).items() if number in kept}
    return {**names, str(follows.seq): (follows.time, follows.kind, follows.decision)}


def fitting_snapshots(store: StoreToRead) -> tuple[list[tuple[int, str]], list[int]]:
    """The snapshots after events of the log; and the numbers where the log has another event.

    Those of older versions do not name their event, and are taken to fit. So are those whose event
    is missing: that is damage.
    """
    names, snapshots = _names(store), store.snapshots()
    unfit = [
        seq
        for seq, _ in snapshots
        if (name := names.get(str(seq))) is not None
        and (found := event_at(store, seq)) != NO_EVENT
        and not Identity(seq, *name).is_that_of(found)
    ]
    return [each for each in snapshots if each[0] not in unfit], unfit


def _names(store: StoreToRead) -> dict[str, _Name]:
    found = store.settings(SNAPSHOTS).get(SNAPSHOTS, {})
    try:
        return {str(int(seq)): (time, kind, of) for seq, (time, kind, of) in found.items()}
    except (TypeError, ValueError, AttributeError):
        raise DamagedFile(
            f"the setting '{SNAPSHOTS}' in {store.path} is damaged: go back to a copy of it."
        ) from None
