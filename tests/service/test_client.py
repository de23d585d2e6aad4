"""`um.Client`: the same tests over a campaign in this process and over one behind HTTP."""

import inspect
import threading
from pathlib import Path

import httpx
import numpy as np
import pytest

import unimodal as um
from unimodal import errors
from unimodal.service.client import remote_campaign
from unimodal.service.client.http_connection import HttpConnection
from unimodal.service.client.new_campaign_body import policy_text
from unimodal.service.client.remote_campaign import RemoteCampaign

LADDER = um.graphs.from_edges([("a", "b"), ("b", "c"), ("c", "d")])


@pytest.fixture(params=["here", "over HTTP"])
def start(request, service, tmp_path):
    """A new campaign of UTS with seed 4, in this process or behind the service."""
    with um.Client(service.url) as client:
        numbers = iter(range(10))
        opened = []

        def started(graph=LADDER, policy=None, **named):
            given = {"seed": 4, **named}
            name = f"client-{abs(hash(request.node.nodeid)) % 10**9}-{next(numbers)}"
            policy = policy or um.UTS()
            if request.param == "here":
                path = tmp_path / f"{name}.db"
                opened.append(um.Campaign.open(path, policy, graph, durability="fast", **given))
            else:
                opened.append(client.create(name, policy, graph, **given))
            return opened[-1]

        yield started
        for campaign in opened:
            campaign.close()


def play(campaign, rounds):
    made = [campaign.decide() for _ in range(rounds)]
    for decision in made:
        campaign.reward(decision.id, float(decision.arm == "b"))
    return made


def test_it_decides_what_an_agent_decides(start):
    campaign, agent = start(), um.Agent(um.UTS(), LADDER, seed=4)
    found, expected = play(campaign, 15), play(agent, 15)
    assert [(d.id, d.arm, d.reason, d.leader, d.near) for d in found] == [
        (d.id, d.arm, d.reason, d.leader, d.near) for d in expected
    ]
    assert campaign.arms().sort("arm").equals(agent.arms().sort("arm"))
    assert (campaign.leader, campaign.outstanding) == (agent.leader, 0)


@pytest.mark.parametrize("given", [{}, {"one_peak": False}, {"certify": True}, {"weight": 0.5}])
def test_past_data_are_read_as_an_agent_reads_them(start, given):
    valley = {"a": (20, 12), "b": (20, 6), "c": (20, 11), "d": (20, 3)}
    data = um.PastData(valley, **given)
    campaign, agent = start(data=data), um.Agent(um.UTS(), LADDER, seed=4, data=data)
    assert campaign.arms().sort("arm").equals(agent.arms().sort("arm"))
    own = agent.arms().sort("arm")["mean"].to_list() == [0.6, 0.3, 0.55, 0.15]
    assert own == ("one_peak" in given or "certify" in given)


def test_many_at_once_and_keys(start):
    campaign = start()
    made = campaign.decide(5, key="visit 17".replace(" ", "-"))
    assert campaign.decide(5, key="visit-17") == made
    assert [decision.id for decision in made] == [1, 2, 3, 4, 5]
    with pytest.raises(um.UnimodalError, match="was used for n=5"):
        campaign.decide(2, key="visit-17")
    assert campaign.decide(propensity=True).propensity is not None
    assert campaign.reward([1, 2], [1.0, 0.0]) == [True, True]
    assert campaign.reward(np.array([1, 3]), np.array([1.0, 0.0])) == [False, True]
    assert campaign.reward([], []) == []


def test_errors_are_of_the_same_class_with_the_same_sentence(start):
    campaign = start()
    campaign.decide(2)
    campaign.reward(1, 1.0)
    with pytest.raises(errors.UnknownDecision, match="there is no decision 9"):
        campaign.reward(9, 1.0)
    with pytest.raises(errors.ConflictingReward, match="has the reward 1 already"):
        campaign.reward(1, 0.0)
    with pytest.raises(errors.UnknownDecision):
        campaign.reward([2, 9], [1.0, 1.0])
    assert campaign.outstanding == 1  # all of them, or none
    for bad in (float("nan"), "1", 0.5, None, True):
        with pytest.raises(um.UnimodalError):
            campaign.reward(2, bad)
    for bad in (0, -1, 1.5, "2"):
        with pytest.raises(um.UnimodalError):
            campaign.reward(bad, 1.0)
    with pytest.raises(um.UnimodalError):
        campaign.decide(0)
    with pytest.raises(um.UnimodalError):
        campaign.pause("zzz")
    with pytest.raises(um.UnimodalError):
        campaign.certificate(2.0)
    with pytest.raises(um.UnimodalError):
        campaign.insert("x", between="ab c")
    with pytest.raises(um.UnimodalError):
        campaign.add_edges("ab")
    assert campaign.outstanding == 1


def test_expiry(start):
    campaign = start(time_to_live=1e-6)
    campaign.decide()
    assert campaign.expire() == 1
    with pytest.raises(errors.ExpiredDecision, match="has expired"):
        campaign.reward(1, 1.0)


def test_the_graph_is_changed_and_arms_are_paused(start):
    campaign = start()
    campaign.pause("a", "b")
    assert campaign.paused == ["a", "b"]
    campaign.resume("a")
    assert campaign.paused == ["b"]
    campaign.insert("c2", between=("c", "d"))
    campaign.add_edges([("d", "e")])
    campaign.retire("e")
    campaign.add_edges([("a", "d")])
    campaign.remove_edges([("a", "d")])
    campaign.cap(0.5, over=10)
    campaign.cap(None)
    assert {decision.arm for decision in campaign.decide(30)} <= {"a", "c", "c2", "d"}


@pytest.mark.parametrize("limit", [1, 7, 1000])
def test_the_log_of_a_compacted_campaign_is_listed_from_where_it_begins(
    service, tmp_path, monkeypatch, limit
):
    """At b076057 a page was bounded by numbers, so that the first one was empty, and the last."""
    monkeypatch.setattr(remote_campaign, "_PAGE", limit)
    path = service.folder / f"compacted-{limit}.db"
    with um.Client(service.url) as client:
        for time in range(3):  # before a compaction, after one, and after a second one
            with um.Campaign.open(path, um.UTS(), LADDER, seed=4, durability="fast") as campaign:
                waiting = campaign.decide(4)
                play(campaign, 5)
            if time:
                um.campaigns.compact(path)
            with um.Campaign.open(path) as campaign:
                play(campaign, 6 if limit > 1 else 1)
                campaign.reward(waiting[0].id, 1.0)  # decided before the log begins
                found, expected = client.campaign(path.stem).history(), campaign.history()
                assert found.equals(expected) and expected["kind"].to_list().count("reward") > 1
                page = client._connection.get(f"/v1/campaigns/{path.stem}/events", {"after": 2})
                assert (page["start"] is None) == (time == 0)
                assert page["events"][0]["seq"] == (expected["seq"][0] if time else 3)
                begin = {"after": int(expected["seq"][0]) - 1}  # nothing is left out there
                page = client._connection.get(f"/v1/campaigns/{path.stem}/events", begin)
                assert page["start"] is None and page["events"][0]["seq"] == expected["seq"][0]
                last = {"after": int(expected["seq"][-1]) - 1}
                page = client._connection.get(f"/v1/campaigns/{path.stem}/events", last)
                assert page["start"] is None and len(page["events"]) == 1


def test_a_compaction_between_two_pages_is_no_damage(service, monkeypatch):
    path = service.folder / "meanwhile.db"
    with um.Campaign.open(path, um.UTS(), LADDER, seed=4, durability="fast") as campaign:
        play(campaign, 20)
    monkeypatch.setattr(remote_campaign, "_PAGE", 10)
    with um.Client(service.url) as client:
        remote, pages = client.campaign("meanwhile"), []
        page = remote._page

        def paged(after):
            if len(pages) == 1:
                um.campaigns.compact(path)
                with um.Campaign.open(path) as campaign:
                    play(campaign, 8)
            pages.append(after)
            return page(after)

        monkeypatch.setattr(remote, "_page", paged)
        assert remote.history().equals(um.campaigns.look(path).history())
    assert pages[:3] == [0, 10, 0]


def test_told_rewards_history_and_readings(start):
    campaign = start()
    campaign.tell("b", 1.0)
    campaign.tell(["a", "b"], [0.0, 1.0])
    play(campaign, 20)
    history = campaign.history()
    assert history["kind"].to_list().count("tell") == 3
    assert history.filter(history["kind"] == "reward")["arm"].null_count() == 0
    found = campaign.certificate(0.9, tolerance=0.5)
    assert found.leader == "b" and found.confidence == 0.9 and isinstance(found.open, tuple)
    assert str(found) and found.belief is not None
    explained = campaign.explain(1)
    assert explained.id == 1 and explained.because and "Decision 1" in str(explained)
    assert campaign.alarms() == [] and campaign.reports == []
    with pytest.raises(um.UnimodalError):
        campaign.explain(999)


def test_alarms_are_watched(start):
    campaign = start()
    seen, told = [], threading.Event()
    campaign.decide(150)  # and no reward comes

    def tell(alarm):
        seen.append(alarm.kind)
        told.set()

    campaign.watch(tell, every=0.05)
    assert told.wait(10) and seen[0] == "waiting"


def test_labels_keep_their_types(start):
    grid = um.graphs.from_edges([((0, "a"), (1, "b")), ((1, "b"), (2, "c"))])
    assert start(grid).decide().arm in grid.labels
    prices = um.graphs.from_edges([(9.9, 12.9), (12.9, 14.9)])
    assert start(prices).decide().arm in prices.labels


# What only a client has.


def test_every_method_of_a_campaign_is_there_over_http_with_its_parameters():
    """But those that are the service's own, which the guide names."""
    public = {name for name in dir(um.Campaign) if not name.startswith("_")}
    missing = {name for name in public if not hasattr(RemoteCampaign, name)}
    assert missing == {"agent", "backup", "open"}
    guide = (Path(__file__).parents[2] / "docs" / "guide" / "service.md").read_text("utf-8")
    assert "There is no `agent`, no `backup` and no `open` over HTTP" in guide
    for name in public - missing:
        here, there = getattr(um.Campaign, name), getattr(RemoteCampaign, name)
        if callable(here):
            assert inspect.signature(here) == inspect.signature(there), name
        else:
            assert isinstance(there, property), name


def test_unknown_campaigns_and_bad_addresses(service):
    with um.Client(service.url) as client:
        with pytest.raises(errors.UnknownCampaign, match="'nope'"):
            client.campaign("nope").decide()
        with pytest.raises(errors.InvalidRequest, match="a-z"):
            client.campaign("Prices!").decide()
        with pytest.raises(errors.InvalidRequest):
            client.campaign("").outstanding  # noqa: B018
        client.create("listed", "uts", "line:3")
        assert "listed" in client.campaigns()
        client.campaign("listed").end()
        with pytest.raises(errors.CampaignEnded):
            client.campaign("listed").decide()
        with pytest.raises(um.UnimodalError, match="a graph that can be sent"):
            client.create("functions", um.ScoutUTS(), lambda arm: [arm])
    for bad in ("localhost:8000", 7, "ftp://x"):
        with pytest.raises(um.UnimodalError, match="must begin with http"):
            um.Client(bad)


@pytest.mark.parametrize(
    "policy", [um.OSUB(c=0), um.UTS(period=4), um.Windowed(um.UTS(), window=50), um.ScoutUTS()]
)
def test_policies_as_text_are_themselves_again(policy):
    again = um.policies.parse(policy_text(policy), own=False)
    assert again.parameters() == policy.parameters()


def test_a_service_that_is_not_there_is_told_after_some_tries():
    with (
        um.Client("http://127.0.0.1:9", retries=1) as client,
        pytest.raises(errors.Overloaded, match="does not answer"),
    ):
        client.campaign("prices").decide()


def test_lost_answers_are_asked_for_again_with_the_same_key(service, monkeypatch):
    """Every second answer is lost after the request was done: nothing is done twice."""
    lost = iter(range(1000))
    send = httpx.HTTPTransport.handle_request

    def lossy(transport, request):
        answer = send(transport, request)
        if next(lost) % 2 == 0:
            answer.read()
            answer.close()
            raise httpx.ReadError("lost")
        return answer

    with um.Client(service.url) as client:
        campaign = client.create("lossy", um.UTS(), LADDER)
        monkeypatch.setattr(httpx.HTTPTransport, "handle_request", lossy)
        made = [campaign.decide() for _ in range(10)]
        outcomes = [campaign.reward(decision.id, 1.0) for decision in made]
        monkeypatch.undo()
        assert [decision.id for decision in made] == list(range(1, 11))
        assert outcomes == [False] * 10  # each was counted by the request whose answer was lost
        assert campaign.outstanding == 0
        monkeypatch.setattr(httpx.HTTPTransport, "handle_request", lossy)
        with pytest.raises(errors.ServiceError, match="may have been made or not"):
            campaign.tell("a", 1.0)
        monkeypatch.undo()


def test_a_busy_service_is_tried_again(service, monkeypatch):
    monkeypatch.setattr("unimodal.service.client.http_connection._LONGEST_PAUSE", 0.01)
    answers = iter([503, 429, 200])

    def handle(request):
        status = next(answers)
        if status == 200:
            return httpx.Response(200, json={"expired": 3})
        problem = {"type": "urn:unimodal:error:Overloaded", "detail": "wait."}
        return httpx.Response(status, json=problem, headers={"Retry-After": "1"})

    connection = HttpConnection("http://service", None, 1.0, 3)
    connection._http = httpx.Client(
        transport=httpx.MockTransport(handle), base_url="http://service"
    )
    assert connection.post("/x", None, again=False) == {"expired": 3}
    connection.close()
