"""Does the mean reward have one peak? What the rewards so far can say."""

from __future__ import annotations

import math
from typing import Any

from unimodal.agent import Agent
from unimodal.errors import UnimodalError, real_number
from unimodal.families import Family
from unimodal.families.evidence import bounds
from unimodal.graphs import Graph
from unimodal.graphs.hills import hills, stand_apart
from unimodal.peaks.answer import Peak, SecondPeaks
from unimodal.peaks.data import Data, gathered
from unimodal.result import Result


def second_peaks(
    source: Graph | Agent | Result,
    pulls: Any = None,
    totals: Any = None,
    *,
    rewards: Family | None = None,
    confidence: float = 0.95,
    policy: str | None = None,
    trial: int = 0,
) -> SecondPeaks:
    """Which arms stand on a hill of their own, apart from the best arm's.

    `source` is a graph, with the number of `pulls` of every arm and the `totals` of their rewards
    (in the order of the arms, or by label); or an agent on a graph; or a result with its
    history, of which one `policy` and one `trial` are looked at.

    Two arms stand on different hills if every path between them passes an arm that is worse than
    both. Every arm has bounds low ≤ μ ≤ high (`families.evidence`). The arms that can be as good as
    c are those with high ≥ c. An arm with low = c is reported if another with low ≥ c is not joined
    to it by a path of such arms.

    *False alarms.* If the means have one peak (plateaus are allowed), any arm is reported with
    probability at most 1 - `confidence`, whoever chose the pulls and however often one looks.
    Proof: an arm's bounds fail in any round with probability at most (1 - `confidence`)/K, so all
    hold in all rounds with probability at least `confidence`. While they hold, let arm a be
    reported because of arm b. Then μ_a ≥ c and μ_b ≥ c, and every arm with μ ≥ c has high ≥ c; so
    a and b lie in different connected parts of {μ ≥ c}. All that surrounds a part is below c, and
    so below the best arms of the part: the means have at least two peaks. ∎

    It takes rewards that are independent given the arm, of the family `rewards` (an agent and a
    result bring theirs; `Bounded` is any law in [a, b]), with means that do not drift.

    >>> import unimodal as um
    >>> line = um.graphs.line(5)
    >>> found = um.second_peaks(line, pulls=[400] * 5, totals=[120, 320, 80, 280, 100])
    >>> [peak.arm for peak in found]
    [3]
    >>> print(found)
    More than one peak, at 95 % confidence. The best seems arm 1: mean 0.8 (0.714 to 0.871), ...
    Another hill: arm 3: mean 0.7 (0.605 to 0.785), 400 pulls. Confidence 99.9999 %.
    A policy that stays around its leader can be stuck on a lower peak: ...
    >>> print(um.second_peaks(line, pulls=[400] * 5, totals=[120, 320, 310, 310, 100]))
    No second peak shows at 95 % confidence. ...
    """
    level = real_number(confidence, "the 'confidence'", above=0)
    if not level < 1:
        raise UnimodalError(f"the 'confidence' must lie between 0 and 1, got {level:g}.")
    data = gathered(source, pulls, totals, rewards, policy, trial)
    graph, family, counts, sums = data
    low, high = bounds(family, counts, sums, _threshold(graph, level))
    found = list(hills(graph, low, high))
    best = found[0][0]

    def described(arm: int, hill: list[int]) -> Peak:
        mean = sums[arm] / counts[arm] if counts[arm] else math.nan
        sure = _confidence_apart(data, arm, best, level) if arm != best else 1.0
        labels = tuple(graph.label_of(one) for one in hill)
        numbers = (int(counts[arm]), float(mean), float(low[arm]), float(high[arm]))
        is_lower = bool(high[hill].max() < low[best])
        return Peak(graph.label_of(arm), *numbers, labels, sure, is_lower)

    first, *others = (described(*one) for one in found)
    return SecondPeaks(first, tuple(others), level, int((counts == 0).sum()), graph.n_arms)


def _threshold(graph: Graph, confidence: float) -> float:
    """log(K/δ): each of the K arms gets its share of what may go wrong."""
    return math.log(graph.n_arms) - math.log1p(-confidence)


def _confidence_apart(data: Data, arm: int, best: int, confidence: float) -> float:
    """The highest confidence, up to seven nines, at which two arms still stand apart."""
    log_arms = math.log(data.graph.n_arms)
    inside = _threshold(data.graph, confidence)
    outside = max(inside, log_arms + math.log(1e7))
    # Wider bounds join more arms: what is apart at one threshold is apart at all lower ones.
    for _ in range(20):
        middle = 0.5 * (inside + outside)
        low, high = bounds(data.family, data.pulls, data.totals, middle)
        apart = stand_apart(data.graph, low, high, arm, best)
        inside, outside = (middle, outside) if apart else (inside, middle)
    return -math.expm1(log_arms - inside)
