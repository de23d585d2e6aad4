"""How a policy begins: which arms are pulled before anybody leads."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unimodal.errors import UnimodalError, unknown_name, whole_number
from unimodal.kernels.random import shuffle


@dataclass(frozen=True)
class Start:
    """The arms to pull first, and whether an arm that was never pulled may lead.

    Examples
    --------
    >>> import unimodal as um
    >>> um.UTS(start="probe(8)").opening
    Probe(m=8)
    """

    def order(self, n_arms: int, rng: Any) -> NDArray[np.int64]:
        """The arms to pull first, in that order."""
        return np.empty(0, dtype=np.int64)

    def without(self, order: NDArray[np.int64], known: Any) -> NDArray[np.int64]:
        """The rest of an `order` where some arms are known already: `known` has a flag for each."""
        left: NDArray[np.int64] = order[~known[order]]
        return left

    @property
    def unpulled_mean(self) -> float:
        """What an arm shows before its first reward: -∞, so that it does not lead."""
        return -np.inf


@dataclass(frozen=True)
class Sweep(Start):
    """Each arm once, in random order: what gives the paper's numbers.

    Examples
    --------
    >>> str(Sweep())
    'sweep'
    """

    def order(self, n_arms: int, rng: Any) -> NDArray[np.int64]:
        """All arms, shuffled."""
        arms = np.arange(n_arms)
        shuffle(rng, arms)
        return arms

    def __str__(self) -> str:
        return "sweep"


@dataclass(frozen=True)
class Literal(Start):
    """None: Algorithm 1 as printed, where an arm without rewards has mean 0 and may lead.

    Examples
    --------
    >>> str(Literal())
    'literal'
    """

    @property
    def unpulled_mean(self) -> float:
        """The 0 of the paper's definition of the empirical mean."""
        return 0.0

    def __str__(self) -> str:
        return "literal"


@dataclass(frozen=True)
class Probe(Start):
    """`m` random arms once each, for graphs too large to sweep.

    Parameters
    ----------
    m
        How many arms are pulled.

    Examples
    --------
    >>> str(Probe(8))
    'probe(8)'
    """

    m: int = 8

    def __post_init__(self) -> None:
        whole_number(self.m, "the 'm' of probe(m)")

    def order(self, n_arms: int, rng: Any) -> NDArray[np.int64]:
        """`m` different arms, or all if there are fewer."""
        return Sweep().order(n_arms, rng)[: self.m]

    def without(self, order: NDArray[np.int64], known: Any) -> NDArray[np.int64]:
        """Each arm that is known stands for one of the `m`."""
        return super().without(order, known)[: max(self.m - int(known.sum()), 0)]

    def __str__(self) -> str:
        return f"probe({self.m})"


def as_start(value: Any) -> Start:
    """A start from itself or from its name.

    >>> as_start("probe(4)")
    Probe(m=4)
    """
    if isinstance(value, Start):
        return value
    text = str(value).strip().lower()
    probe = re.fullmatch(r"probe\((\d{1,9})\)", text)
    if probe:
        return Probe(int(probe[1]))
    if text in ("sweep", "literal"):
        return Sweep() if text == "sweep" else Literal()
    if text.startswith("probe"):
        raise UnimodalError(f"a probe is written probe(m), such as 'probe(8)', got {value!r}.")
    raise unknown_name("start", value, ("sweep", "literal", "probe(m)"))
