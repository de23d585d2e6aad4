"""How late rewards come, in simulation: `um.simulate(…, delay=um.delays.Exponential(mean=1.0))`."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unimodal.errors import UnimodalError, real_number, unknown_name
from unimodal.graphs import Graph
from unimodal.kernels.compile import inner
from unimodal.kernels.random import exponential, normal, randint

EXPONENTIAL, LOG_NORMAL, FIXED, SAMPLE, IN_ORDER = range(5)


class DelayLaw(NamedTuple):
    """A law of delays, as compiled code has it."""

    kind: int
    scale: Any  # (arms,)
    spread: float
    values: Any  # those that are drawn from, or taken in order
    place: Any  # (1,): how many were taken


@inner
def draw_delay(law, arm, rng):
    """How late a reward of an arm comes."""
    if law.kind == EXPONENTIAL:
        return law.scale[arm] * exponential(rng)
    if law.kind == LOG_NORMAL:
        return law.scale[arm] * math.exp(law.spread * normal(rng))
    if law.kind == SAMPLE:
        return law.values[randint(rng, len(law.values))]
    if law.kind == IN_ORDER:
        law.place[0] += 1
        return law.values[law.place[0] - 1]
    return law.scale[arm]


class Delay(ABC):
    """How late rewards come: a law, for all arms or by arm.

    Examples
    --------
    >>> import unimodal as um
    >>> isinstance(um.delays.Fixed(2.0), Delay)
    True
    """

    @abstractmethod
    def law(self, graph: Graph, rounds: int, seed: tuple[int, ...]) -> DelayLaw:
        """The law for the arms of a graph, for trials of so many rounds."""

    @abstractmethod
    def share_within(self, time: float, graph: Graph) -> NDArray[np.float64]:
        """The share of rewards that are no later than a time, by arm."""

    def to_data(self) -> dict[str, Any]:
        """As plain JSON data: the name of the law and its parameters."""
        numbers = {
            field.name: dict(value) if isinstance(value, Mapping) else np.asarray(value).tolist()
            for field in fields(self)  # type: ignore[arg-type]
            for value in [getattr(self, field.name)]
        }
        return {"law": type(self).__name__, **numbers}


@dataclass(frozen=True)
class Exponential(Delay):
    """Delays of an exponential law.

    Parameters
    ----------
    mean
        The mean delay: one for all arms, or one for each (a mapping from labels, or a list).

    Examples
    --------
    >>> import unimodal as um
    >>> um.delays.Exponential(mean=1.0).share_within(1.0, um.graphs.line(2)).round(3).tolist()
    [0.632, 0.632]
    """

    mean: Any

    def law(self, graph: Graph, rounds: int, seed: tuple[int, ...]) -> DelayLaw:
        """The law for the arms of a graph."""
        return _law(EXPONENTIAL, _by_arm(self.mean, graph, "the 'mean' of Exponential"))

    def share_within(self, time: float, graph: Graph) -> NDArray[np.float64]:
        """1 - exp(-time/mean)."""
        means = _by_arm(self.mean, graph, "the 'mean' of Exponential")
        with np.errstate(divide="ignore"):
            return np.asarray(-np.expm1(-time / means))


@dataclass(frozen=True)
class LogNormal(Delay):
    """Delays whose logarithm is normal.

    Parameters
    ----------
    mean
        The mean delay, as in `Exponential`.
    sigma
        The standard deviation of the logarithm.

    Examples
    --------
    >>> import unimodal as um
    >>> um.delays.LogNormal(mean=2.0).share_within(2.0, um.graphs.line(2)).round(3).tolist()
    [0.691, 0.691]
    """

    mean: Any
    sigma: float = 1.0

    def _medians(self, graph: Graph) -> NDArray[np.float64]:
        sigma = real_number(self.sigma, "the 'sigma' of LogNormal", above=0)
        means = _by_arm(self.mean, graph, "the 'mean' of LogNormal")
        return means * math.exp(-0.5 * sigma * sigma)

    def law(self, graph: Graph, rounds: int, seed: tuple[int, ...]) -> DelayLaw:
        """The law for the arms of a graph."""
        return _law(LOG_NORMAL, self._medians(graph), spread=float(self.sigma))

    def share_within(self, time: float, graph: Graph) -> NDArray[np.float64]:
        """The normal law's share below the logarithm of the time."""
        with np.errstate(divide="ignore"):
            levels = np.log(time / self._medians(graph)) / (self.sigma * math.sqrt(2.0))
        return np.array([0.5 * (1.0 + math.erf(level)) for level in levels.tolist()])


@dataclass(frozen=True)
class Fixed(Delay):
    """Delays that are always the same.

    Parameters
    ----------
    delay
        The delay, for all arms or by arm as in `Exponential`.

    Examples
    --------
    >>> import unimodal as um
    >>> um.delays.Fixed([1.0, 3.0]).share_within(2.0, um.graphs.line(2)).tolist()
    [1.0, 0.0]
    """

    delay: Any

    def law(self, graph: Graph, rounds: int, seed: tuple[int, ...]) -> DelayLaw:
        """The law for the arms of a graph."""
        return _law(FIXED, _by_arm(self.delay, graph, "the 'delay' of Fixed"))

    def share_within(self, time: float, graph: Graph) -> NDArray[np.float64]:
        """All or none."""
        return (_by_arm(self.delay, graph, "the 'delay' of Fixed") < time).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Sample(Delay):
    """Delays drawn from those that were observed, with replacement.

    Parameters
    ----------
    delays
        The delays that were observed.

    Examples
    --------
    >>> import unimodal as um
    >>> um.delays.Sample([0.1, 0.2, 5.0]).share_within(1.0, um.graphs.line(2)).round(3).tolist()
    [0.667, 0.667]
    """

    delays: Any

    def __post_init__(self) -> None:
        found = _checked(self.delays, "the delays of Sample")
        if not len(found):
            raise UnimodalError("the delays of Sample must be at least one, got none.")
        object.__setattr__(self, "delays", found)

    def law(self, graph: Graph, rounds: int, seed: tuple[int, ...]) -> DelayLaw:
        """The law for the arms of a graph."""
        return _law(SAMPLE, np.zeros(graph.n_arms), self.delays)

    def share_within(self, time: float, graph: Graph) -> NDArray[np.float64]:
        """The share of the sample."""
        return np.full(graph.n_arms, float((self.delays < time).mean()))


@dataclass(frozen=True)
class Own(Delay):
    """Delays that a function of yours draws.

    Parameters
    ----------
    draw
        Called with NumPy's random generator and a number of delays, which it returns.

    Examples
    --------
    >>> import unimodal as um
    >>> uniform = um.delays.Own(lambda rng, n: rng.uniform(0, 2, n))
    >>> abs(float(uniform.share_within(1.0, um.graphs.line(2))[0]) - 0.5) < 0.01
    True
    """

    draw: Callable[[np.random.Generator, int], Any]

    def _drawn(self, count: int, seed: tuple[int, ...]) -> NDArray[np.float64]:
        try:
            found = self.draw(np.random.default_rng(seed), count)
        except Exception as error:
            raise UnimodalError(
                f"the function of um.delays.Own must return delays, got {type(error).__name__}: "
                f"{error}."
            ) from error
        found = _checked(found, "what the function of um.delays.Own returns")
        if len(found) != count:
            raise UnimodalError(
                f"the function of um.delays.Own must return as many delays as it is asked for, "
                f"got {len(found)} instead of {count}."
            )
        return found

    def to_data(self) -> dict[str, Any]:
        """Refused: a function is no data."""
        raise UnimodalError(
            "delays that a function of yours draws cannot be saved: give um.delays.Sample of them."
        )

    def law(self, graph: Graph, rounds: int, seed: tuple[int, ...]) -> DelayLaw:
        """The delays of all rounds, in their order."""
        return _law(IN_ORDER, np.zeros(graph.n_arms), self._drawn(rounds, seed))

    def share_within(self, time: float, graph: Graph) -> NDArray[np.float64]:
        """The share of a hundred thousand draws."""
        return np.full(graph.n_arms, float((self._drawn(100_000, (0,)) < time).mean()))


def _law(kind: int, scale: Any, values: Any = (), spread: float = 0.0) -> DelayLaw:
    values = np.array(values, dtype=np.float64)
    return DelayLaw(kind, np.array(scale), spread, values, np.zeros(1, np.int64))


def _by_arm(value: Any, graph: Graph, what: str) -> NDArray[np.float64]:
    """One delay for each arm."""
    if isinstance(value, Mapping):
        missing = [label for label in graph.labels if label not in value]
        if missing:
            raise UnimodalError(f"{what} must have every arm, got none for {missing[0]!r}: add it.")
        value = [value[label] for label in graph.labels]
    found = _checked([value] if np.ndim(value) == 0 else value, what)
    if len(found) not in (1, graph.n_arms):
        raise UnimodalError(
            f"{what} must be one number, or one for each of the {graph.n_arms} arms, "
            f"got {len(found)}."
        )
    return np.array(np.broadcast_to(found, graph.n_arms))


def _checked(delays: Any, what: str) -> NDArray[np.float64]:
    """Delays as an array, or a sentence."""
    try:
        found = np.array(delays, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        found = np.array([math.nan])
    if found.ndim != 1 or not (found >= 0.0).all():
        shown = repr(delays) if len(repr(delays)) < 60 else "others"
        raise UnimodalError(f"{what} must be numbers of at least 0, got {shown}.")
    return found


def delay_from_data(data: dict[str, Any]) -> Delay:
    """The law that `to_data` described."""
    laws: dict[str, Any] = {law.__name__: law for law in (Exponential, LogNormal, Fixed, Sample)}
    numbers = dict(data)
    found: Delay = laws[numbers.pop("law")](**numbers)
    return found


def parse(text: str) -> Delay:
    """A law of one number, as the command line spells it.

    >>> parse("lognormal:2")
    LogNormal(mean=2.0, sigma=1.0)
    """
    laws: dict[str, Any] = {"exponential": Exponential, "lognormal": LogNormal, "fixed": Fixed}
    name, _, number = text.strip().lower().partition(":")
    if name not in laws:
        raise unknown_name("law of delays", name, laws)
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    _checked([value], f"the delay of {name}")
    found: Delay = laws[name](value)
    return found


def as_delay(delay: Any) -> Delay:
    """A law of delays from itself, or from a function of yours."""
    if isinstance(delay, Delay):
        return delay
    if callable(delay):
        return Own(delay)
    raise UnimodalError(
        "the 'delay' must be a law such as um.delays.Exponential(mean=1.0), or a function "
        f"draw(rng, n), got {delay!r}."
    )
