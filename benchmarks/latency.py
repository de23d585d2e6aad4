"""How long calls of a campaign take, at this commit and at another one, in one run.

    python benchmarks/latency.py --against ac7e735

Processes x threads make decisions and tell their rewards, one by one, with full durability. Both
versions take turns, and before each turn the disk's own commit is timed: a bare SQLite loop in one
process. All latencies are milliseconds, and (in brackets) commits of that loop in the same turn.
With `--sync 4`, every `fsync` takes at least 4 ms, as on a server's disk (needs a C compiler).
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from statistics import median

import numpy as np
from against import checked_out

HERE = Path(__file__).resolve().parent.parent
SHAPES = ((1, 1), (1, 16), (4, 1), (4, 16))
SHARES = (0.5, 0.99, 0.999, 1.0)

WORKER = """
import json, sys, threading, time, unimodal as um
path, threads, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
campaign = um.Campaign.open(path, um.UTS(), um.graphs.line(17))
took = []

def work():
    mine = []
    while time.time() < until:
        begun = time.perf_counter()
        decision = campaign.decide()
        between = time.perf_counter()
        campaign.reward(decision.id, 1.0)
        mine += [between - begun, time.perf_counter() - between]
    took.extend(mine)

print("ready", flush=True)
until = float(sys.stdin.readline()) + seconds
while time.time() < until - seconds:
    time.sleep(0.001)
workers = [threading.Thread(target=work) for _ in range(threads)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
print(json.dumps(took))
"""

SLOW_SYNC = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>
#define SLOW(name) int name(int file) { \\
    usleep(MICROSECONDS); \\
    return ((int (*)(int)) dlsym(RTLD_NEXT, #name))(file); \\
}
SLOW(fsync)
SLOW(fdatasync)
"""


def slow_disk(folder: Path, milliseconds: float) -> None:
    """Let every `fsync` of this process and its children take longer: starts Python again."""
    source, library = folder / "slow_sync.c", folder / "slow_sync.so"
    source.write_text(SLOW_SYNC)
    define = f"-DMICROSECONDS={round(milliseconds * 1000)}"
    subprocess.run(["cc", "-shared", "-fPIC", define, str(source), "-o", str(library)], check=True)
    environment = {**os.environ, "LD_PRELOAD": str(library)}
    raise SystemExit(subprocess.run([sys.executable, *sys.argv], env=environment).returncode)


def commits(folder: Path, seconds: float) -> float:
    """The median of a bare commit, in seconds."""
    connection = sqlite3.connect(folder / "bare.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE IF NOT EXISTS log (seq INTEGER PRIMARY KEY, reward)")
    took, until = [], time.perf_counter() + seconds
    while time.perf_counter() < until:
        begun = time.perf_counter()
        connection.execute("INSERT INTO log (reward) VALUES (1.0)")
        took.append(time.perf_counter() - begun)
    connection.close()
    return median(took)


def latencies(source: Path, path: Path, shape: tuple[int, int], seconds: float) -> list[float]:
    """Those of all calls of some processes with some threads each."""
    environment = {**os.environ, "PYTHONPATH": str(source / "src")}
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(path), str(shape[1]), str(seconds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for _ in range(shape[0])
    ]
    for worker in workers:
        assert worker.stdout is not None and worker.stdout.readline() == "ready\n"
    begin = time.time() + 0.1
    found: list[float] = []
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write(f"{begin}\n")
        worker.stdin.flush()
    for worker in workers:
        found += json.loads(worker.communicate()[0])
    return found


def main() -> None:
    """Measure, and print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", default="HEAD", help="the commit to compare with")
    parser.add_argument("--seconds", type=float, default=5.0, help="of a turn")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--sync", type=float, default=0.0, help="milliseconds of an fsync")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        if options.sync and "LD_PRELOAD" not in os.environ:
            slow_disk(folder, options.sync)
        with checked_out(options.against, HERE) as old:
            report(measured({options.against: old, "now": HERE}, folder, options))


def measured(versions: dict[str, Path], folder: Path, options: argparse.Namespace) -> dict:
    """By shape and version: the latencies and the disk's commits of each turn."""
    for name, source in versions.items():
        latencies(source, folder / f"{name}-warm.db", (1, 1), 0.1)  # compiles what is needed
    found = defaultdict(list)
    for turn in range(options.turns):
        for shape in SHAPES:
            for name, source in versions.items():
                disk = commits(folder, 1.0)
                path = folder / f"{name}-{shape}-{turn}.db"
                found[shape, name].append((disk, latencies(source, path, shape, options.seconds)))
    return found


def report(found: dict) -> None:
    """Print the percentiles."""
    columns = ("processes x threads", "version", "disk's commit", "calls a second")
    print(f"| {' | '.join((*columns, 'p50', 'p99', 'p99.9', 'longest'))} |")
    print("|---|---|---|---|---|---|---|---|")
    for (shape, name), turns in found.items():
        disk = median(disk for disk, _ in turns)
        calls = np.concatenate([latency for _, latency in turns])
        seconds = sum(sum(latency) for _, latency in turns) / (shape[0] * shape[1])
        cells = [
            *(
                f"{shape[0]} x {shape[1]}",
                name,
                f"{1e3 * disk:.1f}",
                f"{len(calls) / seconds:,.0f}",
            ),
            *(f"{1e3 * took:,.1f} ({took / disk:,.1f})" for took in np.quantile(calls, SHARES)),
        ]
        print(f"| {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
