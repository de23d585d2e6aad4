"""Hills, against the definition: paths tried one by one."""

from itertools import combinations

import networkx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import unimodal as um
from unimodal.inference.hills import hills, stand_apart


@st.composite
def bounded_graphs(draw):
    """A small connected graph, and bounds on a coarse grid, so that ties are common."""
    n_arms = draw(st.integers(2, 9))
    tree = {(draw(st.integers(0, arm - 1)), arm) for arm in range(1, n_arms)}
    pairs = [(a, b) for b in range(n_arms) for a in range(b)]
    edges = tree | draw(st.sets(st.sampled_from(pairs), max_size=5))
    level = st.integers(0, 6)
    ends = [sorted((draw(level), draw(level))) for _ in range(n_arms)]
    low, high = (np.array(column) / 6 for column in zip(*ends, strict=True))
    return um.graphs.from_edges(sorted(edges)), low, high


def apart(graph, low, high, a, b):
    """No path between a and b whose arms can all be as good as the worse of the two."""
    network = networkx.Graph(graph.edges().tolist())
    level = min(low[a], low[b])
    return all(
        any(high[arm] < level for arm in path) for path in networkx.all_simple_paths(network, a, b)
    )


@settings(max_examples=80)
@given(bounded_graphs())
def test_two_arms_stand_apart_if_every_path_passes_a_worse_one(case):
    graph, low, high = case
    for a, b in combinations(range(graph.n_arms), 2):
        assert stand_apart(graph, low, high, a, b) == apart(graph, low, high, a, b)


@settings(max_examples=80)
@given(bounded_graphs())
def test_hills_are_all_that_stand_apart_and_no_more(case):
    graph, low, high = case
    found = [arm for arm, _ in hills(graph, low, high)]
    assert low[found[0]] == low.max()
    assert all(apart(graph, low, high, a, b) for a in found for b in found if a < b)
    for arm in set(range(graph.n_arms)) - set(found):
        higher = [one for one in found if low[one] >= low[arm]]
        assert any(not apart(graph, low, high, arm, one) for one in higher)


@settings(max_examples=80)
@given(bounded_graphs(), st.integers(0, 2**32 - 1))
def test_whatever_the_means_are_there_are_as_many_peaks_as_hills(case, seed):
    """Peaks: connected sets of equal means whose neighbours are all lower. One in each hill."""
    graph, low, high = case
    means = low + np.random.default_rng(seed).integers(0, 2, graph.n_arms) * (high - low)
    network = networkx.Graph(graph.edges().tolist())
    equal = networkx.Graph([(a, b) for a, b in network.edges if means[a] == means[b]])
    equal.add_nodes_from(network)
    plateaus = networkx.connected_components(equal)
    peaks = [
        plateau
        for plateau in plateaus
        if all(means[b] <= means[a] for a in plateau for b in network[a])
    ]
    parts = [set(part) for _, part in hills(graph, low, high)]
    assert len(peaks) >= len(parts)
    assert all(any(peak <= part for peak in peaks) for part in parts)
