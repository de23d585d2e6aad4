"""What is being compiled at this moment, and what for: read by whoever shows progress."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator

_lock = threading.Lock()
_purpose = threading.local()
_running: list[str] = []  # what for; at most one compiles, since Numba's compiler has one lock
_began = 0.0
_before = 0.0  # seconds of compilations that have ended
_finished: list[str] = []


@contextlib.contextmanager
def compiled_for(purpose: str) -> Iterator[None]:
    """Say what kernels are for that are compiled in this block, by this thread.

    >>> with compiled_for("UTS with Bernoulli rewards"):
    ...     pass
    """
    outer = getattr(_purpose, "text", "")
    _purpose.text = purpose
    try:
        yield
    finally:
        _purpose.text = outer


@contextlib.contextmanager
def compilation(kernel: str) -> Iterator[None]:
    """A kernel is compiled in this block; one inside another counts as part of it."""
    global _began, _before
    purpose = getattr(_purpose, "text", "") or kernel
    with _lock:
        if not _running:
            _began = time.monotonic()
        _running.append(purpose)
    try:
        yield
    finally:
        with _lock:
            _running.remove(purpose)
            _finished.append(purpose)
            if not _running:
                _before += time.monotonic() - _began


def compiling_now() -> str:
    """What the kernel is for that is being compiled; "" if none is."""
    with _lock:
        return _running[0] if _running else ""


def compiling_seconds() -> float:
    """How long kernels have been compiled in this process, so far."""
    with _lock:
        return _before + (time.monotonic() - _began if _running else 0.0)


def kernels_compiled() -> int:
    """How many kernels were compiled in this process, so far; loading one does not count."""
    return len(_finished)
