"""Of whom a certificate speaks: the arm with the best mean, of equals the one with most rewards."""

import numpy as np
import pytest

import unimodal as um
from unimodal.inference.certificate import leader_of


@pytest.mark.parametrize(
    ("pulls", "totals", "leader"),
    [
        ([10, 20, 5], [5.0, 10.0, 2.5], 1),
        ([20, 10, 30], [10.0, 6.0, 15.0], 1),
        ([0, 4, 4], [0.0, 1.0, 0.0], 1),
        ([0, 0], [0.0, 0.0], -1),
    ],
)
def test_the_best_mean_leads_and_of_equals_the_one_with_most_rewards(pulls, totals, leader):
    assert leader_of(um.Bernoulli(), np.array(pulls), np.array(totals)) == leader
