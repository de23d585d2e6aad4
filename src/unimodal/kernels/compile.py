"""Numba, made safe to cache and able to choose an implementation by type.

Numba's disk cache watches only the file that holds a kernel, so editing a helper in another file
would run old code silently; and it writes its index without a lock, so two cold processes can
mix up each other's code. Both are mended here: see docs/decisions/0002-compiled-code.md.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import itertools
import os
import sys
import tempfile
from collections import namedtuple
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, dataclass_transform

import numba
from numba import njit, typeof
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.extending import overload, register_jitable

try:
    import fcntl
except ImportError:  # Windows: no lock, so there the first run should be a single process.
    fcntl = None  # type: ignore[assignment]

PACKAGE = Path(__file__).resolve().parent.parent
# What kernels are made of: an edit anywhere else recompiles nothing.
SOURCES = (
    "kernels",
    "families",
    "graphs",
    "policies",
    "engines",
    "inference/replay/plausible_means.py",
)


def source_hash(folder: Path = PACKAGE, parts: Sequence[str] = (".",)) -> str:
    """A hash of the source files in these parts of a folder and of Numba's version."""
    digest = hashlib.sha256(numba.__version__.encode())
    for part in parts:
        whole = folder / part
        for path in sorted(whole.rglob("*.py")) if whole.is_dir() else [whole]:
            digest.update(path.relative_to(folder).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def cache_folder() -> Path:
    """Where this version's compiled code is kept: beside the package, or else in the user's cache.

    `UNIMODAL_CACHE_DIR` overrides it. The folder's name holds the hash of the sources, so code
    compiled from other sources can never be picked up.
    """
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "unimodal"
    chosen = os.environ.get("UNIMODAL_CACHE_DIR")
    candidates = [Path(chosen)] if chosen else [PACKAGE / "__pycache__", home]
    for parent in candidates:
        with contextlib.suppress(OSError):
            folder = parent / f"kernels-{source_hash(PACKAGE, SOURCES)}"
            folder.mkdir(parents=True, exist_ok=True)
            if os.access(folder, os.W_OK):
                with contextlib.suppress(OSError):  # another process may be dropping them, too
                    _drop_older_siblings(folder)
                return folder
    return Path(tempfile.mkdtemp(prefix="unimodal-kernels-"))


def _drop_older_siblings(folder: Path, keep: int = 4) -> None:
    """Keep the newest few caches only: every edit of a source file starts a new one."""
    siblings = sorted(folder.parent.glob("kernels-*"), key=lambda p: p.stat().st_mtime)
    for old in siblings[:-keep]:
        if old != folder:
            for file in old.glob("*"):
                file.unlink(missing_ok=True)
            old.rmdir()


_folder: Path | None = None


class _PackageLocator(_CacheLocator):
    def __init__(self, py_func: Any) -> None:
        # Numba's own file names hold only the last part of a module's name.
        self._place = f"{py_func.__module__}-{py_func.__code__.co_firstlineno}"

    def get_cache_path(self) -> str:
        global _folder
        if _folder is None:
            _folder = cache_folder()
        return str(_folder)

    def get_source_stamp(self) -> str:
        return "the folder's name holds the hash"

    def get_disambiguator(self) -> str:
        return self._place

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> _PackageLocator:
        return cls(py_func)


class _PackageCacheImpl(CompileResultCacheImpl):
    _locator_classes: Any = [_PackageLocator]  # noqa: RUF012 - as Numba declares it


class _PackageCache(FunctionCache):
    """Numba's cache in our folder, written under a lock, and never for code that is not ours."""

    _impl_class = _PackageCacheImpl

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        # Numba would first import all that it can compile code with, 0.2 s that a process which
        # finds its kernels compiled does without. When it does compile, it imports them by itself.
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)

    def save_overload(self, sig: Any, data: Any) -> None:
        arguments = getattr(sig, "args", sig)  # Numba passes a signature or just its types
        if all(map(_is_ours, arguments)):
            # A full disk, or a folder that was deleted meanwhile, costs the cache but not the run.
            with contextlib.suppress(OSError), _locked(Path(self.cache_path) / "lock"):
                super().save_overload(sig, data)


def _is_ours(numba_type: Any) -> bool:
    """Whether a type involves no class but those found in this package's modules."""
    made = getattr(numba_type, "instance_class", None)
    if made is None:
        return True
    found: Any = sys.modules.get(made.__module__)
    for name in made.__qualname__.split("."):
        found = getattr(found, name, None)
    inner = getattr(numba_type, "types", ())
    return _is_hashed(made.__module__) and found is made and all(map(_is_ours, inner))


def _is_hashed(module: str) -> bool:
    """Whether a module is among the sources whose hash names the cache's folder."""
    known = [f"unimodal.{part.removesuffix('.py').replace('/', '.')}" for part in SOURCES]
    return any(module == name or module.startswith(f"{name}.") for name in known)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as handle:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


# Kernels allocate nothing, so they do without Numba's reference counts: those are atomic, and at
# each call of a small function with an array they cost more than the function does.
_OPTIONS: Any = {"nogil": True, "_nrt": False, "error_model": "numpy", "no_cfunc_wrapper": True}
# What only kernels call needs no entry from Python either, which is a sixth of its compilation.
_INNER: Any = {**_OPTIONS, "no_cpython_wrapper": True}


def jit(function: Callable[..., Any]) -> Any:
    """Compile a function of this package: no GIL, no allocation, cached on disk.

    What is compiled for a user's policy or draw is not cached, since their file may change.
    """
    compiled = njit(**_OPTIONS)(function)
    compiled._cache = _PackageCache(function)
    return compiled


def _lazy(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function for `jit`, but only when it is called: 0.1 ms each, and most never are."""
    compiled = functools.cache(lambda: jit(function))
    return lambda *arguments: compiled()(*arguments)


def inner(function: Callable[..., Any]) -> Any:
    """Let kernels call a function; called from Python, it runs as plain Python."""
    return register_jitable(**_INNER)(function)


def specialised(compiled: Any, *examples: Any) -> Callable[..., Any]:
    """The machine code for arguments of just these types, without looking them up at each call.

    That look-up takes some 3 µs where named tuples are passed, most of what an `ask` costs. Only
    for callers whose arguments always have the same types: it trusts them.
    """
    types = tuple(typeof(example) for example in examples)
    compiled.compile(types)
    entry: Callable[..., Any] = compiled.overloads[types].entry_point
    return entry


@dataclass_transform(frozen_default=True)
def component(cls: Any) -> Any:
    """Make a class a frozen dataclass whose numbers compiled code can read.

    Its int, float and bool fields, and the properties that `derived_numbers` names with their
    types, form a named tuple, `cls.Record`. The numbers in it are data at run time; its type is
    what `generic` functions are chosen by when a kernel is compiled.

    >>> @component
    ... class Coin:
    ...     bias: float = 0.5
    >>> record(Coin(1))
    CoinRecord(bias=1.0)
    """
    return attach_record(dataclass(frozen=True)(cls))


_made = itertools.count()


def attach_record(cls: Any) -> Any:
    """Give a dataclass its `Record`."""
    numbers = {f.name: _NUMBERS[f.type] for f in fields(cls) if f.type in _NUMBERS}
    numbers |= getattr(cls, "derived_numbers", {})
    made = namedtuple(f"{cls.__name__}Record", numbers, module=cls.__module__)  # type: ignore[misc]
    made.__qualname__ = f"{cls.__qualname__}.Record"  # importable, so that Numba can cache it
    if not _is_hashed(cls.__module__) or "<locals>" in cls.__qualname__:
        # Numba links code by the names of types: a class that was defined again would run the old.
        made.__name__ += f"_{next(_made)}"
    made.numbers = numbers  # type: ignore[attr-defined]
    made.component = cls  # type: ignore[attr-defined]
    cls.Record = made
    return cls


_NUMBERS: dict[Any, Callable[[Any], Any]] = {
    key: kind for kind in (int, float, bool) for key in (kind, kind.__name__)
}


def record(instance: Any) -> Any:
    """The numbers of a `component`, as compiled code wants them."""
    made = instance.Record
    return made(*(convert(getattr(instance, name)) for name, convert in made.numbers.items()))


def generic(function: Callable[..., Any]) -> Any:
    """A function with one implementation for each `component` its first argument may be.

    `functools.singledispatch` for compiled code: inside a kernel the choice is made when the kernel
    is compiled. Called from Python, it runs the implementation compiled, unless it was registered
    as plain.

    >>> @component
    ... class Line:
    ...     slope: float = 2.0
    >>> @generic
    ... def height(shape, x):
    ...     "The height of a shape at x."
    >>> @height.register(Line)
    ... def line_height(shape, x):
    ...     return shape.slope * x
    >>> height(record(Line()), 3.0)
    6.0
    """
    implementations: dict[type, Callable[..., Any]] = {}
    callable_from_python: dict[type, Callable[..., Any]] = {}

    def find(made: Any, table: dict[type, Callable[..., Any]]) -> Callable[..., Any] | None:
        bases = getattr(made, "component", object).__mro__
        return next((table[cls] for cls in bases if cls in table), None)

    def dispatch(first: Any, *rest: Any) -> Any:
        implementation = find(type(first), callable_from_python)
        assert implementation is not None, f"{function.__name__} has nothing for {first!r}"
        return implementation(first, *rest)

    def choose(first: Any, *rest: Any) -> Any:
        return find(getattr(first, "instance_class", None), implementations)

    def register(cls: type, plain: bool = False) -> Callable[..., Any]:
        def keep(implementation: Callable[..., Any]) -> Callable[..., Any]:
            if not plain:
                implementations[cls] = implementation
            callable_from_python[cls] = implementation if plain else _lazy(implementation)
            return implementation

        return keep

    functools.update_wrapper(dispatch, function)
    overload(dispatch, strict=False, jit_options=_INNER)(choose)
    dispatch.register, dispatch.registry = register, implementations  # type: ignore[attr-defined]
    return dispatch
