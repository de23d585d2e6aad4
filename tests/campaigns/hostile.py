"""Campaign files changed at random: every reader answers, or refuses in a sentence.

`python tests/campaigns/hostile.py --cases 2000 --seed 1` makes a campaign on a graph that is held,
one on a graph that is looked up and one whose first events were moved into an archive, changes
copies of them (bytes flipped, rows edited, values of other kinds, numbers at every boundary), and
gives each to verify, inspect, explain, replay and Campaign.open. What raises anything but a
UnimodalError is printed, and the exit code is 1. Each case is announced before it begins, so that
whoever runs this can tell a hang or a crash.
"""

from __future__ import annotations

import argparse
import random
import re
import sqlite3
import sys
import tempfile
import traceback
from pathlib import Path

import unimodal as um
from unimodal.campaigns import explain

WORDS = ["", "x", "5", "-5", "1e400", "[]", "{}", "null", "NaN", "decide", "reward", "expire"]
WORDS += [
    "data",
    "tell",
    "look-up",
    "revision",
    "limit",
    "cap",
    "open",
    "contest",
    "start",
    "a" * 5000,
    "[" * 5000,
    "\x1b[31m",
]
NUMBERS = [-1, 0, 1, 2, 7, 1.5, -0.5, 1e9, 1e308, 9e999, 2**31, 2**62, -(2**63)]
NUMBERS += [10**15, 10**15 + 1, 2**63 - 2, 2**63 - 1]  # the last that are counted, or fit
IN_JSON = [*NUMBERS, 2**63, 2**64, -(2**63) - 1, 10**30, 10**400, -0.0, 1e-320]
ODD = [None, b"", b"\xff\xfe", *WORDS, *NUMBERS]
SPLICED = ["", "9", "-", "[", "]", '"', "0", "1e99", "null", ",", "99999999999"]
COLUMNS = {
    "log": ["seq", "time", "kind", "decision", "arm", "reason", "leader", "near"],
    "settings": ["key", "value"],
    "snapshots": ["seq", "version", "state"],
    "rewards": ["decision", "reward"],
}
COLUMNS["log"] += ["propensity", "reward", "data"]


def neighbours(arm):
    return [arm - 1, arm + 1]


def make(folder: Path) -> list[tuple[Path, dict]]:
    """The campaigns that are changed, and what Campaign.open needs for them."""
    held, looked_up, moved = (folder / f"{name}.db" for name in ("held", "looked-up", "moved"))
    graph = um.graphs.from_edges([("a", "b"), ("b", "c"), ("c", "d")])
    clock = iter(range(10**6))
    named = {"durability": "fast", "time_to_live": 5000, "clock": lambda: next(clock)}
    with um.Campaign.open(held, um.UTS(), graph, data={"b": (9, 4)}, **named) as campaign:
        play(campaign, 60)
        campaign.tell("c", 1.0)
        campaign.add_edges([("d", "e")])
        campaign.retire("a")
        campaign.pause("c")
        campaign.cap(0.3, over=10)
        play(campaign, 40)
        campaign.decide(5)
    crashed = um.Campaign.open(held, durability="fast", clock=lambda: next(clock))
    play(crashed, 20)  # after the last snapshot
    crashed._store.close()
    with um.Campaign.open(looked_up, graph=neighbours, root=0, durability="fast") as campaign:
        play(campaign, 70)
    recipe, policy = um.graphs.barabasi_albert(9, 2), um.Windowed(um.UTS(), window=50)
    named = {"durability": "fast", "clock": lambda: next(clock)}
    with um.Campaign.open(moved, policy, recipe, **named) as campaign:
        play(campaign, 60)
        campaign.decide(3, key="visitor-1")
    um.campaigns.compact(moved, folder / "moved.parquet")
    with um.Campaign.open(moved, **named) as campaign:
        campaign.decide(3, key="visitor-2")
        play(campaign, 10)
    return [(held, {}), (looked_up, {"graph": neighbours}), (moved, {})]


def play(campaign, rounds):
    for decision in campaign.decide(rounds)[: rounds - 2]:
        campaign.reward(decision.id, float(decision.id * 7919 % 10 < 4))


def flip(path: Path, rng: random.Random) -> str:
    """Change some bytes of the file, or cut it."""
    data = bytearray(path.read_bytes())
    if rng.random() < 0.05:
        del data[rng.randrange(len(data)) :]
    for _ in range(rng.choice([1, 1, 2, 5, 50])):
        place = rng.randrange(len(data)) if data else 0
        if rng.random() < 0.3:
            place %= 2048  # the schema
        data[place : place + 1] = bytes([rng.randrange(256)])
    path.write_bytes(data)
    return "bytes"


def edit(path: Path, rng: random.Random) -> str:
    """Change values in rows, or add and drop rows."""
    connection = sqlite3.connect(path)
    done = []
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        table = rng.choice(["log", "log", "log", "settings", "snapshots", "rewards"])
        column = rng.choice(COLUMNS[table])
        key = "key" if table == "settings" else "rowid"
        some = connection.execute(f"SELECT {key} FROM {table} ORDER BY random() LIMIT 1").fetchone()
        if some is None:  # an edit before this one dropped all rows
            continue
        (row,) = some
        value = rng.choice(ODD)
        if rng.random() < 0.4:
            (found,) = connection.execute(
                f"SELECT {column} FROM {table} WHERE {key} = ?", (row,)
            ).fetchone()
            value = nudged(found, rng)
        statement = f"UPDATE {table} SET {column} = ? WHERE {key} = ?"
        if rng.random() < 0.1:
            statement, value = f"DELETE FROM {table} WHERE ? OR {key} = ?", 0
        done.append(f"{statement} {str(value)[:60]!r} {row}")
        try:
            connection.execute(statement, (value, row))
        except sqlite3.Error:
            done.pop()
    connection.commit()
    connection.close()
    return "; ".join(done)


def nudged(value, rng):
    """A value that is a little different."""
    if isinstance(value, int | float):
        return value + rng.choice([1, -1, 0.5, 1e6, -1e6])
    numbers = list(re.finditer(r"-?\d+(\.\d+)?(e-?\d+)?", value)) if isinstance(value, str) else []
    if numbers and rng.random() < 0.6:  # of JSON, as a rule
        found = rng.choice(numbers)
        other = rng.choice([*map(str, IN_JSON), "NaN", "Infinity"])
        return value[: found.start()] + other + value[found.end() :]
    if isinstance(value, str) and value:
        place = rng.randrange(len(value))
        with_odd = rng.choice(
            ["", "9", "-", "[", "]", '"', "0", "1e99", "null", ",", "99999999999"]
        )
        return value[:place] + with_odd + value[place + rng.choice([0, 1, 1, 3]) :]
    return value


def readers(path: Path, options: dict):
    yield "verify", lambda: um.verify(path)
    yield "inspect", lambda: um.inspect(path).html()
    yield "explain", lambda: explain(path, 64)
    yield "replay", lambda: um.replay(path, [], draws=20)
    yield "open", lambda: opened(path, options)


def opened(path: Path, options: dict) -> None:
    with um.Campaign.open(
        path, durability="fast", clock=lambda: 2e6, wait=1, **options
    ) as campaign:
        for key in ("visitor-1", "visitor-2", None):
            for decision in campaign.decide(3, key=key):
                campaign.reward(decision.id, 1.0)
        campaign.reward(1, 0.0)
        campaign.history()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    wrong = refused = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        campaigns = []
        for path, given in make(folder):
            campaigns.append((path.read_bytes(), given))
            for _, call in readers(path, given):
                call()  # as long as nothing is changed, nothing is refused
        for case in range(options.first, options.first + options.cases):
            rng = random.Random(f"{options.seed} {case}")
            whole, given = rng.choice(campaigns)
            path = folder / f"case-{case}.db"
            path.write_bytes(whole)
            what = rng.choice([flip, edit, edit])(path, rng)
            print(f"case {case}: {what}", flush=True)
            for reader, call in readers(path, given):
                try:
                    call()
                except um.UnimodalError as error:
                    refused += 1
                    print(f"{reader}: {error}")
                    if "\n" in str(error) or len(str(error)) > 2000:
                        wrong += 1
                        print(f"WRONG {reader} says {str(error)[:3000]!r}")
                except Exception:
                    wrong += 1
                    print(f"WRONG {reader} raised\n{traceback.format_exc()}")
            for left in folder.glob(f"case-{case}.db*"):
                left.unlink()
    print(f"{options.cases} cases, {refused} refusals, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
