"""Policies: a scope, an index, a reward family and a start, composed."""

from unimodal.policies.base import Parts, Policy, explained
from unimodal.policies.later import IMED, IMEDUB, KLUCBUB, NPTS
from unimodal.policies.named import KLUCB, OSUB, TS, UTS, ScoutUTS
from unimodal.policies.scopes import AroundLeader, AroundLeastPulled, EveryArm
from unimodal.policies.spec import POLICIES, from_data, parse, split, to_data
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
    "AroundLeader",
    "AroundLeastPulled",
    "EveryArm",
    "Literal",
    "Parts",
    "Policy",
    "Probe",
    "ScoutUTS",
    "Start",
    "Sweep",
    "explained",
    "from_data",
    "parse",
    "split",
    "to_data",
]
