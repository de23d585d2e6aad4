"""The work of a study, cut into independent tasks that run on any Executor."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from unimodal.engines import law as sources
from unimodal.engines.engine_choice import checkpoint_rounds, trial_class
from unimodal.engines.law import source_of as _source_of
from unimodal.engines.runner import TASK_SECONDS
from unimodal.policies import parse
from unimodal.problems import Problem

CHECKPOINTS = 61  # log-spaced: twelve a decade at T = 10⁵


class Plan(Protocol):
    """What a study needs to know of a setting: `Setting`, or a class of your own."""

    @property
    def name(self) -> str:
        """A name that no other setting of the study has."""

    @property
    def policies(self) -> tuple[str, ...]:
        """The policies, as text."""

    @property
    def horizon(self) -> int:
        """Rounds per trial."""

    @property
    def graphs(self) -> int:
        """How many graphs."""

    @property
    def trials(self) -> int:
        """How many trials on each graph."""

    def measure(self, task: Any) -> Any:
        """Play a task: an array with one row per trial."""

    def seconds_a_trial(self, policy: str) -> float:
        """About how long a trial takes."""

    def to_data(self) -> dict[str, Any]:
        """The whole setting as plain JSON data."""


class Graphs(Plan, Protocol):
    """A setting whose trials are played by `run`: it has problems and their seeds."""

    def seed(self, graph: int) -> int:
        """The seed of one of the graphs."""

    def problem(self, graph: int) -> Problem:
        """The problem on one of the graphs."""


Setting = TypeVar("Setting", bound=Plan)


@dataclass(frozen=True)
class Task(Generic[Setting]):
    """Some trials of one policy on one graph of a setting."""

    setting: Setting
    policy: str
    graph: int
    first: int  # the trials first … last - 1
    last: int

    def key(self, law: str) -> str:
        """A hash of all that determines the result; `law` is that of the library's sources."""
        data = {**self.setting.to_data(), "policy": self.policy, "graph": self.graph}
        # More graphs or trials, or other policies beside it, do not change a trial.
        for beside in ("graphs", "trials", "policies"):
            del data[beside]
        own = _source_of(type(self.setting))
        text = json.dumps([data, self.first, self.last, CHECKPOINTS, law, own], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def seconds(self) -> float:
        """About how long it takes, for cutting the work and for estimating the time left."""
        return (self.last - self.first) * self.setting.seconds_a_trial(self.policy)


def law_hash() -> str:
    """A hash of the sources that determine what tasks give."""
    return sources.law_hash("studies/tasks.py")


def cut(settings: Sequence[Setting]) -> Iterator[Task[Setting]]:
    """All tasks of some settings, each of about `TASK_SECONDS` if trials are shorter."""
    for setting in settings:
        for policy in setting.policies:
            size = max(
                1, min(setting.trials, round(TASK_SECONDS / setting.seconds_a_trial(policy)))
            )
            for graph in range(setting.graphs):
                for first in range(0, setting.trials, size):
                    last = min(first + size, setting.trials)
                    yield Task(setting, policy, graph, first, last)


def measured(task: Task[Any]) -> Any:
    """What the task's setting measures: one row per trial."""
    return task.setting.measure(task)


def run(task: Task[Any]) -> Any:
    """The task's regrets, (trials, checkpoints); the same bytes wherever it runs."""
    return np.stack(list(played(task)))


def played(task: Task[Any]) -> Iterator[Any]:
    """Play the task's trials in order; yields the regrets of each at the checkpoints."""
    setting: Graphs = task.setting
    problem, policy = setting.problem(task.graph), parse(task.policy)
    rounds = checkpoint_rounds(setting.horizon, CHECKPOINTS, "log")
    kind = trial_class("auto", problem, policy, setting.horizon, False)

    def play(trial: int) -> Any:
        one = kind(problem, policy, setting.seed(task.graph), trial, rounds, False)
        one.finish()
        return one.output.regret

    return map(play, range(task.first, task.last))
