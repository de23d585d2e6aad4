"""Privacy: the label of an arm, or also its data, are removed from a campaign and its archives.

A label is replaced by a neutral one everywhere, in one transaction that ends with an event of kind
'erase': whoever has the campaign open meets it before it writes anything, and reads all again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from unimodal import files
from unimodal.agents.label_text import shown
from unimodal.campaigns import events
from unimodal.campaigns.archives import (
    About,
    Archive,
    as_frame,
    as_rows,
    digest_of,
    events_of,
    fill_archive,
    load_archives,
    with_archives,
)
from unimodal.campaigns.events import KINDS, Row
from unimodal.campaigns.fold import Fold, rows_of
from unimodal.campaigns.log_reader import no_clock
from unimodal.campaigns.log_start import archived, erasures
from unimodal.campaigns.reading import saved_settings
from unimodal.campaigns.state import State
from unimodal.campaigns.stores import DatabaseAddress, Place, Store, StoreToRead, as_place, kind_of
from unimodal.campaigns.stores.event_identity import SNAPSHOTS, event_at, names_with
from unimodal.campaigns.stores.retrying import WAIT, in_transaction, why_not_reclaimed
from unimodal.campaigns.upkeep.neutral_labels import Relabelling, labels_in, neutral
from unimodal.campaigns.upkeep.verify import folded
from unimodal.errors import StoreError, UnimodalError
from unimodal.policies import Policy
from unimodal.version import __version__


@dataclass(frozen=True)
class Erased:
    """What `erase` did: the arm is called `label` now.

    Attributes
    ----------
    path
        The campaign.
    label
        What the arm is called now.
    events
        How many events were written anew.
    archives
        The archives as they are now.
    unchecked
        What `verify` can no longer check.
    left
        Archives with the old label that could not be deleted.
    unfinished
        Why the file may still have the old label in free pages, in words; empty if it has not.

    Examples
    --------
    >>> from unimodal.campaigns import Erased
    >>> Erased("prices.db", "erased-1", 12, (), ()).label
    'erased-1'
    """

    path: Place
    label: str
    events: int  # that were changed, in log and archives
    archives: tuple[Path, ...]  # in the place of those that were passed
    unchecked: tuple[str, ...]  # what `verify` can no longer check
    left: tuple[str, ...] = ()  # older archives that could not be deleted
    unfinished: str = ""  # why a byte may be left in the store's files

    @property
    def is_clean(self) -> bool:
        """Whether nothing of the old label is left in the store's files."""
        return not self.unfinished

    def __str__(self) -> str:
        """Sentences for a person."""
        archives = f" and {', '.join(map(str, self.archives))}" if self.archives else ""
        lost = (
            f" verify can no longer check: {'; '.join(self.unchecked)}." if self.unchecked else ""
        )
        rest = ""
        if isinstance(self.path, DatabaseAddress):
            rest = (
                " Pages of the server's tables may have it until they are written again: run "
                "VACUUM FULL unimodal.log, unimodal.snapshots, unimodal.settings there, for which "
                "all who use it wait."
            )
        elif self.unfinished:
            rest = (
                f" But free pages of the file may still have the label ({self.unfinished}): run "
                f"`unimodal erase {self.path} {self.label}`, which only finishes this."
            )
        if self.left:
            rest += f" Delete {', '.join(self.left)}, which could not be deleted."
        return (
            f"{self.events:,} events of {self.path}{archives} were changed, and the arm is called "
            f"{self.label} now.{lost} Copies and exports made before still have what it was called."
            f"{rest}"
        )


def erase(
    path: str | Place,
    arm: Any,
    *,
    data: bool = False,
    archives: Sequence[str | Path] = (),
    policy: Policy | None = None,
) -> Erased:
    """Replace the label of an arm by a neutral one, wherever a campaign and its archives have it.

    Others may have the campaign open: they go on with the new label, except those that passed a
    graph with the old one, which get an error. With `data`, the rewards of the arm are removed as
    well: it must have been retired, and its events must all be in archives. Called with the neutral
    label, it only wipes the free pages of the file once more, where that could not be done.

    Parameters
    ----------
    path
        A file, or the address of a campaign in PostgreSQL.
    arm
        The label to erase.
    data
        Whether its rewards are removed, too.
    archives
        All files that `compact` wrote.
    policy
        A policy of your own, which is not in the log.

    Returns
    -------
    Erased
        What was erased, and the new archives.

    Examples
    --------
    >>> import tempfile, unimodal as um
    >>> file = tempfile.mkdtemp() + "/people.db"
    >>> people = um.graphs.line(["Ann", "Bob", "Cy"])
    >>> with um.Campaign.open(file, um.UTS(), people, seed=1) as campaign:
    ...     decisions = campaign.decide(5)
    >>> um.campaigns.erase(file, "Bob").label
    'erased-1'
    >>> with um.Campaign.open(file) as campaign:
    ...     campaign.agent.graph.labels
    ('Ann', 'erased-1', 'Cy')
    """
    path = as_place(path, "the path of a campaign")
    kind = kind_of(path)
    # A wrong path is made nothing of, and damaged settings are told as such.
    kind.read_store(path, lambda store: saved_settings(store, policy))
    loaded = load_archives(archives)
    store = kind.open_store(path, "full", WAIT)
    try:
        erased = in_transaction(store, lambda: _erased(store, arm, data, loaded, policy))
        replaced = archives if erased.archives else ()
        left = tuple(str(old) for old in replaced if not _deleted(old))
        return replace(erased, left=left, unfinished=why_not_reclaimed(store))
    finally:
        store.close()


def _erased(
    store: Store, arm: Any, data: bool, archives: list[Archive], policy: Policy | None
) -> Erased:
    """Erase a label, or only say so if an erasure has given it: then there is none to replace."""
    if not data and shown(arm) in [entry["arm"] for entry in erasures(store)]:
        return Erased(store.path, shown(arm), 0, (), ())
    return Erasure(store, arm, data, archives, policy).do()


def _deleted(path: str | Path) -> bool:
    """Delete a file; whether it could be done."""
    try:
        Path(path).unlink(missing_ok=True)
        return True
    except OSError:
        return False


class Erasure:
    """One erasure, inside a transaction of the store.

    Attributes
    ----------
    label
        What the arm is called from now on.
    decisions
        The decisions for the arm, if its data are erased, too.
    """

    def __init__(
        self,
        store: Store,
        arm: Any,
        data: bool,
        archives: list[Archive],
        policy: Policy | None,
    ) -> None:
        self._store, self._policy, self._with_data = store, policy, data
        self._archives = archives
        self._note, self._settings = archived(store), store.settings()
        self._before: list[dict[str, Any]] = self._settings.get("erased", [])
        if self._note and not archives:
            names = ", ".join(part["file"] for part in self._note["parts"])
            raise UnimodalError(
                f"a part of the log of {store.path} is in {names}: pass all archives, so that the "
                "label is erased there, too."
            )
        self._whole: StoreToRead = with_archives(store, self._archives)
        known = labels_in(self._settings, rows_of(self._whole))
        text = shown(arm)
        if text not in known:
            some = ", ".join(list(known)[:3])
            raise UnimodalError(
                f"{store.path} has no arm called {text!r} whose label could be erased; there are "
                f"{some} and others."
            )
        self._old, self.label = known[text], neutral(known, len(self._before) + 1)
        self._relabel = Relabelling(self._old, self.label, self._settings, list(store.revisions()))
        self._changed = self._rewards_gone = 0
        self.decisions: set[int] = set()

    def do(self) -> Erased:
        """Change everything; the caller commits."""
        store, relabel = self._store, self._relabel
        fold = Fold.restored(saved_settings(store, self._policy), store, no_clock)
        fold.catch_up()
        seq, state = fold.state.seq + 1, relabel.state(fold.state.text())
        if self._with_data:
            self.decisions = self._decisions_to_erase(fold.state)
        looks_up = self._settings["graph"]["kind"] == "look-up"
        entry = {
            "event": seq,
            "arm": self.label,
            "data": self._with_data,
            # The order of neighbours depends on how labels are written, where they are looked up.
            "until": seq if looks_up else self._note["until"] if self._with_data else 0,
        }
        archives = list(self._rewritten())
        settings = {**relabel.settings, "erased": [*self._before, entry]}
        if self._note:
            parts = [about.part(path) for about, path in archives]
            rewards = self._note["rewards"] - self._rewards_gone
            settings["archived"] = {**self._note, "parts": parts, "rewards": rewards}
        changed = [new for old in rows_of(store) if (new := self._new(old)) != old]
        snapshots = [
            (at, version, relabel.state(store.snapshot(at))) for at, version in store.snapshots()
        ]
        store.put(settings=settings, events=changed, snapshots=snapshots)
        store.drop_rewards(self.decisions)
        erasure = events.Erased(seq, fold.state.book.now, len(self._before) + 1)
        store.append([erasure.row()])
        store.find_rewards(store.last_snapshot(), seq)
        if looks_up:
            store.drop_snapshots(seq)  # from which nobody could go on to this one
        named = {SNAPSHOTS: names_with(store, event_at(store, seq))}
        store.put(settings=named, snapshots=[(seq, __version__, state)])
        verdict = folded(store, self._policy)
        if not verdict:
            raise StoreError(
                f"{store.path} would not be sound without the label, so nothing was erased: "
                f"{'; '.join(verdict.wrong)}."
            )
        paths = tuple(path for _, path in archives)
        lost = tuple(each for each in verdict.unchecked if f" {self.label} " in each)
        return Erased(store.path, self.label, self._changed + len(changed), paths, lost)

    def _new(self, row: Row) -> Row:
        """What becomes of a row."""
        new = self._relabel.row(row)
        return KINDS[row.kind].without_data(new, self) if self._with_data else new

    def _decisions_to_erase(self, state: State) -> set[int]:
        """The decisions for the arm, all of which must be in archives, and the arm retired."""
        gone = {
            row.decision or 0
            for row in rows_of(self._whole)
            if KINDS[row.kind].decides and self._relabel.row(row).arm != row.arm
        }
        is_there = self._old in getattr(state.agent.graph, "labels", [self._old])
        later = (row for row in rows_of(self._store) if row.seq > self._note.get("until", 0))
        written = any(
            row.decision in gone or self._relabel.row(row).arm != row.arm for row in later
        )
        if is_there or written or not self._note:
            raise UnimodalError(
                f"the data of {shown(self._old)!r} can be erased when the arm has been retired and "
                f"all its events are in archives, got a campaign with it in {self._store.path}: "
                "call campaign.retire, close the campaign, run `unimodal compact`, and then this."
            )
        return gone

    def _rewritten(self) -> Iterator[tuple[About, Path]]:
        """Write the archives anew, in the order of their events, beside those that there are."""
        before = ""
        for frame, about, path in sorted(self._archives, key=lambda part: part.about.first):
            rows = []
            for some in as_rows(events_of(frame)):
                self._store.last()  # a server ends a transaction in which nobody asks anything
                for row in map(Row._make, some):
                    new = self._new(row)
                    self._changed += new != row
                    is_gone = row.reward is not None and new.kind != row.kind and row.decision
                    self._rewards_gone += bool(is_gone) and row.seq < self._note["until"]
                    rows.append(tuple(new))
            digest = digest_of([rows], before)
            again = replace(about, before=before, digest=digest)
            if self._with_data:
                again = replace(again, erased=[*about.erased, self.label])
            states = [
                row._replace(data=self._relabel.state(row.data or ""))
                for some in as_rows(frame.filter(kind="snapshot"))
                for row in map(Row._make, some)
            ]
            target = _beside(path, len(self._before) + 1)
            with contextlib.suppress(FileNotFoundError):
                target.unlink()  # of a run that was killed
            with files.new_file(target, "an archive") as made:
                fill_archive(
                    made,
                    as_frame([rows, [tuple(state) for state in states]] if states else [rows]),
                    again,
                )
            yield again, target
            before = digest


def _beside(path: Path, number: int) -> Path:
    """The name of an archive after an erasure."""
    stem = path.stem.rpartition(".erased-")[0] or path.stem
    return path.with_name(f"{stem}.erased-{number}.parquet")
