"""Samples beyond the paper's own: more trials on a line, more graphs elsewhere.

Samples come in blocks of as many as the paper had. Block 0 is the paper's own. A new graph has 20
trials, not 100: graphs differ more than trials do, so many graphs say more than many trials. Where
all graphs are alike, at p = 1, it has as many as the paper's.

From look to look samples double; where a block takes but seconds, they are four times as many.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from unimodal.studies.finished_tasks import FinishedTasks
from unimodal.studies.reproduce.setting import Setting
from unimodal.studies.tasks import Task, cut

TRIALS = 20  # of each new graph
_CHEAP = 5.0  # seconds of one core, by the model: a block that takes less grows fourfold


def trials_of_new_graphs(setting: Setting) -> int:
    """How many trials each graph has that was added."""
    return setting.trials if setting.density == "1" else min(TRIALS, setting.trials)


def growth(setting: Setting) -> int:
    """The factor by which samples of a setting grow from look to look."""
    new = setting.trials if setting.graphs == 1 else setting.graphs * trials_of_new_graphs(setting)
    seconds = new * max(setting.seconds_a_trial(policy) for policy in setting.policies)
    return 4 if seconds < _CHEAP else 2


def size_at(setting: Setting, look: int) -> int:
    """How many blocks of samples a setting has at a look; none before the first."""
    return 0 if look < 0 else int(growth(setting) ** look)


def block(setting: Setting, policy: str, number: int) -> list[Task[Setting]]:
    """The tasks of one block of samples; those of block 0 are the tasks of the study itself."""
    alone = replace(setting, policies=(policy,))
    if setting.graphs == 1:
        ahead = number * setting.trials
        return [replace(t, first=t.first + ahead, last=t.last + ahead) for t in cut([alone])]
    if number > 0:
        alone = replace(alone, trials=trials_of_new_graphs(setting))
    return [replace(task, graph=task.graph + number * setting.graphs) for task in cut([alone])]


def trials_of(setting: Setting, size: int) -> int:
    """How many trials of one policy there are in so many blocks."""
    if size == 0:
        return 0
    own = setting.graphs * setting.trials
    if setting.graphs == 1:
        return own * size
    return own + (size - 1) * setting.graphs * trials_of_new_graphs(setting)


class Samples:
    """Regrets at the checkpoints, one row per sample, of all blocks that are finished in a store.

    A sample is a graph with its trials averaged, or a trial if there is only one graph.
    """

    def __init__(self, store: FinishedTasks) -> None:
        self._store = store
        self._joined: dict[tuple[Setting, str], Any] = {}

    def at(self, setting: Setting, policy: str, look: int) -> Any:
        """The samples at a look, (samples, checkpoints)."""
        size = size_at(setting, look)
        each = setting.trials if setting.graphs == 1 else setting.graphs
        kept = self._joined.get((setting, policy), [])
        there = len(kept) // each
        if there < size:
            new = [self._block(setting, policy, number) for number in range(there, size)]
            kept = np.concatenate([kept, *new] if there else new)
            self._joined[setting, policy] = kept
        return kept[: size * each]

    def _block(self, setting: Setting, policy: str, number: int) -> Any:
        rows = np.concatenate([self._store.get(task) for task in block(setting, policy, number)])
        if setting.graphs > 1:
            rows = rows.reshape(setting.graphs, -1, rows.shape[1]).mean(axis=1)
        return rows
