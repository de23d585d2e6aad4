"""Arms that are the points of an interval, with a mean reward that rises to one peak and falls."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unimodal.errors import LONGEST, UnimodalError, real_number, whole_number
from unimodal.families import Family, as_family
from unimodal.graphs import line
from unimodal.problems.problem import Problem

_GRID = 1001  # points at which a mean is looked at to find its peak
_MOST_POINTS = 10**7  # of a grid: labels and means are computed one by one
_ROUNDING = 1e-12  # relative: a smaller rise after a fall, or part of a step, is arithmetic


class Interval:
    """The points of [low, high] as arms; `mean` is a function of a point, with one peak.

    `family` is the reward family, Bernoulli by default. `peak` is where the mean is highest.

    Parameters
    ----------
    low
        The lower end.
    high
        The upper end.
    mean
        The mean reward at a point.
    family
        The law of the rewards.

    Examples
    --------
    >>> import unimodal as um
    >>> interval = um.Interval(5, 25, mean=lambda price: 0.9 - 0.04 * abs(price - 13))
    >>> round(interval.peak, 6), round(interval.best_mean, 6)
    (13.0, 0.9)
    >>> interval.discretise(5).graph.labels
    (5.0, 10.0, 15.0, 20.0, 25.0)
    """

    def __init__(
        self,
        low: float,
        high: float,
        mean: Callable[[float], float],
        family: Family | None = None,
    ) -> None:
        self.low = real_number(low, "the 'low' of Interval")
        self.high = real_number(high, "the 'high' of Interval", above=self.low)
        real_number(self.length, "the length of an Interval, high - low,")
        if not callable(mean):
            raise UnimodalError(
                f"the 'mean' of Interval must be a function of a point, got {mean!r}."
            )
        self.mean, self.family = mean, as_family(family, "Interval")
        points = np.linspace(self.low, self.high, _GRID)
        means = self.means_at(points)
        _check_one_peak(points, means)
        self.peak = self._highest(points, means)
        self.best_mean = float(self.means_at([self.peak])[0])

    @property
    def length(self) -> float:
        """Of the interval: high - low."""
        return self.high - self.low

    def means_at(self, points: Any) -> NDArray[np.float64]:
        """The mean reward at each of some points."""
        return np.array([self._mean_at(float(x)) for x in points])

    def _mean_at(self, point: float) -> float:
        try:
            mean = float(self.mean(point))
        except Exception as error:  # whatever a user's function may raise
            raise UnimodalError(
                "the 'mean' of Interval must return one number per point, but at "
                f"{point:g} there was a {type(error).__name__}: {error}."
            ) from error
        try:
            self.family.check_means(np.array([mean]))
        except UnimodalError as error:
            sentence = str(error).removesuffix(" for arm 0.")  # the interval has points
            raise UnimodalError(f"{sentence} at the point {point:g}.") from None
        return mean

    def discretise(self, n_points: int) -> Problem:
        """A line of `n_points` arms, evenly spread from low to high; the points are their labels.

        A peak half-way between two points gives two best arms: harmless to a policy, but
        `Problem.check` says so and `Problem.lower_bound` is infinite.
        """
        n_points = whole_number(n_points, "the 'n_points' of discretise", 2, _MOST_POINTS)
        # Twelve digits: 0.3 rather than 0.30000000000000004. But not past the ends.
        even = [float(f"{x:.12g}") for x in np.linspace(self.low, self.high, n_points)]
        points = [min(max(x, self.low), self.high) for x in even]
        graph = line(points)
        return Problem(graph, self.means_at(points), self.family)

    def points_for(self, horizon: int, smoothness: float = 2.0, slope: float | None = None) -> int:
        """How many points to spread so that the grid costs about as much as learning on it.

        Assumes that near the peak the mean is μ* - C·|x - x*|^α with α = `smoothness` (1 for a
        corner, 2 for a smooth top) and C = `slope`; without one, C is such that the mean would fall
        by 1 over the length L of the interval. With a step of δ·L, the best point of the grid costs
        about F·δ^α a round, where F = C·L^α; to tell it from its neighbours, which are about
        F·δ^α worse, costs log T/(F·δ^α) in all. The two are equal, and √(T log T), at

            δ = (√(log T / T) / F)^(1/α).

        Combes and Proutiere 2014 (section on continuous arms) take (log T / √T)^(1/α), which is
        wider, and prove a regret of order √T·log T with it, for KL-UCB over all points. For α < 1
        the sweep, one round at each of 1/δ points, is the larger part: there δ = T^(-1/(1 + α)).

        >>> import unimodal as um
        >>> interval = um.Interval(0, 1, mean=lambda x: 0.9 - (x - 0.4) ** 2)
        >>> [interval.points_for(horizon, smoothness=2) for horizon in (10**3, 10**5, 10**7)]
        [5, 11, 30]
        """
        horizon = whole_number(horizon, "the 'horizon'", 2, LONGEST)
        alpha = real_number(smoothness, "the 'smoothness'", above=0)
        log_fall = 0.0  # logarithms, since powers may overflow
        if slope is not None:
            slope = real_number(slope, "the 'slope'", above=0)
            log_fall = math.log(slope) + alpha * math.log(self.length)
        learning = (0.5 * math.log(math.log(horizon) / horizon) - log_fall) / alpha
        sweep = -math.log(horizon) / (1 + alpha)
        steps = math.exp(-min(max(learning, sweep), 0.0))  # 1/δ
        return math.ceil(steps * (1 - _ROUNDING)) + 1

    def regret(self, result: Any) -> dict[str, Any]:
        """Regret against the interval's best mean, of a result on `discretise(n)`, by policy.

        A result's own regret is against the best point of its grid; this one is larger by what
        that point lacks, every round.

        >>> import unimodal as um
        >>> interval = um.Interval(0, 1, mean=lambda x: 0.9 - abs(x - 0.4))
        >>> result = um.simulate(interval.discretise(4), um.UTS(), horizon=300, trials=2)
        >>> more = interval.regret(result)["UTS"] - result["UTS"].regret
        >>> round(float(more[0, -1]), 6)  # 300 rounds at 1/3 instead of at 0.4
        20.0
        """
        problem = getattr(result, "problem", None)
        if not (isinstance(problem, Problem) and self._is_a_grid(problem)):
            raise UnimodalError(
                "the regret of an Interval is that of a result on its discretise(n), "
                f"got {problem or result!r}: simulate on that problem."
            )
        lacks = self.best_mean - float(problem.means.max())
        return {name: run.regret + lacks * result.rounds for name, run in result.items()}

    def _is_a_grid(self, problem: Problem) -> bool:
        """Whether a problem's arms are points of the interval, with their means."""
        points = problem.graph.labels
        if not points or not all(isinstance(x, float) for x in points):
            return False
        return bool((self.means_at(points) == problem.means).all())

    def _highest(self, points: Any, means: Any) -> float:
        """The highest point, by thirds between the neighbours of the best one of a grid."""
        best = int(np.argmax(means))
        low, high = points[max(best - 1, 0)], points[min(best + 1, len(points) - 1)]
        known = {float(points[best]): float(means[best])}
        while high - low > 4 * np.spacing(max(abs(low), abs(high))):
            left, right = low + (high - low) / 3, high - (high - low) / 3
            known |= {x: self._mean_at(x) for x in (left, right)}
            low, high = (low, right) if known[left] >= known[right] else (left, high)
        return float(max(known, key=lambda x: known[x]))

    def _repr_html_(self) -> str:
        from unimodal.report import page

        points = sorted({*np.linspace(self.low, self.high, 5).tolist(), self.peak})
        rows = [
            (f"{x:.6g}", f"{mean:.4g}")
            for x, mean in zip(points, self.means_at(points), strict=True)
        ]
        return page.notebook_table(repr(self), ("point", "mean"), rows)

    def __repr__(self) -> str:
        return (
            f"Interval({self.low:g}, {self.high:g}, peak {self.best_mean:g} at {self.peak:g}, "
            f"{self.family!r})"
        )


def _check_one_peak(points: Any, means: Any) -> None:
    """Refuse a mean that rises again after it has fallen."""
    size = max(float(np.abs(means).max()), 1.0)
    steps = np.diff(means)
    falls = np.flatnonzero(steps < -_ROUNDING * size)
    rises = np.flatnonzero(steps > _ROUNDING * size)
    if len(falls) and len(rises) and rises[-1] > falls[0]:
        again = rises[rises > falls[0]][0]
        raise UnimodalError(
            "the 'mean' of Interval must rise to one peak and then fall; it falls near "
            f"{points[falls[0]]:g} and rises again near {points[again]:g}."
        )
