import networkx
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from unimodal import graphs
from unimodal.errors import UnimodalError
from unimodal.graphs import from_edges, from_networkx, from_scipy

seeds = st.integers(0, 10_000)


@settings(max_examples=50)
@given(seeds, st.integers(2, 30))
def test_networkx_edges_and_scipy_all_give_the_same_graph(seed, n_arms):
    tree = networkx.from_prufer_sequence(
        np.random.default_rng(seed).integers(0, n_arms, n_arms - 2).tolist()
    )
    graph = from_networkx(tree)
    assert graph.n_edges == n_arms - 1
    assert list(graph.labels) == sorted(tree.nodes) and not graph.has_labels
    assert graph == from_edges(tree.edges)
    assert graph == from_scipy(networkx.to_scipy_sparse_array(tree, nodelist=range(n_arms)))
    assert graph == from_scipy(graph.to_scipy())
    assert graph == from_edges(graph.edges())
    assert networkx.utils.graphs_equal(networkx.Graph(graph.edges().tolist()), tree)


def test_nodes_of_networkx_that_are_not_numbers_from_zero_become_labels():
    graph = from_networkx(networkx.grid_2d_graph(2, 3))
    assert graph.labels == ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2))
    assert graph.near(graph.arm_of((0, 1))).tolist() == [1, 0, 2, 4]


def test_numbered_nodes_of_networkx_keep_their_numbers_in_whatever_order_they_stand():
    shuffled = networkx.Graph([(2, 1), (1, 0)])
    assert list(shuffled.nodes) == [2, 1, 0]
    assert from_networkx(shuffled) == graphs.line(3)


def test_labels_are_numbered_as_they_first_appear_or_as_they_are_listed():
    edges = [("b", "c"), ("a", "b")]
    assert from_edges(edges).labels == ("b", "c", "a")
    listed = from_edges(edges, labels=["a", "b", "c"])
    assert listed.labels == ("a", "b", "c")
    assert listed.edges().tolist() == [[0, 1], [1, 2]]


def test_edges_may_come_from_a_generator_or_an_array():
    assert from_edges((a, a + 1) for a in range(4)) == graphs.line(5)
    assert from_edges(np.array([[0, 1], [2, 1]], dtype=np.uint8)) == graphs.line(3)


def test_labels_of_numpy_become_pythons():
    graph = from_edges(np.array([[-1, 0], [0, 1]]))
    assert [type(label) for label in graph.labels] == [int, int, int]
    assert graph.labels == (-1, 0, 1)


def test_scipy_weights_do_not_count_and_the_matrix_is_left_alone():
    matrix = scipy.sparse.coo_array(
        ([2.0, 0.5, 0.0, 3.0, 3.0], ([0, 1, 0, 1, 2], [1, 0, 2, 2, 1])), shape=(3, 3)
    )
    assert from_scipy(matrix) == graphs.line(3)
    assert matrix.nnz == 5


def test_a_dense_matrix_and_labels_will_do():
    graph = from_scipy(np.array([[0, 1], [1, 0]]), labels=["a", "b"])
    assert graph.labels == ("a", "b")


BAD = [
    (lambda: from_edges([]), "at least one edge, got none"),
    (lambda: from_edges(5), "the edges must be pairs of arms, got 5"),
    (lambda: from_edges([(0, 1), (1, 2, 3)]), r"edge 1 must be a pair of arms, got \(1, 2, 3\)"),
    (lambda: from_edges(["ab"]), "edge 0 must be a pair of arms, got 'ab'"),
    (lambda: from_edges(np.array([0, 1])), "edge 0 must be a pair of arms"),
    (lambda: from_edges([(0, 1), (1, 1)]), "two different arms, got a self-loop at arm 1: leave"),
    (lambda: from_edges([("a", "b"), ("b", "b")]), "a self-loop at arm 'b'"),
    (lambda: from_edges([(0, 1), (1, 2), (0, 1)]), "given once, got 0 - 1 twice"),
    (lambda: from_edges([(0, 1), (1, 2), (1, 0)]), "given once, got 0 - 1 twice .*order"),
    (lambda: from_edges([("a", "b"), ("b", "a")]), "got 'a' - 'b' twice"),
    (
        lambda: from_edges([(0, 1), (2, 3), (3, 4)]),
        r"connected, got 2 pieces \(no path from arm 0 to arm 2\): add edges",
    ),
    (
        lambda: from_edges([("a", "b"), ("c", "d")]),
        r"connected, got 2 pieces \(no path from arm 'a' to arm 'c'\)",
    ),
    (lambda: from_edges([(0, 1), (1, 3)]), "none left out, got 3 but no edge of 2: number them"),
    (lambda: from_edges([(0, 1), (1, 10**15)]), "none left out, got 10{15} but no edge of 2"),
    (lambda: from_edges([(0, 1), (1, 10**30)]), "none left out, got 10{30} but no edge of 2"),
    (lambda: from_edges([("a", "z")], labels=["a", "b"]), "edge 0 names 'z', .* not in the labels"),
    (lambda: from_edges([("a", "b")], labels=["a", "b", "a"]), "differ .* got 'a' twice"),
    (lambda: from_edges([("a", "b")], labels=["a", "b", "c"]), "connected, got 2 pieces"),
    (lambda: from_edges([("a", ["b"])]), r"must be hashable .* got \['b'\] in edge 0"),
    (lambda: from_edges([("a", None)]), "a label must be text, a number or a tuple, got None"),
    (lambda: from_edges([("a", float("nan"))]), "a label must be text, .* got nan"),
    (lambda: from_edges([("a", "b")], labels=["a", ["b"]]), r"must be hashable .* got \['b'\]"),
    (lambda: from_networkx(networkx.DiGraph([(0, 1)])), "undirected, got a directed one: call"),
    (lambda: from_networkx(networkx.Graph([(0, 1), (2, 3)])), "connected, got 2 pieces"),
    (lambda: from_networkx(networkx.Graph([(0, 1), (1, 1)])), "self-loop at arm 1"),
    (lambda: from_networkx(networkx.MultiGraph([(0, 1), (0, 1)])), "got 0 - 1 twice"),
    (lambda: from_networkx(networkx.empty_graph(1)), "at least 2 arms, got 1"),
    (lambda: from_networkx(networkx.empty_graph(2)), "connected, got 2 pieces"),
    (lambda: from_networkx("line"), "must be given a NetworkX graph, got 'line'"),
    (lambda: from_scipy(np.array([[0, 1], [0, 0]])), "symmetric, got one that is not"),
    (lambda: from_scipy(np.ones((2, 3))), r"square, got shape \(2, 3\)"),
    (lambda: from_scipy(np.ones((2, 2))), "self-loop at arm 0"),
    (lambda: from_scipy(np.zeros((3, 3))), "connected, got 3 pieces"),
    (lambda: from_scipy("matrix"), "a SciPy sparse matrix of numbers, got 'matrix'"),
    (lambda: from_scipy(np.zeros((3, 3)), labels=["a"]), "one for each of the 3 arms, got 1"),
]


@pytest.mark.parametrize(("make", "sentence"), BAD)
def test_a_bad_graph_is_refused_in_a_sentence(make, sentence):
    with pytest.raises(UnimodalError, match=sentence) as caught:
        make()
    assert str(caught.value).endswith((".", "…."))
    assert "\n" not in str(caught.value)
