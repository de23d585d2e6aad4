"""The fixed graphs against NetworkX, and the random ones as far as chance has no say."""

import itertools

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unimodal.errors import UnimodalError
from unimodal.graphs import (
    barabasi_albert,
    binary_tree,
    complete,
    erdos_renyi,
    grid,
    hypercube,
    lattice,
    line,
    rank_one,
    star,
    torus,
)
from unimodal.graphs.generators import _attach, _pair
from unimodal.kernels.random import GRAPH, stream


def as_networkx(graph):
    made = networkx.Graph(graph.edges().tolist())
    made.add_nodes_from(range(graph.n_arms))
    return made


def numbered(graph):
    return networkx.convert_node_labels_to_integers(graph, ordering="sorted")


def rooks(rows, columns):
    """A rook's moves on a chessboard."""
    row, column = networkx.complete_graph(rows), networkx.complete_graph(columns)
    return numbered(networkx.cartesian_product(row, column))


FIXED = [
    (line(2), networkx.path_graph(2)),
    (line(17), networkx.path_graph(17)),
    (complete(2), networkx.complete_graph(2)),
    (complete(9), networkx.complete_graph(9)),
    (grid(1, 5), networkx.path_graph(5)),
    (grid(4, 1), networkx.path_graph(4)),
    (grid(3, 5), numbered(networkx.grid_2d_graph(3, 5))),
    (torus(3, 5), numbered(networkx.grid_2d_graph(3, 5, periodic=True))),
    (torus(2, 4), numbered(networkx.grid_2d_graph(2, 4, periodic=True))),
    (lattice(3, 2, 4), numbered(networkx.grid_graph([4, 2, 3]))),
    (lattice(3, 2, 4, wrap=True), numbered(networkx.grid_graph([4, 2, 3], periodic=True))),
    (hypercube(5), numbered(networkx.hypercube_graph(5))),
    (star(2), networkx.star_graph(1)),
    (star(9), networkx.star_graph(8)),
    (binary_tree(2), networkx.path_graph(2)),
    (binary_tree(12), networkx.full_rary_tree(2, 12)),
    (binary_tree(31), networkx.balanced_tree(2, 4)),
    (rank_one(4, 6), rooks(4, 6)),
    (rank_one(1, 4), networkx.complete_graph(4)),
    (rank_one(4, 1), networkx.complete_graph(4)),
]


@pytest.mark.parametrize(("graph", "expected"), FIXED, ids=lambda g: str(g))
def test_a_fixed_graph_has_networkxs_edges_degrees_and_shortest_paths(graph, expected):
    found = as_networkx(graph)
    assert networkx.utils.graphs_equal(found, expected)
    assert graph.degrees.tolist() == [expected.degree[arm] for arm in range(graph.n_arms)]
    for arm, steps in networkx.shortest_path_length(expected):
        assert graph.distances(arm).tolist() == [steps[other] for other in range(graph.n_arms)]


laws = settings(max_examples=40)


@laws
@given(st.integers(3, 300))
def test_a_star_has_one_hub_and_diameter_two(n_arms):
    graph = star(n_arms)
    assert graph.n_edges == n_arms - 1
    assert graph.degrees.tolist() == [n_arms - 1] + [1] * (n_arms - 1)
    assert graph.distances(0).max() == 1
    assert graph.distances(n_arms - 1).max() == 2


@laws
@given(st.integers(2, 300))
def test_the_levels_of_a_binary_tree_fill_up_one_after_the_other(n_arms):
    graph = binary_tree(n_arms)
    assert graph.n_edges == n_arms - 1
    levels = [(arm + 1).bit_length() - 1 for arm in range(n_arms)]
    assert graph.distances(0).tolist() == levels
    assert graph.max_degree <= 3
    # The longest path joins the ends of the lowest level's left half and of the right subtree.
    right = levels[-1] if n_arms >= 3 * 2 ** (levels[-1] - 1) else levels[-1] - 1
    diameter = max(graph.distances(arm).max() for arm in range(n_arms))
    assert diameter == levels[-1] + right


@laws
@given(st.integers(1, 8), st.integers(2, 8))
def test_arms_of_rank_one_are_pairs_joined_along_rows_and_columns(rows, columns):
    graph = rank_one(rows, columns)
    assert graph.labels == tuple(itertools.product(range(rows), range(columns)))
    assert set(graph.degrees.tolist()) == {rows + columns - 2}
    for arm, (i, j) in enumerate(graph.labels):
        assert graph.arm_of((i, j)) == arm == i * columns + j
        expected = [int(i != k) + int(j != m) for k, m in graph.labels]
        assert graph.distances(arm).tolist() == expected


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
    assert erdos_renyi(6, 1).recipe == {"kind": "complete", "n_arms": 6}


def test_erdos_renyi_gives_up_with_advice_where_no_patience_helps():
    with pytest.raises(UnimodalError, match=r"none of 50 graphs .*: take p nearer to log\(K\)/K"):
        erdos_renyi(100, 0.001, tries=50)


@pytest.mark.parametrize("m", [1, 2, 4])
def test_barabasi_albert_grows_a_complete_core_by_m_edges_an_arm(m):
    graph = barabasi_albert(60, m, seed=1)
    core = range(m + 1)
    assert all(set(core) <= set(graph.near(arm).tolist()) for arm in core)
    for arm in range(m + 1, 60):
        assert sum(other < arm for other in graph.neighbors(arm)) == m
    assert graph.n_edges == m * (m + 1) // 2 + m * (60 - m - 1)


def test_barabasi_albert_of_the_core_alone_is_complete():
    assert barabasi_albert(4, 3) == complete(4)


BAD = [
    (lambda: complete(0), "'n_arms' of complete .* at least 2, got 0"),
    (lambda: complete(10**5), "at most 2,147,483,648 .* complete graph of 100,000 arms: .* up"),
    (lambda: star(1), "'n_arms' of star .* at least 2, got 1"),
    (lambda: star(2**31), "got a star of 2,147,483,648 arms: .* up"),
    (lambda: binary_tree(1.5), "'n_arms' of binary_tree .* at least 2, got 1.5"),
    (lambda: binary_tree(2**40), "got a binary tree of 1,099,511,627,776 arms: .* up"),
    (lambda: rank_one(1, 1), "a rank_one graph must have at least 2 arms, got 1 x 1"),
    (lambda: rank_one("3", 2), "'rows' of rank_one .* at least 1, got '3'"),
    (lambda: rank_one(3, 0), "'columns' of rank_one .* at least 1, got 0"),
    (lambda: rank_one(2000, 2000), "got a rank_one graph of 4,000,000 arms: .* up"),
    (lambda: erdos_renyi(1, 0.5), "'n_arms' of erdos_renyi .* at least 2, got 1"),
    (lambda: erdos_renyi(10, 0), "'p' of erdos_renyi .* greater than 0, got 0"),
    (lambda: erdos_renyi(10, 1.5), r"'p' of erdos_renyi must lie in \(0, 1\], got 1.5"),
    (lambda: erdos_renyi(10, float("nan")), "'p' of erdos_renyi .* got nan"),
    (lambda: erdos_renyi(10**7, 0.5), "got a random graph of 10,000,000 arms: .* up"),
    (lambda: erdos_renyi(10, 0.5, seed=-1), "'seed' .* at least 0, got -1"),
    (lambda: erdos_renyi(10, 0.5, tries=0), "'tries' .* at least 1, got 0"),
    (lambda: barabasi_albert(10, 0), "'m' of barabasi_albert .* at least 1, got 0"),
    (lambda: barabasi_albert(3, 3), "'n_arms' of barabasi_albert .* at least 4, got 3"),
    (lambda: barabasi_albert(10**12, 2), "got a Barabási–Albert graph of 1,000,000,000,000 .* up"),
    (lambda: barabasi_albert(10**6 + 1, 10**6), "Barabási–Albert graph of 1,000,001 arms: .* up"),
    (lambda: barabasi_albert(10, 2, seed=0.5), "'seed' .* got 0.5"),
]


@pytest.mark.parametrize(("make", "sentence"), BAD)
def test_bad_numbers_are_refused_in_a_sentence(make, sentence):
    with pytest.raises(UnimodalError, match=f"{sentence}\\.$"):
        make()


class Counted(np.ndarray):
    """An array that counts how often it is read."""

    reads = 0

    def __getitem__(self, where):
        Counted.reads += 1
        return super().__getitem__(where)


def test_preferential_attachment_takes_as_long_as_there_are_draws():
    """A recipe of 200 bytes, m = 10^4 in a file, did not end: each draw was searched for among m.

    Drawing m = 30 of 31 arms, then of 32, …: m·log(m) draws for an arm at most, and one read each.
    """
    m, n_arms = 30, 60
    core, edges = m * (m + 1) // 2, m * (n_arms - m - 1)
    ends = np.zeros(2 * (core + edges), dtype=np.int32).view(Counted)
    ends[0 : 2 * core : 2], ends[1 : 2 * core : 2] = np.triu_indices(m + 1, 1)
    Counted.reads = 0
    _attach.py_func(ends, core, m, np.zeros(n_arms, dtype=np.int32), stream(1, n_arms, GRAPH))
    assert edges <= Counted.reads <= 3 * edges
    made = barabasi_albert(n_arms, m, seed=1)
    assert len(np.unique(ends.view(np.ndarray).reshape(-1, 2), axis=0)) == made.n_edges
    assert made.fingerprint == "dc07c064efa22a29"  # as the search among m made it
