"""What SQLite reports by a code, as an error that a program can branch on."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from unimodal import descriptors
from unimodal.campaigns.stores.store import NumberTaken
from unimodal.errors import Busy, DamagedFile, ReadOnly, StoreError, TooManyOpenFiles

DESCRIPTORS = 4  # of a file that is open to write: its locks, the database, -wal and -shm

BACK = "it was changed by hand or is damaged; go back to a copy."
_IOERR = 10  # SQLITE_IOERR, of which others are kinds
_UNUSABLE = ("SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_PERM")


def code(error: BaseException | None) -> str:
    """What SQLite calls an error; nothing if it is none of its own."""
    return str(getattr(error, "sqlite_errorname", "") or "")


def is_unread(found: str) -> bool:
    """Whether what PRAGMA integrity_check found is a page that the disk did not give."""
    return any(int(number) & 0xFF == _IOERR for number in re.findall(r"error code[= ](\d+)", found))


def unreadable(path: Path, text: str = "disk I/O error") -> StoreError:
    """The error for a file that the disk does not give, which says nothing about what is in it."""
    return StoreError(
        f"{path} cannot be read ({text}): check the file, its folder and rights, and the disk."
    )


def explanation(
    error: Exception,
    path: Path,
    wait: float,
    *,
    is_closed: bool = False,
    to_read: bool = False,
    look_again: Callable[[], str] = lambda: "damaged",
) -> StoreError:
    """The error to raise instead of one of SQLite's, or of a text that is none."""
    name, text = code(error), str(error)
    if (damaged := _damage(error, path, look_again)) is not None:
        return damaged
    if is_closed:
        return StoreError(f"{path} was closed here: open it again with Campaign.open.")
    if name.startswith("SQLITE_CONSTRAINT"):
        return NumberTaken(f"{path} could not be used ({text}).")
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return busy(path, wait)
    if name.startswith((*_UNUSABLE, "SQLITE_FULL", "SQLITE_IOERR")):
        return _refused_by_the_system(name, text, path, to_read)
    return StoreError(f"{path} could not be used ({text}).")


def _damage(error: Exception, path: Path, look_again: Callable[[], str]) -> StoreError | None:
    """The error for a file with something in it that is not a campaign's; None if it is another.

    SQLite calls a page damaged that the disk did not give, so it is looked at once more: `whole`,
    `unread` or `damaged`.
    """
    name, text = code(error), str(error)
    is_other_kind = name.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT"))
    found = look_again() if is_other_kind else "damaged"
    if found == "unread":
        return unreadable(path)
    if found == "whole":
        return StoreError(
            f"{path} could not be read for a moment, and is whole when it is read again: call "
            "again, and check the disk."
        )
    if is_other_kind or isinstance(error, UnicodeDecodeError):
        hint = (
            "; put a copy back with `unimodal restore`: cp leaves the -wal of the file before there"
            if os.path.exists(f"{path}-wal")
            else ""
        )
        return DamagedFile(
            f"{path} must be a campaign's file; it is another kind, or damaged{hint}."
        )
    if name == "SQLITE_TOOBIG":
        return DamagedFile(
            f"{path} has a value in it that is larger than any that is written: {BACK}"
        )
    if "decode to UTF-8" in text:
        return DamagedFile(f"{path} has text in it that is none: {BACK}")
    return None


def _refused_by_the_system(name: str, text: str, path: Path, to_read: bool) -> StoreError:
    """The error where the file, its folder or the disk does not do what SQLite needs."""
    if to_read and name.startswith("SQLITE_FULL"):  # a sort, or a copy of the file
        return StoreError(
            f"{path} cannot be read ({text}): make room in the folder for temporary files "
            "(SQLITE_TMPDIR or TMPDIR)."
        )
    if not name.startswith("SQLITE_FULL") and descriptors.left() < DESCRIPTORS:
        return too_many_open(path)
    if to_read:
        return unreadable(path, text)
    if name.startswith(_UNUSABLE):
        return not_writable(path)
    way_out = "make room on the disk" if name == "SQLITE_FULL" else "check the disk and its room,"
    return StoreError(
        f"{path} could not be written ({text}), and nothing of this call was kept: "
        f"{way_out} and call again."
    )


def busy(path: Path, wait: float) -> Busy:
    """The error for a file that others keep busy."""
    return Busy(
        f"another process has kept {path} busy for {wait:g} s, so nothing was written: call again."
    )


def not_opened(path: Path, error: OSError) -> StoreError:
    """The error for a file that the system does not open for writing."""
    return too_many_open(path) if descriptors.is_lack(error) else not_writable(path)


def too_many_open(path: Path) -> TooManyOpenFiles:
    """The error for a file that cannot be opened beside all that is open."""
    return TooManyOpenFiles(
        f"{path} cannot be opened beside all files and connections that this process has open, at "
        f"most {descriptors.limit():,}: close some, or raise the limit (`ulimit -n`)."
    )


def not_writable(path: Path) -> ReadOnly:
    """The error for a file that cannot be written."""
    return ReadOnly(f"{path} cannot be opened for writing: check the folder and its rights.")
