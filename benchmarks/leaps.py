"""What the leap engine saves: its time against the obvious compiled loop's, and against its own.

A plain round costs the same whatever the horizon, so plain loops are timed over some rounds after
the first ones, which sweep, and multiplied; a trial of the leap engine is timed whole.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
from compiled_loops import LOOPS, neighbourhoods
from figures import Figure

from unimodal.engines.leap import LeapTrial
from unimodal.engines.step import StepTrial
from unimodal.graphs import complete
from unimodal.policies import POLICIES
from unimodal.problems import Problem, by_distance, triangular

REPEATS = 5


@dataclass(frozen=True)
class Leap:
    """A policy on a problem at one horizon, and the ratios to reach and to aim for."""

    policy: str
    where: str
    horizon: int
    must: float
    aim: float


LEAPS = (
    Leap("TS", "complete K = 1000", 10**5, 50, 300),
    Leap("KLUCB", "complete K = 1000", 10**5, 50, 500),
    Leap("OSUB", "complete K = 1000", 10**5, 500, 5000),
    Leap("UTS", "line K = 17", 10**5, 8, 30),
    Leap("UTS", "line K = 17", 10**7, 250, 1000),
    Leap("OSUB", "line K = 17", 10**5, 25, 100),
    Leap("OSUB", "line K = 17", 10**7, 1000, 5000),
)


def leaps() -> Iterator[Figure]:
    """Each ratio, from runs that take turns."""
    problems = {
        "complete K = 1000": by_distance(complete(1000), 0),
        "line K = 17": triangular(17),
    }
    for leap in LEAPS:
        problem = problems[leap.where]
        near = neighbourhoods(problem)
        seconds(LeapTrial, problem, leap.policy, 100, 0)  # compile, or load what was compiled
        plain, ours = [], []
        for repeat in range(REPEATS):
            plain.append(plain_round(problem, near, leap.policy, repeat) * leap.horizon)
            times = (
                seconds(LeapTrial, problem, leap.policy, leap.horizon, 5 * repeat + i)
                for i in range(5)
            )
            ours.append(sum(times) / 5)
        ratio = median(plain) / median(ours)
        yield Figure(
            f"{leap.policy}, {leap.where}, T = {leap.horizon:.0e}: plain / leap",
            f"{ratio:,.0f} ({_time(median(plain))} / {_time(median(ours))})",
            f"{leap.must:,g}",
            ratio >= leap.must,
            f"{leap.aim:,g}",
        )


def long_runs() -> Iterator[Figure]:
    """What a hundred times the rounds cost, and ten thousand times."""
    problem = triangular(17)
    for policy in ("UTS", "OSUB"):
        times = {
            horizon: [seconds(LeapTrial, problem, policy, horizon, i) for i in range(15)]
            for horizon in (10**5, 10**7, 10**9)
        }
        short, long, longest = (sum(each) / len(each) for each in times.values())
        yield Figure(
            f"{policy}, line K = 17: leap time at T = 1e7 / at 1e5",
            f"{long / short:.1f} ({_time(long)} / {_time(short)})",
            "at most 4",
            long / short <= 4,
            "2",
        )
        yield Figure(
            f"{policy}, line K = 17, T = 1e9: a trial",
            _time(longest),
            "100 ms",
            longest <= 0.1,
            "20 ms",
        )


def near_ties() -> Iterator[Figure]:
    """Where there is nothing to skip, rounds are cheaper, by the draws above all."""
    problem = triangular(17, high=0.108)  # neighbours differ by 0.001, as in Appendix B
    for policy, must, aim in (("UTS", 0.5, 0.25), ("TS", 0.5, 0.25), ("OSUB", 1.1, 0.5)):
        steps, leapt = 0.0, 0.0
        for trial in range(4):
            steps += seconds(StepTrial, problem, policy, 10**7, trial)
            leapt += seconds(LeapTrial, problem, policy, 10**7, trial)
        yield Figure(
            f"{policy}, line K = 17, Δ = 0.001, T = 1e7: leap / step",
            f"{leapt / steps:.2f} ({_time(leapt / 4)} / {_time(steps / 4)})",
            f"at most {must}",
            leapt / steps <= must,
            f"{aim}",
        )


def plain_round(problem: Problem, near: Any, policy: str, seed: int) -> float:
    """Seconds that the obvious loop takes for a round, once every arm has been swept."""
    n_arms = problem.graph.n_arms
    rounds = 20_000 if n_arms < 100 else 800
    loop, took = LOOPS[policy], []
    loop(problem.means, near, 10, seed)  # compile
    for horizon in (n_arms, n_arms + rounds):
        began = time.perf_counter()
        loop(problem.means, near, horizon, seed)
        took.append(time.perf_counter() - began)
    return (took[1] - took[0]) / rounds


def seconds(kind: Any, problem: Problem, policy: str, horizon: int, number: int) -> float:
    """How long one trial takes."""
    trial = kind(problem, POLICIES[policy.lower()](), 0, number, np.array([horizon]), False)
    began = time.perf_counter()
    trial.finish()
    return time.perf_counter() - began


def _time(value: float) -> str:
    return f"{value:.3g} s" if value >= 1 else f"{value * 1e3:.3g} ms"
