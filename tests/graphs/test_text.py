import json

import networkx
import pytest

from unimodal import graphs
from unimodal.errors import UnimodalError
from unimodal.graphs import from_data, parse, to_data

MADE = [
    graphs.line(5),
    graphs.complete(4),
    graphs.grid(2, 3),
    graphs.torus(3, 4),
    graphs.lattice(2, 3, 4),
    graphs.lattice(3, 4, 1, 5, wrap=True),
    graphs.hypercube(3),
    graphs.star(6),
    graphs.binary_tree(6),
    graphs.rank_one(2, 3),
    graphs.erdos_renyi(20, 0.2, seed=7),
    graphs.erdos_renyi(5, 1),
    graphs.barabasi_albert(20, 2, seed=7),
    graphs.from_edges([(0, 1), (1, 2), (2, 0)]),
    graphs.from_edges([("cheap", "fair"), ("fair", "dear")]),
    graphs.from_edges([(1.5, 2.5), (2.5, -3)]),
    graphs.from_networkx(networkx.grid_2d_graph(2, 2)),
    graphs.from_networkx(networkx.Graph([("a", ("b", (1, 2)))])),
]


@pytest.mark.parametrize("graph", MADE, ids=str)
def test_a_graph_comes_back_from_its_data_also_through_json(graph):
    data = to_data(graph)
    assert from_data(data) == graph
    again = from_data(json.loads(json.dumps(data)))
    assert again == graph
    assert again.labels == graph.labels
    assert to_data(again) == data


def test_the_data_of_a_made_graph_is_its_recipe_not_its_edges():
    assert "edges" not in to_data(graphs.barabasi_albert(1000, 2))


def test_a_graph_that_this_version_makes_differently_is_refused():
    data = to_data(graphs.erdos_renyi(20, 0.2, seed=7)) | {"seed": 8}
    with pytest.raises(UnimodalError, match=r"the saved erdos_renyi graph .* damaged or from"):
        from_data(data)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"kind": "lime"}, "unknown kind of graph 'lime': did you mean 'line'"),
        ({"edges": [[0, 1], [1, 7]]}, "an edge must join arms from 0 to 2, got arm 7"),
        ({"edges": [[0, 1], [1, -1]]}, "an edge must join arms from 0 to 2, got arm -1"),
        ({"edges": [[0, 1], [1, 1]]}, "self-loop at arm 'b'"),
        ({"edges": [[0, 1], [1, 0]]}, "got 'a' - 'b' twice"),
        ({"edges": [[0, 1]]}, "connected, got 2 pieces"),
        ({"labels": ["a", "b"]}, "the labels must be one for each of the 3 arms, got 2"),
        ({"labels": ["a", "b", "b"]}, "differ from each other, got 'b' twice"),
        ({"labels": ["a", "b", "d"]}, "damaged or from another version"),
    ],
)
def test_damaged_data_is_refused_in_a_sentence(change, sentence):
    data = to_data(graphs.from_edges([("a", "b"), ("b", "c")]))
    with pytest.raises(UnimodalError, match=sentence):
        from_data(data | change)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("line:17", graphs.line(17)),
        ("complete:5", graphs.complete(5)),
        ("grid:3x4", graphs.grid(3, 4)),
        ("torus:3x4", graphs.torus(3, 4)),
        ("lattice:5", graphs.line(5)),
        ("lattice:3x4x5", graphs.lattice(3, 4, 5)),
        ("star:6", graphs.star(6)),
        ("tree:7", graphs.binary_tree(7)),
        ("hypercube:4", graphs.hypercube(4)),
        ("rank_one:3x4", graphs.rank_one(3, 4)),
        ("er:30:0.2", graphs.erdos_renyi(30, 0.2, seed=4)),
        ("ba:30:2", graphs.barabasi_albert(30, 2, seed=4)),
    ],
)
def test_a_graph_may_be_written_as_text(text, expected):
    assert parse(text, seed=4) == expected


def test_a_file_of_edges_may_have_a_colon_in_its_name(tmp_path):
    path = tmp_path / "friends:2.csv"
    path.write_text("0,1\n1,2\n")
    assert parse(f"edges:{path}") == graphs.line(3)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "unknown graph '': Known are line, complete"),
        ("lines:17", "unknown graph 'lines': did you mean 'line'"),
        ("LINE:17", "unknown graph 'LINE': did you mean 'line'"),
        ("line", "kind 'line' is written line:K, got 'line'"),
        ("line:", "kind 'line' is written line:K, got 'line:'"),
        ("line:ten", "kind 'line' is written line:K, got 'line:ten'"),
        ("line:2.5", "kind 'line' is written line:K, got 'line:2.5'"),
        ("line:3:4", "kind 'line' is written line:K, got 'line:3:4'"),
        ("line:1", "'n_arms' of line must be .* at least 2, got 1"),
        ("grid:10", "kind 'grid' is written grid:ROWSxCOLUMNS, got 'grid:10'"),
        ("grid:2x3x4", "kind 'grid' is written grid:ROWSxCOLUMNS"),
        ("grid:0x3", "'rows' of grid must be .* at least 1, got 0"),
        ("torus:5", "kind 'torus' is written torus:ROWSxCOLUMNS, got 'torus:5'"),
        ("lattice:", "kind 'lattice' is written lattice:AxBx…, got 'lattice:'"),
        ("lattice:3x4:wrap", "kind 'lattice' is written lattice:AxBx…"),
        ("lattice:3x0", "a side of lattice must be .* at least 1, got 0"),
        ("star:x", "kind 'star' is written star:K, got 'star:x'"),
        ("binary_tree:7", "unknown graph 'binary_tree': .*tree"),
        ("tree:1", "'n_arms' of binary_tree must be .* at least 2, got 1"),
        ("hypercube:3x3", "kind 'hypercube' is written hypercube:DIMENSION"),
        ("hypercube:100", "got a hypercube of more than 10"),
        ("rank_one:3", "kind 'rank_one' is written rank_one:ROWSxCOLUMNS"),
        ("rank_one:1x1", "a rank_one graph must have at least 2 arms, got 1 x 1"),
        ("er:100", "kind 'er' is written er:K:P, got 'er:100'"),
        ("er:100:5%", "kind 'er' is written er:K:P, got 'er:100:5%'"),
        ("er:100:nan", "'p' of erdos_renyi must be a finite number greater than 0, got nan"),
        ("ba:10:0", "'m' of barabasi_albert must be .* at least 1, got 0"),
        ("ba:10:1.5", "kind 'ba' is written ba:K:M, got 'ba:10:1.5'"),
        ("edges", "kind 'edges' is written edges:FILE.csv, got 'edges'"),
        ("edges:/no/such/file.csv", "file.csv cannot be read: No such file"),
    ],
)
def test_malformed_text_is_answered_with_the_right_form(text, sentence):
    with pytest.raises(UnimodalError, match=sentence):
        parse(text)
