"""One transaction on a campaign's file, by its states.

    not begun ──► begun ──► over

SQLite answers in this process, so nothing is ever on its way: a commit that failed is not made.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence

from unimodal.campaigns.events import Identity, Row, identity_of
from unimodal.campaigns.stores.sqlite.file_locks import OpenFile


class State(enum.Enum):
    """How far a transaction is."""

    NOT_BEGUN = "not begun"
    BEGUN = "begun"  # it is its turn: no other process writes until it is over
    OVER = "over"


class Transaction:
    """A turn among all who write a file, and what was appended in it."""

    __slots__ = ("_file", "_last", "state")

    def __init__(self, file: OpenFile) -> None:
        self._file = file
        self._last: Identity | None = None
        self.state = State.NOT_BEGUN

    def begin(self, seconds: float) -> bool:
        """Wait for its turn, with which it begins; False if that took too long."""
        if self._file.begin_to_write(seconds):
            self.state = State.BEGUN
            return True
        return False

    def note(self, events: Sequence[Row]) -> None:
        """Take note of what was appended."""
        self._last = identity_of(events[-1]) if events else self._last

    def last(self, known: Identity) -> Identity:
        """The last event of the log when it is committed, after the one that was known."""
        return self._last or known

    def end(self) -> None:
        """Let the next one write, if it has not been let already."""
        if self.state is State.BEGUN:
            self.state = State.OVER
            self._file.end_to_write()
