"""UniTT against its definition, in plain NumPy and for one round at a time."""

import itertools
import json
import math

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar

import unimodal as um
from unimodal.agents.propensity import propensity
from unimodal.engines.step import StepTrial
from unimodal.kernels.compile import record
from unimodal.policies.state import BEGUN, ROUND
from unimodal.policies.unitt import transportation_cost

GRAPH = um.graphs.from_edges([(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (2, 5), (5, 6)])
MEANS = [0.3, 0.5, 0.8, 0.6, 0.2, 0.5, 0.1]
GAUSSIAN = um.Problem(um.graphs.line(5), [0.0, 1.0, 2.0, 1.5, 0.5], um.Gaussian(1.0))
COINS = um.Problem(GRAPH, MEANS)


def ends(family, mean, pulls, budget):
    """The means within the budget: for Gaussian rewards the authors' mean ± √(4σ²·log t/N)."""
    if isinstance(family, um.Gaussian):
        width = family.sigma * math.sqrt(2 * budget / pulls)
        return mean - width, mean + width

    def excess(q):
        return pulls * family.divergence(mean, q) - budget

    low = brentq(excess, 1e-300, mean, xtol=1e-15) if mean > 0 and excess(1e-300) > 0 else 0.0
    return low, family.upper(mean, budget / pulls)


def possible_peaks(graph, low, high):
    """Arms that every arm reaches over arms that can be as good: means with that peak exist."""

    def reached(first):
        members, waiting = {first}, [first]
        while waiting:
            near = graph.neighbors(waiting.pop()).tolist()
            new = {arm for arm in near if high[arm] >= low[first]} - members
            members |= new
            waiting += new
        return members

    return set.intersection(*(reached(arm) for arm in range(graph.n_arms)))


def expected(problem, pulls, totals, leads, now, c=2.0):
    """The leader and the arm of a round, each as a set: more than one if they tie."""
    graph, family, means = problem.graph, problem.family, totals / pulls
    budget = c * math.log(now)
    low, high = np.array([ends(family, m, n, budget) for m, n in zip(means, pulls, strict=True)]).T
    peaks = possible_peaks(graph, low, high)
    if not peaks:
        return None, None
    best = max(high[arm] for arm in peaks)
    leaders = {arm for arm in peaks if high[arm] >= best - 1e-9}
    if len(leaders) > 1:
        return leaders, None
    (leader,) = leaders
    if leads[leader] % 2 == 0:
        return leaders, leaders
    costs = {}
    for arm in graph.neighbors(leader).tolist():
        pooled = (totals[leader] + totals[arm]) / (pulls[leader] + pulls[arm])
        apart = [pulls[one] * family.divergence(means[one], pooled) for one in (leader, arm)]
        costs[arm] = sum(apart) if means[leader] > means[arm] else 0.0
    least = min(costs.values())
    return leaders, {arm for arm, cost in costs.items() if cost <= least + 1e-9}


@pytest.mark.parametrize("problem", [GAUSSIAN, COINS], ids=["Gaussian line", "Bernoulli graph"])
def test_every_round_is_as_defined(problem):
    n_arms, rounds = problem.graph.n_arms, 300
    trial = StepTrial(problem, um.UniTT(), 3, 0, np.array([rounds]), True)
    sure, arms = 0, trial.state.arms
    while trial.round < rounds:
        before = {key: arms[key].astype(float) for key in ("pulls", "total", "leads")}
        now = trial.round + 1
        trial.advance(1)
        arm, leader = trial.output.arms[now - 1], int(np.argmax(arms["leads"] - before["leads"]))
        if now <= n_arms:
            assert before["pulls"][arm] == 0 and arms["leads"].sum() == 0  # the sweep
            continue
        leaders, chosen = expected(problem, *before.values(), now)
        if leaders is None:
            continue  # no means with one peak fit: the highest of those around the best arm leads
        assert leader in leaders
        assert chosen is None or arm in chosen
        sure += chosen is not None and len(chosen) == 1
    assert sure > 150


def test_an_arm_behind_a_valley_does_not_lead():
    """Arm 0 has the highest upper bound, but with its neighbour so low no one peak is there."""
    player = um.Agent(um.UniTT(), um.graphs.line(4), um.Gaussian(1.0), seed=0)._player
    state = player.state
    state.notes[ROUND], state.notes[BEGUN] = 3001, len(state.begin)
    state.arms["pulls"][:4] = [1, 1000, 1000, 1000]
    for valley, leader in ((-3.0, 2), (0.95, 0)):
        state.arms["total"][:4] = [0.5, 1000 * valley, 1000.0, 500.0]
        player.state = player.with_board(state)
        player.next_arm()
        assert player.leader == leader


def test_the_leader_gets_every_second_of_its_leads():
    result = um.simulate(COINS, um.UniTT(), horizon=2000, trials=5, progress=False)
    shares = result["UniTT"].pulls[:, 2] / 2000
    assert ((shares > 0.42) & (shares < 0.52)).all()


def test_far_arms_are_left_alone():
    """On a line of 17 most rewards go to the peak and its neighbours, where they are needed."""
    pulls = um.simulate(
        um.problems.triangular(17), um.UniTT(), horizon=3000, trials=10, progress=False
    )["UniTT"].pulls
    assert (pulls[:, 7:10].sum(axis=1) > 2200).mean() >= 0.9


RECORD = np.dtype([("pulls", float), ("total", float), ("factor", float)])


@pytest.mark.parametrize("factors", list(itertools.product([5.0, 10.0, 20.0], repeat=2)), ids=str)
def test_the_transportation_cost_with_known_factors(factors):
    family = um.Scaled(um.Bernoulli(), by=20)
    rows = np.array([(40, 33, factors[0]), (25, 5, factors[1])], RECORD).view(np.recarray)
    means = [factor * total / pulls for pulls, total, factor in rows.tolist()]
    found = transportation_cost(record(family), rows[0], rows[1])
    if means[0] <= means[1]:
        assert found == 0.0
        return

    def cost(z):
        own = [um.Scaled(um.Bernoulli(), by=factor) for factor in factors]
        return sum(
            pulls * one.divergence(mean, z)
            for one, mean, (pulls, _, _) in zip(own, means, rows.tolist(), strict=True)
        )

    highest = min(means[0], factors[1])
    least = minimize_scalar(cost, bounds=(means[1], highest), method="bounded").fun
    assert found == pytest.approx(least, rel=1e-4)


def test_it_needs_the_whole_graph():
    with pytest.raises(um.UnimodalError, match="compares all arms"):
        um.Agent(um.UniTT(), lambda arm: [arm - 1, arm + 1], root=0)


@pytest.mark.parametrize("c", [0, -1, math.nan, "wide", None])
def test_widths_that_are_none(c):
    with pytest.raises(um.UnimodalError, match=r"the 'c' of UniTT must .*\.$"):
        um.UniTT(c=c)


def test_the_leap_engine_says_why_not():
    with pytest.raises(um.UnimodalError, match="TransportationCost is not an index that can say"):
        um.simulate(COINS, um.UniTT(), horizon=10, trials=1, engine="leap")


def test_an_agent_is_the_same_policy(tmp_path):
    """Its arms are those of a trial with its rewards, and a saved one goes on as it would have."""
    rng = np.random.default_rng(0)
    agent, pulls = um.Agent(um.UniTT(), GRAPH, seed=4), []
    for _ in range(200):
        arm = agent.ask()
        pulls.append(arm)
        agent.tell(arm, float(rng.random() < MEANS[arm]))
    assert agent.leader is not None
    again = um.load(agent.save(tmp_path / "agent.json"))
    for _ in range(100):
        arm = agent.ask()
        assert again.ask() == arm
        reward = float(rng.random() < MEANS[arm])
        agent.tell(arm, reward)
        again.tell(arm, reward)
    assert np.bincount(pulls)[2] > 60


def test_propensities_are_one_unless_challengers_tie():
    agent = um.Agent(um.UniTT(), um.graphs.line(3), seed=0)
    for _ in range(3):
        arm = agent.ask()
        agent.tell(arm, 1.0 if arm == 1 else 0.0)
    arms = agent._player.state.arms
    near = np.array([0, 1, 2])
    assert propensity(agent.policy, agent.family, arms, near, 0, leader=1) == 0.5
    # The neighbour of an arm that is worse costs nothing to tell: nor does the leader itself.
    assert propensity(agent.policy, agent.family, arms, near[:2], 1, leader=0) == 1.0
    for _ in range(2):
        agent.tell(0, 1.0)
    assert propensity(agent.policy, agent.family, arms, near, 0, leader=1) == 1.0


def test_as_text_and_data():
    from unimodal.policies import from_data, parse, to_data

    assert parse("unitt(c=1)") == um.UniTT(c=1, name="UniTT(c=1)")
    assert from_data(json.loads(json.dumps(to_data(um.UniTT(c=0.5))))) == um.UniTT(c=0.5)
