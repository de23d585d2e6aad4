"""What is shown of arms to people: mean rewards, and where their means lie."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unimodal.families import Family
from unimodal.families.posteriors import interval, is_known
from unimodal.policies.state import mean_earned

if TYPE_CHECKING:
    from unimodal.agents.agent import Agent


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


def arm_rows(agent: Agent) -> list[dict[str, Any]]:
    """The arms that have led or have rewards, in the order of `Agent.arms`, with their intervals.

    `past` is None for an agent that did not begin with past data.
    """
    player = agent._player
    known = player.state.arms[: agent.known_arms]
    met = np.flatnonzero((known["pulls"] > 0) | (known["leads"] > 0))
    met = met[np.argsort(-known["pulls"][met], kind="stable")]
    means, low, high = means_and_intervals(agent.family, known[met])
    past = agent.past.pulls if player.past_sums else None
    paused = set(agent.limits.paused)
    return [
        {
            "arm": agent.label_of(arm),
            "pulls": known["pulls"][arm].item(),
            "mean": float(means[row]),
            "low": float(low[row]),
            "high": float(high[row]),
            "leads": known["leads"][arm].item(),
            "past": None if past is None else int(past[arm]),
            "paused": arm in paused,
        }
        for row, arm in enumerate(met.tolist())
    ]
