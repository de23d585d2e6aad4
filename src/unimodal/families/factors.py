"""How the factors of `Scaled` are given, kept and saved.

They are kept as data that can be compared and hashed: a number, the function `float`, a tuple of
numbers in the order of the arms, or a tuple of pairs of a label and a number.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from unimodal.errors import UnimodalError, real_number, refuse_set

LARGEST_FACTOR = 1e50  # products with the largest reward stay finite
_SHOWN = 3  # factors, when they are printed: a heading has room for no more


def spelt(by: Any) -> Any:
    """Factors as they are kept, from whatever way they were given in."""
    if by is float:
        return by
    refuse_set(by, "the 'by' of Scaled")
    if isinstance(by, Mapping):
        pairs = tuple((label, _checked(factor, _of(label))) for label, factor in by.items())
        if pairs:
            return pairs
    elif is_by_label(by):
        return spelt(dict(by))
    elif isinstance(by, str | bytes) or callable(by) or not hasattr(by, "__len__"):
        return _checked(by, "the 'by' of Scaled, a mapping, a sequence, float or a number,")
    elif len(by):
        return tuple(_checked(factor, _of(arm)) for arm, factor in enumerate(by))
    raise UnimodalError(f"the 'by' of Scaled must have a factor for every arm, got {by!r}.")


def is_by_label(by: Any) -> bool:
    """Whether factors are kept by label."""
    return isinstance(by, tuple) and bool(by) and isinstance(by[0], tuple)


def is_in_order(by: Any) -> bool:
    """Whether they are kept in the order of the arms, whose labels are not known yet."""
    return isinstance(by, tuple) and not is_by_label(by)


def values(by: Any) -> list[float]:
    """The factors themselves; none where labels are the factors."""
    if by is float:
        return []
    if isinstance(by, float):
        return [by]
    return [factor for _, factor in by] if is_by_label(by) else list(by)


def of_label(label: Hashable) -> float:
    """The factor that a label itself is."""
    what = f"float({label!r}), the factor of an arm of Scaled(by=float),"
    try:
        return _checked(float(label) if isinstance(label, str) else label, what)
    except ValueError:
        raise UnimodalError(f"{what} must be a number: use a mapping from labels.") from None


def _of(label: Any) -> str:
    return f"the factor of arm {label!r} of Scaled"


def _checked(value: Any, what: str) -> float:
    factor = real_number(value, what, above=0)
    if not 1 / LARGEST_FACTOR <= factor <= LARGEST_FACTOR:
        raise UnimodalError(
            f"{what} must lie between {1 / LARGEST_FACTOR:g} and {LARGEST_FACTOR:g}, got "
            f"{factor:g}: use another unit."
        )
    return factor


def shown(by: Any) -> str:
    """Factors as a person would write them; of many, the first."""
    if by is float:
        return "float"
    if isinstance(by, float):
        return repr(by)
    some = repr(dict(by[:_SHOWN]) if is_by_label(by) else list(by[:_SHOWN]))
    left = len(by) - _SHOWN
    return f"{some[:-1]}, … {left:,} more{some[-1]}" if left > 0 else some


def to_data(by: Any) -> Any:
    """Factors as JSON data: a number, "float", a list of numbers or of pairs."""
    if by is float:
        return "float"
    if isinstance(by, float):
        return by
    return [list(pair) for pair in by] if is_by_label(by) else list(by)


def from_data(data: Any) -> Any:
    """The factors that `to_data` described."""
    if isinstance(data, list) and data and isinstance(data[0], list):
        return {_as_label(label): factor for label, factor in data}
    return float if data == "float" else data


def _as_label(data: Any) -> Any:
    return tuple(map(_as_label, data)) if isinstance(data, list) else data
