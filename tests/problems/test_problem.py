import json
import math

import numpy as np
import pytest

import unimodal as um
from unimodal import graphs
from unimodal.errors import UnimodalError
from unimodal.problems import by_distance, triangular


def test_the_lower_bound_of_the_papers_line_by_hand():
    """Both neighbours of the peak have mean 0.8: 2·0.1/kl(0.8, 0.9)."""
    distance = 0.8 * math.log(0.8 / 0.9) + 0.2 * math.log(0.2 / 0.1)
    assert triangular(17).lower_bound == pytest.approx(0.2 / distance)
    assert type(triangular(17).lower_bound) is float


def test_the_lower_bound_counts_the_peaks_neighbours_alone():
    means = [0.3, 0.9, 0.5, 0.1]
    on_line = um.Problem(graphs.line(4), means).lower_bound
    complete = um.Problem(graphs.complete(4), means).lower_bound
    term = {mean: (0.9 - mean) / um.Bernoulli().divergence(mean, 0.9) for mean in (0.1, 0.3, 0.5)}
    assert on_line == pytest.approx(term[0.3] + term[0.5])
    assert complete == pytest.approx(sum(term.values()))


def test_the_lower_bound_of_a_gaussian_problem():
    problem = um.Problem(graphs.line(3), [0.0, 2.0, -1.0], um.Gaussian(0.5))
    assert problem.lower_bound == pytest.approx(2 * 0.25 / 2 + 2 * 0.25 / 3)  # Σ 2σ²/gap


@pytest.mark.parametrize(
    "problem",
    [
        um.Problem(graphs.line(3), [0.5, 0.5, 0.1]),
        um.Problem(graphs.line(2), [0.0, 1e-200], um.Gaussian()),  # its divergence is below 1e-308
    ],
    ids=str,
)
def test_the_lower_bound_is_infinite_where_a_neighbour_cannot_be_told_from_the_peak(problem):
    assert problem.lower_bound == math.inf


def test_the_lower_bound_is_right_for_means_however_small():
    """kl(0, q) = q to first order, so each neighbour counts 1."""
    assert um.Problem(graphs.line(3), [0.0, 1e-200, 0.0]).lower_bound == pytest.approx(2.0)


def test_the_lower_bound_is_zero_where_one_bad_reward_gives_an_arm_away():
    assert um.Problem(graphs.line(3), [0.5, 1.0, 0.5]).lower_bound == 0.0


def test_the_regret_bound_is_the_curve_of_theorem_2():
    problem = triangular(17)
    expected = 1.25 * problem.lower_bound * (math.log(1e5) + math.log(math.log(1e5)))
    assert problem.regret_bound(1e5, epsilon=0.25) == pytest.approx(expected)
    curve = problem.regret_bound([1, 2, 3, 10, 1000])
    assert curve[0] == 0.0
    assert curve[1] == pytest.approx(1.1 * problem.lower_bound * math.log(2))
    assert (np.diff(curve) > 0).all()


def test_gaps_are_what_a_pull_costs():
    problem = um.Problem(graphs.line(3), [0.25, 0.75, 0.5])
    assert problem.gaps.tolist() == [0.5, 0.0, 0.25]


@pytest.mark.parametrize("part", ["means", "gaps"])
def test_a_problem_cannot_be_changed_from_outside(part):
    given = np.array([0.25, 0.75, 0.5])
    problem = um.Problem(graphs.line(3), given)
    with pytest.raises(ValueError, match="read-only"):
        getattr(problem, part)[0] = 0.9
    given[0] = 0.9
    assert problem.means[0] == 0.25


@pytest.mark.parametrize(
    "problem",
    [
        triangular(5),
        by_distance(graphs.erdos_renyi(10, 0.4, seed=3), 2, 6, 1, um.Poisson()),
        um.Problem(graphs.from_edges([("a", "b")]), [1.0, 3.0], um.Bounded(0, 4, "uniform")),
    ],
    ids=str,
)
def test_a_problem_comes_back_from_json(problem):
    again = um.Problem.from_data(json.loads(json.dumps(problem.to_data())))
    assert again.graph == problem.graph
    assert again.means.tolist() == problem.means.tolist()
    assert again.family == problem.family


LINE = graphs.line(3)
BAD = [
    (lambda: um.Problem("line:3", [0, 0, 0]), "'graph' of Problem must be a Graph .*'line:3'"),
    (lambda: um.Problem(LINE, [0.1, 0.2]), r"each of the 3 arms, got shape \(2,\)"),
    (lambda: um.Problem(LINE, [[0.1, 0.2, 0.3]]), r"each of the 3 arms, got shape \(1, 3\)"),
    (lambda: um.Problem(LINE, ["low", "high", "low"]), "'means' of Problem must be numbers"),
    (lambda: um.Problem(LINE, [0.1, [0.2], 0.3]), "'means' of Problem must be numbers"),
    (lambda: um.Problem(LINE, [0.1, 1.2, 0.3]), "between 0 and 1, got 1.2 for arm 1"),
    (lambda: um.Problem(LINE, [0.1, 0.2, math.nan]), "between 0 and 1, got nan for arm 2"),
    (lambda: um.Problem(LINE, [0.1, 0.2, 0.3], "poisson"), "'family' .* such as .* got 'poisson'"),
    (lambda: um.Problem(LINE, {0: 0.1}), "must name every arm, got none for 1 and 1 more"),
    (lambda: um.Problem(LINE, {0: 0.1, 1: 0.2, 7: 0.3}), "7"),
    (lambda: triangular(3).regret_bound(10, 0), "'epsilon' of regret_bound .* greater than 0"),
]


@pytest.mark.parametrize(("make", "sentence"), BAD)
def test_bad_input_is_refused_in_a_sentence(make, sentence):
    with pytest.raises(UnimodalError, match=sentence) as caught:
        make()
    assert str(caught.value).endswith(".")


def test_means_may_be_given_by_label_in_any_order():
    prices = graphs.from_edges([("9.90", "12.90"), ("12.90", "14.90")])
    problem = um.Problem(prices, {"14.90": 0.3, "9.90": 0.1, "12.90": 0.2})
    assert problem.means.tolist() == [0.1, 0.2, 0.3]
