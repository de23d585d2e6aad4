"""Every policy passes the suite that users import; pairs with families cover, not multiply."""

import pytest

import unimodal as um
from unimodal.testing import CHECKS, check_policy

PAIRS = [
    (um.UTS(), None),
    (um.OSUB(), None),
    (um.ScoutUTS(), None),
    (um.PeakUTS(), None),
    (um.TS(), um.Gaussian(0.5)),
    (um.UTS(start="probe(3)", ties="lowest", period=4), um.Bounded(0, 2)),
    (um.OSUB(start="literal", c=0), um.Exponential()),
    (um.IMEDUB(), None),
    (um.NPTS(), um.Bounded(0, 2)),
    (um.UniTT(), None),
]
MORE = [(um.KLUCB(), um.Poisson()), (um.IMED(), None), (um.KLUCBUB(), None)]
BY_DEFAULT = [*PAIRS, *(pytest.param(*pair, marks=pytest.mark.full) for pair in MORE)]
LINE = um.graphs.line(9)
ON_LINES = [(um.MINTS(), None), pytest.param(um.MINTS(), um.Gaussian(0.5), marks=pytest.mark.full)]
EVERY = [
    (policy, family)
    for policy in (um.UTS(), um.OSUB(), um.TS(), um.KLUCB(), um.IMED(), um.IMEDUB(), um.KLUCBUB())
    for family in (um.Gaussian(0.5), um.Poisson(), um.Exponential(), um.Bounded(0, 2))
] + [
    (um.PeakUTS(), um.Poisson()),
    (um.UniTT(), um.Poisson()),
    (um.NPTS(), None),
    (um.UTS(period=2), None),
    (um.OSUB(c=0), None),
]


class Greedy(um.Policy):
    """As in the README."""

    epsilon: float = 0.1

    def choose(self, arms, near, leader, clock, rng):
        if um.random.uniform(rng) < self.epsilon:
            return near[um.random.randint(rng, len(near))]
        return leader


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize(("policy", "family"), BY_DEFAULT, ids=str)
def test_policy(policy, family, check):
    check(policy, family)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize(("policy", "family"), ON_LINES, ids=str)
def test_policy_on_lines(policy, family, check):
    check(policy, family, LINE)


def test_a_policy_of_ones_own():
    check_policy(Greedy())


@pytest.mark.full
@pytest.mark.parametrize(("policy", "family"), EVERY, ids=str)
def test_every_pair(policy, family):
    check_policy(policy, family)


class Stubborn(um.Policy):
    """Never looks at rewards: it must not pass."""

    def choose(self, arms, near, leader, clock, rng):
        return min(near)


class Forgetful(um.Policy):
    """Depends on something that is not in the state: it must not pass."""

    def choose(self, arms, near, leader, clock, rng):
        Forgetful.calls = getattr(Forgetful, "calls", 0) + 1
        return near[Forgetful.calls % len(near)]


@pytest.mark.full
def test_the_suite_catches_a_policy_that_does_not_learn():
    with pytest.raises(AssertionError, match="best of three arms"):
        check_policy(Stubborn())


def test_the_suite_catches_a_policy_that_does_not_repeat_itself():
    with pytest.raises(AssertionError, match="same seed"):
        check_policy(Forgetful())
