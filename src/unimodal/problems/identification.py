"""How many rewards it takes to be sure of the peak: the lower bound, and who should be pulled.

docs/theory/identification.md has the bound and the proof that only the peak and its neighbours
count, on any graph.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unimodal.errors import UnimodalError
from unimodal.families.family import divergence
from unimodal.kernels.compile import record
from unimodal.kernels.user_code_errors import explained

if TYPE_CHECKING:
    from unimodal.problems.problem import Problem

_POINTS = 65  # for z, in every pass
_PASSES, _KEPT = 12, 16  # a pass keeps so many points on each side of the best one: half of them
_SECTIONS = 40  # golden sections for the value of the game, in every pass
_ABOVE = 1e-9  # levels begin so much above a neighbour's mean, where kl(μ_a, ·) is finite
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


class Game(NamedTuple):
    """The solution: T*, and the share of the rewards that each arm gets."""

    time: float
    shares: NDArray[np.float64]


def solve(problem: Problem) -> Game:
    """T*(μ) and the shares that attain it.

    1/T* is the largest, over shares w, of the smallest, over neighbours b of the peak a and levels
    z between their means, of w_a·kl(μ_a, z) + w_b·kl(μ_b, z). With x_b = w_b/w_a and a value y for
    all neighbours, x_b(y) is the largest (y - kl(μ_a, z))/kl(μ_b, z), and T* is the smallest
    (1 + Σ x_b(y))/y, whose numerator is convex in y.
    """
    peak, near = problem.best_arm, problem.graph.neighbors(problem.best_arm)
    shares = np.zeros(problem.graph.n_arms)
    shares[peak] = 1.0
    if not len(near):
        return Game(0.0, shares)
    top = problem.means[peak]
    if (problem.means[near] >= top).any():
        return Game(math.inf, np.full(len(shares), math.nan))
    unimodal = problem.check()
    if not unimodal:
        raise UnimodalError(
            f"the identification bound is for one peak, but {unimodal.sentence[:-1]}."
        )
    family = problem.family.of_arms(problem.graph.labels)
    highest = np.broadcast_to(family.high, shares.shape)[near]
    right = np.minimum(top, highest)
    left = problem.means[near] + _ABOVE * (right - problem.means[near])
    low, high = 0.0, float(_divergences(problem, peak, left).min())
    rows = np.arange(len(near))
    for _ in range(_PASSES):
        z = np.linspace(left, right, _POINTS, axis=1)
        from_near = np.stack([_divergences(problem, b, z[row]) for row, b in enumerate(near)])
        y, ratios, places = _best_value(_divergences(problem, peak, z), from_near, low, high)
        # The levels that matter move with y: both ranges are halved around what was found.
        quarter = 0.25 * (high - low)
        low, high = max(y - quarter, low), min(y + quarter, high)
        ends = (np.clip(places + side, 0, _POINTS - 1) for side in (-_KEPT, _KEPT))
        left, right = (z[rows, end] for end in ends)
    whole = 1.0 + ratios.sum()
    shares[peak], shares[near] = 1.0 / whole, ratios / whole
    return Game(float(whole / y), shares)


def _divergences(problem: Problem, arm: int, levels: NDArray[np.float64]) -> NDArray[np.float64]:
    """kl(μ_arm, z) for many levels z."""
    told, one = problem.family.told, problem.family.of_arms([problem.graph.label_of(int(arm))])
    told.require(divergence)
    mean, rule = float(one.told_means(problem.means[[arm]])[0]), record(told)
    with explained(told.own_functions):
        found = [divergence(rule, mean, float(z)) for z in one.told_means(levels.ravel())]
    return np.array(found).reshape(levels.shape)


def _best_value(
    apart: NDArray[np.float64], from_near: NDArray[np.float64], low: float, high: float
) -> tuple[float, NDArray[np.float64], NDArray[np.intp]]:
    """The y with the smallest (1 + Σ x_b(y))/y; x_b there, and at which of the levels."""

    def ratios(y: float) -> NDArray[np.float64]:
        with np.errstate(divide="ignore", invalid="ignore"):
            # A neighbour at its own mean costs nothing: only the peak's cost may reach y there.
            steep = np.where(from_near > 0, (y - apart) / from_near, -np.inf)
        return np.maximum(steep, 0.0)

    for _ in range(_SECTIONS):
        inner = (high - _GOLDEN * (high - low), low + _GOLDEN * (high - low))
        costs = [(1.0 + ratios(y).max(axis=1).sum()) / y for y in inner]
        low, high = (low, inner[1]) if costs[0] <= costs[1] else (inner[0], high)
    y = 0.5 * (low + high)
    found = ratios(y)
    return y, found.max(axis=1), found.argmax(axis=1)
