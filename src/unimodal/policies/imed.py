"""IMED over all arms and around the leader: indexed minimum empirical divergence."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

import math
from typing import Any, ClassVar

from unimodal.families.family import earned, of_arm
from unimodal.families.unsaturated_scale import distance, linear_form, mean_level
from unimodal.graphs import Graph
from unimodal.kernels.compile import component, inner
from unimodal.policies.index import ByPulls, contest, tie_key
from unimodal.policies.policy import Policy
from unimodal.policies.scope import AroundLeastPulled, EveryArm, Scope

SAME_COST = 1e-12  # relative: costs that differ by less tie, whatever the rounding


class IMED(Policy):
    """Indexed minimum empirical divergence, over all arms (Honda and Takemura 2015).

    It pulls the arm with the lowest N·kl(mean, best mean) + log N, where N is its pulls. An arm
    never pulled goes first, so the first K rounds pull each arm once. No parameter, no confidence
    bound, and the same constant as KL-UCB: the sum over all arms of gap/kl.

    Parameters
    ----------
    name
        What results call it; its class and parameters by default.

    Examples
    --------
    >>> IMED()
    IMED()
    """

    summary = "pulls the lowest N·kl(mean, best mean) + log N, over all arms"
    citation = "Honda and Takemura 2015 (JMLR)"

    start: ClassVar[str] = "literal"

    def scope(self, graph: Graph | None) -> Scope:
        """Every arm."""
        return EveryArm()

    def index(self) -> object:
        """IMED."""
        return EmpiricalDivergence()


class IMEDUB(Policy):
    """IMED around the leader, which is never forced (Saber, Ménard and Maillard 2020).

    The leader is the least pulled of the arms with the highest mean (at random, if several are).
    It and its neighbours show N·kl(mean, best mean) + log N; the lowest is pulled.
    `start` is as in UTS.

    Parameters
    ----------
    start
        As in UTS.
    name
        What results call it; its class and parameters by default.

    Examples
    --------
    >>> IMEDUB(start="probe(8)")
    IMEDUB(start='probe(8)')
    """

    summary = "IMED around the leader, which is never forced"
    citation = "Saber, Ménard and Maillard 2020"

    start: Any = "sweep"

    def scope(self, graph: Graph | None) -> Scope:
        """The neighbourhood of the least pulled leader."""
        return AroundLeastPulled()

    def index(self) -> object:
        """IMED."""
        return EmpiricalDivergence()


@component
class EmpiricalDivergence(ByPulls):
    """pulls·kl(mean, best mean) + log pulls; the lowest wins (Honda and Takemura 2015).

    Below the best arm's own, log pulls, it is where the divergence is within the budget.
    """


@inner
def best_mean(family, arms, near):
    """The arm with the highest mean among those that were pulled, and its level; -1 if none was."""
    highest, best = -math.inf, -1
    for arm in near:
        if arms[arm].pulls > 0:
            mean = earned(family, arms[arm], arms[arm].total / arms[arm].pulls)
            if mean > highest:
                highest, best = mean, arm
    if best < 0:
        return best, -math.inf
    own = of_arm(family, arms[best])
    return best, mean_level(own, float(arms[best].pulls), arms[best].total)


@inner
def cost(family, arm, best):
    """The index of IMED, where `best` is the level of the best mean: -∞ if never pulled."""
    if arm.pulls == 0:
        return -math.inf
    own = of_arm(family, arm)
    return distance(own, float(arm.pulls), arm.total, best) + math.log(arm.pulls)


@inner
def leeway(lowest):
    """How far from it a cost may be and still tie with it."""
    return SAME_COST * max(abs(lowest), 1.0) if math.isfinite(lowest) else 0.0


@contest.register(EmpiricalDivergence)
def _lowest_cost(index, family, state, near, leader, clock):
    arms = state.arms
    best, best_level = best_mean(family, arms, near)
    if best < 0:
        best, lowest = near[0], -math.inf
    else:
        lowest = math.log(arms[best].pulls)  # at no distance from itself
    mean, theta, log_norm = linear_form(family, best_level)
    for arm in near:
        if arm == best:
            continue
        rival = arms[arm]
        pulls = rival.pulls
        if pulls > 0:
            # The linear form first: most arms are clearly above, and it takes one logarithm.
            linear = rival.total * theta
            about = pulls * (rival.negentropy + log_norm) - linear + math.log(pulls)
            slack = 1e-12 * (pulls * (abs(rival.negentropy) + abs(log_norm)) + abs(linear))
            if about > lowest + slack + leeway(lowest) and rival.total < mean * pulls:
                continue
        own, same = cost(family, rival, best_level), leeway(lowest)
        if own < lowest - same or (
            own <= lowest + same and tie_key(state, arm) > tie_key(state, best)
        ):
            best, lowest = arm, own
    return best
