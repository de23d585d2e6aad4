"""The rules that decide a claim about Table 1 and Appendix B: lines, and sparse graphs."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from unimodal.engines.engine_choice import checkpoint_rounds
from unimodal.studies.reproduce.comparisons import Comparison, Step
from unimodal.studies.reproduce.decision_rule import DecisionRule, keeping_the_rule, two_changes
from unimodal.studies.reproduce.decision_rules_of_tables import (
    FAILS,
    HOLDS,
    WAITS,
    every,
    less,
    sign,
    upwards,
)
from unimodal.studies.reproduce.findings import Findings, ratio
from unimodal.studies.reproduce.setting import Setting
from unimodal.studies.reproduce.settings import PEAKS, paper_setting
from unimodal.studies.tasks import CHECKPOINTS

# Within these a ratio of regrets is too close to call.
_SMALLEST = 0.005  # the smallest regret of all
_AHEAD = 0.02  # who is ahead on a line on which neighbours hardly differ
_SHRINK = 0.1  # a change of the ratio of two policies from one such line to another
_SIDES = 0.02

_STEPS = (0.001, 0.002, 0.005)
_SHORT = 10**5  # rounds of the paper's tables


def _line(k: int, step: float) -> Setting:
    return paper_setting("Appendix B", k, "triangle", PEAKS[k][step])


def _short(setting: Setting) -> Setting:
    """The same line for 10⁵ rounds: the same trials, at a hundredth of the cost."""
    return replace(setting, horizon=_SHORT)


def _checkpoints(setting: Setting, after: int) -> list[int]:
    """The numbers of the checkpoints after a round."""
    rounds = checkpoint_rounds(setting.horizon, CHECKPOINTS, "log")
    return [number for number, now in enumerate(rounds) if now > after]


@keeping_the_rule
def best_all_along(k: int) -> DecisionRule:
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

    place = paper_setting("Table 1", k, "triangle")
    return DecisionRule(
        decide,
        tuple(
            Comparison(place, "UTS", rival, _SMALLEST, at=number)
            for number in _checkpoints(place, after=k)
            for rival in ("OSUB", "TS", "KLUCB")
        ),
    )


@keeping_the_rule
def wins_line(k: int, step: float, winner: str, at: int = 10**7) -> DecisionRule:
    """The policy has the smaller mean regret at that round on a line of Appendix B."""

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

    place = _line(k, step)
    loser = "OSUB" if winner == "UTS" else "UTS"
    where = place if at == place.horizon else _short(place)
    return DecisionRule(decide, (Comparison(where, winner, loser, _AHEAD),))


@keeping_the_rule
def cross(k: int, step: float) -> DecisionRule:
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

    place = _line(k, step)
    when = [(_short(place), number) for number in _checkpoints(_short(place), after=k)]
    when += [(place, number) for number in _checkpoints(place, after=_SHORT)]
    all_along = (Comparison(where, "UTS", "OSUB", _AHEAD, at=number) for where, number in when)
    return DecisionRule(decide, tuple(all_along), two_changes)


@keeping_the_rule
def wins_sparse(density: str) -> DecisionRule:
    """UTS has the smaller regret on the sparse graphs of Appendix B."""

    def decide(found: Findings) -> tuple[str, str]:
        return less(*(found.at("Appendix B", 1000, density, name) for name in ("UTS", "OSUB")))

    place = paper_setting("Appendix B", 1000, density)
    return DecisionRule(decide, (Comparison(place, "UTS", "OSUB", _SMALLEST),))


@keeping_the_rule
def gains_as_steps_shrink(k: int) -> DecisionRule:
    """OSUB's regret relative to UTS's is smaller the smaller the difference between neighbours."""

    def decide(found: Findings) -> tuple[str, str]:
        ratios = []
        for step in _STEPS:
            high = PEAKS[k][step]
            one, two = (
                found.at("Appendix B", k, "triangle", name, high) for name in ("OSUB", "UTS")
            )
            if one is None or two is None or one.setting.horizon < 10**7:
                return WAITS, ""
            ratios.append(ratio(one, two))
        words = []
        for before, after in pairwise(ratios):
            room = before.room(after)
            words.append(upwards(after.value - before.value, room))
        return every(words), "OSUB/UTS " + ", ".join(map(str, ratios))

    pairs = pairwise(_line(k, step) for step in _STEPS)
    return DecisionRule(decide, tuple(Step(pair, "OSUB", "UTS", _SHRINK) for pair in pairs))


@keeping_the_rule
def changes_sides() -> DecisionRule:
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
            room = large.room(small)
            words.append(upwards(change, room))
            notes.append(f"UTS/{name} {small} to {large}")
        return every(words), "; ".join(notes)

    places = (
        paper_setting("Table 1", 17, "triangle"),
        paper_setting("Table 1", 129, "triangle"),
    )
    up, down = Step(places, "UTS", "OSUB", _SIDES), Step(places[::-1], "UTS", "TS", _SIDES)
    return DecisionRule(decide, (up, down))
