"""Where arms are drawn."""

import math

import numpy as np
import pytest

import unimodal as um
from unimodal.inspection.graph_layout import around


def test_a_line_lies_straight():
    places = around(um.graphs.line(9), 4, np.ones(9)).places
    left_to_right = [places[arm][0] for arm in range(9)]
    assert left_to_right == pytest.approx(range(-4, 5)) or left_to_right == pytest.approx(
        range(4, -5, -1)
    )
    assert [y for _, y in places.values()] == pytest.approx([0.0] * 9, abs=1e-9)


def test_a_line_seen_from_its_end_lies_as_straight():
    places = around(um.graphs.line(4), 0, np.ones(4)).places
    assert [x for x, _ in places.values()] == pytest.approx(range(4))
    assert [y for _, y in places.values()] == pytest.approx([0.0] * 4, abs=1e-9)


def test_a_grid_has_its_neighbours_crosswise():
    places = around(um.graphs.grid(9, 9), 40, np.ones(81)).places
    for one, other in ((31, 49), (39, 41)):  # above and below, left and right
        assert np.add(places[one], places[other]) == pytest.approx([0, 0], abs=1e-9)
    corner = np.add(places[31], places[39])  # 30 lies between them, two steps away
    assert places[30] == pytest.approx(corner * 2**0.5, abs=0.1)


def test_what_is_reached_from_opposite_sides_stands_across():
    """A square, seen from a corner: its neighbours left and right, the fourth above or below."""
    square = um.graphs.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)])
    places = around(square, 0, np.ones(4)).places
    assert np.add(places[1], places[3]) == pytest.approx([0, 0], abs=1e-9)
    assert [abs(x) for x in places[2]] == pytest.approx([0, 2], abs=1e-9)


@pytest.mark.parametrize(
    "graph",
    [um.graphs.barabasi_albert(200, 3, seed=1), um.graphs.star(40), um.graphs.binary_tree(63)],
    ids=repr,
)
def test_nobody_stands_on_another(graph):
    layout = around(graph, 0, np.ones(graph.n_arms))
    places = list(layout.places.values())
    assert len(places) <= 60
    distances = [math.dist(a, b) for n, a in enumerate(places) for b in places[:n]]
    assert min(distances) > 0.08


def test_of_many_neighbours_the_most_pulled_are_drawn():
    graph = um.graphs.complete(100)
    layout = around(graph, 7, np.arange(100))
    assert set(layout.places) == {7, *range(41, 100)}
    assert layout.left_out == 40 and layout.thinned
    assert all(7 in edge for edge in layout.edges)


def test_the_same_picture_every_time():
    graph = um.graphs.erdos_renyi(80, 0.06, seed=2)
    assert around(graph, 3, np.ones(80)) == around(graph, 3, np.ones(80))
