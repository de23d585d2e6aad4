"""Who in this process has the -shm of a file open, in which SQLite's users agree who reads what."""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from unimodal.campaigns.stores import forks
from unimodal.errors import Busy


def stamp(name: str) -> tuple[int, ...]:
    """What changes when a file is written; it is not opened, since closing it would cost locks."""
    try:
        found = os.stat(name)
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


class _SharedMemory:
    """Who in this process has a file open: SQLite lets them share one -shm, as the first opened it.

    A writer cannot use one that a reader opened, which is only read: it waits for the reader. A
    reader that shares a writer's is in nobody's way.
    """

    def __init__(self) -> None:
        self.after_fork_in_child()

    def before_fork(self) -> None:
        """Do nothing."""

    def after_fork_in_parent(self) -> None:
        """Do nothing."""

    def after_fork_in_child(self) -> None:
        """Nobody has anything open. Another thread may have been inside, and would never leave."""
        self._change = threading.Condition()
        self._readers: Counter[Any] = Counter()
        self._writers: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
        self._opening: set[Any] = set()

    @contextlib.contextmanager
    def reads(self, whole: str) -> Iterator[None]:
        """Read a file that others may write."""
        file = stamp(whole)[:2]
        with self._change:
            self._change.wait_for(lambda: file not in self._opening)
            alone = not any(
                file == its and not writer.closed for writer, its in self._writers.items()
            )
            self._readers[file] += alone
        try:
            yield
        finally:
            with self._change:
                self._readers[file] -= alone
                self._change.notify_all()

    @contextlib.contextmanager
    def opens(self, writer: Any, path: Path, wait: float) -> Iterator[None]:
        """Open a file for writing, as soon as no reader of this process has its -shm."""
        whole = os.path.realpath(path)
        file = stamp(whole)[:2]
        with self._change:
            if not self._change.wait_for(
                lambda: file not in self._opening and not self._readers[file], wait
            ):
                raise Busy(
                    f"{path} has been read in this process for {wait:g} s (by verify, inspect or "
                    "replay): open it when that has ended."
                )
            self._opening.add(file)
        try:
            yield
            self._writers[writer] = stamp(whole)[:2]  # a new file has only now got its number
        finally:
            with self._change:
                self._opening.discard(file)
                self._change.notify_all()

    def closes(self, writer: Any) -> None:
        """Take note that a writer has closed its file, perhaps for a moment."""
        self._writers.pop(writer, None)


THIS_PROCESS = _SharedMemory()
forks.tell(THIS_PROCESS)
