"""What every family must do."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from unimodal import families
from unimodal.engines.capability import why_not_leap
from unimodal.errors import UnimodalError
from unimodal.families import Family
from unimodal.families.family import learn, posterior
from unimodal.families.posteriors import cdf, is_known, quantile
from unimodal.kernels.compile import record
from unimodal.kernels.random import POLICY, REWARDS, stream
from unimodal.policies import OSUB, UTS, Policy
from unimodal.policies.state import ARM, set_prior
from unimodal.results.simulate import simulate
from unimodal.testing.policies import (
    SEED,
    agent_does_the_same,
    agent_survives_saving,
    learns,
    problem_for,
    repeats_itself,
    span,
)


def check_family(family: Family) -> None:
    """Run every check of a family; the first that fails raises an AssertionError that says why.

    Parameters
    ----------
    family
        The family to check.

    Raises
    ------
    AssertionError
        If a check fails; it says what was expected.

    Examples
    --------
    >>> import unimodal as um
    >>> check_family(um.Bernoulli())
    """
    for check in FAMILY_CHECKS:
        check(family)


DRAWS = 10_000
_SURE = 5.0  # standard errors: 6 in 10 million are further off


def _means(family: Family) -> list[float]:
    high, low = span(family)
    return [low, 0.5 * (low + high), high]


def _usual_policy(family: Family) -> Policy:
    """A policy that the family can play."""
    return UTS() if family.has(posterior) else OSUB()


def _refuses(call: Callable[..., Any], *arguments: Any) -> bool:
    try:
        call(*arguments)
    except UnimodalError:
        return True
    return False


def family_is_data(family: Family) -> None:
    """A family prints as itself, equals its copy, cannot be changed, and survives JSON."""
    assert copy.deepcopy(family) == family, f"a copy of {family!r} must be equal to it"
    assert repr(family).startswith(type(family).__name__ + "("), f"repr must name it: {family!r}"
    saved = json.loads(json.dumps(families.to_data(family)))
    if "your own function" not in saved.values():
        again = families.from_data(saved, family)
        assert again == family, f"{family!r} must be the same from its data, got {again!r}"
    try:
        family.changed = True  # type: ignore[attr-defined]
    except AttributeError:
        return
    raise AssertionError(f"{family!r} must be frozen")


def divergence_grows(family: Family) -> None:
    """The divergence is 0 from a mean to itself and grows with the distance, on both sides."""
    high, low = span(family)
    grid = np.linspace(low, high, 9)
    for place, mean in enumerate(grid):
        found = [family.divergence(mean, other) for other in grid]
        assert found[place] == 0, f"divergence({mean:g}, {mean:g}) must be 0, got {found[place]}"
        away = found[place:], found[place::-1]
        grows = all(np.all(np.diff(side) > 0) for side in away)
        assert grows, f"divergence({mean:g}, q) must grow with the distance of q, got {found}"


def upper_inverts_divergence(family: Family) -> None:
    """The largest u with divergence(p, u) ≤ budget: within it, and hardly above it no longer."""
    for mean in _means(family):
        assert abs(family.upper(mean, 0.0) - mean) <= 1e-9 * max(abs(mean), 1.0), (
            f"upper({mean:g}, 0) must be {mean:g}, got {family.upper(mean, 0.0)}"
        )
        for budget in (1e-4, 0.01, 0.3, 2.0):
            found = family.upper(mean, budget)
            what = f"upper({mean:g}, {budget:g}) = {found:g}"
            assert found >= mean, f"{what} must not be below the mean"
            spent = family.divergence(mean, min(found, family.high))
            assert spent <= budget * (1 + 1e-6), f"{what} has divergence {spent}, above the budget"
            beyond = found + 1e-4 * (found - mean) + 1e-12
            if beyond < family.high:
                more = family.divergence(mean, beyond)
                assert more >= budget, f"{what} is too low: {beyond} has divergence {more}"


def draws_have_the_mean(family: Family) -> None:
    """Rewards have the mean they are drawn for, and the family takes them as its own."""
    for number, mean in enumerate(_means(family)):
        rng = stream(SEED, number, REWARDS)
        drawn = np.array([family.sample(mean, rng) for _ in range(DRAWS)])
        for reward in drawn[:1000]:
            family.check_reward(reward)
        inside = (drawn >= family.low) & (drawn <= family.high)
        assert inside.all(), (
            f"draws must lie in [{family.low}, {family.high}], got {drawn[~inside][0]}"
        )
        error = drawn.std() / math.sqrt(DRAWS)
        assert abs(drawn.mean() - mean) <= _SURE * error + 1e-9 * abs(mean), (
            f"{DRAWS} draws for the mean {mean:g} have the mean {drawn.mean():g} ± {error:g}"
        )


def strangers_are_refused(family: Family) -> None:
    """No reward or mean outside of [low, high] is taken, nor what is no number."""
    outside = [math.nan, math.inf, -math.inf]
    outside += [family.low - 1.0] if math.isfinite(family.low) else []
    outside += [family.high + 1.0] if math.isfinite(family.high) else []
    for value in outside:
        assert _refuses(family.check_reward, value), f"check_reward must refuse {value}"
        assert _refuses(family.check_means, np.array([value])), f"check_means must refuse {value}"
    assert _refuses(family.check_reward, "1"), "check_reward must refuse text"
    family.check_means(np.array(_means(family)))


def prior_is_one(family: Family) -> None:
    """The default prior is a pair of numbers that the family accepts, with a name each."""
    names, pair = family.prior_names, family.default_prior
    assert len(names) == len(pair) == 2, f"a prior is a pair, got {names} and {pair}"
    family.check_prior(*np.array(pair, dtype=np.float64).reshape(2, 1))


def _taught(family: Family, mean: float, rewards: int) -> Any:
    """The record of an arm with so many rewards."""
    arms = np.zeros(1, dtype=ARM)
    set_prior(arms, family, None)
    made, drawn, coins = record(family), stream(SEED, 0, REWARDS), stream(SEED, 1, POLICY)
    for _ in range(rewards):
        learn(made, arms, 0, family.sample(mean, drawn), coins)
    return arms.view(np.recarray)


def posterior_concentrates(family: Family) -> None:
    """With more rewards, draws from the posterior come closer to the mean; and they can be one."""
    if not family.has(posterior):
        return
    for mean in _means(family):
        spread = {}
        for rewards in (50, 5000):
            arms, rng = _taught(family, mean, rewards), stream(SEED, rewards, POLICY)
            drawn = np.array([posterior(record(family), arms[0], rng) for _ in range(1000)])
            what = f"the posterior after {rewards} rewards of mean {mean:g}"
            inside = (drawn >= family.low) & (drawn <= family.high)
            assert inside.all(), f"{what} must lie in [{family.low}, {family.high}]"
            spread[rewards] = drawn.std()
            assert abs(drawn.mean() - mean) <= _SURE * math.sqrt(2.0) * drawn.std(), (
                f"{what} is {drawn.mean():g} ± {drawn.std():g}"
            )
            if is_known(family):
                _check_distribution(family, arms, np.sort(drawn), what)
        assert spread[5000] < spread[50] / 3, (
            f"100 times the rewards must make the posterior narrower, got {spread}"
        )


def _check_distribution(family: Family, arms: Any, drawn: Any, what: str) -> None:
    """Hold draws to `posterior_cdf` by Kolmogorov and Smirnov's test.

    The error rate is 10⁻⁶; with 1,000 draws it sees a distribution function that is off by 0.1.
    """
    below = np.array([float(cdf(family, arms, level)[0]) for level in drawn])
    off = np.abs(below - (np.arange(len(drawn)) + 0.5) / len(drawn)).max()
    assert off <= 2.7 / math.sqrt(len(drawn)), f"{what} does not have its posterior_cdf"
    for share in (0.01, 0.5, 0.99):
        back = float(cdf(family, arms, quantile(family, arms, share))[0])
        assert abs(back - share) < 1e-6, f"posterior_cdf(posterior_quantile({share})) is {back}"


def evidence_is_fair(family: Family) -> None:
    """Where a family has `log_evidence`, M starts at 1 and is not expected to grow at the mean."""
    if type(family).log_evidence is Family.log_evidence:
        return
    for number, mean in enumerate(_means(family)):
        start = float(family.log_evidence(mean, 0.0, 0.0))
        assert abs(start) < 1e-9, f"log_evidence without rewards must be 0, got {start}"
        rng = stream(SEED, number, REWARDS)
        drawn = np.array([family.sample(mean, rng) for _ in range(DRAWS)])
        ratio = np.exp(family.log_evidence(mean, 1.0, drawn))
        limit = 1.0 + _SURE * ratio.std() / math.sqrt(DRAWS)
        assert ratio.mean() <= limit, (
            f"M must not be expected to grow, got {ratio.mean()} after one"
        )


def likelihood_falls_by_the_divergence(family: Family) -> None:
    """Where a family has `log_likelihood`, it is N·kl lower at a mean than at that of N rewards.

    That is so for every family whose rewards are told by their number and sum.
    """
    if type(family).log_likelihood is Family.log_likelihood:
        return
    for mean in _means(family):
        for other in _means(family):
            at_own, at_other = (family.log_likelihood(m, 7.0, 7.0 * mean) for m in (mean, other))
            fall = float(at_own - at_other)
            expected = 7.0 * family.divergence(mean, other)
            assert abs(fall - expected) <= 1e-6 * max(expected, 1.0), (
                f"log_likelihood of 7 rewards with the mean {mean:g} must be {expected:g} lower at "
                f"{other:g}, got {fall:g}"
            )


def engines_and_agents_agree(family: Family) -> None:
    """Trials repeat themselves, and an agent that is told a trial's rewards asks for its arms."""
    policy = _usual_policy(family)
    repeats_itself(policy, family)
    agent_does_the_same(policy, family)
    agent_survives_saving(policy, family)


def best_arm_is_found(family: Family) -> None:
    """Confidence bounds by the divergence find the best arm, and Thompson sampling does."""
    learns(OSUB(), family)
    if family.has(posterior):
        learns(UTS(), family)


def leap_has_the_law_of_step(family: Family) -> None:
    """Where the leap engine may play, its regrets are as those of the step engine (200 each).

    By Kolmogorov and Smirnov's test with an error rate of 10⁻⁶: a distribution function that is off
    by more than 0.27 somewhere fails.
    """
    policy, problem, trials = _usual_policy(family), problem_for(family), 200
    if why_not_leap(policy, problem):
        return
    settings: dict[str, Any] = {"horizon": 2000, "trials": trials, "checkpoints": 1}
    one, two = (
        np.sort(next(iter(result.values())).regret[:, -1])
        for result in (
            simulate(problem, policy, engine=engine, seed=seed, **settings)
            for seed, engine in ((SEED, "step"), (SEED + 1, "leap"))
        )
    )
    both = np.concatenate([one, two])
    shares = [np.searchsorted(sample, both, side="right") / trials for sample in (one, two)]
    off = float(np.abs(shares[0] - shares[1]).max())
    limit = math.sqrt(0.5 * math.log(2e6)) * math.sqrt(2 / trials)
    assert off <= limit, f"the regrets of the two engines differ: {one.mean():g}, {two.mean():g}"


FAMILY_CHECKS: list[Callable[[Family], None]] = [
    family_is_data,
    divergence_grows,
    upper_inverts_divergence,
    draws_have_the_mean,
    strangers_are_refused,
    prior_is_one,
    posterior_concentrates,
    evidence_is_fair,
    likelihood_falls_by_the_divergence,
    engines_and_agents_agree,
    best_arm_is_found,
    leap_has_the_law_of_step,
]
