"""Dynamic regret: against the best arm of each round, whatever the policy remembers."""

import numpy as np
import pytest

import unimodal as um
from unimodal.errors import UnimodalError

DRIFT = um.problems.drifting_line(7, 900, 0.01)
FORGETFUL = um.Windowed(um.UTS(), window=200)


@pytest.fixture(scope="module")
def result():
    policies = [um.UTS(), FORGETFUL]
    return um.simulate(DRIFT, policies, horizon=900, trials=3, seed=5, history=True, workers=1)


def test_regret_is_that_of_the_arms_pulled(result):
    best = [DRIFT.at(now).gaps for now in range(1, 901)]
    for run in result.values():
        for arms, regret, pulls in zip(run.arms, run.regret, run.pulls, strict=True):
            paid = np.cumsum([gaps[arm] for gaps, arm in zip(best, arms, strict=True)])
            assert regret == pytest.approx(paid[result.rounds - 1])
            assert (pulls == np.bincount(arms, minlength=7)).all()


def test_rewards_come_from_the_means_of_the_round():
    """A mean of 1 pays always, a mean of 0 never: no chance is involved."""
    problem = um.Moving(um.graphs.line(2), [1, 101, 301], [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    result = um.simulate(problem, um.UTS(), horizon=500, trials=1, history=True, workers=1)
    arms, rewards = result["UTS"].arms[0], result["UTS"].rewards[0]
    best = np.array([problem.at(now).best_arm for now in range(1, 501)])
    assert (rewards == (arms == best)).all()
    assert result["UTS"].regret[0, -1] == (arms != best).sum()


def test_one_piece_is_a_problem_that_stays():
    still = um.problems.triangular(7)
    settings = {"horizon": 900, "trials": 2, "seed": 2, "history": True, "workers": 1}
    one = um.simulate(still, um.UTS(), **settings)["UTS"]
    two = um.simulate(um.Moving(still.graph, [1], [still.means]), um.UTS(), **settings)["UTS"]
    assert (one.arms == two.arms).all() and (one.rewards == two.rewards).all()
    assert two.regret == pytest.approx(one.regret)


def test_results_are_saved_and_run_again(result, tmp_path):
    loaded = um.load(result.save(tmp_path / "drift.parquet"))
    assert loaded.policies == result.policies
    again = loaded.rerun(workers=1)
    assert (again["Windowed UTS"].regret == result["Windowed UTS"].regret).all()
    assert again.summary().equals(result.summary())
    assert len(result.plot().lines) == 2  # no line for Theorem 1, which is about means that stay


def test_restarts_are_counted_and_kept(tmp_path):
    """A mean of 1 becomes 0 and back: twenty rewards of both kinds are beyond every doubt."""
    problem = um.Moving(um.graphs.line(2), [1, 101, 201], [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    policies = [um.UTS(), um.Restarting(um.UTS(), window=40)]
    result = um.simulate(problem, policies, horizon=300, trials=3, workers=1)
    loaded = um.load(result.save(tmp_path / "restarts.parquet"))
    assert loaded["Restarting UTS"].restarts.tolist() == [2, 2, 2]
    assert loaded["UTS"].restarts.tolist() == [0, 0, 0]
    assert loaded.extend(1, workers=1)["Restarting UTS"].restarts.tolist() == [2, 2, 2, 2]


@pytest.mark.parametrize(
    ("problem", "policy"), [(DRIFT, um.UTS()), (um.problems.triangular(7), FORGETFUL)]
)
def test_nobody_leaps_over_a_change(problem, policy):
    with pytest.raises(UnimodalError, match="changes from round to round"):
        um.simulate(problem, policy, horizon=9000, trials=1, engine="leap")
    from unimodal.engines.engine_choice import trial_class
    from unimodal.engines.step import StepTrial

    assert trial_class("auto", problem, policy, 9000, False) is StepTrial


def test_second_peaks_are_not_sought_where_means_change(result):
    with pytest.raises(UnimodalError, match="needs means that stay"):
        um.second_peaks(result, policy="UTS")
