"""The tables of a campaign's SQLite file, read and written through a connection that is given."""

from __future__ import annotations

import json
import operator
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from unimodal.campaigns.events import KINDS, Identity, Rewarded, Row, short
from unimodal.campaigns.events.json_text import parsed
from unimodal.campaigns.events.keyed import keys_between
from unimodal.campaigns.stores.event_identity import SNAPSHOTS, names_with
from unimodal.campaigns.stores.sqlite.errors import BACK, is_unread, unreadable
from unimodal.campaigns.stores.sqlite.schema import (
    APPLICATION,
    FORMAT,
    KEY_INDEX,
    KEYED_FORMAT,
    statements,
)
from unimodal.campaigns.stores.sqlite.upkeep_tables import SqliteUpkeepTables
from unimodal.errors import DamagedFile

CHUNK = 1000  # events read at a time: more are slower, since they do not stay in the cache
_MOST = 1000  # settings, and snapshots, that there may be: far more than there ever are
# `rewards` finds those that the last snapshot knows; an index would cost every commit a page more.
_LATER = "kind = 'reward' AND seq > (SELECT coalesce(max(seq), 0) FROM snapshots)"

_COLUMNS = ", ".join(Row._fields)
_KIND = operator.itemgetter(Row._fields.index("kind"))
_REWARDS = {Rewarded.kind}  # which most transactions consist of
_SINCE = {name: kind.since for name, kind in KINDS.items()}
_INSERT = f"INSERT INTO log VALUES ({', '.join('?' * len(Row._fields))})"
# Most events are rewards, and a call may wait for each: binding four values is quicker than eleven.
INSERT_REWARD = "INSERT INTO log (seq, time, kind, decision, reward) VALUES (?, ?, 'reward', ?, ?)"
# The same, if the last event is the one before it that is known: a file may have been set back.
NEXT_REWARD = (
    "INSERT INTO log (seq, time, kind, decision, reward) SELECT ?1, ?2, 'reward', ?3, ?4 "
    "FROM (SELECT * FROM log ORDER BY seq DESC LIMIT 1) AS last "
    "WHERE last.seq = ?5 AND last.time = ?6 AND last.kind = ?7 AND last.decision IS ?8"
)

_SUPERSEDED = (
    "DELETE FROM snapshots WHERE version = :version AND seq > "
    "(SELECT min(seq) FROM snapshots WHERE version = :version) AND seq IS NOT "
    "(SELECT min(seq) FROM snapshots WHERE version = :version AND seq > "
    "(SELECT coalesce(max(seq), 0) FROM snapshots WHERE version != :version))"
)


class SqliteTables(SqliteUpkeepTables):
    """What a campaign is about, its events, and snapshots of its state: see `StoreToRead`."""

    path: Path
    _connection: Any

    def is_new(self) -> bool:
        """Whether nothing has been written yet."""
        return bool(self._one("SELECT count(*) FROM sqlite_master")[0] == 0)

    def check(self) -> None:
        """Refuse a file whose pages are in disorder; `problems` looks closer, and takes longer."""
        if (found := self._one("PRAGMA quick_check(1)")) != ("ok",):
            self._check_read(found[0])
            raise DamagedFile(f"{self.path} is damaged ({short(found[0])}): go back to a copy.")

    def create(self, settings: dict[str, Any]) -> None:
        """Write the tables and what the campaign is about (inside a transaction)."""
        for statement in statements():
            self._connection.execute(statement)
        self._connection.execute(f"PRAGMA application_id = {APPLICATION}")
        self._connection.execute(f"PRAGMA user_version = {FORMAT}")
        rows = [(key, json.dumps(value)) for key, value in settings.items()]
        self._connection.executemany("INSERT INTO settings VALUES (?, ?)", rows)
        self.mark_if_moved(settings)

    def settings(self, *names: str) -> dict[str, Any]:
        """What the campaign is about: all settings, or those that are named."""
        some = f"key IN ({', '.join('?' * len(names))})" if names else "key != 'version'"
        rows = self._few(f"SELECT key, value FROM settings WHERE {some}", *names)
        try:
            return {key: parsed(value) for key, value in rows}
        except ValueError:
            raise DamagedFile(
                f"the settings in {self.path} are damaged: go back to a copy of the file."
            ) from None

    def written_by(self, version: str) -> bool:
        """Whether it was this version that had the file last; from now on it is."""
        before = self._one("SELECT value FROM settings WHERE key = 'version'")
        if before != (version,):
            self._connection.execute("REPLACE INTO settings VALUES ('version', ?)", (version,))
        return before is None or before == (version,)

    def keep_setting(self, name: str, value: Any) -> None:
        """Write a setting in the place of the one that has its name (inside a transaction)."""
        self._connection.execute("REPLACE INTO settings VALUES (?, ?)", (name, json.dumps(value)))

    def data_version(self) -> int:
        """A number that changes when somebody else has written to the file."""
        (version,) = self._one("PRAGMA data_version")
        return int(version)

    def rows(self, after: int = 0, until: int | None = None) -> Iterator[list[tuple[Any, ...]]]:
        """The events after a number, and up to another, in order: some at a time, as tuples."""
        # From the very beginning: a number below 1 must not go unseen.
        bounds = (after or -(2**63), 2**63 - 1 if until is None else until)
        yield from self._some("WHERE seq > ? AND seq <= ? ORDER BY seq", *bounds)

    def ends(self, known: int) -> list[Identity]:
        """The event of a number, if it is there, and the last one."""
        rows = self._few(
            "SELECT seq, time, kind, decision FROM log "
            "WHERE seq IN (?, (SELECT max(seq) FROM log)) ORDER BY seq",
            known,
        )
        return [Identity(*row) for row in rows]

    def last(self) -> int:
        """The number of the last event."""
        return int(self._one("SELECT coalesce(max(seq), 0) FROM log")[0])

    def revisions(self) -> Iterator[Row]:
        """The events that changed the graph."""
        last = 0
        for rows in self._some("WHERE kind = 'revision' ORDER BY seq"):
            for event in map(Row._make, rows):
                if event.seq <= last:  # in a damaged file the last may be followed by the first
                    raise DamagedFile(f"{self.path} has its changes in no order: {BACK}")
                last = event.seq
                yield event

    def _some(self, which: str, *values: Any) -> Iterator[list[tuple[Any, ...]]]:
        found = self._connection.execute(f"SELECT {_COLUMNS} FROM log {which}", values)
        while rows := found.fetchmany(CHUNK):
            yield rows

    def _few(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """The rows of a small table; a damaged one may have no end."""
        rows: list[tuple[Any, ...]]
        rows = self._connection.execute(query, values).fetchmany(_MOST + 1)
        if len(rows) > _MOST:
            raise DamagedFile(f"{self.path} is damaged, and has no end: {BACK}")
        return rows

    def counts(self, until: int) -> dict[str, int]:
        """How many events there are of each kind, up to a number."""
        counts = "SELECT kind, count(*) FROM log WHERE seq <= ? GROUP BY kind"
        return dict(self._connection.execute(counts, (until,)).fetchall())

    def append(self, events: Sequence[Row]) -> None:
        """Add events (inside a transaction)."""
        kinds = set(map(_KIND, events))
        if kinds == _REWARDS:
            rows = [(e.seq, e.time, e.decision, e.reward) for e in events]
            self._connection.executemany(INSERT_REWARD, rows)
        elif events:
            self._connection.executemany(_INSERT, events)
            needed = max(filter(None, map(_SINCE.get, kinds)), default=FORMAT)
            if needed >= KEYED_FORMAT:
                self._connection.execute(KEY_INDEX.replace("INDEX", "INDEX IF NOT EXISTS"))
            if needed > FORMAT:
                self._mark_as(needed)

    def _mark_as(self, later: int) -> None:
        """Let versions that do not know a later format refuse the file."""
        if self._one("PRAGMA user_version") < (later,):
            self._connection.execute(f"PRAGMA user_version = {later}")

    def last_key(self, digest: str) -> Row | None:
        """The last event that tells a key, by its digest."""
        if self._one("SELECT count(*) FROM sqlite_master WHERE name = 'keys'") == (0,):
            return None
        found = self._one(
            f"SELECT {_COLUMNS} FROM log INDEXED BY keys WHERE kind = 'key' AND data >= ? "
            "AND data < ? ORDER BY seq DESC LIMIT 1",
            *keys_between(digest),
        )
        return None if found is None else Row._make(found)

    def reward_of(self, decision: int) -> float | None:
        """The reward of a decision, or None if it has none."""
        found = self._one("SELECT reward FROM rewards WHERE decision = ?", decision) or self._one(
            f"SELECT reward FROM log WHERE decision = ? AND {_LATER}", decision
        )
        if found is not None and not isinstance(found[0], float):
            raise DamagedFile(f"the reward of decision {decision} in {self.path} is none: {BACK}")
        return None if found is None else found[0]

    def find_rewards(self, after: int, until: int) -> None:
        """Put the rewards of some events of the log where they are found (in a transaction)."""
        self._connection.execute(
            "INSERT OR IGNORE INTO rewards SELECT decision, reward FROM log "
            "WHERE kind = 'reward' AND seq > ? AND seq <= ?",
            (after, until),
        )

    def last_snapshot(self) -> int:
        """The event after which the last snapshot was taken; 0 if there is none."""
        (seq,) = self._one("SELECT coalesce(max(seq), 0) FROM snapshots")
        return int(seq)

    def keep_snapshot(
        self, seq: int, version: str, state: str, follows: Identity | None = None
    ) -> None:
        """Write the state after an event; which others are dropped for it, `Store` says.

        The rewards before it must have been put where they are found.
        """
        self._connection.execute(_SUPERSEDED, {"version": version})
        self._connection.execute(
            "INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?)", (seq, version, state)
        )
        if follows is not None:
            names = json.dumps(names_with(self, follows))
            self._connection.execute("REPLACE INTO settings VALUES (?, ?)", (SNAPSHOTS, names))

    def lost_rewards(self) -> int:
        """How many would not be found as the log has them: none, if the file is sound."""
        # A decision has one reward in a log that was folded. Joined in the order of the log, which
        # is nearly that of the decisions, the table is read but once.
        differ, found = self._one(
            "SELECT coalesce(sum(CASE WHEN kept.decision IS NULL THEN NOT (seq > last) ELSE "
            "kept.reward IS NOT log.reward END), 0), count(kept.decision) FROM log, "
            "(SELECT coalesce(max(seq), 0) AS last FROM snapshots) "
            "LEFT JOIN rewards AS kept ON kept.decision = log.decision WHERE kind = 'reward'"
        )
        (kept,) = self._one("SELECT count(*) FROM rewards")
        return int(differ + abs(kept - found - self.moved_rewards()))

    def snapshots(self) -> list[tuple[int, str]]:
        """Which there are: number of the event, and version."""
        return self._few("SELECT seq, version FROM snapshots ORDER BY seq")

    def snapshot(self, seq: int) -> str:
        """The state of a snapshot."""
        found = self._one("SELECT state FROM snapshots WHERE seq = ?", seq)
        return str(found[0]) if found else ""

    def problems(self) -> list[str]:
        """What SQLite itself finds wrong with the file."""
        found = [row[0] for row in self._connection.execute("PRAGMA integrity_check").fetchall()]
        for each in found:
            self._check_read(each)
        return [] if found == ["ok"] else found

    def _check_read(self, found: str) -> None:
        """Refuse to call a page wrong that the disk did not give."""
        if is_unread(found):
            raise unreadable(self.path)

    def _one(self, query: str, *values: Any) -> Any:
        return self._connection.execute(query, values).fetchone()
