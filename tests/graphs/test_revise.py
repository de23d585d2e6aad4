"""Revised graphs: edges and arms added, arms retired, labels kept, mistakes refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import unimodal as um
from unimodal.graphs import revised

LADDER = um.graphs.from_edges([("a", "b"), ("b", "c"), ("c", "d")])


def edges_of(graph):
    labels = graph.labels
    return {frozenset(labels[end] for end in edge) for edge in graph.edges().tolist()}


def pairs(*texts):
    return {frozenset(text) for text in texts}


def test_edges_between_arms_and_to_new_ones():
    graph = revised(LADDER, add=[("a", "d"), ("d", "e"), ["e", "f"]])
    assert graph.labels == ("a", "b", "c", "d", "e", "f")
    assert edges_of(graph) == pairs("ab", "bc", "cd", "ad", "de", "ef")
    assert LADDER.n_arms == 4  # the old one stays what it was


def test_retired_arms_take_their_edges_along():
    graph = revised(LADDER, add=[("a", "c")], retire=["b"])
    assert graph.labels == ("a", "c", "d") and edges_of(graph) == pairs("ac", "cd")


def test_an_arm_may_be_added_and_retired_at_once():
    assert revised(LADDER, add=[("d", "e")], retire=["e"]).labels == LADDER.labels


def test_arms_without_labels_are_called_by_their_numbers():
    graph = revised(um.graphs.line(4), add=[(3, 4)], retire=[0])
    assert graph.labels == (1, 2, 3, 4)
    assert edges_of(graph) == {frozenset(edge) for edge in ((1, 2), (2, 3), (3, 4))}


def test_nothing_changed_is_the_same_graph_under_its_labels():
    graph = revised(LADDER)
    assert (graph.labels, edges_of(graph)) == (LADDER.labels, edges_of(LADDER))
    assert graph.fingerprint == revised(graph).fingerprint


def test_the_fingerprint_tells_revisions_apart():
    grown = revised(LADDER, add=[("d", "e")])
    assert grown.fingerprint != LADDER.fingerprint
    assert revised(grown, retire=["e"]).fingerprint == revised(LADDER).fingerprint


@pytest.mark.parametrize(
    ("add", "retire", "words"),
    [
        ([("x", "y")], (), "must be connected, got 2 pieces .*'a' to arm 'x'"),
        ((), ["b"], "must be connected, got 2 pieces .*'a' to arm 'c'"),
        ((), ["e"], "an arm to retire must be one of the graph, got 'e'"),
        ((), [0], "an arm to retire must be one of the graph, got 0"),
        ((), [["a"]], r"a label must be hashable .* got \['a'\]"),
        ([("a", "b")], (), "an edge must be given once, got 'a' - 'b' twice"),
        ([("b", "a")], (), "an edge must be given once, got 'a' - 'b' twice"),
        ([("a", "e"), ("e", "a")], (), "an edge must be given once, got 'a' - 'e' twice"),
        ([("e", "e")], (), "got a self-loop at arm 'e'"),
        ([("a",)], (), "an edge to add must be a pair of labels, got"),
        (["ad"], (), "an edge to add must be a pair of labels, got 'ad'"),
        ([5], (), "an edge to add must be a pair of labels, got 5"),
        ([(["a"], "e")], (), r"a label must be hashable .* got \['a'\]"),
        ((), ["a", "b", "c"], "at least 2 arms, got 1"),
        ((), ["a", "b", "c", "d"], "at least 2 arms, got 0"),
    ],
)
def test_mistakes_get_a_sentence(add, retire, words):
    with pytest.raises(um.UnimodalError, match=words):
        revised(LADDER, add, retire)


@given(
    st.integers(3, 8), st.sets(st.tuples(st.integers(0, 12), st.integers(0, 12))), st.integers(0, 7)
)
def test_what_is_left_is_what_a_set_of_edges_says(n_arms, add, gone):
    """Against sets; a graph in pieces, or a mistake in what is given, is refused."""
    line = {frozenset((arm, arm + 1)) for arm in range(n_arms - 1)}
    more = [frozenset(edge) for edge in sorted(add)]
    retire = [gone] if gone < n_arms else []
    expected = {edge for edge in line | set(more) if not edge & set(retire)}
    arms = set(range(n_arms)).union(*more) - set(retire)
    fair = len(set(more)) == len(more) and not line & set(more) and all(map(_pair, more))
    try:
        graph = revised(um.graphs.line(n_arms), sorted(add), retire)
    except um.UnimodalError as error:
        assert not fair or _pieces(arms, expected) > 1, error
        return
    assert edges_of(graph) == expected and set(graph.labels) == arms
    assert _pieces(arms, expected) == 1


def _pair(edge):
    return len(edge) == 2


def _pieces(arms, edges):
    pieces = [{arm} for arm in arms]
    for edge in edges:
        joined = [piece for piece in pieces if piece & edge]
        pieces = [piece for piece in pieces if not piece & edge] + [set().union(*joined)]
    return len(pieces)
