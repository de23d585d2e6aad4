"""IMED, IMEDUB and KLUCBUB choose what an independent computation of their index says."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import brentq

import unimodal as um
from unimodal.agents.propensity import propensity
from unimodal.policies import scope
from unimodal.policies.state import ARM

POLICIES = [um.IMED(), um.IMEDUB(), um.KLUCBUB()]


def kl(p, q):
    terms = [(p, q), (1 - p, 1 - q)]
    return sum(a * math.log(a / b) if b > 0 else math.inf for a, b in terms if a > 0)


def cost(successes, pulls, best_mean):
    """N·kl(mean, best mean) + log N."""
    return pulls * kl(successes / pulls, best_mean) + math.log(pulls)


def bound(successes, pulls, leader_pulls):
    """max{u ≥ mean : N·kl(mean, u) ≤ max(0, log N_leader - log N)}, by a root finder."""
    mean, budget = successes / pulls, max(0.0, math.log(leader_pulls) - math.log(pulls))
    if mean == 1 or budget == 0:
        return mean
    return brentq(lambda u: pulls * kl(mean, u) - budget, mean, 1 - 1e-15, xtol=1e-15)


def told(policy, graph, state, seed=2):
    agent = um.Agent(policy, graph, seed=seed)
    for arm, (successes, pulls) in state.items():
        agent.tell([arm] * pulls, [1] * successes + [0] * (pulls - successes))
    return agent


def literal(policy):
    """The same without a sweep, so that a state can be told at once."""
    return policy if isinstance(policy, um.IMED) else type(policy)(start="literal")


def equally_often(arms, counts):
    """Chi-square below its 0.001 quantile, for up to 3 arms: a false alarm in 1 of 1000 seeds."""
    expected = counts.sum() / len(arms)
    assert counts.sum() == counts[list(arms)].sum()
    assert ((counts[list(arms)] - expected) ** 2 / expected).sum() < 13.8


@pytest.mark.parametrize(
    ("pulls", "least"),
    [([5, 5, 5], [0, 1, 2]), ([5, 3, 4], [1]), ([5, 4, 3, 4, 3, 9], [2, 4]), ([2, 3, 2], [0, 2])],
)
def test_who_can_be_drawn_of_tied_leaders(monkeypatch, pulls, least):
    """As plain Python with each place that can be drawn: a walk beyond the tied ones fails."""
    asked = []
    monkeypatch.setattr(
        scope, "tied_leader", lambda best, count, place: [*range(len(pulls))][place]
    )
    arms = [SimpleNamespace(pulls=each) for each in pulls]
    state = SimpleNamespace(best=None, count=[0, len(pulls)], arms=arms)
    for place, leader in enumerate(least):
        monkeypatch.setattr(
            scope, "_drawn_place", lambda scope, state, tied, it=place: asked.append(tied) or it
        )
        assert scope._best_mean_fewest_pulls(None, state) == leader
    assert asked == [len(least)] * len(least)


def test_the_indices_by_hand():
    """8 of 10 against 1 of 2: kl(1/2, 4/5) = log(5/4), since 1/(2·√(4/5·1/5)) = 5/4."""
    assert cost(1, 2, 0.8) == pytest.approx(2 * math.log(5 / 4) + math.log(2), rel=1e-12)
    assert cost(8, 10, 0.8) == pytest.approx(math.log(10), rel=1e-12)
    # log 10 - log 2 = log 5, so 2·kl(1/2, u) = -log(4u(1 - u)) = log 5
    assert bound(1, 2, 10) == pytest.approx((1 + math.sqrt(0.8)) / 2, rel=1e-12)


@pytest.mark.parametrize("policy", POLICIES, ids=str)
@pytest.mark.parametrize(
    ("successes", "pulls", "pulled"),
    [
        (1, 2, 0),  # costs 2·log(5/4) + log 2 = 1.139, below log 10 = 2.303; bound 0.947 > 0.8
        (10, 20, 1),  # costs 20·log(5/4) + log 20 = 7.459; more pulls than the leader: bound 1/2
        (6, 8, 0),  # costs 8·kl(3/4, 4/5) + log 8 = 2.137; bound 0.831
        (5, 8, 1),  # costs 8·kl(5/8, 4/5) + log 8 = 2.729; bound 0.736
    ],
)
def test_one_neighbour_at_a_known_state(policy, successes, pulls, pulled):
    """Arm 1 leads with 8 of 10, and arm 2 is hopeless: what becomes of arm 0?"""
    state = {0: (successes, pulls), 1: (8, 10), 2: (0, 30)}
    assert told(literal(policy), um.graphs.line(3), state).ask() == pulled


@pytest.mark.parametrize("policy", POLICIES, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_follows_a_reference_round_for_round(policy, seed):
    rng = np.random.default_rng(seed)
    graph = um.graphs.grid(2, 4)
    true_means = rng.uniform(0.4, 0.6, 8)
    agent = um.Agent(policy, graph, seed=seed)
    pulls, total = np.zeros(8, int), np.zeros(8, int)
    contests = 0
    for _ in range(600):
        arm = agent.ask()
        if pulls.min() == 0:
            assert pulls[arm] == 0  # by a sweep, or because an arm never pulled goes first
        else:
            means = total / pulls
            near = np.arange(8)
            if not isinstance(policy, um.IMED):
                tied = np.flatnonzero(means == means.max())
                assert agent.leader in tied
                assert pulls[agent.leader] == pulls[tied].min()
                near = graph.near(agent.leader)
                assert agent.reason == "contest"
            if isinstance(policy, um.KLUCBUB):
                shown = {a: -bound(total[a], pulls[a], pulls[agent.leader]) for a in near}
            else:
                shown = {a: cost(total[a], pulls[a], means.max()) for a in near}
            assert shown[arm] <= min(shown.values()) + 1e-11
            contests += means[arm] < means.max()
        reward = int(rng.random() < true_means[arm])
        agent.tell(arm, reward)
        pulls[arm] += 1
        total[arm] += reward
    assert contests > 100  # the best mean did not win every time


@pytest.mark.parametrize("n", [2, 3, 7, 10])
@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_ties_that_rounding_would_decide(policy, n):
    """One failure in n against one failure in one: 1·kl(0, 1 - 1/n) + log 1 = log n."""
    agent = told(literal(policy), um.graphs.line(2), {0: (n - 1, n), 1: (0, 1)})
    equally_often((0, 1), np.bincount(agent.ask(400), minlength=2))


@pytest.mark.parametrize("policy", POLICIES, ids=str)
@pytest.mark.parametrize("n", [10, 10**6, 3**15, 10**9, 10**11])
def test_such_ties_after_many_pulls(policy, n):
    """1 - (1 - 1/n) has lost the digits that tell it from 1/n; n - (n - 1) has not."""
    arms = np.zeros(2, dtype=ARM)
    arms["pulls"], arms["total"] = [n, 1], [n - 1, 0]
    chances = [propensity(policy, um.Bernoulli(), arms, [0, 1], arm, clock=n) for arm in (0, 1)]
    assert chances == [0.5, 0.5]
    arms["total"][0] = n - 2  # two failures: now the arm with one reward of 0 is ahead
    assert propensity(policy, um.Bernoulli(), arms, [0, 1], 1, clock=n) == 1.0


@pytest.mark.parametrize("policy", [um.IMEDUB(), um.KLUCBUB()], ids=str)
def test_the_least_pulled_of_tied_leaders_leads(policy):
    """Arms 1, 3 and 4 tie with 1 of 2, arm 5 with 2 of 4, which never leads."""
    state = {0: (0, 2), 1: (1, 2), 2: (0, 2), 3: (1, 2), 4: (1, 2), 5: (2, 4)}
    agent = told(literal(policy), um.graphs.line(6), state)
    leaders = []
    for _ in range(600):
        agent.ask()
        leaders.append(agent.leader)
    equally_often((1, 3, 4), np.bincount(leaders, minlength=6))


def test_arms_never_pulled_go_first():
    result = um.simulate(um.problems.triangular(6), um.IMED(), horizon=6, trials=20)
    assert (result["IMED"].pulls == 1).all()
    agent = told(um.IMEDUB(start="literal"), um.graphs.line(3), {0: (1, 1), 2: (0, 1)})
    assert set(agent.ask(20)) == {1}


@pytest.mark.parametrize("policy", [um.IMEDUB, um.KLUCBUB])
def test_a_graph_known_by_look_up(policy):
    """A line of a thousand million arms, with the best where the agent sets out."""

    def neighbours(arm):
        return [other for other in (arm - 1, arm + 1) if 0 <= other < 10**9]

    agent = um.Agent(policy(start="probe(5)"), neighbours, root=500, seed=4)
    rng = np.random.default_rng(0)
    for _ in range(2000):
        arm = agent.ask()
        agent.tell(arm, float(rng.random() < 0.9 - 0.2 * min(abs(arm - 500), 4)))
    best = agent.arms()["arm"][0]
    assert best == 500
