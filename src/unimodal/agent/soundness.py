"""Whether a saved state is one that an agent can be in: compiled code trusts it.

With an arm that does not exist it would write anywhere, and with more successes than pulls it would
look for a Beta draw for ever.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unimodal.families import Family
from unimodal.policies.state import BEGUN, LAST, LEADER, REASON, REASONS, ROUND

_ROUNDING = 1e-6  # of sums, where old rewards fade


def check_state(data: dict[str, Any], n_arms: int, family: Family) -> None:
    """Raise a ValueError if what a file tells of an agent cannot be."""
    try:
        rows = np.asarray(data["arms"], dtype=np.float64).reshape(-1, 5)
        notes = np.asarray(data["notes"], dtype=np.int64)
        stream = np.asarray(data["stream"], dtype=np.uint64)
    except OverflowError:
        raise ValueError("a number that is too large") from None
    if notes.shape != (5,) or stream.shape != (5,):
        raise ValueError("notes or a stream of another size")
    book = data.get("decisions", {})
    known = [*rows[:, 0], *data["begin"], *map(int, data.get("links", {}))]
    known += [arm for row in data.get("links", {}).values() for arm in row]
    some = [notes[LAST], notes[LEADER], *(arm for _, arm, _ in book.get("open", ()))]
    if not (_between(known, 0, n_arms) and _between(some, -1, n_arms)):
        raise ValueError("an arm that the graph does not have")
    if not (
        notes[ROUND] >= 0
        and 0 <= notes[BEGUN] <= len(data["begin"])
        and 0 <= notes[REASON] < len(REASONS)
        and all(1 <= number <= book["made"] for number, _, _ in book.get("open", ()))
    ):
        raise ValueError("counts that cannot be")
    if not (np.isfinite(rows).all() and (rows[:, 1:4:2] >= 0).all() and _can_be(rows, family)):
        raise ValueError("sums that cannot be")
    memory = {name: np.asarray(kept, np.float64) for name, kept in data.get("memory", {}).items()}
    if not all(np.isfinite(kept).all() for kept in memory.values()):
        raise ValueError("a memory that cannot be")
    if "ring" in memory:
        _check_window(memory["ring"][: int(memory["learnt"][0])], rows, n_arms)


def _check_window(ring: Any, rows: Any, n_arms: int) -> None:
    """What a window holds is what its arms have: it is taken from them when it is too old."""
    numbers = ring[:, 0].astype(np.int64)
    if not _between(numbers, 0, n_arms):
        raise ValueError("a reward of an arm that the graph does not have")
    told = np.zeros((n_arms, 2))  # not their totals, in which a large reward leaves a trace
    told[rows[:, 0].astype(np.int64)] = rows[:, [1, 4]]
    for column, weights in zip(told.T, (np.ones(len(ring)), ring[:, 2]), strict=True):
        if not np.allclose(np.bincount(numbers, weights, n_arms), column, rtol=_ROUNDING):
            raise ValueError("a window that holds something else than its arms have")


def _between(arms: Any, low: int, high: int) -> bool:
    return all(low <= arm < high for arm in arms)


def _can_be(rows: Any, family: Family) -> bool:
    """Whether so many pulls can have these totals and successes."""
    pulls, total, successes = rows[:, 1], rows[:, 2], rows[:, 4]
    fits = (successes >= -_ROUNDING) & (successes <= pulls + _ROUNDING)
    for bound, sign in ((family.low, 1.0), (family.high, -1.0)):
        if np.isfinite(bound):
            slack = _ROUNDING * (1.0 + pulls) * (1.0 + abs(bound))
            fits &= sign * (total - bound * pulls) >= -slack
    return bool(fits.all())
