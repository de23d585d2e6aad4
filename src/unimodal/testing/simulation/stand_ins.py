"""What stands for `threading`, `time`, `os`, `secrets` and executors while a history runs.

Only threads of the simulation see a difference: their locks hand the turn on instead of blocking,
time passes when the history says so, and random numbers come from its seed.
"""

from __future__ import annotations

import contextlib
import os
import random
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from unimodal.testing.simulation import seams
from unimodal.testing.simulation.turns import Turns


class _Instead:
    """A module of which some names are replaced."""

    def __init__(self, module: Any, **names: Any) -> None:
        self._module = module
        self.__dict__.update(names)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


class Lock:
    """A lock that hands the turn on while it waits."""

    def __init__(self, turns: Turns) -> None:
        self._turns, self._locked = turns, False

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Take it."""
        if self._locked and not blocking:
            return False
        if not self._turns.wait(lambda: not self._locked, can_time_out=timeout >= 0):
            return False
        self._locked = True
        return True

    def release(self) -> None:
        """Give it back."""
        self._locked = False

    def locked(self) -> bool:
        """Whether somebody has it."""
        return self._locked

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()


class RLock(Lock):
    """One that its holder may take again."""

    def __init__(self, turns: Turns) -> None:
        super().__init__(turns)
        self._holder, self._times = 0, 0

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Take it, perhaps once more."""
        me = threading.get_ident()
        if self._locked and self._holder == me:
            self._times += 1
            return True
        if not super().acquire(blocking, timeout):
            return False
        self._holder, self._times = me, 1
        return True

    def release(self) -> None:
        """Give it back as often as it was taken."""
        self._times -= 1
        if self._times == 0:
            super().release()


class Condition:
    """As `threading.Condition`."""

    def __init__(self, turns: Turns, lock: Any = None) -> None:
        self._turns, self._lock = turns, lock or RLock(turns)
        self._waiting: list[list[bool]] = []
        self.acquire, self.release = self._lock.acquire, self._lock.release

    def __enter__(self) -> Any:
        return self._lock.__enter__()

    def __exit__(self, *_: object) -> None:
        self._lock.__exit__()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until somebody notifies."""
        told = [False]
        self._waiting.append(told)
        self._lock.release()
        try:
            return self._turns.wait(lambda: told[0], can_time_out=timeout is not None)
        finally:
            self._lock.acquire()

    def wait_for(self, predicate: Callable[[], bool], timeout: float | None = None) -> bool:
        """Wait until something holds."""
        while not predicate():
            if not self.wait(timeout):
                return bool(predicate())
        return True

    def notify(self, n: int = 1) -> None:
        """Wake some who wait."""
        for told in self._waiting[:n]:
            told[0] = True
        del self._waiting[:n]

    def notify_all(self) -> None:
        """Wake all who wait."""
        self.notify(len(self._waiting))


class Event:
    """As `threading.Event`."""

    def __init__(self, turns: Turns) -> None:
        self._turns, self._is_set = turns, False

    def is_set(self) -> bool:
        """Whether it has happened."""
        return self._is_set

    def set(self) -> None:
        """It has happened."""
        self._is_set = True

    def clear(self) -> None:
        """It has not happened."""
        self._is_set = False

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it has happened."""
        return self._turns.wait(self.is_set, can_time_out=timeout is not None)


class Thread:
    """As `threading.Thread`: it belongs to the process of the thread that starts it."""

    def __init__(
        self,
        turns: Turns,
        group: None = None,
        target: Any = None,
        name: str | None = None,
        args: Any = (),
        kwargs: Any = None,
        *,
        daemon: bool | None = None,
    ) -> None:
        self._turns, self.name, self.daemon = turns, name, daemon
        self._work = lambda: target(*args, **(kwargs or {}))
        self._task: Any = None

    def start(self) -> None:
        """Begin, when it is its turn."""
        here = self._turns.task
        assert here is not None
        self._task = self._turns.add(self._work, here.owner, is_background=True)

    def is_alive(self) -> bool:
        """Whether it has begun and not ended."""
        return self._task is not None and not self._task.done

    def join(self, timeout: float | None = None) -> None:
        """Wait for its end."""
        if self._task is not None:
            self._turns.wait(lambda: self._task.done, can_time_out=timeout is not None)


class _AtOnce:
    """An executor that does everything at once, in the thread that asks."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def submit(self, work: Callable[..., Any], *args: Any, **kwargs: Any) -> Future[Any]:
        """Do it now."""
        done: Future[Any] = Future()
        try:
            done.set_result(work(*args, **kwargs))
        except Exception as error:
            done.set_exception(error)
        return done

    def __enter__(self) -> _AtOnce:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def _replacements(turns: Turns, seed: int, steady: Callable[[], float]) -> dict[str, Any]:
    """What stands for each of the names, by name."""
    bits = random.Random(seed)

    def of_turns(kind: Any) -> Any:
        return lambda *args, **kwargs: kind(turns, *args, **kwargs)

    threads = {kind.__name__: of_turns(kind) for kind in (Lock, RLock, Condition, Event, Thread)}
    return {
        "threading": _Instead(threading, **threads),
        "time": _Instead(
            time,
            sleep=lambda seconds: turns.pause(0.1),
            monotonic=steady,
            clock_gettime=lambda which: steady(),
        ),
        "os": _Instead(os, urandom=bits.randbytes),
        "secrets": _Instead(
            secrets,
            randbits=bits.getrandbits,
            randbelow=bits.randrange,
            token_bytes=bits.randbytes,
            token_hex=lambda size=32: bits.randbytes(size).hex(),
        ),
        "ThreadPoolExecutor": _AtOnce,
    }


_REAL = {
    **{"threading": threading, "time": time, "os": os, "secrets": secrets},
    "ThreadPoolExecutor": ThreadPoolExecutor,
}


@contextlib.contextmanager
def stand_ins(turns: Turns, seed: int, steady: Callable[[], float]) -> Iterator[None]:
    """Let the modules of campaigns use what belongs to a history."""
    instead = _replacements(turns, seed, steady)
    places = [
        (module, name)
        for module in seams.modules()
        for name, real in _REAL.items()
        if module.__dict__.get(name) is real
    ]
    for module, name in places:
        setattr(module, name, instead[name])
    try:
        yield
    finally:
        for module, name in places:
            setattr(module, name, _REAL[name])
