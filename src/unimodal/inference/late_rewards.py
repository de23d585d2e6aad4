"""Rewards that come late: how many decisions of an arm count, by what their ages say.

A sale comes late and a refusal later or never, so a decision without a reward says something, and
the more the older it is. What it says goes by two shares of its age: how many of the rewards above
0 have come by then, and how many of the zeros (docs/theory/late-rewards.md). Both are learnt from
the delays of all arms together, by the product-limit estimator for delays that are cut off on the
right (Lynden-Bell 1971; Keiding and Gill 1990): young decisions show short delays only.

Everything is counted by age, in bins that grow with the age, so that nothing takes longer where
more decisions wait: a decision moves from bin to bin, and leaves the last one at its time to live.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unimodal.kernels.compile import inner

BINS = 70
_YOUNGEST = 1e-4  # of the time to live: where the first bin ends
PRIOR = 1.0 / 3.0  # how many rewards the prior of the delays is worth
ENOUGH = 5.0  # so many rewards must have been seen of decisions of an age to speak of that age
_MATTERS = 5e-3  # of an arm's pulls and one more: a smaller change need not be written at once
_RENEWED = 64  # times in which as many delays become known as were known before
ZERO, ABOVE = 0, 1  # kinds of rewards: those that are 0, and all others
SILENT = -1  # a decision without a reward

# A decision that is younger than its time to live.
YOUNG = np.dtype(
    [("time", np.float64), ("arm", np.int64), ("kind", np.int32), ("bin", np.int32)], align=True
)
# What is known of an arm's decisions.
SUMS = np.dtype(
    [
        ("closed", np.float64),  # C: decisions with a reward, or whose time is over
        ("rewarded", np.float64),  # S: those whose reward is not 0
        ("young", np.int64),  # decisions younger than their time to live
        ("expected", np.float64),  # D: what these add, sold or silent, each by its age
        ("unwritten", np.float64),  # by how much D has changed since pulls were written
        ("extra", np.float64),  # pulls that its record has beyond those that were learnt
        ("is_changed", np.int64),
        ("is_active", np.int64),
        ("changed", np.int64),  # not of this arm: the arms whose pulls must be written again,
        ("active", np.int64),  # and those with young decisions, one after the other
    ],
    align=True,
)
# Places in `Late.notes`.
MADE, FIRST, TAKEN, CHANGED, ACTIVE, FRESH, KNOWN, ZEROS, ABOVES, PAST = range(10)
NOTES = 10
NONE_LEFT = (
    -2
)  # in the place of an arm: no decision is left to be noted (-1: of an arm that is gone)


class Late(NamedTuple):
    """What is known of decisions that wait, and of delays, by bins of age."""

    edges: Any  # (BINS + 1,): bin j is from edges[j] to edges[j + 1], the last is the time to live
    delays: Any  # (2, BINS): rewards of each kind that took so long, once the bin was over
    at_risk: Any  # (2, BINS): rewards that took at most so long, of decisions beyond the bin
    shares: Any  # (2, BINS + 1): of the rewards of each kind that come in time, by each edge
    weight: Any  # (BINS,): what a decision of that age adds to D
    left: Any  # (BINS,): the number of the first decision that has not left the bin
    pooled: Any  # (BINS,): young decisions of all arms
    ages: Any  # (arms, BINS): young decisions of each
    sums: Any  # (arms,) of SUMS
    ring: Any  # of YOUNG, by the last digits of the number of a decision
    notes: Any


class LateArrays(NamedTuple):
    """The arrays that `Late` has views of: few, since a call from Python takes time for each."""

    numbers: Any  # (8, BINS + 1)
    counts: Any  # (3, BINS)
    ages: Any
    sums: Any
    ring: Any


def new_late(n_arms: int, time_to_live: float, room: int = 64) -> LateArrays:
    """Nothing known; with room for `room` young decisions, a power of two."""
    arrays = LateArrays(
        np.zeros((8, BINS + 1)),
        np.zeros((3, BINS), np.int64),
        np.zeros((n_arms, BINS), np.int32),
        np.zeros(n_arms, SUMS),
        np.zeros(room, YOUNG),
    )
    late = viewed(arrays)
    late.edges[:] = age_edges(time_to_live)
    late.left[:] = late.notes[FIRST] = 1
    renew(late)
    return arrays


@inner
def viewed(arrays):
    """The arrays by what they mean."""
    numbers, counts = arrays.numbers, arrays.counts
    bins = counts.shape[1]
    return Late(
        numbers[0],
        numbers[1:3, :bins],
        numbers[3:5, :bins],
        numbers[5:7],
        numbers[7, :bins],
        counts[0],
        counts[1],
        arrays.ages,
        arrays.sums,
        arrays.ring,
        counts[2],
    )


def in_python(late: Late) -> Late:
    """The same for code that is not compiled, which reads records by attributes."""
    records = {name: getattr(late, name).view(np.recarray) for name in ("sums", "ring")}
    return late._replace(**records)


def age_edges(time_to_live: float) -> NDArray[np.float64]:
    """The ends of the bins: 0, then in equal ratios to the time to live.

    >>> age_edges(7.0)[[0, 1, 69, 70]].round(4).tolist()
    [0.0, 0.0007, 6.1253, 7.0]
    """
    edges = np.zeros(BINS + 1)
    edges[1:] = time_to_live * np.geomspace(_YOUNGEST, 1.0, BINS)
    edges[-1] = time_to_live
    return edges


def with_room_for(arrays: LateArrays, n_arms: int, decisions: int) -> LateArrays:
    """The same with room for so many arms, and for more decisions to be made."""
    notes = viewed(arrays).notes
    young = int(notes[MADE] - notes[FIRST]) + 1
    if young + decisions > len(arrays.ring):
        ring = np.zeros(1 << (2 * (young + decisions) - 1).bit_length(), YOUNG)
        numbers = np.arange(notes[FIRST], notes[MADE] + 1)
        ring[numbers & (len(ring) - 1)] = arrays.ring[numbers & (len(arrays.ring) - 1)]
        arrays = arrays._replace(ring=ring)
    if n_arms > len(arrays.sums):
        grown = {}
        for name in ("ages", "sums"):
            old = getattr(arrays, name)
            grown[name] = np.zeros((n_arms + n_arms // 4, *old.shape[1:]), old.dtype)
            grown[name][: len(old)] = old
        arrays = arrays._replace(**grown)
    return arrays


@inner
def bin_of(late, begin, time):
    """How many bins a decision of time `begin` has left behind at a time."""
    low, high = 0, len(late.weight)
    while low < high:
        middle = (low + high) >> 1
        if begin + late.edges[middle + 1] <= time:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def note_decision(late, arm, time):
    """Note the next decision; it counts from the next `pass_time` on."""
    late.notes[MADE] += 1
    entry = late.ring[late.notes[MADE] & (len(late.ring) - 1)]
    entry.time, entry.arm, entry.kind, entry.bin = time, arm, SILENT, 0


@inner
def note_outcome(late, arm, number, kind, happened, now):
    """Note that a decision was closed by a reward of this kind, which came at some time.

    `pass_time` must have been called with this `now`. A decision that is not young any more counts
    as closed already.
    """
    notes, sums = late.notes, late.sums[arm]
    if kind == ABOVE:
        sums.rewarded += 1.0
    _mark(late, arm)
    if number < notes[FIRST]:
        return
    sums.closed += 1.0
    entry = late.ring[number & (len(late.ring) - 1)]
    took = bin_of(late, entry.time, happened)
    reached = bin_of(late, entry.time, now)
    entry.kind, entry.bin = kind, took
    notes[ABOVES if kind == ABOVE else ZEROS] += 1
    if took < reached:  # it was told later than it happened
        _note_delay(late, kind, took)
        for later in range(took, reached):
            late.at_risk[kind, later] += 1.0


@inner
def _note_delay(late, kind, took):
    late.delays[kind, took] += 1.0
    late.notes[FRESH] += 1
    late.notes[KNOWN] += 1


@inner
def _add(late, sums, arm, gained):
    """Change what an arm's young decisions add; its pulls are written again if it matters."""
    sums.expected += gained
    sums.unwritten += gained
    if abs(sums.unwritten) > _MATTERS * (1.0 + sums.closed + sums.expected):
        _mark(late, arm)


@inner
def _mark(late, arm):
    sums = late.sums[arm]
    if sums.is_changed == 0:
        sums.is_changed = 1
        late.sums[late.notes[CHANGED]].changed = arm
        late.notes[CHANGED] += 1


@inner
def pass_time(late, now):
    """Let decisions grow older, and learn from the delays that have become known by it."""
    notes, ring, weight = late.notes, late.ring, late.weight
    _take_in(late)
    last, mask = len(weight) - 1, len(ring) - 1
    for j in range(last + 1):
        number, edge = late.left[j], late.edges[j + 1]
        limit = notes[MADE] if j == 0 else late.left[j - 1] - 1
        while number <= limit:
            entry = ring[number & mask]
            if entry.time + edge > now:
                break
            _leave(late, entry, j, last)
            number += 1
        late.left[j] = number
    notes[FIRST] = late.left[last]
    if notes[FRESH] * _RENEWED >= notes[KNOWN] and notes[FRESH] > 0:
        renew(late)


@inner
def _take_in(late):
    """Count the decisions that were made since the last time."""
    notes = late.notes
    for number in range(notes[TAKEN] + 1, notes[MADE] + 1):
        arm = late.ring[number & (len(late.ring) - 1)].arm
        late.pooled[0] += 1
        if arm >= 0:
            sums = late.sums[arm]
            sums.young += 1
            _add(late, sums, arm, late.weight[0])
            late.ages[arm, 0] += 1
            if sums.is_active == 0:
                sums.is_active = 1
                late.sums[notes[ACTIVE]].active = arm
                notes[ACTIVE] += 1
    notes[TAKEN] = notes[MADE]


@inner
def _leave(late, entry, j, last):
    """Move a decision from bin j to the next one, or out of the last."""
    arm, kind, gained = entry.arm, entry.kind, -late.weight[j]
    late.pooled[j] -= 1
    if j < last:
        late.pooled[j + 1] += 1
        gained += late.weight[j + 1]
    else:
        late.notes[PAST] += 1
    if arm >= 0:
        sums = late.sums[arm]
        late.ages[arm, j] -= 1
        if j < last:
            late.ages[arm, j + 1] += 1
        else:
            sums.young -= 1
            if kind == SILENT:  # its time is over, so it is closed
                sums.closed += 1.0
                _mark(late, arm)
        _add(late, sums, arm, gained)
    if kind >= 0 and entry.bin <= j:
        late.at_risk[kind, j] += 1.0
        if entry.bin == j:
            _note_delay(late, kind, j)


@inner
def renew(late):
    """Work out the shares by the delays that are known now, and what each arm's decisions add."""
    notes, bins = late.notes, len(late.weight)
    notes[FRESH] = 0
    for kind in range(2):
        product_limit(late.delays[kind], late.at_risk[kind], late.edges, late.shares[kind])
    _weigh_zeros(late)
    above, zero = late.shares[ABOVE], late.shares[ZERO]
    for j in range(bins):
        late.weight[j] = 0.5 * (above[j] + above[j + 1] - zero[j] - zero[j + 1])
    left = 0
    for place in range(notes[ACTIVE]):
        arm = late.sums[place].active
        sums = late.sums[arm]
        sums.expected = 0.0
        if sums.young > 0:
            for j in range(bins):
                sums.expected += late.ages[arm, j] * late.weight[j]
            late.sums[left].active = arm
            left += 1
        else:
            sums.is_active = 0
        _mark(late, arm)
    notes[ACTIVE] = left


@inner
def product_limit(delays, at_risk, edges, shares):
    """Write which share of the rewards comes by each age, of those that come by the last known.

    F(age) is the product over later bins of 1 - d/n, where d rewards took so long, of the n that
    took at most so long and whose decisions are older. What is later than any age of which enough
    is known counts as never.
    """
    last = len(delays) - 1
    while last >= 0 and at_risk[last] < ENOUGH:
        last -= 1
    shares[last + 1 :] = 1.0
    share = 1.0
    for j in range(last, -1, -1):
        until, width = edges[j + 1] / edges[-1], (edges[j + 1] - edges[j]) / edges[-1]
        share *= 1.0 - (delays[j] + PRIOR * width) / (at_risk[j] + PRIOR * until)
        shares[j] = max(share, 0.0)
    shares[0] = 0.0


@inner
def _weigh_zeros(late):
    """Let the shares of zeros be of all zeros, of which most may never be told."""
    notes, zero, above = late.notes, late.shares[ZERO], late.shares[ABOVE]
    told = 0.0
    if notes[ZEROS] > 0:
        by_zeros = by_above = float(notes[PAST])
        for j in range(len(late.weight)):
            by_zeros += 0.5 * late.pooled[j] * (zero[j] + zero[j + 1])
            by_above += 0.5 * late.pooled[j] * (above[j] + above[j + 1])
        refused = by_zeros * (1.0 - min(notes[ABOVES] / max(by_above, 1.0), 1.0))
        told = min(notes[ZEROS] / max(refused, 1.0), 1.0)
    for j in range(len(zero)):
        zero[j] *= told


@inner
def effective_pulls(closed, rewarded, expected):
    """How many pulls an arm's decisions are worth: n with n² - (C + D)·n + S·D = 0, the larger.

    With q = S/n that is S·(1 - q) - (C - S)·q = q·(1 - q)·D, of which both sides have the same
    mean: the score of a share q, where D = Σ (F₁ - F₀) over all young decisions.
    """
    both = closed + expected
    return 0.5 * (both + np.sqrt(max(both * both - 4.0 * rewarded * expected, 0.0)))


def weigh_again(late: Late, changed: list[int]) -> None:
    """Work out what is not saved from what is: counts by age, weights, and which arms are active.

    The pulls of the `changed` arms are still to be written.
    """
    notes, above, zero = late.notes, late.shares[ABOVE], late.shares[ZERO]
    late.weight[:] = 0.5 * (above[:-1] + above[1:] - zero[:-1] - zero[1:])
    numbers = np.arange(notes[FIRST], notes[TAKEN] + 1)
    arms = late.ring["arm"][numbers & (len(late.ring) - 1)]
    bins = np.searchsorted(-late.left, -numbers)  # as many as it has left behind
    late.pooled[:] = np.bincount(bins, minlength=BINS)
    late.ages[:] = late.sums["young"] = late.sums["is_active"] = late.sums["is_changed"] = 0
    known = arms >= 0
    np.add.at(late.ages, (arms[known], bins[known]), 1)
    np.add.at(late.sums["young"], arms[known], 1)
    young = np.flatnonzero(late.sums["young"])
    late.sums["active"][: len(young)], notes[ACTIVE] = young, len(young)
    late.sums["changed"][: len(changed)], notes[CHANGED] = changed, len(changed)
    late.sums["is_active"][young] = late.sums["is_changed"][changed] = 1


class DelayShares(NamedTuple):
    """Which share of the rewards above 0 comes by each age, of those that come in time."""

    ages: NDArray[np.float64]
    shares: NDArray[np.float64]
    low: NDArray[np.float64]  # the ends of 95 % intervals, of each age by itself
    high: NDArray[np.float64]
    rewards: int  # whose delays are known

    def age_of(self, share: float) -> float:
        """By which age this share has come."""
        return float(np.interp(share, self.shares, self.ages))


def delay_shares(late: Late) -> DelayShares:
    """The shares with intervals, by Greenwood's formula for the logarithm of a product limit."""
    d, n, shares = late.delays[ABOVE], late.at_risk[ABOVE], np.zeros(BINS + 1)
    product_limit(d, n, late.edges, shares)
    unknown = n < ENOUGH
    # Where all that are at risk took so long, nothing is earlier: no interval can tell how little.
    terms = np.divide(d, n * (n - d), out=np.zeros(BINS), where=(n > d) & ~unknown)
    reach = 1.96 * np.sqrt(np.append(np.cumsum(terms[::-1])[::-1], 0.0))
    low, high = shares * np.exp(-reach), np.minimum(shares * np.exp(reach), 1.0)
    return DelayShares(late.edges.copy(), shares, low, high, int(d.sum()))
