"""Agents behind an oracle: what a decision costs on 10^8 arms, how many arms a climb looks up."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any, cast

import numpy as np
from figures import Figure

from unimodal.agents import Agent, Oracle
from unimodal.graphs import barabasi_albert
from unimodal.problems import by_distance, random_peak

SIDE = 10_000  # of the lattice
PEAK, ROOT = (5_000, 5_000), (2_500, 2_500)


def lattice(decisions: int = 10**6, seed: int = 0) -> dict[str, Any]:
    """Decisions on an implicit lattice of 10^8 arms, in a process of its own.

    The process prints its own peak memory, with Python, NumPy and Numba in it.
    """
    command = [sys.executable, __file__, str(decisions), str(seed)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(printed.stdout)
    return found


def print_lattice(decisions: int, seed: int) -> None:
    """Print what `lattice` returns."""
    agent = Agent(graph=Oracle(beside, root=ROOT), seed=seed)
    luck = np.random.default_rng(seed)
    took = np.empty(decisions, dtype=np.float32)  # what is measured is not how much this needs
    agent.reward(agent.decide().id, 1.0)  # compile, or load what was compiled
    for number in range(decisions):
        began = time.perf_counter_ns()
        decision = agent.decide()
        asked = time.perf_counter_ns()
        reward = float(luck.random() < height(decision.arm))
        pulled = time.perf_counter_ns()
        agent.reward(decision.id, reward)
        took[number] = time.perf_counter_ns() - pulled + asked - began
    memory = _peak_bytes() / 1e6
    found = {
        "decisions": decisions,
        "median_us": float(np.median(took)) / 1e3,
        "mean_us": float(took.mean()) / 1e3,
        "p99_us": float(np.percentile(took, 99)) / 1e3,
        "peak_mb": memory,
        "arms_met": agent.known_arms,
        "mean_at_root": height(ROOT),
        "mean_at_leader": height(cast(Any, agent.leader)),
        **agent.look_up_counts,
    }
    print(json.dumps(found))


def _peak_bytes() -> int:
    """The most memory this process has held."""
    status = Path("/proc/self/status")
    if status.exists():  # Linux, where ru_maxrss counts what the parent held before the fork
        return int(status.read_text().partition("VmHWM:")[2].split()[0]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # bytes, on a Mac


def beside(arm: tuple[int, int]) -> list[tuple[int, int]]:
    """The neighbours of a point of the lattice."""
    x, y = arm
    around = (x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)
    return [(i, j) for i, j in around if 0 <= i < SIDE and 0 <= j < SIDE]


def height(arm: tuple[int, int]) -> float:
    """The means of the paper: 0.9 at the peak, 0.1 in the farthest corner.

    Arms side by side are 0.00008 apart, so that a climb sees next to nothing and new arms lead all
    the time: the dearest case.
    """
    return 0.9 - 0.8 * (abs(arm[0] - PEAK[0]) + abs(arm[1] - PEAK[1])) / sum(PEAK)


def preferential(
    nodes: int = 10**6, m: int = 2, seeds: Sequence[int] = range(5), rounds: int = 200_000
) -> dict[str, Any]:
    """Climbs on a Barabási–Albert graph, until the peak or an arm next to it leads.

    Peak and root are random arms, and means fall with the distance from the peak, as in the paper.
    """
    graph = barabasi_albert(nodes, m, seed=0)
    look_ups, needed, reached = [], [], []
    for seed in seeds:
        peak = random_peak(graph, seed)
        means = by_distance(graph, peak).means
        goal = {peak, *graph.neighbors(peak).tolist()}
        luck = np.random.default_rng(seed)
        root = int(luck.integers(nodes))
        agent = Agent(graph=Oracle(lambda arm: graph.neighbors(arm).tolist(), root=root), seed=seed)
        while agent.leader not in goal and agent.round < rounds:
            arm: Any = agent.ask()
            agent.tell(arm, float(luck.random() < means[arm]))
        look_ups.append(agent.look_ups)
        needed.append(agent.round)
        reached.append(agent.leader in goal)
    share = max(look_ups) / nodes
    return {"look_ups": look_ups, "rounds": needed, "reached": reached, "largest_share": share}


def figures() -> Iterator[Figure]:
    """All of it, as `run.py` shows it."""
    found = lattice()
    took, memory = found["median_us"], found["peak_mb"]
    where = "lattice of 10^8 arms, 10^6 decisions"
    work = f"{where}: a decision and its reward, median"
    yield Figure(work, f"{took:.1f} µs", "30 µs", took < 30)
    yield Figure(f"{where}: memory", f"{memory:,.0f} MB", "500 MB", memory < 500)
    for m in (2, 3):
        climbs = preferential(m=m)
        yield Figure(
            f"Barabási–Albert graph, 10^6 nodes, m = {m}: looked up until the peak is near",
            f"{median(climbs['look_ups']):,.0f}, at most {max(climbs['look_ups']):,}",
            "50,000",
            climbs["largest_share"] < 0.05 and all(climbs["reached"]),
        )


if __name__ == "__main__":
    print_lattice(int(sys.argv[1]), int(sys.argv[2]))
