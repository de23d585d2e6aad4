"""Servers killed at random, SQLite and PostgreSQL: nothing acknowledged is lost or done twice.

The sabotaged run shows that the test can fail: a server that knows only the keys since its start
makes another decision for a key from before a kill. Clients ask again for keys of theirs in three
of ten steps, so that after a kill each of some hundred such questions finds it.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

KILLS = Path(__file__).with_name("kills.py")


def run(*arguments):
    command = [sys.executable, str(KILLS), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500)
    assert done.stdout, done.stderr
    return json.loads(done.stdout), done.returncode


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request):
    """Options that name a store."""
    if request.param == "sqlite":
        return []
    address = request.getfixturevalue("postgresql")("any")
    database = re.sub(r"[?&]campaign=any", "", address)
    return ["--store", database]


def check(found, code, kills, rewards):
    assert found["kills"] >= kills and found["rewards"] >= rewards
    assert found["wrong"] == dict.fromkeys(found["wrong"], 0)
    assert found["told again"] > 0
    assert code == 0


def test_nothing_acknowledged_is_lost_or_done_twice(store):
    check(*run(*store, "--name", "few-kills", "--kills", 3, "--rewards", 300), 3, 300)


@pytest.mark.full
def test_nothing_is_lost_in_many_kills(store):
    check(*run(*store, "--name", "many-kills", "--kills", 20, "--rewards", 5000), 20, 5000)


@pytest.mark.full
def test_forgetting_keys_at_a_restart_is_found():
    found, code = run("--sabotage", "forget", "--servers", 1, "--kills", 2, "--rewards", 150)
    assert found["wrong"]["answers that differ"] > 0
    assert found["wrong"]["decisions without a key"] > 0
    assert code == 1
