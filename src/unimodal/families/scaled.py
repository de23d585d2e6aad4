"""Rewards that are worth a known multiple of what is told: price × sold, rate × delivered.

What is told is the draw of the inner family, and everything is kept as told. Means, posteriors and
evidence are in money: the arm's known factor times what they are of the draws. `factors.py` says
how factors are given, and `scaled_kernels.py` what compiled code calls.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import functools
import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from unimodal.errors import UnimodalError, real_number
from unimodal.families import factors as spelling
from unimodal.families.bernoulli import Bernoulli
from unimodal.families.bounded import Bounded
from unimodal.families.exponential import Exponential
from unimodal.families.family import Family, Numbers
from unimodal.families.gaussian import Gaussian
from unimodal.families.poisson import Poisson
from unimodal.kernels.compile import record

INNER = (Bernoulli, Bounded, Exponential, Gaussian, Poisson)


class Scaled(Family):
    """Known multiples of an inner family's rewards: an arm's factor × a draw.

    `by` has the factors: a mapping from labels, or a sequence in the order of the arms, or one
    number for all; or the function `float`, where labels are the numbers themselves ("9.90").

    What is told is the draw (`agent.tell(price, 1.0)`: sold), not a product. A policy's prior is
    the inner family's too. Means, regret and intervals are in money.

    Parameters
    ----------
    inner
        The family of the draws.
    by
        The factors of the arms.

    Examples
    --------
    >>> import unimodal as um
    >>> prices = um.graphs.line(["9.90", "12.90", "14.90"])
    >>> money = um.Scaled(um.Bernoulli(), by={"9.90": 9.90, "12.90": 12.90, "14.90": 14.90})
    >>> problem = um.Problem(prices, {"9.90": 4.0, "12.90": 4.5, "14.90": 3.0}, money)
    >>> problem.best_arm
    1
    >>> agent = um.Agent(um.UTS(), prices, money, seed=1)
    >>> price = agent.ask()
    >>> agent.tell(price, 1.0)
    >>> agent.arms()["mean"].item() == float(price)
    True
    >>> money.of_arm("9.90").divergence(4.0, 12.0)
    inf
    """

    derived_numbers: ClassVar[dict[str, Callable[[Any], Any]]] = {
        "inner": record,
        "largest": float,
        "factor": float,
    }

    inner: Family
    by: Any

    def __post_init__(self) -> None:
        """Check the inner family, and spell the factors in one way."""
        if isinstance(self.inner, Scaled):
            raise UnimodalError(
                "the 'inner' of Scaled must not be Scaled itself: multiply the two factors."
            )
        if type(self.inner) not in INNER or self.inner.is_own:
            names = ", ".join(kind.__name__ for kind in INNER)
            raise UnimodalError(
                f"the 'inner' of Scaled must be one of {names}, such as um.Bernoulli(), "
                f"and draw by itself, got {self.inner!r}."
            )
        if not self.inner.high > 0:
            raise UnimodalError(
                "the 'inner' of Scaled must have rewards above 0, for a larger factor to be worth "
                f"more, got {self.inner!r}: add a constant to them."
            )
        object.__setattr__(self, "by", spelling.spelt(self.by))

    # The arms' factors

    @functools.cached_property
    def _by_label(self) -> dict[Hashable, float]:
        return dict(self.by) if spelling.is_by_label(self.by) else {}

    @property
    def factor(self) -> float:
        """The factor of every arm; NaN if they differ, or may."""
        different = set(spelling.values(self.by))
        return different.pop() if len(different) == 1 else math.nan

    @property
    def largest(self) -> float:
        """The largest factor of an arm, or what none is larger than."""
        return max(spelling.values(self.by), default=spelling.LARGEST_FACTOR)

    @property
    def labels(self) -> Sequence[Hashable]:
        """The labels that factors were given for."""
        return tuple(self._by_label)

    def on(self, graph: Any, strict: bool = True) -> Family:
        """The family for the arms of a graph (None: one known by look-up), which it must fit.

        If not `strict`, it is only spelt by the labels of the graph.

        >>> import unimodal as um
        >>> um.Scaled(um.Poisson(), by=[1, 2.5]).on(um.graphs.line(2))
        Scaled(Poisson(), by={0: 1.0, 1: 2.5})
        """
        in_order = spelling.is_in_order(self.by)
        if graph is None and in_order:
            raise UnimodalError(
                "the 'by' of Scaled must be a mapping from labels, or float, where a graph is "
                f"known by look-up and its arms have no order, got {len(self.by)} numbers."
            )
        if graph is None or not (strict or in_order):
            return self
        if in_order and len(self.by) != graph.n_arms:
            raise UnimodalError(
                f"the 'by' of Scaled must have a factor for each of the {graph.n_arms} arms, "
                f"got {len(self.by)}."
            )
        if in_order:
            return Scaled(self.inner, dict(zip(graph.labels, self.by, strict=True)))
        for label in self.labels:
            try:
                graph.arm_of(label)
            except UnimodalError as error:
                raise UnimodalError(
                    f"the 'by' of Scaled must have factors for arms of the graph only, got one for "
                    f"{label!r}: {error}"
                ) from None
        self.factors(graph.labels)
        return self

    def factors(self, labels: Iterable[Hashable]) -> NDArray[np.float64]:
        """The factors of arms, by their labels."""
        return np.array([self._factor_of(label) for label in labels], dtype=np.float64)

    def _factor_of(self, label: Hashable) -> float:
        if isinstance(self.by, float):
            return self.by
        if self.by is float:
            return spelling.of_label(label)
        if spelling.is_in_order(self.by):
            raise UnimodalError(
                "a Scaled with a sequence of factors must be fitted to a graph before arms are "
                "asked for: call on(graph), or give a mapping from labels."
            )
        if label not in self._by_label:
            known = ", ".join(map(repr, self.labels[:3]))
            raise UnimodalError(
                f"the 'by' of Scaled must have a factor for every arm, got none for {label!r} "
                f"(it begins with {known}): add it, or use by=float where labels are the factors."
            )
        return self._by_label[label]

    def of_arm(self, label: Hashable) -> Family:
        """The family for one arm: its divergence, upper root and draws."""
        return Scaled(self.inner, self._factor_of(label))

    def of_arms(self, labels: Iterable[Hashable]) -> ScaledArms:
        """The family for many arms at once: their ranges and evidence as arrays."""
        return ScaledArms(self.inner, self.factors(labels))

    # What holds for rewards as they are told

    @property
    def told(self) -> Family:
        """The family of what is told."""
        return self.inner

    @property
    def prior_names(self) -> tuple[str, str]:  # type: ignore[override]
        """Those of the inner family."""
        return self.inner.prior_names

    @property
    def low(self) -> float:  # type: ignore[override]
        """The lowest reward that is told."""
        return self.inner.low

    @property
    def high(self) -> float:  # type: ignore[override]
        """The highest reward that is told."""
        return self.inner.high

    @property
    def two_valued(self) -> bool:  # type: ignore[override]
        """Whether rewards are one of two, as they are told."""
        return self.inner.two_valued

    @property
    def takes_zeros(self) -> bool:  # type: ignore[override]
        """Whether zeros among rewards leave them of the inner family."""
        return self.inner.takes_zeros

    @property
    def default_prior(self) -> tuple[float, float]:
        """That of the inner family."""
        return self.inner.default_prior

    def check_prior(self, first: Any, second: Any) -> None:
        """Refuse what is no prior of the inner family."""
        self.inner.check_prior(first, second)

    def check_total(self, count: int, total: Any) -> float:
        """Return the sum of what was told so often, or refuse what the inner family cannot have."""
        return self.inner.check_total(count, total)

    def expected_successes(self, count: float, total: float) -> float:
        """Those of the inner family."""
        return self.inner.expected_successes(count, total)

    def check_reward(self, reward: Any) -> float:
        """Return the reward as a float, or refuse what the inner family does not draw."""
        try:
            return self.inner.check_reward(reward)
        except UnimodalError as error:
            sentence = str(error).removesuffix(".")
            raise UnimodalError(
                f"{sentence} (what is told to Scaled is the draw, not the product)."
            ) from None

    # What is in money

    def check_means(self, means: Any) -> None:
        """Refuse means that arms with one factor cannot have."""
        ScaledArms(self.inner, np.full(len(means), self._known_factor())).check_means(means)

    def posterior_cdf(self, arms: Any, level: Any) -> NDArray[np.float64]:
        """That of the inner family, of what is told for such a level."""
        return self.inner.posterior_cdf(arms, level / arms.factor)

    def posterior_quantile(self, arms: Any, share: Any) -> NDArray[np.float64]:
        """The factor times that of the inner family."""
        return arms.factor * self.inner.posterior_quantile(arms, share)

    def posterior_at_top(self, arms: Any) -> NDArray[np.float64]:
        """Where the inner family's is the top of its range."""
        return self.inner.posterior_at_top(arms)

    def log_evidence(self, mean: Any, pulls: Any, total: Any) -> NDArray[np.float64]:
        """That of the inner family; arms with different factors are asked by `of_arms`."""
        return ScaledArms(self.inner, self._known_factor()).log_evidence(mean, pulls, total)

    def _known_factor(self) -> float:
        if math.isnan(self.factor):
            raise UnimodalError(
                "means of a Scaled family depend on the arm: ask family.of_arm(label), or "
                "family.of_arms(labels) for several."
            )
        return self.factor

    def _mean(self, value: float) -> float:
        mean, factor = self._other_mean(value), self._known_factor()
        if not self.inner.low * factor <= value <= self.inner.high * factor:
            raise UnimodalError(f"a mean of {self!r} must be {_between(self)}, got {value!r}.")
        return min(max(mean, self.inner.low), self.inner.high)  # rounding may step outside

    def _other_mean(self, value: float) -> float:
        return real_number(value, f"a mean of {self!r}") / self._known_factor()

    def worth(self, rewards: Numbers) -> Numbers:
        """The factor times what is told, where all arms have one."""
        return self._known_factor() * rewards

    def __repr__(self) -> str:
        return f"Scaled({self.inner!r}, by={spelling.shown(self.by)})"


class ScaledArms:
    """A Scaled family for many arms at once: one factor, range and evidence for each."""

    def __init__(self, told: Family, factors: Numbers) -> None:
        self.told, self.factors = told, factors
        self.low, self.high = factors * told.low, factors * told.high

    def worth(self, rewards: Numbers) -> Numbers:
        """Each arm's factor times what is told."""
        return self.factors * rewards

    def told_means(self, means: Any) -> NDArray[np.float64]:
        """The means of what is told, for means in money."""
        return np.clip(means / self.factors, self.told.low, self.told.high)  # rounding

    def check_means(self, means: Any) -> None:
        """Refuse a mean that its arm cannot have."""
        bad = np.flatnonzero(~((means >= self.low) & (means <= self.high)))
        if len(bad):
            arm = bad[0]
            factor = float(np.broadcast_to(self.factors, np.shape(means))[arm])
            family = Scaled(self.told, factor)
            raise UnimodalError(
                f"a mean of arm {arm}, {family!r}, must be {_between(family)}, got {means[arm]}."
            )
        self.told.check_means(self.told_means(means))

    def log_evidence(self, mean: Any, pulls: Any, total: Any) -> NDArray[np.float64]:
        """The inner family's, by what is told; infinite against a mean that an arm cannot have."""
        possible = (mean >= self.low) & (mean <= self.high)
        found = self.told.log_evidence(self.told_means(mean), pulls, total)
        return np.where(possible, found, np.inf)


def _between(family: Scaled) -> str:
    low, high = family.low * family.factor, family.high * family.factor
    if math.isinf(low):
        return "a finite number"
    return f"at least {low:g}" if math.isinf(high) else f"between {low:g} and {high:g}"
