"""Means with one peak: their formulas, and that the check finds one peak in each."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unimodal as um
from unimodal import graphs
from unimodal.errors import UnimodalError
from unimodal.problems import by_distance, random_peak, rank_one, smooth_peak, triangular

law = settings(max_examples=50)


@st.composite
def places(draw):
    """A graph of every fixed kind and of two random ones, in a random size, and an arm of it."""
    small = st.integers(1, 6)
    graph = draw(
        st.one_of(
            st.builds(graphs.line, st.integers(2, 60)),
            st.builds(graphs.complete, st.integers(2, 20)),
            st.builds(graphs.star, st.integers(2, 60)),
            st.builds(graphs.binary_tree, st.integers(2, 60)),
            st.builds(graphs.hypercube, st.integers(1, 6)),
            st.builds(graphs.torus, small, st.integers(2, 8)),
            st.builds(graphs.rank_one, small, st.integers(2, 8)),
            st.builds(graphs.lattice, small, small, st.integers(2, 6), wrap=st.booleans()),
            st.builds(graphs.erdos_renyi, st.integers(2, 20), st.just(0.4), st.integers(0, 1000)),
            st.builds(graphs.barabasi_albert, st.integers(3, 60), st.just(2), st.integers(0, 1000)),
        )
    )
    return graph, draw(st.integers(0, graph.n_arms - 1))


@pytest.mark.parametrize(("n_arms", "step"), [(17, 0.1), (129, 0.0125)])
def test_the_papers_lines_rise_by_even_steps_to_the_middle_and_fall_again(n_arms, step):
    problem = triangular(n_arms)
    middle = n_arms // 2
    assert problem.best_arm == middle
    assert problem.means.max() == 0.9
    assert problem.means[0] == problem.means[-1] == 0.1
    assert np.diff(problem.means) == pytest.approx([step] * middle + [-step] * middle)
    assert problem.check()


@law
@given(st.integers(2, 200), st.floats(0.5, 1.0), st.floats(0.0, 0.4))
def test_the_triangular_line_is_by_distance_on_a_line(n_arms, high, low):
    searched = by_distance(graphs.line(n_arms), high=high, low=low)
    assert triangular(n_arms, high, low).means.tolist() == searched.means.tolist()


@settings(max_examples=50)
@given(st.integers(0, 1000), st.integers(2, 20), st.floats(0.5, 1.0), st.floats(0.0, 0.4))
def test_by_distance_is_its_formula_and_unimodal(seed, n_arms, high, low):
    graph = graphs.erdos_renyi(n_arms, 0.4, seed=seed)
    peak = random_peak(graph, seed)
    problem = by_distance(graph, peak, high, low)
    steps = graph.distances(peak)
    expected = high - steps * (high - low) / steps.max()
    assert problem.means == pytest.approx(expected, abs=1e-12)
    assert problem.means[peak] == high
    assert problem.means.min() == low
    assert problem.best_arm == peak
    assert problem.check()


def test_by_distance_on_a_tree_by_hand():
    """Arm 1 of a binary tree of seven: its children and its parent are one step away, 2 two."""
    problem = by_distance(graphs.binary_tree(7), 1, high=0.8, low=0.2)
    assert problem.means == pytest.approx([0.6, 0.8, 0.4, 0.6, 0.6, 0.2, 0.2])
    assert by_distance(graphs.line(6)).best_arm == triangular(6).best_arm == 3  # the middle


def test_by_distance_takes_a_label_and_a_family():
    graph = graphs.from_edges([("cheap", "fair"), ("fair", "dear")])
    problem = by_distance(graph, "cheap", high=5, low=1, family=um.Poisson())
    assert problem.means.tolist() == [5.0, 3.0, 1.0]
    assert problem.family == um.Poisson()


def test_a_random_peak_is_drawn_evenly_and_from_its_seed():
    """Chi-square by hand: 5 arms, 2,000 seeds; 23.5 is exceeded by 1 seed range in 10,000."""
    graph = graphs.line(5)
    peaks = [random_peak(graph, seed) for seed in range(2000)]
    counts = np.bincount(peaks, minlength=5)
    assert len(counts) == 5
    assert ((counts - 400) ** 2 / 400).sum() < 23.5
    assert peaks == [random_peak(graph, seed) for seed in range(2000)]


@law
@given(places())
def test_by_distance_has_one_peak_on_every_graph(place):
    graph, peak = place
    problem = by_distance(graph, graph.label_of(peak))
    assert problem.best_arm == peak
    assert problem.check()


@settings(max_examples=150)
@given(places(), st.floats(0.5, 1.0), st.floats(0.0, 0.4), st.floats(0.15, 4.0))
def test_a_smooth_peak_is_a_bell_and_unimodal(place, high, low, share):
    """Widths from a seventh of the largest distance up, where neighbours' means still differ."""
    graph, peak = place
    steps = graph.distances(peak)
    width = share * steps.max()
    problem = smooth_peak(graph, graph.label_of(peak), high, low, width=width)
    expected = [low + (high - low) * math.exp(-((d / width) ** 2) / 2) for d in steps]
    assert problem.means == pytest.approx(expected, abs=1e-12)
    assert problem.best_arm == peak
    assert problem.means[peak] == high
    assert low <= problem.means.min()
    assert problem.check()


@law
@given(places())
def test_a_smooth_peak_is_three_widths_wide_by_default(place):
    graph, peak = place
    problem = smooth_peak(graph, graph.label_of(peak))
    assert problem.check()
    assert problem.means.min() == pytest.approx(0.1 + 0.8 * math.exp(-4.5))


@law
@given(places(), st.floats(1e-3, 1e9))
def test_a_smooth_peak_is_refused_just_where_the_floats_cannot_tell_neighbours_apart(place, width):
    graph, peak = place
    steps = graph.distances(peak)
    levels = 0.1 + 0.8 * np.exp(-((np.arange(steps.max() + 1) / width) ** 2) / 2)
    levels[0] = 0.9
    unimodal = um.Problem(graph, levels[steps]).check()
    try:
        made = smooth_peak(graph, graph.label_of(peak), width=width)
    except UnimodalError as error:
        assert not unimodal
        assert "must fall with every step from the peak" in str(error)
    else:
        assert unimodal and made.check()


def test_a_smooth_peak_takes_the_middle_arm_and_a_family():
    problem = smooth_peak(graphs.line(5), high=5, low=1, width=2, family=um.Poisson())
    assert problem.best_arm == 2
    bell = [1 + 4 * math.exp(-1 / 2), 1 + 4 * math.exp(-1 / 8)]
    assert problem.means == pytest.approx([bell[0], bell[1], 5, bell[1], bell[0]])
    assert problem.family == um.Poisson()


@pytest.mark.full
def test_a_smooth_peak_on_a_million_arms_has_one_peak():
    assert smooth_peak(graphs.lattice(100, 100, 100), 0).check()
    assert smooth_peak(graphs.line(1_000_000)).check()


# Few values, whose products are exact, so that ties and zeros are common.
vectors = st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=1, max_size=5)


@settings(max_examples=400)
@given(vectors, vectors.filter(lambda v: len(v) > 1))
def test_rank_one_has_one_peak_just_where_the_theory_says(u, v):
    """One largest entry in each, above 0, and zeros in at most one of them."""
    tops = all(max(x) > 0 and x.count(max(x)) == 1 for x in (u, v))
    zeros_in_both = min(u) == min(v) == 0
    if not tops or zeros_in_both:
        with pytest.raises(UnimodalError, match=r"must give one peak, but .* climbs from .*\.$"):
            rank_one(u, v)
        return
    problem = rank_one(u, v)
    assert problem.check()
    assert problem.graph == graphs.rank_one(len(u), len(v))
    best = (u.index(max(u)), v.index(max(v)))
    assert problem.graph.label_of(problem.best_arm) == best
    for arm, (i, j) in enumerate(problem.graph.labels):
        assert problem.means[arm] == u[i] * v[j]


@law
@given(st.integers(1, 20), st.integers(2, 20), st.integers(0, 1000))
def test_rank_one_of_random_vectors_has_one_peak(rows, columns, seed):
    rng = np.random.default_rng(seed)
    problem = rank_one(rng.random(rows), rng.random(columns))
    assert problem.check()


def test_rank_one_takes_a_family_and_what_is_negative_if_it_has_one_peak():
    problem = rank_one([1, 2], [-3, -1], um.Gaussian(0.5))
    assert problem.means.tolist() == [-3.0, -1.0, -6.0, -2.0]
    assert problem.graph.label_of(problem.best_arm) == (0, 1)
    assert problem.family == um.Gaussian(0.5)


@pytest.mark.parametrize(
    "problem", [smooth_peak(graphs.torus(3, 4)), rank_one([0.2, 0.9], [0.5, 0.8])], ids=str
)
def test_these_problems_come_back_from_json(problem):
    again = um.Problem.from_data(json.loads(json.dumps(problem.to_data())))
    assert again.graph == problem.graph
    assert again.means.tolist() == problem.means.tolist()


LINE, LONG = graphs.line(3), graphs.line(201)
BAD = [
    (lambda: by_distance("line:3"), "'graph' of by_distance must be a Graph .* got 'line:3'"),
    (lambda: by_distance(LINE, 3), "a whole number from 0 to 2, got 3"),
    (lambda: by_distance(LINE, high=0.1, low=0.9), "'low' must be smaller than 'high'"),
    (lambda: by_distance(LINE, high=math.nan), "'high' of by_distance must be a finite number"),
    (lambda: by_distance(LINE, high=1.5), "between 0 and 1, got 1.5 for arm 1"),
    (lambda: triangular(1), "'n_arms' of line must be .* at least 2, got 1"),
    (lambda: random_peak("line:3"), "'graph' of random_peak must be a Graph .* got 'line:3'"),
    (lambda: random_peak(LINE, -1), "'seed' must be .* at least 0, got -1"),
    (lambda: smooth_peak("line:3"), "'graph' of smooth_peak must be a Graph .* got 'line:3'"),
    (lambda: smooth_peak(LINE, 3), "a whole number from 0 to 2, got 3"),
    (lambda: smooth_peak(LINE, high=0.1, low=0.9), "'low' must be smaller than 'high'"),
    (lambda: smooth_peak(LINE, high=1.5), "between 0 and 1, got 1.5 for arm 1"),
    (lambda: smooth_peak(LINE, width=0), "'width' of smooth_peak .* greater than 0, got 0"),
    (lambda: smooth_peak(LINE, width="wide"), "'width' of smooth_peak .* got 'wide'"),
    (
        lambda: smooth_peak(LONG, width=2),  # 0.8·exp(-9²/2) is less than half of 0.1's last digit
        "got 0.9 to 0.1 with width=2, where they are the same 18 and 19 steps away: take a width "
        "nearer to 33.3333, or",
    ),
    (lambda: smooth_peak(LONG, width=1e-200), "the same 1 and 2 steps away: take a width nearer"),
    (lambda: smooth_peak(LONG, width=1e9), "the same 0 and 1 steps away: take a width nearer to"),
    (lambda: rank_one([0.5, 0.5], [0.2, 0.1]), r"but .* climbs from arm \(1, 0\) \(mean 0.1\)"),
    (lambda: rank_one([-1, 1], [-1, 1], um.Gaussian(1)), r"climbs from arm \(1, 1\) \(mean 1\)"),
    (lambda: rank_one([0.5], [0.2]), "at least 2 arms, got 1 x 1"),
    (lambda: rank_one([], [0.2]), r"'u' of rank_one must be a list of finite numbers, got \[\]"),
    (lambda: rank_one(0.5, [0.2]), "'u' of rank_one .* got 0.5"),
    (lambda: rank_one([0.5], [[0.2]]), r"'v' of rank_one .* got \[\[0.2\]\]"),
    (lambda: rank_one([0.5], "high"), "'v' of rank_one .* got 'high'"),
    (lambda: rank_one([0.5], [0.1, math.nan]), r"'v' of rank_one .* got \[0.1, nan\]"),
    (lambda: rank_one([2], [0.9, 0.1]), "between 0 and 1, got 1.8 for arm 0"),
    (lambda: rank_one([1e200], [1e200, 1], um.Gaussian(1)), "got inf for arm 0"),
]


@pytest.mark.parametrize(("make", "sentence"), BAD)
def test_bad_input_is_refused_in_a_sentence(make, sentence):
    with pytest.raises(UnimodalError, match=sentence) as caught:
        make()
    assert str(caught.value).endswith(".")
