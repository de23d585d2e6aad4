"""What is believed of arms' means, as distributions: probabilities, quantiles, intervals.

The parameters are those from which a Thompson sample is drawn; each family says its own in
`posterior_cdf` and `posterior_quantile`. Arms are records of `policies.state.ARM`, one or many, and
broadcast against the numbers given.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unimodal.errors import UnimodalError, real_number
from unimodal.families.family import Family


def is_known(family: Family) -> bool:
    """Whether a family says how its posterior is distributed.

    >>> from unimodal import Poisson
    >>> is_known(Poisson())
    True
    """
    ours, theirs = Family, type(family)
    return (
        theirs.posterior_cdf is not ours.posterior_cdf
        and theirs.posterior_quantile is not ours.posterior_quantile
    )


# Levels of 0 and ∞ and shares of 0 and 1 are on the way.
_AT_THE_ENDS: Any = {"divide": "ignore", "over": "ignore"}


def cdf(family: Family, arms: Any, level: Any) -> Any:
    """The probability that a mean is at most `level`."""
    with np.errstate(**_AT_THE_ENDS):
        return family.posterior_cdf(_fields(arms), level)


def quantile(family: Family, arms: Any, share: Any) -> Any:
    """The level that a mean is below with probability `share`."""
    with np.errstate(**_AT_THE_ENDS):
        return family.posterior_quantile(_fields(arms), share)


def at_top(family: Family, arms: Any) -> Any:
    """The probability that a draw is the top of the range, as floats go: draws can tie there."""
    return family.posterior_at_top(_fields(arms))


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
