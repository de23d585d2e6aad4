"""How a claim is decided: once at the paper's own scale, and once with samples added until it is.

At the paper's scale a function of the findings says a word and why. Beyond it a claim is a set of
comparisons (`comparisons.py`), each decided by a sequential test (`sequential_test.py`), and a way
to combine their words.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ParamSpec

from unimodal.studies.reproduce.comparisons import Comparison, Step
from unimodal.studies.reproduce.findings import Findings
from unimodal.studies.reproduce.sequential_test import CLOSE, FAILS, HOLDS, OPEN

Decider = Callable[[Findings], tuple[str, str]]
Question = Comparison | Step
P = ParamSpec("P")


def all_hold(words: Sequence[str]) -> str:
    """One that fails decides; then one that is open, then one that is too close to call.

    >>> all_hold(["holds", "too close to call", "open"])
    'open'
    """
    return next((word for word in (FAILS, OPEN, CLOSE) if word in words), HOLDS)


def two_changes(words: Sequence[str]) -> str:
    """Whether words in order of time change sides at least twice; ties within the margin are none.

    >>> two_changes(["holds", "open", "does not hold", "too close to call", "holds"])
    'holds'
    >>> two_changes(["holds", "too close to call", "does not hold"])
    'does not hold'
    """
    sides = [word for word in words if word in (HOLDS, FAILS)]
    changes = sum(before != after for before, after in pairwise(sides))
    if changes >= 2:
        return HOLDS
    return OPEN if OPEN in words else FAILS


@dataclass(frozen=True, eq=False)
class DecisionRule:
    """The rule of one claim."""

    at_paper_scale: Decider
    comparisons: tuple[Question, ...]
    combine: Callable[[Sequence[str]], str] = all_hold
    words: str = ""  # what decides it, for the page

    def __call__(self, found: Findings) -> tuple[str, str]:
        """The word at the scale of these findings, and why."""
        return self.at_paper_scale(found)

    @property
    def margins(self) -> str:
        """Within what it is too close to call, in words."""
        said = dict.fromkeys(one.spread(one.margin) for one in self.comparisons)
        return " or ".join(said)


def keeping_the_rule(make: Callable[P, DecisionRule]) -> Callable[P, DecisionRule]:
    """Give a rule the docstring of the function that made it, for the page."""

    @functools.wraps(make)
    def made(*args: P.args, **kwargs: P.kwargs) -> DecisionRule:
        return dataclasses.replace(make(*args, **kwargs), words=(make.__doc__ or "").strip())

    return made


def once_each(comparisons: Iterable[Question]) -> tuple[Question, ...]:
    """The comparisons without those that came before."""
    return tuple(dict.fromkeys(comparisons))
