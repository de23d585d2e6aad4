"""The log of a campaign, which is only ever added to, and what stands beside it in the file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from unimodal.campaign.events import Event
from unimodal.campaign.file import APPLICATION, FORMAT, CampaignFile
from unimodal.errors import UnimodalError

_CHUNK = 10_000  # events read at a time
_SCHEMA = """
CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE log (
    seq INTEGER PRIMARY KEY, time REAL NOT NULL, kind TEXT NOT NULL, decision INTEGER, arm,
    reason TEXT, leader, near INTEGER, propensity REAL, reward REAL, data TEXT
);
CREATE INDEX revisions ON log (seq) WHERE kind = 'revision';
CREATE TABLE snapshots (seq INTEGER PRIMARY KEY, version TEXT NOT NULL, state TEXT NOT NULL);
CREATE TABLE rewards (decision INTEGER PRIMARY KEY, reward REAL NOT NULL);
"""
# `rewards` finds those that the last snapshot knows; an index would cost every commit a page more.
_LATER = "kind = 'reward' AND seq > (SELECT coalesce(max(seq), 0) FROM snapshots)"

_INSERT = f"INSERT INTO log VALUES ({', '.join('?' * len(Event._fields))})"
# Most events are rewards, and a call may wait for each: binding four values is quicker than eleven.
_INSERT_REWARD = "INSERT INTO log (seq, time, kind, decision, reward) VALUES (?, ?, 'reward', ?, ?)"


class Log(CampaignFile):
    """What a campaign is about, its events, and snapshots of its state."""

    def is_new(self) -> bool:
        """Whether nothing has been written yet."""
        return bool(self._one("SELECT count(*) FROM sqlite_master")[0] == 0)

    def create(self, settings: dict[str, Any]) -> None:
        """Write the tables and what the campaign is about (inside a transaction)."""
        for statement in _SCHEMA.split(";"):
            self._connection.execute(statement)
        self._connection.execute(f"PRAGMA application_id = {APPLICATION}")
        self._connection.execute(f"PRAGMA user_version = {FORMAT}")
        rows = [(key, json.dumps(value)) for key, value in settings.items()]
        self._connection.executemany("INSERT INTO settings VALUES (?, ?)", rows)

    def settings(self) -> dict[str, Any]:
        """What the campaign is about."""
        rows = self._connection.execute("SELECT key, value FROM settings WHERE key != 'version'")
        try:
            return {key: json.loads(value) for key, value in rows}
        except ValueError:
            raise UnimodalError(f"the settings in {self.path} are damaged.") from None

    def written_by(self, version: str) -> bool:
        """Whether it was this version that had the file last; from now on it is."""
        before = self._one("SELECT value FROM settings WHERE key = 'version'")
        if before != (version,):
            self._connection.execute("REPLACE INTO settings VALUES ('version', ?)", (version,))
        return before is None or before == (version,)

    def version(self) -> int:
        """A number that changes when somebody else has written to the file."""
        (version,) = self._one("PRAGMA data_version")
        return int(version)

    def events(self, after: int = 0) -> Iterator[Event]:
        """The events after a number, in order."""
        return self._read("SELECT * FROM log WHERE seq > ? ORDER BY seq", after)

    def revisions(self) -> Iterator[Event]:
        """The events that changed the graph."""
        return self._read("SELECT * FROM log WHERE kind = 'revision' ORDER BY seq")

    def fingerprints(self) -> list[str]:
        """Those of the graphs that revisions made."""
        try:
            return [json.loads(event.data or "")["fingerprint"] for event in self.revisions()]
        except (ValueError, KeyError, TypeError):
            raise UnimodalError(f"a change of the graph in {self.path} is damaged.") from None

    def _read(self, query: str, *values: Any) -> Iterator[Event]:
        found = self._connection.execute(query, values)
        while rows := found.fetchmany(_CHUNK):
            yield from map(Event._make, rows)

    def counts(self) -> dict[str, int]:
        """How many events there are of each kind."""
        return dict(self._connection.execute("SELECT kind, count(*) FROM log GROUP BY kind"))

    def append(self, events: Sequence[Event]) -> None:
        """Add events (inside a transaction)."""
        rows = [(e.seq, e.time, e.decision, e.reward) for e in events if e.kind == "reward"]
        if len(rows) < len(events):
            self._connection.executemany(_INSERT, events)
        elif rows:
            self._connection.executemany(_INSERT_REWARD, rows)

    def append_at_once(self, events: Sequence[Event]) -> None:
        """Add events, which are on disk when this returns; none if their numbers are taken."""
        first = events[0]
        if len(events) == 1 and first.kind == "reward":  # a statement is a transaction by itself
            row = (first.seq, first.time, first.decision, first.reward)
            self.begin_to_write()
            self._connection.execute(_INSERT_REWARD, row)
            self.check_name()
            self.end_to_write()
        else:
            self.begin()
            self.append(events)
            self.commit()

    def reward_of(self, decision: int) -> float | None:
        """The reward of a decision, or None if it has none."""
        found = self._one("SELECT reward FROM rewards WHERE decision = ?", decision) or self._one(
            f"SELECT reward FROM log WHERE decision = ? AND {_LATER}", decision
        )
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

    def keep_snapshot(self, seq: int, version: str, state: str) -> None:
        """Write the state after an event; of one version, only the first and the last are kept.

        The rewards before it must have been put where they are found.
        """
        self._connection.execute(
            "DELETE FROM snapshots WHERE version = ? AND seq > "
            "(SELECT min(seq) FROM snapshots WHERE version = ?)",
            (version, version),
        )
        self._connection.execute(
            "INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?)", (seq, version, state)
        )

    def lost_rewards(self) -> int:
        """How many would not be found as the log has them: none, if the file is sound."""
        in_log = "SELECT decision, reward FROM log WHERE kind = 'reward'"
        found = "SELECT decision, reward FROM rewards"
        differ = (
            f"SELECT * FROM ({in_log} AND NOT ({_LATER}) EXCEPT {found})",
            f"SELECT * FROM ({found} EXCEPT {in_log})",
        )
        (count,) = self._one(f"SELECT count(DISTINCT decision) FROM ({' UNION ALL '.join(differ)})")
        return int(count)

    def snapshots(self) -> list[tuple[int, str]]:
        """Which there are: number of the event, and version."""
        return self._connection.execute(
            "SELECT seq, version FROM snapshots ORDER BY seq"
        ).fetchall()

    def snapshot(self, seq: int) -> str:
        """The state of a snapshot."""
        (state,) = self._one("SELECT state FROM snapshots WHERE seq = ?", seq)
        return str(state)
