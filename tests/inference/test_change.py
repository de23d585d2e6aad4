"""Changes of an arm's rewards: the rate of false alarms, exactly, and what is found."""

import math

import numpy as np
import pytest
from scipy.stats import binom, poisson

import unimodal as um
from unimodal.inference import change
from unimodal.inference.change import find_change, statistics, threshold
from unimodal.kernels.compile import record

HALF = change.SHORTEST


def of_halves(family, older, newer):
    """The statistic of two halves with these sums."""
    sums, out = np.zeros(2 * HALF + 1), np.empty(1)
    sums[HALF], sums[2 * HALF] = older, older + newer
    statistics(record(family), sums, 1, HALF, 1, out)
    return out[0]


@pytest.mark.parametrize("family", [um.Bernoulli(), um.Poisson()], ids=repr)
def test_one_test_alarms_at_most_as_often_as_it_may(family):
    """All pairs of sums are gone through, so this is exact; a third of the threshold is caught."""
    bernoulli = isinstance(family, um.Bernoulli)
    sums = np.arange(HALF + 1 if bernoulli else 90)
    shown = np.array([[of_halves(family, older, newer) for newer in sums] for older in sums])
    caught = 0
    for mean in (0.02, 0.1, 0.3, 0.5, 0.8, 0.97):
        law = binom.pmf(sums, HALF, mean) if bernoulli else poisson.pmf(sums, HALF * mean)
        joint = np.outer(law, law)
        for chance in (0.2, 0.1, 0.01, 1e-3, 1e-5):
            limit = threshold(0, 0, 1 - 4 * chance, 1)  # the first test has a quarter of it all
            assert joint[shown > limit].sum() <= chance
            caught += joint[shown > limit / 3].sum() > chance
    assert caught > 0


def test_the_bound_is_the_tail_of_two_exponentials():
    limit = threshold(2, 5, 0.9, 7)
    c = limit - 2 * math.log(2)
    assert (1 + c) * math.exp(-c) == pytest.approx(0.1 / (7 * 3 * 4 * 6 * 7), rel=1e-9)


def test_all_shares_together_are_at_most_what_may_go_wrong():
    numbers, total = np.arange(10**4), 0.0
    for scale in range(30):
        c = threshold(scale, numbers, 0.5, 3) - 2 * math.log(2)
        total += 3 * ((1 + c) * np.exp(-c)).sum()
    assert 0.45 < total <= 0.5


def test_false_alarms_are_rare_while_nothing_changes():
    """At most half of the streams may alarm at 50 %; the bound is loose, and 10 of 300 would do.

    Few more than 1 in 100 do, so that more than 10 have a probability below 0.1 %.
    """
    rng = np.random.default_rng(1)
    streams = (rng.random((300, 1000)) < rng.random((300, 1))).astype(float)
    found = [find_change(um.Bernoulli(), stream, 0.5) for stream in streams]
    assert sum(one is not None for one in found) <= 10


@pytest.mark.parametrize(("after", "least"), [(0.3, 57), (0.85, 57), (0.6, 0)])
def test_a_change_is_found_and_where_it_was(after, least):
    """From 0.6, 600 rewards before and after, 60 streams: nearly all are found, none without."""
    rng = np.random.default_rng(2)
    places = []
    for _ in range(60):
        rewards = rng.random(1200) < np.repeat([0.6, after], 600)
        if found := find_change(um.Bernoulli(), rewards, 0.99, n_arms=5):
            places.append(found.begins)
            assert (found.after > found.before) == (after > 0.6)
    assert len(places) >= least if least else not places
    if places:
        assert abs(np.median(places) - 600) < 60


def test_short_streams_say_nothing():
    assert find_change(um.Bernoulli(), [], 0.9) is None
    assert find_change(um.Bernoulli(), [0.0, 1.0] * 15, 0.9) is None


@pytest.mark.parametrize(("ones", "begins"), [(56, 32), (63, 32), (64, 96)])
def test_of_two_changes_the_clearer_is_told_if_its_window_overlaps_the_last_one(ones, begins):
    """From 0 to 1 and back. The last that alarms has halves of 32 around the change back.

    The first change is tested earlier, so it exceeds its threshold by more; its window ends with
    reward 64, where that of the change back begins in the last case: they do not overlap.
    """
    found = find_change(um.Bernoulli(), [0.0] * 32 + [1.0] * ones + [0.0] * 32, 0.99)
    assert (found.begins, found.half) == (begins, 32)
    assert (found.before, found.after) == ((0.0, 1.0) if begins == 32 else (1.0, 0.0))
