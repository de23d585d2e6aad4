"""Many rewards of one arm at once, and how bad they can have been on the way."""

from __future__ import annotations

import math

from unimodal.families.bernoulli import Bernoulli
from unimodal.families.bounded import Bounded
from unimodal.families.exponential import Exponential
from unimodal.families.family import Family, draw, learn
from unimodal.families.gaussian import Gaussian
from unimodal.families.poisson import Poisson
from unimodal.kernels.binomial import trials_until
from unimodal.kernels.compile import generic
from unimodal.kernels.random import gamma, poisson


@generic
def worst(family):
    """The lowest reward there is."""


@generic
def attempt(family, arm, loss_margin):
    """How many pulls of an arm to try for where `loss_margin` worst rewards do no harm."""


@generic
def gather(family, arms, arm, mean, pulls, loss_margin, rng, coins):
    """Pull an arm and learn, at most `pulls` times and no further than one worst reward too many.

    Returns how often it was pulled, and whether no more worst rewards than bearable may have come.
    Callers ask for no more pulls than `attempt` says.
    """


@worst.register(Bernoulli)
@worst.register(Poisson)
@worst.register(Exponential)
def _nothing(family):
    return 0.0


@attempt.register(Family)
def _even_if_all_are_worst(family, arm, loss_margin):
    return loss_margin + 1.0


@worst.register(Bounded)
def _lower_bound(family):
    return family.a


@worst.register(Gaussian)
def _no_bound(family):
    return -math.inf


@attempt.register(Bernoulli)
def _few_failures(family, arm, loss_margin):
    # So many that more failures than are bearable are rare, or else cheap to deal out one by one.
    failures = loss_margin + 1.0
    # In standard deviations: more where there are more to deal out.
    rare = math.sqrt(2.0 * math.log(max(failures / 50.0, 3.0)))
    aim = max(0.5 * failures, failures - rare * math.sqrt(failures))
    return aim * (arm.pulls + 2.0) / (arm.pulls - arm.total + 1.0) + 1.0


@gather.register(Bernoulli)
def _coins(family, arms, arm, mean, pulls, loss_margin, rng, coins):
    done, successes = trials_until(rng, pulls, mean, loss_margin)
    arms[arm].pulls += done
    arms[arm].total += successes
    return done, done - successes <= loss_margin


@gather.register(Poisson)
def _poisson_sum(family, arms, arm, mean, pulls, loss_margin, rng, coins):
    arms[arm].pulls += pulls
    arms[arm].total += poisson(rng, pulls * mean)
    return pulls, pulls <= loss_margin


@gather.register(Exponential)
def _gamma_sum(family, arms, arm, mean, pulls, loss_margin, rng, coins):
    arms[arm].pulls += pulls
    arms[arm].total += mean * gamma(rng, float(pulls))
    return pulls, pulls <= loss_margin


@gather.register(Family)
def _one_by_one(family, arms, arm, mean, pulls, loss_margin, rng, coins):
    for _ in range(pulls):
        learn(family, arms, arm, draw(family, mean, rng), coins)
    return pulls, pulls <= loss_margin
