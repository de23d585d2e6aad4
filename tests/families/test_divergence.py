"""Divergences against the formulas in SciPy's terms, and the laws any divergence has."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import rel_entr

from unimodal import Bernoulli, Bounded, Exponential, Gaussian, Poisson
from unimodal.families.family import natural, negentropy, top
from unimodal.kernels.compile import record

FAMILIES = [Bernoulli(), Gaussian(0.5), Poisson(), Exponential(), Bounded(-2.0, 6.0)]
law = settings(max_examples=150)
every_family = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)


def inside(family):
    """Means that every family has a member for, away from the ends of its support."""
    low, high = {
        "bernoulli": (1e-9, 1 - 1e-9),
        "bounded": (-2 + 1e-8, 6 - 1e-8),
        "gaussian": (-1e3, 1e3),
    }.get(family.name, (1e-6, 1e4))
    return st.floats(low, high)


def expected(family, p, q):
    """The divergence as a sum or integral of x·log(x/y), term by term."""
    if family.name == "bernoulli":
        return rel_entr(p, q) + rel_entr(1 - p, 1 - q)
    if family.name == "bounded":
        return expected(Bernoulli(), (p + 2) / 8, (q + 2) / 8)
    if family.name == "gaussian":
        return (p - q) ** 2 / (2 * 0.5**2)
    if family.name == "poisson":
        return rel_entr(p, q) - p + q
    return rel_entr(1, p / q) - 1 + p / q


def scale(family, p, q):
    """How large the terms are that cancel each other: what rounding is measured against."""
    if family.name == "poisson":
        return p + q
    return 1.0 + (abs(p / q) if family.name == "exponential" else 0.0)


@every_family
@law
@given(data=st.data())
def test_a_divergence_is_its_formula(family, data):
    p, q = data.draw(inside(family)), data.draw(inside(family))
    found = family.divergence(p, q)
    assert found == pytest.approx(expected(family, p, q), rel=1e-9, abs=1e-13 * scale(family, p, q))


@every_family
@law
@given(data=st.data())
def test_a_divergence_is_zero_at_equal_means_and_nowhere_else(family, data):
    p, q = data.draw(inside(family)), data.draw(inside(family))
    assert family.divergence(p, p) == 0.0
    assert family.divergence(p, q) >= 0.0
    if abs(p - q) > 1e-5 * scale(family, p, q):
        assert family.divergence(p, q) > 0.0


@every_family
@law
@given(data=st.data())
def test_a_divergence_grows_as_the_second_mean_moves_away(family, data):
    p, a, b = (data.draw(inside(family)) for _ in range(3))
    near, far = sorted((a, b), key=lambda q: abs(q - p))
    if (near - p) * (far - p) >= 0:  # on one side
        slack = 1e-13 * scale(family, p, far)
        assert family.divergence(p, near) <= family.divergence(p, far) + slack


@every_family
@pytest.mark.parametrize("step", [1e-3, 1e-5, 1e-7])
def test_a_divergence_keeps_its_digits_where_the_means_are_close(family, step):
    """There it is (p - q)²/(2·variance), which a plain difference of logarithms would lose."""
    p = 0.3
    variance = {
        "bernoulli": p * (1 - p),
        "bounded": (p + 2) * (6 - p),
        "gaussian": 0.25,
        "poisson": p,
        "exponential": p * p,
    }[family.name]
    for q in (p + step, p - step):
        leading = (p - q) ** 2 / (2 * variance)
        assert family.divergence(p, q) == pytest.approx(leading, rel=10 * step + 1e-15 / step**2)


EDGES = [
    (Bernoulli(), 0.0, 0.0, 0.0),
    (Bernoulli(), 1.0, 1.0, 0.0),
    (Bernoulli(), 0.0, 0.5, math.log(2)),
    (Bernoulli(), 1.0, 0.5, math.log(2)),
    (Bernoulli(), 0.5, 0.0, math.inf),
    (Bernoulli(), 0.5, 1.0, math.inf),
    (Bernoulli(), 0.0, 1.0, math.inf),
    (Bernoulli(), 1.0, 0.0, math.inf),
    (Bernoulli(), 1e-300, 0.0, math.inf),
    (Bernoulli(), 0.0, 1e-300, 1e-300),
    (Bounded(-2.0, 6.0), -2.0, -2.0, 0.0),
    (Bounded(-2.0, 6.0), 6.0, 6.0, 0.0),
    (Bounded(-2.0, 6.0), -2.0, 2.0, math.log(2)),
    (Bounded(-2.0, 6.0), 2.0, 6.0, math.inf),
    (Bounded(-2.0, 6.0), 2.0, -2.0, math.inf),
    (Poisson(), 0.0, 0.0, 0.0),
    (Poisson(), 0.0, 3.0, 3.0),
    (Poisson(), 3.0, 0.0, math.inf),
    (Exponential(), 0.0, 0.0, 0.0),
    (Exponential(), 0.0, 1.0, math.inf),
    (Exponential(), 1.0, 0.0, math.inf),
    (Gaussian(0.5), 0.0, 0.0, 0.0),
    (Gaussian(0.5), -1.0, 1.0, 8.0),
]


@pytest.mark.parametrize(("family", "p", "q", "value"), EDGES)
def test_a_divergence_is_right_at_the_ends_of_the_support(family, p, q, value):
    assert family.divergence(p, q) == pytest.approx(value, rel=1e-12, abs=0.0)


@every_family
@law
@given(data=st.data())
def test_the_linear_form_is_the_divergence(family, data):
    """kl(p, q) = negentropy(p) - p·θ(q) + A(q), up to the rounding of its three terms."""
    p, q = data.draw(inside(family)), data.draw(inside(family))
    made = record(family)
    theta, log_norm = natural(made, q)
    terms = (negentropy(made, p), -p * theta, log_norm)
    slack = 1e-12 * (1 + sum(map(abs, terms)))
    assert sum(terms) == pytest.approx(family.divergence(p, q), rel=1e-9, abs=slack)


@pytest.mark.parametrize("family", [Bernoulli(), Poisson(), Bounded(-2.0, 6.0)])
def test_the_linear_form_holds_for_a_mean_at_the_bottom(family):
    made = record(family)
    theta, log_norm = natural(made, 0.5)
    form = negentropy(made, family.low) - family.low * theta + log_norm
    assert form == pytest.approx(family.divergence(family.low, 0.5))


def test_the_largest_mean_is_that_of_the_family():
    tops = [top(record(family)) for family in FAMILIES]
    assert tops == [1.0, math.inf, math.inf, math.inf, 6.0]
