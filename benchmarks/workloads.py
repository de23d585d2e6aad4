"""What `run.py --against COMMIT` times, in one process of one version of the package.

    PYTHONPATH=src python benchmarks/workloads.py "step UTS, line 17" "service: a decision"

Only the public API is used, so that commits from before files and modules were renamed run it, too.
Prints one JSON object: numbers by line. They are core-seconds where nothing waits for a disk, and
where something does, how many bare commits of the same store take as long. A line that this version
cannot run has the reason instead of a number.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

import campaign_lines
import service_lines

import unimodal as um

REPEATS = 3
PAPER = ("UTS", "OSUB", "TS", "KLUCB")


@dataclass(frozen=True)
class Workload:
    """One or more lines that are measured together, in this order."""

    lines: tuple[str, ...]
    measure: Callable[[], Iterable[float]]


def one(line: str, measure: Callable[..., float], *arguments: Any) -> Workload:
    return Workload((line,), lambda: [measure(*arguments)])


def core_seconds(work: Any, repeats: int = REPEATS) -> float:
    """Of this process: the median of some repetitions, after one that loads what was compiled."""
    took = []
    for repeat in range(repeats + 1):
        began = time.process_time()
        work(repeat)
        took.append(time.process_time() - began)
    return median(took[1:])


# Engines.


def line_of(n_arms: int) -> Any:
    return um.problems.triangular(n_arms)


def complete_of(n_arms: int) -> Any:
    return um.problems.by_distance(um.graphs.complete(n_arms), 0)


def simulated(problem: Any, policy: str, horizon: int, trials: int, engine: str) -> float:
    settings = {"horizon": horizon, "trials": trials, "engine": engine}
    made = problem()
    return core_seconds(
        lambda repeat: um.simulate(
            made, getattr(um, policy)(), seed=repeat, workers=1, progress=False, **settings
        )
    )


STEP = [
    one(
        f"step {policy}, line {n_arms}",
        simulated, partial(line_of, n_arms), policy, 20_000, trials, "step",
    )
    for policy, n_arms, trials in (
        *(("UTS", 17, 50), ("OSUB", 17, 20), ("TS", 17, 8), ("KLUCB", 17, 15)),
        *(("PeakUTS", 17, 20), ("PeakUTS", 129, 5)),
        *(("UTS", 129, 30), ("OSUB", 129, 20), ("TS", 129, 2), ("KLUCB", 129, 6)),
    )
]  # fmt: skip
LEAP = [
    one(f"leap {policy}, {where}, T = {horizon:.0e}".replace("e+0", "e"),
        simulated, problem, policy, horizon, trials, "leap")
    for policy, where, problem, horizon, trials in (
        ("UTS", "line 17", partial(line_of, 17), 10**7, 60),
        ("OSUB", "line 17", partial(line_of, 17), 10**7, 20),
        ("ScoutUTS", "line 17", partial(line_of, 17), 10**7, 40),
        ("TS", "complete 1000", partial(complete_of, 1000), 10**5, 3),
        ("KLUCB", "complete 1000", partial(complete_of, 1000), 10**5, 2),
    )
]  # fmt: skip


# Agents.


def asked(policy: str, decisions: int = 20_000) -> float:
    """Seconds for a round of `ask` and `tell`."""
    agent = um.Agent(getattr(um, policy)(), um.graphs.line(129), seed=0)

    def play(repeat: int) -> None:
        for _ in range(decisions):
            agent.tell(agent.ask(), 1.0)

    return core_seconds(play) / decisions


def decided(policy: str, decisions: int = 10_000) -> float:
    """Seconds for a decision with an id, and its reward."""
    agent = um.Agent(getattr(um, policy)(), um.graphs.line(129), seed=0)

    def play(repeat: int) -> None:
        for _ in range(decisions):
            agent.reward(agent.decide().id, 1.0)

    return core_seconds(play) / decisions


def saved_and_loaded(rounds: int = 5_000) -> float:
    """Seconds for an agent to a file and back."""
    agent = um.Agent(um.UTS(), um.graphs.line(129), seed=0)
    for _ in range(rounds):
        agent.reward(agent.decide().id, 1.0)
    with tempfile.TemporaryDirectory() as folder:
        return core_seconds(lambda repeat: um.Agent.load(agent.save(f"{folder}/{repeat}.json")))


AGENT = [
    *(one(f"ask + tell {policy}, line 129", asked, policy) for policy in (*PAPER, "PeakUTS")),
    *(one(f"decide + reward {policy}, line 129", decided, policy) for policy in ("UTS", "PeakUTS")),
    one("agent saved and loaded, line 129", saved_and_loaded),
]


# Processes that begin.

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


def first_simulation() -> float:
    process(FIRST, 1)  # fills the cache
    return process(FIRST)


def cold_simulation() -> float:
    """A new process that finds nothing compiled: the paper's four policies, T = 1e5."""
    with tempfile.TemporaryDirectory() as folder:
        return process(COLD, 1, UNIMODAL_CACHE_DIR=folder)


GROUPS: dict[str, list[Workload]] = {
    "step": STEP,
    "leap": LEAP,
    "agent": AGENT,
    "campaign": [Workload(*campaign_lines.ON_SQLITE)],
    "postgresql": [Workload(*campaign_lines.ON_POSTGRESQL)],
    "service": [Workload(*service_lines.SERVICE)],
    "start": [
        one("import unimodal", process, "import unimodal"),
        one("process to first simulation", first_simulation),
    ],
    "cold": [one("cold simulation, four policies", cold_simulation)],
}
SLOW = ("cold",)  # a pair takes most of a minute: measured only if they are named


def lines_of(group: str) -> list[str]:
    return [line for workload in GROUPS[group] for line in workload.lines]


def measured(wanted: Iterable[str]) -> dict[str, float | str]:
    """Lines by name: a number, or the reason why this version has none."""
    wanted, found = set(wanted), {}
    for workload in (each for group in GROUPS.values() for each in group):
        if not wanted.isdisjoint(workload.lines):
            try:
                values: Iterable[float | str] = workload.measure()
            except Exception as error:
                reason = f"{type(error).__name__}: {error}"
                values = [reason] * len(workload.lines)
            found |= dict(zip(workload.lines, values, strict=True))
    return {line: value for line, value in found.items() if line in wanted}


if __name__ == "__main__":
    print(json.dumps({"package": um.__file__, "lines": measured(sys.argv[1:])}))
