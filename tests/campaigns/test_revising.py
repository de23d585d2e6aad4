"""Campaigns whose graph changes: the log tells it, and everybody follows."""

import numpy as np
import pytest

import unimodal as um
from unimodal.agents.revision import revised
from unimodal.campaigns import verify

LINE = um.graphs.line(7)
LADDER = um.graphs.from_edges([("a", "b"), ("b", "c"), ("c", "d")])


def test_a_revised_campaign_goes_on_like_a_revised_agent(path, start, reopen, play):
    agent = um.Agent(um.UTS(), LADDER, seed=4, clock=lambda: 0.0)
    with start(LADDER) as campaign:
        assert play(campaign, 20) == play(agent, 20)
        campaign.add_edges([("d", "e"), ("a", "c")])
        campaign.retire("b")
        assert campaign.agent.graph.labels == ("a", "c", "d", "e")
        grown = um.graphs.revised(LADDER, [("d", "e"), ("a", "c")])
        agent = revised(revised(agent, grown), um.graphs.revised(grown, retire=["b"]))
        assert play(campaign, 20) == play(agent, 20)
        now = campaign.agent.graph
    for graph in (LADDER, grown, now, None):  # as it was, as it became, or left out
        with um.Campaign.open(path, graph=graph, clock=lambda: 0.0) as campaign:
            assert play(campaign, 5) == play(agent, 5)
    with pytest.raises(um.UnimodalError, match="another campaign: its graph"):
        reopen(graph=LINE)
    assert bool(verify(path))


def test_another_process_follows_a_revision(path, start, reopen, pulls):
    one, other = start(LADDER), reopen()
    open_before = one.decide(4)
    one.retire("a")
    for decision in open_before:
        assert other.reward(decision.id, 1.0) is True
    assert set(pulls(other)) == {"b", "c", "d"} and pulls(one) == pulls(other)
    other.close()
    one.close()
    assert bool(verify(path))


def test_numpy_numbers_are_numbers(path, start):
    with start(LINE) as campaign:
        campaign.add_edges([[0, 7], [np.int64(7), 2], (np.int64(7), np.int64(8))])
        campaign.retire(np.int64(8))
        assert campaign.agent.graph.labels == tuple(range(8))
    assert bool(verify(path))


@pytest.mark.parametrize(
    ("edges", "words"),
    [
        (5, "a list of pairs of labels, got 5"),
        (["ab"], "a pair of labels, got 'ab'"),
        ([5], "a pair of labels, got 5"),
        ([("a", b"x")], "labelled by text, numbers or tuples"),
        ([("a", ["x"])], "a label must be hashable"),
        ([("x", "y")], "must be connected"),
        ([("a", "b")], "must be given once"),
        ([("a", "a")], "self-loop"),
    ],
)
def test_a_bad_revision_changes_nothing(path, start, play, edges, words):
    with start(LADDER) as campaign:
        play(campaign, 6)
        before = campaign.history()
        with pytest.raises(um.UnimodalError, match=words):
            campaign.add_edges(edges)
        with pytest.raises(um.UnimodalError, match="must be one of the graph"):
            campaign.retire("zz")
        assert campaign.history().equals(before) and campaign.decide().arm in "abcd"
    assert bool(verify(path))


def test_a_graph_known_by_look_up_is_not_revised_by_hand(path):
    def neighbours(arm):
        return [arm - 1, arm + 1]

    campaign = um.Campaign.open(path, graph=neighbours, root=0, durability="fast")
    with campaign, pytest.raises(um.UnimodalError, match="changes by itself"):
        campaign.add_edges([(1, 5)])


def test_a_window_is_that_of_the_last_rewards_after_revisions_too(path):
    """Pulls, recounted after every reward by two who have the file open, and after reopening."""
    named = {"durability": "fast", "clock": lambda: 0.0}
    one = um.Campaign.open(path, um.Windowed(um.UTS(), 12), LADDER, seed=3, **named)
    other, told = um.Campaign.open(path, **named), []

    def turn(number):
        decision = (one, other)[number % 2].decide()
        (one, other)[number // 2 % 2].reward(decision.id, float(number % 3 == 0))
        told.append(decision.arm)
        for campaign in (one, other):
            rows = campaign.arms().rows(named=True)
            found = {row["arm"]: row["pulls"] for row in rows if row["pulls"]}
            assert found == {arm: told[-12:].count(arm) for arm in told[-12:]}

    for number in range(20):
        turn(number)
    one.add_edges([("d", "e"), ("a", "c")])
    for number in range(5):
        turn(number)
    other.retire("b")
    told = [arm for arm in told[-12:] if arm != "b"]
    for number in range(20):
        turn(number)
    one.close()
    one = um.Campaign.open(path, **named)
    for number in range(8):
        turn(number)
    one.close()
    other.close()
    assert bool(verify(path))
