"""Campaigns over HTTP: made, listed, read, changed; their arms; what their log says."""

import itertools
import json
import re

import pytest

import unimodal as um
from unimodal.campaigns import verify
from unimodal.service.client import Client
from unimodal.service.dashboard.findings import certificate_shown

AWKWARD = [
    '<img src=x onerror="alert(1)">',
    "\"quotes\" and 'more'",
    "two\nlines\ttab",
    "\x1b[31mred\x1b[0m",
    "\u202egnp.exe",
    "مرحبا",
    "🙂 ½ \\ \u0000",
]


def problem(answer, status, kind):
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["type"] == f"urn:unimodal:error:{kind}"
    return answer.json()["detail"]


def path_of(http, name, **body):
    answer = http.post("/v1/campaigns", json={"name": name, **body})
    assert answer.status_code == 201, answer.text
    return f"/v1/campaigns/{name}"


def test_a_campaign_is_made_listed_and_read(http):
    body = {"graph": {"edges": [[9.9, 12.9], [12.9, 14.9]]}, "policy": "uts(period=2)"}
    path = path_of(http, "made", **body, scaled_by="label", time_to_live=60, on_expiry="zero")
    found = http.get(path).json()
    assert found["policy"] == "UTS(period=2)" and found["family"] == "Scaled(Bernoulli(), by=float)"
    assert found["graph"] == {"kind": "edges", "arms": 3, "edges": 2}
    assert (found["time_to_live"], found["on_expiry"], found["ended"]) == (60, "zero", False)
    assert {"name": "made", "ended": False} in http.get("/v1/campaigns").json()["campaigns"]
    assert isinstance(http.post(f"{path}/decisions").json()["decisions"][0]["arm"], float)
    again = {"name": "made", "graph": {"generator": "line:3"}}
    problem(http.post("/v1/campaigns", json=again), 409, "CampaignExists")


def test_the_list_has_pages(http):
    for letter in "xyz":
        path_of(http, f"page-{letter}", graph={"generator": "line:3"})
    first = http.get("/v1/campaigns", params={"after": "page-", "limit": 2}).json()
    assert [one["name"] for one in first["campaigns"]] == ["page-x", "page-y"]
    assert first["next"] == "page-y"
    rest = http.get("/v1/campaigns", params={"after": first["next"], "limit": 2}).json()
    assert [one["name"] for one in rest["campaigns"]] == ["page-z"] and rest["next"] is None


@pytest.mark.parametrize(
    ("graph", "kind", "arms"),
    [
        ({"generator": "grid:3x4"}, "grid", 12),
        ({"generator": "er:20:0.3", "seed": 3}, "erdos_renyi", 20),
        ({"csv": "source,target\nann,bob\nbob,cy\n"}, "edges", 3),
        ({"edges": [[["a", 1], ["b", 2]], [["b", 2], ["c", 3]]]}, "edges", 3),
        ({"edges": [["b", "a"]], "labels": ["a", "b"]}, "edges", 2),
    ],
)
def test_graphs_as_edges_generators_and_files(http, graph, kind, arms):
    name = f"graph-{kind}-{arms}-{len(json.dumps(graph))}".replace("_", "-")
    found = http.get(path_of(http, name, graph=graph)).json()["graph"]
    assert (found["kind"], found["arms"]) == (kind, arms)


BAD = {
    "a path for a name": ({"name": "../etc/passwd"}, 422, "pattern"),
    "no name": ({"name": ""}, 422, "pattern"),
    "a file of the server": ({"graph": {"generator": "edges:/etc/passwd"}}, 422, "cannot name"),
    "code for a policy": ({"policy": "mine.py:Greedy"}, 422, "unknown policy"),
    "a call for a policy": ({"policy": "__import__('os').system('x')"}, 422, "unknown policy"),
    "an unknown policy": ({"policy": "utss"}, 422, "did you mean 'uts'"),
    "an unknown family": ({"family": "bernouli"}, 422, "did you mean 'bernoulli'"),
    "an unknown generator": ({"graph": {"generator": "lin:4"}}, 422, "did you mean 'line'"),
    "a generator in words": ({"graph": {"generator": "line:many"}}, 422, "written line:K"),
    "a huge generator": ({"graph": {"generator": "complete:99999"}}, 413, "at most"),
    "a huge cube": ({"graph": {"generator": "hypercube:400"}}, 413, "at most"),
    "no edge": ({"graph": {"edges": []}}, 422, "at least 1"),
    "two parts": ({"graph": {"edges": [["a", "b"], ["c", "d"]]}}, 422, "connected"),
    "a graph of nothing": ({"graph": {}}, 422, "required"),
    "a long label": ({"graph": {"edges": [["a", "b" * 999]]}}, 422, "at most 200"),
    "a long label in a file": ({"graph": {"csv": f"a,{'b' * 999}"}}, 413, "at most 200"),
    "half a character": ({"graph": {"edges": [["a", "\ud800"]]}}, 422, ""),
    "negative time": ({"time_to_live": -1}, 422, "greater than 0"),
    "an odd expiry": ({"on_expiry": "maybe"}, 422, "'drop' or 'zero'"),
    "labels that are no numbers": ({"scaled_by": "label"}, 422, "must be a number"),
    "past data that certify, read": (
        {"data": {"rows": [[0, 3, 1]], "certify": True, "one_peak": True}},
        422,
        "leave out",
    ),
    "past data of strangers": ({"data": {"rows": [["zzz", 3, 1]]}}, 422, "zzz"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_campaign_is_refused_and_leaves_nothing(service, case):
    given, status, words = BAD[case]
    body = {"name": "bad", "graph": {"edges": [["a", "b"], ["b", "c"]]}, **given}
    answer = service.http.post(
        "/v1/campaigns", content=json.dumps(body), headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == status, answer.text
    assert words in answer.json()["detail"]
    assert not list(service.folder.glob("bad*"))


def test_an_unknown_campaign(http):
    for method, rest in [("GET", ""), ("POST", "/decisions"), ("GET", "/events"), ("GET", "/arms")]:
        detail = problem(http.request(method, f"/v1/campaigns/nope{rest}"), 404, "UnknownCampaign")
        assert "'nope'" in detail
    body = {"decision": 1, "reward": 1}
    problem(http.post("/v1/campaigns/nope/rewards", json=body), 404, "UnknownCampaign")
    problem(http.patch("/v1/campaigns/nope", json={"ended": True}), 404, "UnknownCampaign")


def test_labels_may_be_anything_and_come_back_as_they_were(service, http):
    path = path_of(http, "awkward", graph={"edges": list(map(list, itertools.pairwise(AWKWARD)))})
    made = http.post(f"{path}/decisions", json={"n": 20}).json()["decisions"]
    assert {one["arm"] for one in made} <= set(AWKWARD)
    for one in made:
        body = {"decision": one["id"], "reward": float(one["arm"] == AWKWARD[0])}
        assert http.post(f"{path}/rewards", json=body).status_code == 200
    assert {one["arm"] for one in http.get(f"{path}/arms").json()["arms"]} <= set(AWKWARD)
    assert http.post(f"{path}/pause", json={"arms": [AWKWARD[0]]}).json() == {"done": True}
    assert http.get(path).json()["paused"] == [AWKWARD[0]]
    for rest in ("certificate", "alarms", "events", "decisions/3/explanation"):
        answer = http.get(f"{path}/{rest}")
        assert answer.status_code == 200 and answer.headers["content-type"] == "application/json"
        assert "<img" not in answer.headers.get("content-disposition", "")
    unknown = http.post(f"{path}/pause", json={"arms": ["\x1b[2J<script>"]})
    assert "\x1b" not in problem(unknown, 422, "UnimodalError")
    field = http.post(f"{path}/pause", json={"arms": [AWKWARD[0]], "x\x1b\u202e": 1})
    assert not {"\x1b", "\u202e"} & set(problem(field, 422, "InvalidRequest"))
    assert bool(verify(service.folder / "awkward.db"))


def test_arms_are_paused_resumed_inserted_and_retired(http):
    path = path_of(http, "ladder", graph={"edges": [["a", "b"], ["b", "c"], ["c", "d"]]})

    def change(rest, **body):
        return http.post(f"{path}/{rest}", json=body)

    assert change("pause", arms=["a"]).json() == {"done": True}
    assert http.get(path).json()["paused"] == ["a"]
    assert change("resume", arms=["a"]).status_code == 200
    assert change("insert", arm="b2", between=["b", "c"]).status_code == 200
    assert http.get(path).json()["graph"]["arms"] == 5
    assert change("retire", arms=["d"]).status_code == 200
    assert change("edges", edges=[["c", "e"], ["a", "e"]]).status_code == 200
    assert change("edges/remove", edges=[["a", "e"]]).status_code == 200
    assert http.get(path).json()["graph"] == {"kind": "edges", "arms": 5, "edges": 4}
    assert http.patch(path, json={"cap": {"share": 0.2, "over": 50}}).json()["cap"] == {
        **{"share": 0.2, "over": 50}
    }
    assert http.patch(path, json={"cap": None}).json()["cap"] is None
    tiny = http.patch(path, json={"cap": {"share": 5e-324}})  # of which 1/share is infinite
    assert "at least one decision" in problem(tiny, 422, "UnimodalError")
    problem(change("retire", arms=["zzz"]), 422, "UnimodalError")
    problem(change("insert", arm="x", between=["a", "c"]), 422, "UnimodalError")
    problem(change("retire", arms=["b2"]), 422, "UnimodalError")  # two parts would be left
    assert http.get(path).json()["graph"]["arms"] == 5


def test_readings(http):
    path = path_of(http, "read", graph={"generator": "line:3"}, seed=1)
    made = http.post(f"{path}/decisions", json={"n": 60}).json()["decisions"]
    rewards = [{"decision": one["id"], "reward": float(one["arm"] == 1)} for one in made]
    http.post(f"{path}/rewards", json={"rewards": rewards})
    certificate = http.get(f"{path}/certificate", params={"confidence": 0.9}).json()
    assert certificate["leader"] == 1 and certificate["confidence"] == 0.9
    assert certificate["sentence"].startswith(("Not certified", "The peak is 1"))
    assert http.get(f"{path}/alarms").json() == {"alarms": []}
    explained = http.get(f"{path}/decisions/1/explanation").json()
    assert explained["because"].startswith("The start pulls some arms")
    missing = http.get(f"{path}/decisions/999/explanation")
    problem(missing, 404, "UnknownDecision")
    for query in ({"confidence": "2"}, {"confidence": "nan"}, {"confidence": "x"}):
        problem(http.get(f"{path}/certificate", params=query), 422, "InvalidRequest")


def test_events_have_pages_as_json_and_as_lines(service, http):
    path = path_of(http, "events", graph={"generator": "line:3"})
    http.post(f"{path}/decisions", json={"n": 5})
    first = http.get(f"{path}/events", params={"limit": 4}).json()
    assert [one["seq"] for one in first["events"]] == [1, 2, 3, 4] and first["next"] == 4
    rest = http.get(f"{path}/events", params={"after": 4, "limit": 4}).json()
    assert [one["seq"] for one in rest["events"]] == [5, 6] and rest["next"] is None
    lines = http.get(f"{path}/events", headers={"Accept": "application/x-ndjson"})
    assert lines.headers["content-type"].startswith("application/x-ndjson")
    events = [json.loads(line) for line in lines.text.splitlines()]
    assert events == first["events"] + rest["events"]
    history = um.campaigns.look(service.folder / "events.db").history()
    assert [one["decision"] for one in events] == history["decision"].to_list()


def test_health_readiness_and_metrics(http):
    path = path_of(http, "counted", graph={"generator": "line:3"})
    http.post(f"{path}/decisions", json={"n": 3})
    http.post(f"{path}/rewards", json={"decision": 1, "reward": 1})
    assert http.get("/healthz").json() == {"status": "ok"}
    assert http.get("/readyz").json() == {"status": "ready"}
    text = http.get("/metrics").text
    for line in [
        'unimodal_decisions_total{campaign="counted"} 3.0',
        'unimodal_rewards_total{campaign="counted",outcome="counted"} 1.0',
        'unimodal_outstanding{campaign="counted"} 2.0',
        'unimodal_look_up_failures{campaign="counted"} 0.0',
        'route="/v1/campaigns/{name}/decisions",status="200"',
        "unimodal_calls_waiting ",
        "unimodal_leader_changes_total",
        "unimodal_alarms",
    ]:
        assert line in text


def test_a_key_that_is_sent_again_counts_no_decision(http):
    """Nor does it change the leader, whom its answer names as it was then."""
    path = path_of(http, "keys", graph={"generator": "line:3"})

    def total():
        found = re.search(r'decisions_total\{campaign="keys"\} (.*)', http.get("/metrics").text)
        return float(found[1])

    first, second = {"Idempotency-Key": "visit-1"}, {"Idempotency-Key": "visit-2"}
    answers = [http.post(f"{path}/decisions", json={"n": 2}, headers=first) for _ in range(3)]
    assert len({answer.text for answer in answers}) == 1 and total() == 2
    http.post(f"{path}/decisions", headers=second)
    assert total() == 3
    http.post(f"{path}/decisions", headers=second)
    http.post(f"{path}/decisions", json={"n": 2}, headers=first)
    assert total() == 3
    http.post(f"{path}/decisions", json={"n": 4})
    assert total() == 7 == http.get(path).json()["decisions"]


def test_addresses_and_methods_that_are_not_there(http):
    problem(http.get("/v1/nothing"), 404, "InvalidRequest")
    answer = http.delete("/v1/campaigns")
    problem(answer, 405, "InvalidRequest")
    assert answer.headers["allow"]


def test_expiries_as_zero_that_are_of_no_family(service, http, monkeypatch):
    """New campaigns are refused; one of before opens, and says as a fact why it cannot tell."""
    body = {"name": "counts", "graph": {"generator": "line:3"}, "family": "poisson"}
    body |= {"time_to_live": 5, "on_expiry": "zero"}
    detail = problem(http.post("/v1/campaigns", json=body), 422, "UnimodalError")
    assert "Bernoulli or Bounded, got Poisson()" in detail
    now = [0.0]
    settings = {"family": um.Poisson(), "time_to_live": 5, "on_expiry": "zero"}
    with monkeypatch.context() as before:
        before.setattr(um.Poisson, "takes_zeros", True)
        path = service.folder / "before.db"
        with um.Campaign.open(
            path, um.UTS(), um.graphs.line(3), **settings, clock=lambda: now[0]
        ) as campaign:
            for decision in campaign.decide(40)[1:]:
                campaign.reward(decision.id, 3.0)
            now[0] = 6.0
            campaign.expire()
    found = http.get("/v1/campaigns/before/certificate").json()
    assert (found["obstacle"], found["certified"], found["peak"]) == (
        "expired as zero",
        False,
        None,
    )
    assert found["sentence"].startswith("Nothing can be certified: expired decisions count as 0")
    (alarm,) = http.get("/v1/campaigns/before/alarms").json()["alarms"]
    assert alarm["kind"] == "cannot tell"
    with Client(service.url) as client:
        assert client.campaign("before").certificate().obstacle == "expired as zero"
    view = um.inspect(path)
    shown = certificate_shown(view.agent, view.certificate)
    assert shown["obstacle"] == "expired as zero" and not shown["certified"]
    assert shown["sentences"][0].startswith("Nothing can be certified")
