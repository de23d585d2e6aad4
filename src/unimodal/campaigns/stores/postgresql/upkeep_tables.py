"""What copies, compaction and erasure do to the tables of a campaign in PostgreSQL."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from unimodal.campaigns.events import Row

CHUNK = 2000  # rows read at a time


class PostgresqlUpkeepTables:
    """The part of a store that campaigns do not call: see `StoreToRead` and `Store`."""

    def _ask(self, what: str, /, **values: Any) -> list[list[Any]]:
        raise NotImplementedError

    def settings(self, *names: str) -> dict[str, Any]:
        """What the campaign is about."""
        raise NotImplementedError

    def kept_rewards(self) -> Iterator[list[tuple[int, float]]]:
        """The rewards that are found without the log, by decision: some at a time."""
        after = 0
        while found := self._ask("kept_rewards", after=after, limit=CHUNK)[0]:
            yield found
            after = found[-1][0]

    def put(
        self,
        *,
        settings: Mapping[str, Any] | None = None,
        events: Iterable[Row] = (),
        snapshots: Iterable[tuple[int, str, str]] = (),
        rewards: Iterable[tuple[int, float]] = (),
    ) -> None:
        """Write these over what has the same names and numbers (inside a transaction)."""
        if settings:
            values = [json.dumps(value) for value in settings.values()]
            self._ask("put_settings", keys=list(settings), values=values)
        if rows := list(events):
            columns: dict[str, Any] = dict(
                zip(Row._fields, map(list, zip(*rows, strict=True)), strict=True)
            )
            for name in ("arm", "leader"):
                columns[name] = [
                    None if label is None else json.dumps(label, ensure_ascii=False)
                    for label in columns[name]
                ]
            self._ask("put_events", **columns)
        for seq, version, state in snapshots:
            self._ask("put_snapshot", seq=seq, version=version, state=state)
        if pairs := list(rewards):
            decisions, told = map(list, zip(*pairs, strict=True))
            self._ask("put_rewards", decisions=decisions, rewards=told)

    def drop(self, before: int, spare: Sequence[int]) -> None:
        """Delete the events before a number, except some."""
        self._ask("drop_events", before=before, spare=list(spare))

    def drop_snapshot(self, seq: int) -> None:
        """Delete the snapshot after an event."""
        self._ask("drop_snapshot", seq=seq)

    def drop_snapshots(self, before: int) -> None:
        """Delete the snapshots before a number."""
        self._ask("drop_snapshots", before=before)

    def drop_rewards(self, decisions: Iterable[int]) -> None:
        """Delete the rewards of some decisions from where they are found without the log."""
        self._ask("drop_rewards", decisions=list(decisions))

    def moved_rewards(self) -> int:
        """How many rewards are kept whose events are in an archive."""
        archived = self.settings("archived")  # outside of the `try`: a lost connection is told
        try:
            return int(archived["archived"]["rewards"])
        except (TypeError, ValueError, LookupError):  # none; or damaged, which others tell
            return 0

    def reclaim(self) -> None:
        """Let the server give the room to others, outside of a transaction.

        What was deleted is in its write-ahead log and in its backups for as long as it keeps them.
        """
        self._ask("reclaim")
