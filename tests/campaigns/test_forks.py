"""Forked, spawned and served by several processes: locks hold, and nothing acknowledged is lost."""

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time

import pytest

import unimodal as um
from unimodal.campaigns import verify
from unimodal.campaigns.stores import forks
from unimodal.campaigns.stores.sqlite import file_locks as locks

LINE = um.graphs.line(7)


def in_child(work):
    """Do something in a forked child; what it returned, as text."""
    read, write = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            os.write(write, str(work()).encode())
        except BaseException as error:
            os.write(write, f"{type(error).__name__}: {error}".encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        told = pipe.read().decode()
    os.waitpid(process, 0)
    return told


def rewarded(path, count):
    """Open the file, and have so many rewards acknowledged: their decisions."""
    with um.Campaign.open(path) as campaign:
        ids = [campaign.decide().id for _ in range(count)]
        assert all(campaign.reward(number, 1.0) is True for number in ids)
    return ids


def counted(path, ids):
    """How many of these rewards the file has."""
    with um.Campaign.open(path) as campaign:
        return sum(campaign.reward(number, 1.0) is False for number in ids)


def test_a_child_may_open_what_its_parent_has_open(path, start):
    """At ac7e735 the child had no lock: the parent's close deleted the -wal under it."""
    campaign = start()
    made = campaign.decide().id
    read, write = os.pipe()
    process = os.fork()
    if process == 0:
        own = um.Campaign.open(path)
        ids = [own.decide().id]
        os.write(write, b"open\n")
        while os.path.exists(f"{path}.parent"):
            time.sleep(0.01)
        ids += [own.decide().id for _ in range(30)]
        told = [own.reward(number, 1.0) for number in ids]
        os.write(write, f"{all(told)} {ids}\n".encode())
        os._exit(0)  # as if it were killed
    (path.parent / f"{path.name}.parent").touch()
    with os.fdopen(read) as pipe:
        os.close(write)
        assert pipe.readline() == "open\n"
        campaign.reward(made, 1.0)
        campaign.close()
        os.remove(f"{path}.parent")
        told, ids = pipe.readline().split(" ", 1)
    os.waitpid(process, 0)
    ids = eval(ids)
    assert told == "True" and len(set(ids)) == 31 and made not in ids
    assert counted(path, [made, *ids]) == 32
    assert bool(verify(path))


def test_the_parent_goes_on_after_a_fork(path, start):
    campaign = start()
    ids = [campaign.decide().id]
    campaign.reward(ids[0], 1.0)
    ids += eval(in_child(lambda: rewarded(path, 3)))
    ids.append(campaign.decide().id)
    assert campaign.reward(ids[-1], 1.0) is True
    assert ids == [1, 2, 3, 4, 5] and campaign.outstanding == 0
    campaign.close()
    assert verify(path).wrong == []


@pytest.mark.parametrize("gone", [False, True])
def test_a_file_replaced_during_a_fork_is_noticed(path, tmp_path, start, gone):
    campaign = start()
    campaign.decide()
    in_child(lambda: os.rename(path, tmp_path / "elsewhere"))
    if not gone:
        shutil.copy(tmp_path / "elsewhere", path)
    with pytest.raises(um.UnimodalError, match="moved, deleted or replaced"):
        campaign.decide()
    assert path.exists() is not gone


def test_a_fork_waits_for_calls_of_other_threads_and_leaves_no_child_busy(path, tmp_path, start):
    """At ac7e735 the child found the file busy for ever, by a transaction that it had inherited."""
    campaign, stop, told = start(), threading.Event(), []

    def work():
        while not stop.is_set():
            decision = campaign.decide()
            told.append((decision.id, campaign.reward(decision.id, 1.0)))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    ids = []
    for _ in range(10):
        ids += eval(in_child(lambda: rewarded(path, 2)))
    stop.set()
    for thread in threads:
        thread.join(30)
    assert len(ids) == 20 and all(counts for _, counts in told)
    campaign.close()
    assert counted(path, [*ids, *(number for number, _ in told)]) == 20 + len(told)
    assert verify(path).wrong == []


def test_no_reader_begins_between_the_last_look_and_the_fork(path, start):
    """Or the child could not open the file: one of 15 kills in a hostile run ended in that."""
    start().close()
    over = threading.Event()

    def read():
        while not over.is_set():
            with locks.reader(path):
                pass

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        inherited = {in_child(lambda: len(locks._open_files.inherited)) for _ in range(20)}
    finally:
        over.set()
        for thread in threads:
            thread.join()
    assert inherited == {"0"}


def test_what_cannot_be_closed_for_a_fork_is_refused_in_the_child(path, start, monkeypatch):
    """As when a call of another thread takes long: the child then has a wrong idea of locks."""
    campaign, told = start(), []
    monkeypatch.setattr(forks, "WAIT", 0.05)
    assert campaign._writer._group.hold()

    def fork():
        told.append(in_child(lambda: um.Campaign.open(path)))
        told.append(in_child(lambda: verify(path)))

    thread = threading.Thread(target=fork)
    thread.start()
    thread.join(30)
    campaign._writer._group.release()
    assert len(told) == 2
    for words in told:
        assert words.startswith("StoreError: ") and "forked from, and in use there" in words
    assert campaign.decide().id == 1
    campaign.close()


def test_a_fork_that_runs_no_handlers_is_noticed(path, start):
    """As C code makes them, such as that of a web server."""
    campaign = start()
    unheard = """
import ctypes, os, sys, unimodal as um
campaign = um.Campaign.open(sys.argv[1])
process = ctypes.CDLL(None).fork()
if process == 0:
    for call in (campaign.decide, lambda: um.Campaign.open(sys.argv[1])):
        try:
            call()
            print("taken", flush=True)
        except um.UnimodalError as error:
            print(error, flush=True)
    os._exit(0)
os.waitpid(process, 0)
print(campaign.decide().id)
"""
    found = subprocess.run(
        [sys.executable, "-c", unheard, str(path)], capture_output=True, text=True, timeout=60
    )
    used, opened, parent = found.stdout.splitlines()
    assert "of which this is a copy" in used and "was forked from" in opened and parent == "1"
    campaign.close()


# The ways in which servers start their workers. Each opens the campaign in the worker.


POOLS = """
import multiprocessing, sys, unimodal as um
from concurrent.futures import ProcessPoolExecutor

def worker(path):
    with um.Campaign.open(path) as campaign:
        ids = [campaign.decide().id for _ in range(5)]
        assert all(campaign.reward(number, 1.0) is True for number in ids)
    return ids

if __name__ == "__main__":
    method, path = sys.argv[1:]
    campaign = um.Campaign.open(path, um.UTS(), um.graphs.line(7), seed=4)  # open all the time
    with ProcessPoolExecutor(2, multiprocessing.get_context(method)) as pool:
        ids = [number for part in pool.map(worker, [path] * 4) for number in part]
    print(*ids, campaign.decide().id)
"""


@pytest.mark.parametrize(
    "method", ["fork", "spawn", pytest.param("forkserver", marks=pytest.mark.full)]
)
def test_multiprocessing(path, tmp_path, method):
    script = tmp_path / "pools.py"
    script.write_text(POOLS)
    found = subprocess.run(
        [sys.executable, str(script), method, str(path)],
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert found.returncode == 0, found.stderr
    *ids, last = map(int, found.stdout.split())
    assert sorted(ids) == list(range(1, 21)) and last == 21
    assert counted(path, ids) == 20 and verify(path).wrong == []


PREFORK = """
import os, signal, sys, unimodal as um

# What gunicorn, uvicorn --workers with fork, and Celery do: load the application, then fork.
path, shared = sys.argv[1], None
if sys.argv[2] == "preloaded":  # gunicorn --preload: the application opened it before the fork
    shared = um.Campaign.open(path, um.UTS(), um.graphs.line(7), seed=4)
    shared.reward(shared.decide().id, 1.0)

def post_fork():  # gunicorn's hook of this name; Celery's signal worker_process_init
    return um.Campaign.open(path, um.UTS(), um.graphs.line(7), seed=4)

workers = []
for _ in range(3):
    process = os.fork()
    if process == 0:
        campaign = post_fork()
        for _ in range(10):
            decision = campaign.decide()
            campaign.reward(decision.id, 1.0)
            os.write(1, f"{decision.id}\\n".encode())
        os.kill(os.getpid(), signal.SIGKILL)  # a worker that is killed, as servers do
    workers.append(process)
for process in workers:
    os.waitpid(process, 0)
"""


@pytest.mark.parametrize(
    "application", ["preloaded", pytest.param("plain", marks=pytest.mark.full)]
)
def test_prefork_servers(path, application):
    found = subprocess.run(
        [sys.executable, "-c", PREFORK, str(path), application],
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert found.returncode == 0, found.stderr
    ids = [int(line) for line in found.stdout.split()]
    assert len(set(ids)) == 30 and counted(path, ids) == 30
    assert verify(path).wrong == []


# Copies.


def foreign_reader(path):
    """Another program opens the file and closes it, as the sqlite3 command does."""
    code = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); "
    code += "print(c.execute('SELECT count(*) FROM log').fetchone()[0]); c.close()"
    found = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, timeout=60
    )
    return int(found.stdout)


def test_a_copy_made_by_the_serving_process_loses_nothing(path, tmp_path, start):
    """Copying drops SQLite's locks: at ac7e735 the next reader deleted the -wal that is in use."""
    campaign = start()
    shutil.copy(path, tmp_path / "copy.db")
    wal = os.stat(f"{path}-wal").st_ino
    assert verify(path).wrong == []
    with um.Campaign.open(path) as other:  # of this process
        other.decide()
    for call in ("um.verify(path)", "um.inspect(path)", "um.Campaign.open(path).close()"):
        code = f"import unimodal as um; path = {str(path)!r}; {call}"
        subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
    assert os.stat(f"{path}-wal").st_ino == wal
    ids = [campaign.decide().id for _ in range(20)]
    assert all(campaign.reward(number, 1.0) is True for number in ids)
    campaign.close()
    assert counted(path, ids) == 20 and verify(path).wrong == []


def test_another_program_that_deletes_the_wal_is_noticed_before_anything_is_acknowledged(
    path, tmp_path, start, reopen
):
    campaign = start()
    told = [campaign.decide().id for _ in range(5)]
    assert all(campaign.reward(number, 1.0) for number in told)
    for _ in range(25):  # so that it takes itself to be alone
        told.append(campaign.decide().id)
        campaign.reward(told[-1], 1.0)
    open_one = campaign.decide().id
    shutil.copy(path, tmp_path / "copy.db")
    foreign_reader(path)
    assert not os.path.exists(f"{path}-wal")
    for call in (campaign.decide, lambda: campaign.reward(open_one, 1.0)):
        with pytest.raises(um.UnimodalError, match="its -wal file was moved, deleted or replaced"):
            call()
    campaign.close()
    assert counted(path, told) == len(told)
    assert verify(path).wrong == []


@pytest.mark.parametrize("ending", ["", "-wal"])
def test_a_file_replaced_by_another_of_the_same_content_is_noticed(path, start, ending):
    """Another inode under the same name: what is written to the old one would be lost."""
    campaign = start()
    for _ in range(25):
        number = campaign.decide().id
        campaign.reward(number, 1.0)
    number = campaign.decide().id
    whole = f"{path}{ending}"
    shutil.copy(whole, f"{path}.new")
    os.replace(f"{path}.new", whole)
    for call in (lambda: campaign.reward(number, 1.0), campaign.decide):
        with pytest.raises(um.UnimodalError, match="moved, deleted or replaced"):
            call()


def test_a_backup_of_a_running_campaign(path, tmp_path, start, reopen):
    campaign, copies, stop = start(), [], threading.Event()
    acknowledged = []

    def work():
        while not stop.is_set():
            decision = campaign.decide()
            campaign.reward(decision.id, 1.0)
            acknowledged.append(decision.id)

    thread = threading.Thread(target=work)
    thread.start()
    for number in range(4):
        before = list(acknowledged)
        copies.append((campaign.backup(tmp_path / f"copy-{number}.db"), before))
    stop.set()
    thread.join(30)
    campaign.close()
    for copy, before in copies:
        assert verify(copy).wrong == [] and counted(copy, before) == len(before)
        assert sorted(tmp_path.glob(f"{copy.name}*")) == [copy]
    with pytest.raises(um.UnimodalError, match=r"copy-0.db already: name another"):
        um.Campaign.open(path).backup(copies[0][0])
    assert verify(path).wrong == []


def test_sqlite_as_the_campaign_leaves_it(path, start):
    """A closed campaign is one file, which any program can read."""
    with start() as campaign:
        campaign.decide(3)
    assert sorted(path.parent.iterdir()) == [path]
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT count(*) FROM log WHERE kind = 'decide'").fetchone() == (3,)
    connection.close()
