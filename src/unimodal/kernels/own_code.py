"""A user's own functions in compiled code: how they are called, and errors that say where they are.

Numba compiles what is marked as compiled. Everything else is called back as plain Python, some 3 µs
a call, so that compiled engines run it without knowing.
"""

from __future__ import annotations

import contextlib
import inspect
import re
import types
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from numba import njit, objmode
from numba.core.errors import NumbaError

from unimodal.errors import UnimodalError


def as_kernel(function: Callable[..., Any], compiled: bool, whose: str) -> Callable[..., Any]:
    """A function (self, x, y) -> number of a user's, for `generic.register`."""
    if compiled:
        call = njit(nogil=True)(function)  # with reference counts: a user's code may allocate
    else:
        number = as_plain(function, whose)

        @njit
        def call(family, first, second):
            with objmode(result="float64"):
                result = number(family, first, second)
            return result

    def kernel(family, first, second):
        return float(call(family, first, second))

    return kernel


def as_plain(function: Callable[..., Any], whose: str) -> Callable[..., Any]:
    """The same for calls from Python: its answer as a float, or a sentence."""

    def number(family, first, second):
        answer = function(family, first, second)
        try:
            return float(answer)
        except (TypeError, ValueError):
            raise UnimodalError(f"{whose} must return a number, got {answer!r}.") from None

    return number


def check_signature(function: Callable[..., Any], whose: str, expected: str) -> None:
    """Refuse a method that cannot be called as `expected`, such as "draw(self, mean, rng)"."""
    arguments = expected.partition("(")[2].count(",") + 1
    found = inspect.signature(function)
    try:
        found.bind(*range(arguments))
    except TypeError:
        name = expected.partition("(")[0]
        raise UnimodalError(
            f"{whose} must be written {expected}, got {name}{found} ({place(function)})."
        ) from None


def place(function: Callable[..., Any], line: int | None = None) -> str:
    """Where a function is written: its file and a line of it, by default the first."""
    code = code_of(function)
    return f"{code.co_filename}, line {code.co_firstlineno if line is None else line}"


def code_of(function: Any) -> types.CodeType:
    """The code of a function, compiled by Numba or not."""
    return getattr(function, "py_func", function).__code__


@contextlib.contextmanager
def explained(functions: Mapping[str, tuple[Callable[..., Any], str]]) -> Iterator[None]:
    """Turn errors in a user's functions into one sentence that names the place and the cause.

    `functions` are those that may be called, by "the draw of Geometric" and the like, each with the
    way it should be written. Errors from elsewhere pass.
    """
    try:
        yield
    except UnimodalError:
        raise
    except NumbaError as error:
        for whose, (function, expected) in functions.items():
            check_signature(function, whose, expected)
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        why = next((line for line in lines if line.startswith(_TELLING)), lines[0]).rstrip(".:")
        found = _compiling(str(error), functions)
        if found is None:
            raise
        whose, where = found
        raise UnimodalError(
            f"{whose} cannot be compiled: {why} ({where}); keep to what Numba compiles, or leave "
            "out compiled = True."
        ) from None
    except Exception as error:
        if isinstance(error, TypeError):
            for whose, (function, expected) in functions.items():
                check_signature(function, whose, expected)
        found = _raising(error, functions)
        if found is None:
            raise
        whose, where = found
        cause = f"{type(error).__name__}: {error}".removesuffix(": ").rstrip(".")
        raise UnimodalError(f"{whose} raised {cause} ({where}).") from error


_TELLING = (
    *("Untyped global name", "Unknown attribute", "Cannot", "Invalid use", "NameError"),
    *("Unknown", "Undeclared", "Use of", "No implementation", "Unsupported", "missing a required"),
    *("too many positional", "not enough values", "variable", "Type of"),
)


def _compiling(text: str, functions: Mapping[str, tuple[Callable[..., Any], str]]) -> Any:
    """Whose code, and which line of it, Numba's message is about: the innermost it names."""
    places = re.findall(r'File "(.+?)", line (\d+)', text)
    for file, number in places:
        for whose, (function, _) in functions.items():
            if Path(file).name == Path(code_of(function).co_filename).name and _has(
                code_of(function), int(number)
            ):
                return whose, place(function, int(number))
    for whose, (function, _) in functions.items():
        return whose, place(function)
    return None


def _has(code: types.CodeType, number: int) -> bool:
    """Whether a line belongs to a function."""
    return any(line == number for *_, line in code.co_lines() if line is not None)


def _raising(
    error: BaseException, functions: Mapping[str, tuple[Callable[..., Any], str]]
) -> tuple[str, str] | None:
    """Whose code, and which line of it, an exception came from; None if it was not theirs."""
    found, step = None, error.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        for whose, (function, _) in functions.items():
            own = code_of(function)
            if code.co_filename == own.co_filename and code.co_name == own.co_name:
                found = whose, place(function, step.tb_lineno)
        step = step.tb_next
    return found
