"""Walks to far arms: where they go, what they cost, and when there are no more of them."""

import math

import pytest
from scipy import stats

import unimodal as um
from unimodal.lookup.walks import look_ups_for_walks

POWERS = (2, 4, 8, 16, 32, 64)


def line(arm):
    return [arm - 1, arm + 1]


def far_from(arm):
    """Where walks on a line are after 2, 4, … steps, if they never turn back."""
    return {arm + sign * steps for sign in (1, -1) for steps in POWERS}


def first_lead(neighbours=line, root=0, seed=1, **options):
    """ScoutUTS behind an oracle, when its root leads for the first time."""
    agent = um.Agent(um.ScoutUTS(), um.Oracle(neighbours, root=root, **options), seed=seed)
    assert agent.ask() == root and agent.look_ups == 0
    agent.tell(root, 1.0)
    agent.ask()
    return agent


def links(agent, arm):
    view = agent._player.view
    return {view.labels[other] for other in view._rows.links(view.arm_of(arm))}


def test_two_walks_set_out_in_different_directions_and_never_turn_back():
    """Where a walk is after 2, 4, …, 64 steps; of these, its first step needs no look-up."""
    agent = first_lead()
    assert links(agent, 0) == far_from(0)
    assert agent.look_ups == 1 + 2 * 63


def test_a_walk_ends_where_there_is_nowhere_else_to_go():
    path = {arm: [other for other in line(arm) if -3 <= other <= 6] for arm in range(-3, 7)}
    assert links(first_lead(path.__getitem__), 0) == {2, 4, 6, -2, -3}


def test_a_walk_ends_where_nobody_answers():
    """After 2 steps to one side, and where it first stood still on the other."""
    path = {0: [-1, 1], 1: [0, 2], -1: [0, -2], -2: [-1, -3], -3: [-2, -4]}
    agent = first_lead(path.__getitem__, retries=0)
    assert links(agent, 0) == {2, -2, -4}
    assert agent.look_up_counts["failed"] == 2


def test_a_walk_goes_on_to_each_other_neighbour_equally_often():
    """Chi-square over three ways that are not back; a false alarm in 1 of 1000 seeds."""
    graph = {"root": ["x"], "x": ["a", "root", "b", "c"], "a": ["x"], "b": ["x"], "c": ["x"]}
    counts = dict.fromkeys("abc", 0)
    for seed in range(600):
        (met,) = links(first_lead(graph.__getitem__, "root", seed), "root")
        counts[met] += 1
    assert stats.chisquare(list(counts.values())).pvalue > 1e-3


@pytest.mark.parametrize(("rounds", "bound"), [(0, 0), (1, 100), (4, 200), (10_000, 10_000)])
def test_walks_may_have_cost_a_hundred_times_the_root_of_the_rounds(rounds, bound):
    assert look_ups_for_walks(rounds) == bound


def lead(agent, arm):
    """Let an arm lead in the next round: all that is pulled shows less than 1, and it shows 1."""
    for other in agent.arms().filter(mean=1.0)["arm"].to_list():
        if other != arm:
            agent.tell(other, 0.0)
    if agent.arms().filter(arm=arm)["mean"].to_list() != [1.0]:
        assert agent.arms().filter(arm=arm)["pulls"].sum() == 0
        agent.tell(arm, 1.0)
    agent.ask()
    assert agent.leader == arm


def test_links_lead_to_arms_that_were_not_pulled():
    agent = first_lead()
    agent.tell(8, 0.0)
    lead(agent, 2)
    assert 0 in far_from(2) and links(agent, 2) == far_from(2) - {0}
    lead(agent, 4)
    assert {0, 2, 8} <= far_from(4) and links(agent, 4) == far_from(4) - {0, 2, 8}


def test_one_that_was_forgotten_is_looked_up_but_not_linked_again():
    """A cache of 8, through which the walks of another leader went."""
    agent = first_lead(cache=8)
    lead(agent, 2)
    agent.ask(100)  # so that walks would be allowed
    before = agent.look_ups
    assert before + 200 < 100 * math.sqrt(agent.round)
    agent.tell([0, 2, 2, 2], [1.0, 0.0, 0.0, 0.0])
    agent.ask()
    assert agent.leader == 0 and agent.look_ups == before + 1
    assert links(agent, 0) == set()


def test_no_walk_sets_out_once_there_were_too_many_look_ups():
    """The end of a link leads in every round, and walks from there would cost some 64 each.

    They may set out only while there were fewer than 100·√rounds look-ups in all; who leads is
    looked up in any case, and so are both of its neighbours' walks where that is allowed.
    """
    agent, stopped, walked = first_lead(), 0, 0
    for _ in range(60):
        rounds, before = agent.round, agent.look_ups
        known = agent.arms()["arm"].to_list()
        lead(agent, max(label for label in agent._player.view.labels if label not in known))
        cost, bound = agent.look_ups - before, 100 * math.sqrt(rounds)
        if before + 1 >= bound:
            assert cost <= 1 and not links(agent, agent.leader)
            stopped += 1
        else:
            assert cost > 32 and links(agent, agent.leader)
            walked += 1
    assert stopped > 20 and walked > 5
    assert agent.look_ups < 100 * math.sqrt(agent.round) + 127


def test_answers_that_a_walk_went_through_are_not_the_first_to_be_forgotten():
    """The root's walks asked for all from -63 to 63. Those of 2 go down to -61, and ask for two.

    There is room for one of these. If the walk down comes first, one is forgotten for the other
    that neither went through.
    """
    seen = 0
    for seed in range(10):
        agent = first_lead(seed=seed, cache=128)
        lead(agent, 2)
        view = agent._player.view
        first = view.labels[view._rows.links(view.arm_of(2))[0]]
        if first < 2:
            assert set(range(-61, 66)) <= {label for label, _ in view.answers.kept()}
            seen += 1
    assert seen > 1
