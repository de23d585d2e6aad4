"""What decisions without a reward say, in the records of arms that policies read.

Before each choice, the pulls of arms whose decisions have grown older are written again, so that no
policy, index or scope needs to know that rewards come late.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

from unimodal.errors import UnimodalError
from unimodal.families import Family
from unimodal.inference.late_rewards import (
    CHANGED,
    NONE_LEFT,
    effective_pulls,
    note_decision,
    note_outcome,
    pass_time,
    viewed,
)
from unimodal.kernels.cache_aligned import cache_aligned
from unimodal.kernels.compile import inner, jit
from unimodal.kernels.leaderboard import show
from unimodal.policies.npts import Reweighed
from unimodal.policies.policy import Policy
from unimodal.policies.round import choose, update_index
from unimodal.policies.scope import has_leader
from unimodal.policies.state import FADING_ARM, State

_NOTHING = 1e-6  # pulls: an arm that is left with less shows what one without rewards does


def why_not_weighed(policy: Policy, family: Family) -> str:
    """Why open decisions cannot be weighed here, as the end of a sentence; "" if they can be."""
    if not family.takes_zeros or family.low != 0.0:
        return f"rewards must begin at 0, as those of Bernoulli() or Bounded(0, b), not {family!r}"
    if policy.forgets:
        return f"{policy.name} forgets rewards one by one"
    if isinstance(policy.index_for(family), Reweighed):
        return f"{policy.name} keeps every reward, of which a share cannot be kept"
    return ""


def check_weighed(policy: Policy, family: Family) -> None:
    """Refuse to weigh open decisions where that is not possible."""
    why = why_not_weighed(policy, family)
    if why:
        raise UnimodalError(
            f"late='weigh' cannot be used here, since {why}: use late='hold' or late='count'."
        )


def with_shares(state: State) -> State:
    """The state with pulls that need not be whole numbers."""
    return state._replace(arms=cache_aligned(state.arms.astype(FADING_ARM)))


@inner
def _up_to(arrays, last, now):
    """What is known at a time; the last decision (an arm and a time) is noted first."""
    late, (arm, made_at) = viewed(arrays), last
    if arm != NONE_LEFT:
        note_decision(late, arm, made_at)
    pass_time(late, now)
    return late


@jit
def grow_older(arrays, last, now, unpulled, scope, index, family, state):
    """Bring pulls up to date with the ages that decisions have at a time: before each choice."""
    write_pulls(_up_to(arrays, last, now), scope, index, family, state, unpulled)


@jit
def choose_older(arrays, last, now, unpulled, scope, index, family, arena, state):
    """`grow_older` and `choose` in one call, of which each takes as long as a choice does."""
    write_pulls(_up_to(arrays, last, now), scope, index, family, state, unpulled)
    return choose(scope, index, family, arena, state)


@jit
def note_closed(arrays, last, now, arm, number, kind, happened):
    """Note a reward that is told now, and when it happened."""
    note_outcome(_up_to(arrays, last, now), arm, number, kind, happened, now)


@inner
def write_pulls(late, scope, index, family, state, unpulled):
    """Write the pulls of arms of which more or less is known now; bring the leader board along."""
    for place in range(late.notes[CHANGED]):
        arm = late.sums[place].changed
        sums, record = late.sums[arm], state.arms[arm]
        sums.is_changed, sums.unwritten = 0, 0.0
        pulls = effective_pulls(sums.closed, sums.rewarded, sums.expected)
        learnt = round(record.pulls - sums.extra)  # those are whole: nothing is lost by rounding
        sums.extra = pulls - sums.closed
        record.pulls = max(learnt + sums.extra, 0.0)
        if record.pulls > _NOTHING:
            update_index(scope, index, family, state, arm)
        elif has_leader(scope):
            show(state.best, state.count, arm, unpulled)
    late.notes[CHANGED] = 0
