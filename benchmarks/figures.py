"""The measurements: rates against the plain loop, an agent's decision, start-up of a process."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median

import numpy as np
from plain_loops import LOOPS

from unimodal.agents import Agent
from unimodal.engines.step import StepTrial
from unimodal.graphs import line
from unimodal.policies import POLICIES
from unimodal.problems import triangular

REPEATS = 7


@dataclass(frozen=True)
class Figure:
    """A measured figure and what it must reach; `guide` is what a C++ loop took elsewhere."""

    work: str
    value: str
    must: str
    reached: bool
    guide: str = ""


@dataclass(frozen=True)
class Case:
    """A policy on a line, the rounds that both play, and the ratio to reach (0: none asked)."""

    policy: str
    n_arms: int
    rounds: int
    must: float
    cpp_ns: int  # a straightforward C++ -O3 loop, nanoseconds a round, measured before the project


CASES = (
    Case("UTS", 17, 10_000, 40, 355),
    Case("OSUB", 17, 3_000, 80, 1384),
    Case("TS", 17, 10_000, 0, 1496),
    Case("KLUCB", 17, 2_000, 0, 937),
    Case("UTS", 129, 10_000, 0, 340),
    Case("OSUB", 129, 3_000, 0, 1426),
    Case("TS", 129, 10_000, 3, 9188),
    Case("KLUCB", 129, 2_000, 100, 2592),
)
_LONG = 100_000  # rounds for the nanoseconds a round, as in the paper


def rates() -> Iterator[Figure]:
    """Each policy on lines: times the plain loop's rate, one core, interleaved, medians."""
    for case in CASES:
        problem = triangular(case.n_arms)
        policy = POLICIES[case.policy.lower()]()

        def play(rounds: int, trial: int) -> float:
            run = StepTrial(problem, policy, 0, trial, np.array([rounds]), False)  # noqa: B023
            return seconds(lambda: run.advance(rounds))

        play(10, 0)  # compile, or load what was compiled
        plain, ours, long = [], [], []
        for repeat in range(REPEATS):
            loop = LOOPS[case.policy]
            plain.append(seconds(lambda: loop(problem, case.rounds, repeat)))  # noqa: B023
            # Ours is so quick that one run is mostly noise: the mean of 20.
            ours.append(sum(play(case.rounds, 20 * repeat + i) for i in range(20)) / 20)
            long.append(play(_LONG, repeat) / _LONG * 1e9)
        ratio, nanoseconds = median(plain) / median(ours), median(long)
        yield Figure(
            f"{case.policy}, line K = {case.n_arms}",
            f"{ratio:,.0f} x plain NumPy, {nanoseconds:,.0f} ns a round",
            f"{case.must:g} x" if case.must else f"{case.cpp_ns:,} ns",
            ratio >= case.must and nanoseconds <= case.cpp_ns,
            f"{case.cpp_ns:,} ns",
        )


def decisions() -> Iterator[Figure]:
    """What `ask` and `tell` cost together."""
    for name, make in POLICIES.items():
        agent = Agent(make(), line(129), seed=0)
        times = []
        for _ in range(REPEATS):
            times.append(seconds(lambda: _decide(agent, 2000)) / 2000 * 1e6)  # noqa: B023
        value = median(times)
        yield Figure(f"ask + tell, {name}, K = 129", f"{value:.1f} µs", "15 µs", value < 15)


def _decide(agent: Agent, rounds: int) -> None:
    for _ in range(rounds):
        agent.tell(agent.ask(), 1.0)


_SIMULATE = """
import unimodal as um
um.simulate(um.problems.triangular(17), um.UTS(), horizon=1000, trials=1)
"""


def start_up() -> Iterator[Figure]:
    """A new process: importing, and simulating from compiled code on disk."""
    for bytecode in ("", "1"):
        note = " (PYTHONDONTWRITEBYTECODE=1)" if bytecode else ""
        empty = _processes("pass", bytecode)
        imported = _processes("import unimodal", bytecode) - empty
        yield Figure(f"import unimodal{note}", f"{imported:.2f} s", "0.4 s", imported < 0.4)
        _processes(_SIMULATE, bytecode, 1)  # fill the cache
        ready = _processes(_SIMULATE, bytecode)
        yield Figure(f"process to first simulation{note}", f"{ready:.2f} s", "1 s", ready < 1)


# The paper's four policies where nothing is compiled yet: what a new user waits for.
_COLD = """
import unimodal as um
policies = [um.UTS(), um.OSUB(), um.TS(), um.KLUCB()]
um.simulate(um.problems.triangular(17), policies, horizon=10**5, trials=1, progress=False)
"""


def first_use() -> Iterator[Figure]:
    """A new process that has to compile: core-seconds, since others may share the machine."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "UNIMODAL_CACHE_DIR": folder}
        before = os.times()
        subprocess.run([sys.executable, "-c", _COLD], env=environment, check=True)
        after = os.times()
    took = after.children_user + after.children_system
    took -= before.children_user + before.children_system
    work = "cold simulation of UTS, OSUB, TS, KLUCB, T = 1e5"
    yield Figure(work, f"{took:.1f} core-seconds", "19", took <= 19, "13.6")


def _processes(code: str, bytecode: str, repeats: int = REPEATS) -> float:
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": bytecode}
    command = [sys.executable, "-c", code]
    run = lambda: subprocess.run(command, env=environment, check=True)  # noqa: E731
    return median(seconds(run) for _ in range(repeats))


def seconds(work: Callable[[], object]) -> float:
    """How long it takes, once."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
