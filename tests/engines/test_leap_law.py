"""The leap engine in law, where draws are made: two samples of trials, one from each engine.

On each of 42 problems the regrets and the pulls of three arms are compared by Kolmogorov and
Smirnov's two-sample test, for the engine as it is and for one in a hurry, which leaps from the
first round on with levels so high that everything rare is common. A fault is reported if any of
the 320 p-values is below 0.01/320, so that a suite without fault reports one in at most 1 of 100
choices of seeds (the seeds are fixed). With 400 trials an engine, a shift of 0.6 standard
deviations in a single one of them is reported with probability 0.98: `test_power`. Three planted
faults are reported as well.
"""

import itertools

import numpy as np
import pytest
from scipy import stats

import unimodal as um
from unimodal.engines.leap import LeapTrial
from unimodal.engines.step import StepTrial
from unimodal.families.family import posterior
from unimodal.families.leaping import under_hat
from unimodal.kernels.compile import component
from unimodal.policies.leaping import contest_after
from unimodal.policies.peak import AroundLinked
from unimodal.policies.scope import AroundLeader
from unimodal.policies.state import ROUND

TRIALS = 400
FALSE_ALARMS = 0.01  # over the whole suite
line, complete = um.graphs.line, um.graphs.complete
star = um.graphs.from_edges([(0, arm) for arm in range(1, 20)])
peaked = um.problems.by_distance

PROBLEMS = {
    "two arms": um.Problem(line(2), [0.3, 0.6]),
    "three clear": um.Problem(line(3), [0.1, 0.9, 0.1]),
    "three close": um.Problem(line(3), [0.45, 0.5, 0.45]),
    "zero and one": um.Problem(line(3), [0.0, 1.0, 0.5]),
    "rare": um.Problem(line(4), [0.01, 0.03, 0.08, 0.03]),
    "line of 5": um.problems.triangular(5),
    "line of 9": um.problems.triangular(9),
    "peak at the end": um.Problem(line(6), [0.2, 0.3, 0.45, 0.6, 0.75, 0.9]),
    "star": peaked(star, 0),
    "star, peak outside": peaked(star, 7),
    "complete 6": peaked(complete(6), 2),
    "complete 40": peaked(complete(40), 2),
    "complete 24, spread": um.Problem(complete(24), np.linspace(0.2, 0.8, 24)),
    "random 30": peaked(um.graphs.erdos_renyi(30, 0.3, seed=1), 4),
    "attached 40": peaked(um.graphs.barabasi_albert(40, 2, seed=1), 4),
    "grid": peaked(um.graphs.grid(5, 5), 12),
}


class Linked(um.PeakUTS):
    """PeakUTS as it is on a graph of more than 2,048 arms."""

    def scope(self, graph):
        return AroundLinked()


CASES = {
    **{f"UTS, {name}": (problem, um.UTS()) for name, problem in PROBLEMS.items()},
    **{f"TS, {name}": (PROBLEMS[name], um.TS()) for name in list(PROBLEMS)[::2]},
    "UTS, small prior": (PROBLEMS["line of 5"], um.UTS(prior=(0.5, 0.5))),
    "UTS, strong prior": (PROBLEMS["line of 5"], um.UTS(prior=(3, 1))),
    "UTS, lowest leads": (PROBLEMS["grid"], um.UTS(ties="lowest")),
    "UTS, literal": (PROBLEMS["line of 5"], um.UTS(start="literal")),
    "UTS, probe": (PROBLEMS["star"], um.UTS(start="probe(3)")),
    "UTS, period 2": (PROBLEMS["line of 9"], um.UTS(period=2)),
    "UTS, period 7": (PROBLEMS["three clear"], um.UTS(period=7)),
    "TS, small prior": (PROBLEMS["complete 40"], um.TS(prior=(0.5, 0.5))),
    "PeakUTS, line of 9": (PROBLEMS["line of 9"], um.PeakUTS()),
    "PeakUTS, peak at the end": (PROBLEMS["peak at the end"], um.PeakUTS()),
    "PeakUTS, star, peak outside": (PROBLEMS["star, peak outside"], um.PeakUTS()),
    "PeakUTS, complete 6": (PROBLEMS["complete 6"], um.PeakUTS()),
    "PeakUTS, random 30": (PROBLEMS["random 30"], um.PeakUTS()),
    "PeakUTS, grid": (PROBLEMS["grid"], um.PeakUTS()),
    "PeakUTS with links, grid": (PROBLEMS["grid"], Linked()),
    "PeakUTS with links, random 30": (PROBLEMS["random 30"], Linked()),
    # Large parameters from the first reward on: draws are quick, and there is little to skip.
    "UTS, near tie": (um.Problem(line(3), [0.3, 0.31, 0.3]), um.UTS(prior=(600, 1400))),
    "TS, near tie": (um.problems.triangular(9, high=0.52, low=0.5), um.TS(prior=(700, 600))),
}


def sample(kind, problem, policy, horizon, seed, trials=TRIALS, depth=None):
    """(trials, 4): the regret, and the pulls of the best arm and of the two next to it."""
    order = np.argsort(-problem.means, kind="stable")[:3]
    rows = []
    for number in range(trials):
        trial = kind(problem, policy, seed, number, np.array([horizon]), False)
        if depth is not None:
            trial.hurry(depth)
        trial.finish()
        rows.append([trial.output.regret[-1], *trial.state.arms["pulls"][order]])
    return np.array([row + [0] * (4 - len(row)) for row in rows])


def smallest_p(one, two):
    return min(
        stats.ks_2samp(*columns, method="asymp").pvalue
        for columns in zip(one.T, two.T, strict=True)
    )


def reported(p_value):
    return p_value < FALSE_ALARMS / (8 * len(CASES))


# By default those in which most can go wrong: close means, wide neighbourhoods, other starts.
BY_DEFAULT = {
    *("UTS, three close", "UTS, line of 9", "UTS, complete 24, spread", "UTS, grid"),
    *("UTS, strong prior", "UTS, literal", "UTS, probe", "UTS, period 2", "UTS, zero and one"),
    *("PeakUTS, line of 9", "PeakUTS, grid"),
    *("TS, two arms", "TS, three close", "TS, star", "UTS, near tie", "TS, near tie"),
}


@pytest.mark.parametrize(
    "name",
    ["three close", "zero and one", "line of 9", "star, peak outside", "complete 6", "grid"],
)
def test_hurried_sessions_of_peakuts_reach_the_horizon(name):
    """A look plays a round or closes a session, and then a round is played: two for each round.

    So a session that plays nothing fails here, before `finish` would go on with it for ever.
    """
    for seed, depth in itertools.product(range(200), (-0.5, 0.5, 1.5)):
        trial = LeapTrial(PROBLEMS[name], um.PeakUTS(), seed, 0, np.array([1200]), False)
        trial.hurry(depth)
        trial.advance(3 * 1200)
        assert trial.state.notes[ROUND] == trial.state.arms["pulls"].sum() == 1200, (seed, depth)


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=() if n in BY_DEFAULT else pytest.mark.full) for n in CASES],
)
def test_both_engines_have_one_law(name):
    assert len(CASES) == 42
    problem, policy = CASES[name]
    horizon = 1200 if problem.graph.n_arms < 20 else 600
    step = sample(StepTrial, problem, policy, horizon, seed=1)
    leap = sample(LeapTrial, problem, policy, horizon, seed=2)
    hurried = sample(LeapTrial, problem, policy, horizon, seed=3, depth=1.5)
    assert not reported(min(smallest_p(step, leap), smallest_p(step, hurried)))


@pytest.mark.full
@pytest.mark.parametrize(
    "rewards",
    [
        um.Poisson(),
        um.Exponential(),
        um.Gaussian(1.0),
        um.Bounded(0, 5),
        um.Bounded(0, 5, "two-point"),
    ],
    ids=str,
)
@pytest.mark.parametrize("policy", [um.UTS(), um.TS()], ids=str)
def test_other_rewards(policy, rewards):
    """False alarms: 1 in 100 over the ten of them."""
    problem = um.Problem(
        complete(20) if isinstance(policy, um.TS) else line(9), _steps(policy), rewards
    )
    step = sample(StepTrial, problem, policy, 1500, seed=1, trials=1500)
    leap = sample(LeapTrial, problem, policy, 1500, seed=2, trials=1500)
    assert smallest_p(step, leap) > 0.01 / 40


def _steps(policy):
    return (
        np.linspace(1, 3, 20) if isinstance(policy, um.TS) else [1, 1.5, 2, 2.5, 3, 2.5, 2, 1.5, 1]
    )


@pytest.mark.full
def test_power():
    """0.6 standard deviations more in one of the columns are reported 98 times in 100."""
    problem, policy = CASES["UTS, line of 9"]
    one = sample(StepTrial, problem, policy, 1500, seed=1)
    two = sample(StepTrial, problem, policy, 1500, seed=5)
    rng, seen = np.random.default_rng(0), 0
    for _ in range(200):
        first, second = (rows[rng.integers(TRIALS, size=TRIALS)].copy() for rows in (one, two))
        second[:, 1] += 0.6 * one[:, 1].std()
        seen += reported(smallest_p(first, second))
    assert seen >= 196


# Planted faults: a scope that counts waits wrongly, and a family that draws wrongly above a level.

OFF_BY_ONE, FORCED_ROUNDS_MISSED, UNCONDITIONAL = 1, 2, 3
_Plain = AroundLeader.Record


@component
class FaultyScope(AroundLeader):
    fault: int = 0


class FaultyCoins(um.Bernoulli):
    fault: int = 0


class FaultyUTS(um.UTS):
    fault: int = 0

    def scope(self, graph):
        return FaultyScope(self.period, False, self.fault)


@contest_after.register(FaultyScope)
def _wrong_count(scope, clock, size, contests):
    if scope.fault == FORCED_ROUNDS_MISSED:
        return clock + contests
    late = 1.0 if scope.fault == OFF_BY_ONE else 0.0
    return contest_after(_Plain(scope.period, scope.lowest), clock, size, contests + late)


_right_draw = um.Bernoulli.Record()


@under_hat.register(FaultyCoins)
def _wrong_draw(family, arm, level, rate, above, rng):
    if family.fault == UNCONDITIONAL:
        return posterior(family, arm, rng)
    return under_hat(_right_draw, arm, level, rate, above, rng)


THIRTY = complete(30), np.linspace(0.2, 0.8, 30)


@pytest.fixture(scope="module")
def step():
    """What the leap engine should look like there."""
    right = um.Problem(*THIRTY)
    return sample(StepTrial, right, um.UTS(period=2), 1500, seed=1, trials=1000)


@pytest.mark.full  # about this file's test, not about the engine
@pytest.mark.parametrize(
    "fault",
    [0, OFF_BY_ONE, FORCED_ROUNDS_MISSED, UNCONDITIONAL],
    ids=["none", "waits off by one", "forced rounds missed", "unconditional draws"],
)
def test_planted_faults_are_reported(fault, step):
    """By the same test; and nothing is reported without a fault."""
    wrong = um.Problem(*THIRTY, FaultyCoins(fault))
    policy = FaultyUTS(period=2, fault=fault)
    leap = sample(LeapTrial, wrong, policy, 1500, seed=2, trials=1000)
    p = smallest_p(step, leap)
    assert reported(p) == (fault != 0), p
