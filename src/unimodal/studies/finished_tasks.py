"""Finished tasks on disk: kept as soon as they are done, found again if nothing has changed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from unimodal.campaigns.stores.sqlite import SmallTable
from unimodal.errors import StoreError, UnimodalError
from unimodal.studies.tasks import Plan, Task, cut, law_hash


class FinishedTasks:
    """A SQLite file of finished tasks, safe against being killed at any moment."""

    def __init__(self, path: Path) -> None:
        self._law, self._path = law_hash(), path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = SmallTable(
                path,
                "CREATE TABLE IF NOT EXISTS tasks (key TEXT PRIMARY KEY, trials INT, regret BLOB)",
            )
        except (StoreError, OSError) as error:
            raise UnimodalError(
                f"the finished work cannot be kept in {path} ({error}): "
                "choose another --out, or remove the file."
            ) from None

    def has(self, task: Task[Any]) -> bool:
        """Whether the task is finished."""
        return bool(self._do("SELECT 1 FROM tasks WHERE key = ?", task.key(self._law)))

    def get(self, task: Task[Any]) -> Any:
        """What a finished task gave: one row per trial."""
        ((blob,),) = self._do("SELECT regret FROM tasks WHERE key = ?", task.key(self._law))
        try:
            return np.frombuffer(blob).reshape(task.last - task.first, -1)
        except (ValueError, TypeError):
            raise self._damaged("other trials than were run") from None

    def all_of(self, setting: Plan, policy: str) -> Any:
        """All trials of a policy in a setting, (graphs, trials, …); None if some are missing."""
        tasks = [task for task in cut([setting]) if task.policy == policy]
        if not all(self.has(task) for task in tasks):
            return None
        kept = [self.get(task) for task in tasks]
        if len({trials.shape[1] for trials in kept}) > 1:
            raise self._damaged("trials of different lengths")
        return np.concatenate(kept).reshape(setting.graphs, setting.trials, -1)

    def put(self, task: Task[Any], regret: Any) -> None:
        """Keep a finished task."""
        kept = np.ascontiguousarray(regret).tobytes()
        query = "INSERT OR REPLACE INTO tasks VALUES (?, ?, ?)"
        self._do(query, task.key(self._law), len(regret), kept)

    def put_all(self, finished: Iterable[tuple[Task[Any], Any]]) -> None:
        """Keep several finished tasks in one transaction, for a disk takes its time for each."""
        self._do("BEGIN")
        try:
            for task, regret in finished:
                self.put(task, regret)
        except BaseException:
            self._do("ROLLBACK")
            raise
        self._do("COMMIT")

    def note(self) -> str | None:
        """What `set_note` kept, or None."""
        self._do("CREATE TABLE IF NOT EXISTS notes (note TEXT)")
        found = self._do("SELECT note FROM notes")
        return str(found[0][0]) if found else None

    def set_note(self, note: str) -> None:
        """Keep a note about the tasks."""
        self._do("INSERT INTO notes VALUES (?)", note)

    def _do(self, query: str, *values: Any) -> list[Any]:
        try:
            return self._file.do(query, *values)
        except StoreError as error:
            raise self._damaged(str(error)) from None

    def _damaged(self, why: str) -> UnimodalError:
        return UnimodalError(
            f"the finished work in {self._path} cannot be used ({why}): choose another --out, or "
            "remove the file."
        )

    def close(self) -> None:
        """Close the file."""
        self._file.close()


@contextlib.contextmanager
def opened(path: Path) -> Iterator[FinishedTasks]:
    """A store that is closed at the end."""
    store = FinishedTasks(path)
    try:
        yield store
    finally:
        store.close()
