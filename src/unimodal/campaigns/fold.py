"""A state that follows the log of a store: the I/O of folding, of which `state.py` has none."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Callable, Iterator

from unimodal.campaigns.events import KINDS, Damage, Revised, Row
from unimodal.campaigns.events.json_text import parsed
from unimodal.campaigns.events.looked_up import labels_met
from unimodal.campaigns.log_start import begins_after, erasures
from unimodal.campaigns.lookup_requests import LookUpRequests
from unimodal.campaigns.settings import Settings
from unimodal.campaigns.state import Moved, State
from unimodal.campaigns.stores import StoreToRead
from unimodal.campaigns.stores.event_identity import fitting_snapshots
from unimodal.errors import DamagedFile, UnimodalError
from unimodal.graphs import Graph


class LogMoved(DamagedFile):
    """Events or labels are no longer what they were: begin anew, from the last snapshot.

    Who has just begun finds that the store is damaged.
    """


class Fold:
    """The state after an event of a store's log, which can follow the log further.

    Attributes
    ----------
    state
        The state; it is as far as event `state.seq`.
    unfit
        The snapshots, by event, that are of another history than the log.
    """

    def __init__(
        self,
        settings: Settings,
        store: StoreToRead,
        clock: Callable[[], float],
        look_ups: LookUpRequests | None = None,
        decides_again: bool = False,
    ) -> None:
        self._store = store
        self._erasures = len(erasures(store))
        self.unfit: list[int] = []
        is_held = isinstance(settings.graph, Graph)
        with self._damage_told(lambda: 0):
            self.state = State(
                settings,
                clock,
                look_ups or LookUpRequests(settings.graph),
                () if is_held else _rows_before_agent(store),
                self._erasures,
                decides_again,
                lambda until: labels_met(rows_of(store), until),
            )

    @classmethod
    def restored(
        cls,
        settings: Settings,
        store: StoreToRead,
        clock: Callable[[], float],
        seq: int | None = None,
        look_ups: LookUpRequests | None = None,
        decides_again: bool = False,
    ) -> Fold:
        """The state at a snapshot: the last one by default, or the one after event `seq`."""
        fold = cls(settings, store, clock, look_ups, decides_again)
        if seq is None:
            snapshots, fold.unfit = fitting_snapshots(store)
            seq = snapshots[-1][0] if snapshots else 0
            if seq > store.last():
                raise _damaged_snapshot(seq, store)
        if seq:
            fold._restore(seq)
        return fold

    def _restore(self, seq: int) -> None:
        state = self.state
        for row in self._store.revisions():
            if row.seq <= seq:
                with self._damage_told(lambda number=row.seq - 1: number):  # type: ignore[misc]
                    Revised.of(row).apply(state)
        text = self._store.snapshot(seq)
        try:
            state.restore(seq, parsed(text))
        except (
            *(LookupError, TypeError, ValueError, AttributeError),
            *(OverflowError, RecursionError, MemoryError),
        ):
            raise _damaged_snapshot(seq, self._store) from None

    def catch_up(self, until: int | None = None) -> None:
        """Follow the log to its end, or as far as an event."""
        with self._damage_told(lambda: self.state.seq):
            for rows in self._store.rows(self.state.seq, until):
                self.state.follow(rows)

    @contextlib.contextmanager
    def _damage_told(self, seq: Callable[[], int]) -> Iterator[None]:
        """Say of damage at which event of which log it is; or that the log was moved meanwhile."""
        try:
            yield
        except (Damage, DamagedFile) as error:
            is_moved = isinstance(error, Moved) or len(erasures(self._store)) > self._erasures
            if is_moved or (isinstance(error, Damage) and seq() < begins_after(self._store)):
                raise LogMoved(
                    f"{self._store.path} has events moved or labels erased otherwise than its "
                    "settings tell: it was changed by hand or is damaged; go back to a copy of it."
                ) from None
            if isinstance(error, DamagedFile):
                raise
            raise damaged_event(self._store, error.seq or seq() + 1, error) from None


def damaged_event(store: StoreToRead, seq: int, damage: Damage) -> DamagedFile:
    """The error for an event that cannot be."""
    return DamagedFile(f"event {seq} of {store.path} {damage.what}: {damage.advice}.")


def rows_of(store: StoreToRead) -> Iterator[Row]:
    """The rows of a log one by one."""
    for rows in store.rows():
        yield from map(Row._make, rows)


def _rows_before_agent(store: StoreToRead) -> Iterator[Row]:
    """The rows of what a start looked up, before there was an agent."""
    before = begins_after(store) or math.inf  # after `compact`, others of a later time
    return itertools.takewhile(
        lambda row: row.seq < before and _precedes_agent(row), rows_of(store)
    )


def _precedes_agent(row: Row) -> bool:
    return row.kind in KINDS and KINDS[row.kind].precedes_agent


def graph_fingerprints(store: StoreToRead) -> set[str]:
    """Those of the graphs that changes in a log have made."""
    found = set()
    for row in store.revisions():
        try:
            found.add(Revised.of(row).fingerprint)
        except Damage:
            raise DamagedFile(
                f"event {row.seq} of {store.path} must be a change of the graph: it was changed "
                "by hand or is damaged; go back to a copy."
            ) from None
    return found


def _damaged_snapshot(seq: int, store: StoreToRead) -> UnimodalError:
    return DamagedFile(
        f"the snapshot after event {seq} of {store.path} is damaged: delete it from the table "
        "'snapshots', and the state is folded from the log."
    )
