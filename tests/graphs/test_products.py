"""Products against NetworkX and against the graphs that they are, saved, and refused."""

import json

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unimodal as um
from unimodal import graphs
from unimodal.graphs import from_data, line, product, to_data

FACTORS = st.sampled_from(
    [line(2), line(4), graphs.complete(3), graphs.star(4), graphs.torus(3, 3), line(["a", "b"]),
     graphs.from_edges([("x", "y"), ("y", "z"), ("z", "x"), ("z", "w")]), graphs.binary_tree(5)]
)  # fmt: skip


def labelled_edges(graph):
    name = graph.label_of
    return {frozenset((name(int(a)), name(int(b)))) for a, b in graph.edges()}


@settings(deadline=None, max_examples=40)
@given(FACTORS, FACTORS, st.booleans())
def test_pairs_are_those_of_networkx(one, two, strong):
    made = product(one, two, strong=strong)
    theirs = (nx.strong_product if strong else nx.cartesian_product)(
        *(nx.Graph([tuple(edge) for edge in labelled_edges(factor)]) for factor in (one, two))
    )
    assert labelled_edges(made) == {frozenset(edge) for edge in theirs.edges}
    assert set(made.labels) == set(theirs.nodes)
    assert made.n_edges == theirs.number_of_edges()


@pytest.mark.parametrize("strong", [False, True])
def test_three_factors_are_the_product_of_products(strong):
    factors = line(2), graphs.complete(3), graphs.star(3)
    three, twice = product(*factors, strong=strong), product(*factors[:2], strong=strong)
    twice = product(twice, factors[2], strong=strong)
    assert (three.edges() == twice.edges()).all()
    assert three.label_of(7) == (0, 2, 1) and twice.label_of(7) == ((0, 2), 1)


def test_known_graphs():
    assert (product(line(3), line(4)).edges() == graphs.grid(3, 4).edges()).all()
    rank_one = graphs.rank_one(3, 4)
    made = product(graphs.complete(3), graphs.complete(4))
    assert (made.edges() == rank_one.edges()).all() and made.labels == rank_one.labels
    assert (product(*[line(2)] * 4).edges() == graphs.hypercube(4).edges()).all()
    king = product(line(8), line(8), strong=True)
    assert king.n_edges == 210 and king.max_degree == 8
    complete = product(graphs.complete(3), graphs.complete(4), strong=True)
    assert complete.n_edges == 66  # of 12 arms, all of them


def test_a_problem_on_a_product_is_saved(tmp_path):
    prices = product(line(["9.90", "12.90", "14.90"]), line(["left", "right"]))
    problem = um.problems.by_distance(prices, peak=("12.90", "right"))
    assert problem.check() and problem.graph.label_of(problem.best_arm) == ("12.90", "right")
    result = um.simulate(problem, um.UTS(), horizon=60, trials=2)
    again = um.load(result.save(tmp_path / "x.parquet"))
    assert again.problem.graph.labels == prices.labels
    assert (again.rerun()["UTS"].regret == result["UTS"].regret).all()
    agent = um.Agent(um.UTS(), prices)
    assert agent.decide().arm in prices.labels
    assert um.load(agent.save(tmp_path / "agent.json")).graph.labels == prices.labels


@pytest.mark.parametrize("strong", [False, True])
def test_it_is_made_again_from_its_data(strong):
    made = product(product(line(2), line(["a", "b"])), graphs.erdos_renyi(5, 0.5, 1), strong=strong)
    again = from_data(json.loads(json.dumps(to_data(made))))
    assert again.fingerprint == made.fingerprint and again.labels == made.labels


@pytest.mark.parametrize(
    ("factors", "said"),
    [
        ((), "at least 2 factors, got 0"),
        ((line(3),), "at least 2 factors, got 1"),
        ((line(3), 4), r"must be graphs .* got 4"),
        ((line(3), None), "must be graphs"),
        (([line(3), line(4)],), "must be graphs"),
        ((line(3), "line:4"), "got 'line:4'"),
        ((line(3), nx.path_graph(3)), "must be graphs"),
        ((line(10**5), line(10**5)), "at most"),
    ],
)
def test_factors_that_are_no_graphs_get_a_sentence(factors, said):
    with pytest.raises(um.UnimodalError, match=said):
        product(*factors)


@pytest.mark.parametrize("change", [{"factors": []}, {"factors": [{}]}, {"strong": 2}, {"more": 1}])
def test_changed_data_is_refused(change):
    data = to_data(product(line(2), line(3))) | change
    with pytest.raises((um.UnimodalError, KeyError, TypeError)):
        from_data(data)


def test_strong_is_true_or_false():
    with pytest.raises(um.UnimodalError, match="must be True or False, got 1"):
        product(line(2), line(2), strong=1)
