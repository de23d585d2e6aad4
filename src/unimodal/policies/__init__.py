"""Policies: a scope, an index, a reward family and a start, composed."""

from unimodal.policies.base import Parts, Policy, as_policy, explained
from unimodal.policies.forgetful import Discounted, Forgetful, Restarting, Windowed
from unimodal.policies.later import IMED, IMEDUB, KLUCBUB, NPTS
from unimodal.policies.named import KLUCB, OSUB, TS, UTS, ScoutUTS
from unimodal.policies.scopes import AroundLeader, AroundLeastPulled, EveryArm
from unimodal.policies.spec import POLICIES, WRAPPERS, from_data, parse, split, to_data
from unimodal.policies.starts import Literal, Probe, Start, Sweep

__all__ = [
    "IMED",
    "IMEDUB",
    "KLUCB",
    "KLUCBUB",
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
    "Policy",
    "Probe",
    "Restarting",
    "ScoutUTS",
    "Start",
    "Sweep",
    "Windowed",
    "as_policy",
    "explained",
    "from_data",
    "parse",
    "split",
    "to_data",
]
