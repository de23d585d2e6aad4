"""Lines of campaigns: durable decisions and rewards, in bare commits of the same store.

Calls and bare commits take turns, since the disk has moods.
"""

from __future__ import annotations

import contextlib
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import unimodal as um

BATCH, SINGLES, TURNS = 100, 20, 15
GROWN = 1200  # commits: a log that still grows is slower to sync than one that is written over
WORK = (
    "a decision",
    "its reward",
    f"{BATCH} decisions in a batch",
    f"{BATCH} rewards in a batch",
    "a decision with a key",
    "the same key again",
)
Commits = Callable[[int], None]  # so many commits of one row each


def measured(address: Any, commits: Commits, grown: int) -> list[float]:
    """How many bare commits take as long as each of `WORK`: medians over the turns."""
    ratios: list[list[float]] = [[] for _ in WORK]
    with um.Campaign.open(address, um.UTS(), um.graphs.line(17)) as campaign:
        commits(grown)
        turn(campaign, grown // 3, "first")
        for number in range(TURNS):
            commit = seconds(lambda: commits(SINGLES)) / SINGLES
            for found, took in zip(ratios, turn(campaign, SINGLES, str(number)), strict=True):
                found.append(took / commit)
    return [median(found) for found in ratios]


def turn(campaign: Any, singles: int, name: str) -> Iterator[float]:
    """Seconds of each of `WORK`, once."""
    ids: list[int] = []
    keys = [f"{name}-{number}" for number in range(singles)]
    yield seconds(lambda: ids.extend(campaign.decide().id for _ in range(singles))) / singles
    yield seconds(lambda: [campaign.reward(each, 1.0) for each in ids]) / singles
    batch: list[int] = []
    yield seconds(lambda: batch.extend(each.id for each in campaign.decide(BATCH)))
    yield seconds(lambda: campaign.reward(batch, [1.0] * BATCH))
    for _ in range(2):
        yield seconds(lambda: [campaign.decide(key=key) for key in keys]) / singles


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


@contextlib.contextmanager
def bare_sqlite(path: Path) -> Iterator[Commits]:
    """Commits of a row with the columns that a reward needs, and SQLite's settings as ours."""
    bare = sqlite3.connect(path)
    bare.execute("PRAGMA journal_mode = WAL")
    bare.execute("PRAGMA synchronous = FULL")
    bare.execute("CREATE TABLE rewards (seq INTEGER PRIMARY KEY, time, decision, reward)")
    insert = "INSERT INTO rewards (time, decision, reward) VALUES (?, ?, ?)"

    def commits(count: int) -> None:
        for row in range(count):
            bare.execute(insert, (time.time(), row, 1.0))
            bare.commit()

    yield commits
    bare.close()


@contextlib.contextmanager
def bare_postgresql(address: str) -> Iterator[Commits]:
    """The same in PostgreSQL: statements that commit by themselves."""
    import psycopg

    with psycopg.connect(address, autocommit=True) as bare:
        bare.execute(
            "CREATE TABLE bare (seq bigserial PRIMARY KEY, time float8, id int8, r float8)"
        )

        def commits(count: int) -> None:
            for row in range(count):
                values = (time.time(), row, 1.0)
                bare.execute("INSERT INTO bare (time, id, r) VALUES (%s, %s, %s)", values)

        yield commits


def on_sqlite() -> list[float]:
    with (
        tempfile.TemporaryDirectory() as folder,
        bare_sqlite(Path(folder) / "bare.db") as commits,
    ):
        return measured(Path(folder) / "campaign.db", commits, GROWN)


def on_postgresql() -> list[float]:
    """On a server of this process's own: versions that take turns may differ in their tables."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from tests.postgresql_server import PostgresqlServer

    with PostgresqlServer() as server, bare_postgresql(server.address()) as commits:
        return measured(server.address("campaign"), commits, GROWN // 4)


ON_SQLITE = tuple(f"campaign: {work}, commits" for work in WORK), on_sqlite
ON_POSTGRESQL = tuple(f"postgresql: {work}, commits" for work in WORK), on_postgresql
