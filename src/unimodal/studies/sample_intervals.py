"""Regrets of several graphs with several trials each, and their two kinds of interval."""

from __future__ import annotations

import math
from typing import Any

from unimodal.results.statistics import Interval, mean_interval, student


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
        return Interval(*(float(end) for end in mean_interval(self.units)))

    @property
    def over_trials(self) -> Interval:
        """Mean and 95 % interval over trials, for these graphs only."""
        graphs, trials = self.final.shape
        mean = float(self.final.mean())
        if trials < 2:
            return Interval(mean, math.nan, math.nan)
        error = math.sqrt(float(self.final.var(axis=1, ddof=1).sum()) / trials) / graphs
        reach = student(graphs * (trials - 1) + 1) * error
        return Interval(mean, mean - reach, mean + reach)
