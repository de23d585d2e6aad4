"""When a trial ends before its horizon: a stopping rule, and `Certified`, which is one.

A rule is asked in rounds that it has named beforehand, about pulls and sums of rewards. So a trial
of either engine is exact: it is cut at these rounds, and nothing else depends on the rule.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from unimodal.errors import UnimodalError
from unimodal.inference.certificate import leader_of
from unimodal.inference.peak_test import (
    Numbering,
    check_confidence,
    order_evidence,
    pooled_evidence,
)
from unimodal.kernels.user_code_errors import explained
from unimodal.policies import Policy
from unimodal.problems import Moving, Problem

NOBODY = -1  # in place of an arm, in the arrays of a result

# What a rule answers about pulls and sums of rewards: the arm to end with, or None to go on.
Test = Callable[[Any, Any], "int | None"]


class StoppingRule(Protocol):
    """When a trial ends, and with which arm: what `stop=` of `um.simulate` takes.

    A rule of your own is any object with these two methods; no class needs to be inherited. With an
    `executor`, it must be one that can be pickled.
    """

    def next_look(self, last: int, /) -> int:
        """The round after which the trial is asked next.

        `last` is the round in which it was asked before, 0 at first. The answer may depend on
        nothing else. Whatever it is, a trial is asked at the horizon as well.
        """

    def test(self, problem: Problem, /) -> Test:
        """A function of pulls and sums of rewards by arm that says with which arm the trial ends.

        It returns the number of the arm, or None to go on. Several threads and trials share it, so
        it must keep nothing between calls that changes an answer. What cannot be tested on this
        problem is refused here, by a `UnimodalError`.
        """


@dataclass(frozen=True)
class Certified:
    """End a trial when its leader is certified to be the peak, at a confidence.

    For `um.simulate(…, stop=…)`. The certificate is that of `Agent.certificate` on a graph that is
    held: whatever the policy, a wrong arm is ever certified with probability at most
    1 - `confidence` (docs/theory/certificate.md). The trial is looked at in round 1 and then every
    `n // 100` rounds, at least every round, where n is the round of the look before: 1, 2, …, 200,
    202, 204, …; and at the horizon. These rounds are part of the definition, in both engines.

    It is a stopping rule like one of your own: an object with the methods `next_look` and `test`
    (docs/guide/certificates.md).

    Parameters
    ----------
    confidence
        At which a trial ends.

    Examples
    --------
    >>> Certified(0.99)
    Certified(confidence=0.99)
    >>> rule = Certified(0.99)
    >>> rule.next_look(0), rule.next_look(1), rule.next_look(200), rule.next_look(1000)
    (1, 2, 202, 1010)
    """

    confidence: float = 0.95

    def __post_init__(self) -> None:
        object.__setattr__(self, "confidence", check_confidence(self.confidence))

    def __str__(self) -> str:
        return f"certified at {100 * self.confidence:.12g} %"

    def next_look(self, last: int, /) -> int:
        """The round of the look after the one in round `last`: a hundredth of it later."""
        return next_look(last)

    def test(self, problem: Problem, /) -> Test:
        """The certificate's question, for this problem's family and graph."""
        return PeakTest(problem, self)

    def to_data(self) -> dict[str, Any]:
        """The rule as plain JSON data."""
        return {"certified": self.confidence}


def next_look(last: int) -> int:
    """The round of the look after the one in round `last`: a hundredth of it later."""
    return last + max(last // 100, 1)


# Rules that files name, by the only key of their data.
_RULES: dict[str, Callable[[Any], StoppingRule]] = {"certified": Certified}
_OWN = "own"


def to_data(rule: StoppingRule) -> dict[str, Any]:
    """A rule as plain data: of a rule of a user's own, only how it prints."""
    return rule.to_data() if isinstance(rule, Certified) else {_OWN: _name(rule)}


def from_data(data: Any, own: StoppingRule | None) -> StoppingRule:
    """The rule that `to_data` described; `own` is the one that was passed again."""
    if not isinstance(data, dict) or len(data) != 1 or not {_OWN, *_RULES}.issuperset(data):
        raise ValueError("another rule for stopping")
    ((key, value),) = data.items()
    if key != _OWN:
        return _RULES[key](value)
    if own is None or _name(own) != value:
        got = "none" if own is None else _name(own)
        raise UnimodalError(
            f"the result was stopped by {value}, a rule of your own: pass the same one as 'stop' "
            f"of load, got {got}."
        )
    return own


def _name(rule: StoppingRule) -> str:
    """How a rule prints, or its class where that is an address in memory."""
    printed = repr(rule)
    return type(rule).__name__ if " object at 0x" in printed else printed


def check_stop(stop: Any, problem: Problem, policies: list[Policy]) -> None:
    """Refuse what is no rule, and what no rule can be asked about."""
    is_class = isinstance(stop, type)
    if is_class or not all(callable(getattr(stop, name, None)) for name in ("next_look", "test")):
        raise UnimodalError(
            "the 'stop' parameter of simulate must be um.Certified(0.95) or another object with "
            f"the methods next_look(last) and test(problem), got {stop!r} instead."
        )
    if isinstance(problem, Moving):
        raise UnimodalError(
            "a stopping rule ends with an arm, and with means that move none stays the best, got a "
            "moving problem: leave out 'stop'."
        )
    for policy in policies:
        if policy.forgets:
            raise UnimodalError(
                f"a stopping rule counts every reward, and {policy.name} forgets some: leave out "
                "'stop', or take the policy that it wraps."
            )
    StopTest(stop, problem)  # or says why it cannot be asked


class StopTest:
    """A stopping rule on one problem; what it answers is checked, what it raises is a sentence."""

    def __init__(self, rule: StoppingRule, problem: Problem) -> None:
        self._rule, self._arms = rule, problem.graph.n_arms
        self._whose = type(rule).__name__
        methods: dict[str, tuple[Callable[..., Any], str]] = {
            f"the next_look of {self._whose}": (rule.next_look, "next_look(last)"),
            f"the test of {self._whose}": (rule.test, "test(problem)"),
        }
        self._own = {name: own for name, own in methods.items() if hasattr(own[0], "__code__")}
        with explained(self._own):
            self._test = rule.test(problem)
        if not callable(self._test):
            raise self._mistake("test", "return a function of pulls and sums", self._test)
        call = self._test if hasattr(self._test, "__code__") else type(self._test).__call__
        if hasattr(call, "__code__"):
            name = f"the function that the test of {self._whose} returned"
            takes = "(pulls, sums)" if call is self._test else "__call__(self, pulls, sums)"
            self._own[name] = (call, takes)

    def next_look(self, last: int) -> int:
        """The round in which the rule is asked next."""
        with explained(self._own):
            found = self._rule.next_look(last)
        number = _whole(found)
        if number is None or number <= last:
            raise self._mistake("next_look", f"return a round after {last:,}", found)
        return number

    def arm(self, pulls: Any, totals: Any) -> int:
        """The arm with which the trial ends, or `NOBODY`."""
        with explained(self._own):
            found = self._test(_to_read(pulls), _to_read(totals))
        if found is None:
            return NOBODY
        number = _whole(found)
        if number is None or not 0 <= number < self._arms:
            wanted = f"return a function that answers None or an arm from 0 to {self._arms - 1}"
            raise self._mistake("test", wanted, found)
        return number

    def _mistake(self, method: str, wanted: str, found: object) -> UnimodalError:
        return UnimodalError(f"{self._whose}.{method} must {wanted}, got {found!r} instead.")


def _whole(value: Any) -> int | None:
    """A whole number, of NumPy's as well; None for all else."""
    if isinstance(value, bool | np.bool_):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def _to_read(values: Any) -> Any:
    """The same numbers, which nobody can write to by this name."""
    view = values.view()
    view.flags.writeable = False
    return view


class PeakTest:
    """Asks the certificate's question of the arms of one problem, again and again."""

    def __init__(self, problem: Problem, stop: Certified) -> None:
        graph = problem.graph
        problem.family.of_arms(graph.labels).told.log_evidence(  # or says why it has none
            problem.family.told.default_prior[0], np.ones(1), np.ones(1)
        )
        self._graph, self._family = graph, problem.family.of_arms(graph.labels)
        self._worths = np.asarray(self._family.worth(np.ones(graph.n_arms)))
        self._numbering = Numbering(graph.n_arms)
        self._log_error = math.log1p(-stop.confidence)
        self._asked: dict[int, tuple[Any, Any, Any]] = {}  # of every arm that has led

    def __call__(self, pulls: Any, totals: Any) -> int | None:
        """The arm that these rewards certify to be the peak, or None."""
        found = self.certified(pulls, totals)
        return None if found == NOBODY else found

    def certified(self, pulls: Any, totals: Any) -> int:
        """The arm that these rewards certify to be the peak, or `NOBODY`."""
        leader = leader_of(self._family, pulls, totals)
        if leader < 0:
            return NOBODY
        if leader not in self._asked:
            self._asked[leader] = self._question(leader)
        pairs, worths, asked = self._asked[leader]
        # The exact evidence takes a hundred times as long as what it cannot exceed.
        counted = (pulls[pairs].astype(np.float64), totals[pairs])
        if (pooled_evidence(self._family.told, worths, *counted) < asked).any():
            return NOBODY
        found = order_evidence(self._family, pulls, totals, leader, pairs[1])
        return NOBODY if (found < asked).any() else leader

    def _question(self, leader: int) -> tuple[Any, Any, Any]:
        """The pairs of an arm with its neighbours, what rewards are worth, the evidence asked."""
        near = self._graph.neighbors(leader)
        pairs = np.stack([np.full(len(near), leader), near])
        asked = self._numbering.pair_costs(leader, near) - self._log_error
        return pairs, self._worths[pairs], asked
