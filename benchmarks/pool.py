"""How long calls wait where many campaigns share the connections of one process.

    python benchmarks/pool.py [--few 10] [--many 40] [--rate 100] [--seconds 5] [--turns 6]

Calls come at a fixed rate, whatever became of those before them, and go to the campaigns in turn:
a decision, and a reward for it. A call's time is counted from when it was due. Few and many
campaigns take turns on one server of our own, whose disk does not count (fsync is off). Prints a
table in Markdown.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from pathlib import Path
from statistics import median, quantiles

import unimodal as um

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for the tests' server

from tests.postgresql_server import PostgresqlServer

THREADS = 32  # who call: more than there are connections


def times(campaigns: list[um.Campaign], rate: float, seconds: float) -> list[float]:
    """The seconds that each call took, from when it was due."""
    calls, found, lock = iter(range(int(rate * seconds))), [], threading.Lock()
    begun = time.perf_counter() + 0.1

    def call_in_turn() -> None:
        while True:
            with lock:
                number = next(calls, None)
            if number is None:
                return
            due = begun + number / rate
            time.sleep(max(due - time.perf_counter(), 0.0))
            campaign = campaigns[number % len(campaigns)]
            campaign.reward(campaign.decide().id, 1.0)
            found.append(time.perf_counter() - due)

    threads = [threading.Thread(target=call_in_turn) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--few", type=int, default=10)
    parser.add_argument("--many", type=int, default=40)
    parser.add_argument("--rate", type=float, default=100.0, help="calls per second")
    parser.add_argument("--seconds", type=float, default=5.0, help="of each turn")
    parser.add_argument("--turns", type=int, default=6)
    options = parser.parse_args()
    found: dict[int, list[float]] = {options.few: [], options.many: []}
    with PostgresqlServer(fsync="off", max_connections=20) as server:
        graph = um.graphs.line(17)
        campaigns = [
            um.Campaign.open(server.address(f"pool {number}"), um.UTS(), graph)
            for number in range(max(found))
        ]
        for campaign in campaigns:
            campaign.reward(campaign.decide().id, 1.0)
        for _ in range(options.turns):
            for count, taken in found.items():
                taken += times(campaigns[:count], options.rate, options.seconds)
        for campaign in campaigns:
            campaign.close()
    print("| campaigns in use | calls | median ms | p99 ms |\n|---|---|---|---|")
    for count, taken in found.items():
        p99 = quantiles(taken, n=100)[98]
        print(f"| {count} | {len(taken):,} | {1000 * median(taken):.1f} | {1000 * p99:.1f} |")


if __name__ == "__main__":
    main()
