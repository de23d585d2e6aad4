"""The rules that decide a claim: each makes a function of the findings that returns a word and why.

A comparison of means is decided by the 99 % interval of the difference, paired by graph (by trial
where there is one graph): all policies of a setting share graphs and random streams.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, ParamSpec

import numpy as np

from unimodal.results.statistics import Interval, mean_interval, ratio_interval
from unimodal.studies.reproduce.findings import Finding, Findings, ratio
from unimodal.studies.reproduce.paper_numbers import POLICIES, SIZES
from unimodal.studies.reproduce.settings import PEAKS

HOLDS, FAILS, OPEN = "holds", "does not hold", "undecided at this scale"
WAITS = "waits for runs not made at this scale"
LEVEL = 0.99

Decider = Callable[[Findings], tuple[str, str]]
P = ParamSpec("P")


def keeping_the_rule(make: Callable[P, Decider]) -> Callable[P, Decider]:
    """Give the function that decides the docstring of the one that made it, for the page."""

    @functools.wraps(make)
    def made(*args: P.args, **kwargs: P.kwargs) -> Decider:
        decide = make(*args, **kwargs)
        decide.__doc__ = make.__doc__
        return decide

    return made


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
def in_order(experiment: str, density: str, sizes: Sequence[int], names: Sequence[str]) -> Decider:
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

    return decide


@keeping_the_rule
def is_worst(experiment: str, settings: Sequence[tuple[int, str]], name: str) -> Decider:
    """A policy has the largest regret of the four in each of these settings."""
    return _extreme(experiment, settings, name, lambda one, two: less(two, one))


@keeping_the_rule
def is_best(experiment: str, settings: Sequence[tuple[int, str]], name: str) -> Decider:
    """A policy has the smallest regret of the four in each of these settings."""
    return _extreme(experiment, settings, name, less)


def _extreme(
    experiment: str,
    settings: Sequence[tuple[int, str]],
    name: str,
    beats: Callable[[Finding | None, Finding | None], tuple[str, str]],
) -> Decider:
    def decide(found: Findings) -> tuple[str, str]:
        words, notes = [], []
        for k, density in settings:
            one = found.at(experiment, k, density, name)
            rivals = [found.at(experiment, k, density, other) for other in POLICIES]
            each = [beats(one, rival)[0] for rival in rivals if rival is None or rival is not one]
            words.append(every(each))
            if words[-1] not in (HOLDS, WAITS):
                notes.append(f"K = {k}, p = {density}: {words[-1]}")
        notes.insert(0, f"{words.count(HOLDS)} of {len(words)} settings")
        return every(words), "; ".join(notes)

    return decide


@keeping_the_rule
def is_constant(over: str, under: str, value: float, spread: float) -> Decider:
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
            words.append(HOLDS if apart <= 0 else FAILS if apart > ours.half_width else OPEN)
            words[-1] = OPEN if wide and words[-1] == HOLDS else words[-1]
        return every(words), "; ".join(notes)

    return decide


@keeping_the_rule
def moves(over: str, under: str, density: str, ends: tuple[float, float]) -> Decider:
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
                words.append(HOLDS if apart <= 0 else FAILS if apart > one_end.half_width else OPEN)
        known = [r for r in ratios if r is not None]
        for before, after in pairwise(known):
            step = sign * (after.value - before.value)
            room = after.half_width + before.half_width
            words.append(HOLDS if step > 0 else FAILS if -step > room else OPEN)
        shown = [f"K = {k}: {r}" for k, r in zip(SIZES, ratios, strict=True) if r is not None]
        return every(words), "; ".join(shown)

    return decide


@keeping_the_rule
def fades(better: str, worse: str) -> Decider:
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
            room = ratios[-1].half_width + ratios[0].half_width
            words.append(HOLDS if closer > 0 else FAILS if -closer > room else OPEN)
        return every(words), "; ".join(notes)

    return decide


@keeping_the_rule
def best_all_along(k: int) -> Decider:
    """UTS has the smallest mean regret at every checkpoint after the sweep (99 %, each alone)."""

    def decide(found: Findings) -> tuple[str, str]:
        uts = found.at("Table 1", k, "triangle", "UTS")
        rivals = [found.at("Table 1", k, "triangle", name) for name in ("OSUB", "TS", "KLUCB")]
        if uts is None or any(rival is None for rival in rivals):
            return WAITS, ""
        words, worst = [], ""
        for number, now in enumerate(uts.rounds):
            if now <= k:
                continue  # the sweep: all pull each arm once, in whatever order
            for rival in rivals:
                assert rival is not None
                words.append(sign(uts.curves[:, number] - rival.curves[:, number]))
                if words[-1] == FAILS:
                    worst = worst or f"{rival.policy} is ahead at t = {now:,}"
        return every(words), worst or f"{words.count(HOLDS)} of {len(words)} comparisons decided"

    return decide


# Appendix B: long lines, on which neighbours hardly differ.


@keeping_the_rule
def wins_line(k: int, step: float, winner: str, at: int = 10**7) -> Decider:
    """The policy with the smaller mean regret at round `at` on a line of Appendix B."""

    def decide(found: Findings) -> tuple[str, str]:
        high = PEAKS[k][step]
        loser = "OSUB" if winner == "UTS" else "UTS"
        one, two = (found.at("Appendix B", k, "triangle", p, high) for p in (winner, loser))
        if one is None or two is None or one.setting.horizon < at:
            return WAITS, ""
        number = int(abs(one.rounds - at).argmin())
        gap = one.curves[:, number] - two.curves[:, number]
        means = [finding.curves[:, number].mean() for finding in (one, two)]
        note = f"{winner} {means[0]:,.0f} against {means[1]:,.0f} at t = {one.rounds[number]:,}"
        return sign(gap), note

    return decide


@keeping_the_rule
def cross(k: int, step: float) -> Decider:
    """The mean regrets of UTS and OSUB change places at least twice after the sweep."""

    def decide(found: Findings) -> tuple[str, str]:
        high = PEAKS[k][step]
        one, two = (found.at("Appendix B", k, "triangle", p, high) for p in ("UTS", "OSUB"))
        if one is None or two is None or one.setting.horizon < 10**7:
            return WAITS, ""
        late = one.rounds > k
        gap = (one.curves.mean(axis=0) - two.curves.mean(axis=0))[late]
        places = one.rounds[late][1:][np.sign(gap[1:]) != np.sign(gap[:-1])]
        shown = ", ".join(f"{place:,}" for place in places) or "none"
        return (HOLDS if len(places) >= 2 else FAILS), f"{len(places)} crossings, by t = {shown}"

    return decide


@keeping_the_rule
def wins_sparse(density: str) -> Decider:
    """UTS has the smaller regret on the sparse graphs of Appendix B."""
    return lambda found: less(
        *(found.at("Appendix B", 1000, density, name) for name in ("UTS", "OSUB"))
    )


@keeping_the_rule
def gains_as_steps_shrink(k: int) -> Decider:
    """OSUB's regret relative to UTS's is smaller the smaller the difference between neighbours."""

    def decide(found: Findings) -> tuple[str, str]:
        ratios = []
        for step in (0.001, 0.002, 0.005):
            high = PEAKS[k][step]
            one, two = (
                found.at("Appendix B", k, "triangle", name, high) for name in ("OSUB", "UTS")
            )
            if one is None or two is None or one.setting.horizon < 10**7:
                return WAITS, ""
            ratios.append(ratio(one, two))
        words = []
        for before, after in pairwise(ratios):
            room = before.half_width + after.half_width
            words.append(upwards(after.value - before.value, room))
        return every(words), "OSUB/UTS " + ", ".join(map(str, ratios))

    return decide


@keeping_the_rule
def changes_sides() -> Decider:
    """From 17 to 129 arms, UTS/OSUB rises and UTS/TS falls."""

    def decide(found: Findings) -> tuple[str, str]:
        values = {}
        for size in (17, 129):
            uts = found.at("Table 1", size, "triangle", "UTS")
            for name in ("OSUB", "TS"):
                rival = found.at("Table 1", size, "triangle", name)
                if uts is None or rival is None:
                    return WAITS, ""
                values[size, name] = ratio(uts, rival)
        words, notes = [], []
        for name, direction in (("OSUB", 1), ("TS", -1)):
            small, large = values[17, name], values[129, name]
            change = direction * (large.value - small.value)
            room = large.half_width + small.half_width
            words.append(upwards(change, room))
            notes.append(f"UTS/{name} {small} to {large}")
        return every(words), "; ".join(notes)

    return decide
