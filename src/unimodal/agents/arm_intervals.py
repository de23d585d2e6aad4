"""What is shown of an arm to people: its mean reward, and where its mean lies."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unimodal.families import Family
from unimodal.families.posteriors import interval, is_known
from unimodal.policies.state import mean_earned


def means_and_intervals(family: Family, records: NDArray[np.void]) -> tuple[Any, Any, Any]:
    """The mean reward of arms, and the 95 % posterior intervals of their means: low and high.

    NaN where there is no reward, or where the family does not say how its posterior is distributed.
    Where the prior of `Bounded` keeps the interval away from the mean reward, it is stretched.
    """
    means = mean_earned(records)
    low = high = np.full(len(records), np.nan)
    if is_known(family):
        low, high = interval(family, _without_coins(family, records))
        if not family.two_valued:
            low, high = np.fmin(low, means), np.fmax(high, means)
    return means, low, high


def _without_coins(family: Family, records: NDArray[np.void]) -> NDArray[np.void]:
    """The records as if the coins of `Bounded` had come out as the rewards did, on average.

    A Thompson sample goes by the coins; what people look at goes by the rewards.
    """
    low, high = family.told.low, family.told.high
    if not (np.isfinite(low) and np.isfinite(high)):
        return records
    records = records.copy()
    records["successes"] = (records["total"] - records["pulls"] * low) / (high - low)
    return records
