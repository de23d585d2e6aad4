"""What is not public in Numba, all of it: each is probed at first use and has a public fallback.

docs/decisions/0002-compiled-code.md says what the cache is for, 0012-first-use.md the pipelines.
Without any of these the results are the same: only slower to compile, to load or to run.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from numba import typeof
from numba.core.types import int32, int64, unliteral

from unimodal.kernels.cache_folder import is_ours, locked, this_cache_folder
from unimodal.kernels.compile_watch import compilation

# What a version of Numba may lack: it raises one of these when it is looked for.
_ABSENT = (ImportError, AttributeError, KeyError, TypeError)


@functools.cache
def accepted(**options: Any) -> dict[str, Any]:
    """Those of these options of `njit` that Numba knows; the others only make code slower.

    Kernels allocate nothing, so they do without reference counts (`_nrt`): those are atomic, and
    at each call of a small function with an array they cost more than the function does.
    """
    known = {}
    for name, value in options.items():
        with contextlib.suppress(*_ABSENT):
            from numba.core.compiler import Flags
            from numba.core.registry import cpu_target

            cpu_target.options.parse_as_flags(Flags(), {name: value})
            known[name] = value
    return known


def keep_on_disk(dispatcher: Any) -> None:
    """Give a compiled function a disk cache of our own; without Numba's classes, it has none."""
    cache = _cache_class()
    if cache is not None and hasattr(dispatcher, "_cache"):
        dispatcher._cache = cache(dispatcher.py_func)


@functools.cache
def _cache_class() -> Any:
    try:
        from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator

        for needed in ("_load_overload", "_guard_against_spurious_io_errors", "save_overload"):
            getattr(FunctionCache, needed)
    except _ABSENT:
        return None

    class PackageLocator(_CacheLocator):
        def __init__(self, py_func: Any) -> None:
            # Numba's own file names hold only the last part of a module's name.
            self._place = f"{py_func.__module__}-{py_func.__code__.co_firstlineno}"
            self._py_file = py_func.__code__.co_filename

        def get_cache_path(self) -> str:
            return str(this_cache_folder())

        def get_source_stamp(self) -> str:
            return "the folder's name holds the hash"

        def get_disambiguator(self) -> str:
            return self._place

        @classmethod
        def from_function(cls, py_func: Any, py_file: str) -> PackageLocator:
            return cls(py_func)

    class PackageCacheImpl(CompileResultCacheImpl):
        def __init__(self, py_func: Any) -> None:
            # Not as Numba begins: NUMBA_CACHE_LOCATOR_CLASSES would choose another folder, whose
            # name holds no hash, and an edited helper would run old code.
            self._lineno = py_func.__code__.co_firstlineno
            self._locator = PackageLocator(py_func)
            last_part = py_func.__module__.rpartition(".")[2]
            full_name = f"{last_part}.{py_func.__qualname__}"
            self._filename_base = self.get_filename_base(full_name, getattr(sys, "abiflags", ""))

    class PackageCache(FunctionCache):
        """Numba's cache in our folder, written under a lock, and never for a user's code."""

        _impl_class = PackageCacheImpl

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            # Numba would first import all that it can compile code with, 0.2 s that a process
            # which finds its kernels compiled does without. To compile, it imports them anyway.
            with self._guard_against_spurious_io_errors():
                return self._load_overload(sig, target_context)

        def save_overload(self, sig: Any, data: Any) -> None:
            arguments = getattr(sig, "args", sig)  # Numba passes a signature or just its types
            if all(map(is_ours, arguments)):
                # A full disk, or a folder deleted meanwhile, costs the cache but not the run.
                with contextlib.suppress(OSError), locked(Path(self.cache_path) / "lock"):
                    super().save_overload(sig, data)

    return PackageCache


def entry_point(dispatcher: Any, *examples: Any) -> Callable[..., Any]:
    """The machine code for arguments of just these types; else the function that looks them up."""
    types = tuple(typeof(example) for example in examples)
    try:
        dispatcher.compile(types)
        entry: Callable[..., Any] = dispatcher.overloads[types].entry_point
    except _ABSENT:
        return dispatcher
    return entry


def call_from_kernels(dispatcher: Any, inner: Callable[[], Any]) -> None:
    """Let kernels that call a function compile another version of it, one not called from Python.

    The entry from Python is a sixth of the compilation. A constant or a number of 32 bits is passed
    as any other number, or the function would be compiled once more for it.
    """
    if not all(hasattr(dispatcher, name) for name in ("get_call_template", "get_overload")):
        return

    def call_template(passed: Sequence[Any], named: Mapping[str, Any]) -> Any:
        plain = {name: _plain_number(each) for name, each in named.items()}
        return inner().get_call_template(tuple(map(_plain_number, passed)), plain)

    dispatcher.get_call_template = call_template
    dispatcher.get_overload = lambda signature: inner().get_overload(signature)


def _plain_number(numba_type: Any) -> Any:
    plain = unliteral(numba_type)
    return int64 if plain is int32 else plain


@contextlib.contextmanager
def _few_collections() -> Iterator[None]:
    """Let Python look for garbage seldom: a compiler makes many objects, and few that are cyclic.

    It is an eighth of the time.
    """
    often = gc.get_threshold()
    if often[0]:
        gc.set_threshold(max(often[0], 200_000), *often[1:])
    try:
        yield
    finally:
        gc.set_threshold(*often)


@functools.cache
def pipelines() -> tuple[dict[str, Any], ...]:
    """Options of `njit` for a kernel, and for what only kernels call: plain, inlined, outlined."""
    try:
        from unimodal.kernels.whole_kernel_optimisation import Inlined, Inner, Kernel, Outlined
    except _ABSENT:
        return {}, {}, accepted(forceinline=True), {}

    class Watched(Kernel):
        """The same, and who shows progress knows of it."""

        def compile_extra(self, func: Any) -> Any:
            with compilation(func.__name__), _few_collections():
                return super().compile_extra(func)

    return tuple({"pipeline_class": each} for each in (Watched, Inner, Inlined, Outlined))
