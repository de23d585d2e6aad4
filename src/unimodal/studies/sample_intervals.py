"""Regrets of several graphs with several trials each, and their two kinds of interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unimodal.results.statistics import Interval, interval_of_mean, interval_within_groups


class Samples:
    """Means and intervals of regrets at the horizon.

    A *sample* is a graph with its trials averaged, or a trial if there is only one graph.
    """

    final: Any  # regret at the horizon, (graphs, trials)

    @property
    def units(self) -> Any:
        """Regret at the horizon, one number per sample."""
        return self.final[0] if len(self.final) == 1 else self.final.mean(axis=1)

    @property
    def over_graphs(self) -> Interval:
        """Mean and 95 % interval over graphs: it covers what other graphs would give."""
        return interval_of_mean(self.units)

    @property
    def over_trials(self) -> Interval:
        """Mean and 95 % interval over trials, for these graphs only."""
        return interval_within_groups(self.final)

    @property
    def spread(self) -> tuple[float, float]:
        """Median and 99 % quantile over all trials."""
        median, most = np.quantile(self.final, (0.5, 0.99))
        return float(median), float(most)

    @property
    def with_spread(self) -> str:
        """Mean ± 95 % over graphs, and in brackets the median and the 99 % quantile of trials."""
        return with_spread(self.units, trials=self.final)


BRACKETS = (
    "Square brackets behind a mean hold the median and the 99 % quantile of the trials. A † marks "
    "a mean that few large samples make: about as many as the number behind it would do."
)


def with_spread(samples: Any, spec: str = "", trials: Any = None) -> str:
    """A mean with its 95 % interval, and in brackets the median and the 99 % quantile.

    Behind a mark stands how many samples would do. `spec` is a format of Python's; quantiles are
    those of the `trials`, if samples are averages of some.

    >>> with_spread([1.0] * 50 + [3.0] * 49 + [500.0])
    '7 −10 +22 † 2,500 [2, 7.97]'
    """
    mean = interval_of_mean(samples)
    needed = f" {mean.few.needed:,}" if mean.few else ""
    median, most = np.quantile(samples if trials is None else trials, (0.5, 0.99))
    return f"{mean.written(spec) if spec else mean}{needed} [{_short(median)}, {_short(most)}]"


def quantiles_in_words(median: float, most: float) -> str:
    """A median and a 99 % quantile in a cell of their own."""
    return f"{_short(median)} / {_short(most)}"


def _short(number: float) -> str:
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.3g}"


def error_bars(intervals: Sequence[Interval]) -> list[list[float]]:
    """How far intervals reach below and above, as matplotlib's errorbar wants it."""
    return [[one.value - one.low for one in intervals], [one.high - one.value for one in intervals]]
