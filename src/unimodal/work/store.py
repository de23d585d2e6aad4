"""Finished tasks on disk: kept as soon as they are done, found again if nothing has changed."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from unimodal.errors import UnimodalError
from unimodal.work.tasks import Plan, Task, cut, law_hash


class Store:
    """A SQLite file of finished tasks, safe against being killed at any moment."""

    def __init__(self, path: Path) -> None:
        self._law = law_hash()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = sqlite3.connect(path, isolation_level=None)
            self._file.execute("PRAGMA journal_mode = WAL")
            self._file.execute(
                "CREATE TABLE IF NOT EXISTS tasks (key TEXT PRIMARY KEY, trials INT, regret BLOB)"
            )
        except (sqlite3.Error, OSError) as error:
            raise UnimodalError(
                f"the finished work cannot be kept in {path} ({error}): "
                "choose another --out, or remove the file."
            ) from None

    def has(self, task: Task[Any]) -> bool:
        """Whether the task is finished."""
        query = "SELECT 1 FROM tasks WHERE key = ?"
        return self._file.execute(query, (task.key(self._law),)).fetchone() is not None

    def get(self, task: Task[Any]) -> Any:
        """What a finished task gave: a row a trial."""
        query = "SELECT trials, regret FROM tasks WHERE key = ?"
        trials, blob = self._file.execute(query, (task.key(self._law),)).fetchone()
        return np.frombuffer(blob).reshape(trials, -1)

    def all_of(self, setting: Plan, policy: str) -> Any:
        """All trials of a policy in a setting, (graphs, trials, …); None if some are missing."""
        tasks = [task for task in cut([setting]) if task.policy == policy]
        if not all(self.has(task) for task in tasks):
            return None
        kept = np.concatenate([self.get(task) for task in tasks])
        return kept.reshape(setting.graphs, setting.trials, -1)

    def put(self, task: Task[Any], regret: Any) -> None:
        """Keep a finished task."""
        row = (task.key(self._law), len(regret), np.ascontiguousarray(regret).tobytes())
        self._file.execute("INSERT OR REPLACE INTO tasks VALUES (?, ?, ?)", row)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


@contextlib.contextmanager
def opened(path: Path) -> Iterator[Store]:
    """A store that is closed at the end."""
    store = Store(path)
    try:
        yield store
    finally:
        store.close()
