"""Saved agents whose graph cannot be: met by look-ups that were not made, or beyond any memory."""

import json
import math

import pytest

import unimodal as um
from unimodal.agents.saving import in_state, whole_state


def put(*places, value):
    def change(data):
        for place in places[:-1]:
            data = data[place]
        data[places[-1]] = value

    return change


def changed(path, change):
    """Change what a saved agent's file says."""
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))
    return path


def refused(path, graph=None, words="it is another kind, or damaged"):
    with pytest.raises(um.UnimodalError, match=words) as sentence:
        um.Agent.load(path, graph=graph)
    assert "\n" not in str(sentence.value)


def neighbours(arm):
    return [arm - 1, arm + 1]


@pytest.fixture(scope="module")
def looked_up(tmp_path_factory):
    agent = um.Agent(um.ScoutUTS(), neighbours, root=0, seed=1)
    for number in range(30):
        agent.tell(agent.ask(), float(number % 2))
    assert agent.leader is not None
    return agent


def again(name):
    """The first of a list once more, at its end."""
    return lambda data: data["graph"][name].append(data["graph"][name][0])


def leaderless(data):
    """The leader's row is not there, and nothing else speaks of it."""
    leader, _ = data["graph"]["leader"]
    data["links"] = {}
    data["graph"]["rows"] = [row for row in data["graph"]["rows"] if row[0] != leader]


@pytest.mark.parametrize(
    "change",
    [
        leaderless,
        again("labels"),
        again("rows"),
        again("answers"),
        put("graph", "cache", value=-1),
        put("graph", "labels", 1, value=math.nan),
        put("graph", "labels", 1, value=0),  # twice
        put("graph", "labels", 1, value=None),
        put("graph", "labels", 1, value={}),
        put("graph", "labels", value=[]),
        put("graph", "rows", value=[]),  # the leader has none
        put("graph", "rows", 0, 1, value=[]),
        put("graph", "rows", 0, 1, 0, value=1.0),
        put("graph", "rows", 0, 1, 1, value=10**6),
        put("graph", "leader", value=[0.0, 0]),
        put("graph", "leader", 1, value="soon"),
        put("graph", "leader", 1, value=-1),
        put("graph", "later", value=[[10**6, 0, 1]]),
        put("graph", "later", value=[[0, "soon", 1]]),
        put("graph", "later", value=[[0, 1, 2**63]]),
        put("graph", "answers", 0, 1, value=[]),
        put("graph", "answers", 0, 0, value=[[[{}]]]),
        put("graph", "answers", 0, 0, value=math.nan),
        put("graph", "answers", 0, 1, value=[None]),
        put("graph", "checksums", value=[[0, "x"]]),
        put("graph", "checksums", value=[[None, 1]]),
        put("graph", "counts", "again", value=-1),
        put("links", value={"0": list(range(20)) * 9}),  # more than there is room for
        put("links", value={"29": [0]}),  # of an arm without a row
    ],
)
def test_a_graph_that_was_not_met_is_refused(looked_up, tmp_path, change):
    path = looked_up.save(tmp_path / "agent.json")
    assert um.Agent.load(path, graph=neighbours).ask() is not None
    refused(changed(path, change), neighbours)
    state = json.loads(json.dumps(whole_state(looked_up)))
    change(state)  # and so it is in a campaign's snapshot
    with pytest.raises((ValueError, TypeError, KeyError)):
        in_state(looked_up, state)


def test_a_policy_that_needs_every_arm_cannot_have_met_them_by_look_ups(looked_up, tmp_path):
    for policy in ("TS", "KLUCB"):
        path = looked_up.save(tmp_path / "agent.json")
        other = {"policy": policy, "name": policy, "own": False, "parameters": {}}
        refused(changed(path, put("policy", value=other)), neighbours, "compares all arms")


def test_links_fit_into_the_rows_of_a_held_graph(tmp_path):
    path = um.Agent(um.ScoutUTS(), um.graphs.line(9), seed=1).save(tmp_path / "agent.json")
    room = 2 * 3  # two for each of the shells at distance 2, 4 and 8
    changed(path, put("links", value={"8": [0] * room}))
    assert um.Agent.load(path).round == 0
    for wrong in ({"8": [0] * (room + 1)}, {"8": [9]}, {"8": [-1]}, {"8": [0.0]}, {"9": [0]}):
        refused(changed(path, put("links", value=wrong)))


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000 + "]" * 100_000,
        '{"format": ' + "[" * 100_000 + "]" * 100_000 + "}",
        '{"format": 1' + "0" * 5000 + "}",
        '{"format": 1, "policy": 1e999}',
        "null",
        "",
    ],
    ids=["deep", "deep inside", "digits", "infinite", "null", "empty"],
)
def test_text_that_is_no_agent_gets_a_sentence(tmp_path, text):
    (tmp_path / "agent.json").write_text(text)
    refused(tmp_path / "agent.json", words="damaged|has format")


@pytest.mark.parametrize(
    "graph",
    [
        {"kind": "edges", "n_arms": 10**15, "edges": [[0, 1]]},
        {"kind": "complete", "n_arms": 10**9},
        {"kind": "line", "n_arms": 10**18},
        {"kind": "hypercube", "dimension": 10**9},
        {"kind": "erdos_renyi", "n_arms": 10**5, "p": 2e-5, "seed": 0, "tries": 10**15},
        {"kind": "erdos_renyi", "n_arms": 10**400, "p": 0.5, "seed": 0},
        {"kind": "line", "n_arms": [5]},
        {"kind": ["line"]},
    ],
)
def test_a_graph_that_no_memory_holds_is_not_made(looked_up, tmp_path, graph):
    path = looked_up.save(tmp_path / "agent.json")
    changed(path, put("graph", value={**graph, "fingerprint": "0"}))
    refused(path, words="at most|memory|damaged|whole number|connected")
