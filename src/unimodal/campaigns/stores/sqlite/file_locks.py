"""Who may write a campaign's file, and who has it open: locks that copies and forks leave alone.

SQLite's own locks are the process's: closing *any* descriptor of a file drops all of them, as
copying the file does, and a forked child takes its parent's for its own. Two things then go
wrong: somebody else deletes a -wal that is in use, and two processes write at the same time. So
a campaign holds locks of its own beside SQLite's, which belong to an open file description (Linux:
`F_OFD_SETLK`) and lie on bytes far beyond any data. There is one description for each file and
process. It is opened before SQLite's first connection and closed after its last one, since closing
it drops SQLite's locks, too.

Elsewhere than on Linux these locks are taken among the threads of one process only, and SQLite's
have to do.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from unimodal import files
from unimodal.campaigns.stores import forks
from unimodal.errors import StoreError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_OFD = sys.platform == "linux" and hasattr(fcntl, "F_OFD_SETLK")

# Bytes that are locked: that of the writer, positions in a queue for it, and one of all who have
# the file open. Who waits holds one position, and moves up when the next is free: nobody overtakes.
_WRITE = 2**62
_LAST = _WRITE + 16  # if more processes wait than there are positions, some wait for the last
_PRESENT = _LAST + 1
_SQLITE = (2**30, 512)  # the bytes that SQLite locks, and how many (os_unix.c, PENDING_BYTE)
_POLL = 0.0003  # seconds between two tries: waiting in the kernel could not be given up

_AT_FDCWD, _STATX_INO, _STX_INO = -100, 0x100, 32  # linux/stat.h
_statx = getattr(ctypes.CDLL(None), "statx", None) if _OFD else None

FileIdentity = tuple[int, int]  # device and inode


class OpenFile:
    """A file that this process has open, for all its campaigns there."""

    def __init__(self, descriptor: int, identity: FileIdentity) -> None:
        self.identity = identity
        self.connections: list[Any] = []  # SQLite's
        self.descriptor = descriptor
        self._turn = threading.Lock()  # of threads with campaigns of their own on this file
        while not self._lock(_PRESENT, shared=True):  # who asks whether it is alone has it for once
            time.sleep(_POLL)

    def begin_to_write(self, seconds: float) -> bool:
        """Wait until nobody else writes; False if that took too long."""
        until = time.monotonic() + seconds
        if not self._turn.acquire(timeout=seconds):
            return False
        if self._lock(_WRITE, _LAST - _WRITE + 1):  # nobody writes or waits
            self._unlock(_WRITE + 1, _LAST - _WRITE)
        elif not self._queue(until):
            self._turn.release()
            return False
        return True

    def _queue(self, until: float) -> bool:
        """Wait in the queue, and write; False if that took too long."""
        for position in range(_LAST, _WRITE - 1, -1):
            in_time = self._wait_for(position, until)
            if position < _LAST:
                self._unlock(position + 1)
            if not in_time:
                return False
        return True

    def end_to_write(self) -> None:
        """Let the next one write."""
        self._unlock(_WRITE)
        self._turn.release()

    def is_shared(self) -> bool:
        """Whether anybody else has the file open, in this process or in another one."""
        if len(self.connections) > 1:
            return True
        alone = self._lock(_PRESENT)
        self._lock(_PRESENT, shared=True)
        return not alone

    def close(self) -> None:
        """Let go of the file, and of its locks."""
        os.close(self.descriptor)

    def _wait_for(self, byte: int, until: float) -> bool:
        while not self._lock(byte):
            if time.monotonic() > until:
                return False
            time.sleep(_POLL)
        return True

    def _lock(self, byte: int, length: int = 1, shared: bool = False) -> bool:
        """Lock some bytes, if nobody else has them."""
        if not _OFD:
            return True
        try:
            self._control(fcntl.F_RDLCK if shared else fcntl.F_WRLCK, byte, length)
        except BlockingIOError:
            return False
        return True

    def _unlock(self, byte: int, length: int = 1) -> None:
        if _OFD:
            self._control(fcntl.F_UNLCK, byte, length)

    def _control(self, kind: int, byte: int, length: int) -> None:
        flock = struct.pack("hhqqi4x", kind, os.SEEK_SET, byte, length, 0)
        fcntl.fcntl(self.descriptor, fcntl.F_OFD_SETLK, flock)


class _OpenFiles:
    """The files that this process has open, and those that its parent had when it was forked."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.files: dict[FileIdentity, OpenFile] = {}
        self.readers: dict[object, FileIdentity] = {}
        self.inherited: set[FileIdentity] = set()  # SQLite takes the parent's locks there for ours

    def enter(self) -> threading.RLock:
        """The lock of all this, in the process that has it."""
        forks.check_process()
        return self.lock

    def before_fork(self) -> None:
        """Let no thread be inside SQLite; campaigns have been paused."""
        until = time.monotonic() + forks.WAIT
        self.lock.acquire()
        while self.readers and time.monotonic() < until:
            self.lock.release()
            time.sleep(_POLL)
            self.lock.acquire()  # before the next look: or a reader may begin in between

    def after_fork_in_parent(self) -> None:
        self.lock.release()

    def after_fork_in_child(self) -> None:
        self.lock = threading.RLock()
        self.inherited |= {*self.files, *self.readers.values()}
        for file in self.files.values():
            file.close()  # the locks of the description are the parent's as well
            for connection in file.connections:  # never to be closed: SQLite would delete the -wal
                ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))
            file.connections = []
        self.files, self.readers = {}, {}


_open_files = _OpenFiles()
forks.tell(_open_files)


def open_file(path: Path, connect: Callable[[int], Any]) -> tuple[OpenFile, Any]:
    """Open a file for writing, made if need be, first here and then by SQLite (`connect`).

    That is given our descriptor of the file.
    """
    with _open_files.enter():
        file = _known(path) or _new(path)
        try:
            connection = connect(file.descriptor)
            file.connections.append(connection)
            return file, connection
        finally:
            _close_if_unused(file)


def _known(path: Path) -> OpenFile | None:
    """What this process has open under that name already."""
    with contextlib.suppress(FileNotFoundError):
        identity = file_identity(path)
        if identity in _open_files.inherited:
            raise StoreError(
                f"{path} was open in the process that this one was forked from, and in use there "
                "at that moment, so that its locks would not hold here: open it in the parent only "
                "after the fork, or start this process by 'spawn' or 'forkserver'."
            )
        return _open_files.files.get(identity)
    return None


def _new(path: Path) -> OpenFile:
    # Its owner's; what SQLite makes beside a file gets the mode of that file.
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
    descriptor = os.open(path, flags, files.PRIVATE)
    identity = file_identity(descriptor)
    # Somebody may just have moved a file here that is open: its descriptor must not be closed.
    return _open_files.files.setdefault(identity, OpenFile(descriptor, identity))


def let_go(file: OpenFile, connection: Any) -> None:
    """Close a connection, and the file after its last one."""
    with _open_files.enter():
        if connection in file.connections:  # and not in those of a process that this is a copy of
            connection.close()
            file.connections.remove(connection)
            _close_if_unused(file)


def _close_if_unused(file: OpenFile) -> None:
    if not file.connections and _open_files.files.get(file.identity) is file:
        del _open_files.files[file.identity]
        file.close()


@contextlib.contextmanager
def reader(path: Path) -> Iterator[None]:
    """Announce that SQLite reads a file, so that forks wait for it, and children know."""
    key = object()
    with _open_files.enter():
        _known(path)
        _open_files.readers[key] = file_identity(path)
    try:
        yield
    finally:
        with _open_files.enter():
            _open_files.readers.pop(key, None)


def is_open_here(path: Path) -> bool:
    """Whether this process has a file open for writing: closing a handle of it costs locks."""
    with _open_files.enter():
        return _known(path) is not None


def is_in_use(path: Path) -> bool:
    """Whether anybody has a file open: by SQLite, or as a campaign; only Linux tells of others."""
    with _open_files.enter():
        if _known(path) is not None or file_identity(path) in _open_files.readers.values():
            return True
        if not _OFD:
            return False
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            return any(_is_locked(descriptor, *each) for each in (_SQLITE, (_PRESENT, 1)))
        finally:
            os.close(descriptor)


def _is_locked(descriptor: int, byte: int, length: int) -> bool:
    wanted = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, byte, length, 0)
    found = fcntl.fcntl(descriptor, fcntl.F_OFD_GETLK, wanted)
    return bool(struct.unpack_from("h", found)[0] != fcntl.F_UNLCK)


def file_identity(file: Path | str | int) -> FileIdentity:
    """Which file it is, whatever its name."""
    found = os.stat(file)
    return found.st_dev, found.st_ino


def inode_of(path: str) -> int | None:
    """The inode that has a name; None if there is none.

    Not by `os.stat`, which also asks for times: on recent kernels that makes the next commit write
    the file's times as well, a third of its cost.
    """
    if _statx is None:
        try:
            return os.stat(path).st_ino
        except OSError:
            return None
    found = ctypes.create_string_buffer(256)
    failed = _statx(_AT_FDCWD, os.fsencode(path), 0, _STATX_INO, found)
    return None if failed else struct.unpack_from("Q", found, _STX_INO)[0]
