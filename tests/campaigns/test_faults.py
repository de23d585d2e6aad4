"""Faults: a full disk, a damaged or foreign file, a busy one, a forked copy, a clock that jumps."""

import contextlib
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

import unimodal as um
from unimodal.campaigns import look, verify

LINE = um.graphs.line(7)


def run(script, *arguments):
    """A script in a process of its own; what it printed."""
    found = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert found.returncode == 0, found.stderr
    return found.stdout.split("\n")


# A full disk.


def limit(campaign, pages):
    """Let the file grow to so many pages and no further; 0 for what it has."""
    connection = campaign._store._connection
    (now,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages or now}")


def test_a_full_disk_refuses_calls_and_loses_nothing(path, start, value_of):
    campaign, agent = start(), um.Agent(um.UTS(), LINE, seed=4, clock=lambda: 0.0)
    assert campaign.decide(10) == agent.decide(10)
    limit(campaign, 0)
    acknowledged, refused = [], 0
    while refused < 5:
        try:
            acknowledged += campaign.decide(10)
        except um.UnimodalError as error:
            assert "could not be written (database or disk is full), and nothing of" in str(error)
            refused += 1
    before = campaign.history()
    with pytest.raises(um.UnimodalError, match="make room on the disk and call again"):
        campaign.decide(2000)
    assert campaign.history().equals(before)
    limit(campaign, 10**6)
    acknowledged += campaign.decide(10)  # the same object goes on
    assert acknowledged == agent.decide(len(acknowledged))
    ids = [decision.id for decision in acknowledged]
    assert campaign.reward(ids, list(map(value_of, ids))) == [True] * len(ids)
    assert agent.reward(ids, list(map(value_of, ids))) == [True] * len(ids)
    assert campaign.arms().equals(agent.arms()) and campaign.outstanding == 10
    campaign.close()
    assert bool(verify(path))


def test_rewards_refused_by_a_full_disk_count_once_when_there_is_room(path, start, pulls):
    campaign = start()
    ids = [decision.id for decision in campaign.decide(3000)]
    limit(campaign, 0)
    told, refused = 0, 0
    while refused == 0:
        batch = ids[told : told + 50]
        try:
            assert campaign.reward(batch, [1.0] * 50) == [True] * 50
            told += 50
        except um.UnimodalError as error:
            assert "disk is full" in str(error)
            refused += 1
    assert told < 3000 and campaign.outstanding == 3000 - told
    limit(campaign, 10**6)
    assert campaign.reward(ids, [1.0] * 3000) == [False] * told + [True] * (3000 - told)
    assert sum(pulls(campaign).values()) == 3000
    campaign.close()
    assert bool(verify(path))


def test_close_lets_go_of_a_file_on_a_full_disk(path, start, reopen, play):
    """The snapshot of 400 arms needs pages that there are not; all else is in the file already."""
    campaign = start(um.graphs.line(400))
    play(campaign, 400)
    limit(campaign, 0)
    campaign.close()
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT count(*) FROM snapshots").fetchone() == (0,)
    connection.close()
    with reopen() as campaign:
        assert campaign.decide().id == 401
    assert verify(path).counts["reward"] == 400


SMALL_FILES = """
import resource, signal, sys, unimodal as um
campaign = um.Campaign.open(sys.argv[1], um.UTS(), um.graphs.line(7), seed=4)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))
made, counted, sentence = [], [], ""
try:
    while True:
        decisions = campaign.decide(7)
        made += decisions
        campaign.reward([d.id for d in decisions], [1.0] * 7)
        counted += [d.id for d in decisions]
except um.UnimodalError as error:
    sentence = str(error)
resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
decision = campaign.decide()
assert campaign.reward(decision.id, 1.0) is True
print(sentence)
print(len(made), len(counted), decision.id, sum(campaign.arms()["pulls"]))
"""


def test_a_limit_of_the_system_is_a_full_disk(path):
    words, numbers, _ = run(SMALL_FILES, path)
    assert "could not be written (disk I/O error), and nothing of this call was kept" in words or (
        "could not be written (database or disk is full)" in words
    )
    made, counted, last, pulls = map(int, numbers.split())
    assert counted > 0 and made - counted in (0, 7)
    assert last == made + 1 and pulls == counted + 1
    verdict = verify(path)
    assert verdict and verdict.counts["decide"] == last and verdict.counts["reward"] == pulls


# Files that are none of ours, or no longer whole.


def test_a_truncated_file_is_refused(path, start, reopen, play):
    with start() as campaign:
        play(campaign, 500)
    whole = path.read_bytes()
    for size in (len(whole) // 2, 5000, 4096, 700, 90):
        path.write_bytes(whole[:size])
        with pytest.raises(um.UnimodalError, match="it is another kind, or damaged"):
            reopen()
        assert path.read_bytes() == whole[:size]  # not touched
        try:
            assert not verify(path)
        except um.UnimodalError as error:
            assert "it is another kind, or damaged" in str(error)
    path.write_bytes(whole)
    assert bool(verify(path))


def test_bytes_overwritten_in_the_middle_are_found(path, start, play):
    with start() as campaign:
        play(campaign, 500)
    whole = bytearray(path.read_bytes())
    whole[8192:12288] = os.urandom(4096)
    path.write_bytes(whole)
    try:
        assert not verify(path)
    except um.UnimodalError as error:
        assert "damaged" in str(error)


@pytest.mark.parametrize("value", ["5", "{}", "[]", None, "{"])
@pytest.mark.parametrize("key", ["policy", "rewards", "graph"])
def test_damaged_settings_are_told(path, start, reopen, key, value):
    start().close()
    connection = sqlite3.connect(path)
    if value is None:
        connection.execute("DELETE FROM settings WHERE key = ?", (key,))
    else:
        connection.execute("UPDATE settings SET value = ? WHERE key = ?", (value, key))
    connection.commit()
    connection.close()
    for call in (reopen, lambda: look(path)):
        with pytest.raises(um.UnimodalError, match=r"settings in .* are damaged"):
            call()


def test_a_schema_that_is_no_text_is_told(path, start, reopen):
    """SQLite quotes it in what it says about that, and Python cannot read what SQLite says."""
    start().close()
    path.write_bytes(path.read_bytes().replace(b"time REAL NOT NULL", b"time REAL NOT \xc5ULL"))
    for call in (reopen, lambda: look(path), lambda: verify(path)):
        with pytest.raises(um.UnimodalError, match="it is another kind, or damaged"):
            call()


def test_a_value_of_another_kind_in_the_log_is_told(path, start, play):
    with start() as campaign:
        play(campaign, 20)
    connection = sqlite3.connect(path)
    connection.execute("UPDATE log SET near = 'many' WHERE seq = 9")
    connection.commit()
    connection.close()
    with pytest.raises(um.UnimodalError, match="value of another kind than its column"):
        um.inspect(path)


@pytest.mark.parametrize("text", ["hello", "SQLite format 3", "a,b\n" * 5000])
def test_a_text_file_is_refused_and_stays(path, start, text):
    path.write_text(text)
    for call in (start, lambda: verify(path), lambda: look(path)):
        with pytest.raises(um.UnimodalError, match="it is another kind, or damaged"):
            call()
    assert path.read_text() == text and list(path.parent.iterdir()) == [path]


def test_another_sqlite_file_is_refused_and_stays(path, start):
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE log (seq, kind)")
    connection.commit()
    connection.close()
    before = path.read_bytes()
    for call in (start, lambda: verify(path)):
        with pytest.raises(um.UnimodalError, match="got another SQLite database"):
            call()
    assert path.read_bytes() == before


def test_a_file_of_another_format_is_refused(path, start, reopen):
    start().close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(um.UnimodalError, match="has format 99, this version reads format 2"):
        reopen()


def test_an_empty_file_becomes_a_campaign(path, start):
    path.touch()
    with start() as campaign:
        assert campaign.decide().id == 1
    assert bool(verify(path))


def test_an_empty_file_that_is_only_looked_at_stays_empty(path):
    path.touch()
    with pytest.raises(um.UnimodalError, match="is empty"):
        look(path)
    assert path.stat().st_size == 0


def test_a_folder_and_a_missing_folder_are_refused(tmp_path):
    for wrong in (tmp_path, tmp_path / "nowhere" / "ads.db", ""):
        with pytest.raises(um.UnimodalError, match="cannot be opened for writing: check the fold"):
            um.Campaign.open(wrong, um.UTS(), LINE)
    assert list(tmp_path.iterdir()) == []


NOBODY = 65534


@contextlib.contextmanager
def without_rights():
    """As a user who is not root, who may write everywhere."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


def test_a_file_that_may_only_be_read_is_refused():
    with tempfile.TemporaryDirectory() as folder:  # pytest's own folders are closed to others
        path = Path(folder) / "ads.db"
        um.Campaign.open(path, um.UTS(), LINE).close()
        before = path.read_bytes()
        path.chmod(0o444)
        Path(folder).chmod(0o755)
        begun = time.monotonic()
        with without_rights(), pytest.raises(um.UnimodalError, match="cannot be opened for writ"):
            um.Campaign.open(path)
        assert time.monotonic() - begun < 10  # it does not wait for what will not change
        assert path.read_bytes() == before


def test_what_cannot_change_is_not_waited_for(path, start, reopen, monkeypatch):
    """A read-only file, for tests that root runs: SQLite is told so by its own setting."""
    connect = sqlite3.connect
    path.write_bytes(b"")

    def reading(*arguments, **named):
        connection = connect(*arguments, **named)
        connection.execute("PRAGMA query_only = 1")
        return connection

    monkeypatch.setattr(sqlite3, "connect", reading)
    begun = time.monotonic()
    with pytest.raises(um.UnimodalError, match="cannot be opened for writing"):
        start()
    assert time.monotonic() - begun < 10


# Others who hold the file, copies, clocks.


def test_a_busy_file_is_waited_for_and_then_told(path, start, play):
    campaign = start(wait=0.2)
    play(campaign, 5)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    for call in (campaign.decide, lambda: campaign.reward(1, 1.0), lambda: start(wait=0.2)):
        with pytest.raises(um.UnimodalError, match=r"kept .* busy for 0.2 s, so nothing was writ"):
            call()
    other.execute("ROLLBACK")
    assert campaign.decide().id == 6
    campaign.close()
    other.close()
    assert bool(verify(path))


def test_a_file_that_is_busy_for_a_moment_is_waited_for(path, start):
    campaign = start(wait=20)
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    release = threading.Timer(0.3, lambda: other.execute("ROLLBACK"))
    release.start()
    assert campaign.decide().id == 1
    release.join()
    other.close()
    campaign.close()


FORKED = """
import os, sys, unimodal as um
campaign = um.Campaign.open(sys.argv[1], um.UTS(), um.graphs.line(7), seed=4)
number = campaign.decide().id
process = os.fork()
if process == 0:
    for call in (lambda: campaign.reward(number, 1.0), campaign.decide, campaign.history):
        try:
            call()
            print("taken", flush=True)
        except um.UnimodalError as error:
            print(error, flush=True)
    campaign.close()
    with um.Campaign.open(sys.argv[1]) as own:
        print(own.decide().id, flush=True)
    os._exit(0)
os.waitpid(process, 0)
print(campaign.reward(number, 1.0), campaign.decide().id)
campaign.close()
"""


def test_a_forked_copy_has_to_open_it_again(path):
    *sentences, opened, parent, _ = run(FORKED, path)
    assert len(sentences) == 3
    for words in sentences:
        assert "opened by another process, of which this is a copy: open it here" in words
    assert (opened, parent) == ("2", "True 3")
    assert bool(verify(path))


def test_a_clock_that_goes_back_between_openings_makes_nothing_younger(path, start, reopen):
    now = [1000.0]
    with start(clock=lambda: now[0], time_to_live=10) as campaign:
        campaign.decide(2)
    now[0] = 10.0
    with reopen(clock=lambda: now[0]) as campaign:
        assert campaign.decide().time == 1000.0 and campaign.expire() == 0
        now[0] = 1009.0
        assert campaign.reward(1, 1.0) is True
        now[0] = 1010.0
        with pytest.raises(um.UnimodalError, match="decision 2 has expired"):
            campaign.reward(2, 1.0)
        times = campaign.history()["time"]
        assert times.is_sorted()
    assert bool(verify(path))


def test_an_interrupted_call_is_not_kept_and_the_next_one_is(path, start):
    """Ctrl-C in the middle of a call: what it had done so far is forgotten."""
    ticks = iter([0.0, 0.0])

    def clock():
        try:
            return next(ticks)
        except StopIteration:
            raise KeyboardInterrupt from None

    campaign = start(clock=clock)
    campaign.decide()
    with pytest.raises(KeyboardInterrupt):
        campaign.decide()
    campaign._writer.clock._clock = lambda: 5.0
    assert campaign.decide().id == 2
    campaign.close()
    assert bool(verify(path))


def test_a_clock_that_goes_back_before_the_first_decision_does_not_either(path, start, reopen):
    now = [5.0]
    start(clock=lambda: now[0]).close()
    now[0] = 2.0
    with reopen(clock=lambda: now[0]) as campaign:
        assert campaign.decide().time == 5.0
    assert bool(verify(path))


@pytest.mark.parametrize("ending", ["", "-wal"])
def test_a_file_taken_away_while_it_is_open_acknowledges_nothing_more(path, start, reopen, ending):
    """SQLite writes on to a file that has no name any more: what is told then would be lost."""
    campaign = start()
    decision = campaign.decide()
    file, elsewhere = Path(f"{path}{ending}"), Path(f"{path}-elsewhere")
    file.rename(elsewhere)
    for call in (campaign.decide, lambda: campaign.reward(decision.id, 1.0)):
        with pytest.raises(um.UnimodalError, match="was moved, deleted or replaced"):
            call()
    elsewhere.rename(file)
    campaign.close()
    with reopen() as campaign:
        assert campaign.reward(decision.id, 1.0) in (True, False)
    assert bool(verify(path))


def test_where_rewards_follow_at_once_a_missing_file_is_noticed_in_a_moment(path, start):
    with start() as campaign:
        ids = [decision.id for decision in campaign.decide(200)]
        for number in ids[:50]:
            campaign.reward(number, 1.0)
        path.unlink()
        with pytest.raises(um.UnimodalError, match="was moved, deleted or replaced"):
            for number in ids[50:]:  # for a tenth of a second at least
                campaign.reward(number, 1.0)
                time.sleep(0.001)
