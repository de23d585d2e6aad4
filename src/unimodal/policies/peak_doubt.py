"""What rewards say against an arm: whether it is refuted, and whether a neighbour is doubtful."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

import math

from unimodal.families.family import divergence, earned, told
from unimodal.kernels.compile import inner
from unimodal.policies.scope import leading_sums


@inner
def against(scope, family, arms, arm, leader):
    """How much an arm's own rewards speak against its being better than the leader: N·kl."""
    total, pulls = leading_sums(scope, family, arms[arm])
    best_total, best_pulls = leading_sums(scope, family, arms[leader])
    best = told(family, arms[arm], earned(family, arms[leader], best_total / best_pulls))
    if pulls <= 0.0 or not total < best * pulls:
        return 0.0
    return pulls * divergence(family, total / pulls, best)


@inner
def doubt(scope, leads):
    """How much rewards must speak against an arm to refute it."""
    return math.log(scope.places * (1.0 + math.log2(1.0 + leads)))


@inner
def refuted(scope, family, arms, arm, leader, leads):
    """Whether an arm's own rewards speak against its being better than the leader."""
    return against(scope, family, arms, arm, leader) > doubt(scope, leads)


@inner
def doubtful(scope, family, arena, arms, leader):
    """The neighbour with the fewest rewards for how little they speak against it; -1: none.

    With N rewards of the leader and n of a neighbour, it is doubtful where n·kl is below the larger
    of log(N/(n·√|N⁺|))/2, which gives arms that are nearly as good nearly as many rewards, and of
    log(N·u²/(n·|N⁺|)), which asks an arm with bad luck until it is level again, as IMED would with
    log(N/n). u is the share of arms outside of N⁺: the more there are, the more places on the way
    to the peak at which bad luck can hold a leader.
    """
    first, last = arena.first[leader], arena.last[leader]
    size = math.log(last - first)
    outside = 2.0 * math.log(max(scope.places - (last - first), 1) / scope.places)
    whole = math.log(leading_sums(scope, family, arms[leader])[1])
    found, most = -1, 0.0
    for arm in arena.near[first:last]:
        pulls = leading_sums(scope, family, arms[arm])[1]
        if arm != leader and pulls > 0.0:
            own = math.log(pulls)
            room = max(0.5 * (whole - own - 0.5 * size), whole - own - size + outside)
            if room > most:
                room -= against(scope, family, arms, arm, leader)
                if room > most:
                    found, most = arm, room
    return found
