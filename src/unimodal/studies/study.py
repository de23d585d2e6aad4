"""One study: settings × policies × graphs × trials, run in parts and saved with what it is of."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from unimodal import files
from unimodal.errors import UnimodalError
from unimodal.report import progress
from unimodal.results import shards as numbered
from unimodal.studies import parquet, shards
from unimodal.studies.finished_tasks import FinishedTasks, opened
from unimodal.studies.outcome import Outcome, Regrets
from unimodal.studies.run_tasks import do
from unimodal.studies.setting import Setting
from unimodal.studies.tasks import Task, cut, law_hash, measured
from unimodal.version import __version__

if TYPE_CHECKING:
    import polars as pl

Kept = TypeVar("Kept", bound=Outcome)
Tell = Callable[[Task[Any]], object]
# Shows the progress of these tasks while it is entered; it gives the function to call for each.
Watch = Callable[[list[Task[Any]], FinishedTasks], AbstractContextManager[Tell]]

FILE = "finished.db"


@dataclass(frozen=True, repr=False)
class Study(Generic[Kept]):
    """Settings × policies × graphs × trials.

    Parameters
    ----------
    settings
        What is run: `Setting`, or objects of your own with the attributes of `studies.tasks.Plan`.
    outcome
        What is kept of each policy in each setting: regrets and times by default.

    Examples
    --------
    The work is cut into tasks. A finished task is kept in a file of `folder`, so a study that was
    interrupted resumes there. A task is found again if nothing has changed that its result
    depends on: its setting, its policy, the library's sources.

    >>> import tempfile
    >>> import unimodal as um
    >>> setting = um.studies.Setting("line", "line:9", "by distance", ("UTS", "TS"), 1000, 2, 3)
    >>> study = um.studies.Study([setting])
    >>> study
    Study(1 settings, Regrets)
    >>> folder = tempfile.TemporaryDirectory()
    >>> found = study.run(folder.name)
    >>> found.get(setting, "UTS").final.shape  # graphs × trials
    (2, 3)
    >>> found.table().columns[:5]  # one row per setting and policy
    ['setting', 'policy', 'mean', 'low', 'high']

    The file that `save` writes holds the settings and the outcomes.

    >>> path = found.save(f"{folder.name}/data.parquet")
    >>> um.studies.load(path).settings == (setting,)
    True
    >>> folder.cleanup()
    """

    settings: Sequence[Any]
    outcome: type[Kept] = Regrets  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Study({len(self.settings)} settings, {self.outcome.__name__})"

    def tasks(self) -> list[Task[Any]]:
        """The work, in parts of a few seconds."""
        return list(cut(self.settings))

    def run(
        self, folder: str | Path, executor: Executor | None = None, watch: Watch | None = None
    ) -> Outcomes[Kept]:
        """Run what is not finished yet, and return all outcomes.

        `folder` keeps finished tasks. Tasks run in threads by default, or on `executor`; `watch`
        shows progress, by default a bar on a terminal.
        """
        tasks = self.tasks()
        with opened(Path(folder) / FILE) as store:
            with (watch or progress_bar())(tasks, store) as tell:
                do(tasks, store, executor, tell, measured)
            return self._collect(store)

    def run_shard(
        self,
        shard: str,
        folder: str | Path,
        executor: Executor | None = None,
        watch: Watch | None = None,
        made_by: Any = None,
    ) -> Path:
        """Run one part of the work, such as "3/100", into a file of its own in `folder`.

        It resumes after an interruption. `merge` puts all parts together. `made_by` is JSON data
        that is kept in the file.

        >>> import tempfile
        >>> import unimodal as um
        >>> setting = um.studies.Setting("line", "line:5", "by distance", ("UTS",), 100, 2, 3)
        >>> study, folder = um.studies.Study([setting]), tempfile.TemporaryDirectory()
        >>> study.run_shard("1/2", folder.name).name
        'shard-1-of-2.db'
        >>> _ = study.run_shard("2/2", folder.name)
        >>> study.merge(folder.name).get(setting, "UTS").final.shape
        (2, 3)
        >>> folder.cleanup()
        """
        part, tasks, place = numbered.parse(shard), self.tasks(), Path(folder)
        if part.count > len(tasks):
            raise UnimodalError(
                f"this study has {len(tasks)} tasks, and so at most as many shards, got {part}."
            )
        with shards.begun(part, tasks, place, made_by) as store:
            own = shards.tasks_of(part, tasks)
            with (watch or progress_bar())(own, store) as tell:
                do(own, store, executor, tell, measured)
        return part.path(place, ".db")

    def merge(self, folder: str | Path) -> Outcomes[Kept]:
        """Put the shards in `folder` together, as if one `run` had finished there.

        Refused if one is missing, there twice, not finished, or of other work.
        """
        shards.merge(self.tasks(), Path(folder), Path(folder) / FILE)
        return self.finished(folder)

    def finished(self, folder: str | Path) -> Outcomes[Kept]:
        """The outcomes whose trials are all finished in `folder`; nothing is run."""
        with opened(Path(folder) / FILE) as store:
            return self._collect(store)

    def _collect(self, store: FinishedTasks) -> Outcomes[Kept]:
        kept = []
        for setting in self.settings:
            for policy in setting.policies:
                rows = store.all_of(setting, policy)
                if rows is not None:
                    kept.append(self.outcome.of(setting, policy, rows))
        return Outcomes(kept, self.settings, f"unimodal {__version__}, sources {law_hash()}")


class Outcomes(Generic[Kept]):
    """What a study found: one outcome per setting and policy, of those that are complete.

    Attributes
    ----------
    kept
        The outcomes that are complete.
    settings
        The settings that were asked for.
    made_with
        The versions that made them.

    Examples
    --------
    >>> from unimodal.studies import Outcomes
    >>> len(Outcomes([], []).complete())
    0
    """

    def __init__(self, kept: Sequence[Kept], settings: Sequence[Any], made_with: str = "") -> None:
        self.all, self.settings, self.made_with = list(kept), tuple(settings), made_with
        self._by_key = {(one.setting, one.policy): one for one in self.all}

    def __repr__(self) -> str:
        complete, planned = len(self.complete()), len(self.settings)
        return f"Outcomes({complete} of {planned} settings complete, made with {self.made_with})"

    def get(self, setting: Any, policy: str) -> Kept:
        """The outcome of a policy in a setting."""
        return self._by_key[setting, policy]

    def of(self, setting: Any) -> dict[str, Kept]:
        """The complete outcomes of a setting, by policy."""
        keys = [(setting, policy) for policy in setting.policies]
        return {key[1]: self._by_key[key] for key in keys if key in self._by_key}

    def complete(self) -> dict[Any, dict[str, Kept]]:
        """The settings in which every policy is complete, with the outcomes of each by policy."""
        found = {setting: self.of(setting) for setting in self.settings}
        return {one: kept for one, kept in found.items() if len(kept) == len(one.policies)}

    def table(self) -> pl.DataFrame:
        """A Polars table with one row per setting and policy."""
        import polars as pl

        rows = [
            {"setting": one.setting.name, "policy": one.policy, **one.summary()} for one in self.all
        ]
        return pl.DataFrame(rows)

    def save(self, path: str | Path) -> Path:
        """Write one compact Parquet file with the settings and the outcomes, to seven digits."""
        rows = [
            {
                "setting": json.dumps(one.setting.to_data()),
                "policy": one.policy,
                **{name: _listed(values) for name, values in one.numbers().items()},
            }
            for one in self.all
        ]
        planned = json.dumps([setting.to_data() for setting in self.settings])
        return parquet.write(Path(path), rows, {"planned": planned, "made_with": self.made_with})


def load(
    path: str | Path,
    setting: Any = Setting,
    outcome: type[Kept] = Regrets,  # type: ignore[assignment]
    expected: str = "the saved outcomes of a study",
) -> Outcomes[Kept]:
    """The outcomes that `Outcomes.save` wrote; `setting` and `outcome` are the classes they have.

    `expected` says in an error what the file must be.

    Parameters
    ----------
    path
        A file that `Outcomes.save` wrote.
    setting
        The class of its settings.
    outcome
        The class of its outcomes.
    expected
        What the file should be, for an error.

    Returns
    -------
    Outcomes[Kept]
        The outcomes.

    Raises
    ------
    UnimodalError
        If the file is something else.

    Examples
    --------
    >>> import tempfile, unimodal as um
    >>> setting = um.studies.Setting("line", "line:5", "by distance", ("UTS",), 100, 1, 2)
    >>> found = um.studies.Study([setting]).run(tempfile.mkdtemp())
    >>> load(found.save(tempfile.mkdtemp() + "/data.parquet")).table().height
    1
    """
    path = files.as_path(path, "the path of a saved study")
    with files.reading(path, expected):
        rows, about = parquet.read(path)
        kept = []
        for row in rows:
            # Comparisons had a word of their own for a setting.
            data = row["setting"] if "setting" in row else row["case"]
            kept.append(outcome.from_row(setting.from_data(json.loads(data)), row))
        if not {"planned", "made_with"} & about.keys():
            raise ValueError("notes of another kind")
        if "planned" in about:
            settings = [setting.from_data(data) for data in json.loads(about["planned"])]
        else:  # as comparisons were saved at first
            settings = list(dict.fromkeys(one.setting for one in kept))
        if not settings:
            raise ValueError("no settings")
        return Outcomes(kept, settings, about.get("made_with", ""))


def _listed(values: Any) -> list[float]:
    return list(np.asarray(values, dtype=float).ravel().tolist())


def progress_bar(title: str = "Running") -> Watch:
    """A bar on a terminal that counts rounds; what was finished before counts at once."""

    @contextmanager
    def watch(tasks: list[Task[Any]], store: FinishedTasks) -> Iterator[Tell]:
        done = 0
        with progress.bar(title, sum(map(_rounds, tasks))) as show:

            def tell(task: Task[Any]) -> None:
                nonlocal done
                done += _rounds(task)
                show(done)

            for task in tasks:
                if store.has(task):
                    tell(task)
            yield tell

    return watch


def _rounds(task: Task[Any]) -> int:
    return (task.last - task.first) * int(task.setting.horizon)
