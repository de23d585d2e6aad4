"""A campaign's file as it is at one moment, to look at: nothing is written, nobody is held up."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unimodal.agents.agent import Agent
from unimodal.agents.recorded_history import Recorded, history_of
from unimodal.campaigns.archives import Archive, load_archives, with_archives
from unimodal.campaigns.fold import Fold
from unimodal.campaigns.history_table import compact, plain
from unimodal.campaigns.log_facts import LogFacts, facts_of
from unimodal.campaigns.log_reader import LogReader, check_labels, known_labels, no_clock
from unimodal.campaigns.log_start import WHOLE, LogStart, begins_after, start_of
from unimodal.campaigns.settings import Settings, saved_family
from unimodal.campaigns.stores import DatabaseAddress, Place, StoreToRead, as_place, kind_of
from unimodal.campaigns.stores.retrying import no_interruptions
from unimodal.campaigns.stores.store import Found
from unimodal.errors import UnimodalError
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
    facts
        What certificates and alarms count.

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
        self.path, self.agent, self.start = path, agent, start
        as_zero = agent.book.on_expiry == "zero"
        self.facts = LogFacts(path, start, agent.family, as_zero)
        self._table = compact(events, self.facts)

    def _followed(self, work: Callable[[Agent, LogFacts], Found]) -> Found:
        """What some work finds in agent and facts."""
        return work(self.agent, self.facts)

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
        known = known_labels(settings, fold.state.agent, store)
        check_labels(found.facts, known, store.path)
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
        return compact(events, LogFacts(store.path, start, family))

    return read(path, tabled, archives)


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


def at_one_moment(campaign: Any) -> Recorded:
    """The same for those who look at it for longer than one moment: it does not go on."""
    campaign = recorded(campaign)
    looked_at = getattr(campaign, "_looked_at", None)
    return campaign if looked_at is None else looked_at()  # type: ignore[no-any-return]


def with_facts(campaign: Recorded | str | Place, work: Callable[[Agent, LogFacts], Found]) -> Found:
    """What some work finds in the agent and the facts of a campaign, as they are at one moment.

    A campaign's own reader goes on from where it was; the file of one is read once.
    """
    if isinstance(campaign, str | Path | DatabaseAddress):
        return LogReader().read(as_place(campaign, "the path of a campaign"), work)
    campaign = recorded(campaign)
    followed = getattr(campaign, "_followed", None)
    if followed is not None:
        found: Found = followed(work)
        return found
    agent = campaign.agent  # before the log, which then has all that the agent has seen
    return work(agent, facts_of(history_of(campaign), agent.book.on_expiry == "zero"))


def saved_settings(store: StoreToRead, policy: Policy | None) -> Settings:
    """What a campaign is about, from its file."""
    return Settings(policy=policy).agreed(store.settings(), store.path, set())


def begin_of(path: str | Place, archives: Archives = ()) -> int:
    """The event after which the log of a campaign begins; 0 where it is whole."""
    return read(path, begins_after, archives)
