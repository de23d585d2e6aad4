"""The run: kept as it goes, never done twice, the same bytes wherever it ran."""

import asyncio
import signal
import socket
import sqlite3
import subprocess
import sys

import numpy as np
import pytest

from unimodal.errors import UnimodalError
from unimodal.studies import finished_tasks as stores
from unimodal.studies import run_tasks
from unimodal.studies.finished_tasks import opened
from unimodal.studies.reproduce.settings import Setting
from unimodal.studies.run_tasks import do, workers_at
from unimodal.studies.tasks import cut, run

SETTINGS = [
    Setting("Table 2", 10, density, ("UTS", "OSUB"), 20_000, 2, 4) for density in ("1/2", "line")
]


def finished(path):
    return sqlite3.connect(path).execute("SELECT key, regret FROM tasks ORDER BY key").fetchall()


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "finished.db"
    with opened(path) as store:
        do(list(cut(SETTINGS)), store)
    return path


def test_what_is_finished_is_not_done_again(whole):
    done_again = []
    with opened(whole) as store:
        do(list(cut(SETTINGS)), store, tell=done_again.append)
    assert done_again == []


def test_another_law_makes_everything_new(whole, monkeypatch):
    monkeypatch.setattr(stores, "law_hash", lambda: "another law")
    with opened(whole) as store:
        assert not any(store.has(task) for task in cut(SETTINGS))


def test_results_come_back_as_they_were(whole):
    task = next(cut(SETTINGS))
    with opened(whole) as store:
        assert (store.get(task) == run(task)).all()


# What runs in processes of its own begins with this.
BEGIN = """
import os, signal, sys, time
from pathlib import Path
from unimodal.studies.reproduce.settings import Setting
from unimodal.studies import run_tasks as pool
from unimodal.studies.finished_tasks import opened
from unimodal.studies.tasks import cut

SETTINGS = [
    Setting("Table 2", 10, density, ("UTS", "OSUB"), 20_000, 2, 4) for density in ("1/2", "line")
]
"""

KILLED = """
def tell(task):
    print("done", flush=True)
    if len(sys.argv) > 2:
        time.sleep(0.3)
with opened(Path(sys.argv[1])) as store:
    pool.do(list(cut(SETTINGS)), store, tell=tell)
"""


def test_killed_it_goes_on_where_it_was(whole, tmp_path):
    path = tmp_path / "finished.db"
    command = [sys.executable, "-c", BEGIN + KILLED, str(path)]
    process = subprocess.Popen([*command, "slowly"], stdout=subprocess.PIPE, text=True)
    for _ in range(3):
        assert process.stdout.readline() == "done\n"
    process.send_signal(signal.SIGKILL)
    process.communicate()
    before = len(finished(path))
    assert 3 <= before < len(finished(whole))
    again = subprocess.run(command, capture_output=True, text=True, check=True)
    assert again.stdout.count("done") == len(finished(whole)) - before
    assert finished(path) == finished(whole)


# Dask leaves threads behind that draw from `random`, which Hypothesis forbids a test's strategies:
# beside other tests it would make one of them fail now and then.
ON_DASK = """
from distributed import LocalCluster

if __name__ == "__main__":
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        told, victims = [], []

        def tell(task):
            told.append(task)
            if len(told) == 3:
                victims.append(next(iter(cluster.workers.values())).pid)
                os.kill(victims[0], signal.SIGKILL)

        with pool.dask_workers(cluster.scheduler_address) as workers:
            with opened(Path(sys.argv[1])) as store:
                pool.do(list(cut(SETTINGS)), store, workers, tell)
    assert victims
    assert workers._client.status == "closed"
"""


def test_a_dask_cluster_gives_the_same_bytes_though_a_worker_dies(whole, tmp_path):
    """Two worker processes, one of which is killed half-way."""
    pytest.importorskip("distributed")
    script, path = tmp_path / "on_dask.py", tmp_path / "finished.db"
    script.write_text(BEGIN + ON_DASK)
    subprocess.run([sys.executable, str(script), str(path)], check=True)
    assert finished(path) == finished(whole)


NO_SCHEDULER = """
pool._PATIENCE = 1.0
try:
    with pool.dask_workers("tcp://127.0.0.1:9"):
        pass
except pool.UnimodalError as error:
    print(error)
"""


def test_no_scheduler_gets_a_sentence():
    pytest.importorskip("distributed")
    command = [sys.executable, "-c", BEGIN + NO_SCHEDULER]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said.startswith("no Dask scheduler answers at tcp://127.0.0.1:9")


def test_without_the_extra_there_is_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    missing = pytest.raises(UnimodalError, match=r"pip install 'unimodal\[dask\]'")
    with missing, workers_at("10.0.0.1:8786"):
        pass
    with workers_at("") as threads:
        assert threads is None


def test_a_server_of_another_kind_gets_a_sentence(monkeypatch):
    """One that listens and says nothing: Dask itself would wait for ever."""
    pytest.importorskip("distributed")
    monkeypatch.setattr(run_tasks, "_PATIENCE", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        address = f"127.0.0.1:{mute.getsockname()[1]}"
        silent = pytest.raises(UnimodalError, match=f"no Dask scheduler answers at {address}")
        with silent, workers_at(address):
            pass


def test_a_running_event_loop_does_not_matter(monkeypatch):
    """Notebooks have one, and so has a thread that drives a browser."""
    pytest.importorskip("distributed")
    monkeypatch.setattr(run_tasks, "_PATIENCE", 0.2)

    async def inside_a_loop():
        with pytest.raises(UnimodalError) as refused, workers_at("tcp://127.0.0.1:9"):
            pass
        return str(refused.value)

    assert "event loop" not in asyncio.run(inside_a_loop())


def test_a_file_that_is_no_store_gets_a_sentence(tmp_path):
    (tmp_path / "finished.db").write_text("this is not a database at all, " * 40)
    with pytest.raises(UnimodalError, match="choose another --out, or remove the file"):
        stores.FinishedTasks(tmp_path / "finished.db")


def test_an_error_in_a_task_comes_out(tmp_path):
    broken = Setting("Table 2", 10, "0.7", ("UTS",), 100, 1, 1)
    with opened(tmp_path / "x.db") as store, pytest.raises(UnimodalError, match="density"):
        do(list(cut([broken])), store)


def test_regrets_are_increasing(whole):
    for _, blob in finished(whole):
        assert (np.diff(np.frombuffer(blob).reshape(4, -1)) >= 0).all()
