"""Do delays differ between arms, or do they change? And is there nothing but the highest reward?

What `late_rewards.py` assumes, tested by the rewards that came: a log-rank test in reverse time,
since a young decision shows short delays only. Of the rewards that took at most so long and whose
decisions are older, each is as likely to be one that took just so long, whatever its group.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unimodal.inference.late_rewards import BINS, age_edges

FEWEST = 30  # rewards of a group that is compared with the others
ONLY_HIGHEST = 50  # rewards without another one, after which silence must be meant


class DelayTest(NamedTuple):
    """Whether the delays of a group differ from those of the others."""

    group: int  # the one that differs most; -1 where there were too few rewards
    p_value: float  # of all groups together
    ratio: float  # how often it has long delays, as a multiple of what the others let expect


def compare_delays(
    groups: Any, decided: Any, happened: Any, now: float, time_to_live: float
) -> DelayTest:
    """Test whether delays have the same law in all groups.

    Each of `groups`, `decided` and `happened` has one number per reward that came in time: which
    group it is of, when its decision was made, when it happened. If they have the same law, the
    p-value is at most p with probability about p: the sum of a group's excesses is compared with
    the normal law, and p-values are multiplied by the number of groups (Bonferroni).

    >>> rng = np.random.default_rng(1)
    >>> decided, delays = rng.uniform(0, 5, 400), rng.exponential(1.0, 400)
    >>> groups = np.arange(400) % 2
    >>> slow = np.where(groups == 1, 3 * delays, delays)
    >>> came = decided + slow < 5.0
    >>> found = compare_delays(groups[came], decided[came], (decided + slow)[came], 5.0, 7.0)
    >>> found.p_value < 0.001, found.ratio > 1
    (True, True)
    """
    ended, at_risk = _counted(
        np.asarray(groups, dtype=np.int64), decided, happened, now, time_to_live
    )
    large = [group for group in range(len(ended)) if ended[group].sum() >= FEWEST]
    nothing = DelayTest(-1, 1.0, 1.0)
    if len(ended) < 2 or not large:
        return nothing
    all_ended, all_at_risk = ended.sum(axis=0), at_risk.sum(axis=0)
    found = []
    for group in large:
        value, ratio = _excess(ended[group], at_risk[group], all_ended, all_at_risk)
        found.append((round(abs(value), 9), ratio, group))  # of two groups, the slow one is told
    highest, ratio, group = max(found)
    p_value = min(len(large) * math.erfc(highest / math.sqrt(2.0)), 1.0)
    return DelayTest(group, p_value, ratio)


def compare_halves(decided: Any, happened: Any, now: float, time_to_live: float) -> DelayTest:
    """Test whether delays have changed: decisions in the later half of the rewards, or before.

    The group that is named is 0 for the earlier ones and 1 for the later ones; the error rate is
    that of `compare_delays`.

    >>> rng = np.random.default_rng(2)
    >>> decided = np.sort(rng.uniform(0, 30, 600))
    >>> delays = rng.exponential(1.0, 600)
    >>> compare_halves(decided, decided + delays, 40.0, 7.0).p_value > 0.05
    True
    """
    decided = np.asarray(decided, dtype=np.float64)
    later = decided > np.median(decided) if len(decided) else decided
    return compare_delays(later.astype(int), decided, happened, now, time_to_live)


def is_only_highest(rewards: int, highest: int) -> bool:
    """Whether so many rewards were told, of which each was the highest there is.

    It is asked of campaigns in which silence is not counted. Where at most nine in ten rewards are
    the highest, this happens with probability at most 0.9**50 = 0.5 %, however often it is asked:
    only the first 50 can say so.

    >>> is_only_highest(50, 50), is_only_highest(49, 49), is_only_highest(80, 79)
    (True, False, False)
    """
    return rewards >= ONLY_HIGHEST and rewards == highest


def looks_level(alarm_rate: float, look: int) -> float:
    """The level of a test that is made again and again: of look 1, 2, 3, …

    The levels of all looks sum to `alarm_rate`, which is so a bound on the probability that one of
    them is ever a false alarm. Look again when the number of rewards has doubled.

    >>> round(sum(looks_level(0.01, look) for look in range(1, 10_000)), 5)
    0.01
    """
    return alarm_rate / (look * (look + 1.0))


def _counted(
    groups: NDArray[Any], decided: Any, happened: Any, now: float, time_to_live: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How many rewards of each group took so long, and how many were at risk of it: by bins."""
    edges = age_edges(time_to_live)[1:]
    decided, happened = np.asarray(decided, np.float64), np.asarray(happened, np.float64)
    took = np.searchsorted(edges, happened - decided, side="right")
    reached = np.searchsorted(edges, now - decided, side="right")
    kinds = int(groups.max()) + 1 if len(groups) else 0
    ended, at_risk = np.zeros((kinds, BINS)), np.zeros((kinds, BINS + 1))
    seen = took < reached  # what took as long as its decision is old says nothing yet
    groups, took, reached = groups[seen], took[seen], reached[seen]
    np.add.at(ended, (groups, took), 1.0)
    np.add.at(at_risk, (groups, took), 1.0)
    np.add.at(at_risk, (groups, reached), -1.0)
    return ended, np.cumsum(at_risk, axis=1)[:, :BINS]


def _excess(ended: Any, at_risk: Any, all_ended: Any, all_at_risk: Any) -> tuple[float, float]:
    """By how many standard deviations a group exceeds the others; what it has and should have."""
    n, d = all_at_risk, all_ended
    used = n > 1
    n, d, own, share = n[used], d[used], ended[used], at_risk[used] / n[used]
    expected = d * share
    variance = float((d * share * (1.0 - share) * (n - d) / (n - 1.0)).sum())
    if variance <= 0.0:
        return 0.0, 1.0
    return float((own - expected).sum()) / math.sqrt(variance), float(own.sum() / expected.sum())
