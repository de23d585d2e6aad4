"""Bandits whose arms lie on a graph and whose reward has one peak.

>>> import unimodal as um
>>> problem = um.problems.triangular(17)
>>> result = um.simulate(problem, [um.UTS(), um.TS()], horizon=1000, trials=4, seed=0)
>>> result["UTS"].regret.shape == (4, len(result.rounds))
True
"""

from unimodal import graphs, problems
from unimodal.agent import Agent
from unimodal.errors import UnimodalError
from unimodal.families import Bernoulli, Bounded, Exponential, Family, Gaussian, Poisson
from unimodal.graphs import Graph
from unimodal.kernels import random
from unimodal.policies import KLUCB, OSUB, TS, UTS, AroundLeader, EveryArm, Policy, Probe
from unimodal.problems import Problem
from unimodal.result import Result, load
from unimodal.simulate import extend, rerun, simulate
from unimodal.version import __version__

__all__ = [
    "KLUCB",
    "OSUB",
    "TS",
    "UTS",
    "Agent",
    "AroundLeader",
    "Bernoulli",
    "Bounded",
    "EveryArm",
    "Exponential",
    "Family",
    "Gaussian",
    "Graph",
    "Poisson",
    "Policy",
    "Probe",
    "Problem",
    "Result",
    "UnimodalError",
    "__version__",
    "extend",
    "graphs",
    "load",
    "problems",
    "random",
    "rerun",
    "simulate",
]
