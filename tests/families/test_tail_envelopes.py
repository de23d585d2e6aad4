"""Hats over posteriors: heavy enough, exact once thinned, and monotone where that is relied on."""

import numpy as np
import pytest
from scipy import stats

import unimodal as um
from unimodal.families.leaping import hat, outlook, under_hat
from unimodal.kernels.compile import record
from unimodal.kernels.random import stream
from unimodal.policies.state import ARM

# A family, an arm of it, and the posterior of its mean.
ARMS = {
    "bernoulli": (um.Bernoulli(), (40, 30.0, (1, 1)), stats.beta(31, 11)),
    "bernoulli, no reward": (um.Bernoulli(), (0, 0.0, (1, 1)), stats.beta(1, 1)),
    "bernoulli, small prior": (um.Bernoulli(), (9, 0.0, (0.5, 0.5)), stats.beta(0.5, 9.5)),
    "bernoulli, large": (um.Bernoulli(), (10**7, 9e6, (1, 1)), stats.beta(1 + 9e6, 1 + 1e6)),
    "bounded": (um.Bounded(-1, 3), (40, 30.0, (1, 1)), stats.beta(31, 11, loc=-1, scale=4)),
    "poisson": (um.Poisson(), (20, 50.0, (1, 1)), stats.gamma(51, scale=1 / 21)),
    "poisson, small prior": (um.Poisson(), (2, 0.0, (0.5, 1)), stats.gamma(0.5, scale=1 / 3)),
    "exponential": (um.Exponential(), (20, 50.0, (1, 1)), stats.invgamma(21, scale=51)),
    "exponential, small prior": (
        um.Exponential(),
        (0, 0.0, (0.5, 2)),
        stats.invgamma(0.5, scale=2),
    ),
    "gaussian": (um.Gaussian(2.0), (16, 48.0, (0.0, 1e6)), stats.norm(3.0, 0.5)),
}
# On this side the density is flat, or not log-concave: there is nothing to lean a hat on.
NO_HAT = [
    ("bernoulli, no reward", False),
    ("bernoulli, small prior", False),
    ("poisson, small prior", False),
    ("exponential, small prior", True),
]


def arm_of(pulls, total, prior):
    arms = np.zeros(1, dtype=ARM)
    arms["pulls"], arms["total"], arms["successes"] = pulls, total, total
    arms["prior_a"], arms["prior_b"] = prior
    return arms[0]


@pytest.mark.parametrize("above", [True, False], ids=["above", "below"])
@pytest.mark.parametrize("name", ARMS)
def test_a_thinned_hat_is_the_tail(name, above):
    """The share that is kept, and where it lies; false alarms in 1 of 10⁴ seeds for each."""
    family, arm, law = ARMS[name]
    level = float(law.isf(0.02) if above else law.ppf(0.02))
    mass, rate = hat(record(family), arm_of(*arm), 0, level, above)
    if (name, above) in NO_HAT:
        assert mass == np.inf
        return
    tail = 0.02
    assert mass >= tail * (1 - 1e-9)
    rng, n = stream(0, 0, 0), 20_000
    drawn = np.array(
        [under_hat(record(family), arm_of(*arm), level, rate, above, rng) for _ in range(n)]
    )
    kept = drawn[~np.isnan(drawn)]
    assert ((kept >= level) if above else (kept <= level)).all()
    assert stats.binomtest(len(kept), n, min(tail / mass, 1.0)).pvalue > 1e-4
    scaled = (law.sf(kept) if above else law.cdf(kept)) / tail
    assert stats.kstest(scaled, "uniform").pvalue > 1e-4


@pytest.mark.parametrize(
    "name", ["bernoulli", "bernoulli, large", "bounded", "poisson", "exponential"]
)
def test_worst_rewards_raise_the_mass_below_and_others_do_not(name):
    family, (pulls, total, prior), law = ARMS[name]
    level, made = float(law.ppf(1e-4)), record(family)
    now = hat(made, arm_of(pulls, total, prior), 0, level, False)[0]
    for worse in (1, 2, 3):
        ahead = hat(made, arm_of(pulls, total, prior), worse, level, False)[0]
        assert ahead >= now
        # `worse` worst rewards ahead is what they will be worth once they came
        came = hat(made, arm_of(pulls + worse, total, prior), 0, level, False)[0]
        assert ahead == pytest.approx(came, rel=1e-9)
    better = 1.0 if family.name in ("bernoulli", "bounded") else 5.0
    assert hat(made, arm_of(pulls + 1, total + better, prior), 0, level, False)[0] <= now


def test_a_hat_that_is_not_there_yet_is_not_there_later_on():
    """Beta(9.5, 0.5) has none below; were its failures' to come trusted, draws would be missed."""
    arm = arm_of(9, 9.0, (0.5, 0.5))
    for family in (um.Bernoulli(), um.Bounded(0, 1)):
        masses = [hat(record(family), arm, worse, 0.6, False)[0] for worse in (0, 1, 5)]
        assert masses == [np.inf] * 3


@pytest.mark.parametrize("name", [name for name in ARMS if name != "exponential, small prior"])
def test_outlook_is_about_right(name):
    family, arm, law = ARMS[name]
    centre, spread = outlook(record(family), arm_of(*arm))
    assert centre == pytest.approx(law.mean(), rel=0.1)
    assert spread == pytest.approx(law.std(), rel=0.2)


def test_no_hat_on_the_near_side_of_the_mode():
    family, arm, law = ARMS["bernoulli"]
    made, record_of = record(family), arm_of(*arm)
    assert hat(made, record_of, 0, float(law.mean()) - 0.1, True)[0] == np.inf
    assert hat(made, record_of, 0, float(law.mean()) + 0.1, False)[0] == np.inf


def test_bounded_is_bernoulli_on_a_scale():
    arm = arm_of(40, 30.0, (1, 1))
    plain = hat(record(um.Bernoulli()), arm, 0, 0.9, True)
    scaled = hat(record(um.Bounded(2, 12)), arm, 0, 11.0, True)
    assert scaled[0] == pytest.approx(plain[0])
