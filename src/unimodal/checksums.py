"""Parquet files that know whether they are whole.

Polars trusts what it reads: of a damaged page it may panic, or ask for so much memory that the
process is ended. So a file has the SHA-256 of all its bytes in its head, which is compared before
Polars sees it. The digest's own place counts as zeros. It is against damage, not against malice:
whoever makes a file can write the digest that it has.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import BinaryIO

_MARK, _BLANK = "sha256:", "0" * 64
BLANK = {"checksum": _MARK + _BLANK}  # what is added to a file's notes when it is written
_PIECE = 2**20


def fill_in(path: Path) -> None:
    """Write the digest of a file to where `BLANK` is."""
    with path.open("r+b") as handle:
        offset = _footer_offset(handle)
        if offset is None:
            raise AssertionError(f"{path} was written without a place for its digest")
        digest = _digest(handle, offset)
        handle.seek(offset)
        handle.write(digest.encode())


def check(handle: BinaryIO) -> None:
    """Raise a ValueError if a file has another digest than it says; older files say none."""
    offset = _footer_offset(handle)
    if offset is not None:
        handle.seek(offset)
        if handle.read(len(_BLANK)).decode("ascii", "replace") != _digest(handle, offset):
            raise ValueError("another checksum")
    handle.seek(0)


def _footer_offset(handle: BinaryIO) -> int | None:
    """Where the digest stands: near the end, where Parquet keeps the notes of a file."""
    size = handle.seek(0, os.SEEK_END)
    handle.seek(max(size - 8, 0))
    notes = int.from_bytes(handle.read(4), "little")  # their length, if it is not damaged
    begin = max(min(size - 8 - notes, size - _PIECE), 0)
    handle.seek(begin)
    found = handle.read().rfind(_MARK.encode())
    return None if found < 0 else begin + found + len(_MARK)


def _digest(handle: BinaryIO, offset: int) -> str:
    """The SHA-256 of a file, with zeros in place of its own digest."""
    digest, at = hashlib.sha256(), 0
    handle.seek(0)
    while piece := bytearray(handle.read(_PIECE)):
        first, last = max(offset - at, 0), max(offset + len(_BLANK) - at, 0)
        piece[first:last] = _BLANK.encode()[: len(piece[first:last])]
        digest.update(piece)
        at += len(piece)
    return digest.hexdigest()
