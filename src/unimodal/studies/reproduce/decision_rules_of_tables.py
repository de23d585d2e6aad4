"""The rules that decide a claim about Tables 2 and 3.

A comparison of means is decided by the 99 % interval of the difference, paired by graph (by trial
where there is one graph): all policies of a setting share graphs and random streams.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from unimodal.results.statistics import Interval, mean_interval, ratio_interval
from unimodal.studies.reproduce.comparisons import Comparison, Step, setting_text
from unimodal.studies.reproduce.decision_rule import DecisionRule, keeping_the_rule
from unimodal.studies.reproduce.findings import Finding, Findings, ratio
from unimodal.studies.reproduce.paper_numbers import POLICIES, SIZES
from unimodal.studies.reproduce.settings import paper_setting

HOLDS, FAILS, OPEN = "holds", "does not hold", "undecided at this scale"
WAITS = "waits for runs not made at this scale"
LEVEL = 0.99

# Within these a ratio of regrets is too close to call.
_SMALLEST = 0.005  # the smallest or the largest regret of all: also at p = 1, where all are alike
_ORDER = 0.03  # an order over random graphs, which differ much
_CONSTANT = 0.005  # a ratio that the paper gives to 0.01
_MOVES = 0.02  # a ratio that changes with K, whose ends count as met within 0.05


def every(words: Sequence[str]) -> str:
    """All must hold: one that fails decides, then one that is open."""
    for word in (FAILS, WAITS, OPEN):
        if word in words:
            return word
    return HOLDS


def sign(differences: Any) -> str:
    """Whether the mean of these is below 0."""
    _, low, high = mean_interval(differences, LEVEL)
    return HOLDS if high < 0 else FAILS if low > 0 else OPEN


def upwards(change: float, room: float) -> str:
    """Whether a change is upwards, given how far it may be off."""
    return HOLDS if change > room else FAILS if -change > room else OPEN


def less(better: Finding | None, worse: Finding | None) -> tuple[str, str]:
    """Whether one policy's mean regret is smaller: the 99 % interval of the paired difference."""
    if better is None or worse is None:
        return WAITS, ""
    return sign(
        better.units - worse.units
    ), f"{better.final.mean():.1f} against {worse.final.mean():.1f}"


@keeping_the_rule
def in_order(
    experiment: str, density: str, sizes: Sequence[int], names: Sequence[str]
) -> DecisionRule:
    """The policies' regrets increase in this order, at every size."""

    def decide(found: Findings) -> tuple[str, str]:
        words, notes = [], []
        for k in sizes:
            row = [found.at(experiment, k, density, name) for name in names]
            pairs = [less(one, two)[0] for one, two in pairwise(row)]
            words.append(every(pairs))
            if words[-1] != HOLDS:
                notes.append(f"K = {k}: {words[-1]}")
        return every(words), "; ".join(notes) or f"at K = {', '.join(map(str, sizes))}"

    return DecisionRule(
        decide,
        tuple(
            Comparison(paper_setting(experiment, k, density), one, two, _ORDER)
            for k in sizes
            for one, two in pairwise(names)
        ),
    )


@keeping_the_rule
def is_worst(experiment: str, settings: Sequence[tuple[int, str]], name: str) -> DecisionRule:
    """A policy has the largest regret of the four in each of these settings."""
    decide = _extreme(experiment, settings, name, lambda one, two: less(two, one))
    pairs = [(rival, name) for rival in POLICIES if rival != name]
    return DecisionRule(decide, _in_all(experiment, settings, pairs))


@keeping_the_rule
def is_best(experiment: str, settings: Sequence[tuple[int, str]], name: str) -> DecisionRule:
    """A policy has the smallest regret of the four in each of these settings."""
    pairs = [(name, rival) for rival in POLICIES if rival != name]
    return DecisionRule(
        _extreme(experiment, settings, name, less), _in_all(experiment, settings, pairs)
    )


def _in_all(
    experiment: str, settings: Sequence[tuple[int, str]], pairs: Sequence[tuple[str, str]]
) -> tuple[Comparison, ...]:
    return tuple(
        Comparison(paper_setting(experiment, k, density), better, worse, _SMALLEST)
        for k, density in settings
        for better, worse in pairs
    )


def _extreme(
    experiment: str,
    settings: Sequence[tuple[int, str]],
    name: str,
    beats: Callable[[Finding | None, Finding | None], tuple[str, str]],
) -> Callable[[Findings], tuple[str, str]]:
    def decide(found: Findings) -> tuple[str, str]:
        words, notes = [], []
        for k, density in settings:
            one = found.at(experiment, k, density, name)
            rivals = [found.at(experiment, k, density, other) for other in POLICIES]
            each = [beats(one, rival)[0] for rival in rivals if rival is None or rival is not one]
            words.append(every(each))
            if words[-1] not in (HOLDS, WAITS):
                notes.append(f"{setting_text(paper_setting(experiment, k, density))}: {words[-1]}")
        notes.insert(0, f"{words.count(HOLDS)} of {len(words)} settings")
        return every(words), "; ".join(notes)

    return decide


@keeping_the_rule
def is_constant(over: str, under: str, value: float, spread: float) -> DecisionRule:
    """A ratio is value ± spread at every K for p = 1/2, allowing for our own 99 % interval."""

    def decide(found: Findings) -> tuple[str, str]:
        words, notes = [], []
        for k in SIZES:
            one, two = (found.at("Table 2", k, "1/2", name) for name in (over, under))
            if one is None or two is None:
                words.append(WAITS)
                continue
            ours = ratio_interval(one.units, two.units, LEVEL)
            notes.append(f"K = {k}: {ratio(one, two)}")
            apart = abs(ours.value - value) - spread
            wide = not ours.half_width <= 0.1 * value
            words.append(HOLDS if apart <= 0 else FAILS if apart > ours.towards(value) else OPEN)
            words[-1] = OPEN if wide and words[-1] == HOLDS else words[-1]
        return every(words), "; ".join(notes)

    ends = ((value + spread, True), (value - spread, False))
    return DecisionRule(
        decide,
        tuple(
            Comparison(paper_setting("Table 2", k, "1/2"), over, under, _CONSTANT, end, below)
            for k in SIZES
            for end, below in ends
        ),
    )


@keeping_the_rule
def moves(over: str, under: str, density: str, ends: tuple[float, float]) -> DecisionRule:
    """A ratio moves monotonically with K from one end to the other (each within 0.05)."""

    def decide(found: Findings) -> tuple[str, str]:
        ratios: list[Interval | None] = []
        for k in SIZES:
            one, two = (found.at("Table 2", k, density, name) for name in (over, under))
            ratios.append(None if one is None or two is None else ratio(one, two))
        words = [WAITS for one in ratios if one is None]
        sign = 1 if ends[1] > ends[0] else -1
        for one_end, value in ((ratios[0], ends[0]), (ratios[-1], ends[1])):
            if one_end is not None:
                apart = abs(one_end.value - value) - 0.05
                room = one_end.towards(value)
                words.append(HOLDS if apart <= 0 else FAILS if apart > room else OPEN)
        known = [r for r in ratios if r is not None]
        for before, after in pairwise(known):
            step = sign * (after.value - before.value)
            room = after.room(before)
            words.append(HOLDS if step > 0 else FAILS if -step > room else OPEN)
        shown = [f"K = {k}: {r}" for k, r in zip(SIZES, ratios, strict=True) if r is not None]
        return every(words), "; ".join(shown)

    places = [paper_setting("Table 2", k, density) for k in SIZES]
    at_ends = [
        Comparison(place, over, under, _MOVES, round(value + side * 0.05, 3), side > 0)
        for place, value in ((places[0], ends[0]), (places[-1], ends[1]))
        for side in (1, -1)
    ]
    # A step always goes up: where the ratio falls, from the larger size to the smaller.
    way = pairwise(places if ends[1] > ends[0] else places[::-1])
    return DecisionRule(decide, (*at_ends, *(Step(pair, over, under, _MOVES) for pair in way)))


@keeping_the_rule
def fades(better: str, worse: str) -> DecisionRule:
    """At p = 1, better at every K, and by a smaller share at the largest than at K = 5."""

    def decide(found: Findings) -> tuple[str, str]:
        words, notes, ratios = [], [], []
        for k in SIZES:
            one, two = (found.at("Table 2", k, "1", name) for name in (better, worse))
            words.append(less(one, two)[0])
            if one is not None and two is not None:
                ratios.append(ratio(one, two))
                notes.append(f"K = {k}: {ratios[-1]}")
        if len(ratios) > 1:
            closer = ratios[-1].value - ratios[0].value
            room = ratios[-1].room(ratios[0])
            words.append(HOLDS if closer > 0 else FAILS if -closer > room else OPEN)
        return every(words), "; ".join(notes)

    places = [paper_setting("Table 2", k, "1") for k in SIZES]
    ahead = [Comparison(place, better, worse, _SMALLEST) for place in places]
    return DecisionRule(decide, (*ahead, Step((places[0], places[-1]), better, worse, _SMALLEST)))
