"""Several edges are removed at once; edges that a bypass would make twice are made once."""

import unimodal as um
from unimodal.graphs import revised
from unimodal.graphs.bypass import bypassed


def test_all_edges_that_are_to_go_are_gone():
    graph = um.graphs.complete(4)
    left = revised(graph, remove=[(0, 1), (3, 2), (0, 2)])
    assert left.edges().tolist() == [[0, 3], [1, 2], [1, 3]]


def test_arms_around_a_bypassed_one_that_were_joined_before_are_joined_once():
    """Else each would compete twice."""
    left = bypassed(um.graphs.complete(4), [3])
    assert [left.neighbors(arm).tolist() for arm in range(4)] == [[1, 2], [0, 2], [0, 1], []]
