"""What is believed of arms' means, as distributions: probabilities, quantiles, intervals.

The parameters are those from which a Thompson sample is drawn. Arms are records of
`policies.state.ARM`, one or many, and broadcast against the numbers given.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from scipy import special

from unimodal.errors import UnimodalError, real_number
from unimodal.families.bernoulli import Bernoulli, bernoulli_belief
from unimodal.families.bounded import Bounded, bounded_belief
from unimodal.families.exponential import Exponential, exponential_belief
from unimodal.families.family import Family
from unimodal.families.gaussian import Gaussian, gaussian_belief
from unimodal.families.poisson import Poisson, poisson_belief

_ROUNDS_TO_ONE = 2.0**-53.5  # a draw x/(x + y) is 1 where y/x is smaller than about this


@functools.singledispatch
def cdf(family: Family, arms: Any, level: Any) -> Any:
    """The probability that a mean is at most `level`."""
    raise _unknown(family)


@functools.singledispatch
def quantile(family: Family, arms: Any, share: Any) -> Any:
    """The level that a mean is below with probability `share`."""
    raise _unknown(family)


@functools.singledispatch
def at_top(family: Family, arms: Any) -> Any:
    """The probability that a draw is the top of the range, as floats go: draws can tie there."""
    return np.zeros(np.shape(arms))


def _unknown(family: Family) -> UnimodalError:
    return UnimodalError(
        "posteriors are known for Bernoulli, Bounded, Exponential, Gaussian and Poisson rewards, "
        f"got {family!r}: take the one that is closest."
    )


def interval(family: Family, arms: Any, probability: float = 0.95) -> tuple[Any, Any]:
    """Where a mean lies with this probability, the rest equally on both sides.

    >>> import unimodal as um
    >>> from unimodal.policies.state import ARM
    >>> arms = np.zeros(1, dtype=ARM)
    >>> arms["prior_a"] = arms["prior_b"] = 1.0
    >>> low, high = interval(um.Bernoulli(), arms, 0.5)
    >>> low.tolist(), high.tolist()
    ([0.25], [0.75])
    """
    level = real_number(probability, "the 'probability' of an interval", above=0)
    if not level < 1:
        raise UnimodalError(f"the 'probability' of an interval must be below 1, got {level:g}.")
    outside = 0.5 * (1.0 - level)
    return quantile(family, arms, outside), quantile(family, arms, 1.0 - outside)


def _fields(arms: Any) -> Any:
    """Records whose fields are attributes, as compiled code has them."""
    return np.asarray(arms).view(np.recarray)


@cdf.register
def _bernoulli_below(family: Bernoulli, arms: Any, level: Any) -> Any:
    return special.betainc(*bernoulli_belief(_fields(arms)), np.clip(level, 0.0, 1.0))


@quantile.register
def _bernoulli_quantile(family: Bernoulli, arms: Any, share: Any) -> Any:
    return special.betaincinv(*bernoulli_belief(_fields(arms)), share)


@at_top.register
def _bernoulli_at_top(family: Bernoulli, arms: Any) -> Any:
    a, b = bernoulli_belief(_fields(arms))
    return special.betainc(b, a, _ROUNDS_TO_ONE)


@cdf.register
def _bounded_below(family: Bounded, arms: Any, level: Any) -> Any:
    scaled = (np.asarray(level) - family.a) / (family.b - family.a)
    return special.betainc(*bounded_belief(_fields(arms)), np.clip(scaled, 0.0, 1.0))


@quantile.register
def _bounded_quantile(family: Bounded, arms: Any, share: Any) -> Any:
    scaled = special.betaincinv(*bounded_belief(_fields(arms)), share)
    return family.a + (family.b - family.a) * scaled


@at_top.register
def _bounded_at_top(family: Bounded, arms: Any) -> Any:
    a, b = bounded_belief(_fields(arms))
    return special.betainc(b, a, _ROUNDS_TO_ONE)


@cdf.register
def _poisson_below(family: Poisson, arms: Any, level: Any) -> Any:
    shape, rate = poisson_belief(_fields(arms))
    return special.gammainc(shape, rate * np.maximum(level, 0.0))


@quantile.register
def _poisson_quantile(family: Poisson, arms: Any, share: Any) -> Any:
    shape, rate = poisson_belief(_fields(arms))
    return special.gammaincinv(shape, share) / rate


@cdf.register
def _exponential_below(family: Exponential, arms: Any, level: Any) -> Any:
    shape, rate = exponential_belief(_fields(arms))
    with np.errstate(divide="ignore"):
        return special.gammaincc(shape, rate / np.maximum(level, 0.0))


@quantile.register
def _exponential_quantile(family: Exponential, arms: Any, share: Any) -> Any:
    shape, rate = exponential_belief(_fields(arms))
    with np.errstate(divide="ignore"):
        return rate / special.gammainccinv(shape, share)


@cdf.register
def _gaussian_below(family: Gaussian, arms: Any, level: Any) -> Any:
    mean, precision = gaussian_belief(family, _fields(arms))
    return special.ndtr((level - mean) * np.sqrt(precision))


@quantile.register
def _gaussian_quantile(family: Gaussian, arms: Any, share: Any) -> Any:
    mean, precision = gaussian_belief(family, _fields(arms))
    return mean + special.ndtri(share) / np.sqrt(precision)
