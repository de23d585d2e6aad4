"""The step engine: its law against known regrets, and what it writes."""

import math

import numpy as np
import pytest

import unimodal as um
from unimodal.engines.step import StepTrial

TRIALS = 250


def complete_five(policy):
    """Regret at T = 10⁵ on the complete graph of 5 arms with means 0.9 and 0.1.

    Leapt, since other tests hold the leap engine to the step engine's law.
    """
    problem = um.problems.by_distance(um.graphs.complete(5), peak=2)
    result = um.simulate(problem, policy, horizon=100_000, trials=TRIALS, seed=5, checkpoints=1)
    regret = result[policy.name].regret[:, -1]
    return regret.mean(), regret.std(ddof=1) / math.sqrt(TRIALS)


def agrees(policy, known, half_width):
    """Within 3 combined standard errors: a false alarm in 1 of 370 choices of seed."""
    mean, error = complete_five(policy)
    return abs(mean - known) <= 3 * math.hypot(error, half_width / 1.96)


def test_klucb_has_its_known_regret():
    assert agrees(um.KLUCB(), 34.3, 0.2)


def test_ts_has_its_known_regret():
    assert agrees(um.TS(), 17.7, 0.15)


def test_the_two_tests_above_see_a_wrong_rule():
    """Planted: c = 1 instead of 3, and a prior of Beta(2, 2) instead of Beta(1, 1)."""
    assert not agrees(um.KLUCB(c=1), 34.3, 0.2)
    assert not agrees(um.TS(prior=(2, 2)), 17.7, 0.15)


def test_regret_is_that_of_the_arms_pulled():
    problem = um.problems.triangular(9)
    run = um.simulate(problem, um.UTS(), horizon=777, trials=2, checkpoints=30, history=True)
    regret = np.cumsum(problem.gaps[run["UTS"].arms], axis=1)
    assert np.allclose(run["UTS"].regret, regret[:, run.rounds - 1])
    assert run.rounds[-1] == 777


def test_rewards_are_those_of_the_reward_stream():
    problem = um.problems.triangular(9)
    run = um.simulate(problem, um.UTS(), horizon=200, trials=3, seed=4, history=True)["UTS"]
    rng = um.random.stream(4, 2, um.random.REWARDS)
    expected = [float(um.random.uniform(rng) < problem.means[arm]) for arm in run.arms[2]]
    assert run.rewards[2].tolist() == expected


@pytest.mark.parametrize("policy", [um.UTS(), um.OSUB()], ids=str)
def test_pieces_do_not_matter(policy):
    problem, rounds = um.problems.triangular(9), np.array([10, 100, 1000])
    whole = StepTrial(problem, policy, 1, 0, rounds, True)
    whole.finish()
    pieces = StepTrial(problem, policy, 1, 0, rounds, True)
    for size in (1, 8, 1, 90, 500, 1000):
        pieces.advance(size)
    assert whole.output.arms.tolist() == pieces.output.arms.tolist()
    assert whole.output.regret.tolist() == pieces.output.regret.tolist()


def test_means_at_the_ends_work():
    for means in ([0, 1, 0], [0, 0, 1], [1, 0, 0]):
        problem = um.Problem(um.graphs.line(3), means)
        result = um.simulate(
            problem, [um.UTS(), um.OSUB(), um.TS(), um.KLUCB()], horizon=500, trials=3
        )
        for run in result.values():
            assert (run.pulls.argmax(axis=1) == problem.best_arm).all()
