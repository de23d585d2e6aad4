"""Whether the -wal beside a file is its own, or was left there when the file was put back by `cp`.

SQLite takes any -wal that it finds for the file's own, and writes its pages over those of the file:
so a copy that was put back is undone by the -wal of the file before, or damaged. Nothing in a -wal
names its file. Two things tell nevertheless (docs/decisions/0027-clocks-and-copies-put-back.md):

- A copy that SQLite made counts the changes of its tables anew, from 1. A transaction changes them
  three times at most, except the one that makes them, so the -wal cannot be far ahead in this.
- SQLite writes a file of this kind by copying pages from its -wal, the lowest first. A file that
  was written long after its -wal, and has not that page, was written by somebody else.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator

from unimodal.errors import StoreError

_HEADER, _FRAME = 32, 24  # bytes before the first frame, and before the page of each
_COUNTER = 40  # where page 1 has the number of changes of its tables
_CHANGES = 3  # of them in one transaction
_APART = 60.0  # seconds by which a file is later than its -wal: both may have been copied


def check_wal(path: object, whole: str, descriptor: int | None = None) -> None:
    """Refuse a file whose -wal is that of another one; `path` is what sentences call it.

    Where this process has it open, its descriptor is needed: closing another costs SQLite's locks.
    """
    try:
        if os.stat(f"{whole}-wal").st_size <= _HEADER:
            return
        if descriptor is not None:
            is_own = _is_own(descriptor, f"{whole}-wal")
        else:
            with open(whole, "rb") as file:
                is_own = _is_own(file.fileno(), f"{whole}-wal")
    except OSError:  # there is none; or it cannot be read, which SQLite tells
        return
    if not is_own:
        raise StoreError(
            f"{path} was put back from a copy, but its -wal is of the file before, which would "
            "be written over it: put it back with `unimodal restore`, or, if you are sure of the "
            "file, move its -wal and -shm away."
        )


def _is_own(file: int, wal_name: str) -> bool:
    pages = list(_committed(wal_name))
    if not pages:
        return True
    counted = _changes(os.pread(file, _COUNTER + 4, 0))
    first = next((page for number, page in pages if number == 1), b"")
    if counted and _changes(first) > counted + _CHANGES:
        return False
    lowest, page = min(reversed(pages), key=lambda pair: pair[0])  # as it was last
    is_later = os.fstat(file).st_mtime > os.stat(wal_name).st_mtime + _APART
    return not is_later or os.pread(file, len(page), (lowest - 1) * len(page)) == page


def _changes(first_page: bytes) -> int:
    """How often the tables of a database were changed; 0 of one that has none yet."""
    found = struct.unpack_from(">I", first_page, _COUNTER) if len(first_page) > _COUNTER else (0,)
    return int(found[0])


def _committed(wal_name: str) -> Iterator[tuple[int, bytes]]:
    """The pages of a -wal that were committed since it was begun anew, with their numbers.

    Only page 1 and those that are lower than any before it: more are not needed.
    """
    with open(wal_name, "rb") as wal:
        header = wal.read(_HEADER)
        size, salts = struct.unpack_from(">I", header, 8)[0], header[16:24]
        waiting: list[tuple[int, bytes]] = []
        lowest = 2**32
        while len(frame := wal.read(_FRAME + size)) == _FRAME + size and frame[8:16] == salts:
            number, commits = struct.unpack_from(">II", frame)
            if number <= lowest:
                lowest = number
                waiting.append((number, frame[_FRAME:]))
            if commits:
                yield from waiting
                waiting.clear()
