"""What `unimodal compare` runs, as data: families of graphs, policies, and how often."""

from __future__ import annotations

import math
from dataclasses import dataclass

from unimodal import graphs
from unimodal.errors import UnimodalError
from unimodal.families import Bernoulli
from unimodal.policies import MINTS, POLICIES, Policy, UniTT
from unimodal.studies.setting import Setting

UNIT = "UTS"  # the policy to which all others are related

# Beside every policy of POLICIES with its defaults. With that prior, draws are nearly those of
# Beta(1 + successes, failures): optimistic, where an arm has few rewards.
OPTIMISTIC = "UTS(period=2, prior=(1.0, 0.001))"
VARIANTS = ("UTS(period=2)", "UTS(period=4)", OPTIMISTIC, "OSUB(c=0)", "KLUCB(c=0)")

LEFT_OUT = (UniTT, MINTS)  # which is not about regret; which plays on lines only

_GRAPHS = {
    "line": "line:100",
    "grid": "grid:10x10",
    "torus": "torus:10x10",
    "3-D lattice": "lattice:5x5x4",
    "hypercube": "hypercube:7",
    "binary tree": "tree:127",
    "star": "star:100",
    "complete": "complete:100",
    "Erdős–Rényi, p = log(K)/K": f"er:100:{math.log(100) / 100:.6f}",
    **{f"Barabási–Albert, m = {m}": f"ba:100:{m}" for m in (1, 2, 5)},
}
# Name, graph and means of each setting.
FAMILIES: tuple[tuple[str, str, str], ...] = (
    *((name, graph, "by distance") for name, graph in _GRAPHS.items()),
    ("rank one", "rank_one:10x10", "rank one"),
    # A complete graph has two levels of means, however the peak is shaped.
    *((f"{n}, smooth", graph, "smooth") for n, graph in _GRAPHS.items() if n != "complete"),
)


@dataclass(frozen=True)
class Scale:
    """How much is run: graphs per family, trials per graph, rounds per trial."""

    name: str
    graphs: int
    trials: int
    horizon: int


FULL = Scale("full", 20, 5, 10**5)
QUICK = Scale("quick", 4, 2, 10**4)


def settings(scale: Scale) -> list[Setting]:
    """Every setting, in the order of the page."""
    numbers = (scale.horizon, scale.graphs, scale.trials)
    chosen = policies()
    return [Setting(name, graph, means, chosen, *numbers) for name, graph, means in FAMILIES]


def policies() -> tuple[str, ...]:
    """Every policy for small regret that Bernoulli rewards allow, as text.

    >>> policies()[:4], policies()[-2:]
    (('UTS', 'OSUB', 'TS', 'KLUCB'), ('OSUB(c=0)', 'KLUCB(c=0)'))
    """
    ours = (cls() for cls in POLICIES.values() if cls not in LEFT_OUT)
    known = [policy for policy in ours if _takes_coins(policy)]
    return (*(policy.name for policy in known), *VARIANTS)


def _takes_coins(policy: Policy) -> bool:
    try:
        policy.parts(graphs.line(2), Bernoulli())
    except UnimodalError:
        return False
    return True
