"""States that no agent can be in are refused: compiled code would crash or loop on them."""

import json
import math

import pytest

import unimodal as um


def saved(path, policy=None, family=None):
    agent = um.Agent(policy or um.UTS(), um.graphs.line(5), family, seed=1)
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


def changed(path, change):
    """Change what a saved agent's file says."""
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))
    return path


def refused(path, words="it is another kind, or damaged"):
    with pytest.raises(um.UnimodalError, match=words) as sentence:
        um.Agent.load(path)
    assert "\n" not in str(sentence.value)


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
        put("notes", 4, value=5),  # the reason
        put("notes", value=[0, 0, -1, -1]),
        put("stream", value=[1, 2, 3]),
        put("decisions", "open", 0, 1, value=7),
        put("decisions", "open", 0, 0, value=99),
        put("decisions", "now", value="noon"),
        lambda data: data["arms"].append(list(data["arms"][0])),
        lambda data: data["decisions"]["open"].reverse(),
        put("decisions", "open", 0, 2, value="noon"),
        put("decisions", "open", 0, 2, value=math.inf),
        put("decisions", "rewards", 1, value="1"),
        put("decisions", "rewards", 1, value=math.nan),
        put("arms", value=[[0, 10**15, 0.0, 0, 0.0], [1, 1, 0.0, 0, 0.0]]),  # more than are counted
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


def test_pulls_that_fade_are_not_negative(tmp_path):
    path = saved(tmp_path / "agent.json", um.Discounted(um.UTS(), 0.9), um.Bounded(0, 1))
    changed(path, put("arms", 0, value=[0, 0.5, 0.2, 0, 0.2]))
    assert um.Agent.load(path).round == 40
    refused(changed(path, put("arms", 0, value=[0, -1e-9, 0.0, 0, 0.0])))


@pytest.mark.parametrize(
    ("policy", "rewards"),
    [
        (um.Discounted(um.UTS(), 0.9), um.Bounded(1, 2)),
        pytest.param(um.Windowed(um.UTS(), 7), um.Bounded(-2, -1), marks=pytest.mark.full),
        pytest.param(um.Restarting(um.UTS()), um.Gaussian(1.0), marks=pytest.mark.full),
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
        lambda data: data["seen"][0].__setitem__(0, (data["seen"][0][0] + 1) % 4),
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
        (um.Windowed(um.UTS(), 20), put("policy", "parameters", "window", value=10**8)),
        (um.Windowed(um.UTS(), 20), put("memory", "learnt", value=[2**63])),
        (um.Windowed(um.UTS(), 20), put("memory", "learnt", value=[19])),
        (um.Windowed(um.UTS(), 20), put("memory", "ring", value=[])),
        (um.Windowed(um.UTS(), 20), put("memory", "ring", 0, 0, value=0.5)),
        (um.Windowed(um.UTS(), 20), put("memory", "ring", 0, value=[0.0, 1.0])),
        (um.Restarting(um.UTS(), 20), put("policy", "parameters", "window", value=10**9)),
        (um.Restarting(um.UTS(), 20), put("memory", "restarts", value=[0, 10**6])),
        (um.Restarting(um.UTS(), 20), put("memory", "rewards", value=[[1e200] * 20] * 5)),
        (um.Restarting(um.UTS(), 20), put("memory", "sums", 0, 0, value=1e200)),
        (um.Restarting(um.UTS(), 20), put("memory", "learnt", value=[1])),
        (um.Restarting(um.UTS(), 20), put("memory", "rewards", 2, value=[])),
        (um.Restarting(um.UTS(), 20), put("memory", "rewards", 0, value=None)),
        (um.Restarting(um.UTS(), 20), put("memory", "rewards", value=[])),
        (um.Restarting(um.UTS(), 20), put("memory", "learnt", 2, value=0)),
    ],
)
def test_a_memory_is_of_the_size_that_the_policy_says(tmp_path, policy, change):
    """Before room is made for it: 10**9 rewards take 24 GB."""
    rewards = um.Gaussian() if isinstance(policy, um.Restarting) else None
    path = saved(tmp_path / "agent.json", policy, rewards)
    assert um.Agent.load(path).round == 40
    refused(changed(path, change), words="it is another kind, or damaged|must be at most 1e")
