"""Shards of a study: each runs its tasks into a file of its own, and all are taken into one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from unimodal.errors import UnimodalError
from unimodal.results import shards as numbered
from unimodal.results.shards import Shard
from unimodal.studies.finished_tasks import FinishedTasks, opened
from unimodal.studies.tasks import Task, law_hash

_SUFFIX = ".db"


def tasks_of(shard: Shard, tasks: list[Task[Any]]) -> list[Task[Any]]:
    """Every so-manieth task: long ones, which stand together, are dealt out to all shards."""
    return tasks[shard.number - 1 :: shard.count]


@contextmanager
def begun(
    shard: Shard, tasks: list[Task[Any]], folder: Path, made_by: Any
) -> Iterator[FinishedTasks]:
    """The file of a shard, new or to be resumed; refused if it was begun for other work.

    `made_by` is kept in it, as JSON data, for whoever merges.
    """
    path = shard.path(folder, _SUFFIX)
    with opened(path) as store:
        about = _about(tasks, made_by)
        known = store.note()
        if known is None:
            store.set_note(json.dumps(about))
        elif _read(path, known) != about:
            raise UnimodalError(
                f"{path} was begun with other settings, or by other sources of unimodal, Numba or "
                "NumPy: choose another --out, or remove it."
            )
        yield store


def made_by(path: Path) -> Any:
    """What was kept in the file of a shard when it was begun."""
    with opened(path) as store:
        return _read(path, store.note())["made_by"]


def merge(tasks: list[Task[Any]], folder: Path, into: Path) -> None:
    """Take the finished tasks of all shards in a folder into one file.

    Refused before anything is taken if a shard is missing, there twice, not finished, or of other
    work.
    """
    with ExitStack() as stack:
        stores = []
        for shard, path in numbered.found_in(folder).items():
            if path.suffix != _SUFFIX:
                raise UnimodalError(
                    f"{path} is a shard of unimodal simulate: merge it with unimodal merge."
                )
            store = stack.enter_context(opened(path))
            _check(shard, path, store, tasks)
            stores.append((store, tasks_of(shard, tasks)))
        with opened(into) as kept:
            kept.put_all((task, store.get(task)) for store, own in stores for task in own)


def _check(shard: Shard, path: Path, store: FinishedTasks, tasks: list[Task[Any]]) -> None:
    """Refuse a shard of other work, or one that is not finished."""
    about, known = _about(tasks, None), _read(path, store.note())
    if known["law"] != about["law"]:
        raise UnimodalError(
            f"shard {shard} ({path}) was made by other sources of unimodal, Numba or NumPy than "
            "these: run it again with these, or merge with those."
        )
    if known["tasks"] != about["tasks"]:
        raise UnimodalError(
            f"shard {shard} ({path}) is of other settings than those that are merged: run it again "
            "like the others, or move it elsewhere."
        )
    own = tasks_of(shard, tasks)
    left = sum(not store.has(task) for task in own)
    if left:
        raise UnimodalError(
            f"shard {shard} ({path}) is not finished, {left} of its {len(own)} tasks are left: run "
            "it again as before, and it resumes."
        )


def _about(tasks: list[Task[Any]], made_by: Any) -> dict[str, Any]:
    """What is kept of the work: its sources, all its tasks as a hash, and who made it."""
    law = law_hash()
    keys = "\n".join(task.key(law) for task in tasks)
    hashed = hashlib.sha256(keys.encode()).hexdigest()
    return {"law": law, "tasks": hashed, "made_by": made_by}


def _read(path: Path, note: str | None) -> dict[str, Any]:
    """What was kept, if it is a shard's at all."""
    try:
        about = json.loads(note or "")
        if {"law", "tasks", "made_by"} <= about.keys():
            return dict(about)
    except (ValueError, AttributeError):
        pass
    raise UnimodalError(
        f"{path} must be the file of a shard of a study; it is another kind, or damaged: run the "
        "shard again."
    )
