"""How often a second peak is reported where there is none, and where there is one."""

import numpy as np
import pytest

import unimodal as um
from unimodal.inference.hills import hills

LINE = um.graphs.line(9)
RANDOM = um.graphs.erdos_renyi(12, 0.25, seed=3)
ONE_PEAK = {
    "a peak": um.Problem(LINE, [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.6, 0.5, 0.4]),
    "plateaus": um.Problem(LINE, [0.3, 0.3, 0.5, 0.5, 0.5, 0.7, 0.7, 0.4, 0.4]),
    "all equal": um.Problem(LINE, [0.5] * 9),
    "a random graph": um.problems.by_distance(RANDOM, high=0.7, low=0.3),
}
TRIALS, HORIZON = 40, 1500


def looked_at(run, problem, trial, rounds):
    """Pulls and totals after so many rounds."""
    arms, rewards = run.arms[trial, :rounds], run.rewards[trial, :rounds]
    n_arms = problem.graph.n_arms
    return np.bincount(arms, minlength=n_arms), np.bincount(arms, rewards, minlength=n_arms)


def usual_interval(pulls, totals):
    """Mean ± 1.96 standard errors, arm by arm, as if the pulls had been fixed before."""
    n = np.maximum(pulls, 1)
    mean = totals / n
    error = 1.96 * np.sqrt(mean * (1 - mean) / n)
    return np.where(pulls > 0, mean - error, 0.0), np.where(pulls > 0, mean + error, 1.0)


@pytest.mark.parametrize("name", ONE_PEAK)
def test_one_peak_is_not_taken_for_two_however_often_one_looks(name):
    """UTS and TS, looked at four times, at 80 % confidence: at most 20 % of trials may be reported.

    docs/studies/second-peaks/page.md has 0 of 2,700 at 95 %, so right code fails with probability
    below 10⁻³. With the usual 95 % intervals in place of the bounds, a third or more are reported
    (asserted too: these data do tempt).
    """
    problem = ONE_PEAK[name]
    policies = [um.UTS(), um.TS()]
    result = um.simulate(problem, policies, horizon=HORIZON, trials=TRIALS, seed=5, history=True)
    reported, tempting = np.zeros((2, 2, TRIALS), dtype=bool)
    for p, run in enumerate(result.values()):
        for trial in range(TRIALS):
            for rounds in (50, 200, 600, HORIZON):
                data = looked_at(run, problem, trial, rounds)
                found = um.second_peaks(problem.graph, *data, confidence=0.8)
                reported[p, trial] |= bool(found)
                tempting[p, trial] |= len(list(hills(problem.graph, *usual_interval(*data)))) > 1
    assert reported.sum() <= 0.2 * 2 * TRIALS
    assert reported.sum() <= 2  # what we expect of it: none
    if name != "a random graph":
        assert tempting.mean() > 0.3


@pytest.mark.full
def test_two_peaks_are_found_where_all_arms_are_pulled():
    """KL-UCB, which pulls every arm often, T = 10⁴: found in at least 20 of 40 trials.

    docs/studies/second-peaks/page.md has 81 % of 100, so fewer than 20 has probability below 10⁻⁴.
    With 300 pulls of each arm it is found in all of 40, and it is always the right arm.
    """
    means = np.array([0.1, 0.4, 0.8, 0.3, 0.05, 0.3, 0.7, 0.3, 0.1])
    problem = um.Problem(LINE, means)
    result = um.simulate(problem, um.KLUCB(), horizon=10_000, trials=40, seed=0, history=True)
    found = [um.second_peaks(result, trial=trial) for trial in range(40)]
    right = [len(one) == 1 and 6 in one[0].hill and one.best.arm == 2 for one in found if one]
    assert sum(map(bool, found)) >= 20
    assert all(right)
    rng, pulls = np.random.default_rng(0), np.full(9, 300)
    evenly = [um.second_peaks(LINE, pulls, rng.binomial(300, means)) for _ in range(40)]
    assert all([peak.arm for peak in one] == [6] for one in evenly)
