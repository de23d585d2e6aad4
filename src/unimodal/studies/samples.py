"""Regrets of several graphs with several trials each, and the two kinds of interval they have."""

from __future__ import annotations

import math
from typing import Any

from unimodal.results.statistics import Interval, mean_interval, student


class Samples:
    """What can be said of regrets at the horizon.

    A *sample* is a graph, with its trials averaged; or a trial, where there is one graph only.
    """

    final: Any  # regret at the horizon, (graphs, trials)

    @property
    def units(self) -> Any:
        """Regret at the horizon, one number per sample."""
        return self.final[0] if len(self.final) == 1 else self.final.mean(axis=1)

    @property
    def over_graphs(self) -> Interval:
        """Mean and 95 % interval that a new draw of graphs would respect."""
        return Interval(*(float(end) for end in mean_interval(self.units)))

    @property
    def over_trials(self) -> Interval:
        """Mean and 95 % interval for these very graphs."""
        graphs, trials = self.final.shape
        mean = float(self.final.mean())
        if trials < 2:
            return Interval(mean, math.nan, math.nan)
        error = math.sqrt(float(self.final.var(axis=1, ddof=1).sum()) / trials) / graphs
        reach = student(graphs * (trials - 1) + 1) * error
        return Interval(mean, mean - reach, mean + reach)
