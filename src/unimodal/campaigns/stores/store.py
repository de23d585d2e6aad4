"""What a campaign needs of the place where it is kept: implement this to keep it elsewhere.

A store holds four things: settings, a log of events, snapshots of the state after some of them,
and a table by which the reward of a decision is found without reading the log. The log is the
truth; the other three are written with it or can be made again from it.

One object is one handle on the store, used by one thread at a time. Several handles, in several
processes, may be open on the same campaign. What has to hold:

- *Numbers.* Events are numbered 1, 2, 3, … without gaps, and a number is given once. Whoever
  appends a number that is taken gets `NumberTaken`, and nothing of that call is kept. A primary key
  on the number does this. Numbers of events that were dropped are free for it, so `append_at_once`,
  before which nobody has read the log, looks whether its first number is the next one.
- *Order.* Between `begin` and `commit` nobody else appends. Handles that wait get their turn in the
  order in which they asked, or `Busy` after `wait` seconds. SQLite has `BEGIN IMMEDIATE`, with
  locks of our own before it; a database server has an advisory lock that a transaction holds.
- *History.* A store may be set back: a server by a fail-over to a replica that had not got
  everything, both by a copy that is put in its place. So `begin` and `append_at_once` look whether
  the last event that the handle knows is still the one of that number, by what never changes of it
  (`Identity`). If it is not, `begin` says so (`SetBack`), and nothing is written. If it was moved
  into an archive, the handle cannot know, so the caller begins anew (`Interrupted`).
- *Durability.* When `commit` or `append_at_once` returns, what was written survives a crash of the
  process; with full durability that of the machine, too.
- *One moment.* What is read between `begin` and `commit`, and inside of `read_store`, is the store
  as it was at one moment, whoever writes meanwhile.
- *Interruptions.* A server may be gone for a while. `begin` waits for it. What was in a transaction
  then is lost: `Interrupted`, and the caller does it again. Where only the answer to a `commit` is
  lost, the store finds out whether it arrived before it says which.
- *Errors.* Whatever goes wrong is raised as a `StoreError`; exceptions of a
  database's own do not leave the store. Whoever gets one calls `roll_back`. Values come back with
  the types that they were written with: what is wrong with an event is found, and told, by those
  who fold the log.

`unimodal.testing.check_store` checks this. A new store is a package beside `sqlite` and
`postgresql`, and one line of `kind_of`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

from unimodal.campaigns.events import Identity, Row
from unimodal.campaigns.stores.address import Place
from unimodal.errors import StoreError, unknown_name

Found = TypeVar("Found")


class NumberTaken(StoreError):
    """An event with this number is in the log already: somebody else was quicker."""


class Interrupted(StoreError):
    """A transaction ended by no fault of the call, and nothing of it was kept: do it again at once.

    A store says so only for as long as it makes sense to try: then it raises another error.
    """


class SetBack(StoreError):
    """The log is no longer the one that this handle knew, so what it knew beyond it is lost.

    It is told once: from then on the handle goes on from the log as it is.
    """


class StoreToRead(Protocol):
    """A campaign as it was at one moment; inside `read`, or as a part of a `Store`."""

    @property
    def path(self) -> Place:
        """Where it is, as sentences name it."""

    def is_new(self) -> bool:
        """Whether nothing has been written yet, not even settings."""

    def settings(self, *names: str) -> dict[str, Any]:
        """What the campaign is about: all settings as JSON data, or those that are named."""

    def rows(self, after: int = 0, until: int | None = None) -> Iterator[list[tuple[Any, ...]]]:
        """The events after a number, and up to another, in order.

        In lists of some events each; an event is a tuple with the columns of `Row`.
        """

    def last(self) -> int:
        """The number of the last event; 0 if there is none."""

    def revisions(self) -> Iterator[Row]:
        """The events of kind 'revision', in order."""

    def counts(self, until: int) -> dict[str, int]:
        """How many events there are of each kind, up to a number."""

    def reward_of(self, decision: int) -> float | None:
        """The reward of a decision, wherever it stands, or None if it has none."""

    def last_key(self, digest: str) -> Row | None:
        """The last event of kind 'key' whose data begin with this key; None if there is none.

        Keys are many, so they are found by an index.
        """

    def snapshots(self) -> list[tuple[int, str]]:
        """Which snapshots are kept: number of the event and version, in order."""

    def snapshot(self, seq: int) -> str:
        """The state after an event; empty if no snapshot was kept of it."""

    def last_snapshot(self) -> int:
        """The event after which the last snapshot was taken; 0 if there is none."""

    def check(self) -> None:
        """Refuse a store that is damaged, as far as that is quickly seen."""

    def problems(self) -> list[str]:
        """What the database itself finds wrong, by looking at all of it; empty if nothing is."""

    def lost_rewards(self) -> int:
        """How many rewards `reward_of` would tell otherwise than the log does; 0 if it is sound.

        Of the rewards whose events were dropped there must be as many as settings["archived"] says.
        """

    def kept_rewards(self) -> Iterator[list[tuple[int, float]]]:
        """The rewards that `find_rewards` put where they are found, by decision: some at a time."""


class Store(StoreToRead, Protocol):
    """A handle that reads and writes."""

    closed: bool
    is_gone: bool  # it was removed while it was open, so it can only be opened again

    @property
    def clock(self) -> Callable[[], float] | None:
        """The clock of the place, where many machines meet; None where this machine's will do."""

    # Transactions.

    def begin(self) -> None:
        """Begin a transaction: from here on nobody else writes. `Busy` if it takes too long.

        `SetBack` if the last event that was known here is another one now.
        """

    def commit(self) -> None:
        """End it: all of it is durable when this returns."""

    def roll_back(self) -> None:
        """End it as if it had not been; does nothing where there is none."""

    def version(self) -> int:
        """A number that changes when another handle has written, and not when this one has.

        Inside a transaction. A server may take the number of the last event of others.
        """

    # What is written, inside a transaction.

    def create(self, settings: dict[str, Any]) -> None:
        """Make a new campaign with these settings; only where `is_new`."""

    def written_by(self, version: str) -> bool:
        """Whether it was this version of unimodal that had the store last; from now on it is."""

    def keep_setting(self, name: str, value: Any) -> None:
        """Write a setting, as JSON data, in the place of the one that has its name."""

    def append(self, events: Sequence[Row]) -> None:
        """Add events under their numbers; `NumberTaken` if one is in the log."""

    def find_rewards(self, after: int, until: int) -> None:
        """Put the rewards of the events after a number and up to another where they are found."""

    def keep_snapshot(
        self, seq: int, version: str, state: str, follows: Identity | None = None
    ) -> None:
        """Keep the state after an event, and of the same version the first two of these only.

        The first one of all, with which the log may begin; and the first after those of other
        versions, with which this version took over last. The rewards up to that event must have
        been put where they are found. `follows` names the event, in the setting `snapshots`: the
        log may be set back, and get another of that number.
        """

    def drop_snapshot(self, seq: int) -> None:
        """Delete the snapshot after an event."""

    # What copies, compaction and erasure write, inside a transaction; campaigns only append.

    def put(
        self,
        *,
        settings: Mapping[str, Any] | None = None,
        events: Iterable[Row] = (),
        snapshots: Iterable[tuple[int, str, str]] = (),
        rewards: Iterable[tuple[int, float]] = (),
    ) -> None:
        """Write these over what has the same names and numbers; nothing else is changed.

        `rewards` are those that are found without the log (`kept_rewards`).
        """

    def drop(self, before: int, spare: Sequence[int]) -> None:
        """Delete the events with numbers below one, except some."""

    def drop_snapshots(self, before: int) -> None:
        """Delete the snapshots after events with numbers below one."""

    def drop_rewards(self, decisions: Iterable[int]) -> None:
        """Delete the rewards of some decisions from those that are found without the log."""

    # What is a transaction by itself.

    def reclaim(self) -> None:
        """Give back the room of what was deleted or replaced.

        In a file no byte of it is left; a server may leave some until the room is used again.
        """

    def append_at_once(self, events: Sequence[Row]) -> None:
        """Begin, append and commit, as quickly as can be; `NumberTaken` if it is not the next."""

    def check_place(self) -> None:
        """Refuse to go on if what is written here would not be found under `path` any more."""

    # Forks, and the end.

    def pause_at_forks(self, campaign: Pausable) -> None:
        """Have a campaign paused whenever this process forks, until `let_fork`.

        A child must inherit no connection that it could use. A file is closed for that moment; a
        pool of connections may simply be made anew in the child.
        """

    def let_fork(self, campaign: Pausable) -> None:
        """Have it paused no longer."""

    def suspend(self) -> None:
        """Let go of connections and locks until `resume`, outside of a transaction."""

    def resume(self) -> None:
        """Take them again, if need be; refused if `path` leads elsewhere now."""

    def close(self) -> None:
        """Let go of everything; again, it does nothing."""


class Pausable(Protocol):
    """A campaign that has a store open."""

    def pause(self, seconds: float) -> bool:
        """Finish calls and `suspend`, until `go_on`; False if it takes longer than that."""

    def go_on(self) -> None:
        """Let calls begin again; the store is resumed by the first of them."""


# What a commit survives: with 'full' also a crash of the machine, with 'fast' one of the process.
DURABILITIES = ("full", "fast")


def as_durability(durability: str) -> str:
    """One of the durabilities that every kind of store has, or a refusal."""
    if durability not in DURABILITIES:
        raise unknown_name("durability", durability, DURABILITIES)
    return durability


class StoreKind(Protocol):
    """A kind of store, such as the module `sqlite`: how to get a handle."""

    def is_there(self, path: Place, wait: float) -> bool:
        """Whether there is something at that place already; a new store needs settings."""

    def open_store(self, path: Place, durability: str, wait: float) -> Store:
        """Open a store to write, made if it is not there.

        `durability` is 'full' or 'fast'; `wait` is how many seconds another may keep it busy.
        """

    def read_store(self, path: Place, work: Callable[[StoreToRead], Found]) -> Found:
        """What some work finds in an existing store at one moment; writers go on meanwhile.

        The work may be done again if somebody comes in between.
        """

    def new_store(self, path: Place) -> AbstractContextManager[Store]:
        """A new store, inside of a transaction: leaving it makes all of it, an error nothing.

        Who fills it may roll back and begin again; a campaign that is there is not `is_new`.
        """

    def back_up(self, path: Place, target: Place) -> Place:
        """Copy a store, as it is at one moment, into a new one; writers go on meanwhile."""
