"""States that no agent can be in are refused: compiled code would crash or loop on them."""

import json
import math

import pytest

import unimodal as um
from unimodal.agent.saving import in_state, whole_state


def saved(path, policy=None, rewards=None):
    agent = um.Agent(policy or um.UTS(), um.graphs.line(5), rewards, seed=1)
    for number in range(40):
        decision = agent.decide()
        if number % 4:
            agent.reward(decision.id, float(number % 2))
    return agent.save(path)


def put(*places, value):
    def change(data):
        for place in places[:-1]:
            data = data[place]
        data[places[-1]] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        put("arms", 0, 0, value=5),  # an arm that is not there
        put("arms", 0, 1, value=-1),
        put("arms", 0, 2, value=10**12),  # more successes than pulls: no Beta has that
        put("arms", 0, 2, value=10**400),
        put("arms", 0, 3, value=-1),
        put("begin", 0, value=99),
        put("notes", 0, value=-1),
        put("notes", 1, value=99),  # begun
        put("notes", 3, value=5),  # the leader
        put("notes", 4, value=3),  # the reason
        put("notes", value=[0, 0, -1, -1]),
        put("stream", value=[1, 2, 3]),
        put("decisions", "open", 0, 1, value=7),
        put("decisions", "open", 0, 0, value=99),
        put("decisions", "now", value="noon"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path, change):
    path = saved(tmp_path / "agent.json")
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))
    with pytest.raises(um.UnimodalError, match="it is another kind, or damaged"):
        um.Agent.load(path)


@pytest.mark.parametrize(
    "change",
    [
        put("arms", value=[]),
        put("memory", "ring", 0, 2, value=9),
        put("memory", "ring", 0, 0, value=9),
    ],
)
def test_a_window_and_its_arms_tell_the_same(tmp_path, change):
    path = saved(tmp_path / "agent.json", um.Windowed(um.UTS(), 20))
    data = json.loads(path.read_text())
    assert um.Agent.load(path).round == 40
    change(data)
    path.write_text(json.dumps(data))
    with pytest.raises(um.UnimodalError, match="it is another kind, or damaged"):
        um.Agent.load(path)


@pytest.mark.parametrize(
    ("policy", "rewards"),
    [
        (um.Discounted(um.UTS(), 0.9), um.Bounded(1, 2)),
        (um.Windowed(um.UTS(), 7), um.Bounded(-2, -1)),
        (um.Restarting(um.UTS()), um.Gaussian(1.0)),
        (um.ScoutUTS(), um.Poisson()),
        (um.NPTS(), um.Bounded(0, 1)),
    ],
    ids=repr,
)
def test_what_can_be_is_not(tmp_path, policy, rewards):
    agent = um.Agent(policy, um.graphs.grid(3, 3), rewards, seed=2)
    middle = (
        1.0 if rewards.name == "poisson" else max(rewards.low, -1.5) / 2 + min(rewards.high, 2) / 2
    )
    for number in range(60):
        agent.tell(
            agent.ask(), (middle, min(rewards.high, 2.0), max(rewards.low, -2.0))[number % 3]
        )
        other = um.Agent.load(agent.save(tmp_path / "agent.json"))
    assert other.ask() == agent.ask()


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


@pytest.fixture(scope="module")
def npts(tmp_path_factory):
    agent = um.Agent(um.NPTS(), um.graphs.line(4), um.Bounded(0, 1), seed=1)
    for number in range(9):
        agent.tell(agent.ask(), number / 10)
    return agent.save(tmp_path_factory.mktemp("npts") / "agent.json").read_text()


@pytest.mark.parametrize("pulls", [[2**62] * 4, [2**62, 2**62, 0, 0], [2**63 - 1, 9, 0, 0], [-1]])
@pytest.mark.parametrize("seen", [[], [[0, 0.5]] * 9])
def test_pulls_whose_sum_overflows_are_refused(npts, tmp_path, pulls, seen):
    """Compiled code keeps rewards at the place of that sum: at ac7e735 it wrote anywhere."""
    path = tmp_path / "agent.json"
    path.write_text(npts)
    rows = [[arm, count, count / 2, 0, count / 2] for arm, count in enumerate(pulls)]
    refused(changed(path, lambda data: data.update(arms=rows, seen=seen)))


@pytest.mark.parametrize(
    "change",
    [
        put("arms", 0, 1, value=2**62),
        put("arms", 0, 1, value=3.0),  # whole, but no whole number
        put("arms", 0, 1, value="3"),
        put("arms", 0, 1, value=True),
        put("arms", 0, 4, value=math.nan),
        put("arms", 1, value=[0, 1, 0.0, 0, 0.0]),  # an arm twice
        put("arms", 0, value=[0, 1, 0.0, 0]),
        put("arms", 0, value=[0, 0, 5.0, 0, 0.0]),  # a total without pulls
        put("seen", value=[]),
        put("seen", 0, 0, value=4),
        put("seen", 0, 1, value=1.5),  # no reward of Bounded(0, 1)
        put("seen", 0, value=[0]),
        put("stream", value=[0, 0, 0, 0, 7]),  # a generator that only ever gives 0: normal hangs
        put("stream", 0, value=2**64),
        put("stream", 0, value=-1),
        put("notes", 0, value=10**15 + 1),
        put("notes", 2, value=1.0),
        put("begin", value={}),
        put("columns", value=["arm", "total", "pulls", "leads", "successes"]),
        put("links", value={"0": [1]}),  # of a policy that has none
        put("memory", value={"ring": [[0, 0, 0]], "learnt": [1]}),
        put("decisions", "made", value=10**15),  # memory keeps a place for each
        put("decisions", "open", value=[[2, 0, 0.0], [1, 0, 0.0]]),
        put("decisions", "rewards", value=[0.5]),
        put("seed", value="one"),
        put("policy", "parameters", value=[[]]),
        put("rewards", "a", value=-1e300),
    ],
)
def test_numbers_of_another_kind_or_size_are_refused(npts, tmp_path, change):
    (tmp_path / "agent.json").write_text(npts)
    refused(changed(tmp_path / "agent.json", change), words=r"damaged|must|whole number")


@pytest.mark.parametrize(
    ("policy", "change"),
    [
        (um.Windowed(um.UTS(), 20), put("policy", "parameters", "window", value=10**9)),
        (um.Windowed(um.UTS(), 20), put("memory", "learnt", value=[2**63])),
        (um.Windowed(um.UTS(), 20), put("memory", "ring", 0, 0, value=0.5)),
        (um.Windowed(um.UTS(), 20), put("memory", "ring", 0, value=[0.0, 1.0])),
        (um.Restarting(um.UTS(), 20), put("policy", "parameters", "window", value=10**9)),
        (um.Restarting(um.UTS(), 20), put("memory", "restarts", value=[0, 10**6])),
        (um.Restarting(um.UTS(), 20), put("memory", "rewards", value=[[1e200] * 20] * 5)),
        (um.Restarting(um.UTS(), 20), put("memory", "sums", 0, 0, value=1e200)),
        (um.Restarting(um.UTS(), 20), put("memory", "learnt", value=[1])),
    ],
)
def test_a_memory_is_of_the_size_that_the_policy_says(tmp_path, policy, change):
    """Before room is made for it: 10**9 rewards take 24 GB."""
    rewards = um.Gaussian() if isinstance(policy, um.Restarting) else None
    path = saved(tmp_path / "agent.json", policy, rewards)
    assert um.Agent.load(path).round == 40
    refused(changed(path, change))


def neighbours(arm):
    return [arm - 1, arm + 1]


@pytest.fixture(scope="module")
def looked_up(tmp_path_factory):
    agent = um.Agent(um.ScoutUTS(), neighbours, root=0, seed=1)
    for number in range(30):
        agent.tell(agent.ask(), float(number % 2))
    assert agent.leader is not None
    return agent


@pytest.mark.parametrize(
    "change",
    [
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
        put("graph", "later", value=[[10**6, 0, 1]]),
        put("graph", "answers", 0, 1, value=[]),
        put("graph", "answers", 0, 0, value=[[[{}]]]),
        put("graph", "checksums", value=[[0, "x"]]),
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
    refused(changed(path, put("links", value={"8": [0] * (room + 1)})))


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
def test_a_graph_that_no_memory_holds_is_not_made(npts, tmp_path, graph):
    (tmp_path / "agent.json").write_text(npts)
    path = changed(tmp_path / "agent.json", put("graph", value={**graph, "fingerprint": "0"}))
    refused(path, words="at most|memory|damaged|whole number|connected")
