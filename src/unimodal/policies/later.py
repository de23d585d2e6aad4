"""Policies from beside and after the paper, as further cells of the table of scopes and indices."""

from __future__ import annotations

from typing import Any, ClassVar

from unimodal.graphs import Graph
from unimodal.policies.base import Policy
from unimodal.policies.indices import EmpiricalDivergence, KLUpperByPulls
from unimodal.policies.scopes import AroundLeastPulled, EveryArm


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
