"""Which engine may play what: asked of scope, index, family and problem in this one place."""

from __future__ import annotations

from typing import Any

from unimodal.families import Family
from unimodal.families.family import divergence, draw, learn, negentropy, posterior
from unimodal.families.leaping import gather, hat, outlook, under_hat, worst
from unimodal.families.unsaturated_scale import linear_form
from unimodal.policies import AroundLeader, AroundLeastPulled, EveryArm, Policy
from unimodal.policies.imed import EmpiricalDivergence
from unimodal.policies.index import Budgeted, KLUpper, Thompson
from unimodal.policies.klucb_ub import KLUpperByPulls
from unimodal.policies.peak import (
    AroundLikelyPeak,
    AroundLikelyPeakByPrior,
    AroundLinked,
    AroundLinkedByPrior,
)
from unimodal.policies.scope import AroundLeaderByPrior
from unimodal.policies.scout import Scout, ScoutByPrior
from unimodal.problems import Moving, Problem, Recorded

# What docs/decisions/0006-leaping.md proves something about: these classes, and not subclasses of
# them, which may override what the proof is about.
_SCOPES = (EveryArm, AroundLeader, AroundLeastPulled, Scout, AroundLinked, AroundLikelyPeak)
_BY_PRIOR = (
    AroundLeaderByPrior, ScoutByPrior, AroundLinkedByPrior, AroundLikelyPeakByPrior,
)  # fmt: skip
_INDICES = (Thompson, KLUpper, KLUpperByPulls, EmpiricalDivergence)
# What the engine calls of a family, and what more by index. A family must have registered each for
# itself: an inherited one may not fit a `draw` that is not inherited. The other functions of
# `families/leaping.py` and `families/unsaturated_scale.py` have defaults that hold for any family.
_CALLED = (draw, learn, worst, gather)
_CALLED_BY: dict[type, tuple[Any, ...]] = {
    Thompson: (posterior, hat, under_hat, outlook),
    Budgeted: (divergence, negentropy, linear_form),
}
_OURS = ("equip", "new_state", "parts")  # methods of Policy that make the state the engine works on


def why_not_leap(policy: Policy, problem: Problem, history: bool = False) -> str:
    """Why the leap engine must not play this, as the end of a sentence; "" if it may.

    >>> import unimodal as um
    >>> why_not_leap(um.UTS(), um.problems.triangular(5))
    ''
    >>> why_not_leap(um.NPTS(), um.problems.triangular(5, family=um.Bounded()))
    'Reweighed is not an index that can say when it will cross a level'
    """
    if history:
        return "a leap draws the sum of many rewards, and history=True asks for each"
    if policy.forgets or isinstance(problem, Moving):
        return "what it knows or the problem itself changes from round to round"
    if isinstance(problem, Recorded):
        return "its rewards were recorded, and a leap draws the sum of many"
    if policy.is_plain or any(getattr(type(policy), m) is not getattr(Policy, m) for m in _OURS):
        return "it has a rule or a state of its own, of which the engine knows nothing"
    index = type(policy.index_for(problem.family))
    scope = type(policy.scope_for(problem.graph, problem.family))
    if index not in _INDICES:
        return f"{index.__name__} is not an index that can say when it will cross a level"
    if issubclass(scope, _BY_PRIOR):
        return "the priors of its arms count for the leader, of which the engine knows nothing"
    if scope not in _SCOPES:
        return f"{scope.__name__} is not a scope that can say for how long a leader stays"
    return _why_not_of(problem.family, index) or _why_not_of(problem.family.told, index)


def _why_not_of(family: Family, index: type) -> str:
    kind = type(family)
    called = [
        *_CALLED,
        *(f for of, more in _CALLED_BY.items() if issubclass(index, of) for f in more),
    ]
    missing = [function.__name__ for function in called if not _has(kind, function)]
    if missing:
        return (
            f"{kind.__name__} draws rewards in a way of your own and has no {', '.join(missing)} "
            "of its own for the engine to call"
        )
    if family.Record.component is not kind:
        return f"{kind.__name__} draws rewards in a way of your own, whose sums nobody knows"
    return ""


def _has(kind: type, function: Any) -> bool:
    """Whether a family registered a function itself, and not a default that says nothing."""
    own = function.registry.get(kind)
    silent = function is linear_form and own is linear_form.registry[Family]
    return own is not None and not silent
