"""Readers (verify, inspect, replay, history) change no file, hold nobody up, need no rights."""

import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

import unimodal as um
from unimodal.campaigns import look, reading, verify
from unimodal.campaigns.group_commit import GroupCommit
from unimodal.campaigns.stores.sqlite import SqliteStore, read_beside_writers
from unimodal.campaigns.stores.sqlite.reading import SqliteReader

LINE = um.graphs.line(7)
READERS = {
    "verify": verify,
    "inspect": lambda path: um.inspect(path).history,
    "replay": lambda path: um.replay(path, [], draws=20),
    "history": lambda path: look(path).history(),
}
every_reader = pytest.mark.parametrize("reader", READERS)


def files(path):
    """All that lies in the folder: names, numbers, times and bytes."""
    found = {}
    for file in sorted(path.parent.iterdir()):
        stat = file.stat()
        found[file.name] = (stat.st_ino, stat.st_mtime_ns, stat.st_size, file.read_bytes())
    return found


@pytest.fixture
def serving(path):
    """A process that has the campaign open, tells rewards when asked to, and may copy the file."""
    command, pipe = [sys.executable, "-c", SERVER, str(path)], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout.readline() == "ready\n"

        def ask(what):
            process.stdin.write(what + "\n")
            process.stdin.flush()
            return process.stdout.readline().strip()

        yield ask
    assert process.returncode == 0


SERVER = """
import glob, shutil, sys, unimodal as um
path = sys.argv[1]
campaign = um.Campaign.open(path, um.UTS(), um.graphs.line(7), seed=4, durability="fast")
ids = [decision.id for decision in campaign.decide(400)]
campaign.reward(ids[:100], [1.0] * 100)
told = 100
print("ready", flush=True)
for line in sys.stdin:
    what = line.strip()
    if what == "tell":
        for number in ids[told : told + 100]:
            campaign.reward(number, 1.0)
        told += 100
    elif what == "close":
        campaign.close()
    else:  # copy it: closing the copy's handle takes the locks away
        for file in glob.glob(path + ("*" if what == "copy all" else "")):
            shutil.copy(file, file.replace("campaign", "elsewhere"))
    print(told, flush=True)
"""


@every_reader
def test_a_closed_file_is_left_as_it_is(path, start, play, reader):
    with start() as campaign:
        play(campaign, 50)
    before = files(path)
    assert list(before) == ["campaign.db"]
    READERS[reader](path)
    assert files(path) == before


@pytest.mark.parametrize("copied", ["nothing", "copy", "copy all"])
def test_nothing_of_a_live_writer_is_touched_and_nothing_is_lost(path, serving, copied):
    """A copy inside the serving process drops its POSIX locks, so that it looks like nobody's."""
    if copied != "nothing":
        serving(copied)
    for reader in READERS.values():
        before = files(path)
        assert {"campaign.db", "campaign.db-wal", "campaign.db-shm"} <= set(before)
        reader(path)
        assert files(path) == before
        told = int(serving("tell")) if reader is not READERS["history"] else 400
        assert verify(path).counts["reward"] == told
    serving("close")
    verdict = verify(path)
    assert verdict and verdict.counts["reward"] == 400


def test_a_campaign_of_the_same_process_is_left_as_it_is(path, start, play):
    campaign = start()
    play(campaign, 50)
    before = [file.stat() for file in sorted(path.parent.iterdir())]  # reading it would drop locks
    assert len(before) == 3
    for reader in READERS.values():
        reader(path)
    um.inspect(campaign)
    after = [file.stat() for file in sorted(path.parent.iterdir())]
    assert [(s.st_ino, s.st_size, s.st_mtime_ns) for s in after] == [
        (s.st_ino, s.st_size, s.st_mtime_ns) for s in before
    ]
    play(campaign, 50)
    campaign.close()
    assert verify(path).counts["reward"] == 100


@pytest.mark.parametrize("left", ["closed", "live", "no -shm"])
def test_what_readers_are_given_cannot_write(path, start, play, left):
    campaign = start()
    play(campaign, 20)
    if left == "closed":
        campaign.close()
    elif left == "no -shm":
        (path.parent / "copy").mkdir()
        for ending in ("", "-wal"):
            shutil.copy(f"{path}{ending}", path.parent / "copy")
        path = path.parent / "copy" / path.name
    with pytest.raises(um.UnimodalError, match="attempt to write a readonly database"):
        reading.read(path, lambda log: log._one("DELETE FROM log"))
    campaign.close()


# Without the right to write.


@contextlib.contextmanager
def only_read(folder):
    """A folder and its files that may only be read, also by root, who may write everywhere."""
    root = os.geteuid() == 0
    for file in (*folder.iterdir(), folder):
        file.chmod(0o555 if file.is_dir() else 0o444)
    if root:
        os.seteuid(65534)
    try:
        with pytest.raises(PermissionError):
            (folder / "new").touch()
        yield
    finally:
        if root:
            os.seteuid(0)
        folder.chmod(0o755)


@pytest.fixture(scope="module")
def open_folder():
    """One that others may read: pytest's own are closed to them."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def place(open_folder, request):
    folder = open_folder / request.node.name.replace("/", "-")
    folder.mkdir()
    return folder / "campaign.db"


def killed(path):
    """A campaign whose process did not close it: 40 rewards, most of them in the -wal."""
    campaign = um.Campaign.open(path, um.UTS(), LINE, seed=4, durability="fast")
    campaign.reward([decision.id for decision in campaign.decide(40)], [1.0] * 40)
    return campaign


@every_reader
@pytest.mark.parametrize("left", ["closed", "live", "killed", "killed, and no -shm"])
def test_readers_need_no_right_to_write(place, left, reader):
    campaign = killed(place)
    READERS[reader](place)  # what is imported at first use has to be imported before
    if left == "closed":
        campaign.close()
    elif left != "live":
        copy = place.parent / "copy"
        copy.mkdir()
        for file in place.parent.glob("campaign.db*"):
            shutil.copy(file, copy)
        place = copy / place.name
        if left.endswith("-shm"):
            Path(f"{place}-shm").unlink()
    before = files(place) if left != "live" else None
    with only_read(place.parent):
        READERS[reader](place)
    assert before is None or files(place) == before
    for file in place.parent.glob("campaign.db*"):
        file.chmod(0o644)
    campaign.close()
    with um.Campaign.open(place) as again:
        assert verify(place).counts["reward"] == 40 == sum(again.arms()["pulls"])


def test_a_wal_without_its_shm_is_read_from_a_copy_that_does_not_stay(path, start, play):
    campaign = start()
    play(campaign, 20)
    copy = path.parent / "copy"
    copy.mkdir()
    for ending in ("", "-wal"):
        shutil.copy(f"{path}{ending}", copy)
    campaign.close()
    before, temporary = files(copy / path.name), set(Path(tempfile.gettempdir()).glob("unimodal-*"))
    assert verify(copy / path.name).counts["reward"] == 20
    assert files(copy / path.name) == before
    assert set(Path(tempfile.gettempdir()).glob("unimodal-*")) <= temporary


def test_what_cannot_be_read_is_told(open_folder, path):
    closed = open_folder / "closed.db"
    um.Campaign.open(closed, um.UTS(), LINE).close()
    closed.chmod(0o000)
    if os.geteuid() == 0:
        os.seteuid(65534)
    try:
        for reader in (verify, look):
            with pytest.raises(um.UnimodalError, match=r"closed.db cannot be read .*rights"):
                reader(closed)
    finally:
        if os.getuid() == 0:
            os.seteuid(0)
    for wrong in (path.parent, "/dev/null"):
        with pytest.raises(um.UnimodalError, match="got a folder or a device"):
            verify(wrong)


# Others who open and close the file meanwhile.


def test_a_file_that_is_written_while_it_is_read_is_read_again(path, start, reopen, play):
    """Without a -wal it is read as one that does not change: then it did."""
    with start() as campaign:
        play(campaign, 30)
    seen = []

    def work(log):
        seen.append(log._one("SELECT count(*) FROM log WHERE kind = 'reward'")[0])
        if len(seen) == 1:
            with reopen() as campaign:
                play(campaign, 30)
            raise um.UnimodalError("what it seemed to be")
        return seen

    assert reading.read(path, work) == [30, 60]


def test_a_file_that_is_always_written_is_told(path, start, reopen, play):
    start().close()

    def work(log):
        with reopen() as campaign:
            play(campaign, 5)

    with pytest.raises(um.UnimodalError, match=r"again and again while it was read: read it again"):
        reading.read(path, work)


def test_a_mistake_that_is_none_of_the_file_is_not_repeated(path, start):
    start().close()
    calls = []

    def work(log):
        calls.append(1)
        raise um.UnimodalError("a mistake")

    with pytest.raises(um.UnimodalError, match="a mistake"):
        reading.read(path, work)
    assert len(calls) == 1


def test_the_last_writer_may_go_while_a_reader_comes(path, start, play, monkeypatch):
    """It takes the -wal and the -shm away that the reader has just seen."""
    campaign = start()
    play(campaign, 30)
    beside, looks = read_beside_writers._beside, []

    def late(whole):
        looks.append(beside(whole))
        if len(looks) == 1:
            campaign.close()
        return looks[-1]

    monkeypatch.setattr(read_beside_writers, "_beside", late)
    kinds = reading.read_table(path)["kind"]  # in one thread: `verify` looks from two at once
    assert (kinds == "reward").sum() == 30
    assert looks[0] == (True, True) and looks[-1] == (False, False)


def test_a_writer_waits_for_a_reader_of_its_process_and_is_told(path, serving, reopen):
    """SQLite lets both share one -shm, which the reader may not write: so it would be refused."""
    inside, done = threading.Event(), threading.Event()

    def work(log):
        log.is_new()
        inside.set()
        assert done.wait(60)

    reader = threading.Thread(target=reading.read, args=(path, work))
    reader.start()
    assert inside.wait(60)
    with pytest.raises(um.UnimodalError, match=r"has been read in this process for 0.1 s"):
        reopen(wait=0.1)
    threading.Timer(0.2, done.set).start()
    with reopen(wait=30) as campaign:
        assert campaign.decide().id == 401
        reader.join()
        assert bool(verify(path))
        with reopen() as other:  # beside a reader that shares the -shm of a writer
            done.clear()
            inside.clear()
            reader = threading.Thread(target=reading.read, args=(path, work))
            reader.start()
            assert inside.wait(60)
            with reopen(wait=0.1) as third:
                assert third.decide().id == other.decide().id - 1 == 402
            done.set()
            reader.join()


# History, beside the calls of others.


def test_history_takes_no_turn_and_no_transaction(path, start, play, monkeypatch):
    campaign = start(wait=0.1)
    play(campaign, 20)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")  # nobody else may write
    with monkeypatch.context() as patch:
        patch.setattr(GroupCommit, "__call__", None)
        patch.setattr(SqliteStore, "begin", None)
        history = campaign.history()
    assert history.height == 41 and history["reward"].count() == 20
    assert um.inspect(path).history.height == 41
    other.execute("ROLLBACK")
    other.close()
    campaign.close()


def test_calls_go_on_while_a_history_is_read(path, start, play, monkeypatch):
    """It is as of the moment it was asked for, and has all that was acknowledged before."""
    campaign = start()
    play(campaign, 30)
    rows, paused, go_on = SqliteReader.rows, threading.Event(), threading.Event()

    def slow(log, *bounds):
        for some in rows(log, *bounds):
            paused.set()
            assert go_on.wait(60)
            yield some

    found = []
    with monkeypatch.context() as patch:
        patch.setattr(SqliteReader, "rows", slow)
        reader = threading.Thread(target=lambda: found.append(campaign.history()))
        reader.start()
        assert paused.wait(60)
        for _ in range(25):
            campaign.reward(campaign.decide().id, 1.0)
        assert campaign.outstanding == 0 and reader.is_alive()
        go_on.set()
        reader.join()
    assert found[0].height == 61
    assert campaign.history().height == 111
    campaign.close()


def test_the_history_of_a_file_that_was_replaced_is_refused(
    path, start, play, tmp_path, monkeypatch
):
    """Its path leads to another campaign's log."""
    other = tmp_path / "other.db"
    with um.Campaign.open(other, um.UTS(), um.graphs.line(4), durability="fast") as campaign:
        campaign.decide(3)
    campaign = start()
    play(campaign, 10)
    away = tmp_path / "away.db"
    os.replace(path, away)
    with pytest.raises(um.UnimodalError, match="was moved, deleted or replaced"):
        campaign.history()
    os.replace(away, path)

    def replaced(path):
        """Just after the first look at whether it is there."""
        os.replace(path, away)
        os.replace(other, path)
        return reading.read_table(path)

    with monkeypatch.context() as patch:
        patch.setattr("unimodal.campaigns.campaign.read_table", replaced)
        with pytest.raises(um.UnimodalError, match="was moved, deleted or replaced"):
            campaign.history()
    os.replace(away, path)
    assert campaign.history().height == 21
    campaign.close()
    with pytest.raises(um.UnimodalError, match="was closed here"):
        campaign.history()


# Memory.

PEAK = """
import re, sys, unimodal as um
def peak():  # of this program: what getrusage tells also counts the process that started it
    status = open("/proc/self/status").read()
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", status)[1]) // 1024
from unimodal.campaigns.simulated_campaign import simulated_campaign
small = um.inspect(simulated_campaign(um.UTS(), um.problems.triangular(5), rounds=300))
str(small), small.timeline(12)
before = peak()
view = um.inspect(sys.argv[1])
str(view), view.timeline(12)
print(before, peak())
"""


def make(path, events):
    """A log of so many events."""
    clock = iter(range(10**9))
    with um.Campaign.open(
        path, um.UTS(), um.graphs.line(50), durability="fast", clock=lambda: float(next(clock))
    ) as campaign:
        for _ in range(events // 2000):
            made = campaign.decide(1000)
            rewards = [float(one.id * 7919 % 100 < one.arm) for one in made]
            campaign.reward([one.id for one in made], rewards)


def peaks(path, events):
    """Megabytes before and after a log of so many events is inspected."""
    make(path, events)
    found = subprocess.run(
        [sys.executable, "-c", PEAK, str(path)], capture_output=True, text=True, timeout=300
    )
    assert found.returncode == 0, found.stderr
    return tuple(map(int, found.stdout.split()))


@pytest.mark.full
def test_a_log_takes_little_memory_to_inspect(path):
    """An event takes 700 bytes as objects, and 43 in a compact table.

    The first ones are the dearest: 20,000 are objects for a while, and Polars has needs of its own.
    """
    before, after = peaks(path, 100_000)
    assert after - before < 50


@pytest.mark.full
def test_a_million_events_are_inspected_in_300_megabytes(path):
    _, after = peaks(path, 1_000_000)
    assert after < 300


FOLLOWED = """
import re, sys, time, unimodal as um
def peak():
    status = open("/proc/self/status").read()
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", status)[1]) // 1024
with um.Campaign.open(sys.argv[1]) as campaign:
    found = campaign.alarms(), campaign.certificate()
    campaign.reward([one.id for one in campaign.decide(500)], [0.0] * 500)
    again = campaign.alarms(), campaign.certificate()
print(peak(), campaign._reader.beginnings)
"""


@pytest.mark.full
def test_two_million_events_are_followed_within_300_megabytes(path):
    """Alarms and a certificate of all of them, and again after a thousand more."""
    make(path, 2_000_000)
    found = subprocess.run(
        [sys.executable, "-c", FOLLOWED, str(path)], capture_output=True, text=True, timeout=300
    )
    assert found.returncode == 0, found.stderr
    megabytes, beginnings = map(int, found.stdout.split())
    assert megabytes < 300 and beginnings == 1
