import math

import numpy as np
import pytest
from scipy import stats

import unimodal as um
from unimodal.engines.line_search import GOLDEN, LSE, reward_width, total_reward
from unimodal.kernels.random import REWARDS, stream


def corner(peak, slope=0.8):
    return um.Interval(0, 1, mean=lambda x: 0.9 - slope * abs(x - peak))


def test_golden_section_keeps_one_of_its_points():
    """What is left after a drop has the old inner point as one of its new ones."""
    kept = 1 / GOLDEN  # of an interval of length 1, after its left or right end is dropped
    assert kept / GOLDEN == pytest.approx(1 / GOLDEN**2)
    assert math.isclose(1 - 2 / GOLDEN**2, 1 / GOLDEN**3)


@pytest.mark.parametrize("alpha", [0.3, 0.5, 1.0, 1.5, 2.0, 4.0])
@pytest.mark.parametrize("length", [1.0, 0.2, 3.0])
def test_the_fall_is_the_least_there_can_be(alpha, length):
    """Over all peaks in the outer part: how much better the nearer inner point is."""
    near, far = length / GOLDEN**2, length / GOLDEN
    peaks = np.linspace(0, near, 2001)
    least = (0.7 * ((far - peaks) ** alpha - (near - peaks) ** alpha)).min()
    assert LSE(slope=0.7, smoothness=alpha).fall(length) == pytest.approx(least)


def test_the_pulls_of_a_stage_by_hand():
    """ε = 0.5·φ⁻³ = 0.11803; 2/ε²·log(8000) = 143.55·8.9872 = 1290.2."""
    assert LSE(slope=0.5).rewards_at_a_point(1.0, horizon=1000, width=1.0) == 1291
    assert LSE(slope=0.5).rewards_at_a_point(1.0, horizon=1000, width=2.0) == 5161
    for never_sure in (LSE(slope=1e-200), LSE(slope=1, smoothness=1000)):
        assert never_sure.rewards_at_a_point(1.0, horizon=1000, width=1.0) >= 1000


def test_without_noise_it_is_golden_section():
    """Gaussian rewards of σ = 10⁻⁹: every test is right, and needs one pull a point."""
    rewards = um.Gaussian(1e-9)
    interval = um.Interval(0, 1, lambda x: -abs(x - 0.3), rewards)
    found = LSE(slope=1.0).play(interval, np.array([40]), stream(0, 0, REWARDS))
    low, high = 0.0, 1.0
    for _ in range(9):  # the tenth stage ends with the horizon, before its test
        inner = low + (high - low) / GOLDEN**2, high - (high - low) / GOLDEN**2
        low, high = (low, inner[1]) if 0.3 - inner[0] < inner[1] - 0.3 else (inner[0], high)
    assert found.stages == 9
    assert (found.low, found.high) == pytest.approx((low, high))


@pytest.mark.parametrize(
    ("found", "ends"),
    [
        ([9, 1, 2, 3], (0, 1 / GOLDEN)),  # the left end says that the peak is on the left
        ([3, 2, 1, 9], (1 / GOLDEN**2, 1)),
        ([1, 9, 8, 1], (0, 1 / GOLDEN)),
        ([1, 8, 9, 1], (1 / GOLDEN**2, 1)),
    ],
)
def test_the_outer_part_at_the_worse_end_is_dropped(found, ends, monkeypatch):
    """By the better of two points on each side, as the proof has it."""
    totals = iter(found)
    monkeypatch.setattr("unimodal.engines.line_search.total_reward", lambda *_: next(totals))
    played = LSE(slope=0.8).play(corner(0.5), np.array([4000]), stream(0, 0, REWARDS))
    assert played.stages == 1
    assert (played.low, played.high) == pytest.approx(ends)


def test_regret_is_that_of_pulls_in_turn():
    interval = corner(0.4)
    rounds = np.arange(1, 4001)
    regret = LSE(slope=2.5).play(interval, rounds, stream(1, 0, REWARDS)).regret
    steps = np.diff(regret, prepend=0.0)
    first = 0.9 - interval.means_at([0, 1 / GOLDEN**2, 1 / GOLDEN, 1])
    pulls = LSE(slope=2.5).rewards_at_a_point(1.0, 4000, 1.0)
    np.testing.assert_allclose(steps[: 4 * pulls], np.tile(first, pulls))
    after = steps[4 * pulls : 4 * pulls + 4]  # the second stage's points, whichever was dropped
    assert sorted(after.round(9)) != sorted(first.round(9))
    assert steps.min() >= 0
    # A horizon that ends within a stage, or checkpoints that are few, change nothing.
    few = np.array([10, 4 * pulls, 4000])
    again = LSE(slope=2.5).play(interval, few, stream(1, 0, REWARDS)).regret
    np.testing.assert_allclose(again, regret[few - 1])


def test_the_peak_is_kept_and_what_is_left_shrinks_as_the_horizon_allows():
    """Each of 4 stages errs with probability at most 3/(8T): 60 trials, 9·10⁻⁴ in all.

    With a hundredth of the pulls (slope=8) the peak is lost in 23 of these 60 trials.
    """
    lost = 0
    for trial in range(60):
        interval = corner(0.2 + 0.01 * trial)
        found = LSE(slope=0.8).play(interval, np.array([10**5]), stream(3, trial, REWARDS))
        assert found.stages == 4
        assert found.high - found.low == pytest.approx(GOLDEN**-4)
        lost += not found.low <= interval.peak <= found.high
    assert lost == 0


def test_nothing_is_left_to_narrow_when_floats_end():
    interval = um.Interval(1, 2, lambda x: 5 - abs(x - 1.3), um.Gaussian(1e-30))
    found = LSE(slope=1.0).play(interval, np.array([1000]), stream(0, 0, REWARDS))
    assert found.low <= found.high
    assert found.high - found.low < 1e-14
    assert np.isfinite(found.regret).all()


@pytest.mark.parametrize("family", [um.Bernoulli(), um.Gaussian(2.0), um.Bounded(-1, 3)])
def test_a_total_has_the_law_of_a_sum(family):
    """Mean of 400 totals of 50 rewards, within 4.5 standard errors: false alarms 7·10⁻⁶."""
    rng = stream(5, 0, REWARDS)
    totals = np.array([total_reward(family, 0.4, 50, rng) for _ in range(400)])
    assert abs(stats.ttest_1samp(totals, 20.0).statistic) < 4.5
    assert totals.std() > 0


def test_a_draw_of_your_own_is_summed_too():
    family = um.Bounded(0, 1, draw=lambda mean, rng: mean)
    assert total_reward(family, 0.25, 8, stream(0, 0, REWARDS)) == 2.0


def test_widths_of_rewards():
    assert reward_width(um.Bernoulli()) == 1.0
    assert reward_width(um.Bounded(-1, 3)) == 4.0
    assert reward_width(um.Gaussian(0.5)) == 1.0  # variance 1/4, as of a fair coin


@pytest.mark.parametrize("family", [um.Poisson(), um.Exponential()])
def test_rewards_without_bound_are_refused(family):
    with pytest.raises(um.UnimodalError, match=r"bounded or Gaussian.*use UTS on"):
        reward_width(family)


@pytest.mark.parametrize("numbers", [(0, 1), (-1, 1), (1, 0), (math.nan, 1), ("steep", 1)])
def test_slope_and_smoothness_must_be_positive(numbers):
    with pytest.raises(um.UnimodalError, match="of LSE must be a finite number greater than 0"):
        LSE(*numbers)
