"""What a simulation found: arrays, a tidy summary, a picture, and a file that can be re-run."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unimodal import checksums, files, policies
from unimodal.engines.late import Lateness
from unimodal.engines.law import law_hash, source_of
from unimodal.errors import (
    UnimodalError,
    real_number,
    refuse_set,
    unknown_name,
    whole_number,
)
from unimodal.escape_text import printable
from unimodal.policies import Policy
from unimodal.problems import Moving, Problem
from unimodal.report import printed_tables
from unimodal.report.tables import aligned
from unimodal.results import statistics as analysis
from unimodal.results import stopping
from unimodal.results.difference import Difference, paired, unpaired
from unimodal.version import __version__

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from matplotlib.axes import Axes

FORMAT = 1  # of files; `load.py` reads them
MOST_TRIALS = 10**9
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

    def joined(self, *others: Run) -> Run:
        """The trials of all of them, one after the other."""
        more = [other.arrays() for other in others]
        return Run(
            self.policy,
            **{
                key: np.concatenate([one, *(arrays[key] for arrays in more)])
                for key, one in self.arrays().items()
            },
        )


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
    first_trial
        The number of its first trial: 0, unless it is a part of a larger simulation.
    law
        A hash of the sources that made it; "" if they are not known, or were several.
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
    stop: stopping.StoppingRule | None = None  # what ended trials before the horizon
    first_trial: int = 0
    law: str = ""
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
            (name, str(regrets[name]), _share_of_best(self.problem, run))
            for name, run in self.runs.items()
        ]
        columns = ("policy", "regret at the horizon, 95 % interval", "pulls of the best arm")
        return f"{self._size} on {self.problem!r}", columns, rows, analysis.notes(regrets)

    @property
    def _size(self) -> str:
        trials = f"{self.n_trials:,} trial{'s' * (self.n_trials != 1)}"
        if self.first_trial:
            trials += f" (from number {self.first_trial:,} on)"
        if self.stop is None:
            return f"{trials} of {self.horizon:,} rounds"
        until = printable(f"until {self.stop}")
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
    def numbers(self) -> range:
        """The numbers of its trials: 0, 1, … unless it began with a later `first_trial`."""
        return range(self.first_trial, self.first_trial + self.n_trials)

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
                    "trial": np.repeat(np.array(self.numbers), len(self.rounds)),
                    "round": np.tile(self.rounds, self.n_trials),
                    "regret": run.regret.ravel(),
                    **_ends(self, run),
                }
            )
            for name, run in self.runs.items()
        ]
        return pl.concat(frames)

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
        return self._more(self.numbers, workers, executor, progress)

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
        first = self.numbers.stop
        numbers = range(first, first + whole_number(trials, "the 'trials'", at_most=MOST_TRIALS))
        more = self._more(numbers, workers, executor, progress)
        runs = {name: self[name].joined(more[name]) for name in self}
        return replace(self, runs=runs, law=self.law if self.law == more.law else "")

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

    def test(self, name: str, other: str, *, of: int = 1, than: Result | None = None) -> Difference:
        """Whether two policies differ in regret at the horizon: the effect, its interval, and p.

        Trials with the same number share their random streams and are compared as pairs. With
        `than` the other policy is one of another result; its trials are paired with these if both
        have the same seed and numbers, and are compared as two samples (Welch) if not. Intervals
        and p-values reach farther where few trials make a mean (docs/theory/intervals.md).

        Parameters
        ----------
        name
            The name of a policy of this result.
        other
            The policy it is compared with.
        of
            How many such tests are reported together: interval and p-value are corrected for so
            many (Bonferroni).
        than
            The result that the other policy is in; this one by default.

        Returns
        -------
        Difference
            The effect with its interval, p, and whether trials were paired.

        Examples
        --------
        >>> import unimodal as um
        >>> problem = um.problems.triangular(9)
        >>> result = um.simulate(problem, [um.UTS(), um.TS()], horizon=2000, trials=30)
        >>> found = result.test("UTS", "TS")
        >>> found.effect.value < 0, found.is_significant, found.paired
        (True, True, True)
        """
        count = whole_number(of, "the 'of' of test", at_most=10**6)
        theirs = self if than is None else than
        if not isinstance(theirs, Result):
            raise UnimodalError(f"the 'than' of test must be a result, got {than!r}.")
        if theirs.horizon != self.horizon:
            raise UnimodalError(
                f"regrets are compared after the same rounds, got {self.horizon} and "
                f"{theirs.horizon}: simulate one of them again."
            )
        over, under = self[name].regret[:, -1], theirs[other].regret[:, -1]
        shared = (self.seed, self.numbers) == (theirs.seed, theirs.numbers)
        return (paired if shared else unpaired)(name, other, over, under, count)

    def quantiles(
        self, shares: Sequence[float] = (0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
    ) -> pl.DataFrame:
        """Quantiles of the regret at the horizon, each with a 95 % interval.

        The interval covers whatever the law of regrets (its ends are regrets of trials); an end is
        null where there are too few trials for it.

        Parameters
        ----------
        shares
            Which quantiles, from 0 to 1.

        Returns
        -------
        polars.DataFrame
            One row per policy and share: policy, share, value, low, high.

        Examples
        --------
        >>> import unimodal as um
        >>> result = um.simulate(um.problems.triangular(5), um.UTS(), horizon=500, trials=20)
        >>> result.quantiles([0.5]).columns
        ['policy', 'share', 'value', 'low', 'high']
        """
        import polars as pl

        refuse_set(shares, "the 'shares' of quantiles")
        if isinstance(shares, str) or not isinstance(shares, Sequence | np.ndarray):
            raise UnimodalError(
                f"the 'shares' of quantiles must be a list of numbers from 0 to 1, got {shares!r}."
            )
        rows: list[Any] = []
        for share in shares:
            number = real_number(share, "a share of quantiles")
            if not 0 <= number <= 1:
                raise UnimodalError(f"a share of quantiles must lie from 0 to 1, got {share!r}.")
            for name, run in self.items():
                found = analysis.quantile_interval(np.sort(run.regret[:, -1]), number)
                rows.append((name, number, *found))
        kinds = {"policy": pl.String} | dict.fromkeys(("share", "value", "low", "high"), pl.Float64)
        return pl.DataFrame(rows, kinds, orient="row")

    def to_latex(self) -> str:
        r"""A table for LaTeX: regret with its interval, and quantiles, one row per policy.

        In bold are the lowest mean and those that a paired test, corrected for all pairs, cannot
        tell from it. Digits follow the interval. The document needs booktabs. Below stand what bold
        means, and why a marked mean cannot be trusted.

        >>> import unimodal as um
        >>> result = um.simulate(um.problems.triangular(5), um.UTS(), horizon=500, trials=20)
        >>> print(result.to_latex().splitlines()[1])
        \begin{tabular}{lrrr}
        """
        from unimodal.results.printed import table_of

        return printed_tables.latex(*table_of(self))

    def to_markdown(self) -> str:
        """The table of `to_latex` for Markdown.

        >>> import unimodal as um
        >>> result = um.simulate(um.problems.triangular(5), um.UTS(), horizon=500, trials=20)
        >>> print(result.to_markdown().splitlines()[0])
        | policy | regret after 500 rounds | median | 95 % |
        """
        from unimodal.results.printed import table_of

        return printed_tables.markdown(*table_of(self))

    def plot(
        self,
        ax: Axes | None = None,
        *,
        scale: str = "log",
        kind: str = "regret",
        size: str | float | None = None,
        font: str | None = None,
    ) -> Axes:
        """Mean regret against rounds, with the 95 % interval as a band; or another view of it.

        The dashed line is c(μ)·log t of Theorem 1, a bound for large t only. A † marks a policy
        whose mean at the horizon is made by few large trials; below the picture stands how many
        trials would do. For a paper: `result.plot(size="column").figure.savefig("regret.pdf")`,
        whose letters are embedded.

        Parameters
        ----------
        ax
            Axes to draw on; new ones by default.
        scale
            "log" or "linear": the scale of the rounds of kind "regret".
        kind
            "regret"; "log-log", on two logarithmic axes; "ratio", regret divided by c(μ)·log t; or
            "tail", the share of trials whose regret at the horizon is larger than x.
        size
            The width: inches, "column" or "page", which fit NeurIPS, ICML and IEEE, or the width
            of one of them: "neurips", "icml column", "icml page", "ieee column", "ieee page".
        font
            A font of this machine, or "serif", "sans-serif", "monospace".

        Returns
        -------
        Axes
            The axes, which a notebook shows.

        Examples
        --------
        >>> import unimodal as um
        >>> result = um.simulate(um.problems.triangular(5), um.UTS(), horizon=500, trials=5)
        >>> result.plot(size="column").figure.get_size_inches().round(1).tolist()
        [3.2, 2.1]
        """
        from unimodal.report import paper_figures
        from unimodal.results.pictures import KINDS, draw

        if kind not in KINDS:
            raise unknown_name("kind of plot", kind, KINDS)
        if size is None and font is None:
            return draw(self, ax, kind, scale)
        if ax is not None:
            raise UnimodalError(
                "axes that are given have a size and a font already: leave out 'ax', or 'size' "
                "and 'font'."
            )
        with paper_figures.new_axes("page" if size is None else size, font) as made:
            return draw(self, made, kind, scale)

    def to_data(self) -> dict[str, Any]:
        """The specification: everything that determines the numbers, and the versions used."""
        return {
            "format": FORMAT,
            "problem": self.problem.to_data(),
            "policies": [policies.to_data(policy) for policy in self.policies],
            "seed": self.seed,
            "trials": self.n_trials,
            **({"first_trial": self.first_trial} if self.first_trial else {}),
            "rounds": self.rounds.tolist(),
            "history": self.has_history,
            "engine": self.engine,
            **({} if self.stop is None else {"stop": stopping.to_data(self.stop)}),
            **({} if self.lateness is None else {"late": self.lateness.to_data()}),
            "law": self.law,
            "versions": versions(),
        }

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        policies: Policy | Sequence[Policy] = (),
        stop: stopping.StoppingRule | None = None,
    ) -> Result:
        """A result from its file; a policy or rule of your own is passed again, as in `um.load`."""
        from unimodal.results.load import load

        found = load(path, policies=policies, stop=stop)
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
            "trial": np.tile(np.array(self.numbers), len(self.runs)),
        }
        every = [run.arrays() for run in self.runs.values()]
        columns |= {key: np.concatenate([arrays[key] for arrays in every]) for key in every[0]}
        frame, data = pl.DataFrame(columns), json.dumps(self.to_data())

        def fill(to: Path) -> None:
            frame.write_parquet(to, metadata={"unimodal": data, **checksums.BLANK})
            checksums.fill_in(to)

        return files.write(path, fill)


def _share_of_best(problem: Problem, run: Run) -> str:
    """How many pulls went to the best arm, of its own round where it moves: from the history.

    Sums of pulls do not say when, so without a history of a moving peak it is not known.
    """
    if not isinstance(problem, Moving):
        share = run.pulls[:, problem.best_arm].sum() / run.pulls.sum()
    elif run.arms is not None:
        rounds = np.arange(1, run.arms.shape[1] + 1)
        piece = np.searchsorted(problem.begins, rounds, side="right") - 1
        share = np.mean(problem.gaps_by_piece[piece, run.arms] == 0)
    else:
        return "–"
    return f"{100 * share:.1f} %"


def _ends(result: Result, run: Run) -> dict[str, Any]:
    """How each trial ended, in columns of the table of trials; none without such a rule."""
    if result.stop is None:
        return {}
    labels = [None if arm < 0 else result.problem.graph.label_of(int(arm)) for arm in run.certified]
    if len({type(label) for label in labels if label is not None}) > 1:
        labels = [None if label is None else str(label) for label in labels]
    each = len(result.rounds)
    return {
        "stopped": np.repeat(run.stopped, each),
        "certified": [label for label in labels for _ in range(each)],
        "is_right": np.repeat(run.is_right, each),
    }


def _notes(regret: Any, few: Any) -> list[str | None]:
    """Why means over the first axis cannot be trusted: a sentence where few trials make them."""
    columns = zip(regret.T, few, strict=True)
    return [str(analysis.interval_of_mean(one).few) if mark else None for one, mark in columns]


def law_of(problem: Problem, policies: Sequence[Policy]) -> str:
    """A hash of the sources that a simulation depends on, those of a user's own classes too."""
    kinds = map(type, _unwrapped(policies))
    things: list[Any] = [kind for kind in kinds if not kind.__module__.startswith("unimodal.")]
    functions = (function for function, _ in problem.family.own_functions.values())
    things += [getattr(function, "py_func", function) for function in functions]
    own = map(source_of, things)
    law = law_hash("results/trial_plan.py", "results/stopping.py")
    return "-".join([law, *dict.fromkeys(own)])


def _unwrapped(policies: Sequence[Policy]) -> Iterator[Policy]:
    """The policies, and those that they wrap."""
    for policy in policies:
        yield policy
        inner = [value for value in policy.parameters().values() if isinstance(value, Policy)]
        yield from _unwrapped(inner)


def versions() -> dict[str, str]:
    """The versions a result depends on."""
    import numba

    return {
        "unimodal": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
    }
