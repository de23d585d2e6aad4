"""The leap engine round for round: the step engine's arms, on the same rewards.

A table fixes reward n of every arm, and both engines read it. Policies without draws must then pull
the same arms in the same rounds, whatever is skipped.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unimodal as um
from unimodal.engines.capability import why_not_leap
from unimodal.engines.leap import LeapTrial
from unimodal.engines.rewards import Tabled
from unimodal.engines.step import StepTrial


def played(kind, problem, policy, seed, table):
    rounds = np.unique(np.linspace(1, table.shape[1] - 1, 9).astype(int))
    trial = kind(problem, policy, seed, 0, rounds, True)
    trial.rewards = Tabled(table)
    trial.finish()
    return trial


@st.composite
def tables(draw):
    """A problem, a policy without draws, a seed for ties, and a table of rewards."""
    problem = draw(st.from_type(um.Problem))
    c = draw(st.sampled_from([0.0, 1.0, 3.0]))
    start = draw(st.sampled_from(["sweep", "literal", "probe(2)"]))
    ties = draw(st.sampled_from(["random", "lowest"]))
    osub = um.OSUB(c=c, start=start, ties=ties)
    policy = draw(st.sampled_from([um.KLUCB(c=c), osub, osub]))
    horizon, seed = draw(st.integers(3, 3000)), draw(st.integers(0, 10**6))
    coins = np.random.default_rng(seed).random((problem.graph.n_arms, horizon + 1))
    return problem, policy, seed, (coins < problem.means[:, None]).astype(float)


@given(tables())
@settings(max_examples=250)
def test_the_same_arms_in_the_same_rounds(case):
    step, leap = played(StepTrial, *case), played(LeapTrial, *case)
    assert np.array_equal(step.output.arms, leap.output.arms)
    assert np.array_equal(step.output.regret, leap.output.regret)  # checkpoints, to the last bit
    for field in ("pulls", "total", "leads"):
        assert np.array_equal(step.state.arms[field], leap.state.arms[field])


@pytest.mark.parametrize("policy", [um.OSUB(), um.KLUCB()], ids=str)
def test_the_same_arms_in_long_runs_that_are_mostly_skipped(policy):
    problem = um.problems.triangular(17)
    coins = np.random.default_rng(4).random((17, 200_001))
    table = (coins < problem.means[:, None]).astype(float)
    step = played(StepTrial, problem, policy, 0, table)
    leap = LeapTrial(problem, policy, 0, 0, np.array([200_000]), True)
    leap.rewards = Tabled(table)
    looks = 0
    while leap.round < leap.horizon:
        leap.advance(100)
        looks += 100
    assert np.array_equal(step.output.arms, leap.output.arms)
    assert looks < 20_000


@pytest.mark.full
def test_rewards_that_are_not_coins():
    """Poisson rewards: the worst is 0, and a bulk is no longer than that can bear."""
    problem = um.Problem(um.graphs.line(5), [1.0, 2.0, 4.0, 2.0, 1.0], um.Poisson())
    rewards = np.random.default_rng(0).poisson(problem.means[:, None], (5, 5001)).astype(float)
    for policy in (um.OSUB(), um.KLUCB()):
        step, leap = (played(kind, problem, policy, 3, rewards) for kind in (StepTrial, LeapTrial))
        assert np.array_equal(step.output.arms, leap.output.arms)


@pytest.mark.parametrize("policy", [um.UTS(), um.OSUB()], ids=str)
def test_pieces_and_checkpoints_do_not_matter(policy):
    problem, rounds = um.problems.triangular(9), np.array([10, 1000, 30_000])
    whole = LeapTrial(problem, policy, 2, 0, rounds, False)
    whole.finish()
    pieces = LeapTrial(problem, policy, 2, 0, np.array([5, 10, 777, 1000, 20_000, 30_000]), False)
    while pieces.round < 30_000:
        pieces.advance(7)
    assert np.array_equal(whole.state.arms, pieces.state.arms)
    assert whole.output.regret.tolist() == pieces.output.regret[[1, 3, 5]].tolist()


def test_a_bulk_keeps_the_value_of_every_checkpoint():
    """Σ T_i·gap_i changes by one gap a round, also inside a bulk."""
    problem, rounds = um.problems.triangular(5), np.arange(1, 20_001)
    trial = LeapTrial(problem, um.UTS(), 0, 0, rounds, True)
    trial.finish()
    regret = np.cumsum(problem.gaps[trial.output.arms])
    assert np.allclose(trial.output.regret, regret)


def test_auto_leaps_where_it_can_and_pays():
    problem = um.problems.triangular(5)

    class Own(um.Policy):
        def choose(self, arms, near, leader, clock, rng):
            return leader

    own_draw = um.Problem(problem.graph, problem.means, um.Bounded(draw=lambda mean, rng: mean))
    assert not why_not_leap(um.UTS(), problem)
    assert why_not_leap(Own(), problem)
    assert why_not_leap(um.UTS(), own_draw)
    leap = um.simulate(problem, um.UTS(), horizon=6000, trials=2, engine="leap")
    auto = um.simulate(problem, um.UTS(), horizon=6000, trials=2)
    assert np.array_equal(leap["UTS"].regret, auto["UTS"].regret)
    short = um.simulate(problem, um.UTS(), horizon=600, trials=2)
    step = um.simulate(problem, um.UTS(), horizon=600, trials=2, engine="step")
    assert np.array_equal(short["UTS"].regret, step["UTS"].regret)
    with pytest.raises(um.UnimodalError, match="Own cannot leap"):
        um.simulate(problem, Own(), horizon=10, engine="leap")
    with pytest.raises(um.UnimodalError, match="asks for each"):
        um.simulate(problem, um.UTS(), horizon=10, engine="leap", history=True)


def test_a_loaded_result_runs_again_on_its_engine(tmp_path):
    problem = um.problems.triangular(5)
    result = um.simulate(problem, um.UTS(), horizon=600, trials=2, engine="leap")
    loaded = um.load(result.save(tmp_path / "r.parquet"))
    assert loaded.engine == "leap"
    assert np.array_equal(loaded.rerun()["UTS"].regret, result["UTS"].regret)
    assert loaded.extend(1).engine == "leap"
