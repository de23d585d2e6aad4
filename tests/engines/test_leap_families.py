"""The leap engine with rewards that are not coins: round for round, and in law.

Policies without draws pull the same arms in the same rounds on the same table of rewards. The agent
is the reference there: it runs the step engine's rule and has its random stream.

In law, regret, pulls of three arms and the best arm's mean reward are compared by Kolmogorov and
Smirnov's two-sample test, 400 trials an engine, for the engine as it is and for one in a hurry. A
fault is reported if one of the 40 p-values is below 0.01/40, so a suite without fault reports one
in at most 1 of 100 choices of seeds (the seeds are fixed).
"""

import numpy as np
import pytest
from scipy import stats

import unimodal as um
from unimodal.engines.leap import LeapTrial
from unimodal.engines.rewards import Tabled
from unimodal.engines.step import StepTrial
from unimodal.policies.index import KLUpper

MEANS = np.array([0.1, 0.3, 0.6, 0.4, 0.2])
# How rewards with these means are drawn by NumPy, for tables.
DRAWS = {
    um.Poisson(): lambda rng, mean, size: rng.poisson(4 * mean, size),
    um.Exponential(): lambda rng, mean, size: rng.exponential(4 * mean, size),
    um.Gaussian(0.5): lambda rng, mean, size: rng.normal(4 * mean - 2, 0.5, size),
    um.Bounded(-1, 1): lambda rng, mean, size: 2 * rng.beta(4 * mean, 4 - 4 * mean, size) - 1,
}
FAMILIES = list(DRAWS)
# Each costs 7 s to compile with OSUB; Poisson is, as Exponential, bounded below and not above.
most_families = pytest.mark.parametrize(
    "family",
    [
        pytest.param(family, marks=() if family.name == "exponential" else pytest.mark.full)
        for family in FAMILIES
    ],
    ids=lambda family: family.name,
)


def problem_of(family, graph=None):
    """Means with one peak, as its draw above has them."""
    means = {"gaussian": 4 * MEANS - 2, "bounded": 2 * MEANS - 1}.get(family.name, 4 * MEANS)
    return um.Problem(graph or um.graphs.line(5), means, family)


def stepped(problem, policy, seed, table):
    """The arms an agent asks for when it is told the table."""
    agent = um.Agent(policy, problem.graph, problem.family, seed=seed)
    pulls, arms = np.zeros(len(table), int), []
    for _ in range(table.shape[1] - 1):
        arm = agent.ask()
        agent.tell(arm, table[arm, pulls[arm]])
        pulls[arm] += 1
        arms.append(arm)
    return arms


class Falling(um.OSUB):
    """OSUB with a factor that it refuses by itself, as an index of a user's policy may have."""

    def index(self):
        return KLUpper(-3.0)


@pytest.mark.full  # engines/test_leap.py has it for Bernoulli rewards by default
@most_families
def test_osub_pulls_the_same_arms_in_the_same_rounds(family):
    """As it is and in a hurry, on tables of every length, with a start of every kind.

    With c = -3 the budget falls for a while, so that nobody can say when it will reach a level.
    """
    problem, rng, looked = problem_of(family), np.random.default_rng(5), 0
    for seed in range(24):
        horizon = int(rng.integers(5, 1500))
        draw = DRAWS[family]
        table = np.array([draw(rng, mean, horizon + 1) for mean in MEANS], dtype=float)
        start = ("sweep", "literal", "probe(2)")[seed % 3]
        c = (3, 0, 1, None)[seed % 4]
        policy = Falling(start=start) if c is None else um.OSUB(c=c, start=start)
        trial = LeapTrial(problem, policy, seed, 0, np.array([horizon]), True)
        trial.rewards = Tabled(table)
        if seed % 2:
            trial.hurry(depth=1.0)
        while trial.round < horizon:
            trial.advance(1)
            looked += trial.queue.session["is_open"][0]
        assert trial.output.arms.tolist() == stepped(problem, policy, seed, table)
    assert looked > 1000


@most_families
def test_the_reference_pulls_the_highest_bound_around_its_leader(family):
    """Roots of n·kl(mean, u) = f(leads), which families/test_upper.py has to 50 digits."""
    problem, rng, draw = problem_of(family), np.random.default_rng(8), DRAWS[family]
    agent = um.Agent(um.OSUB(), problem.graph, family, seed=8)
    pulls, totals, leads, seen = np.zeros(5, int), np.zeros(5), np.zeros(5, int), set()
    for _ in range(400):
        arm = agent.ask()
        if agent.reason != "start":
            means = totals / pulls
            assert means[agent.leader] == means.max()
            leads[agent.leader] += 1
            led, near = leads[agent.leader], problem.graph.near(agent.leader)
            if (led - 1) % 3:
                budget = np.log(led) + 3 * np.log(max(np.log(led), 1))
                shown = {k: family.upper(means[k], budget / pulls[k]) for k in near}
                assert shown[arm] >= max(shown.values()) - 1e-9
                seen.add(arm == agent.leader)
            else:
                assert (arm, agent.reason) == (agent.leader, "forced leader")
        reward = float(draw(rng, MEANS[arm], None))
        agent.tell(arm, reward)
        pulls[arm] += 1
        totals[arm] += reward
    assert seen == {True, False}


def sample(kind, problem, seed, depth=None):
    """(trials, 5): regret, pulls of the three best arms, the best arm's mean reward."""
    order = np.argsort(-problem.means, kind="stable")[:3]
    rows = []
    for number in range(400):
        trial = kind(problem, um.UTS(), seed, number, np.array([700]), False)
        if depth is not None:
            trial.hurry(depth)
        trial.finish()
        best = trial.state.arms[order[0]]
        pulls = trial.state.arms["pulls"][order]
        rows.append([trial.output.regret[-1], *pulls, best["total"] / max(best["pulls"], 1)])
    return np.array(rows)


@most_families
def test_uts_has_one_law(family):
    problem = problem_of(family)
    step, leap = sample(StepTrial, problem, 1), sample(LeapTrial, problem, 2)
    hurried = sample(LeapTrial, problem, 3, depth=1.5)
    for other in (leap, hurried):
        for column in range(5):
            p = stats.ks_2samp(step[:, column], other[:, column]).pvalue
            assert p > 0.01 / 40, (column, p)
