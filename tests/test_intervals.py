import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unimodal as um


def peaked(peak, alpha=1.0, slope=0.8, high=0.9):
    return lambda x: high - slope * abs(x - peak) ** alpha


@settings(max_examples=40)
@given(
    st.floats(-5, 5),
    st.floats(0.1, 10),
    st.floats(0, 1),
    st.sampled_from([0.25, 0.5, 1.0, 2.0, 4.0]),
)
def test_the_peak_is_found_wherever_and_however_sharp_it_is(low, length, share, alpha):
    peak = low + share * length
    interval = um.Interval(low, low + length, mean=peaked(peak, alpha, 0.8 / length**alpha))
    assert interval.best_mean == pytest.approx(0.9, abs=1e-3 if alpha == 0.25 else 1e-7)
    assert interval.low <= interval.peak <= interval.high


def test_a_flat_top_and_flat_sides_are_one_peak():
    plateau = um.Interval(0, 1, mean=lambda x: min(0.5, x, 1 - x))
    assert plateau.best_mean == 0.5
    assert um.Interval(0, 1, mean=lambda x: 0.3).best_mean == 0.3


def test_a_discretised_interval_is_a_line_of_labelled_points():
    interval = um.Interval(0, 0.6, mean=peaked(0.2))
    problem = interval.discretise(7)
    assert problem.graph.labels == (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
    assert problem.graph.degrees.tolist() == [1, 2, 2, 2, 2, 2, 1]
    assert problem.means.tolist() == [interval.mean(x) for x in problem.graph.labels]
    assert problem.check()
    assert um.Agent(um.UTS(), problem.graph).ask() in problem.graph.labels
    assert um.Problem.from_data(problem.to_data()).graph == problem.graph


def test_regret_is_counted_from_the_best_of_all_points():
    interval = um.Interval(0, 1, mean=peaked(0.4))
    result = um.simulate(interval.discretise(3), um.UTS(), horizon=50, trials=3, history=True)
    run, points = result["UTS"], np.array(result.problem.graph.labels)
    losses = 0.9 - interval.means_at(points)
    for trial in range(3):
        by_hand = np.cumsum(losses[run.arms[trial]])[result.rounds - 1]
        np.testing.assert_allclose(interval.regret(result)["UTS"][trial], by_hand)


@pytest.mark.parametrize("alpha", [1.0, 2.0, 3.0])
@pytest.mark.parametrize("horizon", [10**3, 10**6])
def test_the_step_makes_both_errors_equal(alpha, horizon):
    interval = um.Interval(2, 5, mean=peaked(3, alpha, 0.01))
    slope = 1.5 / 3**alpha
    step = 3 / (interval.points_for(horizon, alpha, slope) - 1)
    loss = slope * step**alpha  # of a neighbour
    grid, learning = horizon * loss, math.log(horizon) / loss
    # One point more or less would tip the scale: rounding up only makes the grid finer.
    assert grid <= learning
    wider = 3 / (interval.points_for(horizon, alpha, slope) - 2)
    assert horizon * slope * wider**alpha >= math.log(horizon) / (slope * wider**alpha)


def test_a_cusp_has_no_more_points_than_the_sweep_can_bear():
    interval = um.Interval(0, 1, mean=peaked(0.4, 0.5))
    assert interval.points_for(10**6, smoothness=0.5) == 10**4 + 1  # T^(1/(1 + α))
    assert interval.points_for(100, smoothness=1e-9) == 101  # never more than rounds
    assert interval.points_for(100, smoothness=1, slope=1e-9) == 2


MISTAKES = [
    (lambda: um.Interval(1, 1, mean=peaked(0)), "the 'high' of Interval must be a finite number"),
    (lambda: um.Interval("a", 1, mean=peaked(0)), "the 'low' of Interval must be a finite number"),
    (lambda: um.Interval(0, 1, mean=0.5), "must be a function of a point, got 0.5"),
    (lambda: um.Interval(0, 1, mean=lambda x: "high"), "must return one number a point"),
    (lambda: um.Interval(0, 1, mean=lambda x: 2.0), "a mean of Bernoulli() must be between 0"),
    (lambda: um.Interval(0, 1, mean=peaked(0), rewards=0), "the 'rewards' of Interval must be"),
    (
        lambda: um.Interval(0, 1, mean=lambda x: 0.5 + 0.4 * math.cos(12 * x)),
        "it falls near 0 and rises again near 0.262",
    ),
    (lambda: um.Interval(0, 1, mean=peaked(0)).discretise(1), "a whole number of at least 2"),
    (lambda: um.Interval(0, 1, mean=peaked(0)).points_for(1, 1), "the 'horizon' must be"),
    (lambda: um.Interval(0, 1, mean=peaked(0)).points_for(10, 0), "the 'smoothness' must be"),
    (lambda: um.Interval(0, 1, mean=peaked(0)).points_for(10, 1, -1), "the 'slope' must be"),
]


@pytest.mark.parametrize(("mistake", "sentence"), MISTAKES)
def test_a_mistake_gets_its_sentence(mistake, sentence):
    with pytest.raises(um.UnimodalError) as caught:
        mistake()
    assert sentence in str(caught.value)
