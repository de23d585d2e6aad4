"""A campaign's file as it is at one moment, to look at: nothing is written."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unimodal import files
from unimodal.agent.online import Agent
from unimodal.agent.recorded import Recorded
from unimodal.campaign.events import Event
from unimodal.campaign.log import Log
from unimodal.campaign.replica import Replica
from unimodal.campaign.settings import Settings
from unimodal.errors import UnimodalError
from unimodal.policies import Policy

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Reading:
    """The agent with the state of the file, and the log."""

    path: Path
    agent: Agent
    events: list[Event]

    def history(self) -> pl.DataFrame:
        """The log, one row an event."""
        return as_frame(self.events)


def look(path: str | Path, policy: Policy | None = None) -> Reading:
    """Look at a campaign without opening it; a policy of your own has to be passed."""
    with reading(path) as log:
        replica = Replica.restored(saved_settings(log, policy), log, no_clock)
        replica.catch_up()
        return Reading(log.path, replica.agent, list(log.events()))


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


@contextlib.contextmanager
def reading(path: str | Path) -> Iterator[Log]:
    """The log of an existing file, as it is at one moment."""
    path = files.as_path(path, "the path of a campaign")
    if not path.exists():
        raise UnimodalError(f"there is no file {path}: check the path.")
    empty = UnimodalError(
        f"{path} is empty: a campaign was never opened in it, or it was moved without its -wal "
        "file while it was open."
    )
    if path.stat().st_size == 0:
        raise empty  # before SQLite writes a first page
    with legible(path), contextlib.closing(Log(path, "full", 30.0)) as log, log.view():
        if log.is_new():
            raise empty
        yield log


def saved_settings(log: Log, policy: Policy | None) -> Settings:
    """What a campaign is about, from its file."""
    return Settings(policy=policy).agreed(log.settings(), log.path, set())


def no_clock() -> float:
    """The clock of a fold, which reads none: the log has the times."""
    raise AssertionError("folding a log must not read a clock")


def as_frame(events: Iterable[Event]) -> pl.DataFrame:
    """Events as a table; labels become text, since a column has one type."""
    import polars as pl

    schema = {
        **{"seq": pl.Int64, "time": pl.Float64, "kind": pl.String, "decision": pl.Int64},
        **{"arm": pl.String, "reason": pl.String, "leader": pl.String, "near": pl.Int64},
        **{"propensity": pl.Float64, "reward": pl.Float64, "data": pl.String},
    }
    arms: dict[int | None, str] = {}
    rows = []
    for event in events:
        if event.kind == "decide":
            arms[event.decision] = str(event.arm)
        # The log has the arm with the decision only; who reads it wants it with the reward, too.
        arm = arms.get(event.decision) if event.arm is None else str(event.arm)
        leader = None if event.leader is None else str(event.leader)
        rows.append(event._replace(arm=arm, leader=leader))
    try:
        return pl.DataFrame(rows, schema=schema, orient="row")
    except (pl.exceptions.PolarsError, TypeError):
        raise UnimodalError(
            "the log has a value of another kind than its column: the file was changed by hand or "
            "is damaged; `unimodal verify` says where."
        ) from None
