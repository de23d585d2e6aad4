"""What a store holds, as digests: two campaigns that have the same are the same, bit for bit."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from unimodal.campaigns.events import KINDS, Opened, Row
from unimodal.campaigns.stores import StoreToRead


class Digest:
    """SHA-256 of rows as JSON, however many are given at a time; `before` begins it."""

    def __init__(self, before: str = "") -> None:
        self._sum = hashlib.sha256(before.encode())

    def add(self, rows: Sequence[Sequence[Any]]) -> None:
        """Go on with some rows."""
        if rows:
            self._sum.update(f"{json.dumps(rows)[1:-1]}, ".encode())

    def text(self) -> str:
        """The digest so far, in hexadecimal."""
        return self._sum.hexdigest()


class Content(NamedTuple):
    """All of a store: settings, and digests of the log, of snapshots and of rewards that it keeps.

    `version` is the version of unimodal that had it last, as far as log and snapshots tell.
    """

    settings: dict[str, Any]
    events: int
    log: str
    snapshots: str
    rewards: str
    version: str | None


class ContentDigests:
    """Digests of what is read of a store, or written to one, piece by piece."""

    def __init__(self) -> None:
        self.events = 0
        self._log, self._snapshots, self._rewards = Digest(), Digest(), Digest()
        self._version: str | None = None

    def add_events(self, rows: list[tuple[Any, ...]]) -> None:
        """Go on with events."""
        self._log.add(rows)
        self.events += len(rows)
        for row in rows:
            if KINDS.get(row[2]) is Opened:
                self._version = Opened.of(Row._make(row)).version

    def add_snapshot(self, seq: int, version: str, state: str) -> None:
        """Go on with a snapshot."""
        self._snapshots.add([(seq, version, state)])
        self._version = self._version or version

    def add_rewards(self, rows: list[tuple[int, float]]) -> None:
        """Go on with rewards that are found without the log."""
        self._rewards.add(rows)

    def content(self, settings: dict[str, Any]) -> Content:
        """All that was added, of a store with these settings."""
        digests = (self._log.text(), self._snapshots.text(), self._rewards.text())
        return Content(settings, self.events, *digests, self._version)


def content_of(store: StoreToRead) -> Content:
    """The content of a store, by reading all of it."""
    found = ContentDigests()
    for rows in store.rows():
        found.add_events(rows)
    for seq, version in store.snapshots():
        found.add_snapshot(seq, version, store.snapshot(seq))
    for kept in store.kept_rewards():
        found.add_rewards(kept)
    return found.content(store.settings())


def state_digest(texts: Iterable[str]) -> str:
    """The SHA-256 of a state, which may come in pieces."""
    found = hashlib.sha256()
    for text in texts:
        found.update(text.encode("utf-8", "surrogatepass"))
    return found.hexdigest()
