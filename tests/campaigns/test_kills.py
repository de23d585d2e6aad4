"""Clients killed at random moments: nothing acknowledged is lost or counted twice.

The two sabotaged runs show that the test can fail. An acknowledgement that comes too early is lost
for certain only where a client dies before its next call. So each run goes on until there were
enough kills right after an acknowledgement: when acknowledging early, seven of eight acknowledged
calls are not on disk yet, so that 15 such kills find none with probability below 1e-13. When
counting twice, a run tells some 15 known rewards again, each of which is found. As neither is
certain, a sabotaged run that shows nothing is repeated with another seed, up to three times.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

KILLS = Path(__file__).with_name("kills.py")
WRONG = {
    *("decisions lost", "decisions expired", "decisions made twice"),
    *("rewards lost", "rewards refused"),
    *("rewards double", "rewards counted twice", "pulls differ", "verify"),
}


def run(*arguments):
    command = [sys.executable, str(KILLS), *map(str, arguments)]
    found = subprocess.run(command, capture_output=True, text=True, timeout=170)
    assert found.stdout, found.stderr
    return json.loads(found.stdout), found.returncode


@pytest.mark.parametrize(
    ("clients", "kills", "rewards"),
    [pytest.param(4, 25, 10_000, marks=pytest.mark.full), (1, 15, 2_000)],
    ids=["four", "alone"],
)
def test_nothing_acknowledged_is_lost_or_counted_twice(clients, kills, rewards):
    """Alone, a client's rewards are written in statements of their own."""
    found, code = run(
        *("--clients", clients, "--kills", kills, "--rewards", rewards, "--suicides", 12)
    )
    assert found["kills"] >= kills and found["suicides"] >= 12
    assert found["rewards"] >= rewards and found["told again"] > 0
    assert found["wrong"] == dict.fromkeys(WRONG, 0)
    assert code == 0


def test_nothing_is_lost_with_forks_readers_backups_copies_and_a_clock_that_jumps():
    found, code = run("--hostile", "--kills", 15, "--rewards", 3_000, "--suicides", 8)
    assert found["kills"] >= 15 and found["rewards"] >= 3_000
    assert all(found[f"{work} times"] > 0 for work in ("work", "copy", "read"))
    assert found["wrong"] == {**dict.fromkeys(WRONG, 0), "failures": []}
    assert code == 0


def is_found(shows, *arguments):
    """Whether a sabotaged run shows it, at the latest the third."""
    for seed in (1, 2, 3):
        found, code = run("--seed", seed, *arguments)
        if shows(found["wrong"]):
            return code == 1
    return False


@pytest.mark.parametrize("clients", [pytest.param(4, marks=pytest.mark.full), 1])
def test_acknowledging_before_the_commit_is_found(clients):
    def shows(wrong):
        return wrong["decisions lost"] + wrong["decisions made twice"] + wrong["rewards lost"] > 0

    storm = ("--suicide", 0.3, "--suicides", 15, "--kills", 15, "--rewards", 300)
    assert is_found(shows, "--sabotage", "early", "--clients", clients, *storm)


@pytest.mark.full
def test_counting_a_reward_twice_is_found():
    def shows(wrong):
        return all(wrong[name] for name in ("rewards double", "rewards counted twice", "verify"))

    storm = ("--kills", 5, "--rewards", 3000, "--durability", "fast")
    assert is_found(shows, "--sabotage", "twice", *storm)
