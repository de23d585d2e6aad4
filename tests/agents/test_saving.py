"""Saved agents: readable JSON that goes on exactly, and what is wrong with other files."""

import json

import pytest

import unimodal as um


@pytest.fixture
def saved(tmp_path):
    agent = um.Agent(um.UTS(), um.graphs.grid(3, 4), seed=5)
    for number in range(40):
        agent.tell(agent.ask(), number % 2)
    return agent.save(tmp_path / "agent.json")


def test_it_is_readable(saved):
    data = json.loads(saved.read_text())
    assert data["policy"]["policy"] == "UTS"
    assert data["graph"]["kind"] == "grid" and data["graph"]["rows"] == 3
    assert data["columns"] == ["arm", "pulls", "total", "leads", "successes"]
    assert sum(row[1] for row in data["arms"]) == 40


def test_saving_again_gives_the_same_file(saved, tmp_path):
    again = um.Agent.load(saved).save(tmp_path / "again.json")
    assert again.read_bytes() == saved.read_bytes()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: text[:300], "another kind, or damaged"),
        (lambda text: "[]", "another kind, or damaged"),
        (lambda text: "{}", "another kind, or damaged"),
        (lambda text: text.replace('"format": 1', '"format": 9'), "has format 9"),
        (lambda text: text.replace('"rows": 3', '"rows": 5'), "fingerprint"),
        (lambda text: text.replace('"arms"', '"legs"'), "another kind, or damaged"),
        (lambda text: text.replace('"grid"', '"gird"'), "did you mean 'grid'"),
    ],
)
def test_a_broken_file_gets_a_sentence(saved, change, words):
    saved.write_text(change(saved.read_text()))
    with pytest.raises(um.UnimodalError, match=words):
        um.Agent.load(saved)


@pytest.mark.parametrize("path", [None, 5, b"agent.json"])
def test_what_is_no_path_gets_a_sentence(path):
    with pytest.raises(um.UnimodalError, match="path of a saved agent must be a file's name"):
        um.Agent.load(path)


def test_a_missing_file_gets_a_sentence(tmp_path):
    with pytest.raises(um.UnimodalError, match="there is no file"):
        um.Agent.load(tmp_path / "none.json")


def test_a_binary_file_gets_a_sentence(tmp_path):
    (tmp_path / "x").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(um.UnimodalError, match="another kind"):
        um.Agent.load(tmp_path / "x")


def test_another_policy_than_the_saved_one_is_refused(saved):
    with pytest.raises(um.UnimodalError, match="pass the policy it was saved with"):
        um.Agent.load(saved, policy=um.UTS(period=7))


def test_labels_that_json_cannot_hold_get_a_sentence(tmp_path):
    graph = um.graphs.from_edges([(frozenset([1]), frozenset([2]))])
    with pytest.raises(um.UnimodalError, match="saved as JSON"):
        um.Agent(um.UTS(), graph).save(tmp_path / "x.json")
    assert not list(tmp_path.iterdir())
