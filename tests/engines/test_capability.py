"""Who may leap: families, scopes, indices and policies that are not ours are stepped."""

import numpy as np
import pytest

import unimodal as um
from unimodal.engines.capability import why_not_leap
from unimodal.engines.engine_choice import trial_class
from unimodal.engines.leap import LeapTrial
from unimodal.engines.step import StepTrial
from unimodal.families import Family
from unimodal.families.family import (
    divergence,
    draw,
    learn,
    learn_total,
    natural,
    negentropy,
    posterior,
    top,
    upper,
)
from unimodal.families.leaping import gather, hat, outlook, under_hat, worst
from unimodal.families.unsaturated_scale import linear_form
from unimodal.kernels.compile import component, record
from unimodal.policies import POLICIES, AroundLeader
from unimodal.policies.index import KLUpper

PROBLEM = um.problems.triangular(5)
LONG = 10**6  # rounds: worth a leap


class Shifted(um.Gaussian):
    """A user's variation of one of ours: rewards of another kind, with the rest inherited."""


class Own(Family):
    """A user's family from scratch: normal rewards with standard deviation 1."""

    prior_names = ("mean", "sd")


draw.register(Shifted)(lambda family, mean, rng: mean + 2.0 * um.random.uniform(rng) - 1.0)
draw.register(Own)(lambda family, mean, rng: mean + um.random.normal(rng))
learn.register(Own)(learn_total)
divergence.register(Own)(lambda family, p, q: 0.5 * (p - q) ** 2)
upper.register(Own)(lambda family, p, budget: p + np.sqrt(2.0 * budget))
negentropy.register(Own)(lambda family, p: 0.5 * p * p)
natural.register(Own)(lambda family, q: (q, 0.5 * q * q))
top.register(Own)(lambda family: np.inf)
posterior.register(Own)(
    lambda family, arm, rng: (
        arm.total / (arm.pulls + 1.0) + um.random.normal(rng) / np.sqrt(arm.pulls + 1.0)
    )
)


def on(family):
    return um.Problem(PROBLEM.graph, [-1.0, 0.0, 1.0, 0.0, -1.0], family)


@pytest.mark.parametrize("family", [Shifted(), Own()], ids=lambda family: type(family).__name__)
@pytest.mark.parametrize("policy", [um.UTS(), um.OSUB(), um.IMEDUB()], ids=str)
def test_a_family_of_a_users_own_is_stepped(policy, family):
    assert trial_class("auto", on(family), policy, LONG, False) is StepTrial
    with pytest.raises(um.UnimodalError, match=r"cannot leap, since .* way of your own.*'step'"):
        trial_class("leap", on(family), policy, LONG, False)


@pytest.mark.parametrize(
    "policy", [um.UTS(), pytest.param(um.OSUB(), marks=pytest.mark.full)], ids=str
)
def test_such_a_family_plays(policy):
    """6,000 rounds, where "auto" would leap: all of 10 trials find the best arm."""
    settings = {"horizon": 6000, "trials": 10, "seed": 1, "checkpoints": 1}
    auto, step = (um.simulate(on(Own()), policy, engine=e, **settings) for e in ("auto", "step"))
    assert np.array_equal(auto[policy.name].pulls, step[policy.name].pulls)
    assert (auto[policy.name].pulls.argmax(axis=1) == 2).all()


class Sixth(um.Gaussian):
    """A family that has registered for itself whatever the engine calls."""


NEEDED = {
    um.UTS(): (draw, learn, worst, gather, posterior, hat, under_hat, outlook),
    um.OSUB(): (draw, learn, worst, gather, divergence, negentropy, linear_form),
}


@pytest.mark.parametrize("policy", NEEDED, ids=str)
def test_a_family_leaps_as_soon_as_it_has_what_the_engine_calls(policy, monkeypatch):
    for function in NEEDED[policy]:
        why = why_not_leap(policy, on(Sixth()))
        assert "Sixth draws rewards in a way of your own and has no" in why
        assert function.__name__ in why
        monkeypatch.setitem(function.registry, Sixth, function.registry[um.Gaussian])
    assert why_not_leap(policy, on(Sixth())) == ""
    assert trial_class("auto", on(Sixth()), policy, LONG, False) is LeapTrial


def test_a_divergence_without_a_linear_form_is_not_enough(monkeypatch):
    """The engine bounds by it how much an incumbent can lose."""

    class Ruled(um.Gaussian):
        def divergence(self, p, q):
            return 0.5 * abs(p - q)

    for function in NEEDED[um.OSUB()]:
        if Ruled not in function.registry:
            monkeypatch.setitem(function.registry, Ruled, function.registry[um.Gaussian])
    assert "has no linear_form of its own" in why_not_leap(um.OSUB(), on(Ruled()))


def test_the_worst_reward_of_an_unknown_family_is_not_taken_for_zero():
    with pytest.raises(AssertionError, match="worst has nothing for"):
        worst(record(Own()))
    known = {um.Bernoulli(): 0.0, um.Bounded(-1, 1): -1.0, um.Gaussian(): -np.inf}
    known |= {um.Poisson(): 0.0, um.Exponential(): 0.0}
    assert {family: worst(record(family)) for family in known} == known


@component
class OwnScope(AroundLeader):
    """A user's variation of one of our scopes."""


@component
class OwnIndex(KLUpper):
    """A user's variation of one of our indices."""


class WithScope(um.UTS):
    def scope(self, graph):
        return OwnScope(period=2)


class WithIndex(um.UTS):
    def index(self):
        return OwnIndex()


class WithState(um.UTS):
    def equip(self, state, family, unpulled):
        return state


class WithChoose(um.UTS):
    def choose(self, arms, near, leader, clock, rng):
        return leader


class Renamed(um.UTS):
    """A user's policy made of our parts alone: as good as ours."""


def own_draw(mean, rng):
    return mean


BOUNDED = um.Problem(PROBLEM.graph, PROBLEM.means, um.Bounded(draw=own_draw))
MOVING = um.problems.drifting_line(5, 1000, 1 / 100)


@pytest.mark.parametrize(
    ("policy", "problem", "history", "why"),
    [
        (WithScope(), PROBLEM, False, "OwnScope is not a scope"),
        (WithIndex(), PROBLEM, False, "OwnIndex is not an index"),
        (WithState(), PROBLEM, False, "a state of its own"),
        (WithChoose(), PROBLEM, False, "a rule or a state of its own"),
        (um.NPTS(), on(um.Bounded(-1, 1)), False, "Reweighed is not an index"),
        (um.UniTT(), PROBLEM, False, "TransportationCost is not an index"),
        (um.MINTS(), um.problems.triangular(5), False, "a state of its own"),
        (um.UTS(), BOUNDED, False, "draws rewards in a way of your own"),
        (um.Windowed(um.UTS(), window=9), PROBLEM, False, "changes from round to round"),
        (um.UTS(), MOVING, False, "changes from round to round"),
        (um.UTS(), PROBLEM, True, "history=True asks for each"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_reason_is_given(policy, problem, history, why):
    assert why in why_not_leap(policy, problem, history)
    assert trial_class("auto", problem, policy, LONG, history) is StepTrial
    with pytest.raises(um.UnimodalError, match="cannot leap"):
        trial_class("leap", problem, policy, LONG, history)


# One spares no rewards, and the other looks at all of them in every round.
OURS = [make() for make in POLICIES.values() if make not in (um.UniTT, um.MINTS)]


@pytest.mark.parametrize("policy", [*OURS, Renamed()], ids=str)
@pytest.mark.parametrize(
    "family", [um.Bernoulli(), um.Bounded(-1, 1), um.Gaussian(), um.Poisson(), um.Exponential()]
)
def test_all_of_ours_leap(policy, family):
    if isinstance(policy, um.NPTS) and family != um.Bernoulli():
        return
    problem = um.Problem(PROBLEM.graph, PROBLEM.means, family)
    assert why_not_leap(policy, problem) == ""
    assert trial_class("auto", problem, policy, LONG, False) is LeapTrial
    assert trial_class("auto", problem, policy, 100, False) is StepTrial
