"""IMED, IMEDUB and KLUCBUB leap round for round as they step, on the same table of rewards.

The agent is the reference: it runs the step engine's rule, has its random stream, and is compiled
for other tests anyway. IMEDUB, with the contest of IMED and the scope of KLUCBUB, is for
`make test-full`, since a leap takes 6 s to compile.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unimodal as um
from unimodal.engines.leap import LeapTrial
from unimodal.engines.rewards import Tabled


def stepped(problem, policy, seed, table):
    """The arms an agent asks for when it is told the table."""
    agent = um.Agent(policy, problem.graph, seed=seed)
    pulls = np.zeros(len(table), int)
    arms = []
    for _ in range(table.shape[1] - 1):
        arm = agent.ask()
        agent.tell(arm, table[arm, pulls[arm]])
        pulls[arm] += 1
        arms.append(arm)
    return arms


def leapt(problem, policy, seed, table, effort=10**9):
    """The arms of a leap trial, and how many looks and steps it took at most."""
    horizon = table.shape[1] - 1
    rounds = np.unique(np.linspace(1, horizon, 9).astype(int))
    trial = LeapTrial(problem, policy, seed, 0, rounds, True)
    trial.rewards = Tabled(table)
    spent = 0
    while trial.round < horizon:
        trial.advance(effort)
        spent += effort
    return trial.output.arms.tolist(), spent


def coins(problem, horizon, seed):
    drawn = np.random.default_rng(seed).random((problem.graph.n_arms, horizon + 1))
    return (drawn < problem.means[:, None]).astype(float)


@st.composite
def tables(draw, policies):
    """A problem, a policy, a seed for ties, and a table of rewards."""
    problem = draw(st.from_type(um.Problem))
    start = draw(st.sampled_from(["sweep", "literal", "probe(2)"]))
    cls = draw(st.sampled_from(policies))
    policy = cls() if cls is um.IMED else cls(start=start)
    horizon, seed = draw(st.integers(3, 3000)), draw(st.integers(0, 10**6))
    return problem, policy, seed, coins(problem, horizon, seed)


@given(tables([um.IMED]))
@settings(max_examples=100)
def test_the_same_arms_in_the_same_rounds(case):
    assert leapt(*case)[0] == stepped(*case)


@pytest.mark.full
@given(tables([um.IMED, um.KLUCBUB, um.IMEDUB]))
@settings(max_examples=900)
def test_the_same_arms_in_the_same_rounds_at_length(case):
    assert leapt(*case)[0] == stepped(*case)


@pytest.mark.parametrize(
    "policy",
    [um.IMED(), *(pytest.param(p, marks=pytest.mark.full) for p in (um.KLUCBUB(), um.IMEDUB()))],
    ids=str,
)
def test_the_same_arms_in_long_runs_that_are_mostly_skipped(policy):
    problem = um.problems.triangular(17)
    table = coins(problem, 100_000, 4)
    arms, looks = leapt(problem, policy, 0, table, effort=100)
    assert arms == stepped(problem, policy, 0, table)
    assert looks < 10_000
