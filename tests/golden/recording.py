"""What must not change by itself: exact results of every policy, an agent's arms, a campaign's log.

    python tests/golden/recording.py        # records tests/golden/results.json anew

A recorded number is the hash of the bytes of all regrets and pulls, and their mean to be read.
Where a stream has to change, record anew and say in CHANGELOG.md which and why. The files beside it
were written by version 0.1.0, before the public API was put right, and must go on opening.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np

import unimodal as um
import unimodal.policies

HERE = Path(__file__).parent
RESULTS = HERE / "results.json"
CAMPAIGN = HERE / "campaign-format-2.db"

POLICIES = (
    *("uts", "osub", "ts", "klucb", "scoututs", "imed", "imedub", "klucbub", "npts"),
    *("uts(period=2)", "uts(start=literal, ties=lowest)", "osub(c=0, start=probe(3))"),
    *("windowed(policy=uts, window=200)", "discounted(policy=osub, gamma=0.99)"),
    "restarting(policy=ts, window=100)",
)
ONLY_STEPPED = ("windowed", "discounted", "restarting")


def problems():
    """A dozen problems by name, and the policies that are recorded on each."""
    bernoulli = {
        "line": um.problems.triangular(9),
        "near tie": um.problems.triangular(7, high=0.52, low=0.5),
        "complete": um.problems.by_distance(um.graphs.complete(6)),
        "grid": um.problems.by_distance(um.graphs.grid(4, 4), peak=5),
        "tree": um.problems.by_distance(um.graphs.parse("tree:15"), peak=3),
        "star": um.problems.by_distance(um.graphs.star(8), peak=2),
        "random": um.problems.by_distance(um.graphs.erdos_renyi(30, 0.2, seed=3), peak=7),
        "certain": um.problems.triangular(5, high=1.0),
    }
    made = {name: (problem, POLICIES) for name, problem in bernoulli.items()}
    some = ("uts", "osub", "imedub", "klucbub")
    line = um.graphs.line(5)
    means = np.array([0.2, 0.4, 0.7, 0.5, 0.3])
    for family in (um.Gaussian(0.5), um.Poisson(), um.Exponential(), um.Bounded(-1, 2)):
        made[repr(family)] = (um.Problem(line, means, family), some)
    return made


def digest(*arrays):
    """A hash of their bytes."""
    whole = hashlib.sha256()
    for array in arrays:
        whole.update(np.ascontiguousarray(array).tobytes())
    return whole.hexdigest()[:16]


def text_digest(data):
    """A hash of plain data."""
    return hashlib.sha256(json.dumps(data).encode()).hexdigest()[:16]


def results(quick=False):
    """Regrets and pulls: [problem, engine, policy, hash, mean regret]."""
    rows = []
    for name, (problem, policies) in problems().items():
        for text in policies:
            policy = um.policies.parse(text)
            for engine in ("step", "leap"):
                if engine == "leap" and text.startswith(ONLY_STEPPED):
                    continue
                if quick and (name not in ("line", "grid") or text not in ("uts", "osub", "ts")):
                    continue
                found = um.simulate(
                    problem, policy, horizon=6000, trials=3, seed=5, engine=engine, progress=False
                )[policy.name]
                mean = float(found.regret[:, -1].mean())
                rows.append([name, engine, text, digest(found.regret, found.pulls), mean])
    return rows


def decisions():
    """The arms of an agent's 1,000 decisions, rewards told with a delay."""
    agent = um.Agent(um.UTS(), um.graphs.grid(5, 5), seed=8, clock=lambda: 0.0)
    told, waiting = np.random.default_rng(4), []
    made = []
    for number in range(1000):
        decision = agent.decide(propensity=number % 50 == 0)
        made.append([decision.id, decision.arm, decision.reason, decision.leader, decision.near])
        waiting.append(decision)
        if len(waiting) > 5:
            late = waiting.pop(int(told.integers(5)))
            agent.reward(late.id, float(told.random() < 0.9 - 0.1 * abs(late.arm - 12) / 4))
    return made


def new_campaign():
    """Write the campaign of format 2: decisions, rewards, expiries, a revision, two openings."""
    CAMPAIGN.unlink(missing_ok=True)
    now = iter(range(10**6))
    settings = {"time_to_live": 300.0, "on_expiry": "zero", "clock": lambda: float(next(now))}
    ladder = um.graphs.from_edges([("a", "b"), ("b", "c"), ("c", "d"), ("d", "e")])
    told = np.random.default_rng(9)
    for opening in range(2):
        with um.Campaign.open(CAMPAIGN, um.UTS(), ladder, seed=6, **settings) as campaign:
            settings = {"clock": settings["clock"]}
            for number in range(400):
                decision = campaign.decide(propensity=number % 20 == 0)
                if told.random() < 0.9:
                    campaign.reward(
                        decision.id, float(told.random() < "abcdef".find(decision.arm) / 5)
                    )
            if opening == 0:
                campaign.add_edges([("e", "f")])
                ladder = None


def campaign_log():
    """What its log says, event by event."""
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(CAMPAIGN)) as file:
        return [list(row) for row in file.execute("SELECT * FROM log ORDER BY seq")]


def main():
    """Record all of it."""
    if not CAMPAIGN.exists():
        new_campaign()
    kinds = [row[2] for row in campaign_log()]
    found = {
        "results": results(),
        "decisions": text_digest(decisions()),
        "rewards": kinds.count("reward"),
        "expired": kinds.count("expire"),
    }
    RESULTS.write_text(json.dumps(found, indent=0) + "\n")
    print(len(found["results"]), "results recorded")


if __name__ == "__main__":
    main()
