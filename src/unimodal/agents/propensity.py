"""How likely it was that a decision fell on its arm, given what was known before it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from unimodal.families import Family
from unimodal.families.posteriors import at_top, cdf, is_known, quantile
from unimodal.kernels.compile import record
from unimodal.policies import Policy
from unimodal.policies.imed import EmpiricalDivergence, best_mean, cost, leeway
from unimodal.policies.index import Budgeted, Thompson, compare, index_level, whole_budget
from unimodal.policies.mints import ProfileLikelihood, place_probabilities
from unimodal.policies.unitt import TransportationCost, transportation_cost

_ERROR = 1e-7  # of the integral
# Gauss and Legendre's points and weights on [0, 1], and fewer of them to tell how wrong they are.
_FINE, _COARSE = (
    ((points + 1.0) / 2.0, weights / 2.0)
    for points, weights in map(np.polynomial.legendre.leggauss, (12, 7))
)
_ENDS = 10.0 ** np.arange(-7, -1)  # panels get narrow towards 0 and 1, where steps may hide
_PANELS = np.concatenate([[0.0], _ENDS, np.linspace(0.1, 0.9, 5), 1.0 - _ENDS[::-1], [1.0]])
_AROUND = np.array([[1e-7], [0.01], [0.5], [0.99], [1.0 - 1e-7]])  # where a rival's steps are


def propensity(
    policy: Policy,
    family: Family,
    arms: Any,
    near: Any,
    arm: int,
    *,
    leader: int = -1,
    contests: int = 1,
    clock: int = 1,
    capped: Sequence[int] = (),
) -> float | None:
    """The probability that `arm` won its contest, given the leader and all rewards before.

    `arms` are the agent's records and `near` the arms that competed. For Thompson draws it is the
    integral of f_i(x)·Π_j F_j(x) over the posterior of the arm and of its rivals, to 10⁻⁶. For
    places drawn by their weights it is the share of the arm's weight. An index without random draws
    gives 1, or 1 in n where n arms tie by it at that `clock`: those with the same rewards, or all
    with mean 1. None for other policies and for families of a user's own without `posterior_cdf`,
    whose law is not known here. Where a contest that the `leader` wins is held again, `contests` is
    how often. The leader is played where one of the `capped` arms wins, too.

    >>> import unimodal as um
    >>> agent = um.Agent(um.TS(), um.graphs.line(4))
    >>> round(propensity(agent.policy, agent.family, agent._player.state.arms, [0, 1, 2, 3], 2), 6)
    0.25
    """
    index, near = policy.index_for(family), np.asarray(near)
    played = {arm, *capped} & set(near.tolist()) if arm == leader else {arm}  # if one of them wins
    if isinstance(index, Budgeted):
        if isinstance(index, ProfileLikelihood):
            drawn = place_probabilities(record(family), arms, near)[np.isin(near, list(played))]
            return min(math.fsum(drawn.tolist()), 1.0)
        records = arms.view(np.recarray)
        if isinstance(index, TransportationCost):
            near = near[near != leader]  # who challenges it
            played.discard(leader)
        winner = arm if played == {arm} else None  # else one of them, or of those tied with it
        tied = _tied(index, record(family), records, near, winner, clock, leader)
        return len(played & tied) / len(tied) if tied else 1.0
    if not isinstance(index, Thompson) or not is_known(family):
        return None

    def wins(one: int) -> float:
        return thompson_wins(family, arms[one : one + 1], arms[near[near != one]])

    if contests == 1:
        return min(math.fsum(map(wins, played)), 1.0)
    kept = wins(leader)  # the leader must win all of them; another arm, one after those it won
    tries = sum(kept**n for n in range(contests))
    chances = (kept**contests if one == leader else wins(one) * tries for one in played)
    return min(math.fsum(chances), 1.0)


def _tied(
    index: Any, family: Any, arms: Any, near: Any, winner: int | None, clock: int, leader: int
) -> set[int]:
    """The arms that show the index that the winner shows; the best one where it is not known."""
    if isinstance(index, EmpiricalDivergence | TransportationCost):
        if isinstance(index, TransportationCost):
            better = arms[leader]
            shown = {int(one): transportation_cost(family, better, arms[one]) for one in near}
        else:
            _, best = best_mean(family, arms, near)
            shown = {int(one): cost(family, arms[one], best) for one in near}
        own = min(shown.values(), default=0.0) if winner is None else shown[winner]
        return {one for one, c in shown.items() if c == own or abs(c - own) <= leeway(own)}
    index = record(index)
    whole = whole_budget(index, clock)
    shown = {int(one): index_level(index, family, arms[one], whole) for one in near}
    own = max(shown.values()) if winner is None else shown[winner]
    return {one for one, level in shown.items() if compare(level, own) == 0}


def thompson_wins(family: Family, own: Any, rivals: Any) -> float:
    """The probability that the posterior draw of one arm exceeds those of all its rivals.

    With u = F_i(x) it is the integral of Π_j F_j(F_i⁻¹(u)) over u from 0 to 1: of an increasing
    function from 0 to 1, so a panel cannot hide more than its width times its rise. The last part,
    where the draw is the top itself, is left to the lots: NPTS has arms that draw nothing else.
    """
    at_the_top = float(at_top(family, own)[0])
    by_lot = _wins_at_top(family, own, rivals, at_the_top) if at_the_top > _ERROR else 0.0
    below_top = 1.0 - at_the_top if at_the_top > _ERROR else 1.0
    if below_top <= 0.0:
        return by_lot

    def chance(u: Any) -> Any:
        level = quantile(family, own, u)
        return cdf(family, rivals, level[..., np.newaxis]).prod(axis=-1)

    # Rivals that are surely below the arm do not matter.
    lowest = cdf(family, rivals, quantile(family, own, _ERROR / 10.0))
    rivals = rivals[lowest < 1.0 - _ERROR / 10.0 / max(len(rivals), 1)]
    if not len(rivals):
        return below_top + by_lot
    # The highest rivals decide: where they lie, the chance may rise steeply.
    highest = rivals[np.argsort(quantile(family, rivals, 0.5))[-2:]]
    steps = cdf(family, own, quantile(family, highest, _AROUND))
    panels = np.unique(np.concatenate([_PANELS, steps.ravel()]).clip(max=below_top))
    left, right = panels[:-1], panels[1:]
    at_ends = chance(panels)
    low, high = at_ends[:-1], at_ends[1:]
    found = 0.0
    for _ in range(40):
        width, rise = right - left, high - low
        simple = width * rise < _ERROR / 50.0
        found += float((width * 0.5 * (low + high))[simple].sum())
        left, right, low, high = (part[~simple] for part in (left, right, low, high))
        if not len(left):
            break
        fine, coarse = (_integral(chance, left, right, rule) for rule in (_FINE, _COARSE))
        good = np.abs(fine - coarse) < _ERROR / 10.0
        found += float(fine[good].sum())
        left, right, low, high = (part[~good] for part in (left, right, low, high))
        if not len(left):
            break
        middle = 0.5 * (left + right)
        between = chance(middle)
        left, right = np.concatenate([left, middle]), np.concatenate([middle, right])
        low, high = np.concatenate([low, between]), np.concatenate([between, high])
    return min(max(found + by_lot, 0.0), 1.0)


def _wins_at_top(family: Family, own: Any, rivals: Any, at_the_top: float) -> float:
    """The probability that an arm draws its top and wins: rivals with the same top may tie."""
    tied = rivals["factor"] == own["factor"]
    others = cdf(family, rivals[~tied], quantile(family, own, 1.0)).prod()
    return float(at_the_top * others * _first_of_tied(at_top(family, rivals[tied])))


def _first_of_tied(chances: Any) -> float:
    """The probability to win a draw of lots with those of others who take part, each by chance."""
    taking_part = np.ones(1)
    for chance in chances[chances > 0.0]:
        taking_part = np.convolve(taking_part, (1.0 - chance, chance))
    return float((taking_part / np.arange(1.0, len(taking_part) + 1)).sum())


def _integral(chance: Any, left: Any, right: Any, rule: tuple[Any, Any]) -> Any:
    points, weights = rule
    width = right - left
    return width * (chance(left[:, np.newaxis] + width[:, np.newaxis] * points) @ weights)
