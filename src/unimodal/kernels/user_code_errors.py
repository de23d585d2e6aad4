"""A user's own functions in compiled code: how they are called, and errors that say where they are.

Numba compiles what is marked as compiled. Everything else is called back as plain Python, some 3 µs
a call, so that compiled engines run it without knowing.
"""

from __future__ import annotations

import contextlib
import dis
import functools
import inspect
import re
import types
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from numba import njit, objmode
from numba.core.errors import NumbaError
from numba.core.types import Boolean, Number

from unimodal.errors import UnimodalError


def as_kernel(function: Callable[..., Any], compiled: bool, whose: str) -> Callable[..., Any]:
    """A function (self, x, y) -> number of a user's, for `generic.register`."""
    if compiled:
        call = compile_own(function)
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


def compile_own(function: Callable[..., Any]) -> Any:
    """A user's function for kernels to call, or the one that Numba made of it already.

    It has reference counts, which our kernels do without, since a user's code may allocate. Why it
    does not compile is kept for `explained`: from the kernel that calls it Numba tells little.
    """
    call: Any = function if hasattr(function, "py_func") else njit(nogil=True)(function)
    compile_for = call.compile

    def watched(types: Any) -> Any:
        try:
            entry = compile_for(types)
            returned = call.overloads[tuple(getattr(types, "args", types))].signature.return_type
            if not isinstance(returned, Number | Boolean):
                raise TypeError(f"it returns {returned}, not a number")
            return entry
        except Exception as error:
            _failures[code_of(function)] = error
            raise

    call.compile = watched
    return call


_failures: dict[types.CodeType, Exception] = {}


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
            f"{whose} must be written {expected}, got {name}{found} ({source_line(function)})."
        ) from None


def source_line(function: Callable[..., Any], line: int | None = None) -> str:
    """Where a function is written: its file and a line of it, by default the first."""
    code = code_of(function)
    return f"{code.co_filename}, line {code.co_firstlineno if line is None else line}"


def code_of(function: Any) -> types.CodeType:
    """The code of a function, compiled by Numba or not."""
    return getattr(function, "py_func", function).__code__


def explaining(
    call: Callable[..., Any], functions: Mapping[str, tuple[Callable[..., Any], str]]
) -> Callable[..., Any]:
    """A function that calls a user's, with its errors `explained`; itself if there are none."""
    if not functions:
        return call

    @functools.wraps(call)
    def called(*arguments: Any) -> Any:
        with explained(functions):
            return call(*arguments)

    return called


@contextlib.contextmanager
def explained(functions: Mapping[str, tuple[Callable[..., Any], str]]) -> Iterator[None]:
    """Turn errors in a user's functions into one sentence that names the line and the cause.

    `functions` are those that may be called, by "the draw of Geometric" and the like, each with the
    way it should be written. Errors from elsewhere pass.
    """
    try:
        yield
    except UnimodalError:
        raise
    except Exception as error:
        if isinstance(error, NumbaError | TypeError):
            for whose, (function, expected) in functions.items():
                check_signature(function, whose, expected)
        sentence = _of_raising(error, functions) or _of_compiling(error, functions)
        if sentence is None:
            raise
        raise UnimodalError(sentence) from (None if isinstance(error, NumbaError) else error)


def _of_raising(error: Exception, functions: Mapping[str, tuple[Callable[..., Any], str]]) -> Any:
    """The sentence about an exception in a user's function; None if it came from elsewhere."""
    found, step = None, error.__traceback__
    while step is not None:  # the last of them is the innermost
        code = step.tb_frame.f_code
        for whose, (function, _) in functions.items():
            own = code_of(function)
            if code.co_filename == own.co_filename and code.co_name == own.co_name:
                found = f"{whose} raised {_cause(error)} ({source_line(function, step.tb_lineno)})."
        step = step.tb_next
    return found


def _cause(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".removesuffix(": ").rstrip(".")


def _of_compiling(error: Exception, functions: Mapping[str, tuple[Callable[..., Any], str]]) -> Any:
    """The sentence about code that does not compile; None if it is not a user's."""
    for whose, (function, _) in functions.items():
        failure = _failures.get(code_of(function))
        if failure is not None:
            why, line = _numbas_words(failure, code_of(function))
            return (
                f"{whose} cannot be compiled: {why} ({source_line(function, line)}); keep to what "
                "Numba compiles, or leave out compiled = True."
            )
    if isinstance(error, NumbaError) and functions:
        whose, (function, _) = next(iter(functions.items()))
        why, _ = _numbas_words(error, code_of(function))
        return f"what calls {whose} cannot be compiled: {why} ({source_line(function)})."
    return None


def _numbas_words(failure: Exception, code: types.CodeType) -> tuple[str, int]:
    """Why a function does not compile, and in which line, from the pages that Numba writes."""
    text = str(failure)
    file = Path(code.co_filename).name
    places = (int(line) for path, line in _PLACES.findall(text) if Path(path).name == file)
    first = next(places, None) or _line_that_names(str(failure), code)
    if isinstance(failure, KeyError):  # of a record
        return f"an arm has no {failure}", first
    if not isinstance(failure, NumbaError):
        return _cause(failure), first
    lines = [line.lstrip(" >").rstrip(" .") for line in text.splitlines() if line.strip(" >.-")]
    lines = [line for line in lines if not line.startswith("Failed in nopython mode")]
    if lines[0].endswith(":") and len(lines) > 1:
        return f"{lines[0]} {lines[1]}", first
    return lines[0], first


def _line_that_names(text: str, code: types.CodeType) -> int:
    """The line of a function that uses what a text quotes, or else the first."""
    quoted = re.findall(r"'(\w+)'", text)
    lines = (
        i.positions.lineno
        for i in dis.get_instructions(code)
        if i.argval in quoted[:1] and i.positions
    )
    return next(filter(None, lines), code.co_firstlineno)


_PLACES = re.compile(r'File "(.+?)", line (\d+)')
