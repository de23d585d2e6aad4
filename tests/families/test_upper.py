"""The upper root against the divergence worked out to 50 digits."""

import math
from decimal import Decimal, localcontext

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from unimodal import Bernoulli, Bounded, Exponential, Gaussian, Poisson

FAMILIES = [Bernoulli(), Gaussian(0.5), Poisson(), Exponential(), Bounded(-2.0, 6.0)]
law = settings(max_examples=150)
every_family = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
# What a budget is in use: f(t)/N, from the first rounds to the billionth.
budgets = st.floats(-9.0, 1.2).map(lambda power: 10.0**power)


def means(family):
    if family.name == "bernoulli":
        return st.floats(0.0, 1.0)
    if family.name == "bounded":
        return st.floats(-2.0, 6.0)
    if family.name == "gaussian":
        return st.floats(-100.0, 100.0)
    return st.floats(1e-6, 1e4)


def exact(family, p, q):
    """kl(p, q) to 50 digits, of floats taken at their word."""
    p, q = Decimal(p), Decimal(q)
    if family.name == "bounded":
        p, q = (p + 2) / 8, (q + 2) / 8
    if family.name in ("bernoulli", "bounded"):
        value = p * (p / q).ln() if p else Decimal(0)
        return value + (1 - p) * ((1 - p) / (1 - q)).ln()
    if family.name == "gaussian":
        return 2 * (p - q) ** 2
    if family.name == "poisson":
        return q - p - (p * (q / p).ln() if p else 0)
    return p / q - 1 - (p / q).ln()


@every_family
@law
@given(data=st.data())
def test_the_upper_root_spends_the_budget_and_no_more(family, data):
    """To 1e-6 of the budget, or as near as the floats next to the root come."""
    p, budget = data.draw(means(family)), data.draw(budgets)
    u = family.upper(p, budget)
    assert u >= p
    if p == family.high:
        assert u == p
        return
    with localcontext(prec=50):
        room = 4 * math.ulp(max(abs(u), abs(p), 1.0 if family.name == "bounded" else 0.0))
        over, under = min(u + room, family.high), max(u - room, p)
        slack = Decimal(budget) * Decimal("1e-6")
        assert exact(family, p, under) <= Decimal(budget) + slack
        # Beyond the largest float below the top there is nothing to spend it on.
        assert over == family.high or exact(family, p, over) >= Decimal(budget) - slack


@every_family
@law
@given(data=st.data())
def test_the_upper_root_grows_with_the_budget_and_with_the_mean(family, data):
    p, more = sorted((data.draw(means(family)), data.draw(means(family))))
    small, large = sorted((data.draw(budgets), data.draw(budgets)))
    u = family.upper(p, small)
    slack = 1e-9 * (u - p) + 4 * math.ulp(u)
    assert family.upper(p, large) >= u - slack
    assert family.upper(more, small) >= u - slack


@every_family
@law
@given(data=st.data())
def test_no_budget_leaves_the_mean_where_it_is(family, data):
    p = data.draw(means(family))
    assert family.upper(p, 0.0) == pytest.approx(p, rel=1e-15, abs=1e-15)


@every_family
@law
@given(data=st.data())
def test_the_upper_root_never_leaves_the_support(family, data):
    p, budget = data.draw(means(family)), data.draw(st.floats(0.0, 700.0))
    assert p <= family.upper(p, budget) <= family.high


@law
@given(st.floats(0.0, 1.0), st.floats(-15.0, 2.0))
@example(0.5, -15.0)
@example(1e-300, 0.0)
@example(1 - 2**-53, 0.0)
def test_bernoullis_root_ends_in_the_unit_interval_whatever_it_is_given(p, power):
    assert p <= Bernoulli().upper(p, 10.0**power) <= 1.0


CLOSED = [
    (Bernoulli(), 1.0, 3.0, 1.0),
    (Bernoulli(), 0.0, math.log(2), 0.5),
    (Bernoulli(), 0.0, 1e-12, 1e-12),
    (Bernoulli(), 0.5, 50.0, 1.0),
    (Bernoulli(), 0.5, 5e-324, 0.5),  # no float lies between the mean and the root
    (Bounded(-2.0, 6.0), 2.0, 5e-324, 2.0),
    (Bounded(-2.0, 6.0), 6.0, 3.0, 6.0),
    (Bounded(-2.0, 6.0), -2.0, math.log(2), 2.0),
    (Gaussian(0.5), 1.0, 2.0, 2.0),
    (Poisson(), 0.0, 3.0, 3.0),
    (Exponential(), 0.0, 3.0, 0.0),
    # By hand: kl(1/2, u) = log 2 at 4u(1 - u) = 1/4.
    (Bernoulli(), 0.5, math.log(2), 0.5 + math.sqrt(3) / 4),
]


@pytest.mark.parametrize(("family", "p", "budget", "root"), CLOSED)
def test_the_upper_root_where_it_has_a_closed_form(family, p, budget, root):
    assert family.upper(p, budget) == pytest.approx(root, rel=1e-9)


@pytest.mark.parametrize("p", [1e-12, 1e-3, 0.1, 0.5, 0.9, 1 - 1e-6])
def test_bernoullis_root_after_a_billion_pulls(p):
    """The budget is 2.9e-8, and what is left of the mean's digits has to be used."""
    u = Bernoulli().upper(p, 29.0 / 1e9)
    with localcontext(prec=50):
        spent = exact(Bernoulli(), p, u)
    # One unit in the last place of u changes kl by (u - p)/(u·(1 - u)) of it.
    blur = 2 * math.ulp(u) * (u - p) / (u * (1 - u))
    assert float(spent) == pytest.approx(2.9e-8, rel=1e-7, abs=blur)
