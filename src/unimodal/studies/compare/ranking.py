"""The ranking: regret relative to UTS, a geometric mean over all settings."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from unimodal.results.skewed_means import student
from unimodal.results.statistics import Interval
from unimodal.studies.compare.comparison import Comparison
from unimodal.studies.compare.graph_families import UNIT
from unimodal.studies.outcome import Regrets, ratio
from unimodal.studies.setting import Setting


@dataclass(frozen=True)
class Rank:
    """One policy over all settings."""

    policy: str
    relative: Interval  # geometric mean over settings of its regret divided by that of UTS
    best_in: int  # settings in which its mean regret is the lowest of all
    highest: float  # the largest of these ratios, and where it is
    highest_in: str
    milliseconds: float  # per trial, geometric mean over settings


def ranked(found: Comparison) -> list[Rank]:
    """All policies, the lowest regret first."""
    complete = found.complete()
    winners = [order(outcomes)[0].policy for outcomes in complete.values()]
    names = dict.fromkeys(name for outcomes in complete.values() for name in outcomes)
    ranks = [_rank(name, complete, winners.count(name)) for name in names]
    return sorted(ranks, key=lambda rank: rank.relative.value)


def order(outcomes: dict[str, Regrets]) -> list[Regrets]:
    """The policies of a setting, the lowest mean regret first."""
    return sorted(outcomes.values(), key=lambda one: float(one.final.mean()))


def _rank(policy: str, complete: dict[Setting, dict[str, Regrets]], best_in: int) -> Rank:
    played = {setting: of for setting, of in complete.items() if policy in of}
    ratios = {setting: ratio(of[policy], of[UNIT]) for setting, of in played.items()}
    highest = max(ratios, key=lambda setting: ratios[setting].value)
    times = [of[policy].milliseconds for of in played.values()]
    return Rank(
        policy,
        geometric_mean(list(ratios.values()), [len(of[policy].units) for of in played.values()]),
        best_in,
        ratios[highest].value,
        highest.name,
        float(np.exp(np.mean(np.log(times)))),
    )


def geometric_mean(ratios: list[Interval], samples: list[int]) -> Interval:
    """The geometric mean of independent ratios, each estimated from the given number of samples.

    The interval is for new graphs and trials of the same settings, not for other settings.

    >>> print(geometric_mean([Interval(0.5, 0.4, 0.6), Interval(2.0, 1.6, 2.4)], [20, 20]))
    1.00 −0.12 +0.14
    """
    logs = [math.log(one.value) for one in ratios]
    # To first order the standard error of a logarithm is the relative one; of each side its own.
    reaches = [
        [one.towards(side * math.inf) / student(n) / one.value for side in (-1, 1)]
        for one, n in zip(ratios, samples, strict=True)
    ]
    middle = float(np.mean(logs))
    low, high = 1.96 * np.linalg.norm(reaches, axis=0) / len(ratios)
    return Interval(math.exp(middle), math.exp(middle - low), math.exp(middle + high))
