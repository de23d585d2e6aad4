"""What rewards say of the arms of a line, given that the means have one peak.

The mean of an arm is not only where its own rewards put it: it is below that of its neighbour on
the way to the peak. The posterior given one peak is computed by messages along the line, from both
ends (as forwards and backwards in a hidden Markov model), with means cut into cells.

Each place of the peak is as likely as any other before the rewards. (Independent means that happen
to have one peak have it in the middle of a line far more often than at an end.) Otherwise nothing
is known of the means before: `Family.log_vague_prior`.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import gammaln, logsumexp

from unimodal.families.family import ArmsFamily, Family
from unimodal.inference.confidence_bounds import bounds

MOST_ARMS = 128
_FAR = 12.5  # in log-likelihood, about five standard errors: cells reach as far around each arm
_ENDS = 33  # of cells, around each arm
_FEWEST = 2_049  # ends of cells in all: arms that are alike share theirs
_WIDEST = 1e4  # times an arm's mean: as far as cells reach where nothing is ruled out
_NEEDED = ("log_likelihood", "log_evidence")
_REFUTED = -10.0  # log-likelihood that one peak explains the rewards better, at the least


def is_told(family: Family) -> bool:
    """Whether a family says how likely rewards are, and how much they speak against a mean.

    >>> from unimodal import Poisson
    >>> is_told(Poisson())
    True
    """
    kind = type(family.told)
    return all(getattr(kind, name) is not getattr(Family, name) for name in _NEEDED)


def raised_by_one_peak(family: ArmsFamily, factors: Any, pulls: Any, totals: Any) -> Any:
    """How much higher the mean of each arm is expected to be, in money, if there is one peak.

    The arms, all with rewards, are in the order of a line. Where the rewards refute one peak, being
    e¹⁰ times as likely under means in any order, nothing is raised: 0 for each.
    """
    levels = _levels(family, pulls, totals)
    values = (levels[1:] + levels[:-1]) / 2
    own = np.stack([
        _log_density(family.told, values / factor, *sums) + np.log(np.diff(levels))
        for factor, *sums in zip(factors, pulls, totals, strict=True)
    ])  # fmt: skip
    own -= logsumexp(own, axis=1, keepdims=True)
    given = _marginals(own)
    evidence = logsumexp(given, axis=1, keepdims=True)  # the same for every arm
    if evidence[0, 0] < _REFUTED:
        return np.zeros(len(own))
    return (np.exp(given - evidence) - np.exp(own)) @ values


def _levels(family: ArmsFamily, pulls: Any, totals: Any) -> Any:
    """The ends of the cells, in money: close to each other where arms' means may well be."""
    low, high = bounds(family, pulls, totals, _FAR)
    open_above = ~np.isfinite(high)
    high = np.where(open_above, _WIDEST * totals / pulls, high)
    levels = np.linspace(low, high, _ENDS)
    as_ratios = open_above & (low > 0)  # such a mean is known but for a factor
    levels[:, as_ratios] = np.geomspace(low[as_ratios], high[as_ratios], _ENDS)
    levels = np.unique(levels)
    places = np.linspace(0, len(levels) - 1, max(len(levels), _FEWEST))
    return np.unique(np.interp(places, np.arange(len(levels)), levels))


def _log_density(family: Family, means: Any, pulls: Any, total: Any) -> Any:
    """Of the posterior of an arm by itself, but for a constant; -∞ outside of the family's range.

    It is the rewards' likelihood, and not their evidence against a mean, which averages over other
    means whose prior may depend on the mean itself.
    """
    possible = (means >= family.low) & (means <= family.high)
    inside = np.where(possible, means, total / pulls)
    with np.errstate(all="ignore"):  # a mean of 0 or ∞
        found = family.log_likelihood(inside, pulls, total) + family.log_vague_prior(inside)
    return np.where(possible, found, -np.inf)


def _marginals(own: Any) -> Any:
    """The log-weight of each cell for each arm, given one peak; `own` is that without the others.

    Their sum over cells is how much better one peak explains the rewards than means in any order.
    """
    n_arms, n_cells = own.shape
    # Of all orders of K means, the share with one peak, and that at place i, is 1/(K·i!·(K-1-i)!).
    place = gammaln(np.arange(n_arms) + 1) + gammaln(n_arms - np.arange(n_arms))
    falls = np.zeros((2, n_arms, n_cells))  # the weight of all arms on a side, if they are lower
    rises = np.full((2, n_arms, n_cells), -np.inf)  # the same, if the peak is among them
    for side, arms in enumerate((range(n_arms), range(n_arms)[::-1])):
        for before, arm in pairwise(arms):
            falls[side, arm] = _below(own[before] + falls[side, before])
            at_or_behind = np.logaddexp(place[before] + falls[side, before], rises[side, before])
            rises[side, arm] = _below((own[before] + at_or_behind)[::-1])[::-1]
    peak = place[:, np.newaxis] + falls[0] + falls[1]
    return own + logsumexp([peak, rises[0] + falls[1], falls[0] + rises[1]], axis=0)


def _below(weights: Any) -> Any:
    """The weight of all cells before each, and of half of its own; logarithms.

    Half, since of two means in one cell either may be the lower.
    """
    before = np.concatenate([[-np.inf], np.logaddexp.accumulate(weights)[:-1]])
    return np.logaddexp(before, weights - np.log(2.0))
