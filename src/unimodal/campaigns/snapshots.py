"""Snapshots of a campaign's state, written beside its work: nobody waits for them."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from typing import Any

from unimodal.agents.saving import copied
from unimodal.campaigns.events import Identity
from unimodal.campaigns.state import State
from unimodal.campaigns.state_text import state_in_pieces
from unimodal.campaigns.stores import Store
from unimodal.campaigns.stores.event_identity import event_at
from unimodal.errors import UnimodalError
from unimodal.version import __version__

SNAPSHOT_EVERY = 20_000  # events, or as many as there are arms or open decisions if that is more
_REST = 0.0005  # seconds between two pieces of the text, in which other threads go on
_REWARDS = 2_000  # events whose rewards are put where they are found, in one transaction


class Snapshots:
    """When a snapshot is due, and the thread that writes it."""

    def __init__(self, store: Store, do: Callable[..., Any]) -> None:
        self._store, self._do = store, do
        self._due, self._now = 0, False
        self._follows: Identity | None = None  # the event after which one is taken beside the work
        self._writer: threading.Thread | None = None
        self._stopped = False

    def is_due(self, seq: int) -> bool:
        """Whether one should be taken after this event."""
        busy = self._writer is not None and self._writer.is_alive()
        return self._now or (seq >= self._due and not busy and not self._stopped)

    def plan(self, state: State) -> None:
        """Let one be taken when there is something to be gained by it."""
        agent = state.agent
        self._due = state.seq + max(SNAPSHOT_EVERY, agent.known_arms, agent.outstanding)

    def plan_now(self, state: State) -> None:
        """Let this transaction end in one, when the log has the events of all its calls."""
        self._now = True

    def take_planned(self, state: State) -> None:
        """Take one inside a transaction, if that was planned; or see what it follows."""
        self._follows = None
        follows = event_at(self._store, state.seq)
        if not self._now:
            self._follows = follows
            return
        self._now = False
        self._store.find_rewards(self._store.last_snapshot(), state.seq)
        self._store.keep_snapshot(state.seq, __version__, state.text(), follows)
        self.plan(state)

    def take_if_due(self, state: State) -> None:
        """Begin to take one beside the work, after a commit: before it, the state may not last."""
        if self._follows is None:
            return
        with contextlib.suppress(MemoryError, RuntimeError):  # no room, no thread: another time
            frozen = self._follows, copied(state.agent)
            writer = threading.Thread(
                target=self._write, args=frozen, name="unimodal snapshot", daemon=True
            )
            writer.start()
            self._writer = writer
        self.plan(state)

    def stop(self) -> None:
        """Write no more; the thread ends soon."""
        self._stopped = True
        if self._writer is not None:
            self._writer.join()

    def _write(self, follows: Identity, agent: Any) -> None:
        """Write the state after an event, which is past: short transactions among the others."""
        seq, pieces = follows.seq, []
        for piece in state_in_pieces(agent):
            pieces.append(piece)
            time.sleep(_REST)
            if self._stopped:
                return
        text = "".join(pieces)
        with contextlib.suppress(UnimodalError):  # it saves time; without it nothing is lost
            first = self._do(lambda _: self._store.last_snapshot())
            for after in range(first, seq, _REWARDS):
                until = min(after + _REWARDS, seq)
                self._do(lambda _: self._store.find_rewards(after, until))  # noqa: B023
                time.sleep(_REST)
            self._do(lambda _: self._keep(follows, text))

    def _keep(self, follows: Identity, text: str) -> None:
        """Keep it, unless another process was quicker, or the log was set back meanwhile."""
        seq, store = follows.seq, self._store
        if store.last_snapshot() < seq and follows.is_that_of(event_at(store, seq)):
            # Again, and most often in vain: a fail-over may have lost a transaction before, in
            # which rewards were found, and no event by which that could be seen.
            store.find_rewards(store.last_snapshot(), seq)
            store.keep_snapshot(seq, __version__, text, follows)
