"""How often the rule of `sequential_test.py` errs: whole runs of eight looks, resampled.

The trials of a setting stand for all that there could be. Their mean is then known, so a claim can
be put exactly where neither side is true, and every decision is an error.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unimodal.studies.reproduce.findings import Findings
from unimodal.studies.reproduce.sequential_test import FEWEST_TRIALS, LOOKS, Estimate, level_of
from unimodal.studies.reproduce.settings import PEAKS

RUNS = 5000


@dataclass(frozen=True)
class Errors:
    """The share of runs that decided although there was nothing to decide."""

    where: str
    questions: int
    runs: int
    by_the_rule: float
    at_one_look: float  # the same level at each look, as if there were one
    of_student: float  # Student's interval at the rule's level, without a look at the skew


def of_lines(found: Findings, questions: int) -> list[Errors]:
    """The errors on the lines of Appendix B, whose regrets are the most skewed of all.

    Each of a question alone, and as one of so many questions.
    """
    made = []
    for k, peaks in PEAKS.items():
        for step, high in peaks.items():
            pair = [found.at("Appendix B", k, "triangle", p, high) for p in ("UTS", "OSUB")]
            if pair[0] is not None and pair[1] is not None:
                one, two = (finding.units for finding in pair if finding is not None)
                gap = one - two * one.mean() / two.mean()
                where = f"K = {k}, Δ = {step}"
                made += [errors(gap, number, RUNS, where=where) for number in (1, questions)]
    return made


def errors(
    population: Any, questions: int, runs: int, seed: int = 0, where: str = "", first: int = 0
) -> Errors:
    """Resample runs of eight looks at a claim that lies on the mean of a population.

    The first look has as many samples as the population, or `first`.
    """
    rng = np.random.default_rng(seed)
    centred = np.asarray(population, dtype=np.float64) - np.mean(population)
    kinds, own = len(centred), first or len(centred)
    counts = np.zeros((runs, kinds))  # how often each of the population was drawn
    rule, one_look, student = (np.zeros(runs, dtype=bool) for _ in range(3))
    for look in range(LOOKS):
        new = own * 2**look - int(counts[0].sum())
        counts += rng.multinomial(new, np.full(kinds, 1 / kinds), size=runs)
        now = _estimate(counts, centred)
        spent = now.interval(level_of(questions))
        rule |= now.enough & _decides(spent)
        one_look |= now.enough & _decides(now.interval(_one_look(questions)))
        student |= _decides(replace(now, third=np.zeros(runs)).interval(level_of(questions)))
    shares = (float(those.mean()) for those in (rule, one_look, student))
    return Errors(where, questions, runs, *shares)


def _estimate(counts: Any, values: Any) -> Estimate:
    """The mean of values drawn so often: that of `mean_of`, of many draws at once."""
    number = int(counts[0].sum())
    mean, squares, cubes = (counts @ values**power / number for power in (1, 2, 3))
    variance = squares - mean**2
    third = cubes - 3 * mean * squares + 2 * mean**3
    error = np.sqrt(variance / (number - 1))
    return Estimate(mean, error, third / number**2, number - 1, number, FEWEST_TRIALS)


def _one_look(questions: int) -> float:
    """The level without spending over looks: the fault that the check must show."""
    return 1 - LOOKS * (1 - level_of(questions))


def _decides(interval: Any) -> Any:
    return (interval.low > 0) | (interval.high < 0)
