"""What copies, compaction and erasure do to the tables of a campaign's SQLite file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from unimodal.campaigns.events import Row
from unimodal.campaigns.events.json_text import parsed
from unimodal.campaigns.stores.sqlite.schema import MOVED_FORMAT
from unimodal.errors import Busy, StoreError

CHUNK = 1000  # rows read at a time
MOVED = frozenset({"archived", "erased"})  # settings of a log that is not as it was written
_WRITE = {
    "settings": "REPLACE INTO settings VALUES (?, ?)",
    "log": f"REPLACE INTO log VALUES ({', '.join('?' * len(Row._fields))})",
    "snapshots": "REPLACE INTO snapshots VALUES (?, ?, ?)",
    "rewards": "REPLACE INTO rewards VALUES (?, ?)",
}


class SqliteUpkeepTables:
    """The part of a store that campaigns do not call: see `StoreToRead` and `Store`."""

    path: Any
    _connection: Any

    def kept_rewards(self) -> Iterator[list[tuple[int, float]]]:
        """The rewards that are found without the log, by decision: some at a time."""
        found = self._connection.execute("SELECT decision, reward FROM rewards ORDER BY decision")
        while rows := found.fetchmany(CHUNK):
            yield rows

    def put(
        self,
        *,
        settings: Mapping[str, Any] | None = None,
        events: Iterable[Row] = (),
        snapshots: Iterable[tuple[int, str, str]] = (),
        rewards: Iterable[tuple[int, float]] = (),
    ) -> None:
        """Write these over what has the same names and numbers (inside a transaction)."""
        self._connection.execute("PRAGMA secure_delete = ON")  # what they replace may be private
        self.mark_if_moved(settings or {})
        named = [(key, json.dumps(value)) for key, value in (settings or {}).items()]
        self._connection.executemany(_WRITE["settings"], named)
        self._connection.executemany(_WRITE["log"], events)
        self._connection.executemany(_WRITE["snapshots"], snapshots)
        self._connection.executemany(_WRITE["rewards"], rewards)

    def drop(self, before: int, spare: Sequence[int]) -> None:
        """Delete the events before a number, except some."""
        self._connection.execute(
            "DELETE FROM log WHERE seq < ? AND seq NOT IN (SELECT value FROM json_each(?))",
            (before, json.dumps(list(spare))),
        )

    def drop_snapshot(self, seq: int) -> None:
        """Delete the snapshot after an event."""
        self._connection.execute("DELETE FROM snapshots WHERE seq = ?", (seq,))

    def drop_snapshots(self, before: int) -> None:
        """Delete the snapshots before a number."""
        self._connection.execute("DELETE FROM snapshots WHERE seq < ?", (before,))

    def drop_rewards(self, decisions: Iterable[int]) -> None:
        """Delete the rewards of some decisions from where they are found without the log."""
        self._connection.executemany(
            "DELETE FROM rewards WHERE decision = ?", ((number,) for number in decisions)
        )

    def mark_if_moved(self, settings: Mapping[str, Any]) -> None:
        """Let versions that take a log without its first events for damage refuse the file."""
        if not MOVED.isdisjoint(settings):
            self._connection.execute(f"PRAGMA user_version = {MOVED_FORMAT}")

    def moved_rewards(self) -> int:
        """How many rewards are kept whose events are in an archive."""
        found = self._connection.execute("SELECT value FROM settings WHERE key = 'archived'")
        try:
            return int(parsed(found.fetchone()[0])["rewards"])
        except (TypeError, ValueError, LookupError):  # none; or damaged, which others tell
            return 0

    def reclaim(self) -> None:
        """Give room back, outside of a transaction; of what was deleted, no byte is left."""
        try:
            self._connection.execute("VACUUM")
        except Busy:
            raise Busy("others have kept the file busy.") from None
        except StoreError as error:  # which says that nothing was kept: of the VACUUM
            words = error.__cause__ or error
            raise StoreError(
                f"SQLite could not write it anew ({words}), for which it needs as much room as the "
                "file has, on its disk and in the folder for temporary files (SQLITE_TMPDIR)."
            ) from None
        blocked, *_ = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if blocked:
            raise Busy("others read the file at that moment, so that it has its -wal still.")
