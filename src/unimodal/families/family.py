"""What a reward family is: its checks for people, and the functions compiled code calls.

A policy never asks which family it has; it calls the functions below, which are chosen by the
family's type when a kernel is compiled. All divergences here are those of one-parameter
exponential families, kl(p, q) = negentropy(p) - p·θ(q) + A(q), which is what lets a scan over
thousands of arms do without a logarithm an arm.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from unimodal.errors import UnimodalError, real_number
from unimodal.kernels.compile import generic, jit, record

_TEXT = (str, bytes, bytearray)  # float would read them
LARGEST = 1e100  # of a reward: sums of many, and their squares, stay finite
SMALLEST = 1e-50  # of a scale: what is divided by its square stays finite, too


class Family:
    """How rewards are drawn, how far apart two means are, what is believed after some rewards."""

    # A prior is two numbers an arm; what they mean differs by family.
    prior_names: ClassVar[tuple[str, str]]
    # Rewards and means lie in [low, high].
    low: ClassVar[float] = -math.inf
    high: ClassVar[float] = math.inf
    largest_mean: ClassVar[float] = LARGEST
    # Whether rewards are one of these two, so that their number and sum tell all of them.
    two_valued: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """The family's name, as the command line spells it."""
        return type(self).__name__.lower()

    @property
    def is_plain(self) -> bool:
        """Whether rewards are drawn by plain Python, which is slow."""
        return False

    @property
    def is_own(self) -> bool:
        """Whether rewards are drawn by a user's function, which nothing here can vouch for."""
        return False

    @property
    def default_prior(self) -> tuple[float, float]:
        """The prior of every arm unless the policy has one of its own."""
        return (1.0, 1.0)

    def check_prior(self, first: Any, second: Any) -> None:
        """Refuse a prior that is not a distribution: two columns, one row an arm."""
        least = np.finfo(np.float64).tiny  # less has fewer digits
        bad = ~(np.minimum(first, second) >= least) | ~(np.maximum(first, second) <= LARGEST)
        self._refuse_prior(bad, first, second, f"both positive and finite, at most {LARGEST:g}")

    def _refuse_prior(self, bad: Any, first: Any, second: Any, expected: str) -> None:
        if bad.any():
            arm = int(np.flatnonzero(bad)[0])
            raise UnimodalError(
                f"a prior for {self!r} is a pair ({', '.join(self.prior_names)}), {expected}; "
                f"got ({first[arm]:g}, {second[arm]:g}) for arm {arm}."
            )

    def check_means(self, means: Any) -> None:
        """Refuse a mean that no distribution of the family has."""
        bad = ~((means >= self.low) & (means <= self.high) & np.isfinite(means))
        if bad.any():
            arm = int(np.flatnonzero(bad)[0])
            raise UnimodalError(
                f"a mean of {self!r} must be {self._interval()}, got {means[arm]} for arm {arm}."
            )
        far = np.flatnonzero(np.abs(means) > self.largest_mean)
        if len(far):
            raise UnimodalError(
                f"a mean of {self!r} must be at most {self.largest_mean:g} in size (use another "
                f"unit), got {means[far[0]]} for arm {far[0]}."
            )

    def check_reward(self, reward: Any) -> float:
        """Return the reward as a float, or refuse it."""
        try:
            value = math.nan if isinstance(reward, _TEXT) else float(reward)
        except (TypeError, ValueError, OverflowError):
            value = math.nan
        if not self.low <= value <= self.high or math.isinf(value):
            raise UnimodalError(f"a reward of {self!r} must be {self._interval()}, got {reward!r}.")
        if abs(value) > LARGEST:
            raise UnimodalError(
                f"a reward must be at most {LARGEST:g} in size, got {reward!r}: use another unit."
            )
        return value

    def _interval(self) -> str:
        if math.isinf(self.low):
            return "a finite number"
        if math.isinf(self.high):
            return f"a finite number of at least {self.low:g}"
        return f"between {self.low:g} and {self.high:g}"

    def divergence(self, p: float, q: float) -> float:
        """The Kullback-Leibler divergence from the member with mean p to the one with mean q.

        >>> from unimodal import Bernoulli
        >>> round(Bernoulli().divergence(0.1, 0.9), 4)
        1.7578
        """
        return float(divergence(record(self), self._mean(p), self._mean(q)))

    def upper(self, p: float, budget: float) -> float:
        """The largest u ≥ p with divergence(p, u) ≤ budget: KL-UCB's index.

        >>> from unimodal import Gaussian
        >>> Gaussian(sigma=1.0).upper(0.0, budget=2.0)
        2.0
        """
        is_float = isinstance(budget, float)  # infinite is fine
        number = budget if is_float else real_number(budget, "the 'budget' of upper")
        if not number >= 0.0:
            raise UnimodalError(f"the 'budget' of upper must be at least 0, got {budget!r}.")
        return float(upper(record(self), self._mean(p), number))

    def sample(self, mean: float, rng: Any) -> float:
        """A reward of an arm with this mean, from a stream of `unimodal.kernels.random`."""
        return float(draw(record(self), self._mean(mean), rng))

    def _mean(self, value: float) -> float:
        mean = real_number(value, f"a mean of {self!r}")
        if not self.low <= mean <= self.high or math.isinf(mean):
            raise UnimodalError(f"a mean of {self!r} must be {self._interval()}, got {value!r}.")
        return mean


@generic
def draw(family, mean, rng):
    """A reward of an arm with this mean."""


@generic
def divergence(family, p, q):
    """kl(p, q): right at the ends of the support, infinite where it must be."""


@generic
def upper(family, p, budget):
    """The largest u ≥ p with kl(p, u) ≤ budget, for a budget ≥ 0."""


@generic
def negentropy(family, p):
    """The part of kl(p, q) that depends on p alone (the convex conjugate of A)."""


@generic
def natural(family, q):
    """(θ(q), A(q)): kl(p, q) = negentropy(p) - p·θ(q) + A(q)."""


@generic
def top(family):
    """The largest mean there is."""


@generic
def learn(family, arms, arm, reward, rng):
    """Add a reward to an arm's statistics."""


@generic
def posterior(family, arm, rng):
    """A draw from what is believed of an arm's mean: a Thompson sample."""


@jit
def log_ratio(x, y):
    """log(x/y), to full precision where the two are close as well as where they are not."""
    difference = (x - y) / y
    return math.log1p(difference) if abs(difference) < 0.5 else math.log(x / y)


def learn_total(family, arms, arm, reward, rng):
    """Count the pull and add the reward: all that most families need."""
    arms[arm].pulls += 1
    arms[arm].total += reward
