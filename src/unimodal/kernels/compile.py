"""Numba, made safe to cache and able to choose an implementation by type.

Numba's disk cache watches only the file that holds a kernel, so editing a helper in another file
would run old code silently; and it writes its index without a lock, so two cold processes can
mix up each other's code. Both are mended: see docs/decisions/0002-compiled-code.md. What that takes
of Numba's private parts is in `numba_private.py`.
"""

from __future__ import annotations

import functools
import itertools
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, dataclass_transform

from numba import njit
from numba.extending import overload, register_jitable

from unimodal.errors import UnimodalError
from unimodal.kernels.cache_folder import is_hashed
from unimodal.kernels.numba_private import (
    accepted,
    call_from_kernels,
    entry_point,
    keep_on_disk,
    pipelines,
)

_OPTIONS: Any = accepted(nogil=True, _nrt=False, error_model="numpy", no_cfunc_wrapper=True)
_KERNEL, _INNER_PIPELINE, _INLINED_PIPELINE, _OUTLINED_PIPELINE = pipelines()
# What only kernels call needs no entry from Python.
_INNER: Any = {**_OPTIONS, **accepted(no_cpython_wrapper=True), **_INNER_PIPELINE}
_INLINED: Any = {**_INNER, **_INLINED_PIPELINE}
_OUTLINED: Any = {**_INNER, **_OUTLINED_PIPELINE}


def jit(function: Callable[..., Any], inline: bool = False) -> Any:
    """Compile a function of this package: no GIL, no allocation, cached on disk.

    With `inline=True`, kernels have a copy of it wherever they call it, for hot loops. What is
    compiled for a user's policy or draw is not cached, since their file may change.
    """
    compiled = njit(**_OPTIONS, **_KERNEL)(function)
    keep_on_disk(compiled)
    options = _INLINED if inline else _INNER
    call_from_kernels(compiled, functools.cache(lambda: njit(**options)(function)))
    return compiled


def _lazy(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function for `jit`, but only when it is called: 0.1 ms each, and most never are."""
    compiled = functools.cache(lambda: jit(function))
    return lambda *arguments: compiled()(*arguments)


def inner(function: Callable[..., Any], inline: bool = False) -> Any:
    """Let kernels call a function; called from Python, it runs as plain Python.

    With `inline=True`, they have a copy wherever they call it.
    """
    return register_jitable(**(_INLINED if inline else _INNER))(function)


def outlined(function: Callable[..., Any]) -> Any:
    """`inner` for what a hot loop seldom calls: its code stays outside of the loop's.

    Taken in, a long function costs a loop its registers, even where it is never reached.
    """
    return register_jitable(**_OUTLINED)(function)


def specialised(compiled: Any, *examples: Any) -> Callable[..., Any]:
    """The machine code for arguments of just these types, without looking them up at each call.

    That look-up takes some 3 µs where named tuples are passed, most of what an `ask` costs. Only
    for callers whose arguments always have the same types: it trusts them.
    """
    return entry_point(compiled, *examples)


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
    if not is_hashed(cls.__module__) or "<locals>" in cls.__qualname__:
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
    made = getattr(instance, "Record", None)
    if made is None:
        raise UnimodalError(
            "a scope or an index must be a class with @component above it (of "
            f"unimodal.kernels.compile), so that compiled code can read it, got {instance!r}."
        )
    return made(*(convert(getattr(instance, name)) for name, convert in made.numbers.items()))


def generic(function: Callable[..., Any], inline: bool = False) -> Any:
    """A function with one implementation for each `component` its first argument may be.

    `functools.singledispatch` for compiled code: inside a kernel the choice is made when the kernel
    is compiled. Called from Python, it runs the implementation compiled, unless it was registered
    as plain. With `inline=True`, kernels have a copy of it wherever they call it.

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
    overload(dispatch, strict=False, jit_options=_INLINED if inline else _INNER)(choose)
    dispatch.register, dispatch.registry = register, implementations  # type: ignore[attr-defined]
    return dispatch
