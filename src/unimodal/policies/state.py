"""What a running policy knows: one record per arm, the leader board, its random stream, counts."""

from __future__ import annotations

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
        ("reserved", np.float64),
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
START, FORCED, CONTEST, CAPPED = range(4)
REASONS = ("start", "forced leader", "contest", "cap")


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


class Arena(NamedTuple):
    """Who may compete with whom: near[first[k] : last[k]] is N⁺(k)."""

    first: Any
    last: Any
    near: Any


def new_state(
    n_arms: int, slots: int, family: Family, prior: Any, begin: Any, unpulled: float, rng: Any
) -> State:
    """The state before round 1, with room for `slots` arms; `rng` is kept and advanced."""
    arms = cache_aligned(np.zeros(slots, dtype=ARM))
    set_prior(arms, family, prior)
    notes = np.zeros(5, dtype=np.int64)
    notes[LAST] = notes[LEADER] = -1
    best, count = implied_board(arms, n_arms, unpulled)
    return State(arms, best, count, rng, begin, cache_aligned(notes), np.empty(0, dtype=SEEN))


def implied_board(arms: Any, n_arms: int, unpulled: float) -> tuple[Any, Any]:
    """The leader board that the first `n_arms` records imply."""
    pulls, total = arms["pulls"][:n_arms], arms["total"][:n_arms]
    shown = np.full(n_arms, unpulled)
    np.divide(total, pulls, out=shown, where=pulls > 0)  # pulls may be less than 1 (FADING_ARM)
    return board(shown, len(arms))


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
