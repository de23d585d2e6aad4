"""Policies: a scope, an index, a reward family and a start, composed."""

from unimodal.policies.forgetting import Discounted, Forgetful, Restarting, Windowed
from unimodal.policies.imed import IMED, IMEDUB
from unimodal.policies.klucb_ub import KLUCBUB
from unimodal.policies.mints import MINTS
from unimodal.policies.npts import NPTS
from unimodal.policies.paper import KLUCB, OSUB, TS, UTS
from unimodal.policies.peak import PeakUTS
from unimodal.policies.policy import Parts, Policy, as_policy, explained, told_apart
from unimodal.policies.registry import (
    POLICIES,
    WRAPPERS,
    as_saved,
    from_data,
    parse,
    split,
    to_data,
    to_older_data,
)
from unimodal.policies.scope import AroundLeader, AroundLeastPulled, EveryArm
from unimodal.policies.scout import ScoutUTS
from unimodal.policies.start import Literal, Probe, Start, Sweep
from unimodal.policies.unitt import UniTT

__all__ = [
    "IMED",
    "IMEDUB",
    "KLUCB",
    "KLUCBUB",
    "MINTS",
    "NPTS",
    "OSUB",
    "POLICIES",
    "TS",
    "UTS",
    "WRAPPERS",
    "AroundLeader",
    "AroundLeastPulled",
    "Discounted",
    "EveryArm",
    "Forgetful",
    "Literal",
    "Parts",
    "PeakUTS",
    "Policy",
    "Probe",
    "Restarting",
    "ScoutUTS",
    "Start",
    "Sweep",
    "UniTT",
    "Windowed",
    "as_policy",
    "as_saved",
    "explained",
    "from_data",
    "parse",
    "split",
    "to_data",
    "to_older_data",
    "told_apart",
]
