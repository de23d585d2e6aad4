"""Fixed budget: which arm is best after exactly n rewards, and how often that is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from unimodal.engines import runner
from unimodal.engines.engine_choice import ENGINES, trial_class
from unimodal.errors import LONGEST, UnimodalError, refuse_set, unknown_name, whole_number
from unimodal.escape_text import printable
from unimodal.families.family import draw
from unimodal.graphs import Graph
from unimodal.kernels.compile import jit, record
from unimodal.kernels.random import POLICY, REWARDS, randint, shuffle, stream
from unimodal.policies import Policy, as_policy
from unimodal.problems import Moving, Problem, Recorded
from unimodal.report.tables import aligned
from unimodal.results import statistics as analysis
from unimodal.results.result import MOST_TRIALS

if TYPE_CHECKING:
    import polars as pl

RECOMMENDATION = 4  # what a stream is for, beside those of `kernels.random`: ties at the end


@dataclass(frozen=True)
class Uniform:
    """Every arm equally often; what is left over goes to arms drawn at random.

    For `um.identify(…, budget=n)`: what any other allocation has to beat.

    Examples
    --------
    >>> import unimodal as um
    >>> found = um.identify(um.problems.triangular(5), Uniform(), budget=500, trials=20)
    >>> found.wrong["Uniform"].value
    0.0
    """

    name: ClassVar[str] = "Uniform"

    def play(self, arms: Arms, budget: int) -> None:
        """Pull the arms."""
        arms.pull(np.arange(arms.graph.n_arms), budget)


@dataclass(frozen=True)
class UB3:
    """Halves a line by thirds: of four arms in each phase the best tells which third has no peak.

    After UB3 of Ghosh, Rahman, Hanawal and Zlatanov (2023, arXiv 2301.03456): both ends of what is
    left, and the arms at its thirds, share the rewards of a phase; the third that is farthest from
    the best of them is left out, until three arms are left, which share the last third of the
    budget. Phases grow by 3/2. Ours are: all rewards of an arm count, not those of the phase alone;
    what does not divide goes to arms drawn at random; ties are broken at random.

    Examples
    --------
    >>> import unimodal as um
    >>> found = um.identify(um.problems.triangular(20), UB3(), budget=5000, trials=20)
    >>> found.wrong["UB3"].value <= 0.5
    True
    """

    name: ClassVar[str] = "UB3"

    def play(self, arms: Arms, budget: int) -> None:
        """Pull the arms."""
        left, spent = _along(arms.graph), 0.0
        for share in shares(len(left)):
            begun, spent = round(spent * budget), spent + share
            rewards = (budget if len(left) <= 3 else round(spent * budget)) - begun
            if len(left) <= 3:
                arms.pull(left, rewards)
                return
            third = (len(left) - 1) // 3
            places = np.array([0, third, len(left) - 1 - third, len(left) - 1])
            arms.pull(left[places], rewards)
            best = arms.best_of(left[places])
            left = left[: len(left) - third] if best < 2 else left[third:]


def shares(n_arms: int) -> list[float]:
    """What part of the budget each phase of UB3 has; the last one is of at most three arms.

    >>> shares(3), shares(4)
    ([1.0], [0.6666666666666667, 0.3333333333333333])
    """
    phases = 0
    while n_arms > 3:
        n_arms, phases = n_arms - (n_arms - 1) // 3, phases + 1
    if phases == 0:
        return [1.0]
    later = [(2 / 3) ** back / 3 for back in range(phases)][::-1]  # of the last one, a third
    return [1 - sum(later), *later]


class Arms:
    """The arms of one trial: they pay rewards, and are remembered."""

    def __init__(self, problem: Problem, seed: int, trial: int) -> None:
        graph, family = problem.graph, problem.family
        self.graph, self.family = graph, family.of_arms(graph.labels)
        self.pulls, self.totals = np.zeros(graph.n_arms, np.int64), np.zeros(graph.n_arms)
        self._record, self._means = record(family), self.family.told_means(problem.means)
        self._rewards, self._rng = stream(seed, trial, REWARDS), stream(seed, trial, POLICY)

    def pull(self, arms: NDArray[Any], rewards: int) -> None:
        """Pull these arms, together so often, as equally as it can be."""
        each, over = divmod(rewards, len(arms))
        order = np.array(arms, dtype=np.int64)
        if over:
            shuffle(self._rng, order)
        for place, arm in enumerate(order):
            pulls = each + (place < over)
            self.pulls[arm] += pulls
            self.totals[arm] += _sum_of(self._record, self._means[arm], pulls, self._rewards)

    def best_of(self, arms: NDArray[Any]) -> int:
        """The place in a list of the arm with the highest mean; of equals, one at random."""
        return recommended(self.family, self.pulls, self.totals, self._rng, arms)


@jit
def _sum_of(family, mean, pulls, rng):  # type: ignore[no-untyped-def]
    """The sum of so many rewards."""
    total = 0.0
    for _ in range(pulls):
        total += draw(family, mean, rng)
    return total


def recommended(family: Any, pulls: Any, totals: Any, rng: Any, arms: Any = None) -> int:
    """The place of the arm with the highest mean reward, of equals one at random."""
    means = np.full(len(pulls), -np.inf)
    np.divide(totals, pulls, out=means, where=pulls > 0)
    means = np.asarray(family.worth(means)) if (pulls > 0).all() else _worths(family, means, pulls)
    chosen = means if arms is None else means[arms]
    tied = np.flatnonzero(chosen == chosen.max())
    return int(tied[0] if len(tied) == 1 else tied[randint(rng, len(tied))])


def _worths(family: Any, means: Any, pulls: Any) -> Any:
    worths = np.asarray(family.worth(np.where(pulls > 0, means, 0.0)))
    return np.where(pulls > 0, worths, -np.inf)


def _along(graph: Graph) -> NDArray[np.int64]:
    """The arms of a line from one end to the other; refused if it is none."""
    ends = np.flatnonzero(graph.degrees == 1)
    if len(ends) != 2 or graph.max_degree > 2:
        raise UnimodalError(
            f"UB3 needs a line, such as um.graphs.line(17), got {graph!r}: take UniTT, or Uniform."
        )
    order = [int(ends[0])]
    before = -1
    while len(order) < graph.n_arms:
        near = graph.neighbors(order[-1])
        before, step = order[-1], int(near[near != before][0])
        order.append(step)
    return np.array(order, dtype=np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class FixedBudget:
    """Which arm each policy recommends after a fixed number of rewards, and how often wrongly.

    Attributes
    ----------
    problem
        The problem.
    budget
        How many rewards each trial had.
    seed
        Determines every random number.
    recommended
        By policy, the arm that each trial recommends: the one with the highest mean reward.

    Examples
    --------
    >>> import unimodal as um
    >>> problem = um.problems.triangular(5)
    >>> found = um.identify(problem, [um.UB3(), um.UniTT()], budget=300, trials=20)
    >>> found
    FixedBudget(UB3, UniTT: 20 trials of 300 rewards, seed 0)
    """

    problem: Problem
    budget: int
    seed: int
    recommended: dict[str, NDArray[np.int64]]

    @property
    def wrong(self) -> dict[str, analysis.Interval]:
        """By policy, the share of trials that recommend another arm than a best one.

        Its 95 % interval is exact (Clopper and Pearson).
        """
        best = self.problem.gaps == 0
        return {
            name: analysis.share_interval(int((~best[arms]).sum()), len(arms))
            for name, arms in self.recommended.items()
        }

    def summary(self) -> pl.DataFrame:
        """One row per policy: the probability of error with its interval, and the regret of it.

        `simple_regret` is how much less than the best arm the recommended one pays, on average.
        """
        import polars as pl

        rows = [
            {
                "policy": name,
                "wrong": wrong.value,
                "wrong_low": wrong.low,
                "wrong_high": wrong.high,
                "simple_regret": float(self.problem.gaps[self.recommended[name]].mean()),
                "trials": len(self.recommended[name]),
            }
            for name, wrong in self.wrong.items()
        ]
        return pl.DataFrame(rows)

    def __str__(self) -> str:
        rows = [
            (name, f"{100 * one.value:.3g} %", f"{100 * one.low:.3g} … {100 * one.high:.3g} %")
            for name, one in self.wrong.items()
        ]
        return "\n".join([self._size, *aligned([("policy", "wrong", "95 %"), *rows])])

    @property
    def _size(self) -> str:
        trials = len(next(iter(self.recommended.values())))
        return f"{trials:,} trial{'s' * (trials != 1)} of {self.budget:,} rewards"

    def __repr__(self) -> str:
        names = printable(", ".join(self.recommended))
        return f"FixedBudget({names}: {self._size}, seed {self.seed})"


def identify_within(
    problem: Problem, policies: Any, budget: Any, trials: Any, seed: Any, engine: str, workers: Any
) -> FixedBudget:
    """Run policies for exactly `budget` rewards; what `um.identify(…, budget=…)` does."""
    chosen = _chosen(policies)
    rewards = whole_number(budget, "the 'budget'", at_most=LONGEST)
    count = whole_number(trials, "the 'trials'", at_most=MOST_TRIALS)
    seed = whole_number(seed, "the 'seed'", 0)
    if not isinstance(engine, str) or engine not in ENGINES:
        raise unknown_name("engine", engine, ENGINES)
    _check(problem, chosen, rewards)

    def play(task: tuple[int, int]) -> int:
        return _play(problem, chosen[task[0]], rewards, seed, task[1], engine)

    found = {one.name: np.empty(count, dtype=np.int64) for one in chosen}
    tasks = ((policy, trial) for trial in range(count) for policy in range(len(chosen)))
    for (policy, trial), arm in runner.run(tasks, play, workers=workers):
        found[chosen[policy].name][trial] = arm
    return FixedBudget(problem, rewards, seed, found)


def _chosen(policies: Any) -> list[Any]:
    """Policies and allocations as a list, in which no name comes twice."""
    refuse_set(policies, "the policies")
    several = isinstance(policies, Iterable) and not isinstance(policies, str | type)
    listed: Sequence[Any] = list(policies) if several else [policies]
    chosen = [one if isinstance(one, Uniform | UB3) else as_policy(one) for one in listed]
    names = [one.name for one in chosen]
    if not names or len(set(names)) < len(names):
        raise UnimodalError(
            f"there must be at least one policy, each with a name of its own, got {names}."
        )
    return chosen


def _check(problem: Problem, chosen: list[Any], budget: int) -> None:
    """Refuse what has no best arm, or too few rewards for all."""
    if isinstance(problem, Moving):
        raise UnimodalError("a peak that moves is not identified: take means that stay.")
    if budget < problem.graph.n_arms:
        raise UnimodalError(
            f"the 'budget' must be at least one reward for each of the {problem.graph.n_arms:,} "
            f"arms, got {budget:,}."
        )
    for one in chosen:
        if isinstance(one, Policy):
            if one.forgets:
                raise UnimodalError(
                    f"the best arm has the highest mean of all rewards, and {one.name} forgets "
                    "some: take the policy that it wraps."
                )
            continue
        if isinstance(problem, Recorded):
            raise UnimodalError(
                f"{one.name} draws rewards itself, and those of a table were recorded: take a "
                "policy such as UniTT."
            )
        if problem.family.is_own:
            raise UnimodalError(
                f"{one.name} draws from families of ours, got {problem.family!r}: take a policy "
                "such as UniTT."
            )
        if isinstance(one, UB3):
            _along(problem.graph)


def _play(problem: Problem, one: Any, budget: int, seed: int, trial: int, engine: str) -> int:
    """The arm that one trial recommends."""
    rng = stream(seed, trial, RECOMMENDATION)
    if isinstance(one, Policy):
        rounds = np.array([budget], dtype=np.int64)
        kind = trial_class(engine, problem, one, budget, False)
        played: Any = kind(problem, one, seed, trial, rounds, False)
        played.finish()
        family = problem.family.of_arms(problem.graph.labels)
        arms = played.state.arms
        return recommended(family, arms["pulls"], arms["total"], rng)
    own = Arms(problem, seed, trial)
    one.play(own, budget)
    return recommended(own.family, own.pulls, own.totals, rng)
