"""A history that goes wrong is made shorter: steps, calls and faults are left out while it does.

It is delta debugging (Zeller and Hildebrandt 2002) over the list of steps, then over the calls and
the faults of each. Steps have seeds of their own, so those that are left go on as they did.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

Run = Callable[[dict[str, Any]], str | None]


def shrunk(history: dict[str, Any], run: Run, tries: int = 400) -> dict[str, Any]:
    """The shortest history found that goes wrong in the same way.

    Parameters
    ----------
    history
        One that goes wrong.
    run
        Says what is wrong with a history.
    tries
        How often it may be asked.

    Returns
    -------
    dict[str, Any]
        The history; as it was, where nothing could be left out.

    Examples
    --------
    >>> history = {"steps": [{"calls": [n], "faults": []} for n in range(20)]}
    >>> def run(history):
    ...     found = {n for step in history["steps"] for n in step["calls"]}
    ...     return "3 and 17" if {3, 17} <= found else None
    >>> [step["calls"] for step in shrunk(history, run)["steps"]]
    [[3], [17]]
    """
    wanted, left = _kind(run(history)), [tries]

    def fails(steps: Sequence[Any]) -> bool:
        left[0] -= 1
        return left[0] >= 0 and _kind(run({**history, "steps": list(steps)})) == wanted

    steps = _without(list(history["steps"]), fails)
    for name in ("faults", "calls"):
        for place in range(len(steps)):
            steps = _with_less(steps, place, name, fails)
    return {**history, "steps": _without(steps, fails)}


def _with_less(
    steps: list[Any], place: int, name: str, fails: Callable[[Sequence[Any]], bool]
) -> list[Any]:
    """The steps, with fewer calls or faults in one of them."""

    def other(part: Sequence[Any]) -> list[Any]:
        return [*steps[:place], {**steps[place], name: list(part)}, *steps[place + 1 :]]

    return other(_without(steps[place][name], lambda part: fails(other(part))))


def _without(parts: list[Any], fails: Callable[[Sequence[Any]], bool]) -> list[Any]:
    """The parts, without those that can be left out: halves first, then quarters, and so on."""
    size = max(len(parts) // 2, 1)
    while parts:
        first, before = 0, len(parts)
        while first < len(parts):
            rest = parts[:first] + parts[first + size :]
            if fails(rest):
                parts = rest
            else:
                first += size
        if size == 1 and len(parts) == before:
            break
        size = max(size // 2, 1)
    return parts


def _kind(wrong: str | None) -> str | None:
    """What kind of thing is wrong: its first words, without numbers."""
    return None if wrong is None else re.sub(r"[\d.]+", "0", wrong)[:40]
