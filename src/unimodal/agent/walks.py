"""Walks that find far arms where shells cannot be searched, and what they may cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from unimodal.kernels.random import below

SHELLS = 6  # a walk tells where it is after 2, 4, …, 2^6 steps

# Walks set out while there were fewer look-ups, in all, than so many and so many a round. That is
# enough for lines of a thousand arms. On a lattice half as many a round cost a tenth more regret;
# without a bound, climbs on a Barabási–Albert graph of 10^6 arms looked up most of it.
_FREE, _A_ROUND = 500, 0.5


def look_ups_for_walks(rounds: int) -> float:
    """How many look-ups there may have been by then, for a walk to set out."""
    return _FREE + _A_ROUND * rounds


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
