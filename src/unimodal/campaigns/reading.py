"""A campaign's file as it is at one moment, to look at: nothing is written, nobody is held up."""

from __future__ import annotations

import contextlib
import itertools
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from unimodal import files
from unimodal.agents.agent import Agent
from unimodal.agents.history import Recorded, shown
from unimodal.campaigns.event_checks import change, short
from unimodal.campaigns.history_table import compact, plain
from unimodal.campaigns.log import Log
from unimodal.campaigns.opening import WAIT, WrittenMeanwhile, connected_to_read
from unimodal.campaigns.settings import Settings, saved_family
from unimodal.campaigns.state_machine import StateMachine
from unimodal.errors import UnimodalError
from unimodal.graphs import Graph
from unimodal.policies import Policy

if TYPE_CHECKING:
    import polars as pl

_TRIES = 10  # readings of a file that is opened and closed all the time
_PAUSE = 0.01  # seconds before the next one, and as many more each time
Found = TypeVar("Found")


class Reading:
    """The agent with the state of the file, and the log."""

    def __init__(self, path: Path, agent: Agent, events: Iterable[tuple[Any, ...]]) -> None:
        self.path, self.agent = path, agent
        self._table = compact(events, agent.family, path)

    def compact_history(self) -> pl.DataFrame:
        """The log as `history` has it, but with words as categories: a fraction of the memory."""
        return self._table

    def history(self) -> pl.DataFrame:
        """The log, one row an event."""
        return plain(self._table)


class LogToRead(Log):
    """The log of a file through a connection that cannot write."""

    def __init__(self, path: Path) -> None:
        self.path, self.closed, self._wait = path, False, WAIT

    def found(self, connection: sqlite3.Connection, work: Callable[[LogToRead], Found]) -> Found:
        """What some work finds through a connection."""
        self._connection = connection
        with self.view():
            self._check_kind()
            if self.is_new():
                raise _empty(self.path)
            return work(self)

    def _sentence(self, name: str, error: sqlite3.Error) -> str:
        if name.startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_PERM", "SQLITE_IOERR")):
            return f"{self.path} cannot be read ({error}): check the file, its folder and rights."
        return super()._sentence(name, error)


def read(path: str | Path, work: Callable[[LogToRead], Found]) -> Found:
    """What some work finds in the log of an existing file, as it is at one moment.

    If somebody who opens or closes the file comes in between, the work is done again.
    """
    path = files.as_path(path, "the path of a campaign")
    _check_there(path)
    log, reason = LogToRead(path), None
    for attempt in range(_TRIES):
        time.sleep(_PAUSE * attempt)
        try:
            with legible(path), log.explained(), connected_to_read(path) as connection:
                return log.found(connection, work)
        except WrittenMeanwhile as meanwhile:
            reason = meanwhile.__cause__
        except OSError as error:  # of a copy
            raise UnimodalError(f"{path} cannot be read: {error.strerror or error}.") from None
    if isinstance(reason, UnimodalError):
        raise reason
    raise UnimodalError(
        f"{path} was opened and closed by others again and again while it was read: read it again."
    )


def _check_there(path: Path) -> None:
    try:
        if not path.exists():
            raise UnimodalError(f"there is no file {path}: check the path.")
        if not path.is_file():
            raise UnimodalError(f"{path} must be a campaign's file, got a folder or a device.")
        if path.stat().st_size == 0:
            raise _empty(path)
    except OSError as error:
        raise UnimodalError(f"{path} cannot be read: {error.strerror or error}.") from None


def _empty(path: Path) -> UnimodalError:
    return UnimodalError(
        f"{path} is empty: a campaign was never opened in it, or it was moved without its -wal "
        "file while it was open."
    )


def look(path: str | Path, policy: Policy | None = None) -> Reading:
    """Look at a campaign without opening it; a policy of your own has to be passed."""

    def looked(log: LogToRead) -> Reading:
        log.check_pages()
        settings = saved_settings(log, policy)
        replica = StateMachine.restored(settings, log, no_clock)
        replica.catch_up()
        found = Reading(log.path, replica.agent, itertools.chain.from_iterable(log.rows()))
        _check_labels(found, settings, log)
        return found

    return read(path, looked)


def read_table(path: Path) -> pl.DataFrame:
    """The log of a file as a compact table."""

    def tabled(log: LogToRead) -> pl.DataFrame:
        family = saved_family(log.settings("rewards"), log.path)
        return compact(itertools.chain.from_iterable(log.rows()), family, log.path)

    return read(path, tabled)


def _check_labels(found: Reading, settings: Settings, log: LogToRead) -> None:
    """Refuse a log that names arms which its graph never had: who counts would leave them out."""
    graph: Any = settings.graph if isinstance(settings.graph, Graph) else found.agent._view
    known = set(map(shown, graph.labels))
    for event in log.revisions():
        known.update(shown(label) for edge in change(event.data)[0] for label in edge)
    table = found.compact_history().select("kind", "arm", "leader")
    decided = table["arm"].filter(table["kind"] == "decide")  # walks look up arms they only pass
    named = set(decided.unique()) | set(table["leader"].unique())
    if strange := named - known - {None}:
        raise UnimodalError(
            f"{log.path} has events of an arm {short(min(strange))}, which its graph never had: "
            "the file was changed by hand or is damaged; `unimodal verify` says more."
        )


def recorded(campaign: Any) -> Recorded:
    """What readers are given: a campaign, or the path of its file, which is then looked at."""
    if isinstance(campaign, str | Path):
        return look(campaign)
    if isinstance(campaign, type) or not callable(getattr(campaign, "history", None)):
        raise UnimodalError(
            "what is looked at must be a campaign, as um.Campaign.open returns it, or the path of "
            f"its file, got {campaign!r}."
        )
    return campaign  # type: ignore[no-any-return]


@contextlib.contextmanager
def legible(path: Path) -> Iterator[None]:
    """Say in a sentence that text is none: SQLite quotes it even in what it says about that."""
    try:
        yield
    except UnicodeDecodeError:
        raise UnimodalError(
            f"{path} must be a campaign's file; it is another kind, or damaged."
        ) from None


def saved_settings(log: Log, policy: Policy | None) -> Settings:
    """What a campaign is about, from its file."""
    return Settings(policy=policy).agreed(log.settings(), log.path, set())


def no_clock() -> float:
    """The clock of a fold, which reads none: the log has the times."""
    raise AssertionError("folding a log must not read a clock")
