"""How a call becomes durable: a transaction, a state that follows the log, and then an answer."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable
from typing import Any

from unimodal.agents.decisions import Decision
from unimodal.campaigns.clock import CampaignClock
from unimodal.campaigns.group_commit import WITHIN, Call, GroupCommit
from unimodal.campaigns.log import Log
from unimodal.campaigns.lookup_requests import LookUpNeeded, LookUpRequests
from unimodal.campaigns.settings import Settings
from unimodal.campaigns.snapshots import Snapshots
from unimodal.campaigns.state_machine import StateMachine
from unimodal.campaigns.stores import file_locks as locks
from unimodal.errors import UnimodalError
from unimodal.version import __version__

_ALONE = 20  # transactions without a sign of others, from which on it is taken to be alone


class TransactionRunner:
    """Does calls on the state of a campaign; when it returns, what they did is on disk."""

    def __init__(self, log: Log, given: Settings, clock: Callable[[], float]) -> None:
        self._log, self._given, self.clock = log, given, CampaignClock(clock)
        self._replica: StateMachine | None = None
        self._version = -1  # of the file, when the replica was last caught up
        self._undisturbed = 0  # transactions since another process wrote
        self._process = os.getpid()
        self._enquiries = LookUpRequests(None)
        self._group = GroupCommit(self._commit)
        self._snapshots = Snapshots(log, self)
        locks.announce(self)
        try:
            self._with_look_ups(lambda: self(self._begin))
        except BaseException:
            locks.dismiss(self)
            raise

    @property
    def is_copy(self) -> bool:
        """Whether this process is a forked copy of the one that opened the file."""
        return self._process != os.getpid()

    def __call__(
        self,
        work: Callable[[StateMachine], Any],
        checks_first: bool = True,
        may_repeat: bool = False,
    ) -> Any:
        """Do it, in a transaction that it may share with others; its result (see Call)."""
        if self.is_copy:  # before the lock, which may be held for ever in a copy
            raise UnimodalError(
                f"{self._log.path} was opened by another process, of which this is a copy: "
                "open it here with Campaign.open."
            )
        if self._enquiries.in_progress_here:
            raise UnimodalError(WITHIN)
        return self._group(Call(work, checks_first, may_repeat))

    def decisions(self, n: int, propensity: bool) -> list[Decision]:
        """The next `n` decisions; look-ups that they need are made in between, outside of calls."""
        made: list[Decision] = []

        def decide_more() -> None:
            while len(made) < n:
                # A policy of the caller's own may fail when half of a decision is made.
                some, needed = self(
                    lambda replica: replica.decide(n - len(made), propensity), checks_first=False
                )
                if some:
                    self._enquiries.begin_decision()
                made.extend(some)
                if needed is not None:
                    raise needed

        self._with_look_ups(decide_more)
        return made

    def _with_look_ups(self, work: Callable[[], None]) -> None:
        """Do something again and again, until all that it needs has been looked up."""
        if self._enquiries.in_progress_here:
            raise UnimodalError(WITHIN)
        asked = []
        self._enquiries.begin_decision()
        try:
            while True:
                try:
                    return work()
                except LookUpNeeded as needed:
                    self._enquiries.make(needed)
                    asked.append(needed.label)
        finally:
            self._enquiries.forget(asked)  # the log has them now, or nobody needs them

    # Forks: the file is closed for that moment, so that the child inherits nothing of SQLite's.

    def pause(self, seconds: float) -> bool:
        """Close the file until `go_on` is called; False if it cannot be done in so many seconds."""
        if not self._group.hold(seconds):
            return False
        try:
            self._log.suspend()
            self._version, self._undisturbed = -1, 0
            return True
        except BaseException:
            self._group.release()
            return False

    def go_on(self) -> None:
        """Open it again when it is next needed."""
        self._group.release()

    def close(self) -> None:
        """Write a snapshot, and let the file go once nobody uses it: SQLite crashes otherwise."""
        if self.is_copy:
            return  # what the child has of it is not a file that is open
        self._group.check_outside()
        self._snapshots.stop()
        if not self._log.closed:
            with contextlib.suppress(UnimodalError):  # it saves time; without it nothing is lost
                self(self._snapshots.plan_now)
        self._group.alone(self._log.close)
        locks.dismiss(self)

    def _commit(self, calls: list[Call]) -> None:
        """Do calls in one transaction; only when it is over are they answered."""
        try:
            self._log.resume()
            if len(calls) == 1 and self._in_one_statement(calls[0]):
                return
            while calls:
                spoilt = self._transaction(calls)
                calls = [call for call in calls if call is not spoilt] if spoilt else []
        except BaseException as error:
            self._give_up()
            if isinstance(error, sqlite3.Error):
                raise self._log.explanation(error) from error
            raise

    def _in_one_statement(self, call: Call) -> bool:
        """Do a call first and then write what it did, most often in one statement; False: not done.

        A statement is a transaction. If another process has written meanwhile, the number of the
        event is taken, so nothing is written, and the call is done again from the state as it is.
        """
        replica = self._replica
        alone = call.may_repeat and self._undisturbed >= _ALONE
        if replica is None or not alone or self._snapshots.is_due(replica.seq + 1):
            return False
        replica.agent.locked = False
        if not self._do(call, replica):
            self._give_up()
            return False
        if not replica.news:
            return False  # nothing changed; but what it was told may be out of date
        try:
            self._log.append_at_once(replica.news)
        except sqlite3.IntegrityError:
            self._undisturbed = 0
            self._give_up()
            return False
        replica.written()
        replica.agent.locked = True
        return True

    def _transaction(self, calls: list[Call]) -> Call | None:
        """Do calls and commit them; or none of them, and tell whose fault it was."""
        self._log.begin()
        replica = self._caught_up()
        for call in calls:
            if not self._do(call, replica):
                self._give_up()
                return call
        self._log.append(replica.news)
        if self._snapshots.is_due(replica.seq):
            self._snapshots.take(replica)
        self._log.commit()
        replica.written()
        replica.agent.locked = True
        return None

    def _give_up(self) -> None:
        self._replica = None  # it may be ahead of the log, which is folded again
        self._log.roll_back()

    @staticmethod
    def _do(call: Call, replica: StateMachine) -> bool:
        """Do a call; whether the agent is in a state that may go on."""
        before, now = replica.seq, replica.agent.book.now
        call.error = None
        try:
            call.result = call.work(replica)  # type: ignore[misc]
        except sqlite3.Error:
            raise
        except Exception as error:
            call.error = error
            refused = isinstance(error, UnimodalError) and call.checks_first
            if not refused or replica.seq != before:
                return False
        if replica.seq == before:
            replica.agent.book.now = now  # the log does not tell this call, so nor does the state
        return True

    def _caught_up(self) -> StateMachine:
        version = self._log.version()
        if self._replica is not None:
            self._replica.agent.locked = False
        else:
            self._version = version if self._log.is_new() else -1
            settings = self._settings()
            if self._enquiries.oracle is None:
                self._enquiries.oracle = settings.graph
            self._replica = StateMachine.restored(
                settings, self._log, self.clock, enquiries=self._enquiries
            )
            self._snapshots.plan(self._replica)
        self._undisturbed += 1
        if version != self._version:
            self._replica.catch_up()
            self._version = version
            self._undisturbed = 0
            self.clock.follow(self._replica.agent.book.now)
        return self._replica

    def _begin(self, replica: StateMachine) -> None:
        replica.note_opening()
        if not self._log.written_by(__version__):
            self._snapshots.plan_now(replica)  # from here on this version can fold the log

    def _settings(self) -> Settings:
        if self._log.is_new():
            new = self._given.with_defaults()
            self._log.create(new.to_data())
            return new
        saved = self._log.settings()
        return self._given.agreed(saved, self._log.path, set(self._log.fingerprints()))
