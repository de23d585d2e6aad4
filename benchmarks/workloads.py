"""What `unimodal bench --against COMMIT` times, in one process of one version of the package.

    PYTHONPATH=src python benchmarks/workloads.py step leap

Only the public API is used, so that commits from before files and modules were renamed run it, too.
Prints one JSON object: seconds by line (of a core where nothing waits for a disk), or commits of a
bare SQLite loop where something does.
"""

from __future__ import annotations

import json
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import unimodal as um

REPEATS = 3
PAPER = ("UTS", "OSUB", "TS", "KLUCB")


def core_seconds(work: Any, repeats: int = REPEATS) -> float:
    """Of this process: the median of some repetitions, after one that loads what was compiled."""
    took = []
    for repeat in range(repeats + 1):
        began = time.process_time()
        work(repeat)
        took.append(time.process_time() - began)
    return median(took[1:])


def simulate(problem: Any, policy: str, horizon: int, trials: int, engine: str) -> float:
    settings = {"horizon": horizon, "trials": trials, "engine": engine}
    return core_seconds(
        lambda repeat: um.simulate(
            problem, getattr(um, policy)(), seed=repeat, workers=1, progress=False, **settings
        )
    )


def step() -> dict[str, float]:
    """Rounds one by one, on lines."""
    sizes = (
        *(("UTS", 17, 50), ("OSUB", 17, 20), ("TS", 17, 8), ("KLUCB", 17, 15)),
        *(("UTS", 129, 30), ("OSUB", 129, 20), ("TS", 129, 2), ("KLUCB", 129, 6)),
    )
    return {
        f"step {policy}, line {n_arms}": simulate(
            um.problems.triangular(n_arms), policy, 20_000, trials, "step"
        )
        for policy, n_arms, trials in sizes
    }


def leap() -> dict[str, float]:
    """Rounds skipped where nothing can happen."""
    line, complete = (
        um.problems.triangular(17),
        um.problems.by_distance(um.graphs.complete(1000), 0),
    )
    return {
        "leap UTS, line 17, T = 1e7": simulate(line, "UTS", 10**7, 60, "leap"),
        "leap OSUB, line 17, T = 1e7": simulate(line, "OSUB", 10**7, 20, "leap"),
        "leap ScoutUTS, line 17, T = 1e7": simulate(line, "ScoutUTS", 10**7, 40, "leap"),
        "leap TS, complete 1000, T = 1e5": simulate(complete, "TS", 10**5, 3, "leap"),
        "leap KLUCB, complete 1000, T = 1e5": simulate(complete, "KLUCB", 10**5, 2, "leap"),
    }


def ask() -> dict[str, float]:
    """Decisions of an agent: seconds for one."""
    found, decisions = {}, 20_000
    for policy in PAPER:
        agent = um.Agent(getattr(um, policy)(), um.graphs.line(129), seed=0)

        def decide(repeat: int, agent: Any = agent) -> None:
            for _ in range(decisions):
                agent.tell(agent.ask(), 1.0)

        found[f"ask + tell {policy}, line 129"] = core_seconds(decide) / decisions
    return found


def bare_commits(connection: sqlite3.Connection, count: int) -> None:
    for row in range(count):
        values = (time.time(), row, 1.0)
        connection.execute("INSERT INTO rewards (time, decision, reward) VALUES (?, ?, ?)", values)
        connection.commit()


def campaign() -> dict[str, float]:
    """Durable decisions and rewards: bare commits of SQLite that take as long, in short turns."""
    lines = {
        "campaign: a decision, commits": [],
        "campaign: its reward, commits": [],
        "campaign: 100 decisions in a batch, commits": [],
        "campaign: 100 rewards in a batch, commits": [],
    }  # type: dict[str, list[float]]
    with tempfile.TemporaryDirectory() as folder:
        bare = sqlite3.connect(Path(folder) / "bare.db")
        bare.execute("PRAGMA journal_mode = WAL")
        bare.execute("PRAGMA synchronous = FULL")
        bare.execute("CREATE TABLE rewards (seq INTEGER PRIMARY KEY, time, decision, reward)")
        shared = um.Campaign.open(Path(folder) / "campaign.db", um.UTS(), um.graphs.line(17))
        with shared:
            # A log that still grows is slower to sync than one that is written over.
            bare_commits(bare, 1200)
            _turn(shared, 400)
            for _ in range(15):
                commit = seconds(lambda: bare_commits(bare, 20)) / 20
                for line, took in zip(lines, _turn(shared, 20), strict=True):
                    lines[line].append(took / commit)
        bare.close()
    return {line: median(ratios) for line, ratios in lines.items()}


def _turn(shared: Any, singles: int) -> tuple[float, float, float, float]:
    """Seconds of one decision, one reward, a batch of each."""
    ids: list[int] = []
    decide = seconds(lambda: ids.extend(shared.decide().id for _ in range(singles)))
    reward = seconds(lambda: [shared.reward(each, 1.0) for each in ids])
    batch: list[int] = []
    decide_all = seconds(lambda: batch.extend(each.id for each in shared.decide(100)))
    reward_all = seconds(lambda: shared.reward(batch, [1.0] * len(batch)))
    return decide / singles, reward / singles, decide_all, reward_all


def seconds(work: Any) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


FIRST = """
import unimodal as um
um.simulate(um.problems.triangular(17), um.UTS(), horizon=1000, trials=1, progress=False)
"""
COLD = f"""
import unimodal as um
policies = [{", ".join(f"um.{policy}()" for policy in PAPER)}]
um.simulate(um.problems.triangular(17), policies, horizon=10**5, trials=1, progress=False)
"""


def process(code: str, repeats: int = REPEATS, **environment: str) -> float:
    """Core-seconds of a new process that runs this."""
    took = []
    for _ in range(repeats):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)  # os.times counts in 10 ms
        command = [sys.executable, "-c", code]
        subprocess.run(command, env={**os.environ, **environment}, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return median(took)


def start() -> dict[str, float]:
    """A new process that finds its kernels compiled."""
    process(FIRST, 1)
    return {
        "import unimodal": process("import unimodal"),
        "process to first simulation": process(FIRST),
    }


def cold() -> dict[str, float]:
    """A new process that finds nothing compiled: the paper's four policies, T = 1e5."""
    with tempfile.TemporaryDirectory() as folder:
        found = process(COLD, 1, UNIMODAL_CACHE_DIR=folder)
    return {"cold simulation, four policies": found}


GROUPS = {group.__name__: group for group in (step, leap, ask, campaign, start, cold)}

if __name__ == "__main__":
    lines = {line: value for name in sys.argv[1:] for line, value in GROUPS[name]().items()}
    print(json.dumps({"package": um.__file__, "lines": lines}))
