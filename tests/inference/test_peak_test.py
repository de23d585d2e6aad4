"""The test for the peak keeps its level at every round at once: shown exactly, and with power.

Two Bernoulli arms, at most 30 pulls: of all rules that choose the arm from what came before, and
all rules that choose when to stop, the best one for an adversary is found by dynamic programming.
The expectation of the evidence at that moment is at most 1. For one arm of any family, the expected
factor by which a reward multiplies M is 1 (at most 1 for Bounded), by sums and quadrature.
"""

import functools
import math

import numpy as np
import pytest
from scipy import integrate, stats

import unimodal as um
from unimodal.inference import peak_test
from unimodal.inference.peak_test import Numbering, order_evidence, set_with_peak, shortfall

MOST = 30


@functools.cache
def pairs(most=MOST):
    """Pulls and totals that one arm can have."""
    found = [(n, s) for n in range(most + 1) for s in range(n + 1)]
    return np.array(found, dtype=float).T


def evidence_table(most=MOST):
    """exp of the evidence that arm a is better than b, by pulls and total of a and of b."""
    pulls, totals = pairs(most)
    table = np.zeros((most + 1,) * 4)
    for n in range(most + 1):
        for s in range(n + 1):
            rivals = np.flatnonzero(pulls <= most - n)
            data = np.append(pulls[rivals], n), np.append(totals[rivals], s)
            found = order_evidence(um.Bernoulli(), *data, len(rivals), np.arange(len(rivals)))
            places = pulls[rivals].astype(int), totals[rivals].astype(int)
            table[n, s, places[0], places[1]] = np.exp(found)
    return table


@pytest.fixture(scope="module")
def table():
    return evidence_table()


def best_expectation(table, mean_a, mean_b):
    """Of the evidence, under the rule for arms and the moment to stop that make it largest."""
    value, most = table.copy(), len(table) - 1
    for total in range(most - 1, -1, -1):
        for n in range(total + 1):
            m = total - n
            by_a = mean_a * value[n + 1, 1 : n + 2, m, : m + 1]
            by_a = by_a + (1 - mean_a) * value[n + 1, : n + 1, m, : m + 1]
            by_b = mean_b * value[n, : n + 1, m + 1, 1 : m + 2]
            by_b = by_b + (1 - mean_b) * value[n, : n + 1, m + 1, : m + 1]
            here = value[n, : n + 1, m, : m + 1]
            np.maximum(here, np.maximum(by_a, by_b), out=here)
    return value[0, 0, 0, 0]


NULLS = [(0.5, 0.5), (0.1, 0.1), (0.9, 0.9), (0.02, 0.02), (0.4, 0.6), (0.45, 0.5)]


@pytest.mark.parametrize(("mean_a", "mean_b"), NULLS)
def test_nobody_can_expect_evidence_for_a_worse_arm(table, mean_a, mean_b):
    assert best_expectation(table, mean_a, mean_b) <= 1 + 1e-12


def test_evidence_for_a_better_arm_is_found(table):
    assert best_expectation(table, 0.9, 0.3) > 100


def test_the_null_reversed_and_a_prior_that_is_none_are_caught(table):
    reversed_null = np.moveaxis(table, (0, 1), (2, 3))
    assert best_expectation(reversed_null, 0.4, 0.6) > 1.2
    no_prior = table * math.pi  # Beta(1/2, 1/2) without its constant, in one of the two arms
    no_prior[0, 0, 0, 0] = 1.0
    assert best_expectation(no_prior, 0.5, 0.5) > 1.2


@pytest.mark.parametrize(
    ("family", "mean"),
    [
        (um.Bernoulli(), 0.3),
        (um.Gaussian(2.0), -1.0),
        (um.Poisson(), 2.5),
        (um.Exponential(), 1.7),
        (um.Bounded(-1.0, 3.0), 0.2),
        (um.Scaled(um.Bernoulli(), by=12.9), 4.0),
        (um.Scaled(um.Poisson(), by=0.5), 2.0),
    ],
    ids=repr,
)
@pytest.mark.parametrize(("pulls", "share"), [(0, 1.0), (1, 0.8), (7, 1.4), (40, 0.9)])
def test_a_reward_multiplies_the_evidence_by_one_on_average(family, mean, pulls, share):
    told, worth = family.told, float(family.worth(1.0))
    inner = mean / worth
    total = pulls * share * inner if pulls else 0.0

    def factor(reward, log_chance=0.0):
        after = family.log_evidence(mean, pulls + 1.0, total + reward)
        before = family.log_evidence(mean, float(pulls), total) if pulls else 0.0
        return math.exp(float(after - before) + log_chance)

    if isinstance(told, um.Bernoulli):
        total = float(round(total))
        found = inner * factor(1.0) + (1 - inner) * factor(0.0)
    elif isinstance(told, um.Poisson):
        total = float(round(total))
        law = stats.poisson(inner)
        found = sum(factor(float(k), law.logpmf(k)) for k in range(600))
    elif isinstance(told, um.Gaussian):
        law = stats.norm(inner, told.sigma)
        found = integrate.quad(lambda x: law.pdf(x) * factor(x), inner - 60, inner + 60, limit=400)[
            0
        ]
    elif isinstance(told, um.Exponential):
        # By the logarithm of the reward, since large rewards are not rare under other means.
        def share_at(u):
            x = math.exp(u)
            return factor(x, u - x / inner - math.log(inner))

        found = integrate.quad(share_at, -30, 25, limit=800)[0]
    else:  # any law between the bounds: two points are the worst, a third only helps
        high = (inner - told.a) / (told.b - told.a)
        found = high * factor(told.b) + (1 - high) * factor(told.a)
        assert found == pytest.approx(1.0, abs=1e-9)
        assert factor(inner) <= 1.0 + 1e-9
    assert found == pytest.approx(1.0, abs=1e-4 if isinstance(told, um.Exponential) else 1e-8)


def with_part_kept(evidence):
    """The logarithm of the theorem's M, from that of the likelihoods' ratio."""
    return np.logaddexp(math.log(0.25), math.log(0.75) + evidence)


def smallest(family, data_a, data_b):
    """The smallest M_a·M_b over x ≤ y, by brute force: the logarithm."""
    z = np.linspace(data_b[1] / data_b[0], data_a[1] / data_a[0], 20_001)
    return sum(with_part_kept(family.log_evidence(z, *data)) for data in (data_a, data_b)).min()


@pytest.mark.parametrize(
    "family",
    [um.Bernoulli(), um.Gaussian(2.0), um.Poisson(), um.Exponential(), um.Bounded(0.0, 4.0)],
    ids=repr,
)
def test_it_is_the_smallest_product_over_the_null_and_hardly_less(family):
    rng = np.random.default_rng(5)
    top = min(family.high, 3.0)
    for _ in range(20):
        pulls = rng.integers(5, 3000, 2).astype(float)
        totals = pulls * np.sort(rng.uniform(0.05, 0.95, 2))[::-1] * top
        found = order_evidence(family, pulls, totals, 0, [1])[0]
        true = smallest(family, (pulls[0], totals[0]), (pulls[1], totals[1]))
        assert true - 0.01 * abs(true) - 1e-6 <= found <= true + 1e-6


def test_worths_are_compared_in_money():
    """Half of those who see 10 buy, a third of those who see 20: 5 against 6.67."""
    family = um.Scaled(um.Bernoulli(), by=[10.0, 20.0]).on(um.graphs.line(2)).of_arms([0, 1])
    pulls, totals = [2000, 2000], [1000, 667]
    assert order_evidence(family, pulls, totals, 1, [0])[0] > 10
    assert order_evidence(family, pulls, totals, 0, [1])[0] <= 0


def test_an_arm_beyond_the_reach_of_another_is_rejected_by_its_own_rewards():
    """At most 10 per visit: whoever earns 15 is better, though the other was never tried."""
    family = um.Scaled(um.Bernoulli(), by=[10.0, 20.0]).on(um.graphs.line(2)).of_arms([0, 1])
    found = order_evidence(family, [0, 100], [0, 75], 1, [0])[0]
    alone = with_part_kept(um.Bernoulli().log_evidence(0.5, 100.0, 75.0))
    assert found == pytest.approx(float(alone)) and found > 5
    assert order_evidence(um.Bernoulli(), [0, 100], [0, 75], 1, [0])[0] <= 0


@functools.cache
def evidence_of_two(pulls, total, other):
    return order_evidence(um.Bernoulli(), [pulls, pulls], [total, other], 0, [1])[0]


def wrong_certificates(log_error, cost, n_leaves=1000, trials=300, sweeps=40):
    """The share of trials that ever certify a leaf of a star whose middle is a little better."""
    rng = np.random.default_rng(1)
    middle, leaves = np.zeros(trials), np.zeros((trials, n_leaves))
    wrong = np.zeros(trials, dtype=bool)
    for n in range(1, sweeps + 1):
        middle += rng.random(trials) < 0.5
        leaves += rng.random((trials, n_leaves)) < 0.499
        for trial in np.flatnonzero((leaves.max(axis=1) > middle) & ~wrong):
            evidence = evidence_of_two(n, leaves[trial].max(), middle[trial])
            wrong[trial] = cost - evidence <= log_error
    return wrong.mean()


def test_at_half_confidence_a_star_is_rarely_certified_wrongly():
    """2 of 300 trials; 228 without the union over all arms, 54 with half of the log threshold."""
    (cost,) = Numbering(1001).pair_costs(1, [0])
    assert cost == pytest.approx(math.log(1000))
    assert wrong_certificates(math.log(0.5), cost) < 0.05
    assert wrong_certificates(math.log(0.5), 0.0) > 0.62  # without the union
    assert wrong_certificates(0.5 * math.log(0.5), 0.5 * cost) > 0.1  # the threshold halved


def test_numbers_of_first_pulls_share_the_error():
    numbering = Numbering(4, np.array([2, 1, 0, 3]))
    expected = [math.log(n * (n + 1)) for n in (2, 1, 4, 3)]
    assert numbering.costs(np.arange(4)) == pytest.approx(expected)
    assert numbering.pair_costs(0, [1, 2]) == pytest.approx(
        [expected[0] + expected[1], expected[0] + expected[2]]
    )
    shares = np.exp(-Numbering(10**6, np.arange(1, 10**6 + 1)).costs(np.arange(10**6)))
    assert shares.sum() < 1
    assert Numbering(5).costs(np.arange(5)) == pytest.approx(np.log(5))


def test_the_set_with_the_peak_is_connected_and_closed():
    graph = um.graphs.line(7)
    pulls = np.array([200.0] * 7)
    totals = pulls * [0.1, 0.3, 0.78, 0.8, 0.79, 0.2, 0.75]
    found, low, high = set_with_peak(
        um.Bernoulli(), pulls, totals, graph.neighbors, math.log(0.05), Numbering(7)
    )
    assert found == [2, 3, 4]  # arm 6 may be as good, but a valley lies between
    assert low[3] <= 0.8 <= high[3] and high[1] < low[3] < high[6]
    unknown = set_with_peak(
        um.Bernoulli(), pulls, totals, lambda arm: None, math.log(0.05), Numbering(7)
    )
    assert unknown[0] is None


def test_an_arm_whose_upper_bound_just_reaches_the_best_lower_one_may_be_the_peak(monkeypatch):
    """Both may then be the best; one float less, and it is worse."""
    low, high = np.array([0.2, 0.3, 0.5, 0.3, 0.2]), np.array([1.0, 0.5, 0.9, 0.5, 0.4])
    high[3] = np.nextafter(0.5, 0.0)
    monkeypatch.setattr(peak_test, "bounds", lambda *given: (low, high))
    graph, ones = um.graphs.line(5), np.ones(5)
    found = set_with_peak(um.Bernoulli(), ones, ones, graph.neighbors, -3.0, Numbering(5))
    assert found[0] == [0, 1, 2]


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 1.5, math.nan, "high", None])
def test_a_confidence_is_a_number_between_0_and_1(confidence):
    with pytest.raises(um.UnimodalError, match="'confidence'"):
        peak_test.check_confidence(confidence)


class InTurn(um.Policy):
    """The arm with the fewest pulls."""

    compiled = True

    def choose(self, arms, near, leader, clock, rng):
        return 1 if arms[1].pulls < arms[0].pulls else 0


def exact_rates(error, means, rounds):
    """P(a right, a wrong arm is certified by then) of two arms that are pulled in turn."""
    alive, stopped = np.ones((1, 1)), np.zeros(2)
    for now in range(1, rounds + 1):
        pulls = np.array([(now + 1) // 2, now // 2], dtype=float)
        arm = (now + 1) % 2
        grown = np.zeros((int(pulls[0]) + 1, int(pulls[1]) + 1))
        step = (1, 0) if arm == 0 else (0, 1)
        grown[step[0] :, step[1] :] += means[arm] * alive
        grown[: alive.shape[0], : alive.shape[1]] += (1 - means[arm]) * alive
        alive = grown
        for better in (0, 1):
            for total in range(int(pulls[better]) + 1):
                others = np.arange(pulls[1 - better] + 1)
                data = np.append(np.full(len(others), pulls[1 - better]), pulls[better])
                totals, rivals = np.append(others, float(total)), np.arange(len(others))
                found = shortfall(um.Bernoulli(), data, totals, len(others), rivals, Numbering(2))
                row = alive[total] if better == 0 else alive[:, total]
                stopped[better] += row[found <= math.log(error)].sum()
                row[found <= math.log(error)] = 0.0
    return stopped


def test_two_arms_at_half_confidence_against_the_exact_rates():
    """600 trials: a share is off by 4 standard deviations once in 16,000 choices of a seed."""
    means, rounds, trials = (0.5, 0.48), 40, 600
    right, wrong = exact_rates(0.5, means, rounds)
    assert 0.02 < wrong < right < 0.5
    result = um.simulate(
        um.Problem(um.graphs.line(2), means),
        InTurn(),
        horizon=rounds,
        trials=trials,
        seed=4,
        stop=um.Certified(0.5),
    )
    (run,) = result.runs.values()
    for share, found in ((right, run.certified == 0), (wrong, run.certified == 1)):
        assert abs(found.mean() - share) < 4 * math.sqrt(share * (1 - share) / trials)
    # Of another threshold the rate is far away.
    assert exact_rates(0.125, means, rounds)[0] < right - 5 * math.sqrt(right / trials)
