"""Continuous arms: a search that narrows an interval, and policies on a grid, side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unimodal.engines.engine_choice import checkpoint_rounds
from unimodal.engines.line_search import LSE
from unimodal.errors import LONGEST, UnimodalError, whole_number
from unimodal.kernels.random import REWARDS, stream
from unimodal.policies import OSUB, UTS, Policy
from unimodal.problems.interval import Interval
from unimodal.results import statistics as analysis
from unimodal.results.simulate import named, simulate

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False, repr=False)
class Narrowed:
    """What a search found in all trials.

    Attributes
    ----------
    interval
        The interval that was searched.
    search
        The method.
    rounds
        The checkpoints.
    regret
        Cumulative regret, trials × checkpoints.
    low
        The lower end of what is left, by trial.
    high
        The upper end of what is left, by trial.
    stages
        How often the interval was cut, by trial.

    Examples
    --------
    >>> import unimodal as um
    >>> interval = um.Interval(0, 1, mean=lambda x: 0.9 - 0.8 * abs(x - 0.4))
    >>> found = um.narrow(interval, um.LSE(slope=0.8), horizon=10_000, trials=3)
    >>> found.low.shape
    (3,)
    """

    interval: Interval
    search: LSE
    rounds: Any  # (checkpoints,)
    regret: Any  # (trials, checkpoints): cumulative, against the interval's best mean
    low: Any  # (trials,): the ends of what was left at the horizon
    high: Any
    stages: Any  # (trials,): how many times a part was dropped

    def __repr__(self) -> str:
        return (
            f"Narrowed({self.search!r}, {len(self.regret):,} trials of {self.rounds[-1]:,} rounds)"
        )


def narrow(
    interval: Interval,
    search: LSE,
    *,
    horizon: int,
    trials: int = 100,
    seed: int = 0,
    checkpoints: int | Sequence[int] = 200,
) -> Narrowed:
    """Run a narrowing search on an interval, `trials` times for `horizon` rounds.

    Trial n draws its rewards from a stream made of `seed` and n alone, as `simulate` does.

    Parameters
    ----------
    interval
        Where the peak lies.
    search
        The method, `LSE`.
    horizon
        The number of rounds of a trial.
    trials
        How often it is run.
    seed
        Determines every random number.
    checkpoints
        At how many rounds regret is kept, or a list of these rounds.

    Returns
    -------
    Narrowed
        Regret, and the interval that is left, by trial.

    Examples
    --------
    >>> import unimodal as um
    >>> interval = um.Interval(0, 1, mean=lambda x: 0.9 - 0.8 * abs(x - 0.4))
    >>> found = um.narrow(interval, um.LSE(slope=0.8), horizon=100_000, trials=3)
    >>> ((found.low < 0.4) & (0.4 < found.high)).tolist()
    [True, True, True]
    """
    _check_interval(interval)
    if not isinstance(search, LSE):
        raise UnimodalError(f"the 'search' must be um.LSE(slope=…), got {search!r}.")
    horizon = whole_number(horizon, "the 'horizon'", at_most=LONGEST)
    rounds = checkpoint_rounds(horizon, checkpoints, "log")
    seed = whole_number(seed, "the 'seed'", 0)
    numbers = range(whole_number(trials, "the 'trials'"))
    found = [search.play(interval, rounds, stream(seed, n, REWARDS)) for n in numbers]
    regret, low, high, stages = (np.array(column) for column in zip(*found, strict=True))
    return Narrowed(interval, search, rounds, regret, low, high, stages)


def regret_by_horizon(
    intervals: Interval | Sequence[Interval],
    horizons: Sequence[int],
    *,
    slope: float,
    smoothness: float,
    policies: Sequence[Policy] = (UTS(), OSUB()),
    trials: int = 20,
    seed: int = 0,
    workers: int | None = None,
) -> pl.DataFrame:
    """Regret at the end of each horizon: of policies on a grid, and of LSE, which narrows.

    Both must know the horizon beforehand, so every horizon is a run of its own. The policies play
    on `points_for(horizon, smoothness, slope)` points; LSE is told the same two. One row per
    horizon and method: its regret against the interval's best mean (mean and 95 % interval),
    the median and the 99 % quantile of all trials, whether `few` trials make the mean and a `note`
    that says which; `relative`, which is the mean divided by √(T log T), how much of it is the
    grid's fault (`grid`), and the number of `points`. Of several intervals, such as one with its
    peak in many places, the means over the trials of each are what is averaged.

    Parameters
    ----------
    intervals
        One interval, or several over which is averaged.
    horizons
        The numbers of rounds.
    slope
        What LSE and the grid are told of the mean's fall.
    smoothness
        The exponent of that fall.
    policies
        The policies that play on a grid.
    trials
        How often each is run.
    seed
        Determines every random number.
    workers
        The number of threads; one per core by default.

    Returns
    -------
    pl.DataFrame
        One row per horizon and method.

    Examples
    --------
    >>> import unimodal as um
    >>> interval = um.Interval(0, 1, mean=lambda x: 0.9 - abs(x - 0.4))
    >>> table = um.regret_by_horizon(interval, [1_000], slope=1, smoothness=1, trials=3)
    >>> table["method"].to_list()
    ['UTS', 'OSUB', 'LSE']
    """
    import polars as pl

    several = list(intervals) if isinstance(intervals, Sequence) else [intervals]
    if not several:
        raise UnimodalError("there must be at least one interval, got none.")
    for interval in several:
        _check_interval(interval)
    search = LSE(slope, smoothness)
    players = named(policies)
    if any(policy.name == "LSE" for policy in players):
        raise UnimodalError("the name LSE is that of the search: give the policy another name.")
    if not isinstance(horizons, Sequence | np.ndarray) or not len(horizons):
        raise UnimodalError(f"the 'horizons' must be a list of at least one, got {horizons!r}.")
    rows = []
    for horizon in [whole_number(h, "a horizon", 2, LONGEST) for h in horizons]:
        # By method: the regret of every trial, one array per interval.
        regrets: dict[str, list[Any]] = {policy.name: [] for policy in players}
        regrets["LSE"] = []
        grid, points = [], []
        for interval in several:
            problem = interval.discretise(interval.points_for(horizon, smoothness, slope))
            points.append(problem.graph.n_arms)
            settings: Any = {"horizon": horizon, "trials": trials, "seed": seed, "checkpoints": 1}
            result = simulate(problem, players, **settings, workers=workers, progress=False)
            for name, regret in interval.regret(result).items():
                regrets[name].append(regret[:, -1])
            regrets["LSE"].append(narrow(interval, search, **settings).regret[:, -1])
            grid.append(horizon * (interval.best_mean - problem.means.max()))
        for name, samples in regrets.items():
            trials_of_all = np.concatenate(samples)
            of_one = samples[0] if len(several) == 1 else [one.mean() for one in samples]
            mean, low, high = regret = analysis.interval_of_mean(of_one)
            on_grid = name != "LSE"
            rows.append(
                {
                    "horizon": horizon,
                    "method": name,
                    "mean": mean,
                    "low": low,
                    "high": high,
                    "median": float(np.median(trials_of_all)),
                    "q99": float(np.quantile(trials_of_all, 0.99)),
                    "few": regret.few is not None,
                    "note": str(regret.few) if regret.few else None,
                    "relative": mean / math.sqrt(horizon * math.log(horizon)),
                    "grid": float(np.mean(grid)) if on_grid else 0.0,
                    "points": max(points) if on_grid else None,
                }
            )
    return pl.DataFrame(rows)


def _check_interval(interval: Any) -> None:
    if not isinstance(interval, Interval):
        raise UnimodalError(f"an interval must be um.Interval(low, high, mean), got {interval!r}.")
