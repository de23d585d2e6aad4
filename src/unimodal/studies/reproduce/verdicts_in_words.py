"""Final verdicts in words: on the paper's numbers and on its claims, with what they took."""

from __future__ import annotations

from dataclasses import dataclass

from unimodal.results.statistics import Interval
from unimodal.studies.reproduce.claims import Claim
from unimodal.studies.reproduce.interim_estimates import Cost, InterimEstimates
from unimodal.studies.reproduce.numbers import Number, usual_interval
from unimodal.studies.reproduce.sequential_test import OPEN
from unimodal.studies.reproduce.tables import Row

_FEWER = 0.1  # core-minutes: below, it is said to be less than that


@dataclass(frozen=True)
class FinalNumber:
    """The final verdict on a number of the paper."""

    ours: Interval
    trials: int
    word: str  # "open" while our interval is too wide
    text: str  # the word with how far off, or what it would take


@dataclass(frozen=True)
class FinalClaim:
    """The final verdict on a claim."""

    word: str
    text: str  # the word, with how close where it is too close to call
    trials: int
    note: str  # the comparisons that decide, or what an open claim would take


def final_numbers(decided: InterimEstimates) -> dict[tuple[str, int, str, str], FinalNumber]:
    """The final verdict on every number, by table, arms, graph and policy as rows have them."""
    made = {}
    for number in decided.numbers:
        conclusion = decided.number(number)
        ours, trials = usual_interval(conclusion.estimate), decided.number_took(number).trials
        word = OPEN if conclusion.open else conclusion.verdict.word
        text = str(conclusion.verdict)
        if conclusion.open:
            text = f"{OPEN}: {would_take(decided.number_would_take(number))}"
        elif ours.few:
            text = f"{text} ({ours.few})"
        made[_place(number)] = FinalNumber(ours, trials, word, text)
    return made


def place_of(row: Row) -> tuple[str, int, str, str]:
    """Under what the final verdict on a row is found."""
    return row.table, row.n_arms, row.density, row.policy


def _place(number: Number) -> tuple[str, int, str, str]:
    density = number.setting.density.replace("triangle", "line")
    return number.table, number.setting.n_arms, density, number.policy


def final_claim(decided: InterimEstimates, claim: Claim) -> FinalClaim:
    """The final verdict on a claim."""
    ruling = decided.ruling(claim)
    note = ruling.note
    if ruling.word == OPEN:
        said = would_take(decided.would_take(ruling))
        note = f"{said[0].upper()}{said[1:]}. {note}"
    return FinalClaim(ruling.word, str(ruling), decided.took(ruling).trials, note)


def would_take(cost: Cost | None) -> str:
    """What an open question would take, in words.

    >>> would_take(Cost(12000, 90.0))
    'it would take about 12,000 trials more (1.5 core-minutes)'
    """
    if cost is None:
        return "no number of trials that we could run would be enough"
    minutes = cost.seconds / 60
    spoken = f"{minutes:,.1f}" if minutes < 10 else f"{minutes:,.0f}"
    time = f"{spoken} core-minutes" if minutes >= _FEWER else "seconds"
    return f"it would take about {cost.trials:,} trials more ({time})"
