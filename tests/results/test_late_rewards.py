"""Simulations in which rewards come late: reproducible, saved with their law, refused in words."""

import math

import numpy as np
import pytest

import unimodal as um

LINE = um.graphs.line(4)
PROBLEM = um.Problem(LINE, [0.1, 0.3, 0.5, 0.2])
LATE = {"delay": um.delays.Exponential(mean=1.0), "time_to_live": 7.0, "visitors": 20.0}


def simulated(**named):
    given = {"horizon": 400, "trials": 3, "seed": 5, "progress": False, **LATE, **named}
    return um.simulate(PROBLEM, um.UTS(), **given)


def test_it_is_the_same_for_any_number_of_threads_and_again(tmp_path):
    one = simulated(workers=1)
    two = simulated(workers=2)
    loaded = um.Result.load(one.save(tmp_path / "late.parquet"))
    assert loaded.lateness == one.lateness
    for other in (two, loaded, loaded.rerun(), simulated(trials=1).extend(trials=2)):
        assert np.array_equal(one["UTS"].regret, other["UTS"].regret)
    assert one["UTS"].pulls.sum(axis=1).tolist() == [400] * 3


def test_weighing_loses_less_than_counting():
    # Measured: 23.0 and 36.5, with standard errors of 2.7 and 6.0, by these seeds.
    weighed, counted = (
        simulated(late=late, horizon=2000, trials=20) for late in ("weigh", "count")
    )
    assert 1.2 * weighed["UTS"].regret[:, -1].mean() < counted["UTS"].regret[:, -1].mean()


def test_only_what_comes_in_time_is_earned():
    # Sales of the arm with the most come too late, and those of the last: the second is the best.
    late = um.delays.Fixed([0.1, 0.1, 9.0, 9.0])
    found = simulated(delay=late, horizon=3000, trials=2)["UTS"]
    assert (found.pulls.argmax(axis=1) == 1).all()
    assert np.allclose(found.regret[:, -1], found.pulls @ [0.2, 0.0, 0.3, 0.3])


@pytest.mark.parametrize(
    "delay",
    [
        um.delays.LogNormal(mean=0.5),
        um.delays.Sample([0.1, 3.0]),
        um.delays.Exponential(mean={0: 1, 1: 1, 2: 2, 3: 3}),
        lambda rng, n: rng.uniform(0, 2, n),
    ],
)
def test_laws(delay):
    assert np.isfinite(simulated(delay=delay)["UTS"].regret).all()


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ({"delay": -1.0}, "must be a law such as"),
        ({"delay": um.delays.Exponential(mean=-1.0)}, "numbers of at least 0"),
        ({"delay": um.delays.Exponential(mean=math.nan)}, "numbers of at least 0"),
        ({"delay": um.delays.Fixed([1.0, 2.0])}, "one for each of the 4 arms"),
        ({"delay": um.delays.Exponential(mean={0: 1.0})}, "must have every arm"),
        ({"delay": lambda rng, n: 1 / 0}, "must return delays, got ZeroDivisionError"),
        ({"delay": lambda rng, n: [1.0]}, "as many delays as it is asked for"),
        ({"delay": None}, "give their 'delay'"),
        ({"time_to_live": None}, "time_to_live"),
        ({"late": "soon"}, "weigh"),
        ({"visitors": 0}, "visitors"),
        ({"engine": "leap"}, "round by round"),
    ],
)
def test_what_does_not_fit(named, said):
    with pytest.raises(um.UnimodalError, match=said):
        simulated(**named)


def test_families_and_policies_that_do_not_fit():
    gaussian = um.Problem(LINE, [0.1, 0.3, 0.5, 0.2], um.Gaussian())
    with pytest.raises(um.UnimodalError, match="must begin at 0"):
        um.simulate(gaussian, um.UTS(), horizon=10, **LATE)
    with pytest.raises(um.UnimodalError, match="forgets"):
        um.simulate(PROBLEM, um.Windowed(um.UTS(), window=50), horizon=10, **LATE)


def test_a_function_cannot_be_saved(tmp_path):
    found = simulated(delay=lambda rng, n: rng.uniform(0, 2, n))
    with pytest.raises(um.UnimodalError, match="cannot be saved"):
        found.save(tmp_path / "late.parquet")
