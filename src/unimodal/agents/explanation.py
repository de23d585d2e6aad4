"""An explanation of a decision: what was known then, what was drawn, and who won."""

from __future__ import annotations

import dataclasses
import json
import math
from dataclasses import dataclass
from typing import Any

from unimodal.agents.label_text import shown
from unimodal.escape_text import printable


@dataclass(frozen=True)
class Competitor:
    """An arm that could have been chosen, as it was known at that moment.

    Attributes
    ----------
    arm
        Its label.
    pulls
        How many rewards it had.
    mean
        Their mean.
    low
        The lower end of the 95 % interval of its mean.
    high
        The upper end.
    value
        What it showed in the contest.
    is_leader
        Whether it led.
    is_chosen
        Whether it was chosen.

    Examples
    --------
    >>> import tempfile, unimodal as um
    >>> with um.Campaign.open(
    ...     tempfile.mkdtemp() + "/a.db", um.UTS(), um.graphs.line(3)
    ... ) as campaign:
    ...     [each.is_chosen for each in campaign.explain(campaign.decide().id).competitors]
    [True]
    """

    arm: Any
    pulls: float
    mean: float | None  # of its rewards; None if it had none
    low: float | None  # where its mean lies with probability 95 %, given its rewards
    high: float | None
    value: float | None  # what it showed in the contest; None if there was none, or is not known
    is_leader: bool
    is_chosen: bool


@dataclass(frozen=True)
class Explanation:
    """Why a decision fell on its arm; print it, or show it in a notebook.

    `value_name` says what the competitors' values are: draws from posteriors, upper bounds, …;
    empty if there was no contest, or if the policy does not tell. `contests` is how many were held:
    ScoutUTS may hold one again that the leader wins, and the values are those of the last.

    Attributes
    ----------
    id
        The decision.
    arm
        The arm that was chosen.
    reason
        'start', 'forced leader', 'contest', 'look around' or 'cap'.
    leader
        The arm that led.
    time
        When it was made, in seconds.
    policy
        The policy, as text.
    round
        The number of its round.
    because
        The reason in words.
    value_name
        What the competitors' values are.
    contests
        How many contests were held.
    winner
        Who won the contest.
    competitors
        The arms that could have been chosen.
    paused
        The arms that were paused.
    propensity
        With which probability it was chosen, where that is known.

    Examples
    --------
    >>> import tempfile, unimodal as um
    >>> with um.Campaign.open(
    ...     tempfile.mkdtemp() + "/a.db", um.UTS(), um.graphs.line(3)
    ... ) as campaign:
    ...     campaign.explain(campaign.decide().id).reason
    'start'
    """

    id: int
    arm: Any
    reason: str
    leader: Any
    time: float
    policy: str
    round: int
    because: str  # who won, and why
    value_name: str
    contests: int
    winner: Any  # of the last contest; None if there was none
    competitors: tuple[Competitor, ...]
    paused: tuple[Any, ...]
    propensity: float | None  # if it was asked for then

    def to_dict(self) -> dict[str, Any]:
        """The fields by name, competitors as dictionaries."""
        return dataclasses.asdict(self)

    def to_json(self) -> str:
        """The same as JSON; an infinite bound is null there."""
        data = self.to_dict()
        for row in data["competitors"]:
            row["value"] = row["value"] if _is_finite(row["value"]) else None
        return json.dumps(data)

    @property
    def columns(self) -> tuple[str, ...]:
        """The heads of `rows`."""
        value = (self.value_name,) if self.value_name else ()
        return ("arm", "pulls", "mean", "95 % interval", *value, "")

    def rows(self, most: int = 15) -> list[tuple[str, ...]]:
        """One row per competitor, as text: the arms that matter first, and not more than `most`."""

        def matters(one: Competitor) -> tuple[bool, bool, bool, float]:
            return one.is_chosen, one.arm == self.winner, one.is_leader, one.pulls

        ranked = sorted(self.competitors, key=matters, reverse=True)
        rows = [self._row(one) for one in ranked[:most]]
        if len(ranked) > most:
            more = f"{len(ranked) - most:,} more"
            rows.append((more, *[""] * (len(self.columns) - 1)))
        return rows

    def _row(self, one: Competitor) -> tuple[str, ...]:
        mean = "–" if one.mean is None else f"{one.mean:.4g}"
        between = "–" if one.low is None else f"{one.low:.4g} … {one.high:.4g}"
        marks = [word for word, is_it in _marks(one, self.winner) if is_it]
        value = (as_shown(one.value),) if self.value_name else ()
        return (shown(one.arm), f"{one.pulls:,.6g}", mean, between, *value, ", ".join(marks))

    @property
    def title(self) -> str:
        """The decision, in a line."""
        return f"Decision {self.id:,}: {shown(self.arm)} ({self.reason})"

    def __str__(self) -> str:
        cells = [self.columns, *self.rows()]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in cells
        ]
        return "\n".join(map(printable, [self.title, self.because, *lines]))

    def _repr_html_(self) -> str:
        from unimodal.report import page

        return page.notebook_table(f"{self.title}. {self.because}", self.columns, self.rows())


def _marks(one: Competitor, winner: Any) -> list[tuple[str, bool]]:
    beaten = one.arm == winner and winner is not None and not one.is_chosen
    return [("chosen", one.is_chosen), ("leader", one.is_leader), ("won, capped", beaten)]


def as_shown(value: float | None) -> str:
    """A number for people."""
    return "–" if value is None else f"{value:.4g}"


def _is_finite(value: float | None) -> bool:
    return value is not None and math.isfinite(value)
