"""Whether a saved state is one that an agent can be in: compiled code trusts it.

With an arm that does not exist it would write anywhere, with more successes than pulls it would
look for a Beta draw for ever, and sums of 64 bits overflow. So whatever a file tells is compared
here with what can be, as Python's own numbers, before any array is made of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from unimodal.agents.limits import LONGEST_CAP, Cap
from unimodal.errors import LONGEST
from unimodal.families import Family
from unimodal.families.family import LARGEST
from unimodal.graphs.graph import is_itself
from unimodal.graphs.text import as_label
from unimodal.inference.late_rewards import (
    ABOVE,
    BINS,
    FIRST,
    MADE,
    NONE_LEFT,
    NOTES,
    SILENT,
    TAKEN,
    ZERO,
)
from unimodal.lookup.cache import COUNTS
from unimodal.policies import Discounted, Policy, Restarting, Windowed
from unimodal.policies.npts import Reweighed
from unimodal.policies.state import BEGUN, LAST, LEADER, REASON, REASONS, ROUND

COLUMNS = ("pulls", "total", "leads", "successes")  # of an arm, as a file has them
_ROUNDING = 1e-6  # of sums, where old rewards fade
_WORD = 2**64
_UNREWARDED = 10**8  # decisions at the end, at most: memory keeps a place for each
_LATE = 2**62  # leads at which something is to be done: later than any


def check_state(data: dict[str, Any], view: Any, policy: Policy, family: Family) -> None:
    """Raise a ValueError if what a file tells of an agent cannot be."""
    n_arms = view.n_arms
    _check_rounds(data, n_arms)
    past = sum(count for _, count, _ in data["past"]["arms"]) if "past" in data else 0
    late = data.get("late")
    in_shares = isinstance(policy, Discounted) or (late is not None and late["rule"] == "weigh")
    rows = _check_arms(data, n_arms, in_shares, LONGEST + past)
    if not _can_be(rows, family):
        raise ValueError("sums that cannot be")
    if isinstance(policy.index_for(family), Reweighed):
        _check_seen(data["seen"], rows, n_arms, family)
    _check_memory(data.get("memory", {}), rows, n_arms, policy, family, data["notes"][ROUND])
    for key, row in data.get("links", {}).items():
        _wholes([int(key), *_list(row)], 0, n_arms)
        if len(row) > view.room_for_links(int(key)):
            raise ValueError("more links than there is room for")
    if "decisions" in data:
        _check_book(data["decisions"], n_arms)
    if late is not None:
        check_late(late, data["decisions"], n_arms)
    if "past" in data:
        _check_past(data["past"], rows, n_arms, family)


def check_look_ups(data: dict[str, Any]) -> None:
    """Raise a ValueError if a file cannot have met these arms by look-ups."""
    labels = _labels(data["labels"])
    if not labels or len(set(labels)) != len(labels):
        raise ValueError("labels that are not one for each arm")
    n_arms = len(labels)
    _wholes([data["cache"]], 1, _LATE)
    rows = {arm: _list(row) for arm, row in _list(data["rows"])}
    if len(rows) < len(data["rows"]):
        raise ValueError("two rows of an arm")
    for arm, row in rows.items():
        _wholes([arm, *row], 0, n_arms)
        if row[:1] != [arm] or len(set(row)) != len(row):
            raise ValueError("a row that is not an arm and its neighbours")
    for arm, again, wait in _list(data["later"]):
        _wholes([arm], 0, n_arms)
        _wholes([again, wait], 0, _LATE)
    leader, due = data["leader"]
    _wholes([leader], -1, n_arms)
    _wholes([due], 0, _LATE)
    if leader >= 0 and leader not in rows:
        raise ValueError("a leader without neighbours")
    answers = [(as_label(label), _labels(answer)) for label, answer in _list(data["answers"])]
    if len({label for label, _ in answers}) < len(answers) or not all(a for _, a in answers):
        raise ValueError("answers that are not one for each arm")
    _labels([label for label, _ in answers])
    _labels([label for label, _ in _list(data["checksums"])])
    _wholes([number for _, number in data["checksums"]], 0, _LATE)
    _wholes([data["counts"][name] for name in COUNTS], 0, _LATE)


def check_first_pulls(arms: Any, n_arms: int) -> None:
    """Raise a ValueError if arms cannot have been first pulled in this order."""
    if arms is not None:
        _wholes(_list(arms), 0, n_arms)
        if len(set(arms)) != len(arms):
            raise ValueError("an arm first pulled twice")


def check_limits(data: dict[str, Any], view: Any) -> None:
    """Raise a ValueError if a file cannot have these limits."""
    paused, recent = _list(data["paused"]), _list(data.get("recent", []))
    _wholes(paused, 0, view.n_arms)
    _wholes(recent, -1, view.n_arms)
    if sorted(set(paused)) != paused or len(paused) >= view.n_arms:
        raise ValueError("arms that cannot be paused")
    if paused and not hasattr(view, "paused"):
        raise ValueError("paused arms of a graph known by look-up")
    if ("cap" in data) != ("recent" in data):
        raise ValueError("a cap without its decisions")
    if "cap" in data:
        share, over = data["cap"]
        _numbers([share])
        _wholes([over], 1, LONGEST_CAP + 1)
        if not 0 < share <= 1 or Cap(share, over).most < 1 or len(recent) >= over:
            raise ValueError("a cap that cannot be")


def _check_rounds(data: dict[str, Any], n_arms: int) -> None:
    notes, begin, stream = (_list(data[name]) for name in ("notes", "begin", "stream"))
    _wholes(notes, -1, LONGEST + 1)
    _wholes(begin, 0, n_arms)
    _wholes(stream, 0, _WORD)
    if len(notes) != 5 or len(stream) != 5 or not any(stream[:4]):  # of zeros come zeros, for ever
        raise ValueError("notes or a stream that cannot be")
    _wholes([notes[LAST], notes[LEADER]], -1, n_arms)
    _wholes([notes[ROUND]], 0, LONGEST + 1)
    _wholes([notes[BEGUN]], 0, len(begin) + 1)
    _wholes([notes[REASON]], 0, len(REASONS))


def _check_arms(data: dict[str, Any], n_arms: int, fading: bool, most: int) -> Any:
    """The rows of the arms: number, pulls, total, leads and successes."""
    rows = _list(data["arms"])
    if list(data.get("columns", ["arm", *COLUMNS])) != ["arm", *COLUMNS]:
        raise ValueError("other columns")
    if not all(type(row) is list and len(row) == 1 + len(COLUMNS) for row in rows):
        raise ValueError("arms with more or fewer numbers")
    arms, pulls, totals, leads, successes = zip(*rows, strict=True) if rows else ((),) * 5
    _wholes(arms, 0, n_arms)
    _wholes(leads, 0, most + 1)
    _numbers([*pulls, *totals, *successes])
    if not fading:
        _wholes(pulls, 0, most + 1)
    if len(set(arms)) != len(arms) or min(pulls, default=0) < 0 or sum(pulls) > most:
        raise ValueError("an arm twice, or pulls that cannot be")
    return np.array(rows, dtype=np.float64).reshape(-1, 5)


def _can_be(rows: Any, family: Family) -> bool:
    """Whether so many pulls can have these totals and successes."""
    pulls, total, successes = rows[:, 1], rows[:, 2], rows[:, 4]
    fits = (successes >= -_ROUNDING) & (successes <= pulls + _ROUNDING)
    fits &= (pulls > 0) | ((total == 0) & (successes == 0))
    for end, sign in zip(_bounds(family), (1.0, -1.0), strict=True):
        slack = _ROUNDING * (1.0 + pulls) * (1.0 + abs(end))
        fits &= sign * (total - end * pulls) >= -slack
    return bool(fits.all())


def _check_seen(seen: Any, rows: Any, n_arms: int, family: Family) -> None:
    """Every reward that was learnt is there, and no other: room is made for as many as that."""
    if len(_list(seen)) != int(rows[:, 1].sum()) or not all(len(pair) == 2 for pair in seen):
        raise ValueError("other rewards than the arms have")
    arms, rewards = zip(*seen, strict=True) if seen else ((), ())
    _wholes(arms, 0, n_arms)
    _check_rewards(rewards, family)
    counts = np.bincount(np.array(arms, dtype=np.int64), minlength=n_arms)
    if not np.array_equal(counts, _by_arm(rows, n_arms)[:, 0]):
        raise ValueError("other rewards than the arms have")


def _check_past(past: dict[str, Any], rows: Any, n_arms: int, family: Family) -> None:
    """Past data are a part of what the arms have."""
    if type(past["certify"]) is not bool or not _list(past["arms"]):
        raise ValueError("past data that are none")
    arms, pulls, totals = zip(*past["arms"], strict=True)
    _wholes(arms, 0, n_arms)
    _wholes(pulls, 1, LONGEST + 1)
    _numbers(totals)
    if len(set(arms)) != len(arms) or sum(pulls) > LONGEST:
        raise ValueError("past data of an arm twice, or more than are taken")
    told = {int(arm): (count, total) for arm, count, total, *_ in rows}
    for arm, count, total in past["arms"]:
        if arm not in told or count > told[arm][0]:
            raise ValueError("more past data than the arm has pulls")
        later = [[arm, told[arm][0] - count, told[arm][1] - total, 0, 0]]
        if not _can_be(np.array([[arm, count, total, 0, 0]]), family):
            raise ValueError("past sums that cannot be")
        if later[0][1] > 0 and not _can_be(np.array(later), family):
            raise ValueError("sums beside past ones that cannot be")


def _check_memory(
    memory: dict[str, Any], rows: Any, n_arms: int, policy: Policy, family: Family, rounds: int
) -> None:
    """A memory is as large as the policy's: it is made anew, and then filled."""
    if not isinstance(policy, Windowed | Restarting):
        if memory:
            raise ValueError("a memory of a policy that has none")
        return
    learnt = _list(memory["learnt"])
    _wholes(learnt, 0, LONGEST + 1)
    if isinstance(policy, Windowed):
        if len(learnt) != 1 or len(memory) != 2:
            raise ValueError("a memory of another kind")
        _check_filled(memory["ring"], learnt[0], policy.window)
        ring = _table(memory["ring"], len(memory["ring"]), 3)
        _check_window(ring[: learnt[0]], rows, n_arms, family)
        return
    rewards = _list(memory["rewards"])
    sums = _table(memory["sums"], n_arms, 2)
    _wholes(_list(memory["restarts"]), 0, rounds + 1)
    sizes = (len(learnt), len(rewards), len(memory["restarts"]), len(memory))
    if sizes != (n_arms, n_arms, 2, 4):
        raise ValueError("a memory of another kind")
    for kept, count in zip(rewards, learnt, strict=True):
        _check_filled(kept, count, policy.window)
        _check_rewards(kept[:count], family)
        _numbers(kept[count:])
    ends = [0.0, *(policy.window * end for end in _bounds(family))]
    if not ((sums >= min(ends) - _ROUNDING) & (sums <= max(ends) + _ROUNDING)).all():
        raise ValueError("sums that cannot be")


def _check_filled(kept: Any, learnt: int, window: int) -> None:
    """A window is as long as rewards have filled it; older files have the rest of it as well."""
    if len(_list(kept)) not in (min(learnt, window), window):
        raise ValueError("a memory of another size")


def _check_window(ring: Any, rows: Any, n_arms: int, family: Family) -> None:
    """What a window holds is what its arms have: it is taken from them when it is too old."""
    numbers = ring[:, 0].astype(np.int64)
    if not (numbers == ring[:, 0]).all() or not np.isin(ring[:, 2], (0.0, 1.0)).all():
        raise ValueError("rewards of no arm")
    _wholes(numbers.tolist(), 0, n_arms)
    _check_rewards(ring[:, 1].tolist(), family)
    told = _by_arm(rows, n_arms)  # not their totals, in which a large reward leaves a trace
    for column, weights in zip(told.T, (np.ones(len(ring)), ring[:, 2]), strict=True):
        if not np.allclose(np.bincount(numbers, weights, n_arms), column, rtol=_ROUNDING):
            raise ValueError("a window that holds something else than its arms have")


def _by_arm(rows: Any, n_arms: int) -> Any:
    """Pulls and successes of every arm."""
    told = np.zeros((n_arms, 2))
    told[rows[:, 0].astype(np.int64)] = rows[:, [1, 4]]
    return told


def _check_book(book: dict[str, Any], n_arms: int) -> None:
    made, now, waiting = book["made"], book["now"], _list(book["open"])
    _wholes([made], 0, LONGEST + 1)
    _numbers([] if now is None else [now])
    numbers, arms, times = zip(*waiting, strict=True) if waiting else ((), (), ())
    _wholes(numbers, 1, made + 1)
    _wholes(arms, -1, n_arms)
    _numbers(times)
    if sorted(set(numbers)) != list(numbers):
        raise ValueError("decisions out of order")
    arms_made = _list(book.get("arms", []))
    _wholes(arms_made, -1, n_arms)
    rewards = _list(book.get("rewards", []))
    _numbers(reward for reward in rewards if reward is not None)
    behind = _list(book.get("told", []))
    counts, arms_told, rewards_told = zip(*behind, strict=True) if behind else ((), (), ())
    _wholes(counts, 0, made + 1)
    _wholes(arms_told, -1, n_arms)
    _numbers(rewards_told)
    if sorted(counts) != list(counts):
        raise ValueError("rewards out of order")
    if len(arms_made) not in (0, made):
        raise ValueError("arms of other decisions than were made")
    if len(rewards) > made or ("rewards" in book and made > len(rewards) + _UNREWARDED):
        raise ValueError("rewards of decisions that were not made, or of far too few")


def check_late(late: dict[str, Any], book: dict[str, Any], n_arms: int) -> None:
    """Raise a ValueError if a rule for late rewards cannot be so: compiled code trusts it."""
    if late["rule"] not in ("weigh", "hold") or book["time_to_live"] is None:
        raise ValueError("a rule for late rewards that is none")
    if late["rule"] == "hold":
        rows = zip(*_list(late["held"]), strict=True) if late["held"] else ((),) * 4
        numbers, arms, times, rewards = rows
        _wholes(numbers, 1, book["made"] + 1)
        _wholes(arms, -1, n_arms)
        _numbers([*times, *rewards])
        return
    notes, left = _list(late["notes"]), _list(late["left"])
    _wholes(notes, 0, LONGEST + 2)
    if len(notes) != NOTES or len(left) != BINS:
        raise ValueError("notes of another size")
    made, first, taken = (notes[place] for place in (MADE, FIRST, TAKEN))
    _wholes(left, first, made + 2)
    if not first - 1 <= taken <= made <= book["made"] or first != left[-1]:
        raise ValueError("decisions that cannot be")
    if sorted(left, reverse=True) != left or left[0] > taken + 1:
        raise ValueError("decisions that cannot have grown older")
    for name, width in (("delays", BINS), ("at_risk", BINS), ("shares", BINS + 1)):
        if _table(late[name], 2, width).min() < 0.0:
            raise ValueError("delays that cannot be")
    _check_waiting(late, made + 1 - first, n_arms)


def _check_waiting(late: dict[str, Any], count: int, n_arms: int) -> None:
    """The decisions that are weighed, and what arms have of them."""
    times, _, kinds, bins = _table(late["young"], count, 4).T if count else ((),) * 4
    if not (np.isin(kinds, (SILENT, ZERO, ABOVE)).all() and np.isin(bins, np.arange(BINS)).all()):
        raise ValueError("outcomes that cannot be")
    _wholes([arm for _, arm, *_ in late["young"]], -1, n_arms)
    if sorted(times) != list(times):
        raise ValueError("decisions out of order")
    sums = _table(late["sums"], len(_list(late["sums"])), 6)
    _numbers([*late["last"], late["now"]])
    _wholes(_list(late["changed"]), 0, n_arms)
    if sorted(set(late["changed"])) != late["changed"]:
        raise ValueError("arms that cannot have changed")
    _wholes([late["last"][0]], NONE_LEFT, n_arms)
    _wholes([arm for arm, *_ in late["sums"]], 0, n_arms)
    if not {arm for _, arm, *_ in late["young"]} <= {-1, *sums[:, 0].tolist()}:
        raise ValueError("decisions of arms without sums")
    if len(set(sums[:, 0])) != len(sums) or not (sums[:, 1] >= sums[:, 2]).all():
        raise ValueError("sums of an arm that cannot be")


def _check_rewards(rewards: Iterable[Any], family: Family) -> None:
    low, high = _bounds(family)
    for reward in rewards:
        if type(reward) not in (int, float) or not low <= reward <= high:
            raise ValueError("a reward that the family does not have")


def _bounds(family: Family) -> tuple[float, float]:
    """The least and the largest reward that is ever taken."""
    return max(family.low, -LARGEST), min(family.high, LARGEST)


def _list(value: Any) -> list[Any]:
    if type(value) is not list:
        raise ValueError("something else than a list")
    return value


def _wholes(values: Iterable[Any], low: int, high: int) -> None:
    """Refuse what is not a whole number, or lies outside of low … high - 1."""
    for value in values:
        if type(value) is not int or not low <= value < high:
            raise ValueError("a number that cannot be")


def _numbers(values: Iterable[Any]) -> None:
    """Refuse what is not a finite number that a float holds."""
    largest = float(np.finfo(np.float64).max)
    for value in values:
        if type(value) not in (int, float) or not -largest <= value <= largest:
            raise ValueError("a number that cannot be")


def _table(rows: Any, height: int, width: int) -> Any:
    """Rows of numbers, as an array, if they are as many and as long as they must be."""
    if len(_list(rows)) != height or not all(type(r) is list and len(r) == width for r in rows):
        raise ValueError("a memory of another size")
    for row in rows:
        _numbers(row)
    return np.array(rows, dtype=np.float64).reshape(height, width)


def _labels(data: Any) -> list[Any]:
    """Labels that arms can have."""
    labels = [as_label(label) for label in _list(data)]
    for label in labels:
        hash(label)
        if label is None or not is_itself(label):
            raise ValueError("a label that no arm can have")
    return labels
