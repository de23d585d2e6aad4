"""Sets, gaps and intervals are no wider than the theorems ask: against a computation of its own."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, optimize, stats

import unimodal as um
from unimodal.agents.arm_intervals import means_and_intervals
from unimodal.inference.confidence_bounds import bounds
from unimodal.policies.state import ARM, set_prior

LINE = um.graphs.line(6)


def coin_evidence(mean, pulls, total):
    """The likelihood of a coin's rewards, averaged over Beta(1/2, 1/2), over that at a mean."""
    log_at = stats.binom.logpmf(total, pulls, mean)
    return stats.betabinom.logpmf(total, pulls, 0.5, 0.5) - log_at


def coin_bounds(pulls, total, threshold):
    """Where that reaches a threshold on either side of the mean of the rewards."""
    middle, ends = total / pulls, []
    for end in (0.0, 1.0):
        near_end = min(max(end, 1e-12), 1 - 1e-12)
        over = lambda m: coin_evidence(m, pulls, total) - threshold  # noqa: E731
        ends.append(end if over(near_end) <= 0 else optimize.brentq(over, middle, near_end))
    return ends


def set_and_gap(pulls, totals, thresholds):
    """The arms around the one with the highest lower bound whose upper bounds reach it; the gap."""
    data = (pulls, totals, thresholds)
    low, high = np.array([coin_bounds(*each) for each in zip(*data, strict=True)]).T
    first, leader = int(low.argmax()), int(np.divide(totals, pulls).argmax())
    inside = {first}
    for step in (1, -1):
        arm = first + step
        while 0 <= arm < len(pulls) and high[arm] >= low[first]:
            inside.add(arm)
            arm += step
    others = sorted(inside - {leader})
    return tuple(sorted(inside)), max((high[arm] - low[leader] for arm in others), default=0.0)


def taught(pulls, totals, order=None):
    agent = um.Agent(um.TS(), LINE)
    for arm in order or range(len(pulls)):
        n, total = pulls[arm], totals[arm]
        agent.tell([arm] * n, [1.0] * total + [0.0] * (n - total))
    return agent


CASES = [
    ([400] * 6, [80, 120, 200, 204, 120, 80], 0.95),
    ([400] * 6, [80, 170, 200, 204, 150, 80], 0.95),
    ([900, 60, 300, 2000, 300, 90], [300, 20, 150, 1100, 120, 9], 0.9),
    ([50] * 6, [5, 15, 25, 26, 24, 6], 0.5),
]


@pytest.mark.parametrize(("pulls", "totals", "confidence"), CASES)
def test_the_set_and_the_gap_are_those_of_the_theorem(pulls, totals, confidence):
    """log(K/δ) for each arm; bounds 1.3 times as wide would show in the gap, if not in the set."""
    found = taught(pulls, totals).certificate(confidence)
    threshold = math.log(6 / (1 - confidence))
    members, gap = set_and_gap(pulls, totals, [threshold] * 6)
    assert found.peak is None and found.among == members and len(members) < 6
    assert found.gap == pytest.approx(gap, rel=1e-6)
    wider = set_and_gap(pulls, totals, [1.3**2 * threshold] * 6)  # widths go with its root
    assert found.gap < 0.95 * wider[1]


def test_the_set_after_a_pause_is_that_of_numbered_arms():
    """Number j, by first pull, has δ/(j(j + 1)); the paused arm comes back with its own."""
    pulls, totals, _ = CASES[1]
    agent, order = taught(pulls, totals, order := [3, 2, 0, 1, 5, 4]), order
    agent.pause(0)
    agent.resume(0)
    numbers = {arm: number for number, arm in enumerate(order, 1)}
    thresholds = [math.log(numbers[arm] * (numbers[arm] + 1) / 0.05) for arm in range(6)]
    found = agent.certificate(0.95)
    members, gap = set_and_gap(pulls, totals, thresholds)
    assert found.among == members and found.gap == pytest.approx(gap, rel=1e-6)


def log_evidence_by_integration(family, rewards, mean):
    """The average ratio of likelihoods over the family's prior of other means, by quadrature."""
    if isinstance(family, um.Gaussian):
        density = lambda m: stats.norm.pdf(rewards, m, family.sigma).prod()  # noqa: E731
        prior, ends = stats.norm(mean, family.sigma).pdf, (mean - 12, mean + 12)
    else:
        scale = 1.0 if isinstance(family, um.Poisson) else -1.0
        law = (
            (lambda m: stats.poisson.pmf(rewards, m).prod())
            if isinstance(family, um.Poisson)
            else (lambda m: stats.expon.pdf(rewards, scale=m).prod())
        )
        density = lambda r: law(mean * r**scale)  # noqa: E731
        prior, ends = stats.gamma(0.5, scale=2.0).pdf, (1e-9, 40.0)
    at = density(mean) if isinstance(family, um.Gaussian) else density(1.0)
    points = [ends[0], *np.linspace(0.05, 4.0, 9), ends[1]] if ends[0] > 0 else ends
    parts = (integrate.quad(lambda x: prior(x) * density(x), *part)[0] for part in pairwise(points))
    return math.log(sum(parts) / at)


@pytest.mark.parametrize(
    ("family", "rewards"),
    [
        (um.Gaussian(1.0), [0.3, 1.2, 0.8, 0.1, 0.9]),
        (um.Poisson(), [2, 0, 1, 3, 2, 1]),
        (um.Exponential(), [0.4, 2.0, 0.7, 1.1, 0.2, 0.9]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_bounds_are_where_the_average_ratio_reaches_one_over_delta(family, rewards):
    """Either bound, to 0.002 of its evidence; one that is 1.3 times too far has 0.3 more of it."""
    threshold = math.log(5.0)
    (low,), (high,) = bounds(family, [len(rewards)], [sum(rewards)], threshold)
    middle = np.mean(rewards)
    for end in (low, high):
        found = log_evidence_by_integration(family, np.array(rewards), end)
        assert found == pytest.approx(threshold, abs=2e-3)
        further = log_evidence_by_integration(
            family, np.array(rewards), max(middle + 1.3 * (end - middle), family.low + 0.05)
        )
        assert further > threshold + 0.3


@pytest.mark.parametrize(
    ("family", "law"),
    [
        (um.Bernoulli(), stats.beta(1 + 12, 1 + 8)),
        (um.Gaussian(2.0), stats.norm(12 / 20, 2 / 20**0.5)),
        (um.Poisson(), stats.gamma(1 + 12, scale=1 / 21)),
        (um.Exponential(), stats.invgamma(1 + 20, scale=1 + 12)),
    ],
    ids=lambda value: repr(value) if isinstance(value, um.Family) else "",
)
def test_intervals_of_means_are_the_middle_95_percent_of_the_posterior(family, law):
    """20 rewards that sum to 12; the Gaussian prior is nearly flat."""
    arms = np.zeros(1, dtype=ARM)
    set_prior(arms, family, None)
    arms["pulls"], arms["total"], arms["successes"] = 20, 12.0, 12.0
    mean, low, high = (float(each[0]) for each in means_and_intervals(family, arms))
    assert mean == pytest.approx(0.6)
    assert [low, high] == pytest.approx(law.ppf([0.025, 0.975]), rel=1e-3)


def test_a_second_peak_is_reported_as_soon_as_its_bounds_allow():
    """At the confidence at which the middle arm's upper bound meets the lower of the two bounds."""
    pulls, totals = [300, 300, 300], [200, 120, 190]

    def apart(log_share):
        threshold = math.log(3) + log_share
        (low, _), (_, middle), (other, _) = (
            coin_bounds(*each, threshold) for each in zip(pulls, totals, strict=True)
        )
        return min(low, other) - middle

    surest = -math.expm1(-optimize.brentq(apart, 0.1, 30.0))
    graph = um.graphs.line(3)
    assert um.second_peaks(graph, pulls, totals, confidence=surest - 1e-3 * (1 - surest))
    assert not um.second_peaks(graph, pulls, totals, confidence=surest + 1e-3 * (1 - surest))
