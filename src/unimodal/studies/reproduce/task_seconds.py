"""How long finished tasks took, kept beside them, so that a budget survives an interruption."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from unimodal.campaigns.stores.sqlite import SmallTable
from unimodal.studies.tasks import Task, law_hash, measured


def timed(task: Task[Any]) -> tuple[Any, float]:
    """What a task measures, and the seconds of one core that it took."""
    began = time.thread_time()  # not the wall's: other threads and programs take of that
    rows = measured(task)
    return rows, time.thread_time() - began


class TaskSeconds:
    """The seconds of finished tasks, in a file of their own."""

    def __init__(self, path: Path) -> None:
        self._law = law_hash()
        path.parent.mkdir(parents=True, exist_ok=True)
        create = "CREATE TABLE IF NOT EXISTS seconds (key TEXT PRIMARY KEY, seconds REAL)"
        self._file = SmallTable(path, create)

    def get(self, task: Task[Any]) -> float:
        """The seconds of a task; 0 if it was finished without being timed."""
        found = self._file.do("SELECT seconds FROM seconds WHERE key = ?", task.key(self._law))
        return float(found[0][0]) if found else 0.0

    def put_all(self, finished: Iterable[tuple[Task[Any], float]]) -> None:
        """Keep the seconds of several tasks in one transaction."""
        self._file.do("BEGIN")
        for task, seconds in finished:
            query = "INSERT OR REPLACE INTO seconds VALUES (?, ?)"
            self._file.do(query, task.key(self._law), seconds)
        self._file.do("COMMIT")

    def close(self) -> None:
        """Close the file."""
        self._file.close()
