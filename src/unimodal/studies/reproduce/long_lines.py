"""The tests that decide the claims of Appendix B: long lines, where neighbours hardly differ."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from unimodal.studies.reproduce.deciders import (
    FAILS,
    HOLDS,
    WAITS,
    Decider,
    every,
    less,
    sign,
    told,
    upwards,
)
from unimodal.studies.reproduce.findings import Findings, ratio
from unimodal.studies.reproduce.settings import PEAKS


@told
def wins_line(k: int, step: float, winner: str, at: int = 10**7) -> Decider:
    """The policy with the smaller mean regret at round `at` on a line of Appendix B."""

    def decide(found: Findings) -> tuple[str, str]:
        high = PEAKS[k][step]
        loser = "OSUB" if winner == "UTS" else "UTS"
        one, two = (found.get("Appendix B", k, "triangle", p, high) for p in (winner, loser))
        if one is None or two is None or one.setting.horizon < at:
            return WAITS, ""
        number = int(abs(one.rounds - at).argmin())
        gap = one.curves[:, number] - two.curves[:, number]
        means = [finding.curves[:, number].mean() for finding in (one, two)]
        note = f"{winner} {means[0]:,.0f} against {means[1]:,.0f} at t = {one.rounds[number]:,}"
        return sign(gap), note

    return decide


@told
def cross(k: int, step: float) -> Decider:
    """The mean regrets of UTS and OSUB change places at least twice after the sweep."""

    def decide(found: Findings) -> tuple[str, str]:
        high = PEAKS[k][step]
        one, two = (found.get("Appendix B", k, "triangle", p, high) for p in ("UTS", "OSUB"))
        if one is None or two is None or one.setting.horizon < 10**7:
            return WAITS, ""
        late = one.rounds > k
        gap = (one.curves.mean(axis=0) - two.curves.mean(axis=0))[late]
        places = one.rounds[late][1:][np.sign(gap[1:]) != np.sign(gap[:-1])]
        shown = ", ".join(f"{place:,}" for place in places) or "none"
        return (HOLDS if len(places) >= 2 else FAILS), f"{len(places)} crossings, by t = {shown}"

    return decide


@told
def wins_sparse(density: str) -> Decider:
    """UTS has the smaller regret on the sparse graphs of Appendix B."""
    return lambda found: less(
        *(found.get("Appendix B", 1000, density, name) for name in ("UTS", "OSUB"))
    )


@told
def gains_as_steps_shrink(k: int) -> Decider:
    """OSUB's regret relative to UTS's is smaller the smaller the difference between neighbours."""

    def decide(found: Findings) -> tuple[str, str]:
        ratios = []
        for step in (0.001, 0.002, 0.005):
            high = PEAKS[k][step]
            one, two = (
                found.get("Appendix B", k, "triangle", name, high) for name in ("OSUB", "UTS")
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


@told
def changes_sides() -> Decider:
    """From 17 to 129 arms, UTS/OSUB rises and UTS/TS falls."""

    def decide(found: Findings) -> tuple[str, str]:
        values = {}
        for size in (17, 129):
            uts = found.get("Table 1", size, "triangle", "UTS")
            for name in ("OSUB", "TS"):
                rival = found.get("Table 1", size, "triangle", name)
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
