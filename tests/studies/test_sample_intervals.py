"""The two intervals of graphs × trials, computed by hand."""

import math

import numpy as np
import pytest

from unimodal.studies.sample_intervals import Samples

# Quantiles of Student's distribution at 97.5 %, from a table: by degrees of freedom.
T = {2: 4.302653, 3: 3.182446}


def samples(final):
    made = Samples()
    made.final = np.array(final, dtype=float)
    return made


def test_graphs_with_their_trials_averaged_are_the_samples():
    """Graphs with means 2, 7 and 3: deviations -2, 3 and -1, so a variance of 14/2."""
    made = samples([[1, 3], [5, 9], [2, 4]])
    assert made.units.tolist() == [2, 7, 3]
    value, low, high = made.over_graphs
    reach = T[2] * math.sqrt(7 / 3)
    assert (value, low, high) == pytest.approx((4, 4 - reach, 4 + reach), rel=1e-6)


def test_for_these_very_graphs_only_trials_scatter():
    """Variances 2, 8 and 2 of two trials each: an error of √((2 + 8 + 2)/2)/3, with 3 degrees."""
    value, low, high = samples([[1, 3], [5, 9], [2, 4]]).over_trials
    reach = T[3] * math.sqrt(6) / 3
    assert (value, low, high) == pytest.approx((4, 4 - reach, 4 + reach), rel=1e-6)


def test_of_one_graph_the_trials_are_the_samples():
    """1, 3 and 8: a mean of 4 and a variance of 26/2; both intervals are that of its trials."""
    made = samples([[1, 3, 8]])
    assert made.units.tolist() == [1, 3, 8]
    reach = T[2] * math.sqrt(13 / 3)
    for interval in (made.over_graphs, made.over_trials):
        assert tuple(interval) == pytest.approx((4, 4 - reach, 4 + reach), rel=1e-6)


def test_one_trial_a_graph_says_nothing_about_how_trials_scatter():
    made = samples([[1], [3]])
    assert made.over_trials.value == 2
    assert math.isnan(made.over_trials.low) and math.isnan(made.over_trials.high)
    assert made.over_graphs.half_width == pytest.approx(12.7062, rel=1e-5)  # 1 degree of freedom
