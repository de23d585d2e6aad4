"""What claims consist of: a ratio of two mean regrets against a bound, or against another ratio.

"A is better than B" is the ratio A/B against 1. All policies of a setting share graphs and random
streams, so samples are paired: A/B < c is decided by the mean of A - c·B over samples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from unimodal.engines.engine_choice import checkpoint_rounds
from unimodal.studies.reproduce.sequential_test import (
    FEWEST_GRAPHS,
    FEWEST_TRIALS,
    Estimate,
    difference,
    mean_of,
)
from unimodal.studies.reproduce.setting import Setting
from unimodal.studies.tasks import CHECKPOINTS

# Regrets of a policy in a setting at all checkpoints, (samples, checkpoints), at some size.
Samples = Callable[[Setting, str], Any]


@dataclass(frozen=True)
class Comparison:
    """The mean regret of `over` relative to that of `under` lies below a bound (or above it)."""

    setting: Setting
    over: str
    under: str
    margin: float  # of the ratio: within it, it is too close to call
    bound: float = 1.0
    below: bool = True
    at: int = -1  # the number of the checkpoint: by default the last

    @property
    def uses(self) -> tuple[tuple[Setting, str], ...]:
        """The settings and policies of which it needs samples."""
        return (self.setting, self.over), (self.setting, self.under)

    def estimate(self, samples: Samples) -> Estimate:
        """By how much the ratio is on the side of the bound that is claimed."""
        over, under = (samples(*use)[:, self.at] for use in self.uses)
        gap = self.bound * under - over if self.below else over - self.bound * under
        return mean_of(gap / np.mean(under), _fewest(self.setting))

    @property
    def key(self) -> str:
        """What it compares, without the margin: under this its estimates are kept in a file."""
        place, sign = self.setting, "<" if self.below else ">"
        what = f"{self.over}/{self.under} {sign} {self.bound:g}"
        return f"{place.name}, T = {place.horizon}, checkpoint {self.at}: {what}"

    @property
    def where(self) -> str:
        """The setting in words, with the round if it is not the last."""
        late = "" if self.at == -1 else f", t = {self.round:,}"
        return f"{setting_text(self.setting)}{late}"

    @property
    def round(self) -> int:
        """The round at which regrets are compared."""
        return int(checkpoint_rounds(self.setting.horizon, CHECKPOINTS, "log")[self.at])

    def shown(self, estimate: Estimate, level: float) -> str:
        """The ratio with its interval, and where."""
        _, low, high = estimate.interval(level)
        sign = -1 if self.below else 1
        value = self.bound + sign * estimate.value
        return f"{self.where}: {self.over}/{self.under} {_ratio(value, (high - low) / 2)}"

    def spread(self, size: float) -> str:
        """A margin in words: of an order in per cent, of a ratio as it is."""
        return f"± {100 * abs(size):.2g} %" if self.bound == 1.0 else f"± {abs(size):.2g}"


@dataclass(frozen=True)
class Step:
    """The mean regret of `over` relative to that of `under` is larger in the second setting."""

    settings: tuple[Setting, Setting]
    over: str
    under: str
    margin: float  # of the difference of the two ratios

    @property
    def uses(self) -> tuple[tuple[Setting, str], ...]:
        """The settings and policies of which it needs samples."""
        return tuple((s, policy) for s in self.settings for policy in (self.over, self.under))

    def estimate(self, samples: Samples) -> Estimate:
        """The second ratio minus the first; the two settings share nothing."""
        small, large = (self._ratio(setting, samples) for setting in self.settings)
        return difference(large, small)

    def _ratio(self, setting: Setting, samples: Samples) -> Estimate:
        over, under = (samples(setting, policy)[:, -1] for policy in (self.over, self.under))
        ratio = np.mean(over) / np.mean(under)
        # The ratio's error is, to first order, the mean of these (the delta method).
        residuals = (over - ratio * under) / np.mean(under)
        return mean_of(ratio + residuals, _fewest(setting))

    @property
    def key(self) -> str:
        """What it compares, without the margin: under this its estimates are kept in a file."""
        one, two = (f"{setting.name}, T = {setting.horizon}" for setting in self.settings)
        return f"{one} to {two}: {self.over}/{self.under} rises"

    @property
    def where(self) -> str:
        """The two settings in words."""
        return " to ".join(setting_text(setting) for setting in self.settings)

    def shown(self, estimate: Estimate, level: float) -> str:
        """The difference with its interval, and where."""
        _, low, high = estimate.interval(level)
        change = _ratio(estimate.value, (high - low) / 2)
        return f"{self.where}: {self.over}/{self.under} changes by {change}"

    def spread(self, size: float) -> str:
        """A margin in words."""
        return f"± {size:.2g}"


def _fewest(setting: Setting) -> int:
    return FEWEST_TRIALS if setting.graphs == 1 else FEWEST_GRAPHS


def setting_text(setting: Setting) -> str:
    """A setting within its experiment, in words."""
    if setting.density in ("line", "triangle"):
        peak = "" if setting.high == 0.9 else f", peak {setting.high:g}"
        return f"K = {setting.n_arms}, line{peak}"
    return f"K = {setting.n_arms}, p = {setting.density}"


def _ratio(value: float, half: float) -> str:
    from unimodal.results.statistics import Interval

    return str(Interval(value, value - half, value + half))
