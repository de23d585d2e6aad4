"""What a running policy knows: one record per arm, the leader board, its random stream, counts."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

import numpy as np

from unimodal.errors import UnimodalError
from unimodal.families import Family
from unimodal.kernels.cache_aligned import cache_aligned
from unimodal.kernels.leaderboard import board

# One record an arm, one cache line wide: everything a contest reads of an arm comes in one load.
ARM = np.dtype(
    [
        ("pulls", np.int64),  # T_i: rewards seen
        ("total", np.float64),  # S_i: their sum
        ("leads", np.int64),  # L_i: rounds as the leader
        ("successes", np.float64),  # coins of the Bernoulli trick (Bounded only)
        ("negentropy", np.float64),  # of the mean, for indices that compare divergences
        ("prior_a", np.float64),
        ("prior_b", np.float64),
        ("factor", np.float64),  # what a reward is worth: 1, unless the family is Scaled
    ],
    align=True,
)

# The same where old rewards count less and less, so that pulls are not whole numbers.
FADING_ARM = np.dtype(
    [(name, np.float64 if name == "pulls" else ARM[name]) for name in ARM.names or ()], align=True
)

# One record per reward, for indices that need every one (`npts.py`).
SEEN = np.dtype(
    [
        ("arm", np.int64),
        ("reward", np.float64),
        ("weight", np.float64),  # not the reward's: sums for the arm of the same number
        ("short", np.float64),
    ],
    align=True,
)

# Places in `State.notes`.
ROUND, BEGUN, LAST, LEADER, REASON = range(5)
# Reasons for a pull.
START, FORCED, CONTEST, CAPPED, LOOK = range(5)
REASONS = ("start", "forced leader", "contest", "cap", "look around")


# Two numbers, for all arms or for each; what they mean is the reward family's.
Prior = tuple[float, float] | tuple[tuple[float, float], ...]


class Whole(NamedTuple):
    """The memory of a policy that forgets nothing; the others are in `forgetting.py`."""


Whole.component = Whole  # type: ignore[attr-defined]


class State(NamedTuple):
    """The whole state of a policy; a kernel takes it as one argument."""

    arms: Any  # (K,) of ARM
    best: Any  # the leader board
    count: Any
    rng: Any  # the policy's stream
    begin: Any  # the arms of the start
    notes: Any  # round, arms of the start already pulled, last arm, leader, reason
    seen: Any  # every reward in the order it was learnt, of SEEN; empty if the index needs none
    memory: Any = Whole()  # what must be kept in order to forget
    scratch: Any = ()  # room for what a contest finds on its way; nothing in it outlasts a round


class Arena(NamedTuple):
    """Who may compete with whom: near[first[k] : last[k]] is N⁺(k)."""

    first: Any
    last: Any
    near: Any


def new_state(
    n_arms: int,
    slots: int,
    family: Family,
    prior: Any,
    begin: Any,
    unpulled: float,
    rng: Any,
    counted: Any = 0.0,
    factors: Any = 1.0,
) -> State:
    """The state before round 1, with room for `slots` arms; `rng` is kept and advanced.

    `counted` is what of a prior counts for the lead: see `implied_board`. `factors` are what
    rewards of the arms are worth.
    """
    arms = cache_aligned(np.zeros(slots, dtype=ARM))
    set_prior(arms, family, prior)
    arms["factor"][:n_arms] = factors
    notes = np.zeros(5, dtype=np.int64)
    notes[LAST] = notes[LEADER] = -1
    best, count = implied_board(arms, n_arms, unpulled, counted)
    return State(arms, best, count, rng, begin, cache_aligned(notes), np.empty(0, dtype=SEEN))


def implied_board(arms: Any, n_arms: int, unpulled: float, counted: Any = 0.0) -> tuple[Any, Any]:
    """The leader board that the first `n_arms` records imply.

    `counted` are the rewards that a prior stands for, where it counts: a row with the number for
    each arm, and one with the sum.
    """
    more_pulls, more_total = np.broadcast_to(counted, (2, n_arms))
    pulls, total = arms["pulls"][:n_arms] + more_pulls, arms["total"][:n_arms] + more_total
    shown = np.full(n_arms, unpulled)
    np.divide(total, pulls, out=shown, where=pulls > 0)  # pulls may be less than 1 (FADING_ARM)
    shown[pulls > 0] *= arms["factor"][:n_arms][pulls > 0]
    return board(shown, len(arms))


def mean_earned(arms: Any) -> Any:
    """What a reward of each arm was worth on average, as the leader goes by it; NaN without any."""
    pulls, means = arms["pulls"], np.full(len(arms), np.nan)
    np.divide(arms["total"], pulls, out=means, where=pulls > 0)  # may be less than 1 (FADING_ARM)
    return means * arms["factor"]


def set_prior(arms: Any, family: Family, prior: Any) -> None:
    """Write one prior for all arms, or one for each, into their records."""
    pairs = np.asarray(family.default_prior if prior is None else prior, dtype=np.float64)
    if pairs.shape not in ((2,), (len(arms), 2)):
        raise UnimodalError(
            f"a prior must be one pair ({', '.join(family.prior_names)}) or one for each of the "
            f"{len(arms)} arms, got shape {pairs.shape}."
        )
    pairs = np.broadcast_to(pairs, (len(arms), 2))
    family.check_prior(pairs[:, 0], pairs[:, 1])
    arms["prior_a"], arms["prior_b"] = pairs[:, 0], pairs[:, 1]
    arms["factor"] = 1.0


def set_factors(arms: Any, family: Family, labels: Iterable[Hashable]) -> None:
    """Write what a reward of each arm is worth into its record."""
    arms["factor"] = family.factors(labels)
