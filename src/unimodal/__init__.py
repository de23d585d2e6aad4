"""Bandits whose arms lie on a graph and whose reward has one peak.

>>> import unimodal as um
>>> problem = um.problems.triangular(17)
>>> result = um.simulate(problem, [um.UTS(), um.TS()], horizon=1000, trials=4, seed=0)
>>> result["UTS"].regret.shape == (4, len(result.rounds))
True
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from unimodal.errors import UnimodalError
from unimodal.version import __version__

if TYPE_CHECKING:
    from unimodal import graphs, problems
    from unimodal.agent import Agent, Decision, Oracle
    from unimodal.campaign import Campaign, verify
    from unimodal.continuous import Narrowed, narrow, regret_by_horizon
    from unimodal.engines.line_search import LSE
    from unimodal.families import Bernoulli, Bounded, Exponential, Family, Gaussian, Poisson
    from unimodal.graphs import Graph
    from unimodal.intervals import Interval
    from unimodal.kernels import random
    from unimodal.loading import load
    from unimodal.peaks import SecondPeaks, second_peaks
    from unimodal.policies import (
        IMED,
        IMEDUB,
        KLUCB,
        KLUCBUB,
        NPTS,
        OSUB,
        TS,
        UTS,
        AroundLeader,
        Discounted,
        EveryArm,
        Policy,
        Probe,
        Restarting,
        ScoutUTS,
        Windowed,
    )
    from unimodal.problems import Moving, Problem
    from unimodal.replaying import Replay, replay
    from unimodal.result import Result
    from unimodal.simulation import extend, rerun, simulate
    from unimodal.viewing import View, inspect

__all__ = [
    "IMED",
    "IMEDUB",
    "KLUCB",
    "KLUCBUB",
    "LSE",
    "NPTS",
    "OSUB",
    "TS",
    "UTS",
    "Agent",
    "AroundLeader",
    "Bernoulli",
    "Bounded",
    "Campaign",
    "Decision",
    "Discounted",
    "EveryArm",
    "Exponential",
    "Family",
    "Gaussian",
    "Graph",
    "Interval",
    "Moving",
    "Narrowed",
    "Oracle",
    "Poisson",
    "Policy",
    "Probe",
    "Problem",
    "Replay",
    "Restarting",
    "Result",
    "ScoutUTS",
    "SecondPeaks",
    "UnimodalError",
    "View",
    "Windowed",
    "__version__",
    "extend",
    "graphs",
    "inspect",
    "load",
    "narrow",
    "problems",
    "random",
    "regret_by_horizon",
    "replay",
    "rerun",
    "second_peaks",
    "simulate",
    "verify",
]

# Numba takes most of the time of an import: a name is looked up where it lives when it is first
# used, so that `unimodal --help` and a mistake on the command line answer at once.
_HOMES = {
    "agent": ("Agent", "Decision", "Oracle"),
    "campaign": ("Campaign", "verify"),
    "continuous": ("Narrowed", "narrow", "regret_by_horizon"),
    "engines.line_search": ("LSE",),
    "families": ("Bernoulli", "Bounded", "Exponential", "Family", "Gaussian", "Poisson"),
    "graphs": ("Graph",),
    "intervals": ("Interval",),
    "loading": ("load",),
    "peaks": ("SecondPeaks", "second_peaks"),
    "policies": (
        *("AroundLeader", "EveryArm", "Policy", "Probe"),
        *("IMED", "IMEDUB", "KLUCB", "KLUCBUB", "NPTS", "OSUB", "ScoutUTS", "TS", "UTS"),
        *("Discounted", "Restarting", "Windowed"),
    ),
    "problems": ("Moving", "Problem"),
    "replaying": ("Replay", "replay"),
    "result": ("Result",),
    "simulation": ("extend", "rerun", "simulate"),
    "viewing": ("View", "inspect"),
}
_HOME = {name: f"unimodal.{home}" for home, names in _HOMES.items() for name in names}
_MODULES = {
    "graphs": "unimodal.graphs",
    "problems": "unimodal.problems",
    "random": "unimodal.kernels.random",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        value: Any = import_module(_MODULES[name])
    elif name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
    else:
        raise AttributeError(f"module 'unimodal' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
