"""The random graphs against their laws, found by enumeration; and graphs of a million arms.

Seeds are fixed. Each chi-square alarms below 1e-4: with other seeds one would fail in 10,000.
"""

import itertools
import time
from collections import Counter

import networkx
import numpy as np
import pytest
from scipy import stats

from unimodal import graphs
from unimodal.graphs import barabasi_albert, erdos_renyi

ALARM = 1e-4


def connected_law(n_arms, p):
    """The probability of each connected graph, given that the graph is connected."""
    pairs = list(itertools.combinations(range(n_arms), 2))
    law = {}
    for chosen in itertools.product([False, True], repeat=len(pairs)):
        edges = tuple(itertools.compress(pairs, chosen))
        graph = networkx.Graph(edges)
        if graph.number_of_nodes() == n_arms and networkx.is_connected(graph):
            law[edges] = p ** len(edges) * (1 - p) ** (len(pairs) - len(edges))
    total = sum(law.values())
    return {edges: weight / total for edges, weight in law.items()}


@pytest.mark.parametrize("p", [0.35, pytest.param(0.6, marks=pytest.mark.full)])
def test_erdos_renyi_given_that_it_is_connected_on_every_graph_of_four_arms(p):
    """Chi-square over the 38 connected graphs of 4 arms, 3,000 draws.

    Adding edges to a draw until it is connected, for one, would favour trees and be seen at once.
    Seeds 0 to 3,999 at p = 0.6 happen to be that one in 10,000 (p = 8e-5); the 60,000 after them
    together give p = 0.90, and fifteen blocks of them p-values that are uniform.
    """
    law = connected_law(4, p)
    assert len(law) == 38
    drawn = (erdos_renyi(4, p, seed=seed).edges().tolist() for seed in range(10_000, 13_000))
    seen = Counter(tuple(map(tuple, edges)) for edges in drawn)
    assert set(seen) <= set(law)
    observed = [seen[edges] for edges in law]
    expected = [3000 * weight for weight in law.values()]
    assert stats.chisquare(observed, expected).pvalue > ALARM


def attachment_law(n_arms, m):
    """The probability of each set of arms that the last arm joins, over all histories.

    Arms are drawn one after the other in proportion to their degrees, without those already drawn.
    """

    def grow(degrees):
        for order in itertools.permutations(range(len(degrees)), m):
            weight, left = 1.0, sum(degrees)
            for arm in order:
                weight *= degrees[arm] / left
                left -= degrees[arm]
            grown = [degree + (arm in order) for arm, degree in enumerate(degrees)]
            yield weight, frozenset(order), (*grown, m)

    histories = {((m,) * (m + 1)): 1.0}
    law = Counter()
    for arm in range(m + 1, n_arms):
        following = Counter()
        for degrees, before in histories.items():
            for weight, joined, grown in grow(degrees):
                following[grown] += before * weight
                if arm == n_arms - 1:
                    law[joined] += before * weight
        histories = following
    return law


@pytest.mark.parametrize("m", [1, 2])
def test_barabasi_albert_joins_in_proportion_to_degrees(m):
    """Chi-square over what the third arm after the core joins, 5,000 graphs.

    Joining uniformly instead would be found almost surely (m = 2: the core would get
    1.20 of its 2 edges instead of 1.34).
    """
    n_arms = m + 4
    law = attachment_law(n_arms, m)
    assert sum(law.values()) == pytest.approx(1)
    made = (barabasi_albert(n_arms, m, seed=seed) for seed in range(5000))
    seen = Counter(frozenset(graph.neighbors(n_arms - 1).tolist()) for graph in made)
    assert set(seen) <= set(law)
    observed = [seen[joined] for joined in law]
    expected = [5000 * weight for weight in law.values()]
    assert stats.chisquare(observed, expected).pvalue > ALARM


def test_a_barabasi_albert_graph_of_a_million_arms_comes_up_in_seconds_and_fits():
    """The bounds are loose: it takes 1 to 2 core-seconds. A loop in Python would take more."""
    began = time.process_time()
    graph = barabasi_albert(1_000_000, 2, seed=0)
    assert time.process_time() - began < 20
    assert graph.rows.nbytes + graph.near_rows.nbytes < 60e6
    assert graph.n_edges == 3 + 2 * (1_000_000 - 3)
    # Degrees have the tail of preferential attachment: P(k) = 2m(m + 1)/(k(k + 1)(k + 2)).
    shares = np.bincount(graph.degrees)[2:12] / 1e6
    k = np.arange(2, 12)
    assert shares == pytest.approx(12 / (k * (k + 1) * (k + 2)), abs=0.002)


MILLION = [
    (lambda: graphs.line(1_000_000), 999_999, 2),
    (lambda: graphs.torus(1000, 1000), 2_000_000, 4),
    (lambda: graphs.lattice(100, 100, 100), 2_970_000, 6),
    (lambda: graphs.star(1_000_000), 999_999, 999_999),
    (lambda: graphs.binary_tree(1_000_000), 999_999, 3),
    pytest.param(lambda: graphs.hypercube(20), 10_485_760, 20, marks=pytest.mark.full),
]


@pytest.mark.parametrize(("make", "n_edges", "degree"), MILLION)
def test_a_million_arms_come_up_in_seconds(make, n_edges, degree):
    """The bound is loose: it takes 0.1 to 2 core-seconds. A loop in Python would take more."""
    began = time.process_time()
    graph = make()
    assert time.process_time() - began < 20
    assert (graph.n_edges, graph.max_degree) == (n_edges, degree)
