"""Campaigns: reopened, compared with what the file has, mistakes, what can be looked at."""

import json
import re

import numpy as np
import pytest

import unimodal as um
from unimodal.campaigns import known_rewards as rewards_in_log
from unimodal.campaigns import look, verify

LINE = um.graphs.line(7)
LADDER = um.graphs.from_edges([("a", "b"), ("b", "c"), ("c", "d")])


def test_it_decides_what_an_agent_in_memory_decides_however_often_it_is_opened(
    path, start, reopen, play
):
    agent = um.Agent(um.UTS(), LINE, seed=4, clock=lambda: 0.0)
    expected = [decision for _ in range(6) for decision in play(agent, 20)]
    found = []
    for opening in range(6):
        with start() if opening == 0 else reopen() as campaign:
            found += play(campaign, 20)
    assert found == expected
    assert look(path).agent.arms().equals(agent.arms())
    assert bool(verify(path))


def test_without_a_close_nothing_is_missing(path, start, reopen, play):
    campaign = start()
    play(campaign, 30)
    other = reopen()  # the first one is still open, and wrote no snapshot
    assert other.arms().equals(campaign.arms())
    assert other.decide().id == 31 and campaign.decide().id == 32
    campaign.close()
    other.close()
    assert bool(verify(path))


def test_what_is_left_out_is_taken_from_the_file(start, reopen):
    named = {"time_to_live": 60, "on_expiry": "zero"}
    start(LADDER, family=um.Bounded(0, 2), **named).close()
    with reopen() as campaign:
        agent = campaign.agent
        assert (agent.policy, agent.family, agent.seed) == (um.UTS(), um.Bounded(0, 2), 4)
        assert agent.graph.fingerprint == LADDER.fingerprint
        assert (agent._book.time_to_live, agent._book.on_expiry) == (60.0, "zero")


def test_the_same_given_again_is_accepted(start):
    named = {"family": um.Bernoulli(), "time_to_live": 60, "on_expiry": "drop"}
    start(seed=np.int64(4), **named).close()
    start(**named).close()
    with start(**{**named, "time_to_live": np.float32(60)}) as campaign:
        assert campaign.history()["kind"].to_list() == ["open"] * 3
        assert campaign.agent.book.time_to_live == 60.0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"policy": um.TS()}, r"its policy is UTS\(.*\), not TS\("),
        ({"policy": um.UTS(period=3)}, r"its policy is UTS\(.*\), not UTS\(.*period=3"),
        ({"graph": um.graphs.line(8)}, "its graph is a graph of kind line .*, not a graph of kind"),
        ({"graph": lambda arm: [arm + 1]}, "its graph is a graph of kind line .*, not known by"),
        ({"family": um.Gaussian(1.0)}, r"its rewards are bernoulli\(\), not gaussian\("),
        ({"seed": 5}, "its seed is 4, not 5"),
        ({"root": 3}, "its root is None, not 3"),
        ({"time_to_live": 61}, "its time to live is 60.0, not 61.0"),
        ({"on_expiry": "zero"}, "its on_expiry is 'drop', not 'zero'"),
    ],
)
def test_something_else_than_the_file_has_is_refused(path, start, reopen, play, given, words):
    with start(time_to_live=60) as campaign:
        play(campaign, 3)
    with pytest.raises(um.UnimodalError, match=f"is another campaign: {words}"):
        reopen(**given)
    assert bool(verify(path))
    with reopen() as campaign:
        assert campaign.decide().id == 4


def test_all_that_differs_is_told_at_once(start, reopen):
    start().close()
    with pytest.raises(um.UnimodalError, match=r"its policy is .*; its seed is 4, not 5"):
        reopen(policy=um.TS(), seed=5)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"policy": "uts"}, "instance such as um.UTS"),
        ({"graph": None}, "a new campaign needs a graph"),
        ({"graph": [1, 2]}, "must be a Graph, an Oracle or a function"),
        ({"graph": lambda arm: [arm + 1]}, "give the arm to set out from as root"),
        ({"family": "bernoulli"}, "family such as um.Bernoulli"),
        ({"seed": -1}, "the 'seed' must be a whole number"),
        ({"root": 3}, "got 3 with a Graph, which has none"),
        ({"seed": "x"}, "the 'seed' must be a whole number"),
        ({"time_to_live": 0}, "time_to_live must be a finite number greater than 0"),
        ({"time_to_live": "1 h"}, "time_to_live must be a finite number greater than 0"),
        ({"on_expiry": "dropp"}, "did you mean 'drop'"),
        ({"on_expiry": 0}, "unknown on_expiry '0'"),
        ({"on_expiry": ""}, "unknown on_expiry ''"),
        ({"durability": "ful"}, "did you mean 'full'"),
        ({"wait": "long"}, "the 'wait' of a campaign must be a finite number"),
        ({"wait": -1}, "the 'wait' of a campaign must be a finite number"),
        ({"clock": 12.5}, "the clock of a campaign must be a function, got 12.5"),
        ({"graph": um.graphs.from_edges([(b"a", b"b")])}, "labelled by text, numbers or tuples"),
    ],
)
def test_a_mistake_leaves_no_file_behind(path, given, words):
    with pytest.raises(um.UnimodalError, match=words):
        um.Campaign.open(path, **{"policy": um.UTS(), "graph": LINE, **given})
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize("wrong", [None, 5, b"ads.db", "ads\0.db"])
def test_what_is_no_path_gets_a_sentence(path, wrong):
    for use in (lambda: um.Campaign.open(wrong, um.UTS(), LINE), lambda: verify(wrong)):
        with pytest.raises(um.UnimodalError, match="path of a campaign must be a file's name"):
            use()


def test_a_file_called_memory_is_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with um.Campaign.open(":memory:", um.UTS(), LINE) as campaign:
        campaign.decide()
    assert bool(verify(tmp_path / ":memory:"))


def test_refused_rewards_leave_no_trace(path, start):
    campaign = start()
    first, _ = campaign.decide(2)
    campaign.reward(first.id, 1)
    before = campaign.history()
    for ids, rewards in [(1, 0), (9, 1), (2, 0.5), (2, True), ("2", 1), ([2, 1], [1, 0])]:
        with pytest.raises(um.UnimodalError):
            campaign.reward(ids, rewards)
    assert campaign.reward(1, 1) is False
    assert campaign.history().equals(before) and campaign.outstanding == 1
    campaign.close()
    assert bool(verify(path))


@pytest.mark.parametrize("closed", [True, False])
def test_rewards_told_again_are_known_however_long_ago(path, start, reopen, monkeypatch, closed):
    """Those of the last snapshot are in a table, later ones only in the log."""
    monkeypatch.setattr(rewards_in_log, "AT_HAND", -1)
    campaign = start()
    early = campaign.decide(3)
    assert campaign.reward([d.id for d in early], [1.0, 0.0, 1.0]) == [True] * 3
    if closed:
        campaign.close()
        campaign = reopen()
    late = campaign.decide(2)
    assert campaign.reward([d.id for d in late], [0.0, 1.0]) == [True] * 2
    ids = [decision.id for decision in [*early, *late]]
    assert campaign.reward(ids, [1.0, 0.0, 1.0, 0.0, 1.0]) == [False] * 5
    for number, other in ((2, 1.0), (5, 0.0)):
        with pytest.raises(um.UnimodalError, match=f"decision {number} has the reward"):
            campaign.reward(number, other)
    campaign.close()
    assert bool(verify(path))


def test_times_of_calls_that_wrote_nothing_are_not_in_the_state(path, start, reopen):
    """A duplicate, a refusal and an idle expire read the clock; the log cannot tell of them."""
    now = [0]  # whole seconds
    campaign = start(clock=lambda: now[0], time_to_live=100)
    number = campaign.decide().id
    campaign.reward(number, 1)
    calls = (
        lambda campaign: campaign.reward(number, 1),
        lambda campaign: campaign.expire(),
        lambda campaign: campaign.reward([], []),
    )
    for call in calls:
        now[0] += 10
        call(campaign)
        with pytest.raises(um.UnimodalError, match="no decision 7"):
            campaign.reward(7, 1)
        campaign.close()
        assert verify(path).wrong == []
        campaign = reopen(clock=lambda: now[0])
    campaign.close()


def test_close_twice_and_then_a_sentence(start):
    campaign = start()
    campaign.close()
    campaign.close()
    for call in (campaign.decide, campaign.history, campaign.arms, lambda: campaign.reward(1, 1)):
        with pytest.raises(um.UnimodalError, match="was closed here: open it again"):
            call()
    assert repr(campaign).endswith("closed)")


def test_history_has_a_row_an_event(path, start):
    now = [0.0]
    with start(LADDER, time_to_live=5, clock=lambda: now[0]) as campaign:
        first, second = campaign.decide(2)
        now[0] = 1.0
        campaign.reward(first.id, 1)
        now[0] = 6.0
        assert campaign.expire() == 1
        campaign.add_edges([("d", "e")])
        campaign.retire("a")
        rows = campaign.history().rows(named=True)
    kinds = ["open", "decide", "decide", "reward", "expire", "revision", "revision"]
    assert [row["kind"] for row in rows] == kinds
    assert list(rows[0]) == [
        *("seq", "time", "kind", "decision", "arm", "reason"),
        *("leader", "near", "propensity", "reward", "data"),
    ]
    assert [row["seq"] for row in rows] == list(range(1, 8))
    assert [row["time"] for row in rows] == [0.0, 0.0, 0.0, 1.0, 6.0, 6.0, 6.0]
    assert [row["decision"] for row in rows] == [None, 1, 2, 1, 2, None, None]
    assert [row["arm"] for row in rows[1:3]] == [first.arm, second.arm]
    assert rows[3]["reward"] == 1.0 and rows[4]["reward"] is None
    assert json.loads(rows[5]["data"])["add"] == [["d", "e"]]
    assert json.loads(rows[6]["data"])["retire"] == ["a"]
    assert look(path).history().rows(named=True) == rows


@pytest.mark.parametrize(
    "labels", [(2**70, 3, 4), ((1, "x"), (2, "y"), (3, "z")), ("é", "", "a b"), (0.5, 1.5, -2.5)]
)
def test_labels_of_every_kind_come_back(path, start, reopen, play, labels):
    graph = um.graphs.from_edges([labels[:2], labels[1:]], labels=labels)
    with start(graph) as campaign:
        first = [decision.arm for decision in play(campaign, 10)]
    with reopen() as campaign:
        assert {decision.arm for decision in play(campaign, 10)} | set(first) == set(labels)
    assert bool(verify(path))


def test_it_prints_its_file_and_agent(path, start):
    with start() as campaign:
        assert repr(campaign) == f"Campaign({str(path)!r}, Agent(UTS(), round 0, 7 arms))"
        assert campaign.leader is None and campaign.outstanding == 0


def test_its_agent_can_be_looked_at_but_not_asked(path, start):
    """What it did there would not be in the log, and the file could not be folded again."""
    campaign = start()
    campaign.decide(3)
    before = campaign.agent
    campaign.retire(0)
    for agent in (before, campaign.agent):
        for call in (
            agent.ask,
            agent.decide,
            agent.expire,
            lambda agent=agent: agent.tell(3, 1.0),
            lambda agent=agent: agent.reward(1, 1.0),
            lambda agent=agent: agent.settle(1, 1.0, 0.0),
        ):
            with pytest.raises(um.UnimodalError, match="is there to look at"):
                call()
    assert campaign.decide().id == 4
    assert campaign.reward(4, 1.0)
    assert bool(verify(path))


def test_text_that_is_none_is_refused_before_there_is_such_an_arm(path, start):
    graph = um.graphs.from_edges([("a", "b"), ("b", "\ud800")])
    with pytest.raises(um.UnimodalError, match="must be labelled by text"):
        start(graph)
    with start() as campaign:
        with pytest.raises(um.UnimodalError, match="must be labelled by text"):
            campaign.add_edges([(0, "\ud800")])
        assert len(campaign.decide(20)) == 20


def test_the_counts_of_its_oracle_are_there(path):
    oracle = um.Oracle(lambda arm: [arm - 1, arm + 1], root=0)
    with um.Campaign.open(path, graph=oracle, durability="fast") as campaign:
        campaign.decide(3)
        assert campaign.agent.oracle.calls == oracle.calls > 0


def test_the_agent_of_a_campaign_sends_to_the_campaign_for_a_certificate(tmp_path):
    with um.Campaign.open(tmp_path / "prices.db", um.UTS(), um.graphs.line(3)) as campaign:
        for _ in range(2):  # also after the first reward
            with pytest.raises(
                um.UnimodalError, match=r"ask the campaign itself, as by campaign\.certif"
            ):
                campaign.agent.certificate()
            campaign.reward(campaign.decide().id, 1.0)
        assert campaign.certificate().rewards == 2


def test_durabilities_are_defined_once_and_documented(tmp_path):
    """Both stores and the service refuse others in the same words; the reference names these."""
    from unimodal.campaigns.stores import DatabaseAddress, postgresql, sqlite
    from unimodal.campaigns.stores.sqlite.store import _SYNCHRONOUS
    from unimodal.campaigns.stores.store import DURABILITIES
    from unimodal.service.campaigns.open_campaigns import OpenCampaigns
    from unimodal.service.limits import ServiceLimits

    address = DatabaseAddress("postgresql://nobody@127.0.0.1:1/none", "prices")
    sentences = set()
    for refuse in (
        lambda: sqlite.open_store(tmp_path / "prices.db", "process", 1.0),
        lambda: postgresql.open_store(address, "process", 1.0),
        lambda: OpenCampaigns(None, ServiceLimits(), "process"),
    ):
        with pytest.raises(um.UnimodalError, match="unknown durability 'process'") as caught:
            refuse()
        sentences.add(str(caught.value))
    assert len(sentences) == 1
    documented = re.search(r"\n +durability\n +(.*)\n", um.Campaign.open.__doc__)[1]
    assert tuple(re.findall(r'"(\w+)"', documented)) == DURABILITIES
    assert tuple(_SYNCHRONOUS) == DURABILITIES
