"""Connections that only read: they change no file, with or without the right to.

Beside a database in SQLite's WAL mode lie the -wal, with what was committed last, and the -shm, by
which processes agree who reads what. A connection that may write tidies up when it is the last to
close: it deletes the -wal. Whether it is the last it knows by POSIX locks, and a process loses its
own when it closes any other handle of the file, as after a copy: so a reader would delete the -wal
of a live writer. Therefore readers never may write:

- without a -wal the file is whole: it is read as one that does not change, and once more if it did;
- beside a -wal and a -shm it is read as its writers have it, and the -shm is only read as well;
- where a -wal has no -shm nobody writes: both are copied to a folder of our own.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from unimodal.campaigns.stores import file_locks as locks
from unimodal.campaigns.stores.sqlite_errors import code
from unimodal.campaigns.stores.stale_wal import check_wal
from unimodal.campaigns.stores.store import Found
from unimodal.errors import Busy, DamagedFile, StoreError, UnimodalError

_TRIES = 10  # readings of a file that is opened and closed all the time
_PAUSE = 0.01  # seconds before the next one, and as many more each time
WAIT = 30.0  # seconds for which readers wait while another process puts the file in order


class WrittenMeanwhile(Exception):
    """What was read may be of two moments, or could not be read for that reason: read again."""


# Given the address of a file, a connection that is closed at the end.
Connect = Callable[[str], contextlib.AbstractContextManager[Any]]


def read(path: Path, connect: Connect, work: Callable[[Any], Found]) -> Found:
    """What some work finds through a connection to an existing file.

    If somebody who opens or closes the file comes in between, the work is done again.
    """
    _check_there(path)
    reason = None
    for attempt in range(_TRIES):
        time.sleep(_PAUSE * attempt)
        try:
            with _connected(path, connect) as connection:
                return work(connection)
        except WrittenMeanwhile as meanwhile:
            reason = meanwhile.__cause__
        except OSError as error:  # of a copy
            raise StoreError(f"{path} cannot be read: {error.strerror or error}.") from None
    if isinstance(reason, UnimodalError):
        raise reason
    raise Busy(
        f"{path} was opened and closed by others again and again while it was read: read it again."
    )


def _check_there(path: Path) -> None:
    try:
        if not path.exists():
            raise StoreError(f"there is no file {path}: check the path.")
        if not path.is_file():
            raise StoreError(f"{path} must be a campaign's file, got a folder or a device.")
        if path.stat().st_size == 0:
            raise empty(path)
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror or error}.") from None


def empty(path: Path) -> DamagedFile:
    """The error for a file without anything in it."""
    return DamagedFile(
        f"{path} is empty: a campaign was never opened in it, or it was moved without its -wal "
        "file while it was open."
    )


@contextlib.contextmanager
def _connected(path: Path, connect: Connect) -> Iterator[Any]:
    """A connection to an existing file; it may end in WrittenMeanwhile."""
    whole = os.path.realpath(path)  # of a link, SQLite has the -wal beside what it leads to
    with locks.reader(Path(whole)):
        yield from _connections(whole, connect)


def _connections(whole: str, connect: Connect) -> Iterator[Any]:
    stamp, (wal, shm) = _stamp(whole), _beside(whole)
    if wal and not shm:  # nobody has it open; who opens it to write looks as well
        check_wal(whole, whole)
    if not wal and not locks.is_open_here(Path(whole)):
        unchanged = _as_it_was(stamp, lambda: _stamp(whole))
        with unchanged, connect(_address(whole, "immutable=1")) as found:
            yield found
    elif shm:
        address = _address(whole, "readonly_shm=1")
        with _as_others_have_it(), THIS_PROCESS.reads(whole), connect(address) as found:
            yield found
    else:
        with tempfile.TemporaryDirectory(prefix="unimodal-") as folder:
            copy = os.path.join(folder, "copy")
            with _as_it_was((stamp, (wal, shm)), lambda: (_stamp(whole), _beside(whole))):
                for ending in ("", "-wal"):
                    shutil.copyfile(f"{whole}{ending}", f"{copy}{ending}")
            with connect(_address(copy)) as found:
                yield found


def _address(whole: str, how: str = "") -> str:
    return f"{Path(whole).as_uri()}?mode=ro&{how}"


@contextlib.contextmanager
def _as_it_was(before: Any, look: Callable[[], Any]) -> Iterator[None]:
    """Raise WrittenMeanwhile if something looks different afterwards."""
    try:
        yield
    except Exception as error:
        if look() != before:
            raise WrittenMeanwhile from error
        raise
    if look() != before:
        raise WrittenMeanwhile


@contextlib.contextmanager
def _as_others_have_it() -> Iterator[None]:
    """Raise WrittenMeanwhile where SQLite cannot open what others are about to open or close."""
    try:
        yield
    except Exception as error:
        if code(error.__cause__).startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY")):
            raise WrittenMeanwhile from error
        raise


def _beside(whole: str) -> tuple[bool, bool]:
    """Whether there is a -wal with something in it, and a -shm."""
    return _stamp(f"{whole}-wal")[2:3] > (0,), os.path.exists(f"{whole}-shm")


def _stamp(name: str) -> tuple[int, ...]:
    """What changes when a file is written; it is not opened, since closing it would cost locks."""
    try:
        found = os.stat(name)
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


class _Process:
    """Who in this process has a file open: SQLite lets them share one -shm, as the first opened it.

    A writer cannot use one that a reader opened, which is only read: it waits for the reader. A
    reader that shares a writer's is in nobody's way.
    """

    def __init__(self) -> None:
        self.begin()
        # Another thread may be inside when a process is copied; in the copy it would never leave.
        if hasattr(os, "register_at_fork"):  # not on Windows
            os.register_at_fork(after_in_child=self.begin)

    def begin(self) -> None:
        """Nobody has anything open."""
        self._change = threading.Condition()
        self._readers: Counter[Any] = Counter()
        self._writers: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
        self._opening: set[Any] = set()

    @contextlib.contextmanager
    def reads(self, whole: str) -> Iterator[None]:
        """Read a file that others may write."""
        file = _stamp(whole)[:2]
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
        file = _stamp(whole)[:2]
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
            self._writers[writer] = _stamp(whole)[:2]  # a new file has only now got its number
        finally:
            with self._change:
                self._opening.discard(file)
                self._change.notify_all()

    def closes(self, writer: Any) -> None:
        """Take note that a writer has closed its file, perhaps for a moment."""
        self._writers.pop(writer, None)


THIS_PROCESS = _Process()
