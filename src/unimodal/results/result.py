"""What a simulation found: arrays, a tidy summary, a picture, and a file that can be re-run."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unimodal import checksums, files, policies
from unimodal.engines.late import Lateness
from unimodal.errors import UnimodalError, unknown_name, whole_number
from unimodal.escape_text import printable
from unimodal.policies import Policy
from unimodal.problems import Moving, Problem
from unimodal.report.tables import aligned
from unimodal.results import statistics as analysis
from unimodal.results.stopping import Certified
from unimodal.version import __version__

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from matplotlib.axes import Axes

FORMAT = 1  # of files; `load.py` reads them
ARRAYS = ("regret", "pulls", "arms", "rewards", "restarts", "stopped", "certified", "is_right")


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """What one policy did in all trials."""

    policy: Policy
    regret: NDArray[np.float64]  # (trials, checkpoints): cumulative pseudo-regret
    pulls: NDArray[np.int64]  # (trials, arms): at the horizon, or where the trial stopped
    # Arm and reward of every round, (trials, rounds); None without history=True.
    arms: NDArray[np.int32] = None  # type: ignore[assignment]
    rewards: NDArray[np.float64] = None  # type: ignore[assignment]
    restarts: NDArray[np.int64] = None  # type: ignore[assignment]  # (trials,): of `Restarting`
    # (trials,), with a rule for stopping, else None: the last round, the certified arm (-1: none),
    # and whether it is the peak.
    stopped: NDArray[np.int64] = None  # type: ignore[assignment]
    certified: NDArray[np.int64] = None  # type: ignore[assignment]
    is_right: NDArray[np.bool_] = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Run({self.policy!r}, {len(self.regret):,} trials)"

    def arrays(self) -> dict[str, Any]:
        """The arrays that are there, by name."""
        named = {key: getattr(self, key) for key in ARRAYS}
        return {key: array for key, array in named.items() if array is not None}

    def joined(self, other: Run) -> Run:
        """The trials of both, one after the other."""
        more = other.arrays()
        both = {key: np.concatenate([one, more[key]]) for key, one in self.arrays().items()}
        return Run(self.policy, **both)


@dataclass(frozen=True, eq=False, repr=False)
class Result(Mapping[str, Run]):
    """The result of `simulate`: a mapping from the policies' names to what they did.

    Attributes
    ----------
    problem
        The problem that was simulated.
    seed
        The seed of all random numbers.
    rounds
        The checkpoints: rounds at which regret was kept.
    runs
        What each policy did, by name; `result["UTS"]` is one of them.
    engine
        The engine that was asked for.
    stop
        The rule that ended trials early, if there was one.
    lateness
        How late rewards came, if they did.

    Examples
    --------
    >>> import unimodal as um
    >>> problem = um.problems.triangular(5)
    >>> result = um.simulate(problem, [um.UTS(), um.OSUB()], horizon=500, trials=5)
    >>> list(result)
    ['UTS', 'OSUB']
    >>> result["UTS"].pulls.sum(axis=1).tolist()
    [500, 500, 500, 500, 500]
    """

    problem: Problem
    seed: int
    rounds: NDArray[np.int64]  # (checkpoints,)
    runs: dict[str, Run] = field(repr=False)
    engine: str = "auto"  # the one that was asked for
    stop: Certified | None = None  # what ended trials before the horizon
    lateness: Lateness | None = None  # how late rewards came

    def __getitem__(self, name: str) -> Run:
        if name not in self.runs:
            raise unknown_name("policy in this result", name, self.runs)
        return self.runs[name]

    def __contains__(self, name: object) -> bool:
        return name in self.runs

    def __iter__(self) -> Iterator[str]:
        return iter(self.runs)

    def __len__(self) -> int:
        return len(self.runs)

    def __repr__(self) -> str:
        names = printable(", ".join(self.runs))
        return f"Result({names}: {self._size}, seed {self.seed})"

    def __str__(self) -> str:
        title, _, rows, notes = self._overview()
        columns = ("policy", "regret ± 95 %", "pulls of best")  # narrow: telephones show it, too
        return "\n".join([printable(title), *aligned([columns, *rows]), *map(printable, notes)])

    def _repr_html_(self) -> str:
        from unimodal.report import page

        return page.notebook_table(*self._overview())

    def _overview(self) -> tuple[str, tuple[str, ...], list[tuple[str, str, str]], list[str]]:
        """What print and a notebook show: a title, names of columns, a row per policy, notes."""
        regrets = {name: self.regret(name) for name in self.runs}
        rows = [
            (name, str(regrets[name]), self._share_of_best(run)) for name, run in self.runs.items()
        ]
        columns = ("policy", "regret at the horizon, 95 % interval", "pulls of the best arm")
        return f"{self._size} on {self.problem!r}", columns, rows, analysis.notes(regrets)

    def _share_of_best(self, run: Run) -> str:
        """How many pulls went to the best arm, of its own round where it moves: from the history.

        Sums of pulls do not say when, so without a history of a moving peak it is not known.
        """
        if not isinstance(self.problem, Moving):
            share = run.pulls[:, self.problem.best_arm].sum() / run.pulls.sum()
        elif run.arms is not None:
            rounds = np.arange(1, run.arms.shape[1] + 1)
            piece = np.searchsorted(self.problem.begins, rounds, side="right") - 1
            share = np.mean(self.problem.gaps_by_piece[piece, run.arms] == 0)
        else:
            return "–"
        return f"{100 * share:.1f} %"

    @property
    def _size(self) -> str:
        trials = f"{self.n_trials:,} trial{'s' * (self.n_trials != 1)}"
        if self.stop is None:
            return f"{trials} of {self.horizon:,} rounds"
        until = f"until certified at {100 * self.stop.confidence:.12g} %"
        return f"{trials} of at most {self.horizon:,} rounds, {until}"

    @property
    def horizon(self) -> int:
        """The last round."""
        return int(self.rounds[-1])

    @property
    def n_trials(self) -> int:
        """How many trials each policy had."""
        return len(next(iter(self.runs.values())).regret)

    @property
    def has_history(self) -> bool:
        """Whether every arm and reward was kept."""
        return next(iter(self.runs.values())).arms is not None

    @property
    def policies(self) -> list[Policy]:
        """The policies, in the order in which they were given."""
        return [run.policy for run in self.runs.values()]

    def summary(self) -> pl.DataFrame:
        """One row per policy and checkpoint: mean, 95 % interval, median, quantiles of regret.

        `few` says whether few large trials make the mean, so that it cannot be trusted; `needed`
        how many trials would do, and `note` why, in words (null where it can be trusted).
        """
        import polars as pl

        frames = []
        for name, run in self.runs.items():
            found = analysis.describe(run.regret)
            columns = {"policy": name, "round": self.rounds, **found, "trials": self.n_trials}
            columns["needed"] = pl.Series(found["needed"]).fill_nan(None).cast(pl.Int64)
            columns["note"] = pl.Series(_notes(run.regret, found["few"]), dtype=pl.String)
            frames.append(pl.DataFrame(columns))
        return pl.concat(frames)

    def trials(self) -> pl.DataFrame:
        """One row per policy, trial and checkpoint: policy, trial, round, regret.

        With a rule for stopping, also the round in which the trial stopped, the label of the arm
        that was certified (null if none was) and whether it is the peak.

        >>> import unimodal as um
        >>> problem = um.problems.triangular(5)
        >>> result = um.simulate(problem, um.UTS(), horizon=100, trials=3, checkpoints=4)
        >>> result.trials().shape
        (12, 4)
        """
        import polars as pl

        frames = [
            pl.DataFrame(
                {
                    "policy": name,
                    "trial": np.repeat(np.arange(self.n_trials), len(self.rounds)),
                    "round": np.tile(self.rounds, self.n_trials),
                    "regret": run.regret.ravel(),
                    **self._ends(run),
                }
            )
            for name, run in self.runs.items()
        ]
        return pl.concat(frames)

    def _ends(self, run: Run) -> dict[str, Any]:
        """How each trial ended, in columns of the table of trials; none without such a rule."""
        if self.stop is None:
            return {}
        labels = [
            None if arm < 0 else self.problem.graph.label_of(int(arm)) for arm in run.certified
        ]
        if len({type(label) for label in labels if label is not None}) > 1:
            labels = [None if label is None else str(label) for label in labels]
        each = len(self.rounds)
        return {
            "stopped": np.repeat(run.stopped, each),
            "certified": [label for label in labels for _ in range(each)],
            "is_right": np.repeat(run.is_right, each),
        }

    def to_pandas(self) -> pd.DataFrame:
        """The table of `trials` as a pandas DataFrame; pandas must be installed."""
        try:
            import pandas as pd
        except ImportError:
            raise UnimodalError(
                "to_pandas needs pandas, which is not installed: 'pip install pandas', or use "
                "trials(), which returns a Polars table."
            ) from None
        return pd.DataFrame(self.trials().to_dict(as_series=False))

    def rerun(
        self,
        *,
        workers: int | None = None,
        executor: Executor | None = None,
        progress: bool | None = None,
    ) -> Result:
        """Run all trials again from the specification: the same numbers, to the byte.

        Parameters
        ----------
        workers
            The number of threads; one per core by default.
        progress
            Whether a bar shows the progress.
        executor
            Runs the trials instead of threads.

        Returns
        -------
        Result
            A new result, equal to this one.
        """
        return self._more(range(self.n_trials), workers, executor, progress)

    def extend(
        self,
        trials: int,
        *,
        workers: int | None = None,
        executor: Executor | None = None,
        progress: bool | None = None,
    ) -> Result:
        """Add trials: the result is the same as if all had been simulated at once.

        Parameters
        ----------
        trials
            How many trials are added to each policy.
        workers
            The number of threads; one per core by default.
        progress
            Whether a bar shows the progress.
        executor
            Runs the trials instead of threads.

        Returns
        -------
        Result
            A new result with all trials, the old ones first.

        Examples
        --------
        >>> import unimodal as um
        >>> problem = um.problems.triangular(5)
        >>> some = um.simulate(problem, um.UTS(), horizon=100, trials=2)
        >>> some.extend(trials=3).n_trials
        5
        """
        from unimodal.results.simulate import MOST_TRIALS

        first = self.n_trials
        numbers = range(first, first + whole_number(trials, "the 'trials'", at_most=MOST_TRIALS))
        more = self._more(numbers, workers, executor, progress)
        runs = {name: self[name].joined(more[name]) for name in self}
        how = self.engine, self.stop, self.lateness
        return Result(self.problem, self.seed, self.rounds, runs, *how)

    def _more(
        self,
        numbers: range,
        workers: int | None,
        executor: Executor | None,
        progress: bool | None,
    ) -> Result:
        """Trials of these numbers, as the result's own were run."""
        from unimodal.results.simulate import run_trials

        settings = (self.problem, self.policies, self.rounds, numbers, self.seed, self.engine)
        options = (workers, self.has_history, progress, self.stop, executor, self.lateness)
        return run_trials(*settings, *options)

    def regret(self, name: str) -> analysis.Interval:
        """Mean regret of a policy at the horizon, with its 95 % interval.

        Parameters
        ----------
        name
            The name of a policy of this result.

        Returns
        -------
        analysis.Interval
            The mean, with the ends of its interval. `few` says why it cannot be trusted, if few
            large trials make it; in print a † then stands behind it.
        """
        return analysis.interval_of_mean(self[name].regret[:, -1])

    def ratio(self, name: str, other: str) -> analysis.Interval:
        """R%(name, other) of the paper: the ratio of mean regrets at the horizon, with interval.

        Parameters
        ----------
        name
            The policy above the line.
        other
            The policy below it.

        Returns
        -------
        analysis.Interval
            The ratio, with the ends of its interval, marked as `regret` is.

        Examples
        --------
        >>> import unimodal as um
        >>> problem = um.problems.triangular(5)
        >>> result = um.simulate(problem, [um.UTS(), um.OSUB()], horizon=500, trials=5)
        >>> result.ratio("UTS", "UTS").value
        1.0
        """
        return analysis.ratio_interval(self[name].regret[:, -1], self[other].regret[:, -1])

    def plot(self, ax: Axes | None = None, *, scale: str = "log") -> Axes:
        """Mean regret against rounds, with the 95 % interval as a band.

        `scale` is the axis of rounds, "log" or "linear". The dashed line is c(μ)·log t of Theorem
        1, a bound for large t only. A † marks a policy whose mean at the horizon is made by few
        large trials; below the picture stands how many trials would do.

        Parameters
        ----------
        ax
            Axes to draw on; new ones by default.
        scale
            "log" or "linear": the scale of the rounds.

        Returns
        -------
        Axes
            The axes, which a notebook shows.
        """
        from unimodal.report import figures

        curves = {name: analysis.mean_interval(run.regret) for name, run in self.runs.items()}
        marked = {name: self.regret(name).few for name in self.runs}
        needed = {name: few.needed for name, few in marked.items() if few}
        return figures.regret(ax, self.rounds, curves, self.problem.lower_bound, scale, needed)

    def to_data(self) -> dict[str, Any]:
        """The specification: everything that determines the numbers, and the versions used."""
        return {
            "format": FORMAT,
            "problem": self.problem.to_data(),
            "policies": [policies.to_data(policy) for policy in self.policies],
            "seed": self.seed,
            "trials": self.n_trials,
            "rounds": self.rounds.tolist(),
            "history": self.has_history,
            "engine": self.engine,
            **({} if self.stop is None else {"stop": self.stop.to_data()}),
            **({} if self.lateness is None else {"late": self.lateness.to_data()}),
            "versions": versions(),
        }

    @classmethod
    def load(cls, path: str | Path, *, policies: Policy | Sequence[Policy] = ()) -> Result:
        """A result from its file; a policy of your own is passed again, as in `um.load`."""
        from unimodal.results.load import load

        found = load(path, policies=policies)
        if not isinstance(found, Result):
            raise UnimodalError(f"{path} must be a result that Result.save wrote, got {found!r}.")
        return found

    def save(self, path: str | Path) -> Path:
        """Write a Parquet file: a row per policy and trial, and the specification inside it.

        Parameters
        ----------
        path
            The file to write; it ends in .parquet.

        Returns
        -------
        Path
            The path, for `um.load`.
        """
        import polars as pl

        columns: dict[str, Any] = {
            "policy": [name for name in self.runs for _ in range(self.n_trials)],
            "trial": np.tile(np.arange(self.n_trials), len(self.runs)),
        }
        every = [run.arrays() for run in self.runs.values()]
        columns |= {key: np.concatenate([arrays[key] for arrays in every]) for key in every[0]}
        frame, data = pl.DataFrame(columns), json.dumps(self.to_data())

        def fill(to: Path) -> None:
            frame.write_parquet(to, metadata={"unimodal": data, **checksums.BLANK})
            checksums.fill_in(to)

        return files.write(path, fill)


def _notes(regret: Any, few: Any) -> list[str | None]:
    """Why means over the first axis cannot be trusted: a sentence where few trials make them."""
    columns = zip(regret.T, few, strict=True)
    return [str(analysis.interval_of_mean(one).few) if mark else None for one, mark in columns]


def versions() -> dict[str, str]:
    """The versions a result depends on."""
    import numba

    return {
        "unimodal": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
    }
