"""Leaping near the top of the range: the arms of the step engine, and not a look a round."""

from typing import NamedTuple

import numpy as np
import pytest
from scipy import stats

import unimodal as um
from unimodal.engines.leap import LeapTrial
from unimodal.engines.leap.klucb_waits import _bearable
from unimodal.engines.rewards import Tabled
from unimodal.engines.step import StepTrial
from unimodal.families.unsaturated_scale import between, mean_level
from unimodal.kernels.compile import record
from unimodal.policies.index import KLUpper, index_level, whole_budget
from unimodal.policies.klucb_ub import KLUpperByPulls
from unimodal.policies.leaping import ENDLESS

CERTAIN = um.Problem(um.graphs.line(5), [0.5, 0.8, 1.0, 0.8, 0.5])


def looks(policy, problem, horizon, seed=0):
    """How many looks and steps a trial takes, to within 50, and the trial."""
    trial = LeapTrial(problem, policy, seed, 0, np.array([horizon]), False)
    spent = 0
    while trial.round < horizon:
        trial.advance(50)
        spent += 50
    return spent, trial


@pytest.mark.parametrize(
    "policy",
    [
        um.OSUB(),
        um.NPTS(),
        pytest.param(um.KLUCB(), marks=pytest.mark.full),
        um.UTS(),
        um.TS(),
        pytest.param(um.IMED(), marks=pytest.mark.full),
        pytest.param(um.KLUCBUB(), marks=pytest.mark.full),
        pytest.param(um.IMEDUB(), marks=pytest.mark.full),
    ],
    ids=str,
)
def test_a_best_mean_of_exactly_one_costs_no_look_a_round(policy):
    """10⁷ rounds in at most 50,000 looks; OSUB and NPTS took 10⁷. The best arm has the others."""
    for seed in range(3):
        spent, trial = looks(policy, CERTAIN, 10**7, seed)
        assert spent <= 50_000
        assert trial.state.arms["pulls"].argmax() == 2
        assert trial.state.arms["total"][2] == trial.state.arms["pulls"][2] > 10**7 - 10**4


def sample(kind, problem, trials, seed):
    """Pulls by arm, a row a trial."""
    rows = []
    for number in range(trials):
        trial = kind(problem, um.NPTS(), seed, number, np.array([300]), False)
        if kind is LeapTrial:
            trial.hurry(1.5)
        trial.finish()
        rows.append(trial.state.arms["pulls"].copy())
    return np.array(rows)


@pytest.mark.parametrize("means", [[0.5, 0.8, 1.0], [0.9, 0.97, 0.99], [1.0, 1.0, 0.9]], ids=str)
def test_npts_leaps_in_law_where_arms_never_fail(means):
    """Kolmogorov and Smirnov, 600 trials an engine; false alarms: 1 in 1000 over the nine.

    Power: with arms that never missed the top awake in every contest but losing all ties, the first
    arm of two with mean 1 differs by 50 standard errors.
    """
    problem = um.Problem(um.graphs.complete(3), means)
    step, leap = sample(StepTrial, problem, 600, 1), sample(LeapTrial, problem, 600, 2)
    for one, two in zip(step.T, leap.T, strict=True):
        assert stats.ks_2samp(one, two, method="asymp").pvalue > 1e-3 / 9


def both(problem, policy, seed, table):
    """The arms of a step trial and of a leap trial on the same rewards."""
    arms = []
    for kind in (StepTrial, LeapTrial):
        trial = kind(problem, policy, seed, 0, np.array([table.shape[1] - 1]), True)
        trial.rewards = Tabled(table)
        trial.finish()
        arms.append(trial.output.arms)
    return arms


NEAR = [
    ([0.98, 0.99, 0.995, 0.99], "a little below"),
    ([0.9, 0.999, 1.0, 0.999], "up to it"),
    ([0.9999, 0.99999, 0.999999, 0.99999], "very close"),
]


@pytest.mark.parametrize("policy", [um.OSUB(), um.KLUCB()], ids=str)
@pytest.mark.full
@pytest.mark.parametrize(("means", "where"), NEAR, ids=[where for _, where in NEAR])
def test_bounded_rewards_near_the_top_step_and_leap_alike(policy, means, where):
    """Rewards as wide as fits: nearly all bounds are the top as floats."""
    family = um.Bounded(-1, 1)
    problem = um.Problem(um.graphs.line(4), means, family)
    for seed in range(4):
        around = np.random.default_rng(seed).uniform(-1, 1, (4, 3001))
        table = problem.means[:, None] + around * (1 - problem.means[:, None])
        step, leap = both(problem, policy, seed, table)
        assert np.array_equal(step, leap)


class Record(NamedTuple):
    """An arm, as far as bounds go."""

    pulls: int
    total: float


def levels_in_use(made, index, whole, record):
    """Levels below what the incumbent shows: above its mean, and more or less below."""
    shown = index_level(index, made, record, whole)
    mean = mean_level(made, float(record.pulls), record.total)
    low = min(mean, 20.0)
    return [between(made, mean, shown, 0.5), *(share * low for share in (0.3, 0.6, 0.9))]


@pytest.mark.parametrize("family", [um.Bernoulli(), um.Bounded(-1, 1)], ids=str)
@pytest.mark.parametrize("index", [KLUpper(3.0), KLUpperByPulls()], ids=str)
def test_what_is_bearable_leaves_the_incumbent_above_the_level(index, family):
    """After so many of the worst rewards it still shows more; and it is not just 0 that is told."""
    made, told = record(family), []
    for pulls in (10, 1000, 10**6, 10**8, 10**11):
        for failures in (0, 1, 7, pulls // 100, pulls // 2):
            arm = Record(pulls, pulls * family.high - failures * (family.high - family.low))
            whole = whole_budget(record(index), pulls)
            for level in levels_in_use(made, record(index), whole, arm):
                loss_margin = int(_bearable(record(index), made, arm, level, pulls))
                if 0 < loss_margin < ENDLESS:
                    later = Record(pulls + loss_margin, arm.total + loss_margin * family.low)
                    assert index_level(record(index), made, later, whole) >= level * (1 - 1e-9)
                told.append(loss_margin)
    assert sum(0 < count < ENDLESS for count in told) > len(told) / 3
