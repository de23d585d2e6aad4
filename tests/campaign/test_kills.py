"""Clients killed at random moments: nothing acknowledged is lost or counted twice.

The two sabotaged runs show that the test can fail. When acknowledging early, clients kill
themselves right after three acknowledgements in ten, where seven of eight are not on disk yet: of
20 kills, even if only 5 were such, the chance that nothing is lost is below 1e-4. When counting
twice, every second step tells a known reward again, and 3,000 rewards take some 30 steps: even with
14 of them the chance that no reward is told twice is below 1e-4.
"""

import json
import subprocess
import sys
from pathlib import Path

KILLS = Path(__file__).with_name("kills.py")


def run(*arguments):
    found = subprocess.run(
        [sys.executable, str(KILLS), *arguments], capture_output=True, text=True, timeout=170
    )
    assert found.stdout, found.stderr
    return json.loads(found.stdout), found.returncode


def test_nothing_acknowledged_is_lost_or_counted_twice():
    found, code = run("--kills", "20", "--rewards", "10000")
    assert found["kills"] >= 20 and found["rewards"] >= 10_000 and found["told again"] > 0
    wrong = {name: found[name] for name in list(found)[4:-1]}
    assert not any(wrong.values()), wrong
    assert "rewards lost" in wrong and "rewards double" in wrong and "verify" in wrong
    assert code == 0


def test_acknowledging_before_the_commit_is_found():
    found, code = run(
        *("--sabotage", "early", "--suicide", "0.3", "--kills", "20", "--rewards", "300")
    )
    assert found["decisions lost"] + found["decisions made twice"] + found["rewards lost"] > 0
    assert code == 1


def test_counting_a_reward_twice_is_found():
    found, code = run(
        *("--sabotage", "twice", "--kills", "5", "--rewards", "3000", "--durability", "fast")
    )
    assert found["rewards double"] > 0 and found["rewards counted twice"] > 0
    assert found["verify"] > 0 and code == 1
