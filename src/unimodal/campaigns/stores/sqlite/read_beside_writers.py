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
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from unimodal.campaigns.stores.sqlite import file_locks
from unimodal.campaigns.stores.sqlite.errors import code
from unimodal.campaigns.stores.sqlite.shared_memory import THIS_PROCESS, stamp
from unimodal.campaigns.stores.sqlite.stale_wal import check_wal
from unimodal.campaigns.stores.store import Found
from unimodal.errors import Busy, DamagedFile, StoreError, UnimodalError

_TRIES = 10  # readings of a file that is opened and closed all the time
_PAUSE = 0.01  # seconds before the next one, and as many more each time


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
    with file_locks.reader(Path(whole)):
        yield from _connections(whole, connect)


def _connections(whole: str, connect: Connect) -> Iterator[Any]:
    before, (wal, shm) = stamp(whole), _beside(whole)
    if wal and not shm:  # nobody has it open; who opens it to write looks as well
        check_wal(whole, whole)
    if not wal and not file_locks.is_open_here(Path(whole)):
        unchanged = _as_it_was(before, lambda: stamp(whole))
        with unchanged, connect(_address(whole, "immutable=1")) as found:
            yield found
    elif shm:
        address = _address(whole, "readonly_shm=1")
        with _as_others_have_it(), THIS_PROCESS.reads(whole), connect(address) as found:
            yield found
    else:
        with tempfile.TemporaryDirectory(prefix="unimodal-") as folder:
            copy = os.path.join(folder, "copy")
            with _as_it_was((before, (wal, shm)), lambda: (stamp(whole), _beside(whole))):
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
    return stamp(f"{whole}-wal")[2:3] > (0,), os.path.exists(f"{whole}-shm")
