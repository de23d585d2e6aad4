"""Every store keeps what `campaigns/stores/store.py` promises. A new one is a line in STORES.

The checks go through the protocol only, so that they say nothing of files, tables or SQL.
"""

import ast
import contextlib
import pickle
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import unimodal as um
from unimodal.campaigns.content import content_of
from unimodal.campaigns.events import Event, identity_of
from unimodal.campaigns.stores import NumberTaken, SetBack, as_place, kind_of, postgresql, sqlite
from unimodal.errors import Busy, StoreError
from unimodal.testing.simulation.memory import MEMORY, MemoryPlace

# The kind of store, and where a new one is, given the test's fixtures.
STORES = {
    "sqlite": (sqlite, lambda get: next_file(get("tmp_path"))),
    "postgresql": (postgresql, lambda get: as_place(get("postgresql")(), "a test's")),
    "memory": (MEMORY, lambda get: MemoryPlace("a test's")),
}
SETTINGS = {"seed": 3, "graph": {"kind": "line", "n_arms": 4}, "root": None, "name": "Größe"}
SOURCE = Path(um.__file__).parent


@pytest.fixture(params=STORES)
def kind(request):
    return STORES[request.param][0]


def next_file(folder):
    return folder / f"campaign-{len(list(folder.iterdir()))}.db"


@pytest.fixture
def new_place(kind, request):
    """Makes a place where no campaign is."""
    where = next(where for known, where in STORES.values() if known is kind)
    return lambda: where(request.getfixturevalue)


@pytest.fixture
def path(new_place):
    return new_place()


@pytest.fixture
def opened(kind, path):
    """Opens another handle each time it is called; all are closed at the end."""
    handles = []

    def another(wait=5.0):
        handles.append(kind.open_store(path, "fast", wait))
        return handles[-1]

    yield another
    for handle in handles:
        handle.close()


@pytest.fixture
def store(opened):
    """A new campaign without events."""
    handle = opened()
    handle.begin()
    handle.create(SETTINGS)
    handle.commit()
    return handle


def decision(seq, number):
    return Event(seq, 10.0 + seq, "decide", number, "a", "contest", 3, 2, 0.25)


def reward(seq, number, value=1.0):
    return Event(seq, 10.0 + seq, "reward", number, reward=value)


def write(store, *events):
    store.begin()
    store.append(events)
    store.commit()


def log(store, *bounds):
    return [Event._make(row) for rows in store.rows(*bounds) for row in rows]


def in_transaction(store, work):
    """What a handle reads when it writes next."""
    store.begin()
    try:
        return work()
    finally:
        store.roll_back()


# Settings.


def test_a_new_store_is_new_until_it_is_created(opened):
    store = opened()
    store.begin()
    assert store.is_new()
    store.create(SETTINGS)
    assert not store.is_new()
    store.commit()
    assert not opened().is_new()


def test_settings_come_back_as_they_were(store, opened):
    for handle in (store, opened()):
        assert handle.settings() == SETTINGS
        assert handle.settings("seed", "root") == {"seed": 3, "root": None}


def test_the_version_of_unimodal_that_wrote_last_is_known(store):
    store.begin()
    assert store.written_by("1") and store.written_by("1")
    assert not store.written_by("2") and store.written_by("2")
    store.commit()
    assert store.settings() == SETTINGS  # it is none of them


def test_a_setting_that_is_kept_stands_in_the_place_of_the_one_before(store, opened):
    store.begin()
    store.keep_setting("clock", {"seen": 1.5})
    store.keep_setting("clock", {"seen": None, "boot": "é"})
    store.commit()
    assert opened().settings() == SETTINGS | {"clock": {"seen": None, "boot": "é"}}
    store.begin()
    store.keep_setting("clock", 3)
    store.roll_back()
    assert opened().settings("clock") == {"clock": {"seen": None, "boot": "é"}}


def test_what_is_rolled_back_was_never_written(opened):
    store = opened()
    store.begin()
    store.create(SETTINGS)
    store.roll_back()
    assert opened().is_new()
    store.roll_back()  # there is nothing to roll back


# Events.

EVERY_KIND = [
    Event(1, 1.5, "open", data='{"version": "1"}'),
    Event(2, 1.5, "look-up", arm="ä", data='["ä", ["b", 2, [1, 2]]]'),
    Event(3, 2.0, "decide", 1, "ä", "start", None, 1),
    Event(4, 2.0, "decide", 2, 7, "contest", 0.5, 3, 0.1 + 0.2),
    Event(5, 2.25, "reward", 2, reward=-1e-300),
    Event(6, 3.0, "expire", 1),
    Event(7, 3.0, "revision", data='{"add": []}'),
    Event(8, 1e300, "stream"),
]


def test_events_come_back_in_order_with_their_values_and_types(store, opened):
    write(store, *EVERY_KIND[:3])
    write(store, *EVERY_KIND[3:])
    for handle in (store, opened()):
        found = log(handle)
        assert found == EVERY_KIND
        assert [list(map(type, event)) for event in found] == [
            list(map(type, event)) for event in EVERY_KIND
        ]
        assert handle.last() == 8
        assert list(handle.revisions()) == [EVERY_KIND[6]]
        assert handle.counts(5) == {"open": 1, "look-up": 1, "decide": 2, "reward": 1}


def test_events_between_two_numbers_are_read(store):
    assert log(store) == [] and store.last() == 0
    events = [reward(seq, seq) for seq in range(1, 3001)]
    write(store, *events)
    assert log(store) == events
    assert log(store, 1200) == events[1200:]
    assert log(store, 1200, 1300) == events[1200:1300]
    assert log(store, 3000) == []


@pytest.mark.parametrize(
    "late",
    [
        [reward(3, 9, 0.0)],
        [decision(3, 9)],
        [decision(4, 9), reward(3, 9, 0.0)],
        [reward(4, 8), reward(2, 9, 0.0)],
    ],
    ids=["a reward", "a decision", "the second of two", "an older one"],
)
def test_a_number_that_is_taken_is_refused_and_nothing_is_written(store, opened, late):
    before = [decision(1, 1), reward(2, 1), reward(3, 2)]
    write(store, *before)
    other = opened()
    with pytest.raises(NumberTaken):
        write(other, *late)
    other.roll_back()
    assert log(store) == before
    with pytest.raises(NumberTaken):
        other.append_at_once(late)
    assert log(store) == log(other) == before
    write(store, decision(4, 3))  # and nobody holds a lock
    assert log(other)[3:] == [decision(4, 3)]


@pytest.mark.parametrize("many", [1, 3])
def test_what_is_appended_at_once_is_there_for_all(store, opened, many):
    write(store, *(decision(seq, seq) for seq in range(1, 4)))
    news = [reward(4 + n, 1 + n) for n in range(many)]
    store.append_at_once(news)
    assert log(opened(), 3) == news


def test_one_of_many_who_append_the_same_number_wins(store, opened):
    handles, won = [opened() for _ in range(4)], []

    def append(who):
        try:
            handles[who].append_at_once([reward(1, who)])
            won.append(who)
        except NumberTaken:
            pass

    threads = [threading.Thread(target=append, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1 and log(store) == [reward(1, won[0])]


# Several handles.


def test_two_handles_see_each_others_events(store, opened):
    other = opened()
    write(store, decision(1, 1))
    assert log(other) == [decision(1, 1)]
    write(other, reward(2, 1))
    assert log(store, 1) == [reward(2, 1)]


def test_what_is_not_committed_is_nobody_elses(store, opened):
    other = opened()
    store.begin()
    store.append([decision(1, 1)])
    assert log(store) == [decision(1, 1)] and log(other) == []
    store.commit()
    assert log(other) == [decision(1, 1)]


def test_the_version_changes_when_another_handle_has_written(store, opened):
    other = opened()

    def version():
        return in_transaction(store, store.version)

    before = version()
    assert version() == before
    write(store, decision(1, 1))
    store.append_at_once([reward(2, 1)])
    assert version() == before  # one's own
    write(other, decision(3, 2))
    assert version() != before
    before = version()
    other.append_at_once([reward(4, 2)])
    assert version() != before


@pytest.mark.parametrize("at_once", [0, 1, 3])
def test_a_log_that_was_set_back_is_told_once_and_nothing_is_written(store, opened, at_once):
    """It has as many events as before, of which the last is another one."""
    write(store, decision(1, 1), reward(2, 1))
    other = opened()
    other.begin()
    other.put(events=[reward(2, 1)._replace(time=99.0)])
    other.commit()
    with pytest.raises(SetBack, match="has another event 2 now than before"):
        if at_once:
            with contextlib.suppress(NumberTaken):  # then whoever begins is told why
                store.append_at_once([reward(3 + n, 2 + n) for n in range(at_once)])
        store.begin()
    store.roll_back()
    assert [event.seq for event in log(opened())] == [1, 2]
    store.append_at_once([reward(3, 2)])
    assert log(opened())[-1] == reward(3, 2)


def test_a_snapshot_names_its_event_and_can_be_dropped(store, opened):
    write(store, decision(1, 1), reward(2, 1))
    store.begin()
    store.keep_snapshot(1, "1.0", "{}", identity_of(decision(1, 1)))
    store.keep_snapshot(2, "2.0", "{}", identity_of(reward(2, 1)))
    store.commit()
    names = {"1": [11.0, "decide", 1], "2": [12.0, "reward", 1]}
    assert opened().settings("snapshots") == {"snapshots": names}
    store.begin()
    store.drop_snapshot(2)
    store.commit()
    assert opened().snapshots() == [(1, "1.0")]


def test_a_transaction_keeps_others_out_for_as_long_as_they_wait(store, opened):
    other = opened(wait=0.3)
    store.begin()
    began = time.monotonic()
    with pytest.raises(Busy):
        other.begin()
    assert 0.2 < time.monotonic() - began < 5
    other.roll_back()
    with pytest.raises(Busy):
        other.append_at_once([reward(1, 1)])
    other.roll_back()
    store.append([decision(1, 1)])
    store.commit()
    write(other, reward(2, 1))
    assert log(store) == [decision(1, 1), reward(2, 1)]


def test_who_waits_is_let_in_when_the_transaction_ends(store, opened):
    other = opened(wait=60)
    store.begin()
    waiting = threading.Thread(target=write, args=(other, reward(2, 1)))
    waiting.start()
    time.sleep(0.2)
    store.append([decision(1, 1)])
    store.commit()
    waiting.join(30)
    assert log(store) == [decision(1, 1), reward(2, 1)]


# Rewards by decision, and snapshots.


def snapshot(store, seq, version, state):
    store.begin()
    store.find_rewards(store.last_snapshot(), seq)
    store.keep_snapshot(seq, version, state)
    store.commit()


def test_the_reward_of_a_decision_is_found_before_and_after_a_snapshot(store, opened):
    write(store, decision(1, 1), decision(2, 2), reward(3, 2, 0.25))
    assert store.reward_of(2) == 0.25 and store.reward_of(1) is store.reward_of(9) is None
    snapshot(store, 3, "1", "{}")
    write(store, reward(4, 1, -0.5))
    for handle in (store, opened()):
        assert (handle.reward_of(1), handle.reward_of(2), handle.reward_of(9)) == (-0.5, 0.25, None)
        assert handle.lost_rewards() == 0
    store.begin()
    store.find_rewards(0, 4)  # again
    store.commit()
    assert (store.reward_of(1), store.reward_of(2)) == (-0.5, 0.25) and store.lost_rewards() == 0


def test_events_and_other_tables_are_written_in_one_transaction(store, opened):
    store.begin()
    store.append([decision(1, 1)])
    store.append([decision(2, 2)])
    store.find_rewards(0, 2)  # of which there are none
    store.commit()
    assert log(opened()) == [decision(1, 1), decision(2, 2)]


def test_rewards_that_a_snapshot_left_behind_are_counted_as_lost(store):
    write(store, decision(1, 1), decision(2, 2), reward(3, 2), reward(4, 1))
    store.begin()
    store.find_rewards(0, 3)
    store.keep_snapshot(4, "1", "{}")
    store.commit()
    assert store.lost_rewards() == 1


def test_of_each_version_three_snapshots_are_kept(store, opened):
    """The first one, that with which it took over from another version last, and the last one."""
    assert store.snapshots() == [] and store.last_snapshot() == 0 and store.snapshot(7) == ""
    write(store, *(decision(seq, seq) for seq in range(1, 10)))
    for seq, version in enumerate("111212221", 1):
        snapshot(store, seq, version, f'{{"é": {seq}}}')
    for handle in (store, opened()):
        assert handle.snapshots() == [(1, "1"), (4, "2"), (6, "2"), (8, "2"), (9, "1")]
        assert handle.last_snapshot() == 9
        assert handle.snapshot(4) == '{"é": 4}' and handle.snapshot(2) == ""


def test_the_last_event_of_a_key_is_found(store, opened):
    def key(seq, digest, n):
        return Event(seq, 10.0, "key", data=f'{{"key": "{digest}", "n": {n}}}')

    assert store.last_key("ab") is None
    write(store, decision(1, 1), key(2, "ab", 1), key(3, "abc", 2), key(4, "ab", 3), key(5, "a", 4))
    for handle in (store, opened()):
        assert handle.last_key("ab") == key(4, "ab", 3)
        assert handle.last_key("abc") == key(3, "abc", 2)
        assert handle.last_key("b") is None
    store.begin()
    store.append([key(6, "b", 5)])
    assert store.last_key("b") == key(6, "b", 5)
    store.roll_back()
    assert store.last_key("b") is None


# Reading, copying, checking.


def test_a_reader_sees_one_moment_while_others_write(kind, path, store):
    write(store, decision(1, 1))

    def work(reader):
        seen = [log(reader)]
        if store.last() == 1:
            write(store, reward(2, 1))
        return [*seen, log(reader), reader.last(), reader.settings()]

    before, after, last, settings = kind.read_store(path, work)
    assert before == after and last == len(before) and settings == SETTINGS
    assert log(store) == [decision(1, 1), reward(2, 1)]


def test_writers_go_on_while_somebody_reads(kind, path, store):
    write(store, decision(1, 1))
    inside, done = threading.Event(), threading.Event()

    def work(reader):
        reader.last()
        inside.set()
        assert done.wait(60)
        return reader.last()

    found = []
    reading = threading.Thread(target=lambda: found.append(kind.read_store(path, work)))
    reading.start()
    assert inside.wait(60)
    write(store, reward(2, 1))
    done.set()
    reading.join(60)
    assert found == [1] and kind.read_store(path, lambda reader: reader.last()) == 2


def test_what_is_read_needs_to_be_there(kind, path):
    with pytest.raises(StoreError):
        kind.read_store(path, lambda reader: reader.last())


def test_a_copy_has_all_of_it_and_goes_its_own_way(kind, path, store, new_place):
    write(store, *EVERY_KIND)
    snapshot(store, 8, "1", "{}")
    target = new_place()
    copy = kind.open_store(kind.back_up(path, target), "fast", 5.0)
    assert log(copy) == EVERY_KIND and copy.settings() == SETTINGS
    assert copy.snapshots() == [(8, "1")] and copy.reward_of(2) == -1e-300
    write(copy, decision(9, 3))
    copy.close()
    assert store.last() == 8


def test_a_sound_store_has_no_problems(kind, path, store):
    write(store, *EVERY_KIND)
    store.check()
    assert store.problems() == [] and store.lost_rewards() == 0
    assert kind.read_store(path, lambda reader: (reader.problems(), reader.check())) == ([], None)


# Copies, compaction and erasure.


def test_what_is_put_stands_in_the_place_of_what_had_its_name(store, opened):
    write(store, *EVERY_KIND)
    snapshot(store, 8, "1", "{}")
    store.begin()
    changed = EVERY_KIND[3]._replace(arm="neutral", leader=None, propensity=None)
    store.put(
        settings={"seed": 4, "archived": {"rewards": 1}},
        events=[changed],
        snapshots=[(3, "0", '{"ä": 1}'), (8, "2", "{}")],
        rewards=[(2, 0.5), (9, 1.5)],
    )
    store.commit()
    for handle in (store, opened()):
        assert log(handle) == [*EVERY_KIND[:3], changed, *EVERY_KIND[4:]]
        assert handle.settings() == {**SETTINGS, "seed": 4, "archived": {"rewards": 1}}
        assert handle.snapshots() == [(3, "0"), (8, "2")] and handle.snapshot(3) == '{"ä": 1}'
        assert [pair for some in handle.kept_rewards() for pair in some] == [(2, 0.5), (9, 1.5)]
        assert handle.lost_rewards() == 1  # another than the log has; that of 9 was archived
    store.begin()
    store.put(rewards=[(1, 0.0)])
    store.roll_back()
    assert [pair for some in store.kept_rewards() for pair in some] == [(2, 0.5), (9, 1.5)]


def test_what_is_dropped_is_gone_and_the_rest_is_not(store, opened):
    write(store, *EVERY_KIND)
    snapshot(store, 2, "1", "{}")
    snapshot(store, 6, "2", "{}")
    store.begin()
    store.drop(6, [1, 4])
    store.drop_snapshots(6)
    store.drop_rewards([1, 2])
    store.commit()
    store.reclaim()
    for handle in (store, opened()):
        assert [event.seq for event in log(handle)] == [1, 4, 6, 7, 8]
        assert handle.snapshots() == [(6, "2")] and list(handle.kept_rewards()) == []
        assert handle.last() == 8 and handle.counts(8)["decide"] == 1
    write(store, decision(9, 3))
    assert log(opened(), 8) == [decision(9, 3)]


@pytest.mark.parametrize("many", [1, 3])
def test_the_number_of_an_event_that_was_dropped_is_taken(store, opened, many):
    """By who has been behind since before the others compacted, also where the last one stayed."""
    behind = opened()
    write(store, *(decision(seq, seq) for seq in range(1, 4)))
    assert log(behind)[-1].seq == 3
    write(store, *(decision(seq, seq) for seq in range(4, 9)))
    store.begin()
    store.drop(8, [3])
    store.commit()
    with pytest.raises(NumberTaken):
        behind.append_at_once([reward(4 + n, 1 + n) for n in range(many)])
    assert [event.seq for event in log(store)] == [3, 8]
    behind.append_at_once([reward(9 + n, 1 + n) for n in range(many)])
    assert log(store, 8) == [reward(9 + n, 1 + n) for n in range(many)]


def test_nothing_that_is_done_to_one_campaign_is_done_to_another(kind, store, new_place):
    """They may be in the same tables."""
    other = kind.open_store(new_place(), "fast", 5.0)
    other.begin()
    other.create(SETTINGS)
    other.commit()
    for handle in (store, other):
        write(handle, *EVERY_KIND)
        snapshot(handle, 5, "1", "{}")
        snapshot(handle, 6, "1", "{}")
        snapshot(handle, 8, "1", "{}")
    before = content_of(other)
    assert before == content_of(store)
    snapshot(store, 8, "1", '{"a": 1}')
    store.begin()
    store.written_by("9")
    store.put(settings={"seed": 4}, events=[EVERY_KIND[3]._replace(arm="b")], rewards=[(2, 0.5)])
    store.put(snapshots=[(5, "0", '{"b": 1}')])
    store.find_rewards(0, 8)
    store.commit()
    assert content_of(other) == before
    store.begin()
    store.drop(8, [])
    store.drop_snapshots(8)
    store.drop_rewards([2])
    store.commit()
    store.append_at_once([reward(9, 1)])
    assert content_of(other) == before and other.lost_rewards() == 0
    assert other.reward_of(2) == -1e-300 and other.reward_of(1) is None and other.last() == 8
    other.begin()
    assert other.written_by("1")
    other.roll_back()
    other.close()


def test_a_new_store_is_there_as_a_whole_or_not_at_all(kind, path):
    with pytest.raises(RuntimeError), kind.new_store(path) as store:
        store.create(SETTINGS)
        store.append(EVERY_KIND)
        raise RuntimeError("no more")
    with pytest.raises(StoreError):
        kind.read_store(path, lambda reader: reader.last())
    with kind.new_store(path) as store:
        store.create({"seed": 1})
        store.roll_back()
        store.begin()
        assert store.is_new()
        store.create(SETTINGS)
        store.append(EVERY_KIND[:5])
        store.append(EVERY_KIND[5:])
        assert log(store) == EVERY_KIND
    assert kind.read_store(path, log) == EVERY_KIND


# The end, and forks.


def test_closing_twice_is_closing_once(store):
    write(store, decision(1, 1))
    store.close()
    store.close()
    assert store.closed
    for call in (store.begin, store.last, lambda: store.append_at_once([reward(2, 1)])):
        with pytest.raises(StoreError, match="was closed here"):
            call()
        store.roll_back()


def test_a_store_goes_on_after_it_was_suspended(store, opened):
    write(store, decision(1, 1))
    other = opened()
    store.suspend()
    store.suspend()
    write(other, reward(2, 1))  # it is in nobody's way
    store.resume()
    store.resume()
    write(store, decision(3, 2))
    assert log(store) == log(other) == [decision(1, 1), reward(2, 1), decision(3, 2)]


def test_a_campaign_is_paused_by_a_fork(store):
    """In the parent it goes on; that children open it themselves is tested with campaigns."""
    calls = []

    class Campaign:
        def pause(self, seconds):
            store.suspend()
            calls.append("pause")
            return True

        def go_on(self):
            calls.append("go on")

    campaign = Campaign()
    store.pause_at_forks(campaign)
    subprocess.run([sys.executable, "-c", ""], check=True, preexec_fn=lambda: None)  # which forks
    store.let_fork(campaign)
    subprocess.run([sys.executable, "-c", ""], check=True, preexec_fn=lambda: None)
    assert calls in (["pause", "go on"], [])  # not every store has to do something
    store.resume()
    write(store, decision(1, 1))


def test_errors_of_a_store_can_be_sent_to_another_process(store):
    write(store, decision(1, 1))
    with pytest.raises(NumberTaken) as told:
        store.append_at_once([decision(1, 1)])
    again = pickle.loads(pickle.dumps(told.value))
    assert type(again) is NumberTaken and str(again) == str(told.value)
    assert isinstance(again, um.UnimodalError)


# The code.


def imports(path):
    """The modules that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)


def test_one_file_imports_sqlite3():
    files = list(SOURCE.rglob("*.py"))
    assert len(files) > 150
    found = [file for file in files if {"sqlite3", "_sqlite3"} & set(imports(file))]
    assert found == [SOURCE / "campaigns" / "stores" / "sqlite.py"]


def test_one_file_imports_psycopg():
    users = [file for file in SOURCE.rglob("*.py") if "psycopg" in set(imports(file))]
    inside = [file for file in users if SOURCE / "testing" not in file.parents]
    assert inside == [SOURCE / "campaigns" / "stores" / "postgresql_connection.py"]


def test_a_path_leads_to_a_file_of_sqlite(tmp_path):
    assert kind_of(tmp_path / "campaign.db") is sqlite


def test_an_address_leads_to_postgresql():
    assert kind_of(as_place("postgresql://ann@host/shop?campaign=a", "a test's")) is postgresql


ELSEWHERE = """
import os, pkgutil, sys
for name in ("fork", "forkpty", "register_at_fork", "sched_getaffinity", "O_CLOEXEC", "sysconf"):
    if hasattr(os, name):
        delattr(os, name)
sys.modules["fcntl"] = None  # to import it is an ImportError
import unimodal
names = ["unimodal", *(m.name for m in pkgutil.walk_packages(unimodal.__path__, "unimodal."))]
for name in names:
    if not name.endswith("__main__"):
        __import__(name)
folder = sys.argv[1]
with unimodal.Campaign.open(folder + "/a.db", unimodal.UTS(), unimodal.graphs.line(3)) as campaign:
    campaign.reward(campaign.decide().id, 1.0)
assert unimodal.verify(folder + "/a.db").counts["reward"] == 1
print(len(names))
"""


def test_nothing_needs_forks_or_the_locks_of_unix_to_be_imported(tmp_path):
    """As on Windows, where neither exists; a campaign does without them."""
    found = subprocess.run(
        [sys.executable, "-c", ELSEWHERE, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert found.returncode == 0, found.stderr
    assert int(found.stdout) > 150
