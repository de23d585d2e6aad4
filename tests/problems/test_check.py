"""Whether means are unimodal on a graph (Def. 1), against a search for climbing paths."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import unimodal as um
from unimodal import graphs


def climbs(graph, means, arm, goal):
    """Whether some path from `arm` to `goal` has strictly increasing means, by trying them all."""
    return arm == goal or any(
        climbs(graph, means, other, goal)
        for other in graph.neighbors(arm)
        if means[other] > means[arm]
    )


@st.composite
def problems(draw):
    """Small graphs with means on a coarse grid, so that plateaus and equal maxima are common."""
    n_arms = draw(st.integers(2, 8))
    tree = {(draw(st.integers(0, arm - 1)), arm) for arm in range(1, n_arms)}
    pairs = [(a, b) for b in range(n_arms) for a in range(b)]
    edges = tree | draw(st.sets(st.sampled_from(pairs), max_size=6))
    level = st.sampled_from([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    means = draw(st.lists(level, min_size=n_arms, max_size=n_arms))
    return um.Problem(graphs.from_edges(sorted(edges)), means)


@settings(max_examples=300)
@given(problems())
@example(um.Problem(graphs.line(3), [0.2, 0.2, 0.4]))
@example(um.Problem(graphs.line(3), [0.4, 0.2, 0.4]))
@example(um.Problem(graphs.line(2), [0.4, 0.4]))
def test_the_check_agrees_with_a_search_for_climbing_paths(problem):
    graph, means = problem.graph, problem.means
    goal = problem.best_arm
    expected = all(climbs(graph, means, arm, goal) for arm in range(graph.n_arms))
    found = problem.check()
    assert bool(found) == expected
    if not expected:
        neighbours = graph.neighbors(found.stuck)
        assert found.stuck != goal
        assert means[found.stuck] >= means[neighbours].max()  # nowhere to climb to
        assert found.best_neighbour in neighbours
        assert means[found.best_neighbour] == means[neighbours].max()


SENTENCES = [
    (
        [0.5, 0.1, 0.2, 0.9],
        "the means are not unimodal: no path climbs from arm 0 (mean 0.5), "
        "whose best neighbour 1 has mean 0.1.",
    ),
    (
        [0.1, 0.3, 0.3, 0.9],  # a plateau on the way up: arm 2 climbs, arm 1 stands still
        "the means are not unimodal: no path climbs from arm 1 (mean 0.3), "
        "whose best neighbour 2 has mean 0.3.",
    ),
    (
        [0.9, 0.1, 0.2, 0.9],  # two best arms
        "the means are not unimodal: no path climbs from arm 3 (mean 0.9), "
        "whose best neighbour 2 has mean 0.2.",
    ),
    (
        [0.1, 0.2, 0.9, 0.3],
        "the means are unimodal: from every arm a path of neighbours climbs to arm 2.",
    ),
]


@pytest.mark.parametrize(("means", "sentence"), SENTENCES)
def test_the_check_says_who_is_stuck_and_what_is_next_to_it(means, sentence):
    found = um.Problem(graphs.line(4), means).check()
    assert str(found) == sentence
    assert bool(found) == (found.stuck is None)


def test_the_check_speaks_of_arms_by_their_labels():
    graph = graphs.from_edges([("a", "b"), ("b", "c")])
    found = um.Problem(graph, [0.5, 0.1, 0.9]).check()
    assert (found.stuck, found.best_neighbour) == ("a", "b")
    assert "arm 'a' (mean 0.5), whose best neighbour 'b'" in str(found)
