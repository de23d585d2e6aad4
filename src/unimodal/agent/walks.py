"""Walks that find far arms where shells cannot be searched, and what they may cost."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from unimodal.kernels.random import below

SHELLS = 6  # a walk tells where it is after 2, 4, …, 2^6 steps

# Walks set out while there were fewer look-ups, in all, than so many times the root of the rounds:
# many while all is new, and fewer and fewer a round. Without a bound, climbs on a Barabási–Albert
# graph of 10^6 arms looked up most of it. With half a look-up a round instead, the regret on a
# lattice of 300 x 300 arms over 15,000 rounds was 5,900 and not 3,500.
_LOOK_UPS = 100


def look_ups_for_walks(rounds: int) -> float:
    """How many look-ups there may have been by then, for a walk to set out."""
    return _LOOK_UPS * math.sqrt(rounds)


def walk(
    look_up: Callable[[Any], tuple[Any, ...] | None], before: Any, here: Any, rng: Any
) -> list[Any]:
    """Where a random walk is after 2, 4, 8, … steps, or where it ends sooner.

    Its first step was from `before` to `here`, and it never turns back. It ends where there is
    nowhere else to go, or where a look-up fails.
    """
    met = []
    for step in range(2, 2**SHELLS + 1):
        answer = look_up(here)
        if answer is None or answer == (before,):
            met.append(here)
            break
        onward = answer[below(rng, len(answer))]
        while onward == before:
            onward = answer[below(rng, len(answer))]
        before, here = here, onward
        if step & (step - 1) == 0:
            met.append(here)
    return met
