import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csgraph

from unimodal import graphs
from unimodal.errors import UnimodalError
from unimodal.graphs import from_edges


@st.composite
def connected_edges(draw):
    """A random tree with some more edges: what any graph of ours may be."""
    n_arms = draw(st.integers(2, 12))
    tree = [(draw(st.integers(0, arm - 1)), arm) for arm in range(1, n_arms)]
    pairs = [(a, b) for b in range(n_arms) for a in range(b)]
    return n_arms, sorted(set(tree) | draw(st.sets(st.sampled_from(pairs))))


@given(connected_edges(), st.randoms(use_true_random=False))
def test_rows_say_what_the_edges_said_in_whatever_order_they_came(made, shuffler):
    n_arms, edges = made
    mixed = [pair[:: shuffler.choice([1, -1])] for pair in edges]
    shuffler.shuffle(mixed)
    graph = from_edges(mixed)
    assert graph.n_arms == n_arms
    assert graph.n_edges == len(edges)
    assert [tuple(edge) for edge in graph.edges().tolist()] == edges
    for arm in range(n_arms):
        neighbours = sorted({a + b - arm for a, b in edges if arm in (a, b)})
        assert graph.near(arm).tolist() == [arm, *neighbours]
        assert graph.neighbors(arm).tolist() == neighbours
        assert graph.degrees[arm] == len(neighbours)
    assert graph.max_degree == max(graph.degrees)
    assert graph == from_edges(edges)
    assert hash(graph) == hash(from_edges(edges))


@given(connected_edges())
def test_distances_are_those_of_floyd_and_warshall(made):
    graph = from_edges(made[1])
    table = csgraph.floyd_warshall(graph.to_scipy(), unweighted=True)
    for arm in range(graph.n_arms):
        found = graph.distances(arm)
        assert found.dtype == np.int64
        assert found.tolist() == table[arm].tolist()


def test_the_adjacency_matrix_is_symmetric_with_an_empty_diagonal():
    graph = graphs.grid(3, 4)
    dense = graph.to_scipy().toarray()
    assert (dense == dense.T).all()
    assert dense.trace() == 0
    assert dense.sum() == 2 * graph.n_edges


def test_graphs_are_equal_by_edges_and_labels_not_by_how_they_were_made():
    assert graphs.line(3) == from_edges([(1, 2), (1, 0)])
    assert graphs.line(3) == graphs.grid(1, 3)
    assert graphs.line(3) != graphs.complete(3)
    assert graphs.line(2) != from_edges([("a", "b")])
    assert from_edges([("a", "b")]) != from_edges([("b", "a")])
    assert graphs.line(3) != "line:3"


@pytest.mark.parametrize("part", ["rows", "near_rows", "degrees"])
def test_the_arrays_of_a_graph_cannot_be_written(part):
    graph = graphs.line(4)
    with pytest.raises(ValueError, match="read-only"):
        getattr(graph, part)[0] = 3
    with pytest.raises(ValueError, match="read-only"):
        graph.near(1)[0] = 3


@pytest.mark.parametrize("part", ["n_arms", "n_edges", "labels", "recipe", "rows", "near_rows"])
def test_the_parts_of_a_graph_cannot_be_replaced(part):
    with pytest.raises(AttributeError):
        setattr(graphs.line(4), part, None)


def test_a_change_of_the_recipe_that_was_handed_out_does_not_reach_the_graph():
    graph = graphs.line(4)
    graph.recipe["n_arms"] = 9
    assert graph.recipe == {"kind": "line", "n_arms": 4}


@pytest.mark.parametrize("arm", [-1, 5, 2.0, "2", None])
@pytest.mark.parametrize("method", ["near", "neighbors", "distances", "label_of", "arm_of"])
def test_an_arm_out_of_range_is_refused_in_a_sentence(method, arm):
    with pytest.raises(UnimodalError, match=r"a whole number from 0 to 4, got .*\.$"):
        getattr(graphs.line(5), method)(arm)


def test_numpy_numbers_are_arms_too():
    assert graphs.line(5).near(np.int32(2)).tolist() == [2, 1, 3]


def test_labels_and_indices_translate_both_ways():
    graph = from_edges([("cheap", "fair"), ("fair", "dear")])
    assert [graph.arm_of(label) for label in graph.labels] == [0, 1, 2]
    assert [graph.label_of(arm) for arm in range(3)] == ["cheap", "fair", "dear"]
    assert graphs.line(3).arm_of(2) == graphs.line(3).label_of(2) == 2
    assert graphs.line(3).labels == range(3)


@pytest.mark.parametrize("label", ["free", 0, ["cheap"]])
def test_an_unknown_label_is_answered_with_the_first_known_ones(label):
    graph = from_edges([("cheap", "fair")])
    with pytest.raises(UnimodalError, match=r"called .*; its labels begin with 'cheap', 'fair'\.$"):
        graph.arm_of(label)


def test_three_labels_are_enough_to_remember_the_others():
    graph = from_edges([("a", "b"), ("b", "c"), ("c", "d")])
    with pytest.raises(UnimodalError, match=r"called 'x'; its labels begin with 'a', 'b', 'c'\.$"):
        graph.arm_of("x")


def test_a_graph_prints_what_made_it_and_its_size():
    assert repr(graphs.line(2000)) == "Graph(line, 2,000 arms, 1,999 edges)"
