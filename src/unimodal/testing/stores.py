"""What every store must do: see `unimodal.campaigns.stores.store` for what it promises.

The checks go through that protocol only, and say nothing of files, tables or SQL.
"""

from __future__ import annotations

import contextlib
import functools
import pickle
import threading
import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

from unimodal.campaigns.events import Row, identity_of
from unimodal.campaigns.stores.store import NumberTaken, SetBack, Store, StoreKind, StoreToRead
from unimodal.errors import Busy, StoreError, UnimodalError

NewPlace = Callable[[], Any]
SETTINGS = {"seed": 3, "graph": {"kind": "line", "n_arms": 4}, "root": None, "name": "Größe"}
EVERY_KIND = [
    Row(1, 1.5, "open", data='{"version": "1"}'),
    Row(2, 1.5, "look-up", arm="ä", data='["ä", ["b", 2, [1, 2]]]'),
    Row(3, 2.0, "decide", 1, "ä", "start", None, 1),
    Row(4, 2.0, "decide", 2, 7, "contest", 0.5, 3, 0.1 + 0.2),
    Row(5, 2.25, "reward", 2, reward=-1e-300),
    Row(6, 3.0, "expire", 1),
    Row(7, 3.0, "revision", data='{"add": []}'),
    Row(8, 1e300, "stream"),
]
_LONG = 30.0  # seconds that nothing here takes


def check_store(kind: StoreKind, new_place: NewPlace) -> None:
    """Run every check of a kind of store; the first that fails raises an AssertionError.

    Parameters
    ----------
    kind
        What opens stores: a module or an object with the functions of `StoreKind`.
    new_place
        A function that makes a place where no campaign is, a new one each time.

    Raises
    ------
    AssertionError
        If a check fails; it says what was expected.

    Examples
    --------
    >>> import itertools, pathlib, tempfile
    >>> from unimodal.campaigns.stores import sqlite
    >>> folder, numbers = pathlib.Path(tempfile.mkdtemp()), itertools.count()
    >>> check_store(sqlite, lambda: folder / f"{next(numbers)}.db")
    """
    for check in STORE_CHECKS:
        check(kind, new_place)


class Stores:
    """One new place, and the handles that a check has open there."""

    def __init__(self, kind: StoreKind, new_place: NewPlace) -> None:
        self.kind, self.new_place = kind, new_place
        self.path = new_place()
        self._handles: list[Store] = []

    def opened(self, path: Any = None, wait: float = 5.0) -> Store:
        """Another handle, on this place or another one."""
        handle = self.kind.open_store(path or self.path, "fast", wait)
        self._handles.append(handle)
        return handle

    def created(self, path: Any = None) -> Store:
        """A handle on a new campaign without events."""
        store = self.opened(path)
        with transaction(store):
            store.create(SETTINGS)
        return store

    def read(self, work: Callable[[StoreToRead], Any]) -> Any:
        """What some work finds as a reader."""
        return self.kind.read_store(self.path, work)

    def __enter__(self) -> Stores:
        """Begin a check."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        """Close all handles."""
        for handle in self._handles:
            handle.close()


# What checks are made of.


def same(found: Any, expected: Any, what: str) -> None:
    """Say what was expected, and what came."""
    assert found == expected, f"{what} must be {expected!r}, got {found!r}"


@contextlib.contextmanager
def refused(error: type[Exception], what: str) -> Iterator[None]:
    """Say so if something is not refused by an error of that class."""
    try:
        yield
    except error:
        return
    raise AssertionError(f"{what} must be refused with {error.__name__}")


@contextlib.contextmanager
def transaction(store: Store) -> Iterator[None]:
    """A transaction, which is committed, or rolled back after an error."""
    try:
        store.begin()
        yield
        store.commit()
    except BaseException:
        store.roll_back()
        raise


def write(store: Store, *events: Row) -> None:
    """Append events in a transaction."""
    with transaction(store):
        store.append(events)


def log(store: StoreToRead, *bounds: int) -> list[Row]:
    """The events of a store."""
    return [Row._make(row) for rows in store.rows(*bounds) for row in rows]


def decision(seq: int, number: int) -> Row:
    """An event of a decision."""
    return Row(seq, 10.0 + seq, "decide", number, "a", "contest", 3, 2, 0.25)


def reward(seq: int, number: int, value: float = 1.0) -> Row:
    """An event of a reward."""
    return Row(seq, 10.0 + seq, "reward", number, reward=value)


def snapshot(store: Store, seq: int, version: str, state: str) -> None:
    """Keep a snapshot, and find the rewards before it."""
    with transaction(store):
        store.find_rewards(store.last_snapshot(), seq)
        store.keep_snapshot(seq, version, state)


def kept_rewards(store: StoreToRead) -> list[tuple[int, float]]:
    """The rewards that are found without the log."""
    return [pair for some in store.kept_rewards() for pair in some]


def content(store: StoreToRead) -> tuple[Any, ...]:
    """All that a store has."""
    snapshots = [(*each, store.snapshot(each[0])) for each in store.snapshots()]
    return store.settings(), log(store), snapshots, kept_rewards(store)


STORE_CHECKS: list[Callable[[StoreKind, NewPlace], None]] = []


def _check(check: Callable[[Stores], None]) -> Callable[[StoreKind, NewPlace], None]:
    """Make a check of something that has a new place, and add it to the list."""

    @functools.wraps(check)
    def checked(kind: StoreKind, new_place: NewPlace) -> None:
        with Stores(kind, new_place) as stores:
            check(stores)

    del checked.__wrapped__  # its arguments are others
    STORE_CHECKS.append(checked)
    return checked


# Settings.


@_check
def is_new_until_it_is_created(stores: Stores) -> None:
    """And what is rolled back was never written."""
    store = stores.opened()
    store.begin()
    assert store.is_new(), "a store must be new before anything is written"
    store.create(SETTINGS)
    assert not store.is_new(), "a store must not be new in the transaction that created it"
    store.roll_back()
    assert stores.opened().is_new(), "a store must be new after its creation was rolled back"
    store.roll_back()  # there is nothing to roll back
    with transaction(store):
        store.create(SETTINGS)
    assert not stores.opened().is_new(), "a store must not be new after it was created"
    same(stores.kind.is_there(stores.path, 5.0), True, "whether a store is there")


@_check
def settings_come_back_as_they_were(stores: Stores) -> None:
    """All of them, and some by their names."""
    for handle in (stores.created(), stores.opened()):
        same(handle.settings(), SETTINGS, "the settings")
        same(handle.settings("seed", "root"), {"seed": 3, "root": None}, "two settings")


@_check
def version_of_the_last_writer_is_known(stores: Stores) -> None:
    """It is none of the settings."""
    store = stores.created()
    with transaction(store):
        found = [store.written_by(version) for version in ("1", "1", "2", "2")]
    same(found, [True, True, False, True], "whether versions 1, 1, 2, 2 had it last")
    same(store.settings(), SETTINGS, "the settings")


@_check
def setting_replaces_the_one_before(stores: Stores) -> None:
    """If its transaction is committed."""
    store = stores.created()
    with transaction(store):
        store.keep_setting("clock", {"seen": 1.5})
        store.keep_setting("clock", {"seen": None, "boot": "é"})
    clock = {"clock": {"seen": None, "boot": "é"}}
    same(stores.opened().settings(), SETTINGS | clock, "the settings")
    store.begin()
    store.keep_setting("clock", 3)
    store.roll_back()
    same(stores.opened().settings("clock"), clock, "a setting whose change was rolled back")


# Events.


@_check
def events_come_back_with_values_and_types(stores: Stores) -> None:
    """In order, of every kind."""
    store = stores.created()
    write(store, *EVERY_KIND[:3])
    write(store, *EVERY_KIND[3:])
    for handle in (store, stores.opened()):
        found = log(handle)
        same(found, EVERY_KIND, "the log")
        types = [[list(map(type, event)) for event in some] for some in (found, EVERY_KIND)]
        same(types[0], types[1], "the types of the log's values")
        same(handle.last(), 8, "the number of the last event")
        same(list(handle.revisions()), [EVERY_KIND[6]], "the revisions")
        counts = {"open": 1, "look-up": 1, "decide": 2, "reward": 1}
        same(handle.counts(5), counts, "the counts up to event 5")


@_check
def events_between_two_numbers_are_read(stores: Stores) -> None:
    """Also where they are many."""
    store = stores.created()
    same((log(store), store.last()), ([], 0), "an empty log")
    events = [reward(seq, seq) for seq in range(1, 3001)]
    write(store, *events)
    same(log(store), events, "the log")
    same(log(store, 1200), events[1200:], "the log after event 1200")
    same(log(store, 1200, 1300), events[1200:1300], "the log from event 1201 to 1300")
    same(log(store, 3000), [], "the log after its last event")


@_check
def numbers_that_are_taken_are_refused(stores: Stores) -> None:
    """Nothing of that call is kept, and nobody holds a lock after it."""
    store, other = stores.created(), stores.opened()
    before = [decision(1, 1), reward(2, 1), reward(3, 2)]
    write(store, *before)
    for late in (
        [reward(3, 9, 0.0)],
        [decision(3, 9)],
        [decision(4, 9), reward(3, 9, 0.0)],
        [reward(4, 8), reward(2, 9, 0.0)],
    ):
        with refused(NumberTaken, f"what has taken numbers ({late})"):
            write(other, *late)
        with refused(NumberTaken, f"what has taken numbers ({late})"):
            other.append_at_once(late)
        same((log(store), log(other)), (before, before), "the log after a refusal")
    write(store, decision(4, 3))
    same(log(other)[3:], [decision(4, 3)], "what is written after a refusal")


@_check
def what_is_appended_at_once_is_there(stores: Stores) -> None:
    """For all handles."""
    store = stores.created()
    write(store, *(decision(seq, seq) for seq in range(1, 4)))
    for first, many in ((4, 1), (5, 3)):
        news = [reward(first + n, 1 + n) for n in range(many)]
        store.append_at_once(news)
        same(log(stores.opened(), first - 1), news, "what was appended at once")


@_check
def events_and_other_things_are_one_transaction(stores: Stores) -> None:
    """Events may be appended in pieces."""
    store = stores.created()
    with transaction(store):
        store.append([decision(1, 1)])
        store.append([decision(2, 2)])
        store.find_rewards(0, 2)  # of which there are none
    same(log(stores.opened()), [decision(1, 1), decision(2, 2)], "the log")


@_check
def last_event_of_a_key_is_found(stores: Stores) -> None:
    """A key is not the beginning of another one."""

    def key(seq: int, digest: str, n: int) -> Row:
        return Row(seq, 10.0, "key", data=f'{{"key": "{digest}", "n": {n}}}')

    store = stores.created()
    same(store.last_key("ab"), None, "a key of which there is none")
    write(store, decision(1, 1), key(2, "ab", 1), key(3, "abc", 2), key(4, "ab", 3), key(5, "a", 4))
    for handle in (store, stores.opened()):
        same(handle.last_key("ab"), key(4, "ab", 3), "the last event of a key")
        same(handle.last_key("abc"), key(3, "abc", 2), "the last event of a longer key")
        same(handle.last_key("b"), None, "a key of which there is none")
    store.begin()
    store.append([key(6, "b", 5)])
    same(store.last_key("b"), key(6, "b", 5), "a key of this transaction")
    store.roll_back()
    same(store.last_key("b"), None, "a key that was rolled back")


# Several handles.


@_check
def handles_see_what_others_have_committed(stores: Stores) -> None:
    """And nothing else."""
    store, other = stores.created(), stores.opened()
    store.begin()
    store.append([decision(1, 1)])
    same(log(store), [decision(1, 1)], "the log inside of a transaction")
    same(log(other), [], "what another handle sees of a transaction that goes on")
    store.commit()
    same(log(other), [decision(1, 1)], "what another handle sees of a commit")
    write(other, reward(2, 1))
    same(log(store, 1), [reward(2, 1)], "what this handle sees of another one's commit")


@_check
def version_changes_when_others_have_written(stores: Stores) -> None:
    """Not when this handle has."""
    store, other = stores.created(), stores.opened()

    def version() -> int:
        with transaction(store):
            return store.version()

    before = version()
    write(store, decision(1, 1))
    store.append_at_once([reward(2, 1)])
    same(version(), before, "the version after what this handle has written")
    write(other, decision(3, 2))
    after = version()
    assert after != before, "the version must change when another handle has written"
    other.append_at_once([reward(4, 2)])
    assert version() != after, "the version must change when another one has appended at once"


@_check
def log_that_was_set_back_is_told_once(stores: Stores) -> None:
    """It has as many events as before, of which the last is another one; nothing is written."""
    for at_once in (0, 1, 3):
        path = stores.new_place()
        store = stores.created(path)
        write(store, decision(1, 1), reward(2, 1))
        other = stores.opened(path)
        with transaction(other):
            other.put(events=[reward(2, 1)._replace(time=99.0)])
        with refused(SetBack, "to go on from a history that is lost"):
            if at_once:
                with contextlib.suppress(NumberTaken):  # then whoever begins is told why
                    store.append_at_once([reward(3 + n, 2 + n) for n in range(at_once)])
            store.begin()
        store.roll_back()
        same(stores.opened(path).last(), 2, "the last event after a refusal")
        store.append_at_once([reward(3, 2)])
        same(log(stores.opened(path))[-1], reward(3, 2), "the last event after it was told")


@_check
def numbers_of_dropped_events_are_taken(stores: Stores) -> None:
    """For who has been behind since before, also where its last event has stayed."""
    for many in (1, 3):
        path = stores.new_place()
        store, behind = stores.created(path), stores.opened(path)
        write(store, *(decision(seq, seq) for seq in range(1, 4)))
        same(log(behind)[-1].seq, 3, "the last event")
        write(store, *(decision(seq, seq) for seq in range(4, 9)))
        with transaction(store):
            store.drop(8, [3])
        with refused(NumberTaken, "the number of an event that was dropped"):
            behind.append_at_once([reward(4 + n, 1 + n) for n in range(many)])
        same([event.seq for event in log(store)], [3, 8], "the numbers after a refusal")
        behind.append_at_once([reward(9 + n, 1 + n) for n in range(many)])
        same(log(store, 8), [reward(9 + n, 1 + n) for n in range(many)], "what came next")


# Rewards by decision, and snapshots.


@_check
def reward_of_a_decision_is_found(stores: Stores) -> None:
    """Before a snapshot and after it; finding rewards twice changes nothing."""
    store = stores.created()
    write(store, decision(1, 1), decision(2, 2), reward(3, 2, 0.25))
    same([store.reward_of(n) for n in (1, 2, 9)], [None, 0.25, None], "the rewards in the log")
    snapshot(store, 3, "1", "{}")
    write(store, reward(4, 1, -0.5))
    for handle in (store, stores.opened()):
        found = [handle.reward_of(n) for n in (1, 2, 9)]
        same(found, [-0.5, 0.25, None], "the rewards after a snapshot")
        same(handle.lost_rewards(), 0, "the rewards that are lost")
    with transaction(store):
        store.find_rewards(0, 4)  # again
    same((store.reward_of(1), store.reward_of(2)), (-0.5, 0.25), "rewards found again")
    same(store.lost_rewards(), 0, "the rewards that are lost")


@_check
def rewards_left_behind_by_a_snapshot_are_lost(stores: Stores) -> None:
    """They are counted."""
    store = stores.created()
    write(store, decision(1, 1), decision(2, 2), reward(3, 2), reward(4, 1))
    with transaction(store):
        store.find_rewards(0, 3)
        store.keep_snapshot(4, "1", "{}")
    same(store.lost_rewards(), 1, "the rewards that are lost")


@_check
def three_snapshots_of_a_version_are_kept(stores: Stores) -> None:
    """The first one, that with which it took over from another version last, and the last one."""
    store = stores.created()
    same((store.snapshots(), store.last_snapshot(), store.snapshot(7)), ([], 0, ""), "none")
    write(store, *(decision(seq, seq) for seq in range(1, 10)))
    for seq, version in enumerate("111212221", 1):
        snapshot(store, seq, version, f'{{"é": {seq}}}')
    for handle in (store, stores.opened()):
        kept = [(1, "1"), (4, "2"), (6, "2"), (8, "2"), (9, "1")]
        same(handle.snapshots(), kept, "the snapshots")
        same(handle.last_snapshot(), 9, "the event of the last snapshot")
        same((handle.snapshot(4), handle.snapshot(2)), ('{"é": 4}', ""), "the states of two")


@_check
def snapshot_names_its_event_and_can_be_dropped(stores: Stores) -> None:
    """In the setting `snapshots`."""
    store = stores.created()
    write(store, decision(1, 1), reward(2, 1))
    with transaction(store):
        store.keep_snapshot(1, "1.0", "{}", identity_of(decision(1, 1)))
        store.keep_snapshot(2, "2.0", "{}", identity_of(reward(2, 1)))
    names = {"1": [11.0, "decide", 1], "2": [12.0, "reward", 1]}
    same(stores.opened().settings("snapshots"), {"snapshots": names}, "the setting")
    with transaction(store):
        store.drop_snapshot(2)
    same(stores.opened().snapshots(), [(1, "1.0")], "the snapshots")


# Reading and copying.


@_check
def reader_sees_one_moment(stores: Stores) -> None:
    """While others write."""
    store = stores.created()
    write(store, decision(1, 1))

    def work(reader: StoreToRead) -> list[Any]:
        seen = [log(reader)]
        if store.last() == 1:
            write(store, reward(2, 1))
        return [*seen, log(reader), reader.last(), reader.settings()]

    before, after, last, settings = stores.read(work)
    same((after, last), (before, len(before)), "what a reader sees while others write")
    same(settings, SETTINGS, "the settings")
    same(log(store), [decision(1, 1), reward(2, 1)], "the log")


@_check
def writers_go_on_while_somebody_reads(stores: Stores) -> None:
    """And the reader still sees its moment."""
    store = stores.created()
    write(store, decision(1, 1))
    inside, done, found = threading.Event(), threading.Event(), []

    def work(reader: StoreToRead) -> int:
        reader.last()
        inside.set()
        assert done.wait(_LONG), "a writer must not wait for a reader"
        return reader.last()

    reading = threading.Thread(target=lambda: found.append(stores.read(work)))
    reading.start()
    try:
        assert inside.wait(_LONG), "a reader must not wait"
        write(store, reward(2, 1))
    finally:
        done.set()
        reading.join(_LONG)
    same(found, [1], "the last event for a reader that began before it")
    same(stores.read(lambda reader: reader.last()), 2, "the last event for the next reader")


@_check
def what_is_read_needs_to_be_there(stores: Stores) -> None:
    """Reading makes nothing."""
    with refused(StoreError, "to read where no campaign is"):
        stores.read(lambda reader: reader.last())


@_check
def copy_has_all_of_it(stores: Stores) -> None:
    """And goes its own way."""
    store = stores.created()
    write(store, *EVERY_KIND)
    snapshot(store, 8, "1", "{}")
    copy = stores.opened(stores.kind.back_up(stores.path, stores.new_place()))
    same(content(copy), content(store), "a copy")
    same(copy.reward_of(2), -1e-300, "a reward in a copy")
    write(copy, decision(9, 3))
    same(store.last(), 8, "the last event of what was copied")


@_check
def sound_store_has_no_problems(stores: Stores) -> None:
    """Neither for its writer nor for a reader."""
    store = stores.created()
    write(store, *EVERY_KIND)

    def problems(store: StoreToRead) -> tuple[list[str], int]:
        store.check()
        return store.problems(), store.lost_rewards()

    same(problems(store), ([], 0), "the problems, and the rewards that are lost")
    same(stores.read(problems), ([], 0), "those that a reader finds")


# Copies, compaction and erasure.


@_check
def what_is_put_replaces_what_had_its_name(stores: Stores) -> None:
    """Nothing else is changed."""
    store = stores.created()
    write(store, *EVERY_KIND)
    snapshot(store, 8, "1", "{}")
    changed = EVERY_KIND[3]._replace(arm="neutral", leader=None, propensity=None)
    with transaction(store):
        store.put(
            settings={"seed": 4, "archived": {"rewards": 1}},
            events=[changed],
            snapshots=[(3, "0", '{"ä": 1}'), (8, "2", "{}")],
            rewards=[(2, 0.5), (9, 1.5)],
        )
    for handle in (store, stores.opened()):
        same(log(handle), [*EVERY_KIND[:3], changed, *EVERY_KIND[4:]], "the log")
        settings = {**SETTINGS, "seed": 4, "archived": {"rewards": 1}}
        same(handle.settings(), settings, "the settings")
        same(handle.snapshots(), [(3, "0"), (8, "2")], "the snapshots")
        same(handle.snapshot(3), '{"ä": 1}', "a snapshot")
        same(kept_rewards(handle), [(2, 0.5), (9, 1.5)], "the rewards that are kept")
        # Another than the log has; that of 9 was archived.
        same(handle.lost_rewards(), 1, "the rewards that are lost")
    store.begin()
    store.put(rewards=[(1, 0.0)])
    store.roll_back()
    same(kept_rewards(store), [(2, 0.5), (9, 1.5)], "the rewards after a roll-back")


@_check
def what_is_dropped_is_gone(stores: Stores) -> None:
    """And the rest is not."""
    store = stores.created()
    write(store, *EVERY_KIND)
    snapshot(store, 2, "1", "{}")
    snapshot(store, 6, "2", "{}")
    with transaction(store):
        store.drop(6, [1, 4])
        store.drop_snapshots(6)
        store.drop_rewards([1, 2])
    store.reclaim()
    for handle in (store, stores.opened()):
        same([event.seq for event in log(handle)], [1, 4, 6, 7, 8], "the numbers")
        same((handle.snapshots(), kept_rewards(handle)), ([(6, "2")], []), "what is kept")
        same((handle.last(), handle.counts(8)["decide"]), (8, 1), "the last, and decisions")
    write(store, decision(9, 3))
    same(log(stores.opened(), 8), [decision(9, 3)], "what is written after it")


@_check
def campaigns_leave_each_other_alone(stores: Stores) -> None:
    """They may be in the same tables, and have the same numbers."""
    store, other = stores.created(), stores.created(stores.new_place())
    for handle in (store, other):
        write(handle, *EVERY_KIND)
        for seq in (5, 6, 8):
            snapshot(handle, seq, "1", "{}")
    before = content(other)
    same(content(store), before, "two campaigns of the same events")
    snapshot(store, 8, "1", '{"a": 1}')
    with transaction(store):
        store.written_by("9")
        changed = EVERY_KIND[3]._replace(arm="b")
        store.put(settings={"seed": 4}, events=[changed], rewards=[(2, 0.5)])
        store.put(snapshots=[(5, "0", '{"b": 1}')])
        store.find_rewards(0, 8)
    same(content(other), before, "a campaign after another was written to")
    with transaction(store):
        store.drop(8, [])
        store.drop_snapshots(8)
        store.drop_rewards([2])
    store.append_at_once([reward(9, 1)])
    same(content(other), before, "a campaign after events of another were dropped")
    found = other.lost_rewards(), other.reward_of(2), other.reward_of(1), other.last()
    same(found, (0, -1e-300, None, 8), "its rewards and its last event")
    with transaction(other):
        assert other.written_by("1"), "another campaign's version must not be this one's"


@_check
def new_store_is_whole_or_not_there(stores: Stores) -> None:
    """Who fills it may roll back and begin again."""
    kind, path = stores.kind, stores.path
    with contextlib.suppress(RuntimeError), kind.new_store(path) as store:
        store.create(SETTINGS)
        store.append(EVERY_KIND)
        raise RuntimeError
    with refused(StoreError, "to read what was not made"):
        stores.read(lambda reader: reader.last())
    with kind.new_store(path) as store:
        store.create({"seed": 1})
        store.roll_back()
        store.begin()
        assert store.is_new(), "what was rolled back must not be there"
        store.create(SETTINGS)
        store.append(EVERY_KIND[:5])
        store.append(EVERY_KIND[5:])
        same(log(store), EVERY_KIND, "the log of a store that is being made")
    same(stores.read(log), EVERY_KIND, "the log of a store that was made")


# The end.


@_check
def closing_twice_is_closing_once(stores: Stores) -> None:
    """What is called after it is refused."""
    store = stores.created()
    write(store, decision(1, 1))
    store.close()
    store.close()
    assert store.closed, "a store that was closed must say so"
    calls: list[Callable[[], Any]] = [
        store.begin,
        store.last,
        lambda: store.append_at_once([reward(2, 1)]),
    ]
    for call in calls:
        with refused(StoreError, "what is asked of a store that was closed"):
            call()
        store.roll_back()


@_check
def goes_on_after_it_was_suspended(stores: Stores) -> None:
    """Meanwhile it is in nobody's way."""
    store = stores.created()
    write(store, decision(1, 1))
    other = stores.opened()
    store.suspend()
    store.suspend()
    write(other, reward(2, 1))
    store.resume()
    store.resume()
    write(store, decision(3, 2))
    whole = [decision(1, 1), reward(2, 1), decision(3, 2)]
    same((log(store), log(other)), (whole, whole), "the log")


@_check
def errors_can_be_sent_to_another_process(stores: Stores) -> None:
    """They are ours, and keep their class and their sentence."""
    store = stores.created()
    write(store, decision(1, 1))
    try:
        store.append_at_once([decision(1, 1)])
    except NumberTaken as told:
        again = pickle.loads(pickle.dumps(told))
        same((type(again), str(again)), (NumberTaken, str(told)), "an error that was sent")
        assert isinstance(again, UnimodalError), "errors of a store must be of ours"
    else:
        raise AssertionError("a number that is taken must be refused")


# Who waits for whom: with threads, and with time.


@_check
def one_of_many_who_append_a_number_wins(stores: Stores) -> None:
    """The others are told that it is taken."""
    store = stores.created()
    handles, won = [stores.opened() for _ in range(4)], []

    def append(who: int) -> None:
        with contextlib.suppress(NumberTaken):
            handles[who].append_at_once([reward(1, who)])
            won.append(who)

    threads = [threading.Thread(target=append, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    same(len(won), 1, "the number of those who have appended event 1")
    same(log(store), [reward(1, won[0])], "the log")


@_check
def transaction_keeps_others_out(stores: Stores) -> None:
    """They are told `Busy` after `wait` seconds, and not before."""
    store, other = stores.created(), stores.opened(wait=0.3)
    store.begin()
    began = time.monotonic()
    with refused(Busy, "to begin while another handle is in a transaction"):
        other.begin()
    waited = time.monotonic() - began
    assert waited > 0.2, f"who finds another in a transaction must wait for 0.3 s, got {waited:g}"
    other.roll_back()
    with refused(Busy, "to append at once while another handle is in a transaction"):
        other.append_at_once([reward(1, 1)])
    other.roll_back()
    store.append([decision(1, 1)])
    store.commit()
    write(other, reward(2, 1))
    same(log(store), [decision(1, 1), reward(2, 1)], "the log")


@_check
def who_waits_is_let_in(stores: Stores) -> None:
    """When the transaction ends."""
    store, other = stores.created(), stores.opened(wait=60)
    store.begin()
    waiting = threading.Thread(target=write, args=(other, reward(2, 1)))
    waiting.start()
    time.sleep(0.2)
    store.append([decision(1, 1)])
    store.commit()
    waiting.join(_LONG)
    same(log(store), [decision(1, 1), reward(2, 1)], "the log")
