"""A problem: a graph, a mean for every arm, and how rewards are drawn."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unimodal import families, graphs
from unimodal.errors import UnimodalError, real_number
from unimodal.families import Family, as_family
from unimodal.graphs import Graph
from unimodal.kernels.read_only import ReadOnlyArrays
from unimodal.problems.identification import Game, solve

_LISTED = 10  # arms that a notebook shows


@dataclass(frozen=True)
class Unimodality:
    """The answer of `Problem.check`; it is true if the means are unimodal on the graph.

    Attributes
    ----------
    holds
        Whether the means are unimodal.
    sentence
        The answer in words.
    stuck
        An arm without a better neighbour that is not the best, if there is one.
    best_neighbour
        The best neighbour of that arm.

    Examples
    --------
    >>> import unimodal as um
    >>> um.Problem(um.graphs.line(4), [0.5, 0.1, 0.2, 0.9]).check().stuck
    0
    """

    holds: bool
    sentence: str
    stuck: Any = None
    best_neighbour: Any = None

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        return self.sentence

    def _repr_html_(self) -> str:
        from unimodal.report import page

        row = ("yes" if self.holds else "no", self.stuck, self.best_neighbour)
        cells = ["–" if cell is None else str(cell) for cell in row]
        columns = ("one peak", "an arm that cannot climb", "its best neighbour")
        return page.notebook_table(self.sentence, columns, [cells])


class Problem(ReadOnlyArrays):
    """Arms on a graph, their means, and a reward family (Bernoulli by default).

    `means` is one number per arm, in the order of the arms, or a mapping from labels to numbers.

    Parameters
    ----------
    graph
        The arms and their edges.
    means
        The mean reward of each arm.
    family
        The law of the rewards.

    Examples
    --------
    >>> import unimodal as um
    >>> problem = um.Problem(um.graphs.line(3), [0.1, 0.5, 0.2])
    >>> print(problem.check())
    the means are unimodal: from every arm a path of neighbours climbs to arm 1.
    >>> print(um.Problem(um.graphs.line(4), [0.5, 0.1, 0.2, 0.9]).check())
    the means are not unimodal: no path climbs from arm 0 (mean 0.5), whose best
    neighbour 1 has mean 0.1.
    >>> prices = um.graphs.line(["9.90", "12.90", "14.90"])
    >>> um.Problem(prices, {"9.90": 0.2, "12.90": 0.6, "14.90": 0.4}).means.tolist()
    [0.2, 0.6, 0.4]
    """

    def __init__(self, graph: Graph, means: Any, family: Family | None = None) -> None:
        check_graph(graph, "Problem")
        family = as_family(family, "Problem")
        if isinstance(means, Mapping):
            means = _in_order(graph, means)
        try:
            array = np.array(means, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise UnimodalError("the 'means' of Problem must be numbers, one per arm.") from None
        if array.shape != (graph.n_arms,):
            raise UnimodalError(
                f"the 'means' of Problem must be one for each of the {graph.n_arms} arms, "
                f"got shape {array.shape}."
            )
        family = family.on(graph)
        family.of_arms(graph.labels).check_means(array)
        array.setflags(write=False)
        self.graph, self.family = graph, family
        self.means: NDArray[np.float64] = array

    @property
    def best_arm(self) -> int:
        """i*, the arm with the highest mean (the first of them, if several)."""
        return int(np.argmax(self.means))

    @functools.cached_property
    def gaps(self) -> NDArray[np.float64]:
        """μ* - μ_i of every arm: what a pull of it costs."""
        gaps: NDArray[np.float64] = self.means.max() - self.means
        gaps.setflags(write=False)
        return gaps

    def check(self) -> Unimodality:
        """Whether from every arm some path of neighbours climbs to the best one (Def. 1)."""
        graph, means = self.graph, self.means
        # An arm can climb if some neighbour is better; if all but one can, all paths end there.
        row_of = np.repeat(np.arange(graph.n_arms), np.diff(graph.rows))
        others = np.where(graph.near_rows == row_of, -np.inf, means[graph.near_rows])
        best_near = np.maximum.reduceat(others, graph.rows[:-1])
        stuck = np.flatnonzero(means >= best_near)
        stuck = stuck[stuck != self.best_arm]
        peak = graph.label_of(self.best_arm)
        if not len(stuck):
            return Unimodality(
                True,
                "the means are unimodal: from every arm a path of neighbours climbs "
                f"to arm {peak!r}.",
            )
        arm = int(stuck[np.argmax(means[stuck])])
        neighbours = graph.neighbors(arm)
        best = int(neighbours[np.argmax(means[neighbours])])
        name, other = graph.label_of(arm), graph.label_of(best)
        return Unimodality(
            False,
            f"the means are not unimodal: no path climbs from arm {name!r} (mean {means[arm]:g}), "
            f"whose best neighbour {other!r} has mean {means[best]:g}.",
            name,
            other,
        )

    @functools.cached_property
    def lower_bound(self) -> float:
        """c(μ) of Thm 1: any good policy's regret is at least about c(μ)·log T, for large T.

        The sum over the best arm's neighbours of (μ* - μ_i)/kl(μ_i, μ*); infinite if one of them
        is as good as the best. One that could not be better, since its known factor times the
        highest draw is at most μ* (`Scaled`), has no term: its divergence is infinite. A regret at
        a finite T may well lie below.

        >>> import unimodal as um
        >>> round(um.problems.triangular(17).lower_bound, 2)
        4.5
        """
        best = float(self.means[self.best_arm])
        total = 0.0
        for arm in self.graph.neighbors(self.best_arm):
            mean = float(self.means[arm])
            family = self.family.of_arm(self.graph.label_of(int(arm)))
            distance = family.divergence(mean, best)
            total += (best - mean) / distance if distance > 0 else math.inf
        return total

    @property
    def identification_bound(self) -> float:
        """T*(μ): to be sure of the peak takes at least about T*(μ)·log(1/δ) rewards, on average.

        Whatever chooses the arms and when to stop: if a wrong peak is named with probability at
        most δ on every problem of this graph and family with one peak, the expected number of
        rewards is at least T*(μ)·kl(δ, 1 - δ), where kl is of Bernoulli rewards; that is
        T*(μ)·log(1/δ) for small δ. On lines it is Poiani, Jourdan, Kaufmann and Degenne's (2025);
        that also on other graphs only the peak and its neighbours count is proved in
        docs/theory/identification.md. Infinite if a neighbour is as good as the peak.

        >>> import unimodal as um
        >>> line = um.Problem(um.graphs.line(2), [0.0, 1.0], um.Gaussian(sigma=2.0))
        >>> round(line.identification_bound, 6)  # 8·σ²/gap²
        32.0
        """
        return self._identification.time

    @property
    def identification_allocation(self) -> NDArray[np.float64]:
        """The share of the rewards that each arm should get to reach `identification_bound`.

        >>> import unimodal as um
        >>> line = um.Problem(um.graphs.line(4), [0.1, 0.5, 0.3, 0.1], um.Gaussian())
        >>> line.identification_allocation.round(3).tolist()
        [0.067, 0.469, 0.464, 0.0]
        """
        return self._identification.shares

    @functools.cached_property
    def _identification(self) -> Game:
        return solve(self)

    def regret_bound(self, rounds: ArrayLike, epsilon: float = 0.1) -> NDArray[np.float64]:
        """The curve of Thm 2, (1 + ε)·c(μ)·[log T + log log T], without its constant.

        The theorem adds a constant C that depends on ε, K and the means and is not known; so this
        is the shape of the bound, not the bound. Below T = 3, where log log T is not positive, it
        leaves that term out.
        """
        epsilon = real_number(epsilon, "the 'epsilon' of regret_bound", above=0)
        logs = np.log(np.maximum(np.asarray(rounds, dtype=np.float64), 1.0))
        both: NDArray[np.float64] = logs + np.log(np.maximum(logs, 1.0))
        return (1 + epsilon) * self.lower_bound * both

    def to_data(self) -> dict[str, Any]:
        """All that is needed to make the problem again, as plain JSON data."""
        return {
            "graph": graphs.to_data(self.graph),
            "means": self.means.tolist(),
            "rewards": families.to_data(self.family),
        }

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Problem:
        """The problem that `to_data` described."""
        family = families.from_data(data["rewards"])
        return cls(graphs.from_data(data["graph"]), data["means"], family)

    def _repr_html_(self) -> str:
        from unimodal.report import page

        best = np.argsort(-self.means, kind="stable")[:_LISTED]
        rows = [
            (str(self.graph.label_of(int(arm))), f"{self.means[arm]:.4g}", f"{self.gaps[arm]:.4g}")
            for arm in best
        ]
        left = self.graph.n_arms - len(rows)
        title = f"{self!r}{f'; {left:,} more arms have lower means' if left else ''}"
        return page.notebook_table(title, ("arm", "mean", "below the best"), rows)

    def __repr__(self) -> str:
        return (
            f"Problem({self.graph!r}, peak {self.means.max():g} at arm "
            f"{self.graph.label_of(self.best_arm)!r}, {self.family!r})"
        )


def _in_order(graph: Graph, means: Mapping[Any, Any]) -> list[Any]:
    """Means by label, in the order of the arms."""
    by_arm = {graph.arm_of(label): mean for label, mean in means.items()}
    missing = [graph.label_of(arm) for arm in range(graph.n_arms) if arm not in by_arm]
    if missing:
        raise UnimodalError(
            f"the 'means' of Problem must name every arm, got none for {missing[0]!r}"
            f"{f' and {len(missing) - 1} more' if len(missing) > 1 else ''}."
        )
    return [by_arm[arm] for arm in range(graph.n_arms)]


def check_graph(graph: Any, where: str) -> None:
    """Refuse what is not a graph; `where` names the function that was given it."""
    if not isinstance(graph, Graph):
        raise UnimodalError(
            f"the 'graph' of {where} must be a Graph (um.graphs.line(17), …), got {graph!r}."
        )
