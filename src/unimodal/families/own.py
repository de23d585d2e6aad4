"""A user's own family: its methods become the functions that compiled code calls."""

from __future__ import annotations

import types
from typing import Any
from weakref import WeakKeyDictionary

from unimodal.errors import UnimodalError
from unimodal.families import family as kernel
from unimodal.families.defaults import no_negentropy, upper_by_bisection
from unimodal.families.family import METHODS, Family
from unimodal.families.unsaturated_scale import BY_DIVERGENCE
from unimodal.kernels.compile import attach_record
from unimodal.kernels.user_code_errors import as_kernel, as_plain, check_signature

_adopted: WeakKeyDictionary[type, set[str]] = WeakKeyDictionary()  # with the methods of each


def adopt_received(cls: Any) -> None:
    """Adopt a class that came from another process without its methods, which followed later.

    Dask sends the classes of a notebook so: what `adopt` saw of them was empty.
    """
    for kind in reversed(cls.__mro__):
        own = vars(kind).get("_own_methods", {})
        if own.keys() != _adopted.get(kind, set()):
            for method, _ in own.values():
                setattr(kind, method.__name__, method)
            adopt(kind)


def adopt(cls: Any) -> None:
    """Register the methods of a family that is not ours.

    Where a method is overridden, what was derived from the inherited one is no longer used: the
    bounds that followed from another divergence, the distribution of another posterior, evidence
    about rewards that were drawn otherwise.
    """
    given = {name: cls.__dict__[name] for name in METHODS if _is_method(cls, name)}
    cls.derived_numbers = {**getattr(cls, "derived_numbers", {}), "low": float, "high": float}
    attach_record(cls)
    known = dict(getattr(cls, "_own_methods", {}))
    if "divergence" in given:
        for function, by_divergence in BY_DIVERGENCE.items():
            function.register(cls)(by_divergence)
        kernel.negentropy.register(cls)(no_negentropy)
        kernel.upper.register(cls)(upper_by_bisection)
    if "posterior" in given:
        kernel.prior_worth.register(cls)(kernel.no_prior_worth)
    for name, method in given.items():
        whose = f"the {name} of {cls.__name__}"
        check_signature(method, whose, METHODS[name])
        known = {key: value for key, value in known.items() if value[1] != METHODS[name]}
        known[whose] = (method, METHODS[name])
        register(getattr(kernel, name), cls, method, cls.compiled, whose)
        if name in Family.__dict__:
            delattr(cls, name)  # so that people get the checked one, which calls this
    cls._own_methods = known
    _adopted[cls] = set(known)
    overridden = {
        "posterior": ("posterior_cdf", "posterior_quantile", "posterior_at_top"),
        "draw": ("log_evidence",),
    }
    for name, derived in overridden.items():
        for other in derived:
            if name in given and other not in cls.__dict__:
                setattr(cls, other, getattr(Family, other))


def register(function: Any, cls: type, method: Any, compiled: bool, whose: str) -> None:
    """Let a function call a method for this class, from compiled code and from Python."""
    function.register(cls)(as_kernel(method, compiled, whose))
    if not compiled:
        function.register(cls, plain=True)(as_plain(method, whose))


def _is_method(cls: Any, name: str) -> bool:
    found = cls.__dict__.get(name)
    if isinstance(found, staticmethod | classmethod | property):
        raise UnimodalError(
            f"the {name} of {cls.__name__} must be a plain method, {METHODS[name]}, got a "
            f"{type(found).__name__}."
        )
    return isinstance(found, types.FunctionType)
