"""The answer of `um.replay`: a table, a picture, sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unimodal.escape_text import printable
from unimodal.report.tables import aligned

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class Estimate:
    """What one policy earned in worlds that the log leaves plausible."""

    policy: str
    earned: Any  # (draws,): the sum of its rewards in each world
    on_prior: float  # the share of its pulls on arms of which the log knows little

    def __repr__(self) -> str:
        low, high = self.interval
        return f"Estimate({self.policy}: {low:.6g} to {high:.6g})"

    @property
    def interval(self) -> tuple[float, float]:
        """Where 95 % of the draws lie."""
        low, high = np.quantile(self.earned, [0.025, 0.975])
        return float(low), float(high)


@dataclass(frozen=True, eq=False, repr=False)
class Replay:
    """What policies would have earned; the log's own policy, simulated again, comes first.

    Attributes
    ----------
    rounds
        How many rounds were simulated.
    earned
        What the log earned in them.
    log_policy
        The policy of the log.
    estimates
        One for each policy, the log's first.
    notes
        What has to be said besides.

    Examples
    --------
    >>> import unimodal as um
    >>> um.Replay(rounds=500, earned=310.0, log_policy="UTS", estimates=(), notes=()).earned
    310.0
    """

    rounds: int  # rewards in the log, and rounds of every simulation
    earned: float  # what the log really earned
    log_policy: str
    estimates: tuple[Estimate, ...]
    notes: tuple[str, ...]  # what is assumed, and what cannot be known

    def __repr__(self) -> str:
        names = ", ".join(one.policy for one in self.estimates)
        return f"Replay({names}: {self.rounds:,} rounds)"

    def _repr_html_(self) -> str:
        from unimodal.report import page

        return page.notebook_table(self.title, self.columns, self.lines())

    @property
    def table(self) -> pl.DataFrame:
        """One row per policy: expected reward, its 95 % interval, the difference from the log.

        The log's earnings hold its luck; `against_control` is the difference from what the log's
        own policy earns when it is simulated in the same worlds. `chance` is the probability that
        the policy would have earned more than the log did, `on_prior` the share of its pulls that
        rest on the prior.
        """
        import polars as pl

        rows, control = [], float(self.estimates[0].earned.mean())
        for one in self.estimates:
            low, high = one.interval
            mean = float(one.earned.mean())
            rows.append(
                {
                    "policy": one.policy,
                    "expected": mean,
                    "low": low,
                    "high": high,
                    "difference": mean - self.earned,
                    "difference_low": low - self.earned,
                    "difference_high": high - self.earned,
                    "against_control": mean - control,
                    "chance": float((one.earned > self.earned).mean()),
                    "on_prior": one.on_prior,
                }
            )
        return pl.DataFrame(rows)

    def to_data(self) -> dict[str, Any]:
        """All of it as plain JSON data."""
        return {
            "rounds": self.rounds,
            "earned": self.earned,
            "log_policy": self.log_policy,
            "draws": len(self.estimates[0].earned),
            "policies": self.table.to_dicts(),
            "notes": list(self.notes),
        }

    def lines(self) -> list[tuple[str, ...]]:
        """The table as text, one row per policy."""
        digits = 1 if self.earned < 100 else 0
        return [
            (
                row["policy"],
                f"{row['expected']:,.{digits}f}",
                f"{row['low']:,.{digits}f} … {row['high']:,.{digits}f}",
                f"{row['difference']:+,.{digits}f}",
                f"{row['against_control']:+,.{digits}f}" if number else "–",
                f"{100 * row['chance']:.0f} %",
                f"{100 * row['on_prior']:.0f} %",
            )
            for number, row in enumerate(self.table.iter_rows(named=True))
        ]

    @property
    def columns(self) -> tuple[str, ...]:
        """What stands above the lines."""
        again = f"against {self.log_policy} again"
        first = ("policy", "expected", "95 % interval", "against the log", again)
        return (*first, "beats the log", "on prior")

    @property
    def title(self) -> str:
        """What the table is about."""
        return (
            f"What would have been earned in {self.rounds:,} rounds; "
            f"the log, by {self.log_policy}, earned {self.earned:,.6g}"
        )

    def __str__(self) -> str:
        written = aligned([self.columns, *self.lines()])
        return "\n".join([printable(self.title), *written, *self.notes])

    def plot(self, ax: Axes | None = None) -> Axes:
        """The intervals, with what the log earned as a dashed line."""
        from unimodal.report import campaign_figures as campaigns

        rows = {
            one.policy: (float(one.earned.mean()), *one.interval, one.on_prior)
            for one in self.estimates
        }
        return campaigns.earnings(ax, rows, self.earned)
