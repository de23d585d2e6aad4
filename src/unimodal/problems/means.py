"""Means with one peak: the paper's, smooth ones, and those of rank one."""

from __future__ import annotations

import reprlib
from typing import Any

import numpy as np

from unimodal import graphs
from unimodal.errors import UnimodalError, real_number, whole_number
from unimodal.families import Family
from unimodal.graphs import Graph
from unimodal.kernels.random import GRAPH, randint, stream
from unimodal.problems.problem import Problem, check_graph


def by_distance(
    graph: Graph,
    peak: Any = None,
    high: float = 0.9,
    low: float = 0.1,
    family: Family | None = None,
) -> Problem:
    """The paper's means: from `high` at the peak down to `low` at the arms farthest from it.

    μ_i = high - d_i·(high - low)/d_max, where d_i is the length of a shortest path to the peak.
    `peak` is an arm (or its label); the middle arm by default.

    Parameters
    ----------
    graph
        The arms and their edges.
    peak
        The best arm, or its label.
    high
        The mean of the peak.
    low
        The mean of the arms farthest from it.
    family
        The law of the rewards; Bernoulli by default.

    Returns
    -------
    Problem
        The problem.

    Examples
    --------
    >>> import unimodal as um
    >>> by_distance(um.graphs.line(5), peak=2).means.tolist()
    [0.1, 0.5, 0.9, 0.5, 0.1]
    """
    high, low = _checked(high, low, "by_distance")
    return Problem(graph, _falling(_steps(graph, peak, "by_distance"), high, low), family)


def _falling(steps: Any, high: float, low: float) -> Any:
    """Means that fall evenly with the distance from the peak."""
    means = high - steps * ((high - low) / steps.max())
    means[steps == steps.max()] = low  # not high - (high - low), which rounds
    return means


def smooth_peak(
    graph: Graph,
    peak: Any = None,
    high: float = 0.9,
    low: float = 0.1,
    family: Family | None = None,
    *,
    width: float | None = None,
) -> Problem:
    """A bell: flat around the peak, steepest at `width` steps from it, then flattening to `low`.

    μ_i = low + (high - low)·exp(-(d_i/width)²/2), where d_i is the length of a shortest path to
    the peak. `width` is a third of the largest distance by default. One so small or so great that
    arms one step apart would get the same number is refused.

    Parameters
    ----------
    graph
        The arms and their edges.
    peak
        The best arm, or its label.
    high
        The mean of the peak.
    low
        What means fall to far from it.
    family
        The law of the rewards; Bernoulli by default.
    width
        How many steps from the peak the means fall fastest.

    Returns
    -------
    Problem
        The problem.

    Examples
    --------
    >>> import unimodal as um
    >>> smooth_peak(um.graphs.line(5), peak=2, width=1).means.round(3).tolist()
    [0.208, 0.585, 0.9, 0.585, 0.208]
    """
    high, low = _checked(high, low, "smooth_peak")
    steps = _steps(graph, peak, "smooth_peak")
    third = float(steps.max()) / 3
    width = third if width is None else real_number(width, "the 'width' of smooth_peak", above=0)
    with np.errstate(over="ignore"):  # of a tiny width: far below the bell in any case
        levels = low + (high - low) * np.exp(-0.5 * (np.arange(steps.max() + 1) / width) ** 2)
    levels[0] = high  # not low + (high - low), which rounds
    flat = np.flatnonzero(levels[1:] >= levels[:-1])
    if len(flat):
        raise UnimodalError(
            f"the means of smooth_peak must fall with every step from the peak, got {high:g} to "
            f"{low:g} with width={width:g}, where they are the same {flat[0]} and {flat[0] + 1} "
            f"steps away: take a width nearer to {third:g}, or 'high' and 'low' farther apart."
        )
    return Problem(graph, levels[steps], family)


def _checked(high: float, low: float, where: str) -> tuple[float, float]:
    """High and low as floats."""
    high = real_number(high, f"the 'high' of {where}")
    low = real_number(low, f"the 'low' of {where}")
    if not low < high:
        raise UnimodalError(f"'low' must be smaller than 'high', got low={low:g}, high={high:g}.")
    return high, low


def _steps(graph: Graph, peak: Any, where: str) -> Any:
    """The distance of every arm from the peak."""
    check_graph(graph, where)
    return graph.distances(graph.n_arms // 2 if peak is None else graph.arm_of(peak))


def triangular(
    n_arms: int, high: float = 0.9, low: float = 0.1, family: Family | None = None
) -> Problem:
    """The line of Combes and Proutiere: means rise evenly to the middle arm and fall again.

    Parameters
    ----------
    n_arms
        The number of arms.
    high
        The mean of the middle arm.
    low
        The mean at both ends.
    family
        The law of the rewards; Bernoulli by default.

    Returns
    -------
    Problem
        The problem.

    Examples
    --------
    >>> triangular(17).best_arm  # a_9 of the paper, which counts from 1
    8
    """
    graph = graphs.line(n_arms)
    high, low = _checked(high, low, "triangular")
    # by_distance without a search of the graph: SciPy's takes 0.2 s to import.
    steps = np.abs(np.arange(graph.n_arms) - graph.n_arms // 2)
    return Problem(graph, _falling(steps, high, low), family)


def rank_one(u: Any, v: Any, family: Family | None = None) -> Problem:
    """Arms are pairs (i, j) with mean u_i·v_j, on the graph where they share a row or a column.

    A row may stand for an item and a column for a place where it is shown (Katariya, Kveton,
    Szepesvári, Vernade and Wen 2017). There is one peak where nothing in u and v is negative, each
    has one largest entry, and at most one of them has zeros (Trinh, Kaufmann, Vernade and Combes
    2020); vectors that give more than one are refused.

    Parameters
    ----------
    u
        One number per row.
    v
        One number per column.
    family
        The law of the rewards; Bernoulli by default.

    Returns
    -------
    Problem
        The problem.

    Raises
    ------
    UnimodalError
        If u and v give more than one peak.

    Examples
    --------
    >>> problem = rank_one([0.5, 1.0], [0.2, 0.6, 0.4])
    >>> problem.graph.label_of(problem.best_arm)
    (1, 1)
    >>> problem.means.tolist()
    [0.1, 0.3, 0.2, 0.2, 0.6, 0.4]
    """
    rows, columns = _vector(u, "u"), _vector(v, "v")
    graph = graphs.rank_one(len(rows), len(columns))
    with np.errstate(over="ignore"):  # the problem refuses an infinite mean
        means = np.outer(rows, columns).ravel()
    problem = Problem(graph, means, family)
    found = problem.check()
    if not found:
        raise UnimodalError(
            f"u and v of rank_one must give one peak, but {found.sentence[:-1]}: take entries of "
            "at least 0, one clearly largest in each of u and v, and zeros in at most one of them."
        )
    return problem


def _vector(values: Any, name: str) -> Any:
    try:
        vector = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        vector = np.empty(0)
    if vector.ndim != 1 or not len(vector) or not np.isfinite(vector).all():
        raise UnimodalError(
            f"the '{name}' of rank_one must be a list of finite numbers, "
            f"got {reprlib.repr(values)}."
        )
    return vector


def random_peak(graph: Graph, seed: int = 0) -> int:
    """An arm drawn uniformly, as the paper chooses its peaks.

    Parameters
    ----------
    graph
        The arms and their edges.
    seed
        Determines the arm.

    Returns
    -------
    int
        The number of an arm.

    Examples
    --------
    >>> import unimodal as um
    >>> 0 <= random_peak(um.graphs.line(17), seed=1) < 17
    True
    """
    check_graph(graph, "random_peak")
    seed = whole_number(seed, "the 'seed'", 0)
    return int(randint(stream(seed, graph.n_arms + 1, GRAPH), graph.n_arms))
