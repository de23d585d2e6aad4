"""Compaction: the events before a snapshot move from a campaign's log into an archive.

First the archive is written, compared and on disk under its name; then the events are dropped in
one transaction. Killed in between, both have them: the next run takes the archive that is there.
"""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from unimodal import files
from unimodal.campaigns.archives import (
    About,
    as_frame,
    digest_of,
    fill_archive,
    read_archive,
)
from unimodal.campaigns.content_digests import state_digest
from unimodal.campaigns.events import Identity, Rewarded
from unimodal.campaigns.log_start import archived, begins_after, erasures, needed_events
from unimodal.campaigns.reading import read
from unimodal.campaigns.stores import (
    DatabaseAddress,
    Place,
    Store,
    StoreToRead,
    as_file,
    as_place,
    kind_of,
)
from unimodal.campaigns.stores.event_identity import event_at
from unimodal.campaigns.stores.retrying import WAIT, in_transaction, why_not_reclaimed
from unimodal.campaigns.upkeep.verify import folded
from unimodal.errors import Busy, StoreError, UnimodalError, real_number
from unimodal.policies import Policy


@dataclass(frozen=True)
class Compacted:
    """What `compact` did: so many events are in the archive now, and no longer in the log.

    Attributes
    ----------
    path
        The campaign.
    archive
        The file that has the events now.
    events
        How many were moved.
    first
        The number of the first event in the archive.
    last
        The number of the last one.
    unreclaimed
        Why the room of these events was not given back, in words; empty if it was.

    Examples
    --------
    >>> from unimodal.campaigns import Compacted
    >>> Compacted("prices.db", "prices.parquet", 400, 1, 401).events
    400
    """

    path: Place
    archive: Path
    events: int
    first: int
    last: int
    unreclaimed: str = ""

    def __str__(self) -> str:
        """Sentences for a person."""
        room = (
            f" Their room was not given back ({self.unreclaimed}): later events use it, and so "
            "does the next compaction."
            if self.unreclaimed
            else ""
        )
        return (
            f"events {self.first:,} to {self.last:,} of {self.path} are in {self.archive} now: "
            f"{self.events:,} were dropped from its log, which begins at the snapshot after event "
            f"{self.last:,}; keep the archive to verify, inspect or export the whole.{room}"
        )


@dataclass(frozen=True)
class _Plan:
    """What is to be moved, as it was when the store was read."""

    note: dict[str, Any]  # of what was moved before
    erased: list[dict[str, Any]]  # before: what was erased since must not come back
    snapshot: tuple[int, str, str]
    follows: Identity  # the event of the snapshot
    about: About
    frame: Any
    spare: list[int]  # events that stay in the log
    dropped: Counter[str]  # of which kind the others are


def compact(
    path: str | Place,
    archive: str | Path | None = None,
    policy: Policy | None = None,
    *,
    key_lifetime: float = 86_400.0,
) -> Compacted:
    """Move the events before the last snapshot into an archive; others may go on meanwhile.

    The campaign is verified first, as far as its log is there; a policy of your own has to be
    passed for that. The archive is a new Parquet file, named for the events by default. What is in
    it cannot be inspected, explained or verified without it; nothing else needs it. Keys of
    `decide(key=…)` are still known for `key_lifetime` seconds.

    Parameters
    ----------
    path
        A file, or the address of a campaign in PostgreSQL.
    archive
        The new file for the events; named for them by default.
    policy
        A policy of your own, which is not in the log.
    key_lifetime
        For how many seconds keys of `decide` are known.

    Returns
    -------
    Compacted
        What was moved.

    Examples
    --------
    >>> import tempfile, unimodal as um
    >>> file = tempfile.mkdtemp() + "/prices.db"
    >>> with um.Campaign.open(file, um.UTS(), um.graphs.line(3)) as campaign:
    ...     decisions = campaign.decide(50)
    >>> moved = um.campaigns.compact(file)
    >>> moved.archive.name, moved.events
    ('prices.db.events-1-51.parquet', 50)
    >>> um.verify(file).events, um.verify(file, archives=[moved.archive]).events
    (0, 51)
    """
    path = as_place(path, "the path of a campaign")
    named = _checked(archive, path)
    lifetime = real_number(key_lifetime, "the 'key_lifetime' of compact", above=0)
    plan = read(path, lambda store: _planned(store, policy, lifetime))
    target = named or _named_for(plan.about, path)
    if not _is_there(target, plan):
        with files.new_file(target, "an archive") as made:
            fill_archive(made, plan.frame, plan.about)
            plan = replace(plan, frame=None)  # which takes memory
            read_archive(made)  # as it is on disk, or it is not kept
    store = kind_of(path).open_store(path, "full", WAIT)
    try:
        in_transaction(store, lambda: _drop(store, plan, target))
        room = why_not_reclaimed(store)
    finally:
        store.close()
    moved = plan.about.first, plan.about.last
    return Compacted(path, target, plan.dropped.total(), *moved, unreclaimed=room)


def _planned(store: StoreToRead, policy: Policy | None, key_lifetime: float) -> _Plan:
    snapshots, begin = store.snapshots(), begins_after(store)
    if not snapshots or snapshots[-1][0] <= begin:
        raise UnimodalError(
            f"{store.path} has no events before a snapshot that could be moved: a snapshot is "
            "taken when the campaign is closed, and every 20,000 events."
        )
    verdict = folded(store, policy)
    if not verdict:
        raise StoreError(
            f"{store.path} is not sound, so nothing was moved: {'; '.join(verdict.wrong)}."
        )
    (seq, version), note = snapshots[-1], archived(store)
    state = store.snapshot(seq)
    before = note["parts"][-1]["digest"] if note else ""
    about = About(
        begin + 1, seq, before, digest_of(store.rows(begin, seq), before), state_digest([state])
    )
    older = [
        (number, 0.0, "snapshot", None, None, its, None, None, None, None, store.snapshot(number))
        for number, its in snapshots
        if begin < number < seq
    ]
    frame = as_frame(itertools.chain(store.rows(begin, seq), [older] if older else []))
    spare = needed_events(store, seq, _last_time(store) - key_lifetime)
    dropped = Counter(store.counts(seq - 1)) - Counter(spare.values())
    kept = (seq, version, state), event_at(store, seq)
    return _Plan(note, erasures(store), *kept, about, frame, list(spare), dropped)


def _last_time(store: StoreToRead) -> float:
    """The time of the last event."""
    (((_, time, *_),),) = store.rows(store.last() - 1)
    return float(time)


def _checked(archive: str | Path | None, path: Place) -> Path | None:
    """The name for an archive, or None where it is named for its events."""
    if archive is None and isinstance(path, DatabaseAddress):
        raise UnimodalError(
            f"an archive of {path} needs a name, since there is no folder beside it: name a file "
            "….parquet (--archive)."
        )
    if archive is None:
        return None
    target = as_file(archive, "the path of an archive")
    if target.suffix != ".parquet":
        raise UnimodalError(f"an archive is a Parquet file, got {target}: name it ….parquet.")
    return target


def _named_for(about: About, path: Place) -> Path:
    beside = Path(str(path))
    return beside.with_name(f"{beside.name}.events-{about.first}-{about.last}.parquet")


def _is_there(target: Path, plan: _Plan) -> bool:
    """Whether an archive of exactly these events is there: a run before was killed."""
    if not target.exists():
        return False
    try:
        _, about = read_archive(target)
    except UnimodalError:
        about = None
    if about != plan.about:
        files.check_new(target, "an archive")
    return True


def _drop(store: Store, plan: _Plan, target: Path) -> None:
    """Drop what the archive has (inside a transaction); again, nothing is left to be done."""
    seq, part, is_new = plan.snapshot[0], plan.about.part(target), store.is_new()
    now = {} if is_new else archived(store)
    if part in now.get("parts", ()):
        return  # a commit whose answer was lost, or another run with the same archive
    is_other = is_new or (now, erasures(store)) != (plan.note, plan.erased)
    if is_other or not plan.follows.is_that_of(event_at(store, seq)):
        raise Busy(
            f"{store.path} was compacted, replaced or erased by others meanwhile, so nothing "
            f"was dropped from it: remove {target}, and try again."
        )
    counts = Counter(plan.note.get("counts", {})) + plan.dropped
    store.drop(seq, plan.spare)
    store.drop_snapshots(seq)
    note = {
        "until": seq,
        "counts": dict(counts),
        "rewards": counts[Rewarded.kind],
        "parts": [*plan.note.get("parts", ()), part],
    }
    store.put(settings={"archived": note}, snapshots=[plan.snapshot])
