"""The answer to whether there is a second peak: what was found, and what to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any


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
        """The arm, its bounds and its pulls."""
        found = f"arm {self.arm!r}: mean {self.mean:.4g} ({self.low:.3g} to {self.high:.3g})"
        return f"{found}, {self.pulls:,} pulls"


@dataclass(frozen=True)
class SecondPeaks(Sequence[Peak]):
    """The answer of `second_peaks`: the peaks besides `best`; true if there are any."""

    best: Peak  # the arm with the highest lower bound
    others: tuple[Peak, ...]
    confidence: float
    unpulled: int  # how many arms were never pulled
    n_arms: int

    def __len__(self) -> int:
        """How many second peaks show."""
        return len(self.others)

    def __getitem__(self, number: Any) -> Any:
        """A second peak, by its number."""
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
        """What was found, and what to do."""
        level = f"{100 * self.confidence:.10g} %"
        if not self.others:
            return f"No second peak shows at {level} confidence. {self.advice}"
        lines = [f"More than one peak, at {level} confidence. The best seems {self.best}."]
        for peak in self.others:
            hill = f"; its top is one of {len(peak.hill)} arms" if len(peak.hill) > 1 else ""
            sure = f"{100 * min(peak.confidence, 0.999999):.6g} %"
            lines.append(f"Another hill: {peak}{hill}. Confidence {sure}.")
        return "\n".join([*lines, self.advice])
