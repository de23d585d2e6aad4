"""Edges from CSV files."""

import gzip
from pathlib import Path

import pytest

from unimodal import graphs
from unimodal.errors import UnimodalError
from unimodal.graphs import read_edges


@pytest.fixture
def written(tmp_path):
    def write(text, name="edges.csv"):
        path = tmp_path / name
        data = text if isinstance(text, bytes) else text.encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write


@pytest.mark.parametrize(
    "text",
    [
        "0,1\n1,2\n",
        "0,1\r\n1,2\r\n",
        "0,1\n\n1,2",
        " 0 , 1 \n1,2\n",
        '"0","1"\n1,2\n',
        "0,1,a third column\n1,2,of no interest\n",
        "source,target\n0,1\n1,2\n",
        "Source,Target,weight\n0,1,5\n1,2,5\n",
        "id_1,id_2\n0,1\n1,2\n",
        "\ufeffsource,target\n0,1\n1,2\n",
    ],
)
@pytest.mark.parametrize("name", ["edges.csv", "edges.csv.gz"])
def test_a_line_of_three_arms_may_be_written_in_many_ways(written, text, name):
    graph = read_edges(written(text, name))
    assert graph == graphs.line(3)
    assert not graph.has_labels


def test_words_are_labels(written):
    graph = read_edges(written("from,to\ncheap,fair\nfair,dear\n"))
    assert graph.labels == ("cheap", "fair", "dear")
    assert graph.edges().tolist() == [[0, 1], [1, 2]]


@pytest.mark.parametrize("text", ["a,b\nb,c\n", "u,v\nw,u\n", "from,to\nto,by\n"])
def test_a_first_line_whose_words_come_again_is_an_edge(written, text):
    assert read_edges(written(text)).n_edges == 2


def test_numbers_with_gaps_are_labels_in_increasing_order(written):
    graph = read_edges(written("30,7\n7,100000000000000000000\n"))
    assert graph.labels == (7, 30, 10**20)
    assert graph.edges().tolist() == [[0, 1], [0, 2]]


# ego-Facebook (McAuley and Leskovec 2012), where the project's shared folder is at hand.
FACEBOOK = Path(__file__).parents[3] / "shared" / "data" / "ego-facebook.csv.gz"


def test_a_file_of_social_size_comes_whole(written):
    """The friendships of ego-Facebook or, elsewhere, as many people in a ring with chords."""
    n_arms = 4039
    if FACEBOOK.exists():
        path, n_edges, max_degree = FACEBOOK, 88_234, 1045
    else:
        pairs = [(a, (a + step) % n_arms) for step in (1, 5, 17) for a in range(n_arms)]
        text = "source,target\n" + "".join(f"{a},{b}\n" for a, b in pairs)
        path, n_edges, max_degree = written(text, "friends.csv.gz"), 3 * n_arms, 6
    graph = read_edges(path)
    assert (graph.n_arms, graph.n_edges, graph.max_degree) == (n_arms, n_edges, max_degree)
    assert not graph.has_labels


BAD = [
    ("", "at least one edge, got none"),
    ("source,target\n", "at least one edge, got none"),
    ("0,1\n2\n", r"edge 2 of .*edges.csv must have two columns, got \['2'\]"),
    ("0;1\n1;2\n", "must have two columns"),
    ("0,1\n1,1\n", "self-loop at arm 1"),
    ("0,1\n1,0\n", "got 0 - 1 twice"),
    ("0,1\n2,3\n", "connected, got 2 pieces"),
    ("5,9\n7,8\n", r"connected, got 2 pieces \(no path from arm 5 to arm 7\)"),
    (b"\xff\xfe\x00\x01,\x00", "must be a CSV file of text, one edge a line"),
    ("a" * 200_000 + ",b\n", "must be a CSV file of text, one edge a line"),
]


@pytest.mark.parametrize(("text", "sentence"), BAD, ids=range(len(BAD)))
def test_a_bad_file_is_refused_in_a_sentence(written, text, sentence):
    with pytest.raises(UnimodalError, match=sentence):
        read_edges(written(text))


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(UnimodalError, match=r"none.csv cannot be read: No such file.*\.$"):
        read_edges(tmp_path / "none.csv")


def test_a_folder_is_not_a_file_of_edges(tmp_path):
    with pytest.raises(UnimodalError, match="cannot be read: Is a directory"):
        read_edges(tmp_path)


def damaged(data):
    """Compressed data with two bytes turned over, where the stream's codes are."""
    return data[:15] + bytes(byte ^ 255 for byte in data[15:17]) + data[17:]


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda data: b"0,1\n1,2\n", "cannot be read: Not a gzipped file"),
        (lambda data: data[: len(data) // 2], "must be a CSV file of text"),
        (damaged, "must be a CSV file of text"),
    ],
)
def test_a_damaged_gzip_file_is_refused_in_a_sentence(tmp_path, damage, sentence):
    path = tmp_path / "edges.csv.gz"
    path.write_bytes(damage(gzip.compress(b"0,1\n" * 1000)))
    with pytest.raises(UnimodalError, match=sentence):
        read_edges(path)
