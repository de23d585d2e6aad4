"""The ranking: regret relative to UTS, a geometric mean over all cases."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from unimodal.results.statistics import Interval, student
from unimodal.studies.compare.cases import UNIT, Case
from unimodal.studies.compare.entries import Comparison, Entry, relative


@dataclass(frozen=True)
class Rank:
    """One policy over all cases."""

    policy: str
    relative: Interval  # geometric mean over cases of its regret divided by that of UTS
    best_in: int  # cases in which its mean regret is the lowest of all
    highest: float  # the largest of these ratios, and where it is
    highest_in: str
    milliseconds: float  # a trial, geometric mean over cases


def ranked(found: Comparison) -> list[Rank]:
    """All policies, the lowest regret first."""
    winners = [order(entries)[0].policy for entries in found.cases.values()]
    names = dict.fromkeys(name for entries in found.cases.values() for name in entries)
    ranks = [_rank(name, found.cases, winners.count(name)) for name in names]
    return sorted(ranks, key=lambda rank: rank.relative.value)


def order(entries: dict[str, Entry]) -> list[Entry]:
    """The entries of a case, the lowest mean regret first."""
    return sorted(entries.values(), key=lambda one: float(one.final.mean()))


def _rank(policy: str, cases: dict[Case, dict[str, Entry]], best_in: int) -> Rank:
    ratios = {
        case: relative(entries[policy], entries[UNIT])
        for case, entries in cases.items()
        if policy in entries
    }
    highest = max(ratios, key=lambda case: ratios[case].value)
    times = [cases[case][policy].milliseconds for case in ratios]
    return Rank(
        policy,
        geometric_mean(list(ratios.values()), [len(cases[case][policy].units) for case in ratios]),
        best_in,
        ratios[highest].value,
        highest.name,
        float(np.exp(np.mean(np.log(times)))),
    )


def geometric_mean(ratios: list[Interval], samples: list[int]) -> Interval:
    """The geometric mean of independent ratios, each an estimate from so many samples.

    The interval is that of new graphs and trials of the same cases, not of other cases.

    >>> print(geometric_mean([Interval(0.5, 0.4, 0.6), Interval(2.0, 1.6, 2.4)], [20, 20]))
    1.00 ± 0.13
    """
    logs = [math.log(one.value) for one in ratios]
    # To first order the standard error of a logarithm is the relative one.
    errors = [
        one.half_width / student(n) / one.value for one, n in zip(ratios, samples, strict=True)
    ]
    middle = float(np.mean(logs))
    reach = 1.96 * math.sqrt(sum(error**2 for error in errors)) / len(ratios)
    return Interval(math.exp(middle), math.exp(middle - reach), math.exp(middle + reach))
