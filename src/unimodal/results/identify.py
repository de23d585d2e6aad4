"""Identification as a goal of its own: how many rewards it takes until the peak is certified."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from unimodal.errors import UnimodalError
from unimodal.escape_text import printable
from unimodal.problems import Problem
from unimodal.report.tables import aligned
from unimodal.results import statistics as analysis
from unimodal.results.budget import FixedBudget, identify_within
from unimodal.results.result import Result, Run
from unimodal.results.simulate import simulate
from unimodal.results.stopping import NOBODY, Certified, StoppingRule

if TYPE_CHECKING:
    import polars as pl

_COLUMNS = ("policy", "rewards", "median", "95 %", "times bound", "not finished", "wrong")


@overload
def identify(
    problem: Problem,
    policies: Any,
    *,
    confidence: float = 0.95,
    stop: StoppingRule | None = None,
    budget: None = None,
    trials: int = 100,
    horizon: int = 1_000_000,
    seed: int = 0,
    engine: str = "auto",
    workers: int | None = None,
    progress: bool | None = None,
) -> Identification: ...


@overload
def identify(
    problem: Problem,
    policies: Any,
    *,
    confidence: float = 0.95,
    budget: int,
    trials: int = 100,
    horizon: int = 1_000_000,
    seed: int = 0,
    engine: str = "auto",
    workers: int | None = None,
    progress: bool | None = None,
) -> FixedBudget: ...


def identify(
    problem: Problem,
    policies: Any,
    *,
    confidence: float = 0.95,
    stop: StoppingRule | None = None,
    budget: int | None = None,
    trials: int = 100,
    horizon: int = 1_000_000,
    seed: int = 0,
    engine: str = "auto",
    workers: int | None = None,
    progress: bool | None = None,
) -> Identification | FixedBudget:
    """Run policies until the peak is certified: how many rewards each needs, and how often it errs.

    Each of `trials` trials ends when `um.Certified(confidence)` holds, or at the `horizon`, and
    is then not finished. The certificate is right with probability at least `confidence` whichever
    policy chose the arms; the policies differ in the rewards they need. `UniTT` is made for this;
    UTS and the like minimise regret, and pull what they must tell from the leader only rarely.

    With a `budget` each trial has exactly so many rewards, and recommends the arm with the highest
    mean: the result says how often that is wrong. `um.UB3()` and `um.Uniform()` are allocations
    for this; any policy that forgets nothing may be compared with them.

    Parameters
    ----------
    problem
        The arms, their graph, means and family.
    policies
        One policy or several.
    confidence
        The confidence at which a trial ends.
    stop
        A stopping rule of your own in place of `um.Certified(confidence)`, as in `um.simulate`; it
        is compared with the bound at that confidence.
    budget
        How many rewards a trial has, at least one per arm, instead of a confidence.
    trials
        How often each policy is run.
    horizon
        The round at which a trial ends in any case.
    seed
        Determines every random number.
    engine
        "auto", "step" or "leap".
    workers
        The number of threads; one per core by default.
    progress
        Whether a bar shows the progress.

    Returns
    -------
    Identification | FixedBudget
        Rewards and errors by policy, beside the lower bound; with a budget, errors by policy.

    Examples
    --------
    >>> import unimodal as um
    >>> problem = um.problems.triangular(5)
    >>> found = um.identify(problem, um.UniTT(), trials=20)
    >>> found
    Identification(UniTT: 20 trials until certified at 95 %, seed 0)
    >>> found.summary()["wrong"].to_list()
    [0.0]
    """
    certified = Certified(confidence)
    if not isinstance(problem, Problem):
        raise UnimodalError(f"the 'problem' must be a unimodal.Problem, got {problem!r}.")
    if budget is not None:
        if stop is not None or confidence != Certified.confidence:
            raise UnimodalError(
                "a trial ends by its 'budget', its 'confidence' or a rule to 'stop': pass one."
            )
        return identify_within(problem, policies, budget, trials, seed, engine, workers)
    bound = problem.identification_bound * math.log(1 / (1 - certified.confidence))
    result = simulate(
        problem,
        policies,
        horizon=horizon,
        trials=trials,
        seed=seed,
        engine=engine,
        workers=workers,
        checkpoints=1,
        stop=certified if stop is None else stop,
        progress=progress,
    )
    return Identification(result, certified.confidence, bound)


@dataclass(frozen=True, eq=False, repr=False)
class Identification:
    """How many rewards it took until the peak was certified, by policy.

    Attributes
    ----------
    result
        The simulation behind it.
    confidence
        The confidence at which trials ended.
    bound
        The lower bound on the expected number of rewards.

    Examples
    --------
    >>> import unimodal as um
    >>> found = um.identify(um.problems.triangular(5), um.UniTT(), trials=50)
    >>> print(str(found).splitlines()[0])
    50 trials until certified at 95 %, of at most 1,000,000 rounds; the bound is 42 rewards
    """

    result: Result  # with `stopped`, `certified` and `is_right` for every policy and trial
    confidence: float
    bound: float  # T*(μ)·log(1/δ), for small δ the least that rewards can be on average

    def __repr__(self) -> str:
        names = printable(", ".join(self.result))
        return f"Identification({names}: {self._size}, seed {self.result.seed})"

    @property
    def _size(self) -> str:
        trials = f"{self.result.n_trials:,} trial{'s' * (self.result.n_trials != 1)}"
        return printable(f"{trials} until {self.result.stop}")

    def rewards(self, name: str) -> analysis.Interval:
        """Mean number of rewards until certified, with its 95 % interval.

        Trials that were not finished count with the horizon, so the mean is at least this.
        """
        return analysis.interval_of_mean(self.result[name].stopped)

    def ratio(self, name: str, other: str) -> analysis.Interval:
        """The ratio of two policies' mean numbers of rewards, with its 95 % interval.

        >>> import unimodal as um
        >>> found = um.identify(um.problems.triangular(5), um.UniTT(), trials=5)
        >>> found.ratio("UniTT", "UniTT").value
        1.0
        """
        return analysis.ratio_interval(self.result[name].stopped, self.result[other].stopped)

    def summary(self) -> pl.DataFrame:
        """One row per policy: rewards until certified, beside the bound; how many ended, and wrong.

        `mean` with its 95 % interval and the quantiles count trials that were not finished with the
        horizon. `wrong` is the share of trials in which another arm than the peak was certified,
        with its 95 % interval (Clopper and Pearson).
        """
        import polars as pl

        return pl.DataFrame([self._row(name, run) for name, run in self.result.items()])

    def to_dict(self) -> dict[str, Any]:
        """The confidence, the bound and the summary as plain data."""
        rows = {row["policy"]: row for row in self.summary().to_dicts()}
        return {"confidence": self.confidence, "bound": self.bound, "policies": rows}

    def _row(self, name: str, run: Run) -> dict[str, Any]:
        found = {key: value.item() for key, value in analysis.describe(run.stopped).items()}
        few = self.rewards(name).few
        found |= {"needed": few.needed if few else None, "note": str(few) if few else None}
        is_certified = run.certified != NOBODY
        wrong = analysis.share_interval(int((is_certified & ~run.is_right).sum()), len(run.stopped))
        return {
            "policy": name,
            **found,
            "times_bound": found["mean"] / self.bound if self.bound > 0 else math.inf,
            "unfinished": 1.0 - float(is_certified.mean()),
            "wrong": wrong.value,
            "wrong_low": wrong.low,
            "wrong_high": wrong.high,
            "trials": len(run.stopped),
        }

    def _cells(self) -> list[tuple[str, ...]]:
        """The summary in words."""
        horizon, rows = self.result.horizon, []
        for row in self.summary().to_dicts():
            least = "≥ " if row["unfinished"] else ""
            quantiles = (row["median"], row["q95"])
            rows.append(
                (
                    row["policy"],
                    f"{least}{self.rewards(row['policy']).written(',.0f')}",
                    *(
                        f"> {horizon:,}" if least and q >= horizon else f"{q:,.0f}"
                        for q in quantiles
                    ),
                    f"{least}{row['times_bound']:.2f}",
                    f"{100 * row['unfinished']:.3g} %",
                    f"{100 * row['wrong']:.3g} % (at most {100 * row['wrong_high']:.2g} %)",
                )
            )
        return rows

    @property
    def _title(self) -> str:
        most = f"of at most {self.result.horizon:,} rounds"
        return f"{self._size}, {most}; the bound is {self.bound:,.0f} rewards"

    def __str__(self) -> str:
        return "\n".join([self._title, *aligned([_COLUMNS, *self._cells()]), *self._notes])

    @property
    def _notes(self) -> list[str]:
        named = {name: self.rewards(name) for name in self.result}
        return [printable(note) for note in analysis.notes(named)]

    def _repr_html_(self) -> str:
        from unimodal.report import page

        return page.notebook_table(self._title, _COLUMNS, self._cells(), self._notes)
