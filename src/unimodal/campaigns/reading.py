"""A campaign's file as it is at one moment, to look at: nothing is written, nobody is held up."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unimodal.agents.agent import Agent
from unimodal.agents.label_text import shown
from unimodal.agents.recorded_history import Recorded
from unimodal.campaigns.archives import Archive, load_archives, with_archives
from unimodal.campaigns.events import Revised, kinds_that, short
from unimodal.campaigns.fold import Fold
from unimodal.campaigns.history_table import compact, plain
from unimodal.campaigns.log_start import WHOLE, LogStart, begins_after, start_of
from unimodal.campaigns.settings import Settings, saved_family
from unimodal.campaigns.stores import DatabaseAddress, Place, StoreToRead, as_place, kind_of
from unimodal.campaigns.stores.retrying import no_interruptions
from unimodal.campaigns.stores.store import Found
from unimodal.errors import DamagedFile, UnimodalError
from unimodal.graphs import Graph
from unimodal.policies import Policy

if TYPE_CHECKING:
    import polars as pl


class Reading:
    """The agent with the state of the file, and the store.

    Attributes
    ----------
    path
        The campaign.
    agent
        The agent with its state.
    events
        The log.
    start
        Where the log begins.

    Examples
    --------
    >>> import tempfile, unimodal as um
    >>> file = tempfile.mkdtemp() + "/prices.db"
    >>> um.Campaign.open(file, um.UTS(), um.graphs.line(3)).close()
    >>> um.campaigns.look(file).history().height
    1
    """

    def __init__(
        self,
        path: Place,
        agent: Agent,
        events: Iterable[tuple[Any, ...]],
        start: LogStart = WHOLE,
    ) -> None:
        self.path, self.agent = path, agent
        self._table = compact(events, agent.family, path, start)

    def compact_history(self) -> pl.DataFrame:
        """The log as `history` has it, but with words as categories: a fraction of the memory."""
        return self._table

    def history(self) -> pl.DataFrame:
        """The log, one row per event."""
        return plain(self._table)


Archives = Sequence[str | Path] | Sequence[Archive]  # to be read, or read already


def load(archives: Archives) -> list[Archive]:
    """Archives that are read, each of them once."""
    read_before = [each for each in archives if isinstance(each, Archive)]
    return read_before or load_archives(path for path in archives if not isinstance(path, Archive))


def read(path: str | Place, work: Callable[[StoreToRead], Found], archives: Archives = ()) -> Found:
    """What some work finds in a campaign, as it is at one moment; the work may be done again.

    With the `archives` of events that `compact` has moved, it finds the whole log.
    """
    place = as_place(path, "the path of a campaign")
    loaded = load(archives)
    return kind_of(place).read_store(place, lambda store: work(with_archives(store, loaded)))


def backup(path: str | Place, target: str | Place) -> Place:
    """Copy a campaign that may be in use into a new file; what was acknowledged before is in it.

    >>> import tempfile, unimodal as um
    >>> folder = tempfile.mkdtemp()
    >>> with um.Campaign.open(folder + "/prices.db", um.UTS(), um.graphs.line(3)) as campaign:
    ...     decision = campaign.decide()
    ...     copy = campaign.backup(folder + "/copy.db")
    >>> with um.Campaign.open(copy) as again:
    ...     again.reward(decision.id, 1.0)
    True
    """
    place = as_place(path, "the path of a campaign")
    target = as_place(target, "the target of a backup")
    if isinstance(target, Path) and target.exists():
        raise UnimodalError(f"there is a file {target} already: name another, or remove it first.")
    with no_interruptions():
        return kind_of(place).back_up(place, target)


def look(path: str | Place, policy: Policy | None = None, archives: Archives = ()) -> Reading:
    """Look at a campaign without opening it; a policy of your own has to be passed.

    Parameters
    ----------
    path
        A file, or the address of a campaign in PostgreSQL.
    policy
        A policy of your own, which is not in the log.
    archives
        Files that `compact` wrote.

    Returns
    -------
    Reading
        The agent as it is now, and its log.

    Examples
    --------
    >>> import tempfile, unimodal as um
    >>> file = tempfile.mkdtemp() + "/prices.db"
    >>> um.Campaign.open(file, um.UTS(), um.graphs.line(3)).close()
    >>> um.campaigns.look(file).agent
    Agent(UTS(), round 0, 3 arms)
    """

    def looked(store: StoreToRead) -> Reading:
        store.check()
        settings = saved_settings(store, policy)
        fold = Fold.restored(settings, store, no_clock)
        fold.catch_up()
        found = Reading(store.path, fold.state.agent, *log_of(store))
        _check_labels(found, settings, store)
        return found

    return read(path, looked, archives)


def log_of(store: StoreToRead) -> tuple[Iterator[tuple[Any, ...]], LogStart]:
    """The events of a log one by one, and what was before the first that is there."""
    start = start_of(store)
    return itertools.chain.from_iterable(store.rows(start.seq)), start


def read_table(path: str | Place, archives: Archives = ()) -> pl.DataFrame:
    """The log of a file as a compact table."""

    def tabled(store: StoreToRead) -> pl.DataFrame:
        family = saved_family(store.settings("rewards"), store.path)
        events, start = log_of(store)
        return compact(events, family, store.path, start)

    return read(path, tabled, archives)


def _check_labels(found: Reading, settings: Settings, store: StoreToRead) -> None:
    """Refuse a log that names arms which its graph never had: who counts would leave them out."""
    held = isinstance(settings.graph, Graph)
    labels = settings.graph.labels if held else found.agent.labels
    known = set(map(shown, labels))
    for event in store.revisions():
        known.update(map(shown, Revised.labels(event)))
    table = found.compact_history().select("kind", "arm", "leader")
    # Walks look up arms that they only pass.
    decided = table["arm"].filter(table["kind"].is_in(kinds_that("names_met_arms")))
    named = set(decided.unique()) | set(table["leader"].unique())
    if strange := named - known - {None}:
        raise DamagedFile(
            f"{store.path} has events of an arm {short(min(strange))}, which its graph never had: "
            "the file was changed by hand or is damaged; `unimodal verify` says more."
        )


def recorded(campaign: Any) -> Recorded:
    """What readers are given: a campaign, or the path of its file, which is then looked at.

    Parameters
    ----------
    campaign
        A campaign, what `look` returned, or a path.

    Returns
    -------
    Recorded
        Something with an agent and a history.

    Examples
    --------
    >>> import unimodal as um
    >>> from unimodal.campaigns.simulated_campaign import simulated_campaign
    >>> recorded(simulated_campaign(um.UTS(), um.problems.triangular(5), rounds=10)).agent.round
    10
    """
    if isinstance(campaign, str | Path | DatabaseAddress):
        return look(campaign)
    if isinstance(campaign, type) or not callable(getattr(campaign, "history", None)):
        raise UnimodalError(
            "what is looked at must be a campaign, as um.Campaign.open returns it, or the path of "
            f"its file, got {campaign!r}."
        )
    return campaign  # type: ignore[no-any-return]


def saved_settings(store: StoreToRead, policy: Policy | None) -> Settings:
    """What a campaign is about, from its file."""
    return Settings(policy=policy).agreed(store.settings(), store.path, set())


def no_clock() -> float:
    """The clock of a fold, which reads none: the log has the times."""
    raise AssertionError("folding a log must not read a clock")


def begin_of(path: str | Place, archives: Archives = ()) -> int:
    """The event after which the log of a campaign begins; 0 where it is whole."""
    return read(path, begins_after, archives)
