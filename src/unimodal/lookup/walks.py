"""Searches behind an oracle: an arm's neighbours, and walks that find far arms.

A search changes nothing but its own notes, so that it can be given up at any look-up: who keeps
look-ups out of a lock does it again when the answer is there. What it found is taken over at its
end, in the same order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from unimodal.kernels.random import randint

SHELLS = 6  # a walk tells where it is after 2, 4, …, 2^6 steps

# Walks set out while there were fewer look-ups, in all, than so many times the root of the rounds:
# many while all is new, and fewer and fewer a round. Without a bound, climbs on a Barabási–Albert
# graph of 10^6 arms looked up most of it. With half a look-up a round instead, the regret on a
# lattice of 300 x 300 arms over 15,000 rounds was 5,900 and not 3,500.
_LOOK_UPS = 100


def look_ups_for_walks(rounds: int) -> float:
    """How many look-ups there may have been by then, for a walk to set out."""
    return _LOOK_UPS * math.sqrt(rounds)


LookUp = tuple[Any, tuple[Any, ...] | None, bool]  # of an arm, its answer, and if it was asked for


class Search:
    """What an arm needs that is about to lead: look-ups in their order, and what they found.

    `known` tells what is remembered; `ask` asks the oracle, and gives None where it fails.
    """

    def __init__(
        self,
        known: Callable[[Any], tuple[Any, ...] | None],
        ask: Callable[[Any], Iterable[Any] | None],
    ) -> None:
        self._known, self._ask = known, ask
        self._answers: dict[Any, tuple[Any, ...]] = {}
        self.asked = self.failed = 0
        # First the look-up of the arm itself, then walk by walk: look-ups, and the arms met.
        self.steps: list[tuple[list[LookUp], list[Any]]] = [([], [])]

    def look_up(self, label: Any) -> tuple[Any, ...] | None:
        """The neighbours of an arm: remembered, found before in this search, or asked for."""
        answer = self._answers.get(label) or self._known(label)
        is_new = answer is None
        if is_new:
            found = self._ask(label)
            self.asked += 1
            self.failed += found is None
            if found is not None:
                answer = self._answers[label] = tuple(found)
        self.steps[-1][0].append((label, answer, is_new))
        return answer

    def walk(self, before: Any, here: Any, rng: Any) -> None:
        """Where a random walk is after 2, 4, 8, … steps, or where it ends sooner.

        Its first step was from `before` to `here`, and it never turns back. It ends where there is
        nowhere else to go, or where a look-up fails.
        """
        met: list[Any] = []
        self.steps.append(([], met))
        for step in range(2, 2**SHELLS + 1):
            answer = self.look_up(here)
            if answer is None or answer == (before,):
                met.append(here)
                break
            onward = answer[randint(rng, len(answer))]
            while onward == before:
                onward = answer[randint(rng, len(answer))]
            before, here = here, onward
            if step & (step - 1) == 0:
                met.append(here)
