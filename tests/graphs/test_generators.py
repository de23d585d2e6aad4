"""The fixed graphs against NetworkX, and the random ones as far as chance has no say."""

import networkx
import numpy as np
import pytest

from unimodal.errors import UnimodalError
from unimodal.graphs import barabasi_albert, complete, erdos_renyi, grid, line
from unimodal.graphs.generators import _pair


def as_networkx(graph):
    made = networkx.Graph(graph.edges().tolist())
    made.add_nodes_from(range(graph.n_arms))
    return made


FIXED = [
    (line(2), networkx.path_graph(2)),
    (line(17), networkx.path_graph(17)),
    (complete(2), networkx.complete_graph(2)),
    (complete(9), networkx.complete_graph(9)),
    (grid(1, 5), networkx.path_graph(5)),
    (grid(4, 1), networkx.path_graph(4)),
    (grid(3, 5), networkx.convert_node_labels_to_integers(networkx.grid_2d_graph(3, 5))),
]


@pytest.mark.parametrize(("graph", "expected"), FIXED, ids=lambda g: str(g))
def test_a_fixed_graph_has_networkxs_edges_degrees_and_shortest_paths(graph, expected):
    found = as_networkx(graph)
    assert networkx.utils.graphs_equal(found, expected)
    assert graph.degrees.tolist() == [expected.degree[arm] for arm in range(graph.n_arms)]
    for arm, steps in networkx.shortest_path_length(expected):
        assert graph.distances(arm).tolist() == [steps[other] for other in range(graph.n_arms)]


RANDOM = [
    lambda seed: erdos_renyi(30, 0.15, seed=seed),
    lambda seed: erdos_renyi(5, 0.05, seed=seed),
    lambda seed: barabasi_albert(40, 1, seed=seed),
    lambda seed: barabasi_albert(40, 3, seed=seed),
]


@pytest.mark.parametrize("make", RANDOM)
def test_a_random_graph_is_sound_and_a_matter_of_its_seed(make):
    made = [make(seed) for seed in range(8)]
    for seed, graph in enumerate(made):
        found = as_networkx(graph)
        assert networkx.is_connected(found)
        assert networkx.number_of_selfloops(found) == 0
        assert found.number_of_edges() == graph.n_edges
        expected = networkx.single_source_shortest_path_length(found, 0)
        assert graph.distances(0).tolist() == [expected[arm] for arm in range(graph.n_arms)]
        assert graph == make(seed)
        assert graph.recipe["seed"] == seed
    assert len(set(made)) > 4


def test_pairs_are_numbered_without_gaps():
    tails, heads = _pair(np.arange(45))
    expected = [(a, b) for b in range(10) for a in range(b)]
    assert list(zip(tails.tolist(), heads.tolist(), strict=True)) == expected


@pytest.mark.parametrize("high", [10**3, 10**5, 10**6, 3 * 10**6 + 1])
def test_pairs_are_right_where_the_square_root_rounds(high):
    first = high * (high - 1) // 2
    tails, heads = _pair(np.array([first - 1, first, first + high - 1, first + high]))
    assert tails.tolist() == [high - 2, 0, high - 1, 0]
    assert heads.tolist() == [high - 1, high, high, high + 1]


def test_erdos_renyi_with_certainty_is_complete():
    assert erdos_renyi(6, 1) == complete(6)


def test_erdos_renyi_gives_up_with_advice_where_no_patience_helps():
    with pytest.raises(UnimodalError, match=r"none of 50 graphs .*: take p nearer to log\(K\)/K"):
        erdos_renyi(100, 0.001, tries=50)


@pytest.mark.parametrize("m", [1, 2, 4])
def test_barabasi_albert_grows_a_complete_core_by_m_edges_an_arm(m):
    graph = barabasi_albert(60, m, seed=1)
    core = range(m + 1)
    assert all(set(core) <= set(graph.near(arm).tolist()) for arm in core)
    for arm in range(m + 1, 60):
        assert sum(other < arm for other in graph.neighbours(arm)) == m
    assert graph.n_edges == m * (m + 1) // 2 + m * (60 - m - 1)


def test_barabasi_albert_of_the_core_alone_is_complete():
    assert barabasi_albert(4, 3) == complete(4)


BAD = [
    (lambda: line(1), "'n_arms' of line must be a whole number of at least 2, got 1"),
    (lambda: line(2.5), "'n_arms' of line .* got 2.5"),
    (lambda: line("17"), "'n_arms' of line .* got '17'"),
    (lambda: complete(0), "'n_arms' of complete .* at least 2, got 0"),
    (lambda: grid(1, 1), "a grid must have at least 2 arms, got 1 x 1"),
    (lambda: grid(0, 5), "'rows' of grid .* at least 1, got 0"),
    (lambda: grid(3, -2), "'columns' of grid .* at least 1, got -2"),
    (lambda: erdos_renyi(1, 0.5), "'n_arms' of erdos_renyi .* at least 2, got 1"),
    (lambda: erdos_renyi(10, 0), "'p' of erdos_renyi .* greater than 0, got 0"),
    (lambda: erdos_renyi(10, 1.5), r"'p' of erdos_renyi must lie in \(0, 1\], got 1.5"),
    (lambda: erdos_renyi(10, float("nan")), "'p' of erdos_renyi .* got nan"),
    (lambda: erdos_renyi(10, 0.5, seed=-1), "'seed' .* at least 0, got -1"),
    (lambda: erdos_renyi(10, 0.5, tries=0), "'tries' .* at least 1, got 0"),
    (lambda: barabasi_albert(10, 0), "'m' of barabasi_albert .* at least 1, got 0"),
    (lambda: barabasi_albert(3, 3), "'n_arms' of barabasi_albert .* at least 4, got 3"),
    (lambda: barabasi_albert(10, 2, seed=0.5), "'seed' .* got 0.5"),
]


@pytest.mark.parametrize(("make", "sentence"), BAD)
def test_bad_numbers_are_refused_in_a_sentence(make, sentence):
    with pytest.raises(UnimodalError, match=f"{sentence}\\.$"):
        make()
