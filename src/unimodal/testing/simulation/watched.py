"""A store between a campaign and another store: here turns are handed on and faults happen.

It behaves as the one behind it, but for what the step of the history says: a commit that does not
arrive, or of which the answer does not, a refusal, a statement that arrives twice, a process that
is killed. What is committed is noted in the ledger.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from unimodal.campaigns.events import Row
from unimodal.campaigns.stores import Interrupted, NumberTaken, OtherPlace, StoreToRead, kind_of
from unimodal.campaigns.stores.store import Found
from unimodal.errors import Busy, StoreError
from unimodal.testing.simulation.kept import Kept
from unimodal.testing.simulation.ledger import Erasure, Ledger, Wrong
from unimodal.testing.simulation.turns import Crashed, Owner, Turns

BEGIN_FAULTS = ("busy", "refused", "lost")
COMMIT_FAULTS = (
    *("lost", "answer lost", "refused", "doubled", "crash before", "crash after"),
    *("unknown and kept", "unknown and lost"),
)


class WatchedPlace(OtherPlace):
    """A campaign of a history; `inner` is where it is really kept."""

    def __init__(self, kept: Kept, turns: Turns, ledger: Ledger) -> None:
        self.kept, self.turns, self.ledger = kept, turns, ledger
        self.inner: Any = kept.inner
        self.kind: Any = WATCHED
        self.faults: dict[tuple[str, int], str] = {}  # by boundary and how often it was met
        self.met = {"begin": 0, "commit": 0}
        self.disturbances = 0  # after which an error may be told
        self.writing: list[object] = []  # who writes, and those who wait
        self.stores: list[WatchedStore] = []

    def __str__(self) -> str:
        """The name of the inner place."""
        return str(self.inner)

    __repr__ = __str__

    def expect(self, faults: Sequence[dict[str, Any]]) -> None:
        """Have these faults happen from now on, each once."""
        self.faults = {(each["at"], each["nth"]): each["what"] for each in faults}
        self.met = {"begin": 0, "commit": 0}

    def fault(self, boundary: str) -> str | None:
        """What happens at this boundary now."""
        self.met[boundary] += 1
        what = self.faults.pop((boundary, self.met[boundary]), None)
        if what is not None:
            self.disturbances += 1
        return what

    def crash(self, owner: Owner) -> None:
        """Kill a process: its transactions are lost, and it does nothing any more."""
        owner.crashed = True
        self.disturbances += 1
        for store in self.stores:
            if store.owner is owner:
                store.die()
        self.stores = [store for store in self.stores if store.owner is not owner]


class WatchedStore:
    """A handle that belongs to a process of the history: see `Store`."""

    def __init__(self, place: WatchedPlace, inner: Any) -> None:
        task = place.turns.task
        assert task is not None
        self.path: Any = place
        self._place, self._inner, self.owner = place, inner, task.owner
        self._appended: list[Row] = []
        self._erasure: Erasure | None = None
        place.stores.append(self)

    def __getattr__(self, name: str) -> Any:
        self._check_alive()
        return getattr(self._inner, name)

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return bool(self._inner.closed)

    def _check_alive(self) -> None:
        if self.owner.crashed:
            raise Crashed

    def die(self) -> None:
        """Let go of everything, as a process does that is killed."""
        self._inner.roll_back()
        self._inner.close()
        self._end()

    def _end(self) -> None:
        self._appended, self._erasure = [], None
        if self in self._place.writing:
            self._place.writing.remove(self)

    # Transactions.

    def begin(self) -> None:
        """Begin a transaction, when it is its turn."""
        self._check_alive()
        turns, writing = self._place.turns, self._place.writing
        turns.pause()
        what = self._place.fault("begin")
        if what == "busy":
            raise Busy(f"{self.path} was busy: call again.")
        if what == "refused":
            raise StoreError(f"{self.path} refuses to be written to: look why.")
        if what == "lost":
            raise Interrupted(f"the connection to {self.path} was lost: begin anew.")
        writing.append(self)
        try:
            turns.wait(lambda: writing[0] is self)
            self._inner.begin()
        except BaseException:
            self.roll_back()
            raise
        self.owner.disturbances = self._place.disturbances
        turns.pause()

    def append(self, events: Sequence[Row]) -> None:
        """Add events."""
        self._check_alive()
        self._inner.append(events)
        self._appended += events
        self._place.turns.pause()

    def put(self, **what: Any) -> None:
        """Write over what has the same names and numbers."""
        self._check_alive()
        self._inner.put(**what)
        entries = (what.get("settings") or {}).get("erased", [])
        if entries:
            last = entries[-1]
            self._erasure = Erasure(last["event"], self.owner.erasing, last["arm"])

    def commit(self) -> None:
        """End the transaction."""
        self._commit(self._inner.commit)

    def append_at_once(self, events: Sequence[Row]) -> None:
        """Begin, append and commit."""
        self._check_alive()
        turns, writing = self._place.turns, self._place.writing
        turns.pause()
        writing.append(self)
        try:
            turns.wait(lambda: writing[0] is self)
            self._appended = list(events)
            self._commit(lambda: self._inner.append_at_once(events), events)
        except BaseException:
            self._end()
            raise

    def _commit(self, do: Callable[[], None], again: Sequence[Row] = ()) -> None:
        self._check_alive()
        self._place.turns.pause()
        self._check_alive()
        what = self._place.fault("commit")
        self._fail_before(what)
        do()
        self._note()
        self._end()
        if what == "doubled" and again:
            self._send_again(again)
        elif what == "crash after":
            self._place.crash(self.owner)
            raise Crashed
        elif what == "unknown and kept":
            raise self._unknown()
        elif what == "answer lost":
            self._find_out()
        self._place.turns.pause()

    def _fail_before(self, what: str | None) -> None:
        """Let the commit not be made, if that is the fault."""
        if what == "crash before":
            self._place.crash(self.owner)
            raise Crashed
        if what not in ("lost", "refused", "unknown and lost"):
            return
        self.roll_back()
        if what == "lost":
            raise Interrupted(f"the connection to {self.path} was lost: begin anew.")
        if what == "refused":
            raise StoreError(f"{self.path} could not be written (no room): nothing was kept.")
        raise self._unknown()

    def _unknown(self) -> StoreError:
        return StoreError(
            f"{self.path} cannot be reached; it is not known whether this call was kept."
        )

    def _note(self) -> None:
        """Tell the ledger what was committed."""
        ledger, content = self._place.ledger, self._place.kept.now()
        if self._erasure is not None:
            ledger.erased(self._erasure)
        ledger.committed(self._appended, content)

    def _send_again(self, events: Sequence[Row]) -> None:
        """Let a statement arrive twice, the second time on another connection."""
        other = kind_of(self._place.inner).open_store(self._place.inner, "full", 5.0)
        try:
            other.append_at_once(events)
        except NumberTaken:
            return
        finally:
            other.close()
        raise Wrong(f"event {events[0].seq} was appended twice")

    def _find_out(self) -> None:
        """Look whether a commit arrived of which the answer was lost; it did.

        Others may have set the store back meanwhile, which is told instead.
        """
        turns, writing = self._place.turns, self._place.writing
        turns.pause()
        writing.append(self)
        try:
            turns.wait(lambda: writing[0] is self)
            self._inner.begin()
        except Interrupted:
            raise self._unknown() from None  # it was compacted
        finally:
            self._inner.roll_back()
            self._end()

    def roll_back(self) -> None:
        """End the transaction, if there is one, as if it had not been."""
        if self.owner.crashed:
            return
        self._inner.roll_back()
        self._end()

    def close(self) -> None:
        """Let go of everything."""
        if self.owner.crashed:
            return
        self._inner.close()
        self._end()
        if self in self._place.stores:
            self._place.stores.remove(self)

    def pause_at_forks(self, campaign: Any) -> None:
        """Do nothing: nobody forks."""

    def let_fork(self, campaign: Any) -> None:
        """Do nothing."""


class WatchedKind:
    """How to get a handle on a `WatchedPlace`: see `StoreKind`."""

    def is_there(self, path: Any, wait: float) -> bool:
        """Whether there is a campaign."""
        return kind_of(path.inner).is_there(path.inner, wait)

    def open_store(self, path: Any, durability: str, wait: float) -> Any:
        """Open a store to write, for the process of this thread."""
        return WatchedStore(path, kind_of(path.inner).open_store(path.inner, durability, wait))

    def read_store(self, path: Any, work: Callable[[StoreToRead], Found]) -> Found:
        """What some work finds at one moment."""
        path.turns.pause()
        return kind_of(path.inner).read_store(path.inner, work)

    def new_store(self, path: Any) -> AbstractContextManager[Any]:
        """A new store, which nobody watches."""
        return kind_of(path.inner).new_store(path.inner)

    def back_up(self, path: Any, target: Any) -> Any:
        """Copy a campaign, as it is at one moment."""
        path.turns.pause()
        return kind_of(path.inner).back_up(path.inner, target)


WATCHED = WatchedKind()
