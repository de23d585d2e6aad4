"""States that no agent can be in are refused: compiled code would crash or loop on them."""

import json

import pytest

import unimodal as um


def saved(path, policy=None):
    agent = um.Agent(policy or um.UTS(), um.graphs.line(5), seed=1)
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
