"""The only way to the log: a call does a command on the state, and is answered when it is on disk.

Threads and the service hand in calls; all that wait share a transaction (`group_commit`). A call
that is refused has changed nothing. One that fails half-way has the state thrown away, which is
folded again from the log, and the others are done again without it.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from unimodal.agents.decisions import Decision
from unimodal.campaigns.clock import CampaignClock, this_boot
from unimodal.campaigns.commands import beginning
from unimodal.campaigns.commands.deciding import deciding
from unimodal.campaigns.events import Damage
from unimodal.campaigns.fold import Fold, LogMoved, damaged_event, graph_fingerprints
from unimodal.campaigns.group_commit import WITHIN, Call, GroupCommit
from unimodal.campaigns.log_questions import LogNeeded
from unimodal.campaigns.lookup_requests import LookUpNeeded, LookUpRequests
from unimodal.campaigns.settings import Settings
from unimodal.campaigns.snapshots import Snapshots
from unimodal.campaigns.state import State
from unimodal.campaigns.stores import Interrupted, NumberTaken, SetBack, Store
from unimodal.errors import StoreError, UnimodalError
from unimodal.graphs import Graph
from unimodal.policies import Policy
from unimodal.version import __version__

_ALONE = 20  # transactions without a sign of others, from which on it is taken to be alone
_REPORTS = 100

_log = logging.getLogger("unimodal")


class Writer:
    """Does calls on the state of a campaign; when it returns, what they did is on disk."""

    def __init__(self, store: Store, given: Settings, clock: Callable[[], float]) -> None:
        self._store, self._given = store, given
        is_system = clock is time.time
        is_server = is_system and store.clock is not None
        told = store.clock if is_system and store.clock is not None else clock
        self.clock = CampaignClock(
            told, is_system=is_system, is_trusted=is_server, boot=this_boot()
        )
        self._fold: Fold | None = None
        self._version = -1  # of the store, when the state had last caught up with it
        self._undisturbed = 0  # transactions since another process wrote
        self._process = os.getpid()
        self._look_ups = LookUpRequests(None)
        self._group = GroupCommit(self._commit)
        self._snapshots = Snapshots(store, self._beside)
        self._untold: SetBack | None = None  # which only a thread beside the callers has met
        self._reports: deque[str] = deque(maxlen=_REPORTS)  # of a store that was set back
        store.pause_at_forks(self)
        try:
            self._with_look_ups(lambda: self(Call(self._begin)))
        except BaseException:
            store.let_fork(self)
            raise

    @property
    def policy(self) -> Policy | None:
        """The policy that was passed, which may be one of the caller's own."""
        return self._given.policy

    @property
    def is_copy(self) -> bool:
        """Whether this process is a forked copy of the one that opened the store."""
        return self._process != os.getpid()

    @property
    def reports(self) -> list[str]:
        """What went wrong with the clock and the store: the last sentences."""
        return [*self.clock.reports, *self._reports]

    def _report(self, sentence: str) -> None:
        self._reports.append(sentence)
        _log.warning(sentence)

    # Calls.

    def __call__(self, call: Call) -> Any:
        """Do a call, in a transaction that it may share with others; its result."""
        self.do([call])
        if call.error is not None:
            raise call.error
        return call.result

    def decisions(
        self, n: int, propensity: bool, key: str | None, lifetime: float
    ) -> list[Decision]:
        """The next `n` decisions; look-ups that they need are made in between, outside of calls."""
        if isinstance(self._look_ups.oracle, Graph):
            return self(deciding(n, propensity, key, lifetime)).decisions  # type: ignore[no-any-return]
        made: list[Decision] = []

        def decide_more() -> None:
            while len(made) < n:
                more = n if key is not None else n - len(made)
                some = self(deciding(more, propensity, key, lifetime))
                if some.decisions:
                    self._look_ups.begin_decision()
                if key is not None:  # all of them are told each time
                    made.clear()
                made.extend(some.decisions)
                if some.needed is not None:
                    raise some.needed

        self._with_look_ups(decide_more)
        return made

    def do(self, calls: list[Call]) -> None:
        """Do calls, in their order, in a transaction if that can be: each has its result or error.

        What concerns none of them alone, such as a store that cannot be reached, is raised.
        """
        if self._process != os.getpid():  # before the lock, which may be held for ever in a copy
            raise UnimodalError(
                f"{self._store.path} was opened by another process, of which this is a copy: "
                "open it here with Campaign.open."
            )
        if self._look_ups.asking == threading.get_ident():
            raise UnimodalError(WITHIN)
        self._group(calls)
        for call in calls:
            if isinstance(call.error, SetBack):  # an error class of stores
                call.error = StoreError(str(call.error))

    def _beside(self, work: Callable[[State], Any]) -> Any:
        """Do something that no caller waits for: what is to be told waits for the next one."""
        call = Call(work)
        call.is_of_nobody = True
        self._group([call])
        if call.error is not None:
            raise call.error
        return call.result

    def _with_look_ups(self, work: Callable[[], Any]) -> Any:
        """Do something again and again, until all that it needs has been looked up."""
        if self._look_ups.asking == threading.get_ident():
            raise UnimodalError(WITHIN)
        asked = []
        self._look_ups.begin_decision()
        try:
            while True:
                try:
                    return work()
                except LookUpNeeded as needed:
                    self._look_ups.make(needed)
                    asked.append(needed.label)
        finally:
            self._look_ups.forget(asked)  # the log has them now, or nobody needs them

    # Forks: the store is let go of for that moment, so that the child inherits no connection.

    def pause(self, seconds: float) -> bool:
        """Close the store until `go_on` is called; False if it cannot be done in that time."""
        if not self._group.hold(seconds):
            return False
        try:
            self._store.suspend()
            self._version, self._undisturbed = -1, 0
            return True
        except BaseException:
            self._group.release()
            return False

    def go_on(self) -> None:
        """Open it again when it is next needed."""
        self._group.release()

    def close(self) -> None:
        """Write a snapshot, and let the store go once nobody uses it: SQLite crashes otherwise."""
        if self.is_copy:
            return  # what the child has of it is not a store that is open
        self._group.check_outside()
        self._snapshots.stop()
        if not self._store.closed:
            with contextlib.suppress(UnimodalError):  # it saves time; without it nothing is lost
                self(Call(self._snapshots.plan_now))
        self._group.alone(self._store.close)
        self._store.let_fork(self)

    # Transactions.

    def _commit(self, calls: list[Call]) -> None:
        """Do calls in one transaction; only when it is over are they answered."""
        untold, self._untold = self._untold, None
        if untold is not None:
            raise untold
        while True:
            try:
                return self._attempt(calls)
            except Interrupted:  # nothing of it was kept, and the store has the patience
                continue
            except SetBack as error:
                self._report(str(error))
                if all(call.is_of_nobody for call in calls):
                    self._untold = error
                raise

    def _attempt(self, calls: list[Call]) -> None:
        try:
            self._store.resume()
            if len(calls) == 1 and calls[0].may_repeat and self._in_one_statement(calls[0]):
                return
            while calls:
                spoilt = self._transaction(calls)
                calls = [call for call in calls if call is not spoilt] if spoilt else []
        except BaseException:
            self._give_up()
            raise

    def _in_one_statement(self, call: Call) -> bool:
        """Do a call first and then write what it did, most often in one statement; False: not done.

        A statement is a transaction. If another process has written meanwhile, the number of the
        event is taken, so nothing is written, and the call is done again from the state as it is.
        """
        fold = self._fold
        if fold is None or self._undisturbed < _ALONE:
            return False
        if self._snapshots.is_due(fold.state.seq + 1):
            return False
        if self.clock.to_keep is not None:
            return False
        state = fold.state
        state.agent.locked = False
        state.answers.clear()
        if not self._do(call, state):
            self._give_up()
            return False
        if not state.news:
            return False  # nothing changed; but what it was told may be out of date
        try:
            self._store.append_at_once(state.news)
        except NumberTaken:
            self._undisturbed = 0
            self._give_up()
            return False
        state.written()
        state.agent.locked = True
        return True

    def _transaction(self, calls: list[Call]) -> Call | None:
        """Do calls and commit them; or none of them, and tell whose fault it was."""
        self._store.begin()
        state = self._caught_up()
        for call in calls:
            if not self._do(call, state):
                self._give_up()
                return call
        self._store.append(state.news)
        snapshot_is_due = self._snapshots.is_due(state.seq)
        if snapshot_is_due:
            self._snapshots.take_planned(state)
        if self.clock.to_keep is not None:
            self._store.keep_setting("clock", self.clock.to_keep)
        self._store.commit()
        self.clock.to_keep = None
        state.written()
        if snapshot_is_due:
            self._snapshots.take_if_due(state)
        state.agent.locked = True
        return None

    def _give_up(self) -> None:
        self._fold = None  # it may be ahead of the log, which is folded again
        self._store.roll_back()

    def _do(self, call: Call, state: State) -> bool:
        """Do a call; whether the state is one that may go on."""
        before, now = state.seq, state.book.now
        call.error = call.result = None
        try:
            while True:
                try:
                    call.result = call.work(state)
                    break
                except LogNeeded as needed:
                    state.answers.ask_store(needed, self._store)
        except StoreError:  # what it wrote may be half of it
            raise
        except Damage as damage:  # of an event that it asked for: others may go on
            call.error = damaged_event(self._store, damage.seq or 0, damage)
            return False
        except Exception as error:
            call.error = error
            refused = isinstance(error, UnimodalError) and call.checks_first
            if not refused or state.seq != before:
                return False
        if isinstance(call.result, UnimodalError):
            call.error = call.result
        if state.seq == before:
            state.book.now = now  # the log does not tell this call, so nor does the state
        return True

    def _caught_up(self) -> State:
        """The state as it is after the last event of the log, in a transaction."""
        version, is_new = self._store.version(), self._fold is None
        if self._fold is None:
            self._version = version if self._store.is_new() else -1
            self._fold = self._folded()
        state = self._fold.state
        state.agent.locked = False
        state.answers.clear()
        self._undisturbed += 1
        if version == self._version:
            return state
        try:
            self._fold.catch_up()
        except LogMoved:  # others have archived what it was to follow, or erased a label
            if is_new:
                raise
            self._fold = None
            return self._caught_up()
        self._version = version
        self._undisturbed = 0
        if self.clock.opens:
            self.clock.open(self._store.settings("clock").get("clock"))
        self.clock.follow(state.book.now)
        beginning.agree_on_stream(state)
        return state

    def _folded(self) -> Fold:
        """The state at the last snapshot."""
        settings = self._settings()
        if self._look_ups.oracle is None:
            self._look_ups.oracle = settings.graph
        fold = Fold.restored(settings, self._store, self.clock, look_ups=self._look_ups)
        self._drop_snapshots(fold.unfit)
        self._snapshots.plan(fold.state)
        return fold

    def _drop_snapshots(self, unfit: list[int]) -> None:
        """Drop snapshots of another history, beyond which rewards would not be looked for."""
        for seq in unfit:
            self._store.drop_snapshot(seq)
            self._report(
                f"the snapshot after event {seq:,} of {self._store.path} is of another history "
                "than its log, since the store was set back: it was not used, and is deleted."
            )

    def _begin(self, state: State) -> None:
        if self._given.data is not None:
            beginning.begin_with(state, self._given.data, self._store.path)
        beginning.note_opening(state)
        if not self._store.written_by(__version__):
            self._snapshots.plan_now(state)  # from here on this version can fold the log

    def _settings(self) -> Settings:
        if self._store.is_new():
            new = self._given.with_defaults()
            self._store.create(new.to_data())
            return new
        saved = self._store.settings()
        return self._given.agreed(saved, self._store.path, graph_fingerprints(self._store))
