"""The work, cut into tasks that know nothing of each other and run on any Executor."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unimodal.kernels.compile import PACKAGE, source_hash
from unimodal.policies import parse
from unimodal.reproduce.experiments import Setting, edge_probability
from unimodal.simulation import checkpoint_rounds, trial_class

CHECKPOINTS = 61  # log-spaced: twelve a decade at T = 10⁵
_TARGET = 4.0  # seconds a task should take, about

# What a result depends on besides its task: the sources that make graphs, problems and rounds.
_LAW = ("kernels", "graphs", "families", "policies", "engines", "problems")


@dataclass(frozen=True)
class Task:
    """Some trials of one policy on one graph of a setting."""

    setting: Setting
    policy: str
    graph: int
    first: int  # the trials first … last - 1
    last: int

    def key(self, law: str) -> str:
        """A hash of all that determines the result."""
        data = {**self.setting.to_data(), "policy": self.policy, "graph": self.graph}
        # More graphs or trials, or other policies beside it, do not change a trial.
        for beside in ("graphs", "trials", "policies"):
            del data[beside]
        text = json.dumps([data, self.first, self.last, CHECKPOINTS, law], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def seconds(self) -> float:
        """About how long it takes: for cutting the work and for telling the time left."""
        return (self.last - self.first) * seconds_a_trial(self.setting, self.policy)


def law_hash() -> str:
    """A hash of the sources that determine results, and of NumPy, which draws graphs."""
    digest = hashlib.sha256(np.__version__.encode())
    for name in _LAW:
        path: Path = PACKAGE / name
        text = source_hash(path).encode() if path.is_dir() else path.read_bytes()
        digest.update(text)
    return digest.hexdigest()[:16]


def seconds_a_trial(setting: Setting, policy: str) -> float:
    """A rough model of the cost of a trial of the leap engine, on one core."""
    k = setting.n_arms
    on_line = setting.density in ("line", "triangle")
    near = 3.0 if on_line else edge_probability(setting.density, k) * k
    every_arm = policy.split("(")[0] in ("TS", "KLUCB")
    contest = k if every_arm else near
    # On lines many arms are nearly as good; until they are told apart, there is little to skip.
    gap = 2.0 * (setting.high - 0.1) / k if on_line else 1.0
    unclear = min(setting.horizon, 50.0 / gap**2)
    return 2e-3 + 1e-4 * contest + unclear * (1.5e-7 + (3e-9 * k if every_arm else 0.0))


def cut(settings: list[Setting]) -> Iterator[Task]:
    """All tasks of some settings, of about `_TARGET` seconds where trials allow."""
    for setting in settings:
        for policy in setting.policies:
            size = max(1, min(setting.trials, round(_TARGET / seconds_a_trial(setting, policy))))
            for graph in range(setting.graphs):
                for first in range(0, setting.trials, size):
                    last = min(first + size, setting.trials)
                    yield Task(setting, policy, graph, first, last)


def run(task: Task) -> Any:
    """The task's regrets, (trials, checkpoints); the same bytes wherever it runs."""
    setting = task.setting
    problem, policy = setting.problem(task.graph), parse(task.policy)
    rounds = checkpoint_rounds(setting.horizon, CHECKPOINTS, "log")
    regret = np.empty((task.last - task.first, len(rounds)))
    kind = trial_class("auto", problem, policy, setting.horizon, False)
    for row, trial in enumerate(range(task.first, task.last)):
        played = kind(problem, policy, setting.seed(task.graph), trial, rounds, False)
        played.advance(setting.horizon)
        regret[row] = played.output.regret
    return regret
