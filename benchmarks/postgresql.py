"""What a campaign in PostgreSQL costs, beside bare loops of psycopg, in one run.

    python benchmarks/postgresql.py

The server is one of our own, on this machine's disk, with its usual settings (fsync and
synchronous_commit are on), reached by a Unix socket; with `--fsync off` the disk does not count,
only the work of both programs. `UNIMODAL_TEST_POSTGRESQL` names another one.
Loops that are compared take turns. Prints a table in Markdown.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import threading
import time
from pathlib import Path
from statistics import median

import psycopg

import unimodal as um

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for the tests' server

from tests.postgresql_server import PostgresqlServer

LINE = um.graphs.line(17)
BLOCK = 20  # rewards one by one, before it is another loop's turn
INSERT = "INSERT INTO bare VALUES (1, %s, %s, 'reward', %s, %s)"


class Bench:
    """A server, and the loops that are timed on it."""

    def __init__(self, address: str, options: argparse.Namespace) -> None:
        self.options, self._address = options, address
        self._join = "&" if "?" in address else "?"
        self._name = f"bench {os.getpid()}"
        self._bare_rows = 0

    def address(self, name: str) -> str:
        return f"{self._address}{self._join}campaign={self._name} {name}"

    def opened(self, name: str, **named: float) -> um.Campaign:
        return um.Campaign.open(self.address(name), um.UTS(), LINE, **named)

    # Bare loops.

    @contextlib.contextmanager
    def bare(self, autocommit: bool):
        with psycopg.connect(self._address, autocommit=True, prepare_threshold=None) as connection:
            connection.execute(
                "CREATE TABLE IF NOT EXISTS bare (campaign bigint, seq bigint, time float8, "
                "kind text, decision bigint, reward float8, PRIMARY KEY (campaign, seq))"
            )
            connection.autocommit = autocommit
            yield connection

    def insert(self, connection: psycopg.Connection, rows: int) -> None:
        for _ in range(rows):
            self._bare_rows += 1
            values = (self._bare_rows, time.time(), self._bare_rows, 1.0)
            connection.execute(INSERT, values)
            if not connection.autocommit:
                connection.commit()

    def insert_batch(self, connection: psycopg.Connection, rows: int) -> None:
        first, self._bare_rows = self._bare_rows, self._bare_rows + rows
        with connection.cursor() as cursor:
            cursor.executemany(
                INSERT, [(first + n + 1, time.time(), first + n, 1.0) for n in range(rows)]
            )
        connection.commit()

    # Figures.

    def single(self):
        """Rewards one by one, in turns with two bare loops."""
        rates = {"ours": [], "insert, commit()": [], "autocommit": []}
        with (
            self.bare(False) as committing, self.bare(True) as single, self.opened("one") as ours,
        ):  # fmt: skip
            ids = [one.id for one in ours.decide(BLOCK * (self.options.turns + 5))]
            for turn in range(self.options.turns + 5):
                some = ids[turn * BLOCK : (turn + 1) * BLOCK]
                for name, work in (
                    ("ours", lambda: [ours.reward(one, 1.0) for one in some]),  # noqa: B023
                    ("insert, commit()", lambda: self.insert(committing, BLOCK)),
                    ("autocommit", lambda: self.insert(single, BLOCK)),
                ):
                    rate = BLOCK / seconds(work)
                    if turn >= 5:
                        rates[name].append(rate)
        found = {name: median(some) for name, some in rates.items()}
        ours_rate = found.pop("ours")
        for name, rate in found.items():
            yield (
                f"rewards one by one, against a bare loop ({name})",
                f"{ours_rate / rate:.0%} ({ours_rate:,.0f} and {rate:,.0f} a second)",
                "70 %" if "commit()" in name else "",
            )

    def crowd(self):
        """Four processes with four threads each on one campaign, in turns with one process."""
        alone, crowds = [], []
        with self.opened("crowd") as campaign:
            for _ in range(self.options.crowds):
                ids = [one.id for one in campaign.decide(400)]
                alone.append(len(ids) / seconds(lambda: [campaign.reward(i, 1.0) for i in ids]))  # noqa: B023
                ids = [one.id for one in campaign.decide(1600)]
                crowds.append(len(ids) / self.in_processes(["crowd"], ids, 4, 4))
        yield (
            "rewards one by one, 4 processes x 4 threads on one campaign",
            f"{median(crowds):,.0f} a second (one process in turns with them: "
            f"{median(alone):,.0f})",
            "one process's",
        )

    def in_processes(self, names, ids, processes, threads):
        """The seconds in which some processes tell rewards, once all of them are ready."""
        ready, go = os.pipe(), os.pipe()
        children = []
        for number in range(processes):
            child = os.fork()
            if child == 0:
                try:
                    with contextlib.ExitStack() as stack:
                        is_one = len(names) == 1
                        own = names if is_one else names[number::processes]
                        mine = ids[number::processes] if is_one else ids
                        campaigns = [stack.enter_context(self.opened(name)) for name in own]
                        os.write(ready[1], b".")
                        os.read(go[0], 1)
                        run_threads(campaigns, mine, threads)
                        os.write(ready[1], b".")
                    os._exit(0)
                except BaseException as error:
                    print(error)
                    os._exit(1)
            children.append(child)
        for _ in range(processes):
            os.read(ready[0], 1)
        begun = time.perf_counter()
        os.write(go[1], b"." * processes)
        for _ in range(processes):
            os.read(ready[0], 1)
        took = time.perf_counter() - begun
        for child in children:
            os.waitpid(child, 0)
        for one in (*ready, *go):
            os.close(one)
        return took

    def many(self):
        """Two hundred campaigns, of which four processes with four threads each have fifty."""
        names = [f"many {number}" for number in range(200)]
        ids = []
        for name in names:
            with self.opened(name) as campaign:
                ids = [one.id for one in campaign.decide(40)]
        rate = len(ids) * len(names) / self.in_processes(names, ids, 4, 4)
        yield (
            "rewards one by one, 200 campaigns side by side (4 x 4)",
            f"{rate:,.0f} a second",
            "",
        )

    def batches(self):
        ours, bare = [], []
        with self.opened("batches") as campaign, self.bare(False) as connection:
            for _ in range(self.options.turns):
                ids = [one.id for one in campaign.decide(100)]
                ours.append(100 / seconds(lambda: campaign.reward(ids, [1.0] * 100)))  # noqa: B023
                bare.append(100 / seconds(lambda: self.insert_batch(connection, 100)))
        yield (
            "rewards in batches of 100, against executemany and commit()",
            f"{median(ours) / median(bare):.0%} "
            f"({median(ours):,.0f} and {median(bare):,.0f} a second)",
            "",
        )

    def opening(self):
        """A campaign of a million events: opened after a close, and after a crash."""
        events = self.options.events
        with self.opened("large") as campaign:
            grow(campaign, events)
        took = seconds(lambda: self.opened("large").close())
        yield (f"opening a campaign of {events:,} events, after a close", f"{took:.2f} s", "")
        crashed = self.opened("large")
        grow(crashed, 19_000)
        crashed._writer._group.alone(crashed._store.close)
        took = seconds(lambda: self.opened("large").close())
        yield ("the same, 19,000 events after its last snapshot", f"{took:.2f} s", "")

    def catching_up(self):
        with self.opened("catching up") as late, self.opened("catching up") as busy:
            late.decide()
            grow(busy, 100_000)
            took = seconds(lambda: late.outstanding)
        yield ("catching up with 100,000 events of others", f"{took:.2f} s", "")


def run_threads(campaigns, ids, threads):
    """Threads share the rewards of one campaign; or each has some campaigns, and all rewards."""

    def work(number):
        own = campaigns if len(campaigns) == 1 else campaigns[number::threads]
        for one in ids[number::threads] if len(campaigns) == 1 else ids:
            for campaign in own:
                campaign.reward(one, 1.0)

    workers = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def grow(campaign, events):
    """Let a campaign have so many more events: decisions and rewards by the thousand."""
    for _ in range(events // 2000):
        ids = [one.id for one in campaign.decide(1000)]
        campaign.reward(ids, [float(one % 3 == 0) for one in ids])


def seconds(work):
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=100)
    parser.add_argument("--crowds", type=int, default=5)
    parser.add_argument("--fsync", choices=("on", "off"), default="on")
    parser.add_argument("--events", type=int, default=1_000_000)
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        address = os.environ.get("UNIMODAL_TEST_POSTGRESQL")
        if not address:
            server = stack.enter_context(
                PostgresqlServer(max_connections=300, shared_buffers="128MB", fsync=options.fsync)
            )
            address = server.address()
        bench = Bench(address, options)
        print("| work | measured | must reach |\n|---|---|---|")
        for figures in (
            *(bench.single, bench.crowd, bench.many),
            *(bench.batches, bench.catching_up, bench.opening),
        ):
            for work, measured, must in figures():
                print(f"| {work} | {measured} | {must} |", flush=True)


if __name__ == "__main__":
    main()
