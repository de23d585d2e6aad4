"""One-sentence errors: what was expected, what came, and what to do about it."""

from __future__ import annotations

import difflib
import functools
import math
import os
import reprlib
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

from unimodal.escape_text import printable

URN = "urn:unimodal:error:"  # and the class of an error: its type over HTTP (RFC 9457)
LONGEST = 10**15  # rounds are counted in 64 bits; so many would take years
_SENTENCE = 2_000  # characters: a stranger may have written what it quotes


class UnimodalError(ValueError):
    """A mistake in what the library was given; the message says how to mend it.

    Parameters
    ----------
    sentence
        What was expected, what came, and what to do.

    Examples
    --------
    >>> from unimodal.graphs import line
    >>> line(1)
    Traceback (most recent call last):
        ...
    unimodal.errors.UnimodalError: the 'n_arms' of line must be a whole number of at least 2, got 1.
    """

    def __init__(self, sentence: str) -> None:
        """Keep the sentence, which may quote a stranger: it steers no terminal and fits on it."""
        text = printable(sentence)
        if len(text) > _SENTENCE:
            text = f"{text[: 3 * _SENTENCE // 4]} … {text[-_SENTENCE // 4 + 3 :]}"
        super().__init__(text)


class UnknownDecision(UnimodalError):
    """A reward was told for a decision that was never made."""


class ExpiredDecision(UnimodalError):
    """A reward came after its decision's `time_to_live`: it does not count."""


class ConflictingReward(UnimodalError):
    """A decision has another reward already: the first one counts."""


class OtherCampaign(UnimodalError):
    """A campaign was opened with other settings than it has."""


class StoreError(UnimodalError):
    """The file of a campaign could not be read or written; nothing of the call was kept."""


class Busy(StoreError):
    """Others kept the file busy for longer than `wait`: the call may be made again."""


class ReadOnly(StoreError):
    """The file or its folder cannot be written here."""


class TooManyOpenFiles(StoreError):
    """As many files and connections are open in this process as the system lets."""


class DamagedFile(StoreError):
    """The file has something in it that cannot be: it was changed by hand, or is damaged."""


class WrongVersion(StoreError):
    """The file has the format of another version of unimodal."""


class UnknownCampaign(UnimodalError):
    """A service has no campaign of this name."""


class CampaignExists(UnimodalError):
    """A service has a campaign of this name already."""


class CampaignEnded(UnimodalError):
    """The owner of a campaign has ended it: it decides no more, and still takes rewards."""


class ServiceError(UnimodalError):
    """A service did not answer a request, for a reason that no campaign has."""


class NotAuthenticated(ServiceError):
    """No token was sent, or one that the service does not know."""


class NotAllowed(ServiceError):
    """The token's roles or campaigns do not cover the request."""


class InvalidRequest(ServiceError):
    """The request itself is wrong: its JSON, a field, its type, an address, a method."""


class TooLarge(ServiceError):
    """A body, a batch or a graph is larger than the service takes."""


class TooManyRequests(ServiceError):
    """A token was used more often than the service allows, or an address without one."""

    seconds: int = 1  # to wait


class Overloaded(ServiceError):
    """Too many calls wait already, or the service cannot be reached: try again a little later."""


def unknown_name(kind: str, name: object, valid: Iterable[str]) -> UnimodalError:
    """The error for a wrong name, with the closest valid one.

    >>> print(unknown_name("policy", "utss", ["uts", "osub"]))
    unknown policy 'utss': did you mean 'uts'? Known are uts, osub.
    """
    names = list(valid)
    close = difflib.get_close_matches(str(name)[:80].lower(), names, n=1)
    hint = f"did you mean '{close[0]}'? " if close else ""
    return UnimodalError(f"unknown {kind} '{name!s:.80}': {hint}Known are {', '.join(names)}.")


def whole_number(value: Any, what: str, at_least: int = 1, at_most: int | None = None) -> int:
    """Return `value` as an int, or refuse it; `what` names it in the sentence.

    `at_most` is for what compiled code counts in 64 bits, or memory has to hold.

    >>> whole_number(1e5, "the horizon")
    100000
    """
    ok = isinstance(value, Integral) or (math.isfinite(_as_float(value)) and value == int(value))
    if not ok or isinstance(value, bool) or value < at_least:
        raise UnimodalError(
            f"{what} must be a whole number of at least {at_least}, got {_quoted(value)}."
        )
    if at_most is not None and value > at_most:
        raise UnimodalError(f"{what} must be at most {at_most:g}, got {_quoted(value)}.")
    return int(value)


def real_number(value: Any, what: str, above: float = -math.inf) -> float:
    """Return `value` as a finite float greater than `above`, or refuse it.

    >>> real_number(2, "sigma", above=0)
    2.0
    """
    number = math.nan if isinstance(value, bool) else _as_float(value)
    if not math.isfinite(number) or number <= above:
        bound = "" if above == -math.inf else f" greater than {above:g}"
        raise UnimodalError(f"{what} must be a finite number{bound}, got {_quoted(value)}.")
    return number


def not_negative(value: Any, what: str) -> float:
    """Return `value` as a finite float of at least 0, or refuse it.

    >>> not_negative(3, "the 'c' of OSUB")
    3.0
    """
    number = real_number(value, what)
    if number < 0:
        raise UnimodalError(f"{what} must be at least 0, got {value!r}.")
    return number


def refuse_set(values: Any, what: str) -> None:
    """Refuse a set where the order counts: it has one of its own, another in every process."""
    if isinstance(values, set | frozenset):
        raise UnimodalError(
            f"{what} must be in an order, as a list has, got a set, {reprlib.repr(values)}: "
            "make it a list."
        )


def check_memory(n_bytes: float, what: str) -> None:
    """Refuse what this machine has no memory for, before it is asked for; `what` names it."""
    there = _memory()
    if n_bytes > there:
        raise UnimodalError(
            f"{what} would take {n_bytes / 2**30:,.3g} GiB of memory, more than the "
            f"{there / 2**30:.3g} that there are: take less of it."
        )


@functools.cache
def _memory() -> float:
    """The memory of this machine, in bytes; infinite where the system does not tell."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):  # Windows
        return math.inf


def _quoted(value: Any) -> str:
    try:
        return repr(value)
    except ValueError:
        return "a number of more digits than Python writes"


def _as_float(value: Any) -> float:
    try:
        return float(value) if isinstance(value, Real) else math.nan
    except OverflowError:  # a whole number with more than 308 digits
        return math.inf
