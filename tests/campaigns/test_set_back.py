"""A store that was set back under an open campaign: by a fail-over, or a copy put in its place.

All tables are put back as they were at a moment; then another process writes. What the first one
knew is lost: it is told so once, writes nothing from it, and goes on from the log as it is. A real
standby is promoted in test_failover.py.
"""

import itertools
import json
import subprocess
import sys
import threading

import psycopg
import pytest

import unimodal as um
from unimodal.campaigns import snapshots
from unimodal.campaigns.events import Row
from unimodal.campaigns.reading import read
from unimodal.campaigns.stores import as_place
from unimodal.campaigns.upkeep import compact as compacting
from unimodal.errors import StoreError

LINE = um.graphs.line(7)
COPY = """
import sqlite3, sys
source, target = map(sqlite3.connect, sys.argv[1:])
source.backup(target)
"""
CHANGE = """
import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as connection:
    connection.execute(sys.argv[2])
"""


class File:
    """A file, which SQLite itself copies and puts back, from another process."""

    def __init__(self, folder):
        self.path, self._saved = folder / "campaign.db", folder / "saved.db"
        self.clock = map(float, itertools.count()).__next__  # two events are never of one time

    def save(self):
        self._copy(self.path, self._saved)

    def set_back(self):
        self._copy(self._saved, self.path)

    def change(self, statement):
        self._run(CHANGE, self.path, statement)

    def _copy(self, source, target):
        self._run(COPY, source, target)

    def _run(self, text, *given):
        # Without site packages: it begins sooner.
        subprocess.run([sys.executable, "-I", "-S", "-c", text, *map(str, given)], check=True)


class Database:
    """A database, in which the rows of the campaign are copied and put back."""

    def __init__(self, address):
        self.path, self.clock = address, lambda: 0.0  # the tokens tell events apart
        self._saved = {}

    def save(self):
        for table in ("settings", "log", "snapshots", "rewards"):
            self._saved[table] = self.execute(f"SELECT * FROM {table} WHERE campaign = {self.id}")

    def set_back(self):
        for table, rows in self._saved.items():
            self.execute(f"DELETE FROM {table} WHERE campaign = {self.id}")
            for row in rows:
                marks = ", ".join(["%s"] * len(row))
                self.execute(f"INSERT INTO {table} VALUES ({marks})", row)

    def change(self, statement):
        self.execute(f"{statement} AND campaign = {self.id}")

    @property
    def id(self):
        name = as_place(self.path, "").campaign
        return self.execute("SELECT id FROM campaigns WHERE name = %s", (name,))[0][0]

    def execute(self, statement, values=None):
        conninfo = as_place(self.path, "").conninfo
        with psycopg.connect(conninfo, options="-c search_path=unimodal") as connection:
            cursor = connection.execute(statement, values)
            return cursor.fetchall() if cursor.description else []


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, tmp_path):
    if request.param == "sqlite":
        return File(tmp_path)
    return Database(request.getfixturevalue("postgresql")())


@pytest.fixture
def opened(place):
    """Opens the campaign; each is closed at the end."""
    handles = []

    def another(**named):
        settings = {"seed": 4, "durability": "fast", "clock": place.clock, **named}
        handles.append(um.Campaign.open(place.path, um.UTS(), LINE, **settings))
        return handles[-1]

    yield another
    for handle in handles:
        handle.close()


@pytest.fixture
def stale(place, opened):
    """A campaign with five decisions, that has lost a reward, two decisions and a key since."""
    campaign = opened()
    campaign.decide(5)
    campaign.reward(1, 1.0)
    place.save()
    assert campaign.reward(2, 1.0) is True
    campaign.decide(2, key="lost")
    place.set_back()
    return campaign


def log(place):
    return read(place.path, lambda store: [row for rows in store.rows() for row in rows])


def grow(campaign, events):
    campaign.tell([0] * events, [0.0] * events)


WAYS = {
    "decide": lambda campaign: campaign.decide(),
    "decide a batch": lambda campaign: campaign.decide(3),
    "decide with a key": lambda campaign: campaign.decide(key="new"),
    "decide with the lost key": lambda campaign: campaign.decide(2, key="lost"),
    "tell the lost reward again": lambda campaign: campaign.reward(2, 1.0),
    "reward": lambda campaign: campaign.reward(3, 1.0),
    "reward a batch": lambda campaign: campaign.reward([3, 4], [1.0, 0.0]),
    "tell": lambda campaign: campaign.tell(0, 1.0),
    "tell a batch": lambda campaign: campaign.tell([0, 1], [1.0, 1.0]),
    "pause": lambda campaign: campaign.pause(6),
    "look": lambda campaign: campaign.leader,
}


@pytest.mark.parametrize(
    ("way", "alone", "more"),
    [
        *((way, False, 0) for way in WAYS),
        *((way, True, 0) for way in ("reward", "reward a batch", "tell", "tell a batch")),
        ("reward", "without the server's function", 0),
        *((way, alone, more) for way, alone in (("decide", False), ("reward", True))
          for more in (-1, 1)),
    ],
)  # fmt: skip
def test_who_knew_more_is_told_once_and_goes_on_from_the_log(
    place, opened, stale, way, alone, more
):
    """Whoever calls first, and whether others have written less, as much or more than was lost."""
    other = opened()  # one event of its own
    grow(other, 3 + more)
    before = log(place)
    assert len(before) == 11 + more  # and 11 were there: 7, and the 4 that were lost
    stale._writer._undisturbed = 10**6 * bool(alone)
    if alone and alone is not True and hasattr(stale._store, "_session"):  # of PostgreSQL
        stale._store._session.connected().is_plain = False
    call = WAYS[way]
    with pytest.raises(StoreError, match="its server was set back") as error:
        call(stale)
    assert type(error.value) is StoreError  # that of the stores is an internal class
    assert str(error.value).count(". ") == 0 and log(place) == before
    assert stale.reports == [str(error.value)]  # it goes on
    if way != "tell the lost reward again":
        call(stale)
    assert stale.reward(2, 1.0) is True and other.reward(2, 1.0) is False
    assert stale.decide().id == other.decide().id - 1
    assert stale._call(lambda agent: agent.round) == other._call(lambda agent: agent.round)
    assert um.verify(place.path).wrong == []
    assert opened().decide().id == other.decide().id - 1


def test_a_commit_whose_answer_is_lost_with_the_server_is_not_kept(
    postgresql, tmp_path, monkeypatch
):
    """The call that finds it out is told so, and counts when it is made again."""
    place = Database(postgresql())
    campaign = um.Campaign.open(place.path, um.UTS(), LINE, seed=4)
    campaign.decide(3)
    place.save()
    campaign.tell(0, 1.0)
    store, find_out = campaign._store, campaign._store._find_out

    def lose(transaction, error):
        place.set_back()
        with um.Campaign.open(place.path) as other:
            other.decide(3)
        find_out(transaction, error)

    monkeypatch.setattr(store, "_find_out", lose)
    tell = store._tell

    def cut(connection, text, values):
        if not text.endswith("COMMIT;") and "append_reward" not in text:
            return tell(connection, text, values)
        monkeypatch.undo()
        monkeypatch.setattr(store, "_find_out", lose)
        connection.close()
        return tell(connection, text, values)

    monkeypatch.setattr(store, "_tell", cut)
    with pytest.raises(StoreError, match="set back") as error:
        campaign.reward(1, 1.0)
    assert "not known whether" not in str(error.value)
    monkeypatch.undo()
    assert campaign.reward(1, 1.0) is True
    campaign.close()
    assert um.verify(place.path).wrong == []


@pytest.mark.parametrize("lost", [False, True], ids=["compacted", "set back and compacted"])
@pytest.mark.parametrize("after", [0, 1, 2])
def test_the_last_event_that_was_known_is_in_an_archive(place, opened, tmp_path, lost, after):
    """The log begins `after` events behind it, so that only the event at its beginning is known."""
    campaign = opened()
    campaign.decide(5)
    place.save()
    campaign.decide(2)
    known = campaign._writer._fold.state.seq  # 8
    if lost:
        place.set_back()
    with um.Campaign.open(place.path, clock=place.clock) as other:  # one event of its own
        more = known + after - len(log(place))
        grow(other, more) if more > 0 else None
    um.campaigns.compact(place.path, tmp_path / "archive.parquet")
    begin = read(place.path, lambda store: store.last_snapshot())
    assert begin == known + max(after, 1 - lost)
    if lost and after == 0:
        with pytest.raises(StoreError, match="has another event 8 now than before"):
            campaign.decide()
    assert campaign.decide().id == (6 if lost else 8)
    assert um.verify(place.path).wrong == []


def test_an_erasure_is_no_other_history(place, opened):
    """The last event that was known loses its data, as with those of an arm that is erased."""
    campaign, other = opened(), opened()
    campaign.tell(3, 1.0)
    known = campaign._store._known
    other._store.begin()
    other._store.put(events=[Row(known.seq, known.time, "erase")])
    other._store.commit()
    campaign._store.begin()
    campaign._store.roll_back()
    other._store.begin()
    other._store.put(events=[Row(known.seq, known.time + 1, "erase")])
    other._store.commit()
    with pytest.raises(StoreError, match="has another event 3 now"):
        campaign._store.begin()
    campaign._store.roll_back()


# Snapshots.


@pytest.mark.parametrize("who", ["its thread", "a caller"])
def test_the_snapshot_of_a_lost_history_is_not_kept(place, opened, monkeypatch, who):
    """It is being written when the store is set back; the log grows past its number before that."""
    asked, go_on = threading.Event(), threading.Event()
    in_pieces = snapshots.state_in_pieces

    def slowly(agent):
        asked.set()
        assert go_on.wait(20)
        return in_pieces(agent)

    campaign = opened()
    campaign.decide(5)
    place.save()
    campaign.reward([1, 2], [1.0, 1.0])
    monkeypatch.setattr(snapshots, "state_in_pieces", slowly)
    campaign._writer._snapshots._due = 0
    campaign.reward(3, 1.0)
    assert asked.wait(20)
    place.set_back()
    other = opened()
    grow(other, 9)
    if who == "a caller":
        with pytest.raises(StoreError, match="set back"):
            campaign.decide()
    go_on.set()
    campaign._writer._snapshots._writer.join(20)
    assert read(place.path, lambda store: store.snapshots()) == []
    if who == "its thread":  # which has nobody to tell
        with pytest.raises(StoreError, match="set back"):
            campaign.decide()
    assert campaign.reward(3, 1.0) is True
    assert um.verify(place.path).wrong == []


def unfit(place, opened):
    """A campaign whose last snapshot follows another event than its log has of that number."""
    with opened() as first:
        first.decide(14)
        first.reward(list(range(5, 15)), [float(number % 2) for number in range(5, 15)])
    place.save()
    with opened() as lost:
        lost.reward([1, 2], [1.0, 1.0])
    seq = read(place.path, lambda store: store.last_snapshot())
    state, names = read(
        place.path, lambda store: (store.snapshot(seq), store.settings("snapshots")["snapshots"])
    )
    place.set_back()
    other = opened()
    grow(other, 5)
    other.reward([3, 4], [0.0, 1.0])
    other.decide()
    last = read(place.path, lambda store: store.last_snapshot())
    place.change(f"UPDATE snapshots SET seq = {seq}, state = '{state}' WHERE seq = {last}")
    place.change(f"UPDATE settings SET value = '{json.dumps(names)}' WHERE key = 'snapshots'")
    return seq


def test_a_snapshot_of_another_history_is_not_loaded(place, opened):
    seq = unfit(place, opened)
    wrong = um.verify(place.path).wrong
    assert len(wrong) == 1 and f"the snapshot after event {seq} is not the fold" in wrong[0]
    assert "was set back" in wrong[0]
    assert um.campaigns.look(place.path).agent.outstanding == 3
    why = um.campaigns.explain(place.path, 15)
    campaign = opened()
    assert campaign.outstanding == 3 and campaign.reward(3, 0.0) is False
    (report,) = campaign.reports
    assert f"the snapshot after event {seq} of" in report and "it was not used" in report
    assert um.verify(place.path).wrong == [] and um.campaigns.explain(place.path, 15) == why
    assert campaign.reward([1, 2], [1.0, 1.0]) == [True, True]
    campaign.close()
    assert um.verify(place.path).wrong == [] and opened().reports == []


def test_a_snapshot_names_the_event_that_it_follows(place, opened):
    """Also after an erasure; and one of an older version, which names none, is loaded."""
    people = um.graphs.from_edges([("Ann", "Bob"), ("Bob", "Cy")])
    with um.Campaign.open(place.path, um.UTS(), people, clock=place.clock) as campaign:
        campaign.decide(5)
    um.campaigns.erase(place.path, "Bob")
    names = read(place.path, lambda store: store.settings("snapshots")["snapshots"])
    events = {row[0]: list(row[1:4]) for row in log(place)}
    kept = [seq for seq, _ in read(place.path, lambda store: store.snapshots())]
    assert names == {str(seq): events[seq] for seq in kept} and len(kept) == 2
    place.change("DELETE FROM settings WHERE key = 'snapshots'")
    again = um.Campaign.open(place.path, clock=place.clock)
    assert again.decide().id == 6 and again.reports == []
    again.close()
    assert um.verify(place.path).wrong == []


def test_what_is_to_be_compacted_was_set_back_meanwhile(place, opened, tmp_path, monkeypatch):
    """Events of another history must not be dropped for those that the archive has."""
    campaign = opened()
    campaign.decide(5)
    place.save()
    campaign.decide(3)
    campaign.close()
    fill = compacting.fill_archive

    def meanwhile(*given):
        place.set_back()
        grow(opened(), 9)
        fill(*given)

    monkeypatch.setattr(compacting, "fill_archive", meanwhile)
    with pytest.raises(um.errors.Busy, match="was compacted, replaced or erased by others"):
        um.campaigns.compact(place.path, tmp_path / "archive.parquet")
    assert [row[0] for row in log(place)] == list(range(1, 17))
    assert um.verify(place.path).wrong == []
