"""Policies from beside and after the paper, as further cells of the table of scopes and indices."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from unimodal.errors import UnimodalError
from unimodal.families import Family
from unimodal.families.binary import NO_FAILURE
from unimodal.graphs import Graph
from unimodal.policies.index import EmpiricalDivergence, KLUpperByPulls, Thompson
from unimodal.policies.policy import Policy
from unimodal.policies.remembering import Reweighed
from unimodal.policies.scope import AroundLeastPulled, EveryArm


class IMED(Policy):
    """Indexed minimum empirical divergence, over all arms (Honda and Takemura 2015).

    It pulls the arm with the lowest N·kl(mean, best mean) + log N, where N is its pulls. An arm
    never pulled goes first, so the first K rounds pull each arm once. No parameter, no confidence
    bound, and the same constant as KL-UCB: the sum over all arms of gap/kl.

    >>> IMED()
    IMED()
    """

    summary = "pulls the lowest N·kl(mean, best mean) + log N, over all arms"
    citation = "Honda and Takemura 2015 (JMLR)"

    start: ClassVar[str] = "literal"

    def scope(self, graph: Graph | None) -> Any:
        """Every arm."""
        return EveryArm()

    def index(self) -> Any:
        """IMED."""
        return EmpiricalDivergence()


class IMEDUB(Policy):
    """IMED around the leader, which is never forced (Saber, Ménard and Maillard 2020).

    The leader is the least pulled of the arms with the highest mean (at random, if several are).
    It and its neighbours show N·kl(mean, best mean) + log N; the lowest is pulled.
    `start` is as in UTS.

    >>> IMEDUB(start="probe(8)")
    IMEDUB(start='probe(8)')
    """

    summary = "IMED around the leader, which is never forced"
    citation = "Saber, Ménard and Maillard 2020"

    start: Any = "sweep"

    def scope(self, graph: Graph | None) -> Any:
        """The neighbourhood of the least pulled leader."""
        return AroundLeastPulled()

    def index(self) -> Any:
        """IMED."""
        return EmpiricalDivergence()


class KLUCBUB(Policy):
    """KL-UCB around the leader, which is never forced (Saber, Ménard and Maillard 2020).

    The leader is that of IMEDUB. An arm with N pulls shows the largest mean u with
    N·kl(mean, u) at most log(pulls of the leader) - log N, or its own mean where that is negative;
    the highest is pulled. `start` is as in UTS.

    >>> KLUCBUB(start="literal")
    KLUCBUB(start='literal')
    """

    summary = "KL-UCB around the leader, with budget log(pulls of the leader/own pulls)"
    citation = "Saber, Ménard and Maillard 2020"

    start: Any = "sweep"

    def scope(self, graph: Graph | None) -> Any:
        """The neighbourhood of the least pulled leader; the clock is its pulls."""
        return AroundLeastPulled()

    def index(self) -> Any:
        """KL-UCB with that budget."""
        return KLUpperByPulls()


class NPTS(Policy):
    """Non-parametric Thompson sampling, over all arms, for bounded rewards (Riou and Honda 2020).

    An arm shows a weighted mean of its rewards and of one more at the upper bound, with random
    weights from Dirichlet(1, …, 1); the highest is pulled. It assumes no law but the bound, and has
    the constant of the best policy that does not (for Bernoulli rewards, the sum of gap/kl).

    Of 0s and 1s the weighted mean is a draw from Beta(1 + successes, failures), or 1 before the
    first failure, so that Bernoulli rewards cost no more than in TS. Under `Bounded` every reward
    is kept, and a round draws a weight for each: some 2 s for the first 20,000 rounds.

    >>> NPTS()
    NPTS()
    """

    summary = "Thompson sampling that reweighs the rewards seen and one at the upper bound"
    citation = "Riou and Honda 2020 (ALT)"

    start: ClassVar[str] = "literal"

    def scope(self, graph: Graph | None) -> Any:
        """Every arm."""
        return EveryArm()

    def index(self) -> Any:
        """A reweighed mean."""
        return Reweighed()

    def index_for(self, family: Family) -> Any:
        """The same; where rewards have two values, a Beta draw from their number and sum."""
        if not math.isfinite(family.high):
            raise UnimodalError(
                f"NPTS needs rewards with an upper bound, such as um.Bernoulli() or "
                f"um.Bounded(a, b), got {family!r}: use TS, or give their bounds."
            )
        return Thompson() if family.two_valued else self.index()

    @property
    def beliefs(self) -> Any:
        """One success and no failure, since Dirichlet weights add up to Beta ones."""
        return (1.0, NO_FAILURE)
