"""How regret is counted: from the counts where they tell it, and otherwise round by round."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from unimodal.engines.rewards import piece
from unimodal.kernels.cache_aligned import cache_aligned
from unimodal.kernels.compile import generic, jit
from unimodal.policies import Policy
from unimodal.problems import Moving, Problem


class Ledger(NamedTuple):
    """Regret and pulls by round, for means that change and for policies that forget."""

    begins: Any  # row n of the gaps holds from round begins[n] on
    gaps: Any  # (pieces, arms)
    pulls: Any  # (arms,): so far
    total: Any  # (1,): regret so far


Ledger.component = Ledger  # type: ignore[attr-defined]


def gaps_or_ledger(problem: Problem, policy: Policy) -> Any:
    """What a trial counts regret by: just the gaps if the counts of pulls tell the rest."""
    if isinstance(problem, Moving):
        begins, gaps = problem.begins, problem.gaps_by_piece
    elif policy.forgets:
        begins, gaps = np.ones(1, dtype=np.int64), problem.gaps[None, :]
    else:
        return problem.gaps
    pulls = np.zeros(problem.graph.n_arms, dtype=np.int64)
    return Ledger(begins, gaps, cache_aligned(pulls), cache_aligned(np.zeros(1)))


@generic
def charge(gaps, arm, now):
    """Count the pull of an arm in round `now`."""


@generic
def regret_so_far(gaps, arms):
    """The cumulative pseudo-regret: dynamic, against the best arm of each round."""


@charge.register(object)
def _counts_will_tell(gaps, arm, now):
    pass


@regret_so_far.register(object)
def _from_counts(gaps, arms):
    return pseudo_regret(arms, gaps)


@charge.register(Ledger)
def _charge(gaps, arm, now):
    gaps.pulls[arm] += 1
    gaps.total[0] += gaps.gaps[piece(gaps.begins, now), arm]


@regret_so_far.register(Ledger)
def _read(gaps, arms):
    return gaps.total[0]


@jit
def pseudo_regret(arms, gaps):
    """Σ T_i·(μ* - μ_i): from the counts, so that it does not depend on the order of pulls."""
    total = 0.0
    for arm in range(len(arms)):
        total += arms[arm].pulls * gaps[arm]
    return total
