"""Lattices against their definition, pair by pair, and against what is known of them."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unimodal.errors import UnimodalError
from unimodal.graphs import from_edges, grid, hypercube, lattice, line, torus
from unimodal.graphs.text import from_data, to_data

# Up to 4 sides and 240 arms, sides of 1 and 2 included, since those do not wrap.
boxes = (
    st.lists(st.integers(1, 6), min_size=1, max_size=4)
    .map(tuple)
    .filter(lambda sides: 2 <= math.prod(sides) <= 240)
)
law = settings(max_examples=60)


def joined(a, b, sides, wrap):
    """Whether two places differ along one side only, and there by a step (or around the end)."""
    apart = [(abs(x - y), side) for x, y, side in zip(a, b, sides, strict=True) if x != y]
    return len(apart) == 1 and any(gap == 1 or (wrap and gap == side - 1) for gap, side in apart)


@law
@given(boxes, st.booleans())
def test_arms_are_joined_exactly_where_places_are_a_step_apart(sides, wrap):
    graph = lattice(*sides, wrap=wrap)
    places = list(itertools.product(*map(range, sides)))
    assert [int(np.ravel_multi_index(place, sides)) for place in places] == list(range(len(places)))
    pairs = itertools.combinations(range(len(places)), 2)
    expected = [[a, b] for a, b in pairs if joined(places[a], places[b], sides, wrap)]
    assert graph.edges().tolist() == expected
    assert graph.recipe == {"kind": "lattice", "sides": sides, "wrap": wrap}
    assert graph.labels == range(graph.n_arms)


@law
@given(boxes)
def test_distances_in_a_box_add_up_over_its_sides(sides):
    places = np.array(list(itertools.product(*map(range, sides))))
    gaps = np.abs(places[:, None] - places[None])
    around = np.minimum(gaps, np.array(sides) - gaps)
    for wrap, table in ((False, gaps.sum(axis=2)), (True, around.sum(axis=2))):
        graph = lattice(*sides, wrap=wrap)
        found = np.array([graph.distances(arm) for arm in range(graph.n_arms)])
        assert (found == table).all()
    # The diameters: corner to corner, and half-way around every side.
    assert gaps.sum(axis=2).max() == sum(side - 1 for side in sides)
    assert found.max() == sum(side // 2 for side in sides)


@law
@given(st.integers(3, 9), st.integers(3, 9))
def test_every_arm_of_a_torus_has_four_neighbours(rows, columns):
    graph = torus(rows, columns)
    assert set(graph.degrees.tolist()) == {4}
    assert graph.n_edges == 2 * rows * columns
    assert graph == lattice(rows, columns, wrap=True)
    assert graph.recipe == {"kind": "torus", "rows": rows, "columns": columns}


def test_a_side_of_one_or_two_has_nothing_to_wrap():
    assert torus(1, 2) == line(2)
    assert torus(2, 2) == grid(2, 2)
    assert torus(1, 3).n_edges == 3
    assert torus(2, 3).degrees.tolist() == [3] * 6


def test_the_lattices_with_names_are_lattices():
    assert line(7) == lattice(7)
    assert grid(3, 5) == lattice(3, 5)
    assert grid(1, 5) == lattice(1, 1, 5, 1) == line(5)
    assert hypercube(4) == lattice(2, 2, 2, 2)
    assert lattice(*[1] * 80, 3) == line(3)  # more sides than an array has axes


@pytest.mark.parametrize("dimension", [1, 2, 5, 7])
def test_a_hypercube_joins_numbers_that_differ_in_one_binary_digit(dimension):
    graph = hypercube(dimension)
    assert graph.n_arms == 2**dimension
    assert set(graph.degrees.tolist()) == {dimension}
    assert graph.n_edges == dimension * 2 ** (dimension - 1)
    for arm in (0, 1, graph.n_arms - 1):
        ones = [(arm ^ other).bit_count() for other in range(graph.n_arms)]
        assert graph.distances(arm).tolist() == ones
        assert max(ones) == dimension  # the diameter, to the opposite corner


PRICES = ["9.90", "12.90", "14.90", "16.90"]


@pytest.mark.parametrize(
    "labels",
    [PRICES, [4.9, 6.9, 8.9], [30, 10, 20], [("a", 1), "b"]],
    ids=["text", "floats", "numbers", "tuples"],
)
def test_a_line_of_labels_is_what_pairs_of_them_make(labels):
    """Also as data, so that a campaign which was opened with pairs opens with the line."""
    pairs = from_edges(list(itertools.pairwise(labels)), labels)
    for each in (labels, iter(labels)):
        graph = line(each)
        assert graph == pairs and graph.labels == tuple(labels)
        assert to_data(graph) == to_data(pairs)
        assert from_data(to_data(graph)) == graph


def test_a_number_of_arms_may_come_from_numpy_and_an_array_is_labels():
    assert line(np.int64(4)) == line(4.0) == line(4)
    assert line(np.array([4.9, 6.9])).labels == (4.9, 6.9)
    assert [type(label) for label in line(np.array([4, 6])).labels] == [int, int]


BAD = [
    (lambda: line(1), "'n_arms' of line must be a whole number of at least 2, got 1"),
    (lambda: line(2.5), "'n_arms' of line .* got 2.5"),
    (lambda: line("17"), "'n_arms' of line .* got '17'"),
    (lambda: line(np.array(4)), r"'n_arms' of line .* got array\(4\)"),
    (lambda: line(["9.90"]), "'n_arms' of line must be .* at least 2, got 1"),
    (lambda: line(["a", "b", "a"]), "labels must differ from each other, got 'a' twice"),
    (lambda: line({"a", "b"}), "labels must be in an order, as a list has, got a set"),
    (lambda: line([["a"], ["b"]]), "a label must be hashable"),
    (lambda: line(10**10), "at most 2,147,483,648 arms .* got a line of 10,000,000,000 arms: take"),
    (lambda: grid(1, 1), "a grid must have at least 2 arms, got 1 x 1"),
    (lambda: grid(0, 5), "'rows' of grid .* at least 1, got 0"),
    (lambda: grid(3, -2), "'columns' of grid .* at least 1, got -2"),
    (lambda: torus(1, 1), "a torus must have at least 2 arms, got 1 x 1"),
    (lambda: torus(0, 5), "'rows' of torus .* at least 1, got 0"),
    (lambda: torus(3, None), "'columns' of torus .* at least 1, got None"),
    (lambda: lattice(), "a lattice must have at least 2 arms, got no sides"),
    (lambda: lattice(1, 1, 1), "a lattice must have at least 2 arms, got 1 x 1 x 1"),
    (lambda: lattice(3, 0), "a side of lattice must be a whole number of at least 1, got 0"),
    (lambda: lattice([3, 4]), r"a side of lattice must be .* got \[3, 4\]"),
    (lambda: lattice(3, 4, wrap="yes"), "'wrap' of lattice must be True or False, got 'yes'"),
    (lambda: lattice(2**20, 2**20), "got a lattice of 1,099,511,627,776 arms"),
    (lambda: hypercube(0), "'dimension' of hypercube .* at least 1, got 0"),
    (lambda: hypercube(40), "got a hypercube of 1,099,511,627,776 arms: take a smaller one"),
    (lambda: hypercube(10**30), "got a hypercube of more than 10\\^18 arms"),
]


@pytest.mark.parametrize(("make", "sentence"), BAD)
def test_bad_numbers_are_refused_in_a_sentence(make, sentence):
    with pytest.raises(UnimodalError, match=sentence) as caught:
        make()
    assert str(caught.value).endswith(".")
