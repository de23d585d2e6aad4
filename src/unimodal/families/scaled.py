"""Rewards that are worth a known multiple of what is told: price × sold, rate × delivered.

What is told is the draw of the inner family, and everything is kept as told. Means, posteriors and
levels are in money: the arm's known factor times what they are of the draws. To compiled code a
family is its inner one, with the factor of an arm beside it (`of_arm`).

Levels (`unsaturated_scale.py`) must be comparable between arms. So the level of an amount is the
inner family's level of the amount divided by the largest factor: arms with that factor have the
inner family's levels, and the others theirs `shrunk`.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import functools
import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from unimodal.errors import UnimodalError, real_number, refuse_set
from unimodal.families import family as kernel
from unimodal.families import leaping, unsaturated_scale
from unimodal.families.bernoulli import Bernoulli
from unimodal.families.bounded import Bounded
from unimodal.families.exponential import Exponential
from unimodal.families.family import Family, Numbers
from unimodal.families.gaussian import Gaussian
from unimodal.families.poisson import Poisson
from unimodal.families.tail_envelopes import beyond
from unimodal.kernels.compile import inner, record

INNER = (Bernoulli, Bounded, Exponential, Gaussian, Poisson)
LARGEST_FACTOR = 1e50  # products with the largest reward stay finite
_ROUNDING = 1e-14  # of levels, relative
_SAME, _SAFE = 2e-13, 1e-9  # what a contest takes for a tie; the margin of a wait, both relative


class Scaled(Family):
    """Known multiples of an inner family's rewards: an arm's factor × a draw.

    `by` has the factors: a mapping from labels, or a sequence in the order of the arms, or one
    number for all; or the function `float`, where labels are the numbers themselves ("9.90").

    What is told is the draw (`agent.tell(price, 1.0)`: sold), not a product. A policy's prior is
    the inner family's too. Means, regret and intervals are in money.

    >>> import unimodal as um
    >>> prices = um.graphs.from_edges([("9.90", "12.90"), ("12.90", "14.90")])
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
        object.__setattr__(self, "by", _spelt(self.by))

    # The arms' factors

    @functools.cached_property
    def _by_label(self) -> dict[Hashable, float]:
        return dict(self.by)

    @property
    def factor(self) -> float:
        """The factor of every arm; NaN if they differ, or may."""
        if isinstance(self.by, float):
            return self.by
        values = set() if self.by is float else set(self._values())
        return values.pop() if len(values) == 1 else math.nan

    @property
    def largest(self) -> float:
        """The largest factor of an arm, or what none is larger than."""
        if self.by is float:
            return LARGEST_FACTOR
        return self.by if isinstance(self.by, float) else max(self._values())

    def _values(self) -> list[float]:
        return [value if isinstance(value, float) else value[1] for value in self.by]

    @property
    def labels(self) -> Sequence[Hashable]:
        """The labels that factors were given for."""
        is_mapping = isinstance(self.by, tuple) and isinstance(self.by[0], tuple)
        return tuple(self._by_label) if is_mapping else ()

    def on(self, graph: Any, strict: bool = True) -> Family:
        """The family for the arms of a graph (None: one known by look-up), which it must fit.

        If not `strict`, it is only spelt by the labels of the graph.

        >>> import unimodal as um
        >>> um.Scaled(um.Poisson(), by=[1, 2.5]).on(um.graphs.line(2))
        Scaled(Poisson(), by={0: 1.0, 1: 2.5})
        """
        by = self.by
        if by is float or isinstance(by, float):
            if graph is not None and strict:
                self.factors(graph.labels)
            return self
        is_sequence = isinstance(by[0], float)
        if graph is None:
            if is_sequence:
                raise UnimodalError(
                    "the 'by' of Scaled must be a mapping from labels, or float, where a graph is "
                    f"known by look-up and its arms have no order, got {len(by)} numbers."
                )
            return self
        if is_sequence and len(by) != graph.n_arms:
            raise UnimodalError(
                f"the 'by' of Scaled must have a factor for each of the {graph.n_arms} arms, "
                f"got {len(by)}."
            )
        if is_sequence:
            return Scaled(self.inner, dict(zip(graph.labels, by, strict=True)))
        if not strict:
            return self
        for label in self._by_label:
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

    def _factor_of(self, label: Any) -> float:
        if isinstance(self.by, float):
            return self.by
        if self.by is float:
            return _checked(label, f"float({label!r}), the factor of an arm of Scaled(by=float),")
        if isinstance(self.by[0], float):
            raise UnimodalError(
                "a Scaled with a sequence of factors must be fitted to a graph before arms are "
                "asked for: call on(graph), or give a mapping from labels."
            )
        if label not in self._by_label:
            known = ", ".join(map(repr, list(self._by_label)[:3]))
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
        by = self.by
        shown = "float" if by is float else repr(by)
        if isinstance(by, tuple):
            some = dict(by[:_SHOWN]) if isinstance(by[0], tuple) else list(by[:_SHOWN])
            more = f" and {len(by) - _SHOWN:,} more" if len(by) > _SHOWN else ""
            shown = f"{some!r}{more}"
        return f"Scaled({self.inner!r}, by={shown})"


_SHOWN = 12  # factors, when it is printed


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


def _spelt(by: Any) -> Any:
    """Factors as data that can be compared: a number, `float`, a tuple of them or of pairs."""
    if by is float:
        return by
    refuse_set(by, "the 'by' of Scaled")
    if isinstance(by, Mapping):
        pairs = tuple((label, _checked(f, _of(label))) for label, f in by.items())
        if pairs:
            return pairs
    elif isinstance(by, tuple) and by and isinstance(by[0], tuple):
        return _spelt(dict(by))  # as it spells them itself
    elif isinstance(by, str | bytes) or callable(by) or not hasattr(by, "__len__"):
        return _checked(by, "the 'by' of Scaled, a mapping, a sequence, float or a number,")
    elif len(by):
        return tuple(_checked(value, _of(arm)) for arm, value in enumerate(by))
    raise UnimodalError(f"the 'by' of Scaled must have a factor for every arm, got {by!r}.")


def _of(label: Any) -> str:
    return f"the factor of arm {label!r} of Scaled"


def _checked(value: Any, what: str) -> float:
    if isinstance(value, str) and what.startswith("float("):
        try:
            value = float(value)
        except ValueError:
            value = None
    factor = real_number(value, what, above=0)
    if not 1 / LARGEST_FACTOR <= factor <= LARGEST_FACTOR:
        raise UnimodalError(
            f"{what} must lie between {1 / LARGEST_FACTOR:g} and {LARGEST_FACTOR:g}, got "
            f"{factor:g}: use another unit."
        )
    return factor


def _between(family: Scaled) -> str:
    low, high = family.low * family.factor, family.high * family.factor
    if math.isinf(low):
        return "a finite number"
    return f"at least {low:g}" if math.isinf(high) else f"between {low:g} and {high:g}"


def factors_data(family: Scaled) -> Any:
    """The factors as JSON data: a number, "float", a list, or pairs of a label and a factor."""
    if family.by is float:
        return "float"
    if isinstance(family.by, float):
        return family.by
    return [list(one) if isinstance(one, tuple) else one for one in family.by]


def scaled_from_data(inner: Family, by: Any) -> Scaled:
    """The family of such data."""
    if isinstance(by, list) and by and isinstance(by[0], list):
        return Scaled(inner, {_as_label(label): factor for label, factor in by})
    return Scaled(inner, float if by == "float" else by)


def _as_label(data: Any) -> Any:
    return tuple(map(_as_label, data)) if isinstance(data, list) else data


# What compiled code calls. Rewards and their means as they are told: the inner family's.

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
