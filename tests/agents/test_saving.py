"""Saved agents: readable JSON that goes on exactly, and what is wrong with other files."""

import json

import pytest

import unimodal as um
from unimodal.agents.saving import whole_state

LINE = um.graphs.line(5)


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


FORGETFUL = [um.Windowed(um.UTS(), window=90), um.Restarting(um.UTS(), window=12, rate=1)]


def forgetful(policy, rewards):
    agent = um.Agent(policy, LINE, seed=3)
    for reward in rewards:
        agent.tell(agent.ask(), reward)
    return agent


@pytest.mark.parametrize("policy", FORGETFUL, ids=lambda policy: type(policy).__name__)
@pytest.mark.parametrize("rounds", [0, 1, 11, 89, 90, 91, 200])
def test_of_a_memory_only_what_is_filled_is_saved(tmp_path, policy, rounds):
    """At every point a ring can be at; the agent that is loaded goes on as this one does."""
    change = 60  # after which one of them restarts, so that rewards before it are left in its rings
    agent = forgetful(policy, [1.0] * min(rounds, change) + [0.0] * max(rounds - change, 0))
    data = json.loads(agent.save(tmp_path / "agent.json").read_text())["memory"]
    if isinstance(policy, um.Windowed):
        assert len(data["ring"]) == min(rounds, 90) and data["learnt"] == [rounds]
    else:
        assert [len(kept) for kept in data["rewards"]] == [min(n, 12) for n in data["learnt"]]
        assert rounds < 200 or data["restarts"][0] > 0
    other = um.Agent.load(tmp_path / "agent.json")
    for _ in range(30):
        (arm,), (same,) = agent.ask(1), other.ask(1)
        assert arm == same
        agent.tell(arm, 1.0)
        other.tell(arm, 1.0)
    assert whole_state(agent) == whole_state(other)


@pytest.mark.parametrize("policy", FORGETFUL, ids=lambda policy: type(policy).__name__)
def test_a_memory_with_the_room_that_was_not_filled_is_read_as_it_was(tmp_path, policy):
    """As files of before have it."""
    agent = forgetful(policy, [1.0, 0.0] * 7)
    path = agent.save(tmp_path / "agent.json")
    data = json.loads(path.read_text())
    memory = data["memory"]
    if "ring" in memory:
        memory["ring"] += [[0.0, 0.0, 0.0]] * (90 - len(memory["ring"]))
    else:
        memory["rewards"] = [kept + [1.0] * (12 - len(kept)) for kept in memory["rewards"]]
    path.write_text(json.dumps(data))
    assert whole_state(um.Agent.load(path)) == whole_state(agent)
    for kept in memory.get("rewards", memory.get("ring")):
        kept[-1] = "1.0"  # which NumPy would take for a number
    path.write_text(json.dumps(data))
    with pytest.raises(um.UnimodalError, match="damaged"):
        um.Agent.load(path)


def test_more_past_data_than_anybody_has_can_be_learnt_beside(tmp_path):
    """Pulls were counted together with them, so that what was saved could not be loaded."""
    agent = um.Agent(um.UTS(), LINE, data={0: (10**15, 5 * 10**14)}, seed=3)
    for _ in range(5):
        agent.tell(agent.ask(), 1.0)
    other = um.Agent.load(agent.save(tmp_path / "agent.json"))
    assert other.ask() == agent.ask()
