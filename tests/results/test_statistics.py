import math

import numpy as np
import pytest
from scipy import stats

from unimodal.results.skewed_means import skew_of, student
from unimodal.results.statistics import Interval, describe, mean_interval, ratio_interval


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize("trials", [2, 3, 10, 100, 100_000])
def test_student_reaches_as_far_as_the_t_distribution(trials, level):
    expected = stats.t.ppf(0.5 + level / 2, df=trials - 1)
    assert student(trials, level) == pytest.approx(expected, rel=1e-9)


def test_one_trial_says_nothing_about_the_spread():
    assert student(1) == math.inf


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_mean_interval_is_students_in_every_column_without_skew(level):
    samples = np.random.default_rng(0).uniform(size=(40, 3))
    mean, low, high = mean_interval(samples, level)
    for column in range(3):
        one = samples[:, column]
        expected = stats.t.interval(level, len(one) - 1, one.mean(), stats.sem(one))
        assert mean[column] == pytest.approx(one.mean())
        assert (low[column], high[column]) == pytest.approx(expected)


def test_a_single_trial_has_a_mean_but_no_interval():
    mean, low, high = mean_interval(np.array([[1.0, 5.0]]))
    assert mean.tolist() == [1.0, 5.0]
    assert np.isnan(low).all()
    assert np.isnan(high).all()


def correlated_pairs(rng, repeats, trials, correlation):
    """Positive, skewed pairs (log-normal), as regrets are; the true ratio of means is 0.5."""
    noise = rng.standard_normal((2, repeats, trials))
    other = correlation * noise[0] + math.sqrt(1 - correlation**2) * noise[1]
    return 0.5 * np.exp(0.5 * noise[0]), np.exp(0.5 * other)


@pytest.mark.parametrize("correlation", [-0.6, 0.0, 0.9])
def test_the_ratio_interval_covers_the_true_ratio_as_often_as_it_says(correlation):
    """Coverage over 2,000 intervals of 95 % lies in [94 %, 99 %], and they are 1.1 to 1.6 as wide.

    Log-normal samples are skewed, so intervals are wider than Student's, which cover 95 %. The
    standard error of the observed coverage is 0.5 %: another seed would fail about once in 1,000.
    """
    over, under = correlated_pairs(np.random.default_rng(7), 2000, 100, correlation)
    found = [ratio_interval(a, b) for a, b in zip(over, under, strict=True)]
    coverage = np.mean([interval.low <= 0.5 <= interval.high for interval in found])
    assert 0.94 <= coverage <= 0.99


def test_the_ratio_is_that_of_the_means_not_the_mean_of_ratios():
    assert ratio_interval([1.0, 3.0], [1.0, 1.0]).value == 2.0
    assert ratio_interval([1.0, 1.0], [1.0, 3.0]).value == 0.5


def test_a_denominator_below_zero_still_has_its_interval_the_right_way_round():
    interval = ratio_interval([1.0, 2.0, 4.0], [-2.0, -5.0, -6.0])
    assert interval.low < interval.value < interval.high


def test_a_ratio_to_zero_is_not_a_number():
    assert math.isnan(ratio_interval([1.0, 2.0], [0.0, 0.0]).value)


def test_a_ratio_of_single_trials_has_no_interval():
    interval = ratio_interval([1.0], [4.0])
    assert interval.value == 0.25
    assert math.isnan(interval.low)
    assert math.isnan(interval.high)


def test_description_has_the_quantiles_of_each_column():
    samples = np.random.default_rng(1).exponential(size=(101, 2))
    found = describe(samples)
    quantiles = ["q05", "q25", "median", "q75", "q95", "q99"]
    assert list(found) == ["mean", "low", "high", *quantiles, "few", "needed"]
    # With 101 trials these are order statistics, no interpolation needed.
    for name, place in {"q05": 5, "q25": 25, "median": 50, "q75": 75, "q95": 95, "q99": 99}.items():
        assert found[name] == pytest.approx(np.sort(samples, axis=0)[place])
    assert found["mean"] == pytest.approx(samples.mean(axis=0))
    below, above = skew_of(samples - samples.mean(axis=0)).reach(stats.t.ppf(0.975, 100))
    error = samples.std(axis=0, ddof=1) / math.sqrt(101)
    assert found["low"] == pytest.approx(samples.mean(axis=0) - below * error)
    assert found["high"] == pytest.approx(samples.mean(axis=0) + above * error)


def test_quantiles_lie_between_trials_where_there_are_few():
    """Of 0 and 10: a quarter of the way is 2.5, a twentieth 0.5."""
    found = describe([0.0, 10.0])
    assert [found[name] for name in ("q05", "q25", "median", "q75", "q95")] == [
        0.5,
        2.5,
        5,
        7.5,
        9.5,
    ]


@pytest.mark.parametrize(
    ("level", "quantile"), [(0.95, 4.302653), (0.99, 9.924843), (0.5, 0.816497)]
)
def test_the_intervals_of_three_trials_by_hand(level, quantile):
    """Quantiles of Student's distribution with 2 degrees of freedom, from a table.

    1, 2 and 6 have mean 3 and variance 14/2. Their ratio to 2, 6 and 4 is 9/12, with residuals
    1 - 1.5, 2 - 4.5 and 6 - 3, whose squares sum to 15.5.
    """
    mean, low, high = mean_interval([1.0, 2.0, 6.0], level)
    reach = quantile * math.sqrt(7 / 3)
    assert (mean, low, high) == pytest.approx((3, 3 - reach, 3 + reach), rel=1e-6)
    found = ratio_interval([1.0, 2.0, 6.0], [2.0, 6.0, 4.0], level)
    reach = quantile * math.sqrt(15.5 / 2 / 3) / 4
    assert tuple(found) == pytest.approx((0.75, 0.75 - reach, 0.75 + reach), rel=1e-6)
    assert found.half_width == pytest.approx(reach, rel=1e-6)


def test_intervals_are_of_95_percent_unless_told():
    assert student(3) == pytest.approx(4.302653, rel=1e-6)
    assert mean_interval([1.0, 2.0, 6.0]) == mean_interval([1.0, 2.0, 6.0], 0.95)
    assert ratio_interval([1.0, 3.0], [2.0, 5.0]) == ratio_interval([1.0, 3.0], [2.0, 5.0], 0.95)


@pytest.mark.parametrize(
    ("interval", "text"),
    [
        (Interval(0.52, 0.45, 0.59), "0.52 ± 0.07"),
        (Interval(4391.3, 4380.0, 4402.6), "4391 ± 11"),
        (Interval(88.52, 86.61, 90.43), "88.5 ± 1.9"),
        (Interval(88.52, 86.11, 90.93), "89 ± 2"),
        (Interval(-0.0123, -0.0173, -0.0073), "-0.012 ± 0.005"),
        (Interval(12345.6, 12000.0, 12691.2), "12346 ± 346"),
        (Interval(3.0, 3.0, 3.0), "3"),
        (Interval(3.0, math.nan, math.nan), "3"),
    ],
)
def test_an_interval_prints_as_many_digits_as_it_knows(interval, text):
    assert str(interval) == text


def test_an_interval_pads_like_text():
    assert f"{Interval(3.0, 3.0, 3.0):>4}" == "   3"
