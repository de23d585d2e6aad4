"""Problems whose peak moves: means that stay for some rounds and then change."""

from __future__ import annotations

import functools
import math
import reprlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unimodal import families, graphs
from unimodal.errors import LONGEST, UnimodalError, real_number, whole_number
from unimodal.families import Family
from unimodal.graphs import Graph
from unimodal.kernels.random import GRAPH, randint, stream
from unimodal.problems.identification import Game
from unimodal.problems.means import by_distance, random_peak
from unimodal.problems.problem import _LISTED, Problem, Unimodality, check_graph
from unimodal.problems.recorded import Recorded

MOST_MEANS = 10**8  # of all pieces together: what memory holds
STEPS = 9  # of drifting_line's peak, from arm to arm; odd, so that no two arms ever tie at the top


class Moving(Problem):
    """Means that change: row n of `means` holds from round `begins[n]` on, the last one for ever.

    Rounds are counted from 1. Regret is dynamic: what a pull costs is counted against the best arm
    of its own round. `problem.means`, `best_arm` and `gaps` are those of the first round.

    Parameters
    ----------
    graph
        The arms and their edges.
    begins
        The first round of each piece, from 1 on.
    means
        One row of means per piece.
    family
        The law of the rewards; Bernoulli by default.

    Examples
    --------
    >>> import unimodal as um
    >>> problem = Moving(um.graphs.line(3), [1, 501], [[0.9, 0.5, 0.1], [0.1, 0.5, 0.9]])
    >>> problem
    Moving(Graph(line, 3 arms, 2 edges), 2 pieces, peak from arm 0 to arm 2, Bernoulli())
    >>> um.simulate(problem, um.Windowed(um.UTS(), window=200), horizon=1000, trials=2).n_trials
    2
    """

    def __init__(self, graph: Graph, begins: Any, means: Any, family: Family | None = None) -> None:
        check_graph(graph, "Moving")
        if not isinstance(begins, Sequence | np.ndarray):
            raise UnimodalError(f"the 'begins' of Moving must be a list of rounds, got {begins!r}.")
        what = "a round in 'begins' of Moving"
        rounds = [whole_number(begin, what, at_most=LONGEST) for begin in begins]
        if not rounds or rounds[0] != 1 or any(np.diff(rounds) <= 0):
            raise UnimodalError(
                f"the 'begins' of Moving must be increasing rounds, the first 1, got {begins!r}."
            )
        if not isinstance(means, Sequence | np.ndarray) or len(means) != len(rounds):
            raise UnimodalError(
                "the 'means' of Moving must be rows, one for each of the "
                f"{len(rounds)} rounds in 'begins', got {reprlib.repr(means)}."
            )
        pieces = [Problem(graph, row, family) for row in means]
        super().__init__(graph, pieces[0].means, family)
        self.begins = np.array(rounds, dtype=np.int64)
        self.means_by_piece = np.stack([piece.means for piece in pieces])
        self.begins.setflags(write=False)
        self.means_by_piece.setflags(write=False)

    @functools.cached_property
    def gaps_by_piece(self) -> NDArray[np.float64]:
        """What a pull costs: one row per piece, one column per arm."""
        gaps: NDArray[np.float64] = (
            self.means_by_piece.max(axis=1, keepdims=True) - self.means_by_piece
        )
        return gaps

    def at(self, round: int) -> Problem:
        """The problem of one round, with means that stay.

        >>> import unimodal as um
        >>> um.problems.drifting_line(5, horizon=1000, speed=0.004).at(750).best_arm
        3
        """
        now = whole_number(round, "the 'round' of at")
        piece = int(np.searchsorted(self.begins, now, side="right")) - 1
        return Problem(self.graph, self.means_by_piece[piece], self.family)

    def check(self) -> Unimodality:
        """Whether the means are unimodal in every round."""
        for begin in self.begins.tolist():
            found = self.at(begin).check()
            if not found:
                sentence = f"from round {begin} on {found.sentence}"
                return Unimodality(False, sentence, found.stuck, found.best_neighbour)
        return Unimodality(True, f"the means are unimodal in each of {len(self.begins)} pieces.")

    @property
    def lower_bound(self) -> float:
        """Not a number: Thm 1 is about means that stay."""
        return math.nan

    @property
    def _identification(self) -> Game:
        """Not a number either: a peak that moves is not identified."""
        return Game(math.nan, np.full(self.graph.n_arms, math.nan))

    def to_data(self) -> dict[str, Any]:
        """All that is needed to make the problem again, as plain JSON data."""
        moving = {"begins": self.begins.tolist(), "means": self.means_by_piece.tolist()}
        return super().to_data() | moving

    def _repr_html_(self) -> str:
        from unimodal.report import page

        rows = [
            (f"{begin:,}", str(self.graph.label_of(int(means.argmax()))), f"{means.max():.4g}")
            for begin, means in zip(self.begins[:_LISTED], self.means_by_piece, strict=False)
        ]
        left = len(self.begins) - len(rows)
        title = f"{self!r}{f'; {left:,} more pieces follow' if left else ''}"
        return page.notebook_table(title, ("from round", "best arm", "its mean"), rows)

    def __repr__(self) -> str:
        first, last = (int(row.argmax()) for row in self.means_by_piece[[0, -1]])
        return (
            f"Moving({self.graph!r}, {len(self.begins)} pieces, peak from arm "
            f"{self.graph.label_of(first)!r} to arm {self.graph.label_of(last)!r}, "
            f"{self.family!r})"
        )


def from_data(data: dict[str, Any]) -> Problem:
    """The problem that its `to_data` described, whether it moves or not.

    Parameters
    ----------
    data
        What `problem.to_data()` returned.

    Returns
    -------
    Problem
        The same problem.

    Examples
    --------
    >>> import unimodal as um
    >>> from_data(um.problems.triangular(5).to_data()).means.tolist()
    [0.1, 0.5, 0.9, 0.5, 0.1]
    """
    if "recorded" in data:
        return Recorded.from_data(data)
    if "begins" not in data:
        return Problem.from_data(data)
    graph, family = graphs.from_data(data["graph"]), families.from_data(data["rewards"])
    return Moving(graph, data["begins"], data["means"], family)


def drifting_line(n_arms: int, horizon: int, speed: float, family: Family | None = None) -> Moving:
    """A line whose peak w(t) moves by `speed` arms a round, from end to end and back.

    μ_k(t) = (K - 1)/K - |w(t) - k|/K, the means with which Combes and Proutiere (2014) study
    drift; there w(t) is a sine. The peak moves in steps of a ninth of an arm, so it never lies
    halfway between two arms, where they would tie.

    Parameters
    ----------
    n_arms
        The number of arms.
    horizon
        The number of rounds that are planned.
    speed
        By how many arms the peak moves in a round.
    family
        The law of the rewards; Bernoulli by default.

    Returns
    -------
    Moving
        The problem.

    Examples
    --------
    >>> problem = drifting_line(10, horizon=9000, speed=0.001)
    >>> [problem.at(round).best_arm for round in (1, 3000, 6000, 9000)]
    [0, 3, 6, 9]
    """
    graph = graphs.line(n_arms)
    horizon = whole_number(horizon, "the 'horizon' of drifting_line", at_most=LONGEST)
    speed = real_number(speed, "the 'speed' of drifting_line", above=0)
    if speed > 1 / STEPS:
        raise UnimodalError(
            f"the 'speed' of drifting_line must be at most 1/{STEPS} of an arm a round, "
            f"got {speed:g}."
        )
    pieces = int(np.rint((horizon - 1) * speed * STEPS)) + 1
    _check_room(pieces, n_arms, "drifting_line")
    step = np.arange(pieces)
    begins = np.ceil(np.maximum(step - 0.5, 0.0) / (speed * STEPS)).astype(np.int64) + 1
    there = STEPS * (n_arms - 1)
    peak = (there - np.abs(step % (2 * there) - there)) / STEPS
    distances = np.abs(peak[:, None] - np.arange(n_arms))
    kept = begins <= horizon
    means = (n_arms - 1 - distances[kept]) / n_arms
    return _checked(Moving(graph, begins[kept].tolist(), np.maximum(means, 0.0), family))


def jumping_peak(
    graph: Graph,
    horizon: int,
    every: int,
    high: float = 0.9,
    low: float = 0.1,
    family: Family | None = None,
    seed: int = 0,
) -> Moving:
    """The means of `by_distance`, with a peak that jumps to another random arm `every` rounds.

    Parameters
    ----------
    graph
        The arms and their edges.
    horizon
        The number of rounds that are planned.
    every
        After how many rounds the peak jumps.
    high
        The mean of the peak.
    low
        The mean of the arms farthest from it.
    family
        The law of the rewards; Bernoulli by default.
    seed
        Determines the jumps.

    Returns
    -------
    Moving
        The problem.

    Examples
    --------
    >>> import unimodal as um
    >>> jumping_peak(um.graphs.line(17), horizon=10_000, every=2500).begins.tolist()
    [1, 2501, 5001, 7501]
    """

    def jump(rng: Any, peak: int) -> int:
        other = int(randint(rng, graph.n_arms - 1))
        return other + (other >= peak)

    return _travelling(graph, horizon, every, seed, (high, low, family), jump, "jumping_peak")


def wandering_peak(
    graph: Graph,
    horizon: int,
    every: int,
    high: float = 0.9,
    low: float = 0.1,
    family: Family | None = None,
    seed: int = 0,
) -> Moving:
    """The means of `by_distance`, with a peak that steps to a random neighbour `every` rounds.

    Parameters
    ----------
    graph
        The arms and their edges.
    horizon
        The number of rounds that are planned.
    every
        After how many rounds the peak steps.
    high
        The mean of the peak.
    low
        The mean of the arms farthest from it.
    family
        The law of the rewards; Bernoulli by default.
    seed
        Determines the steps.

    Returns
    -------
    Moving
        The problem.

    Examples
    --------
    >>> import unimodal as um
    >>> wandering_peak(um.graphs.grid(4, 4), horizon=1000, every=100).check().holds
    True
    """

    def step(rng: Any, peak: int) -> int:
        neighbours = graph.neighbors(peak)
        return int(neighbours[randint(rng, len(neighbours))])

    return _travelling(graph, horizon, every, seed, (high, low, family), step, "wandering_peak")


def _travelling(
    graph: Graph, horizon: int, every: int, seed: int, shape: Any, move: Any, where: str
) -> Moving:
    """Means by distance from a peak that `move`s every so many rounds."""
    check_graph(graph, where)
    horizon = whole_number(horizon, f"the 'horizon' of {where}", at_most=LONGEST)
    every = whole_number(every, f"the 'every' of {where}")
    _check_room(horizon // every, graph.n_arms, where)
    begins = list(range(1, horizon + 1, every))
    seed = whole_number(seed, "the 'seed'", 0)
    rng, peak = stream(seed, graph.n_arms + 2, GRAPH), random_peak(graph, seed)
    high, low, family = shape
    means = []
    for _ in begins:
        means.append(by_distance(graph, graph.label_of(peak), high, low, family).means)
        peak = move(rng, peak)
    return _checked(Moving(graph, begins, means, family))


def _check_room(pieces: int, n_arms: int, where: str) -> None:
    if pieces * n_arms > MOST_MEANS:
        raise UnimodalError(
            f"a problem of {where} may have at most {MOST_MEANS:,} means, got {pieces:,} pieces of "
            f"{n_arms:,} arms: let the peak move more slowly, or for fewer rounds."
        )


def _checked(problem: Moving) -> Moving:
    found = problem.check()
    if not found:
        raise UnimodalError(f"a peak must be alone in every round, but {found.sentence}")
    return problem
