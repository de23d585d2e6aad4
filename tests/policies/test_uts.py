"""UTS does what Algorithm 1 says, round by round."""

import numpy as np
import pytest

import unimodal as um


def play(policy, problem, horizon, seed=3):
    """Yield (arm, leader, reason, means before the round, pulls before it) of every round."""
    agent = um.Agent(policy, problem.graph, problem.family, seed)
    rewards = np.random.default_rng(seed)
    n_arms = problem.graph.n_arms
    pulls, total = np.zeros(n_arms), np.zeros(n_arms)
    for _ in range(horizon):
        means = np.divide(total, pulls, out=np.zeros(n_arms), where=pulls > 0)
        arm = agent.ask()
        yield arm, agent.leader, agent.reason, means, pulls.copy()
        reward = float(rewards.random() < problem.means[arm])
        agent.tell(arm, reward)
        pulls[arm] += 1
        total[arm] += reward


def forced_rounds_are_those_of_algorithm_1(policy, graph):
    problem = um.problems.by_distance(graph, peak=1)
    leads = np.zeros(graph.n_arms, dtype=int)
    for arm, leader, reason, means, _ in play(policy, problem, 3000):
        if reason == "start":
            assert leader is None
            continue
        assert means[leader] == means.max()  # line 4
        size = len(graph.neighbors(leader)) + 1
        if leads[leader] % size == 0:  # line 5
            if not (reason == "forced leader" and arm == leader):
                return False
        elif reason != "contest" or arm not in graph.near(leader):
            return False
        leads[leader] += 1
    return True


@pytest.mark.parametrize("graph", [um.graphs.line(7), um.graphs.grid(3, 3), um.graphs.complete(4)])
@pytest.mark.parametrize("start", ["sweep", "literal", "probe(2)"])
def test_forces_its_leader_on_exactly_the_rounds_of_algorithm_1(graph, start):
    assert forced_rounds_are_those_of_algorithm_1(um.UTS(start=start), graph)


def test_the_test_above_sees_a_wrong_period():
    assert not forced_rounds_are_those_of_algorithm_1(um.UTS(period=4), um.graphs.line(7))


def test_a_sweep_pulls_each_arm_once_in_an_order_of_its_own():
    orders = set()
    for seed in range(5):
        agent = um.Agent(um.UTS(), um.graphs.line(9), seed=seed)
        orders.add(tuple(agent.ask(9)))
    assert all(sorted(order) == list(range(9)) for order in orders)
    assert len(orders) == 5


def test_a_probe_pulls_m_different_arms_and_only_pulled_arms_lead():
    problem = um.problems.by_distance(um.graphs.line(50), peak=25, low=0.0, high=0.01)
    rounds = list(play(um.UTS(start="probe(4)"), problem, 200))
    first = [arm for arm, *_ in rounds[:4]]
    assert len(set(first)) == 4
    for _, leader, _, _, pulls in rounds[4:]:
        assert pulls[leader] > 0


def test_literal_lets_an_arm_without_rewards_lead():
    problem = um.problems.by_distance(um.graphs.line(50), peak=25, low=0.0, high=0.01)
    unseen = [
        pulls[leader] == 0 for _, leader, _, _, pulls in play(um.UTS(start="literal"), problem, 50)
    ]
    assert any(unseen)


def tied_leaders(ties, rounds=400):
    agent = um.Agent(um.UTS(ties=ties, start="literal"), um.graphs.line(6), seed=1)
    for arm in range(6):  # 1, 3 and 4 tie with mean 1/2
        agent.tell([arm, arm], [1, 0] if arm in (1, 3, 4) else [0, 0])
    leaders = []
    for _ in range(rounds):
        agent.ask()
        leaders.append(agent.leader)
    return leaders


def test_tied_leaders_are_redrawn_every_round_with_equal_chances():
    """Chi-square with 2 degrees of freedom below its 0.001 quantile: false alarm 1 in 1000."""
    counts = np.bincount(tied_leaders("random"), minlength=6)
    assert counts[[0, 2, 5]].sum() == 0
    expected = 400 / 3
    assert ((counts[[1, 3, 4]] - expected) ** 2 / expected).sum() < 13.8


def test_the_lowest_of_tied_leaders_leads_if_asked():
    assert set(tied_leaders("lowest")) == {1}


def test_a_prior_may_differ_by_arm():
    """Arm 2 is believed to be nearly 1 and the others nearly 0, so it wins every contest."""
    prior = [(1, 1000), (1, 1000), (1000, 1)]
    agent = um.Agent(um.TS(prior=prior), um.graphs.line(3), seed=0)
    assert set(agent.ask(50)) == {2}


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: um.UTS(period=1), "'period' of UTS"),
        (lambda: um.UTS(period="often"), "'period' of UTS"),
        (lambda: um.UTS(period=10**30), "'period' of UTS, unless it is 'degree', must be at most"),
        (lambda: um.OSUB(max_degree=10**30), "'max_degree' of OSUB must be at most"),
        (lambda: um.ScoutUTS(patience=10**17), "'patience' of ScoutUTS must be at most"),
        (lambda: um.UTS(start="swep"), "did you mean 'sweep'"),
        (lambda: um.UTS(start="probe"), r"probe\(m\)"),
        (lambda: um.UTS(start="probe(0)"), "'m' of probe"),
        (lambda: um.UTS(ties="last"), "rule for ties"),
        (lambda: um.TS(prior=3), "pair of numbers"),
        (lambda: um.TS(prior="flat"), "pair of numbers"),
        (lambda: um.TS(prior=(1, 2, 3)), "pair of numbers"),
        (lambda: um.KLUCB(c="three"), "'c' of KLUCB"),
        (lambda: um.OSUB(c=float("nan")), "'c' of OSUB"),
        (lambda: um.OSUB(c=-1), "'c' of OSUB must be at least 0, got -1"),
        (lambda: um.KLUCB(c=-1e-9), "'c' of KLUCB must be at least 0"),
        (lambda: um.OSUB(max_degree=0), "'max_degree' of OSUB"),
        (lambda: um.UTS(name=3), "name must be text"),
    ],
)
def test_bad_parameters_get_a_sentence(make, words):
    with pytest.raises(um.UnimodalError, match=words):
        make()


@pytest.mark.parametrize(
    ("prior", "words"), [((0, 1), "both positive"), ([(1, 1)] * 4, "each of the 3 arms")]
)
def test_a_prior_is_checked_against_family_and_graph(prior, words):
    with pytest.raises(um.UnimodalError, match=words):
        um.Agent(um.TS(prior=prior), um.graphs.line(3))
