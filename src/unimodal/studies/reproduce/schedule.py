"""What to run next: the open claim or number that would be decided with the least work.

How much work that is follows from the present estimate, its error and the seconds that a trial
takes by the setting's own model. No clock is asked: the order of the work, and so every result, is
the same on every machine and for any number of workers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from unimodal.studies.reproduce.added_samples import size_at, trials_of
from unimodal.studies.reproduce.decision_rule import Question
from unimodal.studies.reproduce.interim_estimates import (
    InterimEstimates,
    Ruling,
    Use,
    Uses,
    growth_of,
    look_needed,
)
from unimodal.studies.reproduce.numbers import Number, projected_number
from unimodal.studies.reproduce.sequential_test import LOOKS, OPEN

Looks = Mapping[Use, int]  # the last look of each setting and policy
_LAST = LOOKS - 1
_UNLIKELY = 8.0  # how much more a question counts that eight looks may not decide
BATCH = 60.0  # seconds of one core, by the model: what is run between two looks at everything


@dataclass(frozen=True)
class Extension:
    """Bring these settings and policies to this look."""

    uses: Uses
    look: int
    reason: str  # the claim or number that it is for


@dataclass(frozen=True)
class _Wish:
    cost: float
    extension: Extension


def seconds_to(uses: Uses, look: int, looks: Looks) -> float:
    """About how many seconds of one core it takes to bring these to a look."""
    total = 0.0
    for setting, policy in dict.fromkeys(uses):
        now = min(look, looks[setting, policy])
        sizes = (size_at(setting, look), size_at(setting, now))
        after, before = (trials_of(setting, size) for size in sizes)
        total += (after - before) * setting.seconds_a_trial(policy)
    return total


def next_batch(estimates: InterimEstimates, looks: Looks) -> list[Extension]:
    """The most promising extensions, about a minute's worth; empty if nothing is left to do."""
    wishes = sorted(_wishes(estimates, looks), key=lambda wish: wish.cost)
    batch: dict[tuple[Uses, int], Extension] = {}
    planned = 0.0
    for wish in wishes:
        one = wish.extension
        if (one.uses, one.look) not in batch:
            batch[one.uses, one.look] = one
            planned += seconds_to(one.uses, one.look, looks)
        if planned >= BATCH:
            break
    return list(batch.values())


def _wishes(estimates: InterimEstimates, looks: Looks) -> Iterator[_Wish]:
    for claim in estimates.claims:
        ruling = estimates.ruling(claim)
        if ruling.word == OPEN:
            yield from _for_claim(claim.text, ruling, estimates.level, looks)
    for number in estimates.numbers:
        yield from _for_number(number, estimates, looks)


def _for_claim(text: str, ruling: Ruling, level: float, looks: Looks) -> Iterator[_Wish]:
    """The next extension for a claim: one comparison that fails is enough, else all are needed."""
    costs: dict[Question, float] = {}
    last: dict[Question, int] = {}
    for question, conclusion in ruling.parts:
        if conclusion.word == OPEN:
            costs[question] = _cost(look_needed(question, conclusion, level), question.uses, looks)
            last[question] = conclusion.look
    failing = [question for question in ruling.may_fail() if last[question] < _LAST]
    chosen = sorted(failing, key=costs.__getitem__)[:1] or sorted(costs, key=costs.__getitem__)
    total = sum(costs[question] for question in chosen)
    for question in chosen:
        if last[question] < _LAST:
            yield _Wish(total, Extension(question.uses, last[question] + 1, text))
            return


def _for_number(number: Number, estimates: InterimEstimates, looks: Looks) -> Iterator[_Wish]:
    conclusion = estimates.number(number)
    if conclusion.open and conclusion.look < _LAST:
        cost = _cost(projected_number(conclusion, growth_of(number.uses)), number.uses, looks)
        yield _Wish(cost, Extension(number.uses, conclusion.look + 1, number.where))


def _cost(needed: int | None, uses: Uses, looks: Looks) -> float:
    """The seconds to the look that is needed; far more if it is not one of the eight."""
    if needed is not None and needed <= _LAST:
        return seconds_to(uses, needed, looks)
    return _UNLIKELY * seconds_to(uses, _LAST, dict.fromkeys(uses, 0))
