"""Decisions and rewards over HTTP: keys, batches, and what became of each reward."""

import concurrent.futures
import json
import re

import pytest

import unimodal as um
from unimodal.campaigns import verify


@pytest.fixture(scope="module")
def quiet(service):
    """The path of a campaign in which nothing is to happen."""
    body = {"name": "quiet", "graph": {"generator": "line:3"}}
    assert service.http.post("/v1/campaigns", json=body).status_code == 201
    return "/v1/campaigns/quiet"


def decide(http, path, key=None, **body):
    headers = {"Idempotency-Key": key} if key else {}
    answer = http.post(f"{path}/decisions", json=body, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()["decisions"]


def problem(answer, status, kind):
    """Whether an answer is a problem document of this class; its sentence."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    found = answer.json()
    assert found["type"] == f"urn:unimodal:error:{kind}"
    assert found["status"] == status and found["title"]
    assert found["detail"].endswith(".") and "\n" not in found["detail"]
    return found["detail"]


def test_decisions_are_those_of_an_agent_in_memory(http, new):
    path = new()
    graph = um.graphs.from_edges([("9.90", "12.90"), ("12.90", "14.90"), ("14.90", "19.90")])
    agent = um.Agent(graph=graph, seed=4)
    for _ in range(12):
        (found,) = decide(http, path)
        expected = agent.decide()
        assert (found["id"], found["arm"], found["reason"]) == (
            *(expected.id, expected.arm, expected.reason),
        )
        reward = float(found["id"] % 3 == 0)
        told = http.post(f"{path}/rewards", json={"decision": found["id"], "reward": reward})
        assert told.json() == {"decision": found["id"], "outcome": "counted", "problem": None}
        agent.reward(expected.id, reward)


def test_without_a_body_it_is_one_decision(http, new):
    answer = http.post(f"{new()}/decisions")
    assert [one["id"] for one in answer.json()["decisions"]] == [1]


def test_the_same_key_gives_the_same_decisions_and_another_one_others(http, new):
    path = new()
    first = decide(http, path, "order-1", n=3)
    assert decide(http, path, "order-1", n=3) == first
    assert [one["id"] for one in decide(http, path, "order-2", n=2)] == [4, 5]
    assert http.get(path).json()["decisions"] == 5


def test_a_key_with_another_body_is_refused(http, new):
    path = new()
    decide(http, path, "order-1", n=2)
    answer = http.post(f"{path}/decisions", json={"n": 3}, headers={"Idempotency-Key": "order-1"})
    assert answer.status_code == 422
    assert "was used for n=2" in answer.json()["detail"]
    assert http.get(path).json()["decisions"] == 2


def test_a_reward_counts_once_and_many_are_answered_each_by_itself(http, new):
    path = new()
    decide(http, path, n=4)
    told = [(1, 1.0), (2, 0.0), (9, 1.0), (1, 0.0), (1, 1.0), (3, 0.5)]
    body = {"rewards": [{"decision": d, "reward": r} for d, r in told]}
    found = http.post(f"{path}/rewards", json=body).json()["rewards"]
    assert [one["outcome"] for one in found] == [
        *("counted", "counted", "refused", "refused", "known", "refused")
    ]
    kinds = [one["problem"] and one["problem"]["type"].rpartition(":")[2] for one in found]
    assert kinds == [None, None, "UnknownDecision", "ConflictingReward", None, "UnimodalError"]
    again = http.post(f"{path}/rewards", json=body).json()["rewards"]
    assert [one["outcome"] for one in again] == [
        *("known", "known", "refused", "refused", "known", "refused")
    ]


def test_all_or_none(http, new):
    path = new()
    decide(http, path, n=2)
    rewards = [{"decision": 1, "reward": 1.0}, {"decision": 7, "reward": 1.0}]
    answer = http.post(f"{path}/rewards", json={"rewards": rewards, "all_or_none": True})
    problem(answer, 404, "UnknownDecision")
    assert http.get(path).json()["outstanding"] == 2


def test_one_reward_that_is_refused_is_a_problem(http, new):
    path = new()
    decide(http, path, n=1)
    assert "made 1 so far" in problem(
        http.post(f"{path}/rewards", json={"decision": 2, "reward": 1}), 404, "UnknownDecision"
    )
    http.post(f"{path}/rewards", json={"decision": 1, "reward": 1})
    other = http.post(f"{path}/rewards", json={"decision": 1, "reward": 0})
    assert "has the reward 1 already" in problem(other, 409, "ConflictingReward")


def test_an_expired_decision(http, new):
    path = new(time_to_live=1e-6)
    decide(http, path, n=1)
    late = http.post(f"{path}/rewards", json={"decision": 1, "reward": 1})
    assert "has expired" in problem(late, 410, "ExpiredDecision")
    assert http.post(f"{path}/expire").json() == {"expired": 1}


def test_a_reward_without_a_decision(http, new):
    path = new()
    body = {"rewards": [{"arm": "9.90", "reward": 1.0}, {"arm": "14.90", "reward": 0.0}]}
    assert http.post(f"{path}/observations", json=body).json() == {"done": True}
    arms = {one["arm"]: one["pulls"] for one in http.get(f"{path}/arms").json()["arms"]}
    assert arms == {"9.90": 1, "14.90": 1}
    body["rewards"].append({"arm": "nothing like it", "reward": 1.0})
    problem(http.post(f"{path}/observations", json=body), 422, "UnimodalError")


def test_propensities(http, new):
    path = new()
    (first,) = decide(http, path, propensity=True)
    assert first["propensity"] == 1.0
    assert decide(http, path)[0]["propensity"] is None


def test_an_ended_campaign_decides_no_more_and_still_takes_rewards(http, new):
    path = new()
    decide(http, path, n=1)
    assert http.patch(path, json={"ended": True}).json()["ended"] is True
    problem(http.post(f"{path}/decisions"), 409, "CampaignEnded")
    told = http.post(f"{path}/rewards", json={"decision": 1, "reward": 1})
    assert told.json()["outcome"] == "counted"
    assert http.patch(path, json={"ended": False}).json()["ended"] is False
    assert decide(http, path)[0]["id"] == 2


def test_calls_of_many_clients_share_commits_and_none_is_lost(service, new):
    path = new()

    def work(number):
        (made,) = decide(service.http, path, f"client-{number}")
        told = {"decision": made["id"], "reward": float(number % 2)}
        return made["id"], service.http.post(f"{path}/rewards", json=told).json()["outcome"]

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        found = list(pool.map(work, range(100)))
    assert sorted(number for number, _ in found) == list(range(1, 101))
    assert {outcome for _, outcome in found} == {"counted"}
    assert bool(verify(service.folder / f"{path.rpartition('/')[2]}.db"))


@pytest.mark.parametrize(
    ("rest", "body", "status"),
    [
        ("rewards", '{"decision": 1, "reward": NaN}', 422),
        ("rewards", '{"decision": 1, "reward": 1e999}', 422),
        ("rewards", '{"decision": 1, "reward": "1"}', 422),
        ("rewards", '{"decision": 1, "reward": true}', 422),
        ("rewards", '{"decision": 1.5, "reward": 1}', 422),
        ("rewards", '{"decision": true, "reward": 1}', 422),
        ("rewards", '{"decision": 0, "reward": 1}', 422),
        ("rewards", '{"decision": 99999999999999999999999, "reward": 1}', 422),
        ("rewards", '{"decision": 1}', 422),
        ("rewards", '{"decision": 1, "reward": 1, "\\u001b[2J\\u202e\\n<b>": 1}', 422),
        ("rewards", '{"rewards": []}', 422),
        ("rewards", '{"decision": 1, "reward": 1, "more": 1}', 422),
        ("rewards", "[1, 2]", 422),
        ("rewards", "{", 400),
        ("rewards", "\ud800".encode("utf-8", "surrogatepass"), 400),
        ("decisions", '{"n": 0}', 422),
        ("decisions", '{"n": "2"}', 422),
        ("decisions", '{"n": 1000000}', 422),
        ("decisions", '{"policy": "mine.py:Greedy"}', 422),
    ],
)
def test_bad_bodies_are_refused_with_a_sentence_and_change_nothing(http, quiet, rest, body, status):
    path = quiet
    headers = {"Content-Type": "application/json"}
    answer = http.post(f"{path}/{rest}", content=body, headers=headers)
    assert not re.search("[\x00-\x1f\x7f\u202e]", problem(answer, status, "InvalidRequest"))
    json.loads(answer.text, parse_constant=lambda word: pytest.fail(word))
    assert http.get(path).json()["decisions"] == 0
