"""Bad parameters, priors, means, rewards and texts: each gets one sentence."""

import math

import numpy as np
import pytest

from unimodal import Bernoulli, Bounded, Exponential, Gaussian, Poisson, families
from unimodal.errors import UnimodalError
from unimodal.kernels.random import REWARDS, stream

FAMILIES = [Bernoulli(), Gaussian(0.5), Poisson(), Exponential(), Bounded(-2.0, 6.0)]
every_family = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)

PARAMETERS = [
    (lambda: Gaussian(0), "'sigma' of Gaussian must be a finite number greater than 0, got 0"),
    (lambda: Gaussian(math.nan), "'sigma' of Gaussian .* got nan"),
    (lambda: Gaussian("1"), "'sigma' of Gaussian .* got '1'"),
    (lambda: Bounded(1, 1), "'b' of Bounded must be a finite number greater than 1, got 1"),
    (lambda: Bounded(-math.inf, 1), "'a' of Bounded must be a finite number, got -inf"),
    (lambda: Bounded(-1e308, 1e308), "bounds of Bounded must lie between .* got -1e\\+308 and 1e"),
    (lambda: Bounded(concentration=0), "'concentration' of Bounded .* greater than 0, got 0"),
    (lambda: Bounded(draw="betta"), "unknown draw of Bounded 'betta': did you mean 'beta'"),
    (lambda: Bounded(draw=3), r"'draw' of Bounded must be .* function draw\(mean, rng\), got 3"),
]


@pytest.mark.parametrize(("make", "sentence"), PARAMETERS)
def test_bad_parameters(make, sentence):
    with pytest.raises(UnimodalError, match=sentence):
        make()


MEANS = [
    (Bernoulli(), -0.1, r"Bernoulli\(\) must be between 0 and 1, got -0.1"),
    (Bernoulli(), 1.1, r"Bernoulli\(\) must be between 0 and 1, got 1.1"),
    (Gaussian(0.5), math.inf, r"Gaussian\(sigma=0.5\) must be a finite number, got inf"),
    (Poisson(), -1.0, r"Poisson\(\) must be a finite number of at least 0, got -1.0"),
    (Exponential(), -1.0, r"Exponential\(\) must be a finite number of at least 0, got -1.0"),
    (Bounded(-2.0, 6.0), 7.0, r"Bounded\(.*\) must be between -2 and 6, got 7.0"),
]


@pytest.mark.parametrize(("family", "mean", "sentence"), MEANS)
def test_bad_means_name_the_arm(family, mean, sentence):
    with pytest.raises(UnimodalError, match=f"a mean of {sentence} for arm 1\\.$"):
        family.check_means(np.array([0.5, mean, 0.5]))


@pytest.mark.parametrize(("family", "mean", "sentence"), MEANS)
def test_bad_means_are_refused_wherever_one_is_taken(family, mean, sentence):
    for call in (
        lambda: family.divergence(mean, 0.5),
        lambda: family.divergence(0.5, mean),
        lambda: family.upper(mean, 1.0),
        lambda: family.sample(mean, stream(0, 0, REWARDS)),
    ):
        with pytest.raises(UnimodalError, match=f"a mean of {sentence}"):
            call()


@every_family
def test_a_mean_that_is_not_a_number_is_refused(family):
    with pytest.raises(UnimodalError, match="got nan for arm 0"):
        family.check_means(np.array([math.nan]))
    with pytest.raises(UnimodalError, match="got nan"):
        family.sample(math.nan, stream(0, 0, REWARDS))


@pytest.mark.parametrize("family", [Gaussian(1.0), Poisson(), Exponential()], ids=repr)
def test_a_reward_of_which_two_have_no_sum_is_refused(family):
    """An infinite total would lead for ever, and infinity less infinity is no number."""
    with pytest.raises(UnimodalError, match=r"at most 1e\+100 in size, got 1e\+308: use another"):
        family.check_reward(1e308)
    assert family.check_reward(1e99) == 1e99


def test_an_exponential_mean_of_zero_is_no_distribution():
    with pytest.raises(UnimodalError, match=r"greater than 0, got 0.0 for arm 1\.$"):
        Exponential().check_means(np.array([1.0, 0.0]))


def test_an_exponential_mean_whose_inverse_is_no_number_is_refused():
    with pytest.raises(UnimodalError, match=r"greater than 1e-50, got 1e-60 for arm 2\.$"):
        Exponential().check_means(np.array([1.0, 1e-50, 1e-60]))


@every_family
@pytest.mark.parametrize("budget", [-1.0, math.nan])
def test_a_budget_below_zero_is_refused(family, budget):
    with pytest.raises(UnimodalError, match=r"'budget' of upper must be at least 0, got"):
        family.upper(0.5, budget)


REWARDS_OF = [
    (Bernoulli(), [0, 1, True, 1.0, np.int64(1)], [0.5, -1, 2]),
    (Gaussian(0.5), [-3, 0.5, np.float32(2)], []),
    (Poisson(), [0, 3, 7.0], [-1, 2.5]),
    (Exponential(), [0, 0.5, 1e9], [-0.001]),
    (Bounded(-2.0, 6.0), [-2, 0.3, 6], [-2.001, 6.001]),
]


@pytest.mark.parametrize(("family", "good", "bad"), REWARDS_OF)
def test_rewards_are_taken_in_the_support_and_refused_outside(family, good, bad):
    for reward in good:
        found = family.check_reward(reward)
        assert found == reward
        assert type(found) is float
    for reward in [*bad, math.nan, math.inf, -math.inf, 10**400, None, "1", [1.0, 2.0], 1j]:
        with pytest.raises(UnimodalError, match=r"^a reward of .* must be .*, got .*\.$"):
            family.check_reward(reward)


def test_a_reward_between_zero_and_one_is_sent_to_the_right_family():
    with pytest.raises(UnimodalError, match=r"must be 0 or 1, got 0.5; .* use Bounded\(a, b\)"):
        Bernoulli().check_reward(0.5)


@every_family
def test_the_default_prior_is_a_prior(family):
    first, second = family.default_prior
    assert family.check_prior(np.array([first]), np.array([second])) is None


@every_family
@pytest.mark.parametrize("bad", [(1.0, 0.0), (1.0, -1.0), (1.0, math.inf), (math.nan, 1.0)])
def test_a_prior_that_is_no_distribution_names_the_arm(family, bad):
    first, second = np.array([1.0, bad[0]]), np.array([1.0, bad[1]])
    with pytest.raises(UnimodalError, match=r"is a pair \(.*, .*\), .*; got \(.*\) for arm 1\.$"):
        family.check_prior(first, second)


def test_a_gaussian_prior_may_have_any_mean():
    assert Gaussian().check_prior(np.array([-5.0]), np.array([1.0])) is None
    with pytest.raises(UnimodalError, match=r"pair \(alpha, beta\), both positive"):
        Bernoulli().check_prior(np.array([-5.0]), np.array([1.0]))


@every_family
def test_a_family_comes_back_from_its_data(family):
    assert families.from_data(families.to_data(family)) == family


def test_a_draw_of_ones_own_is_not_saved_and_said_so():
    data = families.to_data(Bounded(draw=lambda mean, rng: mean))
    with pytest.raises(UnimodalError, match="a draw of your own, which is not saved: make"):
        families.from_data(data)


@pytest.mark.parametrize(
    ("text", "family"),
    [
        ("bernoulli", Bernoulli()),
        ("Gaussian:0.5", Gaussian(0.5)),
        ("bounded:-2:6", Bounded(-2.0, 6.0)),
        ("bounded:0:1:8", Bounded(0.0, 1.0, concentration=8.0)),
    ],
)
def test_a_family_may_be_written_as_text(text, family):
    assert families.parse(text) == family


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("gausian", "unknown family 'gausian': did you mean 'gaussian'"),
        ("gaussian:wide", "this family is written gaussian:sigma, got 'gaussian:wide'"),
        ("gaussian:1:2", "this family is written gaussian:sigma, got 'gaussian:1:2'"),
        ("gaussian:-1", "'sigma' of Gaussian must be .* greater than 0, got -1"),
        ("bernoulli:0.5", "this family is written bernoulli, got 'bernoulli:0.5'"),
        ("bounded:0:1:beta", "is written bounded:a:b:concentration, got 'bounded:0:1:beta'"),
    ],
)
def test_malformed_text_is_answered_with_the_right_form(text, sentence):
    with pytest.raises(UnimodalError, match=sentence):
        families.parse(text)
