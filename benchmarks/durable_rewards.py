"""What durability costs: rewards of a campaign beside bare commits of SQLite, in the same run."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

from figures import Figure, seconds

from unimodal.campaigns import Campaign
from unimodal.campaigns.stores.sqlite import plain_connection
from unimodal.graphs import line
from unimodal.policies import UTS

_TURNS = 25
_BLOCK, _BLOCKS = 10, 200  # rewards one by one: many short turns
_GROWN = 1200  # commits, after which SQLite has begun its log (of 1,000 pages) again
_CALLERS = 16
_EACH = 50  # rewards of a caller a turn
_BATCH, _BATCHES = 100, 20


def durable_rewards() -> Iterator[Figure]:
    """Rewards one by one, from many callers, and in batches; syncing every commit."""
    with tempfile.TemporaryDirectory() as folder:
        bare = _bare(Path(folder) / "bare.db")
        with Campaign.open(Path(folder) / "rewards.db", UTS(), line(17)) as campaign:
            yield from _figures(campaign, bare)
        bare.close()


def _figures(campaign: Campaign, bare: Any) -> Iterator[Figure]:
    loops, ours, callers, batches = [], [], [], []
    # A log that still grows is slower to sync than one that is written over: let both grow first.
    _insert(bare, _GROWN)
    _singly(campaign, [decision.id for decision in campaign.decide(_GROWN)])
    ids = [decision.id for decision in campaign.decide(_BLOCK * _BLOCKS)]
    for first in range(0, len(ids), _BLOCK):  # in turns, since the disk has moods
        block = ids[first : first + _BLOCK]
        loops.append(_BLOCK / seconds(lambda: _insert(bare, _BLOCK)))
        ours.append(_BLOCK / seconds(lambda: _singly(campaign, block)))  # noqa: B023
    for _ in range(_TURNS):
        callers.append(_rate(campaign, _CALLERS * _EACH, _from_callers))
        batches.append(_rate(campaign, _BATCH * _BATCHES, _in_batches))
    ratio = median(ours) / median(loops)
    yield Figure(
        "durable rewards, one by one",
        f"{ratio:.0%} of bare commits ({median(ours):,.0f} and {median(loops):,.0f} a second)",
        "80 %",
        ratio >= 0.8,
    )
    for work, rates, must in (
        (f"durable rewards, {_CALLERS} callers", callers, 5_000),
        (f"durable rewards, batches of {_BATCH}", batches, 50_000),
    ):
        rate = median(rates)
        yield Figure(work, f"{rate:,.0f} a second", f"{must:,}", rate >= must)


def _bare(path: Path) -> Any:
    """A table of the columns that a reward needs, and nothing else."""
    connection = plain_connection(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE rewards (seq INTEGER PRIMARY KEY, time, decision, reward)")
    return connection


def _insert(connection: Any, rows: int) -> None:
    for row in range(rows):
        values = (time.time(), row, 1.0)
        connection.execute("INSERT INTO rewards (time, decision, reward) VALUES (?, ?, ?)", values)
        connection.commit()


def _rate(campaign: Campaign, count: int, tell: Callable[[Campaign, list[int]], Any]) -> float:
    ids = [decision.id for decision in campaign.decide(count)]
    return count / seconds(lambda: tell(campaign, ids))


def _singly(campaign: Campaign, ids: list[int]) -> None:
    for decision in ids:
        campaign.reward(decision, 1.0)


def _from_callers(campaign: Campaign, ids: list[int]) -> None:
    parts = [ids[caller::_CALLERS] for caller in range(_CALLERS)]
    threads = [threading.Thread(target=_singly, args=(campaign, part)) for part in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _in_batches(campaign: Campaign, ids: list[int]) -> None:
    for first in range(0, len(ids), _BATCH):
        part = ids[first : first + _BATCH]
        campaign.reward(part, [1.0] * len(part))
