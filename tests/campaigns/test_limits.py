"""Limits of an owner: paused arms, a cap on arms that do not lead, new arms, fewer edges."""

import json
import sqlite3
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unimodal as um
from unimodal.agents.propensity import propensity
from unimodal.agents.saving import copied, whole_state
from unimodal.campaigns import look, verify
from unimodal.graphs.build import components
from unimodal.graphs.bypass import bypassed
from unimodal.policies.state import ARM

LADDER = um.graphs.from_edges([(a, b) for a, b in zip("abcdef", "bcdefg", strict=True)])
QUICK = {"durability": "fast", "clock": lambda: 0.0}
MEANS = dict(zip("abcdefg", (0.1, 0.3, 0.5, 0.7, 0.6, 0.4, 0.2), strict=True))


def played(agent, rounds, seed=0):
    """Decide and reward; the decisions."""
    rng, made = np.random.default_rng(seed), []
    for _ in range(rounds):
        made.append(agent.decide())
        agent.reward(made[-1].id, float(rng.random() < MEANS[made[-1].arm]))
    return made


def change(path, statement):
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(statement)
    connection.close()


# Pausing.


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 10**6), st.integers(3, 12), st.integers(1, 11))
def test_one_peak_stays_one_peak_where_arms_are_bypassed(seed, n_arms, cut):
    """Means that rise along a random tree's paths to a peak; more edges; any arms cut off."""
    rng = np.random.default_rng(seed)
    parents = [int(rng.integers(arm)) for arm in range(1, n_arms)]  # the peak is arm 0
    more = {tuple(sorted(map(int, rng.choice(n_arms, 2, replace=False)))) for _ in range(3)}
    edges = {(parent, arm) for arm, parent in enumerate(parents, 1)} | more
    graph = um.graphs.from_edges(sorted(edges))
    numbers = [graph.label_of(arm) for arm in range(n_arms)]
    means = -np.array(numbers, dtype=float)  # a parent has a smaller number than its child
    gone = set(rng.choice(n_arms, min(cut, n_arms - 1), replace=False).tolist())
    passed = bypassed(graph, gone)
    left = [arm for arm in range(n_arms) if arm not in gone]
    best = max(left, key=lambda arm: means[arm])
    for arm in set(left) - {best}:
        assert means[passed.neighbors(arm)].max() > means[arm]
    ends = passed.edges()
    assert not gone & set(ends.ravel().tolist())
    assert len(set(components(n_arms, ends[:, 0], ends[:, 1])[left].tolist())) == 1


def test_a_hub_of_too_many_arms_is_not_bypassed():
    agent = um.Agent(um.UTS(start="probe(2)"), um.graphs.star(2000))
    with pytest.raises(um.UnimodalError, match=r"would join 1,999 arms .* more than 1,000,000"):
        agent.pause(0)
    assert agent.paused == [] and agent.decide().id == 1


@pytest.mark.parametrize(
    "policy",
    [
        *(um.UTS(), um.KLUCB(), um.ScoutUTS(), um.PeakUTS()),
        *(um.Windowed(um.UTS(), 12), um.Restarting(um.UTS())),
    ],
    ids=repr,
)
def test_a_paused_arm_is_not_offered_and_comes_back_with_what_was_known(policy):
    agent = um.Agent(policy, LADDER, seed=4)
    played(agent, 60)
    waiting = [agent.decide() for _ in range(30)]
    known = agent.arms()
    agent.pause("d", "e")
    assert agent.paused == ["d", "e"] and agent.arms().equals(known)
    assert not {"d", "e"} & {one.arm for one in played(agent, 50)}
    for one in waiting:  # also those of paused arms
        agent.reward(one.id, 1.0)
        assert agent.decide().arm not in ("d", "e")
    if not policy.forgets:
        pulls = dict(zip(known["arm"], known["pulls"], strict=True))
        now = dict(zip(agent.arms()["arm"], agent.arms()["pulls"], strict=True))
        assert now["d"] == pulls["d"] + [one.arm for one in waiting].count("d")
    agent.resume("e", "d")
    assert agent.paused == [] and {"d", "e"} & {one.arm for one in played(agent, 100)}


def test_neighbours_of_a_paused_arm_compete_with_each_other():
    agent = um.Agent(um.UTS(), LADDER, seed=1)
    agent.pause("d")
    rivals = [agent._player.view.played.near(LADDER.arm_of(arm)).tolist() for arm in "ce"]
    assert rivals == [[2, 1, 4], [4, 2, 5]]
    assert {one.near for one in played(agent, 40) if one.reason == "contest"} <= {2, 3}
    everybody = um.Agent(um.TS(), LADDER)
    everybody.pause("d")
    assert everybody.decide().near == 6


def test_the_largest_degree_is_that_of_the_graph_that_is_played():
    agent = um.Agent(um.OSUB(), um.graphs.star(6), seed=1)
    assert agent._player.scope.period == 6
    agent.pause(0, 5)  # what is left of the star is a complete graph of 4
    assert agent._player.scope.period == 4


def test_an_arm_that_was_paused_before_its_sweep_is_swept_when_it_comes_back():
    agent = um.Agent(um.UTS(), LADDER, seed=1)
    agent.pause("g")
    first = [agent.decide() for _ in range(8)]
    assert {one.arm for one in first[:6]} == set("abcdef") and first[6].reason != "start"
    agent.resume("g")
    assert (agent.decide().arm, agent.reason) == ("g", "start")
    agent.pause("g")  # it was asked for: not again
    agent.resume("g")
    assert agent.decide().reason != "start"


@pytest.mark.parametrize("policy", [um.UTS(), um.KLUCB()], ids=repr)
def test_the_arm_that_was_chosen_last_may_be_paused(policy):
    """KLUCB begins its search for the highest bound with that arm."""
    agent = um.Agent(policy, LADDER, seed=1)
    arm = None
    while agent.round < 40 or arm != "d":
        arm = agent.ask()
        agent.tell(arm, float(arm == "d"))
    agent.pause("d")
    assert agent.leader is None and agent.decide().arm != "d"


def test_a_restart_sweeps_the_arms_that_are_offered():
    agent = um.Agent(um.Restarting(um.UTS(), window=20, rate=1.0), LADDER, seed=1)
    agent.pause("a", "b")
    for _ in range(200):
        decision = agent.decide()
        agent.reward(decision.id, float(decision.arm == "d"))
    for _ in range(100):
        decision = agent.decide()
        agent.reward(decision.id, float(decision.arm == "e"))
        assert decision.arm not in "ab"
    assert agent._player.state.memory.restarts[0] > 0


def test_only_one_arm_may_be_left():
    agent = um.Agent(um.UTS(), LADDER, seed=1)
    agent.pause(*"abcdef")
    assert {one.arm for one in played(agent, 20)} == {"g"}


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda it: it.pause(), "pause needs the arms to pause, got none"),
        (lambda it: it.resume(), "resume needs the arms to resume"),
        (lambda it: it.pause("zz"), "no arm of this graph is called 'zz'"),
        (lambda it: it.pause(["a"]), "no arm of this graph is called"),
        (lambda it: it.pause("b"), "'b' is paused already"),
        (lambda it: it.pause("c", "c"), "'c' is paused already"),
        (lambda it: it.pause(*"acdefg"), "at least one arm must be offered"),
        (lambda it: it.resume("a"), "'a' is not paused"),
        (lambda it: it.resume("b", "b"), "'b' is not paused"),
        (lambda it: it.cap(None), "there is no cap to lift"),
        (lambda it: it.cap(0), "the 'share' of a cap must be a finite number greater than 0"),
        (lambda it: it.cap(1.5), "must lie between 0 and 1, got 1.5"),
        (lambda it: it.cap(True), "the 'share' of a cap must"),
        (lambda it: it.cap("x"), "the 'share' of a cap must"),
        (lambda it: it.cap(float("nan")), "the 'share' of a cap must"),
        (lambda it: it.cap(0.2, over=0), "the 'over' of a cap must be a whole number"),
        (lambda it: it.cap(0.2, over=10**7), "the 'over' of a cap must be at most 1e"),
        (lambda it: it.cap(0.01, over=50), "at least one decision, .* over 100 decisions or more"),
    ],
)
def test_a_bad_limit_is_one_sentence_and_changes_nothing(path, start, call, words):
    with start(LADDER) as campaign:
        campaign.pause("b")
        played(campaign, 10)
        agent = um.Agent(um.UTS(), LADDER)
        agent.pause("b")
        before = campaign.history()
        for one in (campaign, agent):
            with pytest.raises(um.UnimodalError, match=words) as sentence:
                call(one)
            assert "\n" not in str(sentence.value)
        assert campaign.history().equals(before) and campaign.paused == ["b"] == agent.paused
        campaign.decide()
    assert bool(verify(path))


def test_where_there_are_no_such_limits(path):
    agent = um.Agent(um.TS(), LADDER)
    with pytest.raises(um.UnimodalError, match=r"with TS\(\) nobody leads"):
        agent.cap(0.2)
    lazy = um.Agent(um.ScoutUTS(), lambda arm: (arm - 1, arm + 1), root=0)
    with pytest.raises(um.UnimodalError, match="known by look-up arms cannot be paused"):
        lazy.pause(0)
    lazy.cap(0.25, over=8)
    for number in range(40):
        lazy.reward(lazy.decide().id, float(number % 3 == 0))


# A cap.


@pytest.mark.parametrize(("share", "over"), [(0.2, 10), (0.1, 40), (1.0, 3)])
def test_an_arm_that_does_not_lead_has_at_most_its_share(share, over):
    agent = um.Agent(um.UTS(), um.graphs.complete(7), seed=2)
    agent.cap(share, over=over)
    rng, arms, reasons = np.random.default_rng(5), [], Counter()
    for _ in range(400):
        decision = agent.decide()
        arms.append(decision.arm)
        reasons[decision.reason] += 1
        if decision.reason in ("contest", "cap") and decision.arm != decision.leader:
            assert arms[-over:].count(decision.arm) <= share * over
        if decision.reason == "cap":
            assert decision.arm == decision.leader
        agent.reward(decision.id, float(rng.random() < 0.4 + 0.05 * (decision.arm == 3)))
    assert (reasons["cap"] > 10) == (share < 1)
    agent.cap(None)
    assert all(agent.decide().reason != "cap" for _ in range(50))


@pytest.mark.parametrize("policy", [um.UTS(), um.ScoutUTS(), um.PeakUTS()], ids=repr)
def test_the_propensities_of_what_can_be_played_add_up_to_1(policy):
    agent, seen = um.Agent(policy, um.graphs.complete(5), seed=2), Counter()
    agent.cap(0.1, over=20)
    for number in range(120):
        arm, reason, leader, _ = agent._player.play()
        full = agent._player.limits.full
        if reason in ("contest", "cap"):
            others = [one for one in range(5) if one != leader and one not in full]
            chances = {one: agent._player.propensity(one, leader, reason) for one in range(5)}
            assert sum(chances[one] for one in [leader, *others]) == pytest.approx(1, abs=1e-5)
            seen[reason, bool(full)] += 1
        agent._player.learn(arm, float(number % 3 > 0))
    assert seen["cap", True] > 2 and seen["contest", True] > 2


def test_a_deterministic_choice_that_was_capped_was_certain():
    agent = um.Agent(um.OSUB(), LADDER, seed=2)
    agent.cap(0.05, over=20)
    rng, capped = np.random.default_rng(3), []
    for _ in range(150):
        decision = agent.decide(propensity=True)
        agent.reward(decision.id, float(rng.random() < MEANS[decision.arm]))
        capped += [decision.propensity] * (decision.reason == "cap")
    assert len(capped) > 10 and set(capped) <= {1.0, 0.5} and 1.0 in capped


@pytest.mark.parametrize("policy", [um.OSUB(), um.IMEDUB()], ids=repr)
def test_where_a_capped_arm_ties_with_another_the_leader_had_half_a_chance(policy):
    arms = np.zeros(3, dtype=ARM)
    arms["pulls"], arms["total"] = [50, 2, 2], [30, 1, 1]
    named = {"leader": 0, "clock": 50, "capped": (1,)}
    chances = [propensity(policy, um.Bernoulli(), arms, [0, 1, 2], arm, **named) for arm in (0, 2)]
    assert chances == [0.5, 0.5]


# In a campaign.


def test_a_campaign_within_limits_goes_on_like_an_agent(path, start, reopen):
    agent = um.Agent(um.UTS(), LADDER, seed=4, clock=lambda: 0.0)
    steps = [("pause", "d"), ("cap", 0.1, 30), ("pause", "a"), ("resume", "d"), ("cap", None)]
    one, other = start(LADDER), reopen()
    for number, (name, *what) in enumerate(steps):
        getattr(agent, name)(*what)
        getattr((one, other)[number % 2], name)(*what)
        expected = played(agent, 30, number)
        assert played((other, one)[number % 2], 30, number) == expected
        if number == 2:  # from a snapshot with all of it
            one.close()
            one = reopen()
    kinds = one.history()["kind"].to_list()
    assert kinds.count("limit") == len(steps) and one.paused == ["a"]
    one.close()
    other.close()
    verdict = verify(path)
    assert verdict and verdict.counts["limit"] == len(steps)
    with reopen() as again:
        assert played(again, 10, 9) == played(agent, 10, 9)
        assert um.inspect(again).facts["paused"] == "a"


def test_labels_of_more_than_one_part(path, start):
    graph = um.graphs.from_edges([((0, "a"), (1, "b")), ((1, "b"), (2, "c"))])
    with start(graph) as campaign:
        campaign.pause((1, "b"))
        campaign.insert((9, "z"), between=[(0, "a"), (1, "b")])
        arms = {campaign.decide().arm for _ in range(12)}
        assert campaign.paused == [(1, "b")] and arms == {(0, "a"), (2, "c"), (9, "z")}
    assert bool(verify(path))


def test_others_follow_rewards_of_paused_arms(path, start, reopen):
    one, other = start(LADDER), reopen()
    waiting = one.decide(14)
    one.pause("d")
    for decision in waiting:
        one.reward(decision.id, float(decision.arm == "d"))
    assert all(decision.arm != "d" for decision in other.decide(20))
    other.resume("d")
    assert one.decide(1)[0].leader == "d"
    one.close()
    other.close()
    assert bool(verify(path))


def test_a_state_without_limits_has_no_word_of_them(start):
    with start(LADDER) as campaign:
        played(campaign, 10)
        assert "limits" not in whole_state(campaign.agent)
        campaign.pause("a")
        campaign.cap(0.5)
        assert whole_state(campaign.agent)["limits"]["paused"] == [0]
        campaign.resume("a")
        campaign.cap(None)
        assert "limits" not in whole_state(campaign.agent)


def test_a_copy_of_an_agent_stays_what_it_was():
    """A snapshot is written from it, beside the decisions that are made meanwhile."""
    agent = um.Agent(um.UTS(), LADDER, seed=4)
    agent.cap(0.1, over=20)
    played(agent, 30)
    twin, before = copied(agent), whole_state(agent)
    played(agent, 5)
    assert whole_state(twin) == before != whole_state(agent)


def test_a_saved_agent_keeps_its_limits(tmp_path):
    agent = um.Agent(um.UTS(), LADDER, seed=4)
    agent.pause("c")
    agent.cap(0.1, over=20)
    played(agent, 40)
    again = um.Agent.load(agent.save(tmp_path / "agent.json"))
    assert again.paused == ["c"] and whole_state(again) == whole_state(agent)
    assert [one.arm for one in played(again, 60)] == [one.arm for one in played(agent, 60)]


@pytest.mark.parametrize(
    "limits",
    [
        {"paused": [7]},
        {"paused": [0, 0]},
        {"paused": [1, 0]},
        {"paused": list(range(7))},
        {"paused": ["a"]},
        {"paused": [], "cap": [0.5, 10]},
        {"paused": [], "recent": []},
        {"paused": [], "cap": [0.5, 10], "recent": [9]},
        {"paused": [], "cap": [0.5, 10], "recent": [0] * 10},
        {"paused": [], "cap": [2.0, 10], "recent": []},
        {"paused": [], "cap": [0.01, 10], "recent": []},
        {"paused": [], "cap": [0.5], "recent": []},
        {},
        None,
    ],
)
def test_limits_of_a_file_that_cannot_be_are_refused(tmp_path, limits):
    path = um.Agent(um.UTS(), LADDER).save(tmp_path / "agent.json")
    data = json.loads(path.read_text())
    path.write_text(json.dumps({**data, "limits": limits}))
    with pytest.raises(um.UnimodalError, match="another kind, or damaged"):
        um.Agent.load(path)


@pytest.mark.parametrize(
    "data",
    ["{}", "[]", "nonsense", '{"pause": 5}', '{"pause": ["zz"]}', '{"resume": ["a"]}',
     '{"cap": [5, 10]}', '{"cap": 5}', '{"stop": []}', '{"pause": [null]}'],
)  # fmt: skip
def test_a_limit_of_a_log_that_cannot_be_is_damage(path, start, data):
    with start(LADDER) as campaign:
        campaign.pause("b")
        played(campaign, 5)
    change(path, f"UPDATE log SET data = '{data}' WHERE kind = 'limit'")
    change(path, "DELETE FROM snapshots")
    assert not verify(path) and "event 2" in verify(path).wrong[0]
    with pytest.raises(um.errors.DamagedFile, match="event 2 of"):
        look(path)


def test_a_decision_of_the_log_counts_for_the_cap_where_another_came_out(path, start, reopen):
    with start(LADDER) as campaign:
        campaign.cap(0.05, over=20)
        made = played(campaign, 60)
    last = next(one for one in reversed(made) if one.reason == "cap")
    near = [arm for arm in (chr(ord(last.leader) + 1), chr(ord(last.leader) - 1)) if arm in MEANS]
    change(path, "DELETE FROM snapshots")
    place = f"WHERE decision = {last.id} AND kind = 'decide'"
    change(path, f"UPDATE log SET arm = '{near[0]}', reason = 'contest' {place}")
    with reopen() as campaign:
        recent = campaign.agent._player.limits.recent
        expected = [near[0] if one.id == last.id else one.arm for one in made[-19:]]
        assert [LADDER.label_of(arm) for arm in recent] == expected
    assert f"decision {last.id}" in verify(path).wrong[0]
    change(path, f"UPDATE log SET reason = 'cap' {place}")  # a cap plays the leader only
    change(path, "DELETE FROM snapshots")
    with pytest.raises(um.errors.DamagedFile, match="which cannot be"):
        look(path)


def test_a_decision_is_not_capped_where_there_is_no_cap(path, start):
    with start(LADDER) as campaign:
        played(campaign, 20)
    change(path, "UPDATE log SET reason = 'cap' WHERE reason = 'forced leader'")
    change(path, "DELETE FROM snapshots")
    with pytest.raises(um.errors.DamagedFile, match="which cannot be"):
        look(path)


# The graph.


def test_a_new_arm_is_inserted(path, start, reopen):
    with start(LADDER) as campaign:
        played(campaign, 30)
        known = campaign.arms()
        campaign.insert("dd", between=("d", "e"))
        graph = campaign.agent.graph
        ends = {frozenset(map(graph.label_of, edge)) for edge in graph.edges().tolist()}
        assert {frozenset("cd"), frozenset(("d", "dd")), frozenset(("dd", "e"))} <= ends
        assert frozenset("de") not in ends and campaign.arms().equals(known)
        assert (campaign.decide().arm, campaign.decide().reason != "start") == ("dd", True)
        campaign.add_edges([("d", "e")])
        campaign.remove_edges([["e", "d"]])
    with reopen(graph=graph) as campaign:  # the graph that it became is known
        campaign.decide(5)
    assert bool(verify(path))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda it: it.insert("dd", between=("c", "e")), "'c' - 'e', which are not joined"),
        (lambda it: it.insert("dd", between=("c", "zz")), "'c' - 'zz', which are not joined"),
        (lambda it: it.insert("d", between=("a", "b")), "must be new, got 'd'"),
        (lambda it: it.insert("dd", between="cd"), "the two arms between which .* got 'cd'"),
        (lambda it: it.insert("dd", between=("c",)), "the two arms between which"),
        (lambda it: it.insert(["dd"], between=("c", "d")), "a label must be hashable"),
        (lambda it: it.insert(None, between=("c", "d")), "a label must be text"),
        (lambda it: it.remove_edges([]), "remove_edges needs the edges to remove, got none"),
        (lambda it: it.remove_edges(5), "a list of pairs of labels, got 5"),
        (lambda it: it.remove_edges("ab"), "a list of pairs of labels, got 'ab'"),
        (lambda it: it.remove_edges(["abc"]), "an edge to remove must be a pair of labels"),
        (lambda it: it.remove_edges([("a", "c")]), "'a' - 'c', which are not joined"),
        (lambda it: it.remove_edges([("a", "a")]), "'a' - 'a', which are not joined"),
        (lambda it: it.remove_edges([("a", "b")]), "must be connected"),
        (lambda it: it.retire(*"abefg"), "at least one arm must be offered"),
    ],
)
def test_a_bad_change_of_the_graph_changes_nothing(path, start, call, words):
    with start(LADDER) as campaign:
        campaign.pause("c", "d")
        played(campaign, 8)
        before = campaign.history()
        with pytest.raises(um.UnimodalError, match=words) as sentence:
            call(campaign)
        assert "\n" not in str(sentence.value) and campaign.history().equals(before)
        campaign.decide()
    assert bool(verify(path))


def test_the_graph_changes_while_arms_are_paused(path, start, reopen):
    one, other = start(LADDER), reopen()
    played(one, 20)
    one.pause("d", "b")
    one.cap(0.2, over=10)
    played(other, 15)
    other.add_edges([("g", "h"), ("a", "c")])
    other.insert("dd", between=("d", "e"))
    MEANS.setdefault("dd", 0.6), MEANS.setdefault("h", 0.1)
    one.retire("b")
    assert one.paused == ["d"] and other.agent.graph.n_arms == 8
    arms = {decision.arm for decision in played(one, 60)}
    assert "d" not in arms and {"dd", "h"} <= arms
    near = other.agent._player.view.played.near(other.agent.graph.arm_of("dd"))
    assert {other.agent.graph.label_of(int(arm)) for arm in near} == {"dd", "c", "e"}
    other.resume("d")
    assert "d" in {decision.arm for decision in played(other, 60)}
    one.close()
    other.close()
    assert bool(verify(path))


def test_a_link_of_a_scout_is_no_competitor_twice():
    """Arms that are joined by a bypass may have been linked before."""
    agent, twice = um.Agent(um.ScoutUTS(), um.graphs.line(12), seed=3), 0
    for number in range(60):
        if number % 6 == 5:
            agent.pause(number // 6 + 1)
        arm = agent.ask()
        agent.tell(arm, float(number % 2))
        arena = agent._player.view.arena
        for first, last in zip(arena.first, arena.last, strict=True):
            row = arena.near[first:last].tolist()
            twice += len(row) - len(set(row))
            assert len(row) == 1 or not set(row) & set(agent.paused)
    assert twice == 0 and len(agent.paused) == 10
