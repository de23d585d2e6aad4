"""What SQLite reports by a code, as an error that a program can branch on."""

from __future__ import annotations

from pathlib import Path

from unimodal import descriptors
from unimodal.campaigns.stores.sqlite_tables import BACK
from unimodal.campaigns.stores.store import NumberTaken
from unimodal.errors import Busy, DamagedFile, ReadOnly, StoreError, TooManyOpenFiles

DESCRIPTORS = 4  # of a file that is open to write: its locks, the database, -wal and -shm


def code(error: BaseException | None) -> str:
    """What SQLite calls an error; nothing if it is none of its own."""
    return str(getattr(error, "sqlite_errorname", "") or "")


def explanation(
    error: Exception, path: Path, wait: float, *, is_closed: bool = False, to_read: bool = False
) -> StoreError:
    """The error to raise instead of one of SQLite's, or of a text that is none."""
    name, text = code(error), str(error)
    is_other_kind = name.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT"))
    if is_other_kind or isinstance(error, UnicodeDecodeError):
        return DamagedFile(f"{path} must be a campaign's file; it is another kind, or damaged.")
    if name == "SQLITE_TOOBIG":
        return DamagedFile(
            f"{path} has a value in it that is larger than any that is written: {BACK}"
        )
    if "decode to UTF-8" in text:
        return DamagedFile(f"{path} has text in it that is none: {BACK}")
    if is_closed:
        return StoreError(f"{path} was closed here: open it again with Campaign.open.")
    if name.startswith("SQLITE_CONSTRAINT"):
        return NumberTaken(f"{path} could not be used ({text}).")
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return busy(path, wait)
    unusable = name.startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_PERM"))
    if (unusable or name.startswith("SQLITE_IOERR")) and descriptors.left() < DESCRIPTORS:
        return too_many_open(path)
    if to_read and (unusable or name.startswith("SQLITE_IOERR")):
        return StoreError(f"{path} cannot be read ({text}): check the file, its folder and rights.")
    if unusable:
        return not_writable(path)
    if name.startswith(("SQLITE_FULL", "SQLITE_IOERR")):
        return StoreError(
            f"{path} could not be written ({text}), and nothing of this call was kept: "
            "make room on the disk and call again."
        )
    return StoreError(f"{path} could not be used ({text}).")


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
