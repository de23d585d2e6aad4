"""Every family passes the suite that users import: ours, and one of a user's own, in one file."""

import math

import numpy as np
import pytest

import unimodal as um
from unimodal import families
from unimodal.agents.propensity import propensity
from unimodal.families import FAMILIES
from unimodal.inference.confidence_bounds import bounds
from unimodal.testing import FAMILY_CHECKS, check_family
from unimodal.testing.families import (
    best_arm_is_found,
    engines_and_agents_agree,
    leap_has_the_law_of_step,
)


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
        return betainc(b, a, 1.0 - 1.0 / (1.0 + np.maximum(level, 0.0)))

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
OURS += [um.Scaled(um.Bernoulli(), by=1.0)]  # other factors: families/test_scaled.py


# These compile both engines for each family: by default for one, and for Bernoulli rewards in the
# example of `check_family`.
IN_ENGINES = (engines_and_agents_agree, best_arm_is_found, leap_has_the_law_of_step)
BY_DEFAULT = (Geometric(),)


@pytest.mark.parametrize(
    ("family", "check"),
    [
        pytest.param(family, check, marks=pytest.mark.full if is_slow else (), id=name)
        for family in [*OURS, Geometric()]
        for check in FAMILY_CHECKS
        for is_slow in [check in IN_ENGINES and family not in BY_DEFAULT]
        for name in [f"{family!r}-{check.__name__}"]
    ],
)
def test_family(family, check):
    check(family)


def test_a_family_takes_one_line_to_have_a_name(monkeypatch):
    monkeypatch.setitem(FAMILIES, "geometric", Geometric)
    assert families.parse("geometric") == Geometric()


def test_with_its_distribution_a_family_has_propensities():
    agent = um.Agent(um.TS(), um.graphs.line(4), Geometric())
    for reward in (0, 3, 1, 0, 2, 5):
        agent.tell(agent.ask(), reward)
    assert 0.0 < agent.decide(propensity=True).propensity < 1.0
    law = (agent.policy, agent.family, agent._player.state.arms, np.arange(4))
    assert sum(propensity(*law, arm) for arm in range(4)) == pytest.approx(1.0, abs=1e-5)


def test_with_its_evidence_a_family_has_bounds():
    low, high = bounds(Geometric(), [0, 100], [0, 150], math.log(20))
    assert (low[0], high[0]) == (0.0, math.inf)
    assert 0.9 < low[1] < 1.5 < high[1] < 2.6


def test_the_suite_is_one_call():
    with pytest.raises(AssertionError, match="have the mean"):
        check_family(Shifted())


# Families that are wrong in one thing each. They run as plain Python: nothing is compiled.


class Right(um.Family):
    """Normal rewards with standard deviation 1."""

    default_prior = (0.0, 10.0)

    def draw(self, mean, rng):
        return mean + um.random.normal(rng)

    def divergence(self, p, q):
        return 0.5 * (p - q) ** 2

    def posterior(self, arm, rng):
        weight = arm.pulls + arm.prior_b**-2
        return arm.total / weight + um.random.normal(rng) / math.sqrt(weight)

    def check_prior(self, first, second):
        pass


class Shifted(Right):
    def draw(self, mean, rng):
        return mean + 0.1 + um.random.normal(rng)


class Outside(Right):
    low = -1.0


class NotZero(Right):
    def divergence(self, p, q):
        return 1.0 + (p - q) ** 2


class NotGrowing(Right):
    def divergence(self, p, q):
        return min((p - q) ** 2, 0.1)


class TooHigh(Right):
    def upper(self, p, budget):
        return p + 1.01 * math.sqrt(2.0 * budget)


class TooLow(Right):
    def upper(self, p, budget):
        return p + 0.99 * math.sqrt(2.0 * budget)


class TakesAll(Right):
    def check_reward(self, reward):
        return float(reward)


class OddPrior(Right):
    default_prior = (0.0, 1.0, 2.0)


class NeverSure(Right):
    def posterior(self, arm, rng):
        return arm.total / (arm.pulls + 1.0) + um.random.normal(rng)


class BesideIt(Right):
    def posterior(self, arm, rng):
        return arm.total / (arm.pulls + 1.0) + 1.0 + um.random.normal(rng) / math.sqrt(arm.pulls)


class OtherCdf(Right):
    def posterior_cdf(self, arms, level):
        return um.Gaussian(1.5).posterior_cdf(arms, level)

    def posterior_quantile(self, arms, share):
        return um.Gaussian(1.5).posterior_quantile(arms, share)


class Unfair(Right):
    def log_evidence(self, mean, pulls, total):
        return um.Gaussian(0.8).log_evidence(mean, pulls, total)


class EvidenceForLikelihood(Right):
    def log_likelihood(self, mean, pulls, total):
        return -um.Gaussian().log_evidence(mean, pulls, total)


class Remembering(Right):
    calls = 0

    def draw(self, mean, rng):
        Remembering.calls += 1
        return mean + um.random.normal(rng) + 1e-9 * Remembering.calls  # never the same again


@pytest.mark.parametrize(
    ("family", "check", "words"),
    [
        (Shifted(), "draws_have_the_mean", "have the mean"),
        (Outside(), "draws_have_the_mean", "at least -1|must lie in"),
        (NotZero(), "divergence_grows", "must be 0"),
        (NotGrowing(), "divergence_grows", "must grow"),
        (TooHigh(), "upper_inverts_divergence", "above the budget"),
        (TooLow(), "upper_inverts_divergence", "too low"),
        (TakesAll(), "strangers_are_refused", "must refuse"),
        (OddPrior(), "prior_is_one", "a pair"),
        (NeverSure(), "posterior_concentrates", "narrower"),
        (BesideIt(), "posterior_concentrates", "the posterior after 50"),
        (OtherCdf(), "posterior_concentrates", "posterior_cdf"),
        (Unfair(), "evidence_is_fair", "expected to grow"),
        (EvidenceForLikelihood(), "likelihood_falls_by_the_divergence", "lower at"),
        (Remembering(), "engines_and_agents_agree", "same seed"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, um.Family) else None,
)
def test_the_suite_catches(family, check, words):
    found = next(one for one in FAMILY_CHECKS if one.__name__ == check)
    with pytest.raises((AssertionError, um.UnimodalError), match=words):
        found(family)


@pytest.mark.parametrize("check", FAMILY_CHECKS[:9], ids=lambda check: check.__name__)
def test_and_nothing_else_is_wrong_with_these(check):
    check(Right())
