"""Tasks: every trial is played to its end."""

from dataclasses import dataclass

import numpy as np

import unimodal as um
from unimodal.work.tasks import Task, run


@dataclass(frozen=True)
class Line:
    """A setting in which trial 2 has more looks than rounds (tests/engines/test_leap.py)."""

    horizon: int = 10_000

    def problem(self, graph):
        return um.problems.by_distance(um.graphs.line(1000), 333)

    def seed(self, graph):
        return 0


def test_trials_are_those_of_simulate_to_their_last_round():
    rows = run(Task(Line(), "ScoutUTS", 0, 0, 4))
    simulated = um.simulate(Line().problem(0), um.ScoutUTS(), horizon=10_000, trials=4, seed=0)
    assert rows[:, -1].tolist() == simulated["ScoutUTS"].regret[:, -1].tolist()
    assert (np.diff(rows) >= 0).all()
