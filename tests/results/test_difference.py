"""Tests of two policies: by hand, against SciPy, how often they err, and how often they find."""

import numpy as np
import pytest
from scipy import stats

import unimodal as um
from unimodal.results.difference import paired, unpaired
from unimodal.results.result import Run
from unimodal.results.statistics import quantile_interval

PROBLEM = um.problems.triangular(3)


def made_up(seed=4, first=0, **regrets):
    """A result with these regrets at round 100."""
    runs = {}
    for name, last in regrets.items():
        regret = np.column_stack([np.zeros(len(last)), np.asarray(last, dtype=float)])
        runs[name] = Run(um.UTS(name=name), regret, np.zeros((len(last), 3), dtype=np.int64))
    return um.Result(PROBLEM, seed, np.array([10, 100]), runs, first_trial=first)


def test_by_hand():
    """Differences 1, 2 and 6: mean 3, standard error √(7/3), Student's 97.5 % is 4.302653."""
    found = made_up(one=[2, 4, 9], two=[1, 2, 3]).test("one", "two")
    reach = 4.302653 * (7 / 3) ** 0.5
    assert tuple(found.effect) == pytest.approx((3, 3 - reach, 3 + reach), rel=1e-6)
    assert found.p == pytest.approx(2 * stats.t.sf(3 / (7 / 3) ** 0.5, 2)) and found.paired
    assert str(found) == "one − two: 3 ± 7, p = 0.19 (paired by trial)"


def test_even_samples_have_the_p_values_of_scipy():
    """Samples that are symmetric are not skewed, so nothing is added to Student's and Welch's."""
    one, two = np.arange(-10.0, 11.0), 3 + 2 * np.arange(-6.0, 7.0)
    other = np.roll(one, 3)[::-1] * 0.5
    even = np.concatenate([other, -other])
    both = np.concatenate([one, -one]) + 1.0
    found = paired("a", "b", both, even, 1)
    assert found.p == pytest.approx(stats.ttest_rel(both, even).pvalue)
    found = unpaired("a", "b", one, two, 1)
    expected = stats.ttest_ind(one, two, equal_var=False)
    assert found.p == pytest.approx(expected.pvalue)
    low, high = expected.confidence_interval(0.95)
    assert tuple(found.effect) == pytest.approx((-3.0, low, high))


@pytest.mark.parametrize("compare", [paired, unpaired])
@pytest.mark.parametrize("of", [1, 3])
def test_interval_and_p_say_the_same(compare, of):
    rng = np.random.default_rng(1)
    for _ in range(200):
        one, two = rng.exponential(1.0, 12), rng.exponential(2.0, 12)
        found = compare("a", "b", one, two, of)
        assert found.is_significant == (found.effect.low > 0 or found.effect.high < 0)
        turned = compare("b", "a", two, one, of)
        assert turned.p == pytest.approx(found.p)


@pytest.mark.parametrize(("compare", "least"), [(paired, 0.93), (unpaired, 0.93)])
def test_intervals_cover(compare, least):
    """Of 1,000 draws of 30 skewed regrets each, at least 0.93 of intervals hold 0.

    The coverage is 0.95 or more, so fewer than 0.93 would in 1 of 500 tests at most; intervals of
    half the length (the planted error of a forgotten √2 and more) cover 0.7.
    """
    rng = np.random.default_rng(5)
    covered = 0
    for _ in range(1000):
        one, two = rng.gamma(2.0, 1.0, (2, 30))
        effect = compare("a", "b", one, two, 1).effect
        covered += effect.low <= 0 <= effect.high
    assert covered >= least * 1000


def test_pairs_find_what_two_samples_do_not():
    rng = np.random.default_rng(2)
    common = rng.normal(0, 10, 40)
    result = made_up(one=common + 1 + rng.normal(0, 0.5, 40), two=common)
    assert result.test("one", "two").is_significant
    other = made_up(seed=5, two=common)
    found = result.test("one", "two", than=other)
    assert not found.paired and not found.is_significant
    assert not result.test("one", "two", than=made_up(first=1, two=common)).paired
    assert result.test("one", "two", than=made_up(two=common)).paired


def test_many_tests_are_corrected():
    result = made_up(one=[2, 4, 9, 5, 7, 3], two=[1, 2, 3, 4, 5, 6])
    alone, many = result.test("one", "two"), result.test("one", "two", of=10)
    assert many.p == pytest.approx(min(1, 10 * alone.p))
    assert many.effect.low < alone.effect.low and "corrected for 10 tests" in str(many)


def test_edges():
    one_trial = made_up(one=[3], two=[1]).test("one", "two")
    assert one_trial.p == 1.0 and np.isnan(one_trial.effect.low) and not one_trial.is_significant
    assert unpaired("a", "b", [3.0], [1.0, 2.0], 1).p == 1.0
    same = made_up(one=[3, 5, 9])
    assert same.test("one", "one").p == 1.0 and tuple(same.test("one", "one").effect) == (0, 0, 0)
    assert made_up(one=[3, 3], two=[1, 1]).test("one", "two").p == 0.0
    assert unpaired("a", "b", [3.0, 3.0], [3.0, 3.0], 1).p == 1.0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("one", "three"), "Known are one, two"),
        (("one", "two", 0), "the 'of' of test"),
        (("one", "two", 1, "x"), "'than' of test must be a result"),
    ],
)
def test_mistakes_get_a_sentence(given, said):
    result, (name, other, *more) = made_up(one=[1, 2], two=[1, 2]), given
    with pytest.raises(um.UnimodalError, match=said):
        result.test(name, other, **dict(zip(("of", "than"), more, strict=False)))
    later = um.Result(PROBLEM, 4, np.array([10, 200]), result.runs)
    with pytest.raises(um.UnimodalError, match="after the same rounds, got 100 and 200"):
        result.test("one", "two", than=later)


@pytest.mark.parametrize("share", [0.05, 0.5, 0.99])
@pytest.mark.parametrize("trials", [5, 40, 400])
def test_intervals_of_quantiles_cover_as_the_binomial_says(share, trials):
    """Exactly: the ends are order statistics, and P(too low) and P(too high) at most 2.5 %."""
    ordered = np.arange(1.0, trials + 1)
    _, low, high = quantile_interval(ordered, share)
    below = stats.binom(trials, share)
    if low is not None:  # too high an end if fewer than `low` samples lie below the quantile
        assert below.cdf(low - 1) <= 0.025 < below.cdf(low)
    else:
        assert below.cdf(0) > 0.025
    if high is not None:
        assert below.sf(high - 1) <= 0.025 < below.sf(high - 2)
    else:
        assert below.sf(trials - 1) > 0.025


def test_quantiles_are_a_table():
    result = made_up(one=np.arange(101.0), two=np.arange(101.0) * 2)
    rows = result.quantiles([0.5, 1.0]).rows()
    assert rows[0] == ("one", 0.5, 50.0, 40.0, 60.0)
    assert [row[:3] for row in rows[1:]] == [
        ("two", 0.5, 100.0), ("one", 1.0, 100.0), ("two", 1.0, 200.0),
    ]  # fmt: skip
    assert made_up(one=[3.0]).quantiles().height == 6
    assert result.quantiles([]).shape == (0, 5)
    for wrong in (0.5, "x", [2], ["a"], [None], {0.5}, [float("nan")], [-0.1]):
        with pytest.raises(um.UnimodalError, match="of quantiles"):
            result.quantiles(wrong)
