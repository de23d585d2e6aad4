"""Every family passes the suite that users import: ours, and one of a user's own, in one file."""

import math

import numpy as np
import pytest

import unimodal as um
from unimodal.families import FAMILIES
from unimodal.testing import FAMILY_CHECKS


class Geometric(um.Family):
    """The number of failures before a success; the prior of its probability is a Beta."""

    compiled = True
    low = 0.0
    prior_names = ("alpha", "beta")

    def draw(self, mean, rng):
        return math.floor(um.random.exponential(rng) / math.log1p(1.0 / mean))

    def divergence(self, p, q):
        found = (1.0 + p) * math.log((1.0 + q) / (1.0 + p))
        return max(found + p * math.log(p / q), 0.0) if p > 0.0 else found

    def posterior(self, arm, rng):
        chance = um.random.beta(rng, arm.prior_a + arm.pulls, arm.prior_b + arm.total)
        return (1.0 - chance) / chance

    def posterior_cdf(self, arms, level):
        from scipy.special import betainc

        a, b = arms.prior_a + arms.pulls, arms.prior_b + arms.total
        return betainc(b, a, np.maximum(level, 0.0) / (1.0 + np.maximum(level, 0.0)))

    def posterior_quantile(self, arms, share):
        from scipy.special import betaincinv

        odds = betaincinv(arms.prior_b + arms.total, arms.prior_a + arms.pulls, share)
        return odds / (1.0 - odds)

    def log_evidence(self, mean, pulls, total):
        from scipy.special import betaln

        # The probability of a success is Beta(1/2, 1/2) instead of 1/(1 + mean).
        against = pulls * np.log1p(mean) - total * np.log(mean / (1.0 + np.asarray(mean)))
        return against + betaln(pulls + 0.5, total + 0.5) - betaln(0.5, 0.5)


OURS = [*(make() for make in FAMILIES.values()), um.Bounded(2.0, 5.0, "uniform"), um.Gaussian(0.1)]


@pytest.mark.parametrize("check", FAMILY_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("family", [*OURS, Geometric()], ids=repr)
def test_family(family, check):
    check(family)
