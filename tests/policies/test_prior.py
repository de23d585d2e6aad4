"""What a prior does: to posterior draws always, to the lead and the start where it is informative.

A pair for each arm counts if it is worth at least one reward more than the family's default.
"""

import json
import sqlite3
from types import SimpleNamespace

import numpy as np
import pytest

import unimodal as um
from unimodal import policies
from unimodal.engines.capability import why_not_leap
from unimodal.families.family import prior_worth, prior_worths
from unimodal.kernels.compile import record
from unimodal.policies.scope import with_prior

LINE = um.graphs.line(5)
MEANS = [0.2, 0.4, 0.6, 0.8, 0.7]
KNOWN = [(2000 * mean, 2000 * (1 - mean)) for mean in MEANS]  # 2,000 visits an arm


def reasons(policy, family=None, rounds=4, graph=LINE):
    agent = um.Agent(policy, graph, family, seed=1)
    return [(agent.ask(), agent.reason, agent.leader) for _ in range(rounds)]


def test_arms_known_from_a_prior_are_not_swept_and_lead():
    for policy in (um.UTS(prior=KNOWN), um.ScoutUTS(prior=KNOWN), um.UTS(KNOWN, start="probe(3)")):
        asked = reasons(policy)
        assert {(reason != "start", leader) for _, reason, leader in asked} == {(True, 3)}


@pytest.mark.parametrize(
    "policy",
    [
        um.UTS(prior=KNOWN, prior_leads=False),
        um.UTS(prior=(20, 20)),  # of all arms: it says nothing about which is better
        um.UTS(prior=[(1.45, 1.45)] * 5),  # worth 2.9 rewards, and the default 2
        um.Windowed(um.UTS(prior=KNOWN), window=50),
    ],
)
def test_other_priors_leave_the_sweep_and_the_leader_as_they_were(policy):
    asked = reasons(policy, rounds=5)
    assert [arm for arm, _, _ in asked] == [arm for arm, _, _ in reasons(um.UTS(), rounds=5)]
    assert {reason for _, reason, _ in asked} == {"start"}


def test_arms_without_an_informative_prior_are_swept():
    prior = [(1, 1), (30, 10), (1, 1), (1.5, 1.5), (1, 1)]
    asked = reasons(um.UTS(prior=prior), rounds=4)
    assert sorted(arm for arm, reason, _ in asked if reason == "start") == [0, 2, 4]
    assert asked[3][1:] == ("forced leader", 1)


def test_an_arm_without_one_leads_by_its_rewards():
    """Four successes of five are more than Beta(30, 10) has; the posterior mean, 5/7, is less."""
    agent = um.Agent(um.UTS(prior=[(1, 1), (30, 10), (2, 9)]), um.graphs.line(3), seed=1)
    agent.tell([0] * 5, [1.0, 1.0, 1.0, 0.0, 1.0])
    agent.ask(2)
    assert agent.leader == 0


def test_the_leader_goes_by_the_posterior_mean():
    """Beta(6, 4) and 3 failures: 6/13, below the 5/10 of another; by rewards alone it is 0."""
    agent = um.Agent(um.UTS(prior=[(6, 4), (5, 5), (1, 9)]), um.graphs.line(3), seed=2)
    leaders = []
    for told in ([], [0.0], [0.0, 0.0]):
        for reward in told:
            agent.tell(0, reward)
        agent.ask()
        leaders.append(agent.leader)
    assert leaders == [0, 0, 1]
    for _ in range(6):
        agent.tell(2, 1.0)  # 7/16
    agent.ask()
    assert agent.leader == 1
    for _ in range(8):
        agent.tell(2, 1.0)  # 15/24
    agent.ask()
    assert agent.leader == 2


@pytest.mark.parametrize(
    ("family", "prior", "worth", "informative"),
    [
        (um.Bernoulli(), (3, 7), (10, 3), 3),
        (um.Bounded(2, 6), (3, 7), (10, 2 * 10 + 4 * 3), 3),
        (um.Gaussian(2.0), (5, 0.5), (16, 80), 1.0001),
        (um.Poisson(), (12, 4), (4, 12), 2),
        (um.Exponential(), (4, 12), (4, 12), 2),
    ],
)
def test_every_family_says_what_a_prior_is_worth(family, prior, worth, informative):
    assert prior_worths(family, [prior])[:, 0].tolist() == list(worth)
    assert family.informative_from == pytest.approx(informative)
    low = {um.Gaussian: (0.0, 0.5), um.Exponential: (4, 1.0)}.get(type(family), (1.0, 6.0))
    policy, rng = um.UTS(prior=[low, prior, low]), um.random.stream(0, 0, um.random.POLICY)
    state = policy.new_state(3, family, rng)
    assert len(state.begin) == 0 and state.best[1] == worth[1] / worth[0]
    assert prior_worth(record(family), state.arms[1]) == worth  # compiled, for one arm


def test_a_family_of_ones_own_has_priors_that_nobody_can_count():
    class Odd(um.Bernoulli):
        def posterior(self, arm, rng):
            return um.random.uniform(rng)

    assert prior_worths(Odd(), KNOWN).tolist() == [[0.0] * 5] * 2
    assert prior_worths(um.Bernoulli(), KNOWN)[0] == pytest.approx(2000)


def test_a_saved_agent_has_the_same_board(tmp_path):
    family = um.Gaussian(1.0)
    prior = [(0.1 * arm, 1 / (arm + 1.5)) for arm in range(5)]
    agent = um.Agent(um.UTS(prior=prior), LINE, family, seed=1)
    for number in range(40):
        agent.tell(agent.ask(), np.sin(number))
    again = um.Agent.load(agent.save(tmp_path / "agent.json"))
    assert np.array_equal(again._player.state.best, agent._player.state.best)
    assert [again.ask() for _ in range(50)] == [agent.ask() for _ in range(50)]


def test_simulations_and_agents_choose_the_same():
    problem = um.Problem(LINE, MEANS)
    policy = um.UTS(prior=KNOWN)
    played = um.simulate(problem, policy, horizon=60, trials=1, history=True)["UTS"]
    agent = um.Agent(policy, LINE)
    for arm, reward in zip(played.arms[0].tolist(), played.rewards[0].tolist(), strict=True):
        assert agent.ask() == arm
        agent.tell(arm, reward)


def test_the_leap_engine_says_why_it_does_not_play():
    problem = um.Problem(LINE, MEANS)
    assert "priors of its arms count for the leader" in why_not_leap(um.UTS(prior=KNOWN), problem)
    assert "priors of its arms" in why_not_leap(um.ScoutUTS(prior=KNOWN), problem)
    for policy in (um.UTS(prior=(9, 9)), um.UTS(prior=KNOWN, prior_leads=False), um.TS(KNOWN)):
        assert why_not_leap(policy, problem) == ""
    with pytest.raises(um.UnimodalError, match="use engine='step'"):
        um.simulate(problem, um.UTS(prior=KNOWN), horizon=60, trials=1, engine="leap")


# Files from before priors counted.


def older(data):
    """What versions before this one wrote."""
    data = json.loads(json.dumps(data))
    for parameters in (data["parameters"], data["parameters"].get("policy", data)["parameters"]):
        parameters.pop("prior_leads", None)
    return data


def test_policies_without_such_a_prior_are_written_as_before():
    for policy in (um.UTS(), um.UTS(prior=(9, 9)), um.ScoutUTS(), um.TS(prior=KNOWN)):
        assert "prior_leads" not in policies.to_data(policy)["parameters"]
        assert policies.from_data(policies.to_data(policy)) == policy
    assert um.UTS(prior=(9, 9), prior_leads=False) == um.UTS(prior=(9, 9))


@pytest.mark.parametrize("prior_leads", [True, False])
def test_a_policy_comes_back_as_it_was_written(prior_leads):
    policy = um.UTS(prior=KNOWN, prior_leads=prior_leads)
    wrapped = um.Windowed(policy, window=9)
    for one in (policy, wrapped):
        assert policies.from_data(json.loads(json.dumps(policies.to_data(one)))) == one


def test_an_older_file_means_what_it_meant():
    policy, meant = um.UTS(prior=KNOWN), um.UTS(prior=KNOWN, prior_leads=False)
    assert policies.from_data(older(policies.to_data(policy))) == meant
    wrapped = um.Windowed(policy, window=9)
    assert policies.from_data(older(policies.to_data(wrapped))) == um.Windowed(meant, window=9)


def test_an_older_agent_goes_on_as_it_was(tmp_path):
    agent = um.Agent(um.UTS(prior=KNOWN, prior_leads=False), LINE, seed=1)
    agent.ask(3)
    path = agent.save(tmp_path / "agent.json")
    data = json.loads(path.read_text())
    data["policy"] = older(data["policy"])
    path.write_text(json.dumps(data))
    rest = agent.ask(20)
    for policy in (None, um.UTS(prior=KNOWN), um.UTS(prior=KNOWN, prior_leads=False)):
        assert um.Agent.load(path, policy=policy).ask(20) == rest
    with pytest.raises(um.UnimodalError, match="pass the policy it was saved with"):
        um.Agent.load(path, policy=um.UTS(prior=KNOWN[::-1]))


def test_an_older_campaign_folds_as_before_and_knows_its_policy(tmp_path):
    path, quick = tmp_path / "campaign.db", {"durability": "fast", "clock": lambda: 0.0}
    policy = um.UTS(prior=KNOWN, prior_leads=False)
    with um.Campaign.open(path, policy, LINE, **quick) as campaign:
        assert [campaign.decide().reason for _ in range(5)] == ["start"] * 5
    with sqlite3.connect(path) as connection:
        (text,) = connection.execute("SELECT value FROM settings WHERE key = 'policy'").fetchone()
        data = json.dumps(older(json.loads(text)))
        connection.execute("UPDATE settings SET value = ? WHERE key = 'policy'", (data,))
        connection.execute("DELETE FROM snapshots")
    connection.close()
    assert um.verify(path)
    for given in (None, um.UTS(prior=KNOWN), policy):
        with um.Campaign.open(path, given, **quick) as campaign:
            assert campaign.agent.policy == policy
    with pytest.raises(um.UnimodalError, match="another campaign"):
        um.Campaign.open(path, um.UTS(prior=KNOWN[::-1]), **quick)
    assert um.verify(path)


def test_an_older_result_is_run_again_as_before(tmp_path):
    problem = um.Problem(LINE, MEANS)
    found = um.simulate(
        problem, um.UTS(prior=KNOWN, prior_leads=False, name="U"), horizon=50, trials=2
    )
    assert found["U"].policy.prior_leads is False
    loaded = um.load(found.save(tmp_path / "result.parquet"))
    assert loaded["U"].policy == found["U"].policy


@pytest.mark.parametrize("value", [None, 1, "yes"])
def test_prior_leads_is_a_flag(value):
    with pytest.raises(um.UnimodalError, match="True or False"):
        um.UTS(prior=KNOWN, prior_leads=value)


@pytest.mark.parametrize(
    ("family", "at", "below"),
    [
        (um.Bernoulli(), (2, 1), (2, 0.999)),
        (um.Bounded(0, 1), (2, 1), (2, 0.999)),
        (um.Poisson(), (3, 2), (3, 1.999)),
        (um.Exponential(), (2, 3), (1.999, 3)),
    ],
    ids=repr,
)
def test_a_prior_exactly_at_its_threshold_counts(family, at, below):
    """It spares the arm the start and counts for the lead; one that is worth less does neither."""
    for prior, counts in ((at, True), (below, False)):
        policy = um.UTS(prior=[prior, family.default_prior, family.default_prior])
        worth = prior_worths(family, [prior])[:, 0]
        counted = policy.counted_prior(3, family)
        assert counted[:, 0].tolist() == (worth.tolist() if counts else [0.0, 0.0])
        assert not counted[:, 1:].any()
        informative = SimpleNamespace(informative=family.informative_from)
        arms = policy.new_state(3, family, um.random.stream(0, 0, um.random.POLICY)).arms
        arm = arms.view(np.recarray)[0]
        arm.pulls, arm.total = 4, 1.0
        expected = (1.0 + worth[1], 4 + worth[0]) if counts else (1.0, 4.0)
        assert with_prior(informative, record(family), arm) == pytest.approx(expected)
