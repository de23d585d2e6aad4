"""KL-UCB around the leader, which is never forced."""

from __future__ import annotations

from typing import Any

from unimodal.graphs import Graph
from unimodal.kernels.compile import component
from unimodal.policies.index import ByPulls, contest, highest_bound
from unimodal.policies.policy import Policy
from unimodal.policies.scope import AroundLeastPulled, Scope


class KLUCBUB(Policy):
    """KL-UCB around the leader, which is never forced (Saber, Ménard and Maillard 2020).

    The leader is that of IMEDUB. An arm with N pulls shows the largest mean u with
    N·kl(mean, u) at most log(pulls of the leader) - log N, or its own mean where that is negative;
    the highest is pulled. `start` is as in UTS.

    Parameters
    ----------
    start
        As in UTS.
    name
        What results call it; its class and parameters by default.

    Examples
    --------
    >>> KLUCBUB(start="literal")
    KLUCBUB(start='literal')
    """

    summary = "KL-UCB around the leader, with budget log(pulls of the leader/own pulls)"
    citation = "Saber, Ménard and Maillard 2020"

    start: Any = "sweep"

    def scope(self, graph: Graph | None) -> Scope:
        """The neighbourhood of the least pulled leader; the clock is its pulls."""
        return AroundLeastPulled()

    def index(self) -> object:
        """KL-UCB with that budget."""
        return KLUpperByPulls()


@component
class KLUpperByPulls(ByPulls):
    """The largest mean within that budget, as in KL-UCB (Saber, Ménard and Maillard 2020)."""


contest.register(KLUpperByPulls)(highest_bound)
