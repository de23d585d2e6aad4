"""Propensities: against what agents do, against exact values, and adding up to one."""

import numpy as np
import pytest
from scipy import stats

import unimodal as um
from unimodal.agents.propensity import propensity, thompson_wins
from unimodal.policies.state import ARM, BEGUN


def agent_with(policy, rewards, told, graph=None):
    agent = um.Agent(policy, graph or um.graphs.complete(len(told)), rewards, seed=5)
    for arm, values in enumerate(told):
        for value in values:
            agent.tell(arm, value)
    return agent


def of_all(agent, near):
    arms = agent._player.state.arms
    return np.array([propensity(agent.policy, agent.family, arms, near, arm) for arm in near])


def test_agents_choose_that_often():
    """100,000 contests; false alarms: p < 1e-4. Power: a reward left out is far below that."""
    told = [[1, 1, 0, 1], [1, 0], [], [0, 1, 1, 0, 1, 1, 1, 0], [0] * 9]
    agent = agent_with(um.TS(), um.Bernoulli(), told)
    expected = of_all(agent, list(range(5)))
    counts = np.bincount(agent.ask(100_000), minlength=5)
    assert stats.chisquare(counts, expected * 100_000 / expected.sum()).pvalue > 1e-4
    assert stats.chisquare(counts, _without_the_last_reward(agent)).pvalue < 1e-4


def _without_the_last_reward(agent):
    arms = agent._player.state.arms.copy()
    arms["pulls"][3] -= 1
    chances = [propensity(agent.policy, agent.family, arms, range(5), arm) for arm in range(5)]
    return np.array(chances) * 100_000 / sum(chances)


def test_two_normal_arms():
    """The difference of two normals is normal: Φ of its mean over its standard deviation."""
    arms = np.zeros(2, dtype=ARM)
    arms["pulls"], arms["total"] = [2, 6], [1.3, 4.8]
    arms["prior_a"], arms["prior_b"] = 0.0, 1e6  # nearly flat
    expected = stats.norm.cdf((1.3 / 2 - 4.8 / 6) / (1 / 2 + 1 / 6) ** 0.5)
    assert thompson_wins(um.Gaussian(1.0), arms[:1], arms[1:]) == pytest.approx(expected, abs=1e-6)


def random_arms(rng, count):
    """Records such as campaigns have: few or very many pulls, means close or far apart."""
    arms = np.zeros(count, dtype=ARM)
    arms["prior_a"] = arms["prior_b"] = 1.0
    pulls = np.round(10 ** rng.uniform(0, rng.uniform(1, 6.5), count) - 1).astype(int)
    centre, apart = rng.random(), 10 ** rng.uniform(-3, 0)
    arms["pulls"] = pulls
    arms["total"] = rng.binomial(pulls, centre * (1 - apart * rng.random(count)))
    return arms


def test_they_add_up_to_one():
    """One arm of each contest wins; all sums must be within 1e-6."""
    rng = np.random.default_rng(7)
    for _ in range(25):
        arms = random_arms(rng, int(rng.integers(2, 12)))
        chances = [
            thompson_wins(um.Bernoulli(), arms[i : i + 1], np.delete(arms, i))
            for i in range(len(arms))
        ]
        assert sum(chances) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("rivals", [1, 3, 20])
def test_equal_arms_share(rivals):
    arms = np.zeros(rivals + 1, dtype=ARM)
    arms["prior_a"], arms["prior_b"] = 0.5, 0.5  # densities without bound at both ends
    found = thompson_wins(um.Bernoulli(), arms[:1], arms[1:])
    assert found == pytest.approx(1 / (rivals + 1), abs=1e-6)


def test_a_closed_form():
    """Beta(3, 1) against Beta(1, 1): ∫ 3x²·x dx = 3/4; and a narrow leader against a flat arm."""
    agent = agent_with(um.TS(), um.Bernoulli(), [[1, 1], []])
    assert of_all(agent, [0, 1]) == pytest.approx([0.75, 0.25], abs=1e-6)
    arms = np.zeros(2, dtype=ARM)
    arms["prior_a"] = arms["prior_b"] = 1.0
    arms["pulls"][0], arms["total"][0] = 10**6, 900_000
    flat = thompson_wins(um.Bernoulli(), arms[1:], arms[:1])
    assert flat == pytest.approx(1 - 900_001 / 1_000_002, abs=1e-6)


def test_an_arm_alone_wins_and_a_hopeless_one_does_not():
    arms = np.zeros(2, dtype=ARM)
    arms["prior_a"] = arms["prior_b"] = 1.0
    arms["pulls"], arms["total"] = 10**5, [90_000, 10_000]
    assert thompson_wins(um.Bernoulli(), arms[:1], arms[2:]) == 1.0
    assert thompson_wins(um.Bernoulli(), arms[:1], arms[1:]) == pytest.approx(1.0, abs=1e-6)
    assert thompson_wins(um.Bernoulli(), arms[1:], arms[:1]) == pytest.approx(0.0, abs=1e-6)


def test_without_random_draws_only_ties_are_uncertain():
    arms = np.zeros(3, dtype=ARM)
    arms["pulls"], arms["total"] = [2, 2, 1], [1, 1, 1]
    chances = [propensity(um.KLUCB(), um.Bernoulli(), arms, [0, 1, 2], arm) for arm in range(3)]
    assert chances == [0.5, 0.5, 1.0]


@pytest.mark.parametrize(
    ("policy", "tied"), [(um.KLUCB(), 3), (um.KLUCBUB(), 3), (um.IMED(), 1), (um.IMEDUB(), 1)]
)
def test_arms_may_tie_with_different_rewards(policy, tied):
    """With mean 1 a bound is 1 however many pulls there are, and IMED's log(pulls) is not."""
    agent = agent_with(policy, um.Bernoulli(), [[1], [1, 1], [1, 1, 1], [1, 0]])
    agent._player.state.notes[BEGUN] = len(agent._player.state.begin)  # no sweep
    decision = agent.decide(propensity=True)
    assert decision.propensity == pytest.approx(1 / tied)
    assert decision.arm == 0 or tied > 1


@pytest.mark.parametrize("n", [2, 7])
@pytest.mark.parametrize("policy", [um.IMED(), um.IMEDUB(), um.KLUCBUB()], ids=repr)
def test_arms_may_tie_by_their_budgets(policy, n):
    """One failure in n against one failure in one: 1·kl(0, 1 - 1/n) = log n = log n - log 1."""
    agent = agent_with(policy, um.Bernoulli(), [[1] * (n - 1) + [0], [0]])
    agent._player.state.notes[BEGUN] = len(agent._player.state.begin)  # no sweep
    decisions = agent.decide(20, propensity=True)
    assert {decision.arm for decision in decisions} == {0, 1}
    assert all(decision.propensity == 0.5 for decision in decisions)


@pytest.mark.filterwarnings("error")
def test_it_is_found_without_warnings_whatever_the_family():
    families = (um.Bernoulli(), um.Gaussian(), um.Poisson(), um.Exponential(), um.Bounded(-1, 1))
    for family in families:
        agent = um.Agent(um.TS(), um.graphs.complete(3), family)
        for reward in (0.0, 1.0, 0.0, 0.0, 1.0):
            decision = agent.decide(propensity=True)
            assert 0.0 < decision.propensity < 1.0
            agent.reward(decision.id, reward)


@pytest.mark.parametrize(
    ("told", "chances"),
    [
        ([[], [], []], [1 / 3] * 3),  # nobody missed the top: all draw 1
        ([[1, 1], [], [0, 1]], [1 / 2, 1 / 2, 0.0]),  # whoever did draws less
        ([[0], [0], [0]], [1 / 3] * 3),  # Beta(1, 1) each
        ([[0, 1, 1], [0]], [3 / 4, 1 / 4]),  # Beta(3, 1) against Beta(1, 1)
    ],
)
def test_arms_of_npts_that_never_missed_the_top_tie(told, chances):
    agent = agent_with(um.NPTS(), um.Bernoulli(), told)
    assert of_all(agent, list(range(len(told)))) == pytest.approx(chances, abs=1e-6)


def test_npts_decides_with_that_propensity():
    """The fault of issue 11: 1.0 for each of three."""
    decision = um.Agent(um.NPTS(), um.graphs.line(3)).decide(propensity=True)
    assert decision.propensity == pytest.approx(1 / 3)


@pytest.mark.parametrize("prior", [(1.0, 0.1), (1.0, 0.01)])
def test_draws_that_round_to_the_top_tie(prior):
    """100,000 contests; false alarms: p < 1e-4. A tie that counted as a win would add up to 1.5."""
    agent = agent_with(um.TS(prior=prior), um.Bernoulli(), [[1, 1], [], [0, 1, 1]])
    expected = of_all(agent, [0, 1, 2])
    assert expected.sum() == pytest.approx(1.0, abs=1e-5)
    counts = np.bincount(agent.ask(100_000), minlength=3)
    assert stats.chisquare(counts, expected * 100_000 / expected.sum()).pvalue > 1e-4


def test_bounds_that_round_to_the_top_do_not_tie():
    """Three arms within 1e-9 of the top show bounds that are 1 as floats, each another one."""
    arms = np.zeros(3, dtype=ARM)
    arms["pulls"], arms["total"] = 2, [2 - 1e-9, 2 - 2e-9, 2 - 1e-9]
    chances = [propensity(um.KLUCB(), um.Bounded(), arms, [0, 1, 2], a, clock=9) for a in range(3)]
    assert chances == [0.5, 1.0, 0.5]


def test_what_is_not_known():
    arms = agent_with(um.UTS(), um.Bernoulli(), [[1], [0], [1]])._player.state.arms
    assert propensity(um.NPTS(), um.Bounded(), arms, [0, 1, 2], 0) is None


@pytest.mark.parametrize(
    "policy", [um.UTS(), um.OSUB(), um.KLUCB(), um.IMEDUB(), um.ScoutUTS()], ids=repr
)
def test_decisions_without_a_contest_have_propensity_one_whoever_decides(policy):
    agent = um.Agent(policy, um.graphs.line(4), seed=2)
    found = []
    for turn in range(40):
        decision = agent.decide(propensity=True)
        agent.reward(decision.id, float(turn % 3 == 0))
        found.append(decision)
    assert all(0.0 < decision.propensity <= 1.0 for decision in found)
    assert all(decision.propensity == 1.0 for decision in found if decision.reason != "contest")


def doubted(told, leads, seed=5):
    """ScoutUTS on a complete graph, whose arm 0 leads and has led so often before."""
    agent = um.Agent(um.ScoutUTS(), um.graphs.complete(len(told)), seed=seed)
    agent._player.state.notes[BEGUN] = len(agent._player.state.begin)  # no start
    for arm, values in enumerate(told):
        agent.tell([arm] * len(values), values)
    agent._player.state.arms["leads"][0] = leads
    return agent


@pytest.mark.parametrize(
    ("leads", "leader", "rival"),
    [(19, 2 / 3, 1 / 3), (21, 16 / 81, 65 / 81), (15_021, 2 / 3, 1 / 3)],
    ids=["climbing", "doubted", "settled"],
)
def test_contests_that_the_leader_must_win_again(leads, leader, rival):
    """Beta(2, 1) against Beta(1, 1): one contest is won with 2/3, and all four with (2/3)⁴ = 16/81.

    The rival has the rest. With two arms and a patience of 10, a leader is doubted from 20 leads on
    for 30,000/2 of them (policies/test_scout.py).
    """
    found = {}
    for seed in range(40):
        decision = doubted([[1], []], leads, seed).decide(propensity=True)
        assert (decision.reason, decision.leader, decision.near) == ("contest", 0, 2)
        found[decision.arm] = decision.propensity
    assert found == pytest.approx({0: leader, 1: rival}, abs=1e-6)


def test_agents_in_doubt_choose_that_often():
    """Three arms, up to four contests a round, 20,000 rounds; false alarms: p < 1e-4.

    Power: were contests not repeated, or the first one left out, p would be far below that.
    """
    agent = doubted([[1, 1, 0, 1], [1, 0], [0]], leads=31)
    counts = np.zeros(3)
    for _ in range(20_000):
        agent._player.state.arms["leads"][0] = 31
        counts[agent.ask()] += 1
    assert agent.reason == "contest" and agent.leader == 0

    def expected(contests):
        arms = agent._player.state.arms
        options = {"leader": 0, "contests": contests}
        return np.array(
            [
                propensity(agent.policy, agent.family, arms, range(3), arm, **options)
                for arm in range(3)
            ]
        )

    assert expected(4).sum() == pytest.approx(1.0, abs=1e-6)
    assert stats.chisquare(counts, expected(4) / expected(4).sum() * 20_000).pvalue > 1e-4
    for wrong in (1, 3):
        assert (
            stats.chisquare(counts, expected(wrong) / expected(wrong).sum() * 20_000).pvalue < 1e-4
        )


@pytest.mark.parametrize(
    ("policy", "clock"),
    [(um.Windowed(um.KLUCB(), 4), 4), (um.KLUCB(), 301), (um.OSUB(), 2)],
    ids=str,
)
def test_the_clock_is_that_of_the_contest(policy, clock, monkeypatch):
    """Rounds, no more than a window has; or the leads of the leader, which was forced before."""
    asked = []
    monkeypatch.setattr(
        "unimodal.agents.propensity.propensity", lambda *_, **named: asked.append(named["clock"])
    )
    agent = um.Agent(policy, um.graphs.complete(3), seed=1)
    agent.ask(300)
    agent.tell([0, 1, 2, 1], [0, 0, 1, 0])
    agent._player.state.arms["leads"][2] = 1
    assert agent.decide(propensity=True).reason == "contest"
    assert asked == [clock]


def test_how_many_arms_competed():
    """All of them where nobody leads, N⁺ of the leader, or one in a start."""
    assert um.Agent(um.TS(), um.graphs.line(6)).decide().near == 6
    assert um.Agent(um.KLUCB(), um.graphs.line(6)).decide().near == 6
    agent = um.Agent(um.UTS(), um.graphs.line(6), seed=3)
    assert [decision.near for decision in agent.decide(6)] == [1] * 6
    agent.tell([0, 4, 5], [0, 0, 1])
    assert agent.decide().near == 2  # N⁺(5), forced
    agent.tell([5, 5, 4], [0, 0, 1])
    agent.tell(4, 1)
    assert agent.decide().near == 3  # N⁺(4)
