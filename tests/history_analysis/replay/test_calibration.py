"""The intervals of a replay are right, and would not be if means were taken for certain."""

import pytest
from scipy import stats

import unimodal as um
from unimodal.history_analysis.replay.calibration import (
    Scale,
    as_it_is,
    calibrate,
    with_empirical_means,
)

SCALE = Scale(arms=6, rounds=150, draws=30, worlds=70)
FEWEST = stats.binom.ppf(0.004, SCALE.worlds, 0.95) / SCALE.worlds


@pytest.mark.parametrize("candidate", [um.TS(), um.OSUB()], ids=str)
@pytest.mark.full
def test_what_is_earned_is_one_more_draw(candidate):
    """False alarms: 0.1 % for the ranks, 0.4 % for the coverage, each, over seeds."""
    ranks, covered, _ = calibrate(candidate, as_it_is, SCALE)
    assert stats.kstest(ranks, "uniform").pvalue > 0.001
    assert covered >= FEWEST


@pytest.mark.full
def test_empirical_means_are_caught():
    """The test above is no formality: taking means for certain covers far too little."""
    _, covered, _ = calibrate(um.TS(), with_empirical_means, SCALE)
    assert covered < FEWEST
