"""Regrets of several graphs with several trials each, and their two kinds of interval."""

from __future__ import annotations

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
        median, most = self.spread
        return f"{self.over_graphs} [{median:.4g}, {most:.4g}]"
