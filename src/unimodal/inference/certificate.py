"""Are we done? The peak, with a confidence that holds whenever one looks; or what is still open."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unimodal.errors import UnimodalError, real_number
from unimodal.families.family import ArmsFamily
from unimodal.inference.peak_test import (
    Numbering,
    check_confidence,
    order_evidence,
    set_with_peak,
    shortfall,
)

STANDING = ("arm", "certificate", "best (belief)")
_SHOWN = 5  # arms that are listed
_MOST_TIMES_MORE = 1e6  # of the present rewards: what takes longer is not foreseen

DROPPED = (
    "decisions whose reward came too late were dropped: it is assumed that this does not depend on "
    "the reward"
)
PAST = "past data count as rewards of the same kind"
# Why nothing can be certified, whatever the rewards: the fact, and its words.
EXPIRED_AS_ZERO = "expired as zero"
OBSTACLES = {
    EXPIRED_AS_ZERO: "expired decisions count as 0, and rewards of which some are 0 instead are "
    "not of their family: begin a new campaign with Bounded rewards"
}


@dataclass(frozen=True, kw_only=True)
class Belief:
    """What the posterior says of the leader's neighbourhood: a belief, which the prior is part of.

    Unlike the certificate, it has no guarantee that holds whenever one looks.
    """

    best: dict[Hashable, float]  # the probability of each arm that it is the best of them
    expected_loss: float  # per round, if the leader were played for ever from now on


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """Which arm is the peak, at a confidence; true once that is certain enough.

    Whatever policy chose the arms, and however often one looks: a wrong arm is ever certified with
    probability at most 1 - `confidence`, if the means have one peak and do not move. That one of
    peak, `among` and `gap` is ever wrong has at most twice that probability, and with a graph that
    was changed the peak 1.5 times. docs/theory/certificate.md has the theorems and their proofs.

    Attributes
    ----------
    leader
        The arm with the highest mean of the rewards that count; a campaign's own leader, which past
        data may have brought to the lead, can be another.
    peak
        The leader, if it is certified; else None.
    confidence
        The confidence that was asked for.
    error
        The smallest error probability at which the leader is certified now.
    open
        The neighbours that cannot be told from the leader yet.
    among
        Arms of which one is the peak.
    gap
        By how much the peak's mean is above the leader's at most.
    tolerance
        The gap that was allowed.
    more
        About how many more rewards it takes.
    rewards
        How many rewards count.
    waiting
        How many do not yet.
    assumptions
        What has to be said besides.
    belief
        What the posterior says, apart from the certificate.
    obstacle
        Why nothing can be certified, whatever the rewards: "expired as zero", or None.
    past
        As how many rewards past data count elsewhere, which do not count here.

    Examples
    --------
    >>> import unimodal as um
    >>> agent = um.Agent(um.UniTT(), um.graphs.line(3), seed=1)
    >>> bool(agent.certificate())
    False
    """

    leader: Hashable  # the arm with the highest mean of the rewards that count; None without any
    peak: Hashable  # the leader, if it is certified to be the peak; else None
    confidence: float  # what was asked for
    error: float  # the smallest error probability at which the leader is certified now; 1: at none
    open: tuple[Hashable, ...]  # neighbours that cannot be told from the leader yet
    among: tuple[Hashable, ...] | None  # a set with the peak in it; None where it is not known
    gap: float  # by how much the peak's mean is above the leader's at most
    tolerance: float | None
    more: int | None  # about how many more rewards it takes at the present rate; None: not foreseen
    rewards: int  # that count
    waiting: int  # rewards that do not count yet, since an earlier decision has none
    assumptions: tuple[str, ...]
    belief: Belief | None = None  # None for a family whose posterior is not known
    obstacle: str | None = None  # one of OBSTACLES
    past: int = 0  # rewards that past data stand for, and that do not count

    @property
    def level(self) -> float:
        """The highest confidence at which the leader is certified now."""
        return 1.0 - self.error

    def __bool__(self) -> bool:
        return self.peak is not None or (self.tolerance is not None and self.gap <= self.tolerance)

    def to_dict(self) -> dict[str, Any]:
        """The fields by name."""
        return dataclasses.asdict(self)

    def sentences(self) -> list[tuple[str, str]]:
        """What it says, sentence by sentence, each with the fact that it is about.

        'verdict', 'near tie', 'waiting', 'assumption', 'past' or 'belief'.
        """
        found = [("verdict", self._verdict()), *(("near tie", text) for text in self._near_tie())]
        if self.waiting:
            until = "until an earlier decision has its reward"
            found.append(("waiting", f"{self.waiting:,} more wait to be counted {until}."))
        found += [("assumption", f"Note: {assumption}.") for assumption in self.assumptions]
        if self.past:
            found.append(("past", f"Past data, as {self.past:,} rewards, do not count here."))
        if self.belief is not None and self.leader is not None:
            best = self.belief.best.get(self.leader, math.nan)
            posterior = "Posterior with past data" if self.past else "Posterior"
            told = (
                f"{posterior}, not part of the certificate: {_percent(best)} that {self.leader} is "
                "the best of its neighbourhood; stopping now would lose "
                f"{self.belief.expected_loss:.2g} per round."
            )
            found.append(("belief", told))
        return found

    def __str__(self) -> str:
        return "\n".join(text for _, text in self.sentences())

    def _verdict(self) -> str:
        counted = f"{self.rewards:,} reward{'s' if self.rewards != 1 else ''}"
        if self.obstacle is not None:
            return f"Nothing can be certified: {OBSTACLES.get(self.obstacle, self.obstacle)}."
        only = ", by new rewards only" if self.past else ""
        if self.leader is None:
            return "Nothing is certified: there are no rewards yet."
        if self.peak is not None:
            reached = f"{_percent(self.level)} confidence"
            asked = f"{_percent(self.confidence)} was asked for"
            return f"The peak is {self.peak}, at {reached} ({asked}), after {counted}{only}."
        asked = f"Not certified at {_percent(self.confidence)} after {counted}"
        start = f"{asked}: {self.leader} has the best mean{only}"
        if not self.open:
            return f"{start}, but its neighbours are not known."
        foreseen = (
            "" if self.more is None else f"; about {self.more:,} more rewards at the present rate"
        )
        return f"{start}, but {_listed(self.open, 'or')} may be better{foreseen}."

    def _near_tie(self) -> list[str]:
        if self.peak is not None or self.among is None or self.leader is None:
            return []
        apart = f"its mean is at most {self.gap:.3g} above the mean of {self.leader}"
        if math.isinf(self.gap):
            apart = f"how far its mean is above the mean of {self.leader} cannot be told yet"
        found = [f"The peak is among {_listed(self.among, 'and')}; {apart}."]
        if self.tolerance is not None:
            word = "within" if self else "not yet within"
            found.append(f"That is {word} the tolerance of {self.tolerance:g}.")
        return found

    def _repr_html_(self) -> str:
        from unimodal.report import page

        return page.notebook_table(str(self).replace("\n", " "), STANDING, standing_rows(self))


def standing_rows(found: Certificate) -> list[tuple[str, str, str]]:
    """The leader and its neighbours: label, what is certified of it, the belief that it is best."""
    best = {} if found.belief is None else found.belief.best
    arms = [
        found.leader,
        *(arm for arm in {**best, **dict.fromkeys(found.open)} if arm != found.leader),
    ]
    rows = []
    for arm in arms if found.leader is not None else ():
        best_mean = "the peak" if found.peak is not None else "best mean"
        rejected = "may be better" if arm in found.open else "worse"
        chance = _percent(best[arm]) if arm in best else "–"
        rows.append((str(arm), best_mean if arm == found.leader else rejected, chance))
    return rows


def _percent(share: float) -> str:
    """A share in percent, with as many digits as it takes to tell it from 100."""
    if share > 0.999999 or share < 0.001:
        return "over 99.9999 %" if share > 0.5 else "below 0.1 %"
    digits = 3 if share < 0.99 else 2 - math.floor(math.log10(1.0 - share))
    return f"{math.floor(share * 10**digits) / 10 ** (digits - 2):.10g} %"


def _listed(arms: Sequence[Hashable], last: str) -> str:
    names = [str(arm) for arm in arms[:_SHOWN]]
    if len(arms) > _SHOWN:
        return f"{', '.join(names)} {last} {len(arms) - _SHOWN:,} others"
    return f"{', '.join(names[:-1])} {last} {names[-1]}" if len(names) > 1 else names[0]


@dataclass(frozen=True)
class Counted:
    """The rewards that a certificate is about, by arm, and what has to be known besides."""

    labels: Sequence[Hashable]
    neighbours: Callable[[int], Any]  # of an arm, as an array; None: not known
    family: ArmsFamily  # for these arms
    pulls: NDArray[np.float64]
    totals: NDArray[np.float64]
    numbering: Numbering
    recent: NDArray[np.float64]  # pulls of late: the present rate
    waiting: int = 0
    assumptions: tuple[str, ...] = ()
    obstacle: str | None = None
    past: int = 0  # rewards of past data that are not among the pulls

    @property
    def leader(self) -> int:
        """The arm with the highest mean reward, of equals the most pulled; -1 without rewards."""
        return leader_of(self.family, self.pulls, self.totals)


def leader_of(family: ArmsFamily, pulls: Any, totals: Any) -> int:
    """The arm with the highest mean reward, of equals the most pulled; -1 without rewards."""
    means = np.full(len(pulls), -np.inf)
    np.divide(totals, pulls, out=means, where=pulls > 0)
    means = np.asarray(family.worth(means))
    best = int(means.argmax())
    tied = np.flatnonzero(means == means[best])
    if len(tied) > 1:
        best = int(tied[np.argsort(pulls[tied], kind="stable")[-1]])
    return best if pulls[best] > 0 else -1


def certify(
    counted: Counted,
    confidence: Any = 0.95,
    tolerance: Any = None,
    belief: Callable[[int, NDArray[np.int64]], Belief | None] = lambda leader, near: None,
) -> Certificate:
    """What the rewards say of the peak; `belief` is asked about the leader and its neighbours."""
    level = check_confidence(confidence)
    if tolerance is not None:
        tolerance = real_number(tolerance, "the 'tolerance'")
        if not 0 <= tolerance < math.inf:
            raise UnimodalError(f"the 'tolerance' must be at least 0, got {tolerance:g}.")
    log_error = math.log1p(-level)
    leader = counted.leader
    near = None if leader < 0 or counted.obstacle else counted.neighbours(leader)
    data = (counted.family, counted.pulls, counted.totals)
    log_errors = np.empty(0)
    if near is not None:
        log_errors = shortfall(*data, leader, near, counted.numbering)
    surest = log_errors.max(initial=-math.inf) if near is not None else math.inf
    certified = surest <= log_error
    members, gap = _members(counted, log_error, leader, certified)
    still_open = () if near is None else tuple(near[log_errors > log_error].tolist())
    label = counted.labels.__getitem__
    return Certificate(
        leader=label(leader) if leader >= 0 else None,
        peak=label(leader) if certified else None,
        confidence=level,
        error=math.exp(min(surest, 0.0)),
        open=tuple(map(label, still_open)),
        among=None if members is None else tuple(map(label, members)),
        gap=gap,
        tolerance=tolerance,
        more=0 if certified else _more(counted, leader, still_open, log_error),
        rewards=int(counted.pulls.sum()),
        waiting=counted.waiting,
        assumptions=counted.assumptions,
        belief=None if near is None else belief(leader, near),
        obstacle=counted.obstacle,
        past=counted.past,
    )


def _members(
    counted: Counted, log_error: float, leader: int, certified: bool
) -> tuple[list[int] | None, float]:
    """A set with the peak in it, and how far above the leader's mean the peak's may be."""
    if certified:
        return [leader], 0.0
    if leader < 0 or counted.obstacle:
        return None, math.inf
    data = (counted.family, counted.pulls, counted.totals, counted.neighbours)
    members, low, high = set_with_peak(*data, log_error, counted.numbering)
    if members is None:
        return None, math.inf
    others = [arm for arm in members if arm != leader]
    return members, max(float((high[others] - low[leader]).max(initial=0.0)), 0.0)


def _more(counted: Counted, leader: int, still_open: Sequence[int], log_error: float) -> int | None:
    """How many more rewards it takes if pulls and means go on as they were of late."""
    if not still_open or not counted.recent.sum() > 0:
        return None
    rivals = np.array(still_open)
    means = counted.totals / np.maximum(counted.pulls, 1.0)
    asked = counted.numbering.pair_costs(leader, rivals) - log_error

    def is_enough(times: float) -> bool:
        pulls = counted.pulls + times * counted.recent
        totals = counted.totals + times * counted.recent * means
        found = order_evidence(counted.family, pulls, totals, leader, rivals)
        return bool((found >= asked).all())

    enough = 1 / 16
    while not is_enough(enough):
        enough *= 2
        if enough > _MOST_TIMES_MORE:
            return None
    short = enough / 2 if enough > 1 / 16 else 0.0
    for _ in range(7):
        middle = 0.5 * (short + enough)
        short, enough = (short, middle) if is_enough(middle) else (middle, enough)
    more = max(enough * float(counted.recent.sum()), 1.0)
    return int(float(f"{more:.1e}"))  # no more than two digits are known
