"""Descriptors: how many files and sockets this process may have open, and how many it has."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Iterable

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

_LISTED = "/proc/self/fd" if sys.platform == "linux" else "/dev/fd"
_MOST = 2**16  # enough for any service; so many are listed in some ten milliseconds


def limit() -> int:
    """How many descriptors this process may have."""
    if resource is None:
        return _MOST
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MOST if soft == resource.RLIM_INFINITY else min(soft, _MOST)


def raise_limit() -> int:
    """Raise the soft limit as far as the hard one lets; the limit then."""
    if resource is not None:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = _MOST if hard == resource.RLIM_INFINITY else min(hard, _MOST)
        if soft != resource.RLIM_INFINITY and soft < wanted:
            with contextlib.suppress(OSError, ValueError):  # macOS has another limit besides
                resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return limit()


def left() -> int:
    """How many more there may be.

    >>> 0 < left() < limit()
    True
    """
    most = limit()
    try:
        names = os.listdir(_LISTED)
    except OSError as error:
        return 0 if is_lack(error) else most
    # The list had one itself. Those of a parent may have numbers beyond what this process may have.
    return most - sum(int(name) < most for name in names) + 1


def taken_by(paths: Iterable[str]) -> int:
    """How many of them files have whose names begin so; 0 where the system does not tell names.

    >>> taken_by([])
    0
    """
    begins, count = tuple(paths), 0
    if not begins:
        return 0
    with contextlib.suppress(OSError):
        for number in os.listdir(_LISTED):
            with contextlib.suppress(OSError):  # it was closed meanwhile
                count += os.readlink(f"{_LISTED}/{number}").startswith(begins)
    return count


def is_lack(error: BaseException | None) -> bool:
    """Whether an error of the system says that there are no more descriptors."""
    return isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE)
