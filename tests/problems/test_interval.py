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


def test_a_mean_that_rises_again_is_refused_wherever_it_begins():
    """Up, down and up; and rounding, which is neither."""
    wave = [0.0, 0.4, 0.8, 0.6, 0.3, 0.5]
    with pytest.raises(um.UnimodalError, match=r"it falls near 0\.4 and rises again near 0\.8"):
        um.Interval(0, 1, mean=lambda x: float(np.interp(x, np.linspace(0, 1, 6), wave)))
    noisy = um.Interval(0, 1, mean=lambda x: 0.5 + 1e-14 * math.sin(1000 * x))
    assert noisy.best_mean == pytest.approx(0.5)


def test_the_peak_by_hand():
    interval = um.Interval(5, 25, mean=lambda x: 0.9 - 0.04 * abs(x - 13.371))
    assert interval.peak == pytest.approx(13.371) and interval.best_mean == pytest.approx(0.9)
    assert interval.length == 20
    assert um.Interval(-1, 1, mean=lambda x: 0.5 + 0.4 * x).peak == 1.0  # at the very end
    assert um.Interval(-1, 1, mean=lambda x: 0.5 - 0.4 * x).peak == -1.0


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


def test_a_fine_grid_has_all_of_its_points():
    problem = um.Interval(0, 1, mean=peaked(0.4)).discretise(100_001)
    assert problem.graph.n_arms == 100_001 and problem.best_arm == 40_000
    assert problem.graph.labels[12_345] == 0.12345


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


@pytest.mark.parametrize(
    ("horizon", "smoothness", "slope", "points"),
    [
        (10_000, 1, None, 34),  # δ = √(log T/T) = 0.030349, 32.95 steps
        (10_000, 2, None, 7),  # its root: 5.74 steps
        (10_000, 1, 2.0, 67),  # twice as steep: 65.9
        (10_000, 2, 4.0, 13),  # 11.48
        (100, 0.5, None, 23),  # the sweep: 100^(2/3) = 21.54
    ],
)
def test_the_number_of_points_by_hand(horizon, smoothness, slope, points):
    interval = um.Interval(0, 1, mean=peaked(0.4))
    assert interval.points_for(horizon, smoothness, slope) == points


def test_a_cusp_has_no_more_points_than_the_sweep_can_bear():
    interval = um.Interval(0, 1, mean=peaked(0.4, 0.5))
    assert interval.points_for(10**6, smoothness=0.5) == 10**4 + 1  # T^(1/(1 + α))
    assert interval.points_for(100, smoothness=1e-9) == 101  # never more than rounds
    assert interval.points_for(100, smoothness=1, slope=1e-9) == 2


def test_the_points_of_a_grid_lie_in_the_interval():
    """Rounded to twelve digits, 1/3 and 2/3 would not, and this mean has no value there."""
    third = um.Interval(1 / 3, 2 / 3, mean=lambda x: math.sqrt(x - 1 / 3) * math.sqrt(2 / 3 - x))
    assert third.discretise(4).graph.labels == (1 / 3, 0.444444444444, 0.555555555556, 2 / 3)


def test_shapes_beyond_any_float_still_have_a_number_of_points():
    interval = um.Interval(0, 1e200, mean=lambda x: 0.5)
    assert interval.points_for(1000, smoothness=2, slope=1) == 11  # T^(1/3), the sweep's
    assert interval.points_for(1000, smoothness=0.01, slope=1e-300) == 2


ELSEWHERE = um.simulate(um.Interval(0, 1, mean=peaked(1)).discretise(3), um.TS(), horizon=2)
MISTAKES = [
    (lambda: um.Interval(1, 1, mean=peaked(0)), "the 'high' of Interval must be a finite number"),
    (lambda: um.Interval("a", 1, mean=peaked(0)), "the 'low' of Interval must be a finite number"),
    (lambda: um.Interval(0, 1, mean=0.5), "must be a function of a point, got 0.5"),
    (lambda: um.Interval(-1e308, 1e308, mean=peaked(0)), "must be a finite number, got inf"),
    (
        lambda: um.Interval(0, 1, mean=lambda x: "high"),
        "one number per point, but at 0 there was a V",
    ),
    (lambda: um.Interval(0, 1, mean=lambda x: x / 0), "at 0 there was a ZeroDivisionError: "),
    (
        lambda: um.Interval(0, 1, mean=lambda x: 2 * x),
        "a mean of Bernoulli() must be between 0 and 1, got 1.002 at the point 0.501.",
    ),
    (lambda: um.Interval(0, 1, mean=peaked(0), family=0), "the 'family' of Interval must be"),
    (
        lambda: um.Interval(0, 1, mean=lambda x: 0.5 + 0.4 * math.cos(12 * x)),
        "it falls near 0 and rises again near 0.262",
    ),
    (lambda: um.Interval(0, 1, mean=peaked(0)).discretise(1), "a whole number of at least 2"),
    (lambda: um.Interval(0, 1, mean=peaked(0)).discretise(10**9), "'n_points' of discretise must"),
    (lambda: um.Interval(0, 1, mean=peaked(0)).regret(None), "on its discretise(n), got None"),
    (lambda: um.Interval(0, 1, mean=peaked(0)).regret(ELSEWHERE), "on its discretise(n), got Prob"),
    (lambda: um.Interval(0, 1, mean=peaked(0)).points_for(1, 1), "the 'horizon' must be"),
    (lambda: um.Interval(0, 1, mean=peaked(0)).points_for(10, 0), "the 'smoothness' must be"),
    (lambda: um.Interval(0, 1, mean=peaked(0)).points_for(10, 1, -1), "the 'slope' must be"),
]


@pytest.mark.parametrize(("mistake", "sentence"), MISTAKES)
def test_a_mistake_gets_its_sentence(mistake, sentence):
    with pytest.raises(um.UnimodalError) as caught:
        mistake()
    assert sentence in str(caught.value)
