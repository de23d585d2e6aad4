"""The joint law of the first six pulls on a line of three: worked out, and counted in leaps."""

import functools
import itertools

import numpy as np
import pytest
from scipy import stats

import unimodal as um
from unimodal.engines.leap import LeapTrial
from unimodal.engines.leap.engine import leap
from unimodal.kernels.compile import inner, jit
from unimodal.policies.state import LAST, LEADER

PULLS, LEAPS = 6, 1_000_000
MEANS = (0.3, 0.8, 0.6)
NEAR = ((0, 1), (0, 1, 2), (1, 2))
# Densities and distribution functions of Betas with small whole parameters are polynomials, for
# which Gauss and Legendre's rule with 20 points is exact.
NODES, WEIGHTS = np.polynomial.legendre.leggauss(20)
NODES, WEIGHTS = (NODES + 1) / 2, WEIGHTS / 2


@functools.cache
def chances(beliefs):
    """The probability of each to draw the highest, for several Beta(1 + S, 1 + N - S)."""
    laws = [stats.beta(1 + total, 1 + pulls - total) for pulls, total in beliefs]
    won = []
    for arm, law in enumerate(laws):
        others = np.prod([o.cdf(NODES) for i, o in enumerate(laws) if i != arm], axis=0)
        won.append(float((WEIGHTS * law.pdf(NODES) * others).sum()))
    assert abs(sum(won) - 1) < 1e-12
    return won


def chosen(arms, leads, unimodal):
    """(probability, arm, leads afterwards) of everything that may be pulled next."""
    if not unimodal:
        for arm, chance in enumerate(chances(arms)):
            yield chance, arm, leads
        return
    shown = [total / pulls if pulls else 0.0 for pulls, total in arms]  # Algorithm 1 as printed
    tied = [arm for arm in range(3) if shown[arm] == max(shown)]
    for leader in tied:
        later = tuple(n + (arm == leader) for arm, n in enumerate(leads))
        near = NEAR[leader]
        if leads[leader] % len(near) == 0:
            yield 1 / len(tied), leader, later
        else:
            for arm, chance in zip(near, chances(tuple(arms[i] for i in near)), strict=True):
                yield chance / len(tied), arm, later


@functools.cache
def law(arms, leads, left, unimodal):
    """The probability of every sequence of `left` pulls from here on."""
    if not left:
        return {(): 1.0}
    found = {}
    for chance, arm, later in chosen(arms, leads, unimodal):
        pulls, total = arms[arm]
        for reward, how_likely in ((1, MEANS[arm]), (0, 1 - MEANS[arm])):
            known = (*arms[:arm], (pulls + 1, total + reward), *arms[arm + 1 :])
            for rest, p in law(known, later, left - 1, unimodal).items():
                sequence = (arm, *rest)
                found[sequence] = found.get(sequence, 0.0) + chance * how_likely * p
    return found


@inner
def _reset(state, queue):
    for arm in range(3):
        record = state.arms[arm]
        record.pulls = record.leads = 0
        record.total = 0.0
    state.best[4:7], state.count[4:7] = 0.0, 1
    state.best[1:4], state.count[1], state.count[2], state.count[3] = 0.0, 3, 2, 1
    state.notes[:] = 0
    state.notes[LAST] = state.notes[LEADER] = -1
    session = queue.session[0]
    session.is_open = session.resume = 0


@jit
def count_leaps(scope, index, family, arena, state, rewards, gaps, output, queue, counts):
    """Play the six rounds again and again; returns how many of them were looks, not steps."""
    looked = 0
    for _ in range(LEAPS):
        _reset(state, queue)
        # Ties are broken by a counter and this key: without a new one, always alike.
        state.rng[4] += np.uint64(0x9E3779B97F4A7C15)
        while state.notes[0] < PULLS:
            leap(scope, index, family, arena, state, rewards, gaps, output, 0, queue, PULLS, 1)
            looked += queue.session[0].is_open
        place = 0
        for arm in output.arms:
            place = 3 * place + arm
        counts[place] += 1
    return looked


@pytest.mark.full
@pytest.mark.parametrize("policy", [um.UTS(start="literal"), um.TS()], ids=str)
def test_the_first_six_pulls(policy):
    """A chi-square test over all sequences; a false alarm in 1 of 1000 seeds."""
    problem = um.Problem(um.graphs.line(3), MEANS)
    trial = LeapTrial(problem, policy, 7, 0, np.array([PULLS]), True)
    trial.hurry(depth=-0.6)
    counts = np.zeros(3**PULLS, dtype=np.int64)
    fixed = (*trial.parts, trial.state, trial.rewards, problem.gaps, trial.output, trial.queue)
    looked = count_leaps(*fixed, counts)
    assert looked > 2 * LEAPS  # rounds in which the engine looked at those who were called

    exact = law(((0, 0),) * 3, (0,) * 3, PULLS, isinstance(policy, um.UTS))
    assert sum(exact.values()) == pytest.approx(1.0)
    sequences = list(itertools.product(range(3), repeat=PULLS))
    expected = np.array([exact.get(s, 0.0) for s in sequences]) * LEAPS
    assert counts[expected == 0].sum() == 0
    usual = expected >= 5
    seen, due = counts[usual], expected[usual]
    if not usual.all():
        seen, due = [*seen, counts[~usual].sum()], [*due, expected[~usual].sum()]
    assert stats.chisquare(seen, due).pvalue > 1e-3
