"""What samples said of every question, look by look, and the final verdicts that follow.

A file keeps the estimates of all looks, not the samples: verdicts are made from them again.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import partial
from pathlib import Path

from unimodal import files
from unimodal.studies import parquet
from unimodal.studies.reproduce.added_samples import growth, size_at, trials_of
from unimodal.studies.reproduce.claims import CLAIMS, Claim
from unimodal.studies.reproduce.coverage import Errors
from unimodal.studies.reproduce.decision_rule import Question, all_hold
from unimodal.studies.reproduce.numbers import (
    Number,
    NumberConclusion,
    all_numbers,
    conclude_number,
    projected_number,
)
from unimodal.studies.reproduce.sequential_test import (
    CLOSE,
    FAILS,
    HOLDS,
    OPEN,
    Conclusion,
    Estimate,
    Unseen,
    conclude,
    level_of,
    projected,
    unseen,
    word_of,
)
from unimodal.studies.reproduce.setting import Setting

RATES = "seconds-a-trial.json"
WHAT = "the decided.parquet of a reproduction"
Use = tuple[Setting, str]
Uses = tuple[Use, ...]


@dataclass(frozen=True)
class Cost:
    """What something took or would take: trials of all policies, and seconds of one core."""

    trials: int
    seconds: float


@dataclass(frozen=True)
class Ruling:
    """The final verdict on a claim: the word, and the words on its comparisons."""

    word: str
    parts: tuple[tuple[Question, Conclusion], ...]
    level: float
    one_fails: bool = True  # whether one comparison that fails decides it

    def may_fail(self) -> list[Question]:
        """The open comparisons that would decide the claim alone, were more samples like these."""
        found = []
        for question, conclusion in self.parts if self.one_fails else ():
            look = (
                look_needed(question, conclusion, self.level) if conclusion.word == OPEN else None
            )
            if look is not None:
                factor = growth_of(question.uses) ** (look - conclusion.look)
                grown = conclusion.estimate.grown(float(factor), self.level)
                if word_of(grown, question.margin) == FAILS:
                    found.append(question)
        return found

    def __str__(self) -> str:
        """The word; where it is too close to call, with how close."""
        close = [(q, s) for q, s in self.parts if s.word == CLOSE]
        if self.word != CLOSE or not close:
            return self.word
        widest = max(close, key=lambda part: _reach(part[1]))
        return f"{CLOSE}, {widest[0].spread(_reach(widest[1]))}"

    @property
    def note(self) -> str:
        """The comparisons that made the word, with their ratios, and what could turn it unseen."""
        said = str(self.unseen) if self.unseen and self.unseen.matters else ""
        return f"{self._made}. {said[0].upper()}{said[1:]}" if said else self._made

    @property
    def _made(self) -> str:
        if self.word == HOLDS:
            few = self.parts if len(self.parts) <= 6 else ()
            return _listed([q.shown(s.estimate, self.level) for q, s in few]) or (
                f"All {len(self.parts)} comparisons hold"
            )
        made = [q.shown(s.estimate, self.level) for q, s in self.parts if s.word == self.word]
        return _listed(made)

    @property
    def unseen(self) -> Unseen | None:
        """What could turn the verdict unseen.

        Where all must hold, that of the weakest comparison; where one that fails is enough, that of
        the strongest of those.
        """
        made = [
            unseen(conclusion, self.level, trials_at(question.uses, conclusion.look))
            for question, conclusion in self.parts
            if conclusion.word == self.word
        ]
        known = [one for one in made if one is not None]
        choose = max if self.word == FAILS and self.one_fails else min
        return choose(known, key=lambda one: one.times, default=None)


class InterimEstimates:
    """The estimates of every question, one per look."""

    def __init__(
        self,
        estimates: Mapping[str, Sequence[Estimate]],
        made_with: str = "",
        rates: Mapping[str, float] | None = None,
        claims: Sequence[Claim] = CLAIMS,
        numbers: Sequence[Number] | None = None,
    ) -> None:
        self.estimates, self.made_with = dict(estimates), made_with
        self.rates = dict(rates or {})  # measured seconds a trial, by `rate_key`
        self.coverage: list[Errors] = []  # how often the rule errs, resampled
        self.claims = tuple(claims)
        self.numbers = all_numbers() if numbers is None else tuple(numbers)
        asked = {one for claim in self.claims for one in claim.rule.comparisons}
        self.questions = len(asked) + len(self.numbers)
        self.level = level_of(self.questions)

    def conclusion(self, question: Question) -> Conclusion:
        """The word on one comparison."""
        return conclude(self.estimates[question.key], question.margin, self.level)

    def ruling(self, claim: Claim) -> Ruling:
        """The final verdict on a claim."""
        parts = tuple((one, self.conclusion(one)) for one in claim.rule.comparisons)
        word = claim.rule.combine([conclusion.word for _, conclusion in parts])
        return Ruling(word, parts, self.level, claim.rule.combine is all_hold)

    def number(self, number: Number) -> NumberConclusion:
        """The final verdict on a number."""
        return conclude_number(number, self.estimates[number.key], self.questions)

    def took(self, ruling: Ruling) -> Cost:
        """The trials that the comparisons of a claim had when they were conclusion."""
        return self._cost(_latest((one.uses, conclusion.look) for one, conclusion in ruling.parts))

    def would_take(self, ruling: Ruling) -> Cost | None:
        """What an open claim would take beyond these samples, if more were like them.

        None if it is beyond reach.
        """
        looks = [
            (one.uses, conclusion.look, look_needed(one, conclusion, self.level))
            for one, conclusion in ruling.parts
            if conclusion.word == OPEN
        ]
        known = [(uses, now, look) for uses, now, look in looks if look is not None]
        added = {uses: self._added([(uses, now, look)]) for uses, now, look in known}
        failing = [added[one.uses] for one in ruling.may_fail() if one.uses in added]
        if failing:  # one that fails is enough
            return min(failing, key=lambda cost: cost.seconds)
        return self._added(known) if len(known) == len(looks) else None

    def number_took(self, number: Number) -> Cost:
        """The trials that a number had when it was conclusion."""
        return self._cost(_latest([(number.uses, self.number(number).look)]))

    def number_would_take(self, number: Number) -> Cost | None:
        """What an open number would take beyond these samples."""
        conclusion = self.number(number)
        look = projected_number(conclusion, growth_of(number.uses))
        return None if look is None else self._added([(number.uses, conclusion.look, look)])

    def _cost(self, looks: Mapping[Use, int]) -> Cost:
        trials = {use: trials_of(use[0], size_at(use[0], look)) for use, look in looks.items()}
        seconds = sum(number * self._rate(use) for use, number in trials.items())
        return Cost(sum(trials.values()), seconds)

    def _added(self, wanted: Sequence[tuple[Uses, int, int]]) -> Cost:
        after = self._cost(_latest((uses, look) for uses, _, look in wanted))
        before = self._cost(_latest((uses, look) for uses, look, _ in wanted))
        return Cost(after.trials - before.trials, after.seconds - before.seconds)

    def _rate(self, use: Use) -> float:
        return self.rates.get(rate_key(use), use[0].seconds_a_trial(use[1]))

    def save(self, path: Path) -> Path:
        """Write one compact Parquet file."""
        rows = [
            {"question": key, "looks": json.dumps([astuple(one) for one in looks])}
            for key, looks in self.estimates.items()
        ]
        coverage = json.dumps([astuple(one) for one in self.coverage])
        about = {"kind": "decided", "made_with": self.made_with, "coverage": coverage}
        return parquet.write(path, rows, about)

    def save_rates(self, path: Path) -> Path:
        """Write the measured seconds a trial: another file, for no two runs measure the same."""
        text = json.dumps(self.rates, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
        return files.write(path, partial(Path.write_text, data=text, encoding="utf-8"))


def load(path: Path) -> InterimEstimates:
    """The estimates in a file, with the rates beside it; every question of today must be in it."""
    with files.reading(path, WHAT):
        rows, about = parquet.read(path)
        if about.get("kind") != "decided":
            raise ValueError("notes of another kind")
        estimates = {
            row["question"]: [Estimate(*one) for one in json.loads(row["looks"])] for row in rows
        }
        found = InterimEstimates(estimates, about["made_with"], _rates(path.with_name(RATES)))
        found.coverage = [Errors(*one) for one in json.loads(about.get("coverage", "[]"))]
        for claim in found.claims:
            found.ruling(claim)
        for number in found.numbers:
            found.number(number)
        return found


def _rates(path: Path) -> dict[str, float]:
    if not path.exists():
        return {}
    rates = json.loads(path.read_text(encoding="utf-8"))
    if not all(isinstance(rate, float) and 0 <= rate < math.inf for rate in rates.values()):
        raise ValueError("a rate that cannot be")
    return dict(rates)


def _reach(conclusion: Conclusion) -> float:
    return max(-conclusion.interval.low, conclusion.interval.high)


def _listed(texts: list[str], most: int = 3) -> str:
    more = f"; and {len(texts) - most} more" if len(texts) > most else ""
    return "; ".join(texts[:most]) + more


def rate_key(use: Use) -> str:
    """The name of a setting and a policy among measured times."""
    return f"{use[0].name}, T = {use[0].horizon}: {use[1]}"


def growth_of(uses: Uses) -> int:
    """The factor by which the samples of a question grow from look to look.

    Of two settings, that of the cheaper one: it has fewer arms, and its ratios vary more.
    """
    return max(growth(setting) for setting, _ in uses)


def trials_at(uses: Uses, look: int) -> int:
    """The trials that each policy of a question has at a look, at least."""
    return min(trials_of(setting, size_at(setting, look)) for setting, _ in uses)


def look_needed(question: Question, conclusion: Conclusion, level: float) -> int | None:
    """The look that would decide an open comparison if more samples were like those so far."""
    return projected(conclusion, question.margin, level, growth_of(question.uses))


def _latest(wanted: Iterable[tuple[Uses, int]]) -> dict[Use, int]:
    """The latest look of each setting and policy."""
    looks: dict[Use, int] = {}
    for uses, look in wanted:
        for use in uses:
            looks[use] = max(look, looks.get(use, look))
    return looks
