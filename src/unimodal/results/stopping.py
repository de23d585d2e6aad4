"""When a trial ends before its horizon: once its leader is certified to be the peak."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from unimodal.errors import UnimodalError
from unimodal.inference.certificate import leader_of
from unimodal.inference.peak_test import (
    Numbering,
    check_confidence,
    order_evidence,
    pooled_evidence,
)
from unimodal.policies import Policy
from unimodal.problems import Moving, Problem

NOBODY = -1  # in place of a certified arm


@dataclass(frozen=True)
class Certified:
    """End a trial when its leader is certified to be the peak, at a confidence.

    For `um.simulate(…, stop=…)`. The certificate is that of `Agent.certificate` on a graph that is
    held: whatever the policy, a wrong arm is ever certified with probability at most
    1 - `confidence` (docs/theory/certificate.md). The trial is looked at in round 1 and then every
    `n // 100` rounds, at least every round, where n is the round of the look before: 1, 2, …, 200,
    202, 204, …; and at the horizon. These rounds are part of the definition, in both engines.

    Parameters
    ----------
    confidence
        At which a trial ends.

    Examples
    --------
    >>> Certified(0.99)
    Certified(confidence=0.99)
    >>> next_look(1), next_look(199), next_look(200), next_look(1000)
    (2, 200, 202, 1010)
    """

    confidence: float = 0.95

    def __post_init__(self) -> None:
        object.__setattr__(self, "confidence", check_confidence(self.confidence))

    def to_data(self) -> dict[str, Any]:
        """The rule as plain JSON data."""
        return {"certified": self.confidence}

    @classmethod
    def from_data(cls, data: Any) -> Certified:
        """The rule that `to_data` described."""
        if not isinstance(data, dict) or set(data) != {"certified"}:
            raise ValueError("another rule for stopping")
        return cls(data["certified"])


def next_look(last: int) -> int:
    """The round of the look after the one in round `last`: a hundredth of it later."""
    return last + max(last // 100, 1)


def check_stop(stop: Any, problem: Problem, policies: list[Policy]) -> None:
    """Refuse what a certificate cannot be about."""
    if not isinstance(stop, Certified):
        raise UnimodalError(f"the 'stop' must be a rule such as um.Certified(0.95), got {stop!r}.")
    if isinstance(problem, Moving):
        raise UnimodalError(
            "a certificate holds for means that do not change, got a moving problem: leave out "
            "'stop'."
        )
    for policy in policies:
        if policy.forgets:
            raise UnimodalError(
                f"a certificate counts every reward, and {policy.name} forgets some: leave out "
                "'stop', or take the policy that it wraps."
            )
    problem.family.of_arms(problem.graph.labels).told.log_evidence(  # or says why it has none
        problem.family.told.default_prior[0], np.ones(1), np.ones(1)
    )


class PeakTest:
    """Asks the certificate's question of the arms of one problem, again and again."""

    def __init__(self, problem: Problem, stop: Certified) -> None:
        graph = problem.graph
        self._graph, self._family = graph, problem.family.of_arms(graph.labels)
        self._worths = np.asarray(self._family.worth(np.ones(graph.n_arms)))
        self._numbering = Numbering(graph.n_arms)
        self._log_error = math.log1p(-stop.confidence)
        self._asked: dict[int, tuple[Any, Any, Any]] = {}  # of every arm that has led

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
