"""Files: never half-written, since they are made beside their place; errors name what was wrong."""

from __future__ import annotations

import contextlib
import glob
import os
import secrets
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from unimodal.errors import UnimodalError

PRIVATE = 0o600  # the mode of files that only their owner should read


def write(path: str | Path, fill: Callable[[Path], object], mode: int | None = None) -> Path:
    """Let `fill` write a temporary file next to `path`, then move it there in one step.

    Pipes and devices, such as /dev/stdout, are written as they are: nothing may take their place.
    `mode` has the file's permissions, which are those of any new file by default.
    """
    path = as_path(path, "the path of a file to write")
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            fill(path)
            return path
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(
            dir=path.parent, prefix=f".{path.stem}-", suffix=path.suffix
        )
        os.close(handle)
        try:
            fill(Path(name))
            # mkstemp makes it readable by its owner only
            os.chmod(name, 0o666 & ~_umask() if mode is None else mode)
            os.replace(name, path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise UnimodalError(
            f"{path} cannot be written ({error.strerror or error}): "
            "choose a place that can, or make room."
        ) from None
    return path


@contextlib.contextmanager
def new_file(path: Path, what: str) -> Iterator[Path]:
    """A name beside `path` for a new file, which gets its own once it is written and on disk.

    Refused where there is a file already; `what` names what is written. It is its owner's only. Of
    an error nothing is left, nor of files beside it, whose names begin with its own.
    """
    check_new(path, what)
    made = path.with_name(f".{path.name[:100]}-{secrets.token_hex(6)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.close(os.open(made, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE))
            yield made
            give_name(made, path, what)
        finally:
            for left in path.parent.glob(f"{glob.escape(made.name)}*"):
                left.unlink(missing_ok=True)
    except OSError as error:
        raise UnimodalError(
            f"{path} cannot be written ({error.strerror or error}): "
            "choose a place that can, or make room."
        ) from None


def private_mode(path: Path) -> int:
    """The mode of a file that is there, which its owner may have changed; or a new one's."""
    return path.stat().st_mode & 0o777 if path.exists() else PRIVATE


def check_new(path: Path, what: str) -> None:
    """Refuse a name that a file has already; `what` names what would be written there."""
    if os.path.lexists(path):
        raise UnimodalError(
            f"there is a file {path} already, and {what} is written to a new one: name another, "
            "or remove it first."
        )


def give_name(made: Path, path: Path, what: str) -> None:
    """Give a file that is written its name, when it is on disk; `what` names what it is."""
    _sync(made)
    _name(made, path, what)
    _sync(path.parent)


def _name(made: Path, path: Path, what: str) -> None:
    """Give a file its name, unless another has got it meanwhile."""
    try:
        os.link(made, path)
    except FileExistsError:
        check_new(path, what)
        raise
    except OSError:  # a file system without links
        check_new(path, what)
        os.rename(made, path)


def _sync(path: Path) -> None:
    """Have a file, or the names in a folder, on disk."""
    if path.is_dir() and os.name == "nt":
        return  # where folders cannot be opened
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def reading(path: Path, expected: str) -> Iterator[None]:
    """Raise whatever goes wrong while a file is read as an error that says what it must be.

    A file that somebody else made can fail anywhere: in its text, in its numbers, in how deep it is
    nested, in how much memory it asks for, or inside a library that reads it.
    """
    try:
        yield
    except UnimodalError:
        raise
    except FileNotFoundError:
        raise UnimodalError(
            f"there is no file {path}: {path} must be {expected}; check the path."
        ) from None
    except OSError as error:
        raise UnimodalError(f"{path} cannot be read: {error.strerror or error}.") from None
    except MemoryError as error:
        raise UnimodalError(f"{path} asks for more memory than there is.") from error
    except BaseException as error:
        # A panic of Polars is no Exception: it would pass by whoever catches those.
        if isinstance(error, Exception) or type(error).__name__ == "PanicException":
            raise UnimodalError(
                f"{path} must be {expected}; it is another kind, or damaged."
            ) from error
        raise


def as_path(path: Any, what: str) -> Path:
    """The path, or a sentence if it is none; `what` names it there."""
    if not isinstance(path, str | Path) or "\0" in str(path):
        raise UnimodalError(f"{what} must be a file's name, got {path!r}.")
    return Path(path)


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
