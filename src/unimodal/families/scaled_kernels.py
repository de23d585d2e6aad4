"""What compiled code calls of `Scaled`: the inner family, with the factor of an arm beside it.

Rewards and their means are as they are told, so most functions are the inner family's own. Levels
(`unsaturated_scale.py`) must be comparable between arms. So the level of an amount is the inner
family's level of the amount divided by the largest factor: arms with that factor have the inner
family's levels, and the others theirs `shrunk`.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

import math
from typing import Any

from unimodal.families import family as kernel
from unimodal.families import leaping, unsaturated_scale
from unimodal.families.scaled import Scaled
from unimodal.families.tail_envelopes import beyond
from unimodal.kernels.compile import inner

_ROUNDING = 1e-14  # of levels, relative
_SAME, _SAFE = 2e-13, 1e-9  # what a contest takes for a tie; the margin of a wait, both relative
_Record: Any = Scaled.Record


@kernel.draw.register(Scaled)
def _draw(family, mean, rng):
    return kernel.draw(family.inner, mean, rng)


@kernel.divergence.register(Scaled)
def _divergence(family, p, q):
    # An arm that cannot reach q is infinitely far from it.
    return math.inf if q > kernel.top(family.inner) else kernel.divergence(family.inner, p, q)


@kernel.upper.register(Scaled)
def _upper(family, p, budget):
    return kernel.upper(family.inner, p, budget)


@kernel.negentropy.register(Scaled)
def _negentropy(family, p):
    return kernel.negentropy(family.inner, p)


@kernel.natural.register(Scaled)
def _natural(family, q):
    return kernel.natural(family.inner, q)


@kernel.top.register(Scaled)
def _top(family):
    return kernel.top(family.inner)


@kernel.prior_worth.register(Scaled)
def _prior_worth(family, arm):
    return kernel.prior_worth(family.inner, arm)


@kernel.learn.register(Scaled)
def _learn(family, arms, arm, reward, rng):
    kernel.learn(family.inner, arms, arm, reward, rng)


@leaping.worst.register(Scaled)
def _worst(family):
    return leaping.worst(family.inner)


@leaping.attempt.register(Scaled)
def _attempt(family, arm, loss_margin):
    return leaping.attempt(family.inner, arm, loss_margin)


@leaping.gather.register(Scaled)
def _gather(family, arms, arm, mean, pulls, loss_margin, rng, coins):
    return leaping.gather(family.inner, arms, arm, mean, pulls, loss_margin, rng, coins)


# What they are worth.


@kernel.earned.register(Scaled)
def _earned(family, arm, reward):
    return arm.factor * reward


@kernel.told.register(Scaled)
def _told(family, arm, worth):
    return worth / arm.factor


@kernel.of_arm.register(Scaled)
def _of_arm(family, arm):
    return _Record(family.inner, family.largest, arm.factor)


@kernel.posterior.register(Scaled)
def _posterior(family, arm, rng):
    return arm.factor * kernel.posterior(family.inner, arm, rng)


@leaping.hat.register(Scaled)
def _hat(family, arm, worse, level, above):
    if above and level >= arm.factor * kernel.top(family.inner):
        return 0.0, 0.0  # no draw lies above
    return leaping.hat(family.inner, arm, worse, level / arm.factor, above)


@leaping.under_hat.register(Scaled)
def _under_hat(family, arm, level, rate, above, rng):
    draw = leaping.under_hat(family.inner, arm, level / arm.factor, rate, above, rng)
    return beyond(arm.factor * draw, level, above)


@leaping.beta_belief.register(Scaled)
def _beta_belief(family, arm):
    return leaping.beta_belief(family.inner, arm)


@leaping.from_beta.register(Scaled)
def _from_beta(family, arm, share):
    return arm.factor * leaping.from_beta(family.inner, arm, share)


@leaping.outlook.register(Scaled)
def _outlook(family, arm):
    centre, spread = leaping.outlook(family.inner, arm)
    return arm.factor * centre, arm.factor * spread


@leaping.is_sure.register(Scaled)
def _is_sure(family, arm):
    # Whoever draws nothing but the top of a smaller factor may be exceeded.
    return arm.factor == family.largest and leaping.is_sure(family.inner, arm)


# Levels, of a family that `of_arm` made.


@unsaturated_scale.mean_level.register(Scaled)
@inner
def _mean_level(family, pulls, total):
    level = unsaturated_scale.mean_level(family.inner, pulls, total)
    return _common(family, level)


@unsaturated_scale.upper_level.register(Scaled)
def _upper_level(family, pulls, total, budget):
    level = unsaturated_scale.upper_level(family.inner, pulls, total, budget)
    return _common(family, level)


@unsaturated_scale.distance.register(Scaled)
def _distance(family, pulls, total, level):
    own = _own(family, level)
    if family.factor != family.largest:
        mean = _mean_level(family, pulls, total)
        if level <= mean + _ROUNDING * abs(mean):
            return 0.0  # at an arm's top, rounding must not make of nothing an infinite distance
    if own == math.inf:
        return math.inf  # out of the arm's reach
    return unsaturated_scale.distance(family.inner, pulls, total, own)


@unsaturated_scale.between.register(Scaled)
def _level_between(family, low, high, share):
    return unsaturated_scale.between(family.inner, low, high, share)


@unsaturated_scale.linear_form.register(Scaled)
def _linear_form(family, level):
    if family.factor != family.factor:
        return -math.inf, 0.0, 0.0  # none holds for arms with different factors
    return unsaturated_scale.linear_form(family.inner, _own(family, level))


@unsaturated_scale.is_sharp.register(Scaled)
def _is_sharp(family, level):
    # Near its top an arm's own level hardly shows in the common one: where a step by the margin
    # that waits have would pass for a tie, nobody knows when the level is reached.
    own = _own(family, level)
    if family.factor == family.largest or own == math.inf:
        return True
    before = _common(family, own - _SAFE * abs(own))
    return before < level - _SAME * abs(level)


@inner
def _common(family, level):
    """The common level of an arm's own, which the inner family has."""
    if family.factor == family.largest:
        return level
    return unsaturated_scale.shrunk(family.inner, level, family.factor / family.largest)


@inner
def _own(family, level):
    """An arm's own level for a common one; ∞ if it is out of the arm's reach."""
    if family.factor == family.largest:
        return level
    return unsaturated_scale.stretched(family.inner, level, family.factor / family.largest)
