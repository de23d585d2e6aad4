"""Shards of a study, one of them killed, are merged to the bytes of one run."""

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import unimodal as um
from unimodal.results.shards import Shard
from unimodal.studies import shards
from unimodal.studies.finished_tasks import opened

SETTINGS = [
    um.studies.Setting("one", "line:5", "by distance", ("UTS", "OSUB"), 50, 2, 3),
    um.studies.Setting("two", "complete:4", "by distance", ("UTS",), 60, 2, 2),
]
SCRIPT = """
import contextlib, os, signal, sys
sys.path.insert(0, {here!r})
import test_shards
shard, folder, kill = sys.argv[1:]

@contextlib.contextmanager
def killed(tasks, store):
    yield lambda task: os.kill(os.getpid(), signal.SIGKILL)

test_shards.STUDY.run_shard(shard, folder, watch=killed if kill else None)
"""


class Finals(um.studies.Regrets):
    """Regrets without the times that were measured, which no two runs share."""

    @classmethod
    def of(cls, setting, policy, rows):
        rows = rows.copy()
        rows[:, :, 0] = 1.0
        return super().of(setting, policy, rows)


STUDY = um.studies.Study(SETTINGS, Finals)


def in_a_process(shard, folder, kill=""):
    script = SCRIPT.format(here=str(Path(__file__).parent))
    return subprocess.run([sys.executable, "-c", script, shard, folder, kill]).returncode


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    for number in range(1, 5):
        STUDY.run_shard(f"{number}/4", folder)
    return folder


@pytest.fixture
def copied(parts, tmp_path):
    shutil.copytree(parts, tmp_path / "parts")
    return tmp_path / "parts"


def test_shards_in_processes_one_of_them_killed_are_the_bytes_of_one_run(tmp_path):
    whole = STUDY.run(tmp_path / "whole").save(tmp_path / "whole.parquet").read_bytes()
    folder = tmp_path / "parts"
    assert in_a_process("1/2", folder) == 0
    assert in_a_process("2/2", folder, kill="yes") == -signal.SIGKILL
    with pytest.raises(um.UnimodalError, match=r"shard 2/2 .* is not finished, 2 of its 3 tasks"):
        STUDY.merge(folder)
    assert not (folder / "finished.db").exists()
    assert in_a_process("2/2", folder) == 0
    merged = STUDY.merge(folder)
    assert merged.save(tmp_path / "merged.parquet").read_bytes() == whole
    assert STUDY.merge(folder).save(tmp_path / "twice.parquet").read_bytes() == whole


def test_each_task_is_of_one_shard():
    tasks = STUDY.tasks()
    dealt = [shards.tasks_of(Shard(number, 4), tasks) for number in range(1, 5)]
    assert sorted(map(id, (task for own in dealt for task in own))) == sorted(map(id, tasks))


def test_a_missing_shard_is_named(copied):
    next(copied.glob("shard-3-*")).unlink()
    with pytest.raises(um.UnimodalError, match="3/4 is missing"):
        STUDY.merge(copied)


def test_a_shard_under_the_name_of_another_is_named(copied):
    """Shard 2 with the tasks of shard 3 has none of its own."""
    for path in copied.glob("shard-2-of-4.db*"):
        path.unlink()
    shutil.copy(copied / "shard-3-of-4.db", copied / "shard-2-of-4.db")
    with pytest.raises(um.UnimodalError, match=r"shard 2/4 .* is not finished"):
        STUDY.merge(copied)


def test_a_shard_of_other_settings_is_named(copied):
    other = um.studies.Study(SETTINGS[:1], Finals)
    with pytest.raises(um.UnimodalError, match=r"shard 1/4 .* is of other settings"):
        other.merge(copied)
    with pytest.raises(um.UnimodalError, match="was begun with other settings"):
        other.run_shard("1/4", copied)


def test_a_shard_of_other_code_is_named(copied, monkeypatch):
    monkeypatch.setattr(shards, "law_hash", lambda: "another law")
    with pytest.raises(um.UnimodalError, match=r"shard 1/4 .* by other sources of unimodal"):
        STUDY.merge(copied)
    assert not (copied / "finished.db").exists()


def test_a_file_that_is_no_shard_is_named(copied):
    for path in copied.glob("shard-2-of-4.db*"):
        path.unlink()
    with opened(copied / "shard-2-of-4.db"):
        pass
    with pytest.raises(um.UnimodalError, match="must be the file of a shard of a study"):
        STUDY.merge(copied)
    (copied / "shard-2-of-4.db").write_bytes(b"nonsense" * 1000)
    with pytest.raises(um.UnimodalError, match=r"finished work .*shard-2-of-4"):
        STUDY.merge(copied)


def test_more_shards_than_tasks_are_refused(tmp_path):
    with pytest.raises(um.UnimodalError, match="has 6 tasks, and so at most as many shards"):
        STUDY.run_shard("1/7", tmp_path)


def test_shards_of_simulate_are_no_shards_of_a_study(tmp_path):
    (tmp_path / "shard-1-of-1.parquet").write_text("")
    with pytest.raises(um.UnimodalError, match="is a shard of unimodal simulate"):
        STUDY.merge(tmp_path)
