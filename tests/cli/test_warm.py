"""`unimodal warm`: what it compiles is found by the next process."""

import os
import subprocess
import sys

import pytest


def warm(folder, *arguments):
    env = os.environ | {"UNIMODAL_CACHE_DIR": str(folder)}
    command = [sys.executable, "-c", "from unimodal.cli import main; main()", "warm", *arguments]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)


@pytest.mark.full
def test_what_it_compiles_is_there_the_next_time(tmp_path):
    first = warm(tmp_path, "uts", "--no-engines")
    assert first.returncode == 0 and first.stderr == ""
    assert " compiled in " in first.stdout
    (folder,) = tmp_path.iterdir()
    assert f"Compiled code is kept in {folder} (" in " ".join(first.stdout.split())
    names = {path.name.split("-")[0] for path in folder.glob("*.nbc")}
    assert {"round.choose", "round.observe"} <= names
    second = warm(tmp_path, "uts", "--no-engines")
    assert "was there already" in second.stdout and " compiled in " not in second.stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["utss"], "did you mean 'uts'"),
        (["uts", "--family", "cauchy"], "cauchy"),
        (["uts", "--no-engines", "--no-agents"], "there must be something to compile"),
        (["mine.py:Greedy"], "mine.py:Greedy"),  # a user's own is never kept on disk
    ],
)
def test_mistakes_get_a_sentence(tmp_path, arguments, sentence):
    ran = warm(tmp_path, *arguments)
    assert ran.returncode == 2
    assert sentence in ran.stderr and ran.stderr.count("\n") == 1
    assert not list(tmp_path.rglob("*.nbc"))
