"""Do the means have several peaks? Hills that stand apart by bounds on all means."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from unimodal.families.family import ArmsFamily
from unimodal.graphs import Graph
from unimodal.inference.confidence_bounds import bounds
from unimodal.inference.hills import hills, stand_apart


@dataclass(frozen=True)
class Peak:
    """An arm on a hill of its own."""

    arm: Any  # its label
    pulls: int
    mean: float  # of its rewards
    low: float  # bounds on its true mean, which hold for all arms at once
    high: float
    hill: tuple[Any, ...]  # the arms among which the top of the hill is
    confidence: float  # that it is not the best arm's hill
    is_lower: bool  # whether the best arm is surely better than all of this hill

    def __str__(self) -> str:
        found = f"arm {self.arm!r}: mean {self.mean:.4g} ({self.low:.3g} to {self.high:.3g})"
        return f"{found}, {self.pulls:,} pulls"


@dataclass(frozen=True)
class SecondPeaks(Sequence[Peak]):
    """The answer of `second_peaks`: the peaks besides `best`; true if there are any.

    Attributes
    ----------
    best
        The arm that seems best, with its bounds.
    others
        The peaks besides it, the surest first.
    confidence
        The confidence that was asked for.
    unpulled
        How many arms were never pulled.
    n_arms
        How many arms there are.

    Examples
    --------
    >>> import unimodal as um
    >>> bool(um.second_peaks(um.graphs.line(3), pulls=[9, 9, 9], totals=[3, 6, 3]))
    False
    """

    best: Peak  # the arm with the highest lower bound
    others: tuple[Peak, ...]
    confidence: float
    unpulled: int  # how many arms were never pulled
    n_arms: int

    def __len__(self) -> int:
        return len(self.others)

    def __getitem__(self, number: Any) -> Any:
        return self.others[number]

    def __iter__(self) -> Iterator[Peak]:
        """The second peaks, from the highest lower bound down."""
        return iter(self.others)

    @property
    def advice(self) -> str:
        """What to do."""
        if not self.others:
            never = f"; {self.unpulled:,} of {self.n_arms:,} arms were never pulled"
            return (
                "Nothing speaks against a policy that climbs. Nor is one peak proved: a valley "
                f"shows only where its arms are pulled{never if self.unpulled else ''}. To look "
                "for one, pull all arms equally often for a while."
            )
        second = self.others[0]
        open_question = "" if second.is_lower else " Which of the two is higher is not clear yet."
        return (
            "A policy that stays around its leader can be stuck on a lower peak: use one that "
            f"compares all arms (um.TS, um.KLUCB), or add the edge ({self.best.arm!r}, "
            f"{second.arm!r}) to the graph, so that it can step from one to the other."
            f"{open_question}"
        )

    def __str__(self) -> str:
        level = f"{100 * self.confidence:.10g} %"
        if not self.others:
            return f"No second peak shows at {level} confidence. {self.advice}"
        lines = [f"More than one peak, at {level} confidence. The best seems {self.best}."]
        for peak in self.others:
            hill = f"; its top is one of {len(peak.hill)} arms" if len(peak.hill) > 1 else ""
            sure = f"{100 * min(peak.confidence, 0.999999):.6g} %"
            lines.append(f"Another hill: {peak}{hill}. Confidence {sure}.")
        return "\n".join([*lines, self.advice])


class RewardSums(NamedTuple):
    """A graph, the family of its rewards, and their number and sum for each arm."""

    graph: Graph
    family: ArmsFamily  # for these arms
    pulls: Any  # (arms,)
    totals: Any  # (arms,): the sums of their rewards, as they were told


def peaks_of(data: RewardSums, level: float) -> SecondPeaks:
    """Which arms stand on a hill of their own: `um.second_peaks`, from sums alone."""
    graph, of_arms, counts, sums = data
    low, high = bounds(of_arms, counts, sums, _threshold(graph, level))
    means = np.divide(sums, counts, out=np.full(len(counts), np.nan), where=counts > 0)
    means = np.asarray(of_arms.worth(means))
    found = list(hills(graph, low, high))
    best = found[0][0]

    def described(arm: int, hill: list[int]) -> Peak:
        sure = _confidence_apart(data, arm, best, level) if arm != best else 1.0
        labels = tuple(graph.label_of(one) for one in hill)
        numbers = (int(counts[arm]), float(means[arm]), float(low[arm]), float(high[arm]))
        is_lower = bool(high[hill].max() < low[best])
        return Peak(graph.label_of(arm), *numbers, labels, sure, is_lower)

    first, *others = (described(*one) for one in found)
    return SecondPeaks(first, tuple(others), level, int((counts == 0).sum()), graph.n_arms)


def _threshold(graph: Graph, confidence: float) -> float:
    """log(K/δ): each of the K arms gets its share of what may go wrong."""
    return math.log(graph.n_arms) - math.log1p(-confidence)


def _confidence_apart(data: RewardSums, arm: int, best: int, confidence: float) -> float:
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
