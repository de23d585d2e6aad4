"""The paper's four algorithms: two scopes times two indices."""

from __future__ import annotations

from typing import Any, ClassVar

from unimodal.errors import LONGEST, UnimodalError, not_negative, whole_number
from unimodal.families import Family
from unimodal.graphs import Graph
from unimodal.policies.index import KLUpper, Thompson
from unimodal.policies.policy import Policy, checked_prior, checked_prior_leads
from unimodal.policies.scope import AroundLeader, AroundLeaderByPrior, EveryArm, Scope, lowest_tie


class TS(Policy):
    """Thompson sampling over all arms; it knows nothing of the graph.

    `prior` is the paper's {π_i}: one pair for all arms or one for each (see the reward family for
    what the two numbers mean; Beta(1, 1) for Bernoulli rewards). There is no start: the prior
    explores.

    Parameters
    ----------
    prior
        One pair for all arms, or one for each.
    name
        What results call it; its class and parameters by default.

    Examples
    --------
    >>> TS(prior=(0.5, 0.5))
    TS(prior=(0.5, 0.5))
    """

    summary = "draws a mean for every arm from its posterior and pulls the highest"
    citation = "Thompson 1933; Kaufmann, Korda and Munos 2012"

    prior: Any = None
    start: ClassVar[str] = "literal"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("prior", checked_prior(self.prior))

    def scope(self, graph: Graph | None) -> Scope:
        """Every arm."""
        return EveryArm()

    def index(self) -> object:
        """A posterior draw."""
        return Thompson()


class KLUCB(Policy):
    """KL-UCB over all arms; it knows nothing of the graph.

    The budget of round t is f(t) = log t + c·log(max(log t, 1)). An arm never pulled has an
    infinite index, so the first K rounds pull each arm once.

    Parameters
    ----------
    c
        The weight of the log log term in the budget.
    name
        What results call it; its class and parameters by default.

    Examples
    --------
    >>> KLUCB(c=0)
    KLUCB(c=0.0)
    """

    summary = "pulls the highest upper confidence bound in divergence, over all arms"
    citation = "Garivier and Cappé 2011"

    c: float = 3.0
    start: ClassVar[str] = "literal"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("c", not_negative(self.c, "the 'c' of KLUCB"))

    def scope(self, graph: Graph | None) -> Scope:
        """Every arm; the clock is t."""
        return EveryArm()

    def index(self) -> object:
        """KL-UCB."""
        return KLUpper(self.c)


class UTS(Policy):
    """Unimodal Thompson sampling: Algorithm 1 of Paladino, Trovò, Restelli and Gatti 2017.

    Thompson sampling among the leader and its neighbours, except that the leader is pulled whenever
    the number of its earlier leads is a multiple of `period`: "degree" for |N⁺(leader)|, the
    paper's, or a whole number of at least 2 (Trinh, Kaufmann, Vernade and Combes 2020).
    `start="sweep"` pulls each arm once first, which is what gives the paper's numbers; "literal" is
    Algorithm 1 as printed; "probe(m)" pulls m random arms. `ties` says which of several leaders
    leads: one at "random", redrawn every round, or the "lowest".

    `prior` is as in TS. Where arms have priors of their own, an informative one (worth at least one
    reward more than the family's default) counts for the lead, which then goes by the posterior
    mean, and its arm is not swept. `prior_leads=False` leaves priors to the posterior draws.

    Parameters
    ----------
    prior
        One pair for all arms, or one for each.
    period
        How often a leader is pulled without a contest.
    start
        "sweep", "literal" or "probe(m)".
    ties
        "random" or "lowest".
    prior_leads
        Whether informative priors count for the lead.
    name
        What results call it; its class and parameters by default.

    Examples
    --------
    >>> UTS(period=2, start="probe(8)")
    UTS(period=2, start='probe(8)')
    """

    summary = "Thompson sampling around the leader, which is pulled every |N⁺| (or period) leads"
    citation = (
        "Paladino, Trovò, Restelli and Gatti 2017 (AAAI); "
        "a fixed period: Trinh, Kaufmann, Vernade and Combes 2020 (ALT)"
    )

    prior: Any = None
    period: int | str = "degree"
    start: Any = "sweep"
    ties: str = "random"
    prior_leads: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("prior", checked_prior(self.prior))
        self._set("prior_leads", checked_prior_leads(self))
        lowest_tie(self.ties)
        if not isinstance(self.period, str) or self.period != "degree":
            what = "the 'period' of UTS, unless it is 'degree',"
            self._set("period", whole_number(self.period, what, 2, LONGEST))

    def scope(self, graph: Graph | None) -> Scope:
        """The leader's neighbourhood."""
        period = 0 if isinstance(self.period, str) else self.period
        return AroundLeader(period, lowest_tie(self.ties))

    def scope_for(self, graph: Graph | None, family: Family) -> Scope:
        """The same; led by posterior means where priors count."""
        scope = self.scope(graph)
        if type(scope) is AroundLeader and self.is_led_by_prior(graph, family):
            return AroundLeaderByPrior(scope.period, scope.lowest, family.informative_from)
        return scope

    def index(self) -> object:
        """A posterior draw."""
        return Thompson()


class OSUB(Policy):
    """Optimal sampling for unimodal bandits (Combes and Proutiere 2014).

    KL-UCB among the leader and its neighbours, with the number of times the leader has led as the
    clock; the leader is pulled on every (γ + 1)-th of its leads, where γ is the largest degree of
    the graph. Where the graph is known only by look-ups, give γ as `max_degree`. The budget is f
    of KLUCB: c = 3 gives the paper's numbers; c = 0 leaves out the log log term and explores less.

    Parameters
    ----------
    c
        The weight of the log log term in the budget.
    start
        As in UTS.
    ties
        As in UTS.
    max_degree
        γ, where the graph is known only by look-up.
    name
        What results call it; its class and parameters by default.

    Examples
    --------
    >>> OSUB(c=0, start="literal")
    OSUB(c=0.0, start='literal')
    """

    summary = "KL-UCB around the leader, which is pulled every γ + 1 leads"
    citation = "Combes and Proutiere 2014 (ICML)"

    c: float = 3.0
    start: Any = "sweep"
    ties: str = "random"
    max_degree: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("c", not_negative(self.c, "the 'c' of OSUB"))
        lowest_tie(self.ties)
        if self.max_degree is not None:
            what = "the 'max_degree' of OSUB"
            self._set("max_degree", whole_number(self.max_degree, what, at_most=LONGEST))

    def scope(self, graph: Graph | None) -> Scope:
        """The leader's neighbourhood; the clock is the number of its leads."""
        degree = self.max_degree if graph is None else self.max_degree or graph.max_degree
        if degree is None:
            raise UnimodalError(
                "OSUB needs the largest degree of the graph, which look-ups cannot tell: "
                "give OSUB(max_degree=…), or take UTS, which needs none."
            )
        return AroundLeader(degree + 1, lowest_tie(self.ties))

    def index(self) -> object:
        """KL-UCB."""
        return KLUpper(self.c)
