"""OSUB and KLUCB choose what an independent computation of their index says."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

import unimodal as um


def kl(p, q):
    terms = [(p, q), (1 - p, 1 - q)]
    return sum(a * math.log(a / b) for a, b in terms if a > 0)


def index(successes, pulls, budget):
    """max{u : pulls·kl(successes/pulls, u) ≤ budget}, by a root finder."""
    mean = successes / pulls
    if mean == 1:
        return 1.0
    return brentq(lambda u: pulls * kl(mean, u) - budget, mean, 1 - 1e-15, xtol=1e-15)


def f(x, c):
    return math.log(x) + c * math.log(max(math.log(x), 1))


STATE = {0: (5, 10), 1: (34, 40), 2: (2, 4), 3: (1, 9), 4: (7, 20)}  # arm: (successes, pulls)


def told(policy, graph, state=STATE):
    agent = um.Agent(policy, graph, seed=2)
    for arm, (successes, pulls) in state.items():
        agent.tell([arm] * pulls, [1] * successes + [0] * (pulls - successes))
    return agent


def test_the_index_by_hand():
    """p = 1/2, N = 10, f = 2: u solves log(1/(4u(1-u)))/2 = 0.2, so u = (1 + √(1 - e^-0.4))/2."""
    by_hand = (1 + math.sqrt(1 - math.exp(-0.4))) / 2
    assert um.Bernoulli().upper(0.5, 2 / 10) == pytest.approx(by_hand, rel=1e-13)
    assert index(5, 10, 2.0) == pytest.approx(by_hand, rel=1e-12)


@pytest.mark.parametrize("c", [0.0, 1.0, 3.0])
def test_osub_at_a_known_state(c):
    """Arm 1 leads with 0.85 from round 501 on; nothing is told, so only its clock moves.

    Before, arm 4 led with 7 of 7; its 13 failures came later. So rounds and leads differ.
    """
    agent = um.Agent(um.OSUB(c=c, start="literal"), um.graphs.line(5), seed=2)
    agent.tell([4] * 7, [1] * 7)
    for _ in range(500):
        agent.ask()
        assert agent.leader == 4
    agent.tell([4] * 13, [0] * 13)
    for arm in (0, 1, 2, 3):
        successes, pulls = STATE[arm]
        agent.tell([arm] * pulls, [1] * successes + [0] * (pulls - successes))
    chosen, by_rounds = [], []
    for led in range(1, 200):
        arm = agent.ask()
        assert agent.leader == 1
        if (led - 1) % 3 == 0:  # γ + 1 = 3
            assert (arm, agent.reason) == (1, "forced leader")
            continue
        best, other = (
            max((0, 1, 2), key=lambda k, now=now: index(*STATE[k], f(now, c)))
            for now in (led, 500 + led)
        )
        assert arm == best
        chosen.append(arm)
        by_rounds.append(other)
    assert {1, 2} <= set(chosen)  # both happen, so the comparison was not idle
    assert by_rounds != chosen  # and a clock of rounds would have been seen


@pytest.mark.parametrize("max_degree", [2, 5])
def test_osub_takes_the_degree_that_it_is_given(max_degree):
    """On a line, whose own is 2: the leader is forced on every (γ + 1)-th of its leads."""
    agent = told(um.OSUB(start="literal", max_degree=max_degree), um.graphs.line(5))
    for led in range(40):
        agent.ask()
        assert (agent.reason == "forced leader") == (led % (max_degree + 1) == 0)


@pytest.mark.parametrize("c", [0.0, 3.0])
def test_klucb_at_a_known_state(c):
    agent = told(um.KLUCB(c=c), um.graphs.line(5))
    chosen = []
    for t in range(1, 150):
        indices = {k: index(*STATE[k], f(t, c)) for k in STATE}
        arm = agent.ask()
        assert indices[arm] == pytest.approx(max(indices.values()), abs=1e-12)
        chosen.append(arm)
    assert {1, 2} <= set(chosen)


def test_klucb_pulls_unseen_arms_first_in_random_order():
    orders = {tuple(um.Agent(um.KLUCB(), um.graphs.line(6), seed=s).ask(1)) for s in range(30)}
    assert len(orders) > 3
    result = um.simulate(um.problems.triangular(6), um.KLUCB(), horizon=6, trials=20)
    assert (result["KLUCB"].pulls == 1).all()


@pytest.mark.parametrize("state", [(3, 7), (7, 7), (0, 7)])
def test_equal_statistics_tie_exactly(state):
    """Chi-square with 2 degrees of freedom below its 0.001 quantile: false alarm 1 in 1000."""
    agent = told(um.KLUCB(), um.graphs.line(3), dict.fromkeys(range(3), state))
    counts = np.bincount(agent.ask(600), minlength=3)
    assert ((counts - 200) ** 2 / 200).sum() < 13.8


def test_arms_with_mean_one_tie_whatever_their_pulls():
    agent = told(um.KLUCB(), um.graphs.line(3), {0: (2, 2), 1: (9, 9), 2: (1, 30)})
    assert set(agent.ask(100)) == {0, 1}


@pytest.mark.parametrize("seed", range(4))
def test_klucb_follows_a_reference_round_for_round(seed):
    """The reference finds a root for every arm; the policy's choice must have the highest index."""
    rng = np.random.default_rng(seed)
    means = rng.uniform(0.05, 0.95, 6)
    agent = um.Agent(um.KLUCB(), um.graphs.line(6), seed=seed)
    pulls, total = np.zeros(6, int), np.zeros(6, int)
    for t in range(1, 401):
        arm = agent.ask()
        indices = [
            index(s, n, f(t, 3.0)) if n else math.inf for s, n in zip(total, pulls, strict=True)
        ]
        assert indices[arm] >= max(indices) - 1e-12
        reward = int(rng.random() < means[arm])
        agent.tell(arm, reward)
        pulls[arm] += 1
        total[arm] += reward
