"""Problems whose peak moves: the formula, one peak in every round, and what is refused."""

import itertools

import numpy as np
import pytest
from scipy import stats

import unimodal as um
from unimodal.errors import UnimodalError
from unimodal.problems import from_data


@pytest.mark.parametrize(("n_arms", "speed"), [(5, 0.01), (17, 0.0031), (8, 1 / 9)])
def test_a_drifting_line_has_the_means_of_the_formula(n_arms, speed):
    horizon = 3000
    problem = um.problems.drifting_line(n_arms, horizon, speed)
    assert problem.check() and problem.begins[-1] <= horizon
    for now in range(1, horizon + 1, 7):
        way = (now - 1) * speed % (2 * (n_arms - 1))
        peak = way if way <= n_arms - 1 else 2 * (n_arms - 1) - way
        exact = (n_arms - 1 - np.abs(peak - np.arange(n_arms))) / n_arms
        off = np.abs(problem.at(now).means - exact).max()
        assert off <= 0.5 / 9 / n_arms + 1e-9  # steps of a ninth: at most half of one off


def test_the_first_rounds_of_a_drift_by_hand():
    """Three arms, a ninth of an arm a round: at the second arm in round 10, at the third in 19."""
    problem = um.problems.drifting_line(3, 40, 1 / 9)
    assert problem.begins.tolist() == list(range(1, 41))
    for now, ninths in ((1, 0), (4, 3), (10, 9), (19, 18), (20, 17), (37, 0), (38, 1)):
        expected = [(2 - abs(ninths / 9 - arm)) / 3 for arm in range(3)]
        assert problem.at(now).means == pytest.approx(np.maximum(expected, 0)), now


@pytest.mark.parametrize("speed", [0.01, 0.001])
def test_a_drift_has_its_speed(speed):
    """A step of a ninth begins where the way is half a step further: after (n - ½)/(9·speed)."""
    problem = um.problems.drifting_line(4, 4000, speed)
    for number, begin in enumerate(problem.begins.tolist()[1:20], start=1):
        assert begin == pytest.approx((number - 0.5) / (9 * speed) + 1, abs=1)
        expected = [(3 - abs(number / 9 - arm)) / 4 for arm in range(4)]
        assert problem.means_by_piece[number] == pytest.approx(np.maximum(expected, 0))
    assert len(problem.begins) == round(3999 * speed * 9) + 1


def moves_of(problem):
    """How often the peak went from one arm to another."""
    peaks = problem.means_by_piece.argmax(axis=1)
    counts = np.zeros((problem.graph.n_arms, problem.graph.n_arms))
    np.add.at(counts, (peaks[:-1], peaks[1:]), 1)
    return counts


def chances(counts, allowed):
    """The p-value of moves that are all equally likely among those allowed."""
    expected = counts.sum(axis=1, keepdims=True) * allowed / allowed.sum(axis=1, keepdims=True)
    assert counts[~allowed].sum() == 0
    statistic = ((counts - expected)[allowed] ** 2 / expected[allowed]).sum()
    return stats.chi2.sf(statistic, (allowed.sum(axis=1) - 1).sum())


def test_peaks_jump_to_any_other_arm_and_wander_to_any_neighbour_with_the_same_probability():
    """3,000 moves each on a grid; false alarms: 1 in 10,000 each."""
    grid = um.graphs.grid(2, 3)
    others = ~np.eye(6, dtype=bool)
    near = grid.to_scipy().toarray().astype(bool)
    jumping = um.problems.jumping_peak(grid, 3000, every=1, seed=11)
    wandering = um.problems.wandering_peak(grid, 3000, every=1, seed=11)
    assert chances(moves_of(jumping), others) > 1e-4
    assert chances(moves_of(wandering), near) > 1e-4


@pytest.mark.parametrize("make", [um.problems.jumping_peak, um.problems.wandering_peak])
def test_a_peak_begins_anywhere_and_has_the_means_of_by_distance(make):
    line = um.graphs.line(7)
    first = [make(line, 100, every=50, seed=seed).best_arm for seed in range(40)]
    assert first == [um.problems.random_peak(line, seed) for seed in range(40)]
    problem = make(line, 100, every=40, seed=3, high=0.7, low=0.2)
    assert problem.begins.tolist() == [1, 41, 81]
    for means in problem.means_by_piece:
        away = np.abs(np.arange(7) - means.argmax())
        assert means == pytest.approx(0.7 - 0.5 * away / away.max())


def test_a_jumping_peak_never_stays_and_a_wandering_one_walks():
    grid = um.graphs.grid(4, 5)
    jumping = um.problems.jumping_peak(grid, 5000, every=100, seed=3)
    wandering = um.problems.wandering_peak(grid, 5000, every=100, seed=3)
    assert jumping.check() and wandering.check()
    peaks = jumping.means_by_piece.argmax(axis=1)
    assert len(peaks) == 50 and (np.diff(peaks) != 0).all()
    walk = wandering.means_by_piece.argmax(axis=1).tolist()
    assert all(b in grid.neighbors(a) for a, b in itertools.pairwise(walk))
    assert len(set(walk)) > 5


def test_the_seed_decides_the_way():
    line = um.graphs.line(9)
    one, two, other = (um.problems.jumping_peak(line, 900, 100, seed=s) for s in (1, 1, 2))
    assert (one.means_by_piece == two.means_by_piece).all()
    assert (one.means_by_piece != other.means_by_piece).any()


def test_pieces_end_where_the_next_begin():
    problem = um.Moving(um.graphs.line(2), [1, 11], [[0.9, 0.1], [0.2, 0.6]])
    assert [problem.at(now).best_arm for now in (1, 10, 11, 10**6)] == [0, 0, 1, 1]
    assert problem.gaps_by_piece == pytest.approx(np.array([[0, 0.8], [0.4, 0]]))
    assert problem.best_arm == 0 and problem.gaps == pytest.approx([0, 0.8])
    assert problem.at(11).means.tolist() == [0.2, 0.6]
    assert np.isnan(problem.lower_bound)


def test_data_gives_the_problem_again():
    problem = um.problems.drifting_line(5, 1000, 0.01, family=um.Gaussian(0.5))
    again = from_data(problem.to_data())
    assert repr(again) == repr(problem) and (again.begins == problem.begins).all()
    assert (again.means_by_piece == problem.means_by_piece).all()
    still = um.problems.triangular(5)
    assert repr(from_data(still.to_data())) == repr(still)


def test_check_names_the_round_in_which_there_are_two_peaks():
    problem = um.Moving(um.graphs.line(3), [1, 8], [[0.1, 0.5, 0.2], [0.5, 0.1, 0.4]])
    assert not problem.check()
    assert str(problem.check()).startswith(
        "from round 8 on the means are not unimodal: no path climbs from"
    )


LINE = um.graphs.line(3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: um.Moving(LINE, [2], [[0.1, 0.2, 0.3]]), "increasing rounds, the first 1"),
        (lambda: um.Moving(LINE, [1, 1], [[0.1, 0.2, 0.3]] * 2), "increasing rounds, the first 1"),
        (lambda: um.Moving(LINE, [1, 5], [[0.1, 0.2, 0.3]]), "one for each of the 2 rounds"),
        (lambda: um.Moving(LINE, [1], [[0.1, 0.2]]), "one for each of the 3 arms"),
        (lambda: um.Moving(LINE, [1], [[0.1, 0.2, 1.3]]), "between 0 and 1"),
        (lambda: um.Moving(LINE, 1, [[0.1, 0.2, 0.3]]), "'begins' of Moving must be"),
        (lambda: um.problems.drifting_line(5, 100, 0.5), "at most 1/9"),
        (lambda: um.problems.drifting_line(5, 100, 0), "greater than 0"),
        (lambda: um.Moving(LINE, [1, 10**19], [[0.1, 0.2, 0.3]] * 2), "must be at most 1e.15"),
        (lambda: um.problems.drifting_line(5, 10**12, 0.1), "pieces of 5 arms: let the peak move"),
        (lambda: um.problems.jumping_peak(LINE, 10**12, 2), "pieces of 3 arms: let the peak move"),
        (lambda: um.problems.jumping_peak("line", 100, 10), "must be a Graph"),
        (lambda: um.problems.wandering_peak(LINE, 100, 0), "'every' of wandering_peak"),
    ],
)
def test_mistakes_are_refused_in_a_sentence(make, message):
    with pytest.raises(UnimodalError, match=message):
        make()
