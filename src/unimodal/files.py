"""Files: never half-written, since they are made beside their place; errors name what was wrong."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from unimodal.errors import UnimodalError


def write(path: str | Path, fill: Callable[[Path], object]) -> Path:
    """Let `fill` write a temporary file next to `path`, then move it there in one step.

    Pipes and devices, such as /dev/stdout, are written as they are: nothing may take their place.
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
            os.chmod(name, 0o666 & ~_umask())  # mkstemp makes it readable by its owner only
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
