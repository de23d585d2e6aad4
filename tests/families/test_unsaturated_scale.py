"""Levels against 60 digits of mpmath: upper bounds near the top, where floats are all 1."""

import itertools
import math

import mpmath
import numpy as np
import pytest

import unimodal as um
from unimodal.families.unsaturated_scale import (
    TOP,
    between,
    distance,
    linear_form,
    mean_level,
    shrunk,
    stretched,
    upper_level,
)
from unimodal.kernels.compile import record
from unimodal.policies.index import compare

BERNOULLI, BOUNDED = um.Bernoulli(), um.Bounded(-2.0, 6.0)


@pytest.fixture(autouse=True)
def sixty_digits():
    with mpmath.workdps(60):
        yield


def exact(family, pulls, total, budget):
    """-log(1 - u) of the largest u with pulls·kl(mean, u) ≤ budget, to 60 digits."""
    pulls, total = mpmath.mpf(pulls), mpmath.mpf(total)
    q = (mpmath.mpf(family.high) - total / pulls) / (mpmath.mpf(family.high) - family.low)
    p, budget = 1 - q, mpmath.mpf(budget) / pulls
    if q <= 0:
        return mpmath.inf  # where ours is TOP
    if p <= 0 or budget <= 0:
        return -mpmath.log(q) + max(budget, 0)

    def too_dear(x):
        return q * x - p * mpmath.log(1 + q / p * (1 - mpmath.exp(-x))) > budget

    low, high = mpmath.mpf(0), (budget - p * mpmath.log(p)) / q
    for _ in range(130):
        middle = (low + high) / 2
        low, high = (low, middle) if too_dear(middle) else (middle, high)
    return low - mpmath.log(q)


def arms(family, count, seed):
    """Pulls, whole or not; totals mostly a little under the top; budgets of all sizes."""
    rng = np.random.default_rng(seed)
    for number in range(count):
        pulls = 10.0 ** rng.uniform(-6, 4) if number % 2 else float(int(10.0 ** rng.uniform(0, 9)))
        missing = min(10.0 ** rng.uniform(-12, 0.3), 1.0)
        total = pulls * (family.high - (family.high - family.low) * missing)
        if number % 2 == 0 and family is BERNOULLI:
            total = float(round(total))
        yield pulls, total, 10.0 ** rng.uniform(-6, 1.6)


@pytest.mark.parametrize("family", [BERNOULLI, BOUNDED], ids=str)
def test_the_upper_level_to_full_precision(family):
    """To 1e-14 for Bernoulli; for Bounded as far as b·pulls - total is known."""
    saturated = 0
    for pulls, total, budget in arms(family, 300, seed=1):
        found = upper_level(record(family), pulls, total, budget)
        right = exact(family, pulls, total, budget)
        if right == mpmath.inf:
            assert found == TOP
            continue
        missing = (family.high - total / pulls) / (family.high - family.low)
        blur = 0.0 if family is BERNOULLI else 4e-16 / missing
        assert found == pytest.approx(float(right), rel=1e-14 + blur)
        saturated += -math.expm1(-found) == 1.0
    assert saturated > 50  # as many would be told apart by nothing but the order of arms


@pytest.mark.parametrize("family", [BERNOULLI, BOUNDED], ids=str)
def test_levels_are_in_the_order_of_the_bounds_whoever_is_asked_first(family):
    found = [
        (upper_level(record(family), *arm), exact(family, *arm)) for arm in arms(family, 60, 2)
    ]
    for (one, right_one), (two, right_two) in itertools.product(found, found):
        order = compare(one, two)
        assert order == -compare(two, one)
        if abs(right_one - right_two) > 1e-3 * abs(right_two):
            assert order == (1 if right_one > right_two else -1)
    ranks = sorted(one for one, _ in found)
    for low, middle, high in zip(ranks, ranks[1:], ranks[2:], strict=False):
        assert compare(high, low) >= max(compare(high, middle), compare(middle, low))


def test_levels_tie_within_rounding_and_not_beyond():
    assert compare(1.0, 1.0 + 1e-15) == compare(math.inf, math.inf) == compare(0.0, 0.0) == 0
    assert compare(1.0 + 1e-9, 1.0) == compare(math.inf, 1e300) == 1
    assert compare(1e300, math.inf) == compare(-1.0, 1.0) == -1


@pytest.mark.parametrize("family", [BERNOULLI, BOUNDED], ids=str)
def test_the_distance_to_the_upper_level_is_the_budget(family):
    for pulls, total, budget in arms(family, 100, seed=3):
        level = upper_level(record(family), pulls, total, budget)
        if level < TOP:
            found = distance(record(family), pulls, total, level)
            # x = level - (the mean's level) has lost what their difference cancels
            lost = 1e-15 * level / (level - mean_level(record(family), pulls, total))
            assert found == pytest.approx(budget, rel=1e-9 + 4 * lost)


@pytest.mark.parametrize("family", [BERNOULLI, BOUNDED], ids=str)
def test_distances_are_those_of_the_means(family):
    made, width = record(family), family.high - family.low
    for p, q in [(0.3, 0.4), (0.0, 0.5), (0.9, 0.999), (0.25, 0.25)]:
        mean, far = family.low + width * p, family.low + width * q
        right = 8 * family.divergence(mean, far)
        assert distance(made, 8.0, 8 * mean, -math.log1p(-q)) == pytest.approx(right, abs=1e-14)
    assert distance(made, 8.0, 8 * family.high, TOP) == 0.0
    assert distance(made, 8.0, 8 * family.low, TOP) > 1e299
    assert distance(made, 8.0, 8 * family.high, 3.0) == 0.0  # the mean is above


@pytest.mark.parametrize("family", [BERNOULLI, BOUNDED], ids=str)
def test_the_linear_form_at_a_level(family):
    """By hand at x = 3/4: θ = log 3 and A = log 4, each for the scaled mean."""
    made, width = record(family), family.high - family.low
    mean, theta, log_norm = linear_form(made, math.log(4))
    assert mean == pytest.approx(family.low + 0.75 * width)
    assert theta == pytest.approx(math.log(3) / width)
    assert log_norm == pytest.approx(math.log(4) + family.low * theta)
    assert linear_form(made, 50.0)[0] < family.high  # a mean that may not be told from the top
    assert linear_form(made, TOP)[0] < family.high
    assert linear_form(made, 0.0) == (family.low, -math.inf, 0.0)


def test_a_level_between_two_is_between_their_means():
    """1 - x goes from 1/2 to 1/8 in a straight line; towards the top from 1/2 to 0."""
    made = record(BERNOULLI)
    assert between(made, math.log(2), math.log(8), 1 / 3) == pytest.approx(-math.log(3 / 8))
    assert between(made, math.log(2), TOP, 0.5) == pytest.approx(math.log(4))
    assert between(made, 700.0, TOP, 0.5) == pytest.approx(700 + math.log(2))
    assert between(record(um.Gaussian()), -1.0, 3.0, 0.25) == 0.0


@pytest.mark.parametrize("family", [um.Gaussian(0.5), um.Poisson(), um.Exponential()], ids=str)
def test_without_a_top_a_level_is_the_mean(family):
    made = record(family)
    assert mean_level(made, 4.0, 6.0) == 1.5
    assert upper_level(made, 4.0, 6.0, 2.0) == family.upper(1.5, 0.5)
    assert distance(made, 4.0, 6.0, 2.0) == 4 * family.divergence(1.5, 2.0)
    assert distance(made, 4.0, 6.0, 1.0) == 0.0
    assert linear_form(made, math.inf)[0] == math.inf


def test_rewards_at_the_top_have_no_distance_to_it_however_their_sum_is_rounded():
    family, total = um.Bounded(0, 0.1), sum([0.1] * 10)
    assert total < 10 * 0.1
    assert mean_level(record(family), 10.0, total) == TOP
    assert upper_level(record(family), 10.0, total, 3.0) == TOP
    assert mean_level(record(family), 10.0, total - 1e-9) == pytest.approx(-math.log(1e-9))


@pytest.mark.parametrize(
    ("family", "level"), [(BERNOULLI, math.log(2)), (BOUNDED, -math.log(3 / 8))]
)
def test_what_is_shrunk_to_a_level(family, level):
    """Half of the top's mean (1 of 1, 6 of -2 to 6) has the level; what is higher, no mean has."""
    half = 0.5
    assert shrunk(record(family), TOP, half) == pytest.approx(level, rel=1e-15)
    assert stretched(record(family), TOP, 1.0) == TOP
    assert stretched(record(family), level, half) > 30.0  # TOP, but for the level's rounding
    assert stretched(record(family), level + 1e-9, half) == math.inf
    assert stretched(record(family), TOP, half) == math.inf
    below = stretched(record(family), level - 1e-9, half)
    assert 15.0 < below < 25.0
    assert shrunk(record(family), below, half) == pytest.approx(level - 1e-9, rel=1e-14)
