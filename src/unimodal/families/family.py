"""What a reward family is: its checks for people, and the functions compiled code calls.

A policy never asks which family it has; it calls the functions below, which are chosen by the
family's type when a kernel is compiled. The divergences of this package's families are those of
one-parameter exponential families, kl(p, q) = negentropy(p) - p·θ(q) + A(q), which lets a scan over
thousands of arms do without one logarithm per arm.

Each family registers its functions in its own file: those here, those in `unsaturated_scale.py`
where its levels are not its means, and those in `leaping.py` for the leap engine. A user's family
has methods instead; `own.py` registers them.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

import dataclasses
import math
import types
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, ClassVar, Protocol, dataclass_transform

import numpy as np
from numpy.typing import NDArray

from unimodal.errors import UnimodalError, real_number
from unimodal.kernels.compile import attach_record, generic, jit, record
from unimodal.kernels.user_code_errors import explained

_PRIOR = [("prior_a", np.float64), ("prior_b", np.float64)]
Numbers = float | NDArray[np.float64]
_TEXT = (str, bytes, bytearray)  # float would read them
LARGEST = 1e100  # of a reward: sums of many, and their squares, stay finite
ROUNDING = 1e-9  # relative, of sums of many rewards
SMALLEST = 1e-50  # of a scale: what is divided by its square stays finite, too


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
@dataclasses.dataclass(frozen=True, repr=False)
class Family:
    """How rewards are drawn, how far apart two means are, what is believed after some rewards.

    To write your own, subclass it and define these methods:

    - `draw(self, mean, rng)`: a reward of an arm with this mean, drawn with `unimodal.random`;
    - `divergence(self, p, q)`: the Kullback-Leibler divergence from mean p to mean q;
    - `posterior(self, arm, rng)`, for Thompson sampling: a draw from the posterior of a mean. `arm`
      has `pulls` and `total`, the number and the sum of its rewards, and `prior_a` and `prior_b`.

    Annotated fields become parameters, as in a dataclass; in the methods, `self` has those that are
    numbers, and `low` and `high`. Set `compiled = True` if the methods keep to what Numba compiles;
    by default they run as plain Python. Set `low` and `high` to the lowest and the highest reward,
    and `default_prior` to the pair that an arm's prior is by default. `upper(self, p, budget)` is
    found from the divergence by default. `docs/guide/your-own-family.md` has more, and
    `unimodal.testing.check_family` checks it all.

    >>> import math
    >>> import unimodal as um
    >>> class Laplace(um.Family):
    ...     "Laplace rewards with a known scale."
    ...
    ...     scale: float = 1.0
    ...
    ...     def draw(self, mean, rng):
    ...         side = 1.0 if um.random.uniform(rng) < 0.5 else -1.0
    ...         return mean + side * self.scale * um.random.exponential(rng)
    ...
    ...     def divergence(self, p, q):
    ...         apart = abs(p - q) / self.scale
    ...         return apart + math.expm1(-apart)
    >>> Laplace(scale=2.0)
    Laplace(scale=2.0)
    >>> round(Laplace().upper(0.0, budget=1.0), 6)
    1.841406
    """

    # A prior is two numbers per arm; what they mean differs by family.
    prior_names: ClassVar[tuple[str, str]] = ("prior_a", "prior_b")
    # Rewards and means lie in [low, high].
    low: ClassVar[float] = -math.inf
    high: ClassVar[float] = math.inf
    largest_mean: ClassVar[float] = LARGEST
    # Whether rewards are one of these two, so that their number and sum tell all of them.
    two_valued: ClassVar[bool] = False
    # Whether rewards of which some are 0 instead are of the family as well: see `check_expiry`.
    takes_zeros: ClassVar[bool] = False
    # What compiled code has of it: a named tuple of its numbers.
    Record: ClassVar[Any]
    # Whether Numba compiles the methods of a user's family.
    compiled: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        dataclasses.dataclass(frozen=True, repr=False)(cls)
        if cls.__module__.startswith("unimodal.") and not METHODS.keys() & _functions(cls):
            attach_record(cls)
        else:
            from unimodal.families.own import adopt

            adopt(cls)

    def __getstate__(self) -> dict[str, Any]:
        return dict(vars(self))  # not None where there are no parameters: `__setstate__` is called

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if self.is_own:
            from unimodal.families.own import adopt_received

            adopt_received(type(self))

    @property
    def name(self) -> str:
        """The family's name, as the command line spells it."""
        return type(self).__name__.lower()

    @property
    def is_plain(self) -> bool:
        """Whether rewards are drawn by plain Python, which is slow."""
        return self.is_own and not self.compiled

    @property
    def is_own(self) -> bool:
        """Whether it is a user's, so that nothing here can vouch for how rewards are drawn."""
        return hasattr(self, "_own_methods")

    @property
    def own_functions(self) -> dict[str, tuple[Callable[..., Any], str]]:
        """The functions of a user's that it calls, for `kernels.user_code_errors.explained`."""
        return dict(getattr(self, "_own_methods", {}))

    def require(self, *functions: Any) -> None:
        """Refuse a family that has none of its own of a function below, such as `posterior`."""
        for function in functions:
            if not self.has(function):
                name = function.__name__
                raise UnimodalError(
                    f"{type(self).__name__} must have a method {METHODS[name]} here: define it, or "
                    f"take a policy that does without ({NEEDED_BY[name]})."
                )

    def has(self, function: Any) -> bool:
        """Whether it has a function below, such as `posterior`, of its own."""
        return bool(set(type(self).__mro__[:-1]) - {Family} & set(function.registry))

    # Arms may differ in what a reward is worth: see `scaled.py`. Of other families nothing here
    # depends on the arm.

    @property
    def told(self) -> Family:
        """The family of rewards as they are told."""
        return self

    @property
    def labels(self) -> Sequence[Hashable]:
        """The labels of arms of which it says something."""
        return ()

    def on(self, graph: Any, strict: bool = True) -> Family:
        """The family for the arms of a graph (None: one known by look-up), which it must fit.

        If not `strict`, what it says of arms is only spelt by the labels of the graph.
        """
        return self

    def factors(self, labels: Iterable[Hashable]) -> Numbers:
        """What a reward of each arm is worth, as a multiple of what is told."""
        return 1.0

    def of_arm(self, label: Hashable) -> Family:
        """The family for one arm."""
        return self

    def of_arms(self, labels: Iterable[Hashable]) -> ArmsFamily:
        """The family for many arms at once: evidence and ranges in money, one for each arm.

        >>> import unimodal as um
        >>> um.Bernoulli().of_arms([0, 1, 2]).high
        1.0
        >>> um.Scaled(um.Bernoulli(), by=[5, 10, 20]).on(um.graphs.line(3)).of_arms([0, 2]).high
        array([ 5., 20.])
        """
        return self

    def worth(self, rewards: Numbers) -> Numbers:
        """What rewards, or their means, are worth: those that are told, or their multiples."""
        return rewards

    def told_means(self, means: NDArray[np.float64]) -> NDArray[np.float64]:
        """The means of what is told, for means of what it is worth."""
        return means

    @property
    def default_prior(self) -> tuple[float, float]:
        """The prior of every arm where the policy has none of its own."""
        return (1.0, 1.0)

    def check_prior(self, first: Any, second: Any) -> None:
        """Refuse a prior that is not a distribution: two columns, one row per arm."""
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

    def check_total(self, count: int, total: Any) -> float:
        """Return the sum of so many rewards as a float, or refuse one that they cannot have."""
        value = real_number(total, f"the total of {count:,} rewards")
        low, high = (count * max(min(end, LARGEST), -LARGEST) for end in (self.low, self.high))
        slack = ROUNDING * max(abs(value), 1.0) if count else 0.0  # sums are rounded
        if not low - slack <= value <= high + slack:
            raise UnimodalError(
                f"the total of {count:,} rewards of {self!r} must be between {low:g} and {high:g}, "
                f"got {total!r}."
            )
        return min(max(value, low), high)

    def expected_successes(self, count: float, total: float) -> float:
        """How many coins of the Bernoulli trick so many rewards win on average: see `Bounded`."""
        return 0.0

    @property
    def informative_from(self) -> float:
        """How many rewards a prior must be worth to count as knowledge: one more than by default.

        One, since that is what a sweep would learn of an arm.
        """
        return 1.0 + float(prior_worths(self, [self.default_prior])[0, 0])

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
        self.require(divergence)
        with explained(self.own_functions):
            return float(divergence(record(self), self._mean(p), self._other_mean(q)))

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
        self.require(divergence)
        with explained(self.own_functions):
            return float(self.worth(upper(record(self), self._mean(p), number)))

    def sample(self, mean: float, rng: Any) -> float:
        """A reward of an arm with this mean, from a stream of `unimodal.random`."""
        self.require(draw)
        with explained(self.own_functions):
            return float(draw(record(self), self._mean(mean), rng))

    # Distributions and evidence, in NumPy: `arms` are records with `pulls`, `total` and the like as
    # attributes, one or many; whatever is given may be an array.

    def posterior_cdf(self, arms: Any, level: Any) -> NDArray[np.float64]:
        """The probability that a mean is at most `level`, given an arm's rewards.

        With `posterior_quantile` it is what propensities and intervals need of a family; without
        them, `Decision.propensity` is None.
        """
        raise self._has_no("posterior_cdf(self, arms, level)", "posteriors are known")

    def posterior_quantile(self, arms: Any, share: Any) -> NDArray[np.float64]:
        """The level that a mean is below with probability `share`, given an arm's rewards."""
        raise self._has_no("posterior_quantile(self, arms, share)", "posteriors are known")

    def posterior_at_top(self, arms: Any) -> NDArray[np.float64]:
        """The probability that a posterior draw is the top of the range, as floats go."""
        return np.zeros(np.shape(arms))

    def log_evidence(self, mean: Any, pulls: Any, total: Any) -> NDArray[np.float64]:
        """The logarithm of M: how much an arm's rewards speak against this mean.

        M must be a non-negative supermartingale that starts at 1 if this is the arm's mean, as in
        `inference/confidence_bounds.py`, and grow with the distance from the empirical mean.
        """
        raise self._has_no("log_evidence(self, mean, pulls, total)", "bounds on means are known")

    def log_likelihood(self, mean: Any, pulls: Any, total: Any) -> NDArray[np.float64]:
        """The logarithm of the likelihood of an arm's rewards at this mean, but for a constant.

        Where a family has it beside `log_evidence`, past data are read given one peak.
        """
        raise self._has_no("log_likelihood(self, mean, pulls, total)", "likelihoods are known")

    def log_vague_prior(self, mean: Any) -> NDArray[np.float64]:
        """The logarithm of a prior density of means of which nothing is known: flat, by default."""
        return np.zeros(np.shape(mean))

    def _has_no(self, method: str, known: str) -> UnimodalError:
        from unimodal.families import FAMILIES

        *names, last = sorted(cls.__name__ for cls in FAMILIES.values())
        return UnimodalError(
            f"{known} for {', '.join(names)} and {last} rewards, got {self!r}: define {method}, or "
            "take the nearest of these; Bounded is safe for whatever has a lowest and a highest "
            "reward."
        )

    def __repr__(self) -> str:
        numbers = (f"{f.name}={getattr(self, f.name)!r}" for f in dataclasses.fields(self))
        return f"{type(self).__name__}({', '.join(numbers)})"

    def _mean(self, value: float) -> float:
        mean = real_number(value, f"a mean of {self!r}")
        if not self.low <= mean <= self.high or math.isinf(mean):
            raise UnimodalError(f"a mean of {self!r} must be {self._interval()}, got {value!r}.")
        return mean

    def _other_mean(self, value: float) -> float:
        """A mean to compare with, which an arm of the family need not have."""
        return self._mean(value)


class ArmsFamily(Protocol):
    """What `Family.of_arms` gives: numbers for all arms, or arrays with one for each."""

    @property
    def told(self) -> Family:
        """The family of rewards as they are told."""

    @property
    def low(self) -> Numbers:
        """The lowest mean that an arm can have."""

    @property
    def high(self) -> Numbers:
        """The highest mean that an arm can have."""

    def worth(self, rewards: Numbers) -> Numbers:
        """What rewards of each arm, or their means, are worth."""

    def told_means(self, means: NDArray[np.float64]) -> NDArray[np.float64]:
        """The means of what is told, for means of what it is worth."""

    def check_means(self, means: Any) -> None:
        """Refuse a mean that no arm has."""

    def log_evidence(self, mean: Any, pulls: Any, total: Any) -> NDArray[np.float64]:
        """How much rewards, as they were told, speak against a mean."""


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


@generic
def prior_worth(family, arm):
    """How many rewards the prior of an arm is worth, and their sum: (0, 0) if nobody knows."""


@prior_worth.register(Family)
def no_prior_worth(family, arm):
    """Nobody knows what the two numbers of a user's family mean."""
    return 0.0, 0.0


def prior_worths(family: Family, prior: Any) -> NDArray[np.float64]:
    """How many rewards each of several priors is worth, and their sums: two rows.

    >>> from unimodal import Bernoulli
    >>> prior_worths(Bernoulli(), [(3.0, 7.0)]).tolist()
    [[10.0], [3.0]]
    """
    pairs = np.array([tuple(map(float, pair)) for pair in prior], _PRIOR).view(np.recarray)
    known, family = prior_worth.registry, family.told
    worth = next(known[cls] for cls in type(family).__mro__ if cls in known)
    with np.errstate(all="ignore"):  # a prior that is none is refused elsewhere
        found = worth(record(family), pairs)
    return np.array(np.broadcast_arrays(*found, pairs.prior_a)[:2], dtype=np.float64)


def _functions(cls: type) -> set[str]:
    """The names of the methods that a class defines itself."""
    return {name for name, value in cls.__dict__.items() if isinstance(value, types.FunctionType)}


# Where a reward is worth a known multiple of what is told (`scaled.py`); 1 by default. Whatever is
# above speaks of rewards as they are told, except a posterior draw, which is worth something.


@generic
def earned(family, arm, reward):
    """What a reward of an arm is worth."""


@generic
def told(family, arm, worth):
    """The reward of an arm that is worth so much."""


@generic
def of_arm(family, arm):
    """The family as `unsaturated_scale.py` needs it for the rewards of this arm."""


@earned.register(object)
def _itself(family, arm, reward):
    return reward


@told.register(object)
def _the_same(family, arm, worth):
    return worth


@of_arm.register(object)
def _for_all_arms(family, arm):
    return family


# The methods of a user's family, as they should be written, and what each is needed by.
METHODS = {
    "draw": "draw(self, mean, rng)",
    "divergence": "divergence(self, p, q)",
    "posterior": "posterior(self, arm, rng)",
    "upper": "upper(self, p, budget)",
}
NEEDED_BY = {
    "draw": "all of simulate needs it",
    "divergence": "confidence bounds and IMED need it",
    "posterior": "Thompson sampling needs it, as in UTS and TS; OSUB and KLUCB do not",
}


@jit
def log_ratio(x, y):
    """log(x/y), to full precision where the two are close as well as where they are not."""
    difference = (x - y) / y
    return math.log1p(difference) if abs(difference) < 0.5 else math.log(x / y)


def learn_total(family, arms, arm, reward, rng):
    """Count the pull and add the reward: all that most families need."""
    arms[arm].pulls += 1
    arms[arm].total += reward


learn.register(Family)(learn_total)
