"""The tables of campaigns in PostgreSQL, of which each method reads or writes one campaign."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from unimodal.campaigns.events import Identity, Rewarded, Row
from unimodal.campaigns.events.json_text import parsed
from unimodal.campaigns.events.keyed import keys_between
from unimodal.campaigns.stores.address import DatabaseAddress
from unimodal.campaigns.stores.event_identity import SNAPSHOTS, names_with
from unimodal.campaigns.stores.postgresql.upkeep_tables import PostgresqlUpkeepTables
from unimodal.errors import DamagedFile

CHUNK = 2000  # events read at a time
_LABELS = 100_000  # labels whose JSON is remembered
_END = 2**63 - 1


class PostgresqlTables(PostgresqlUpkeepTables):
    """What a campaign is about, its events, and snapshots of its state: see `StoreToRead`."""

    path: DatabaseAddress
    _campaign: int | None  # its number in the tables; None if it is not there, or not known yet

    def __init__(self) -> None:
        self._labels: dict[str | None, Any] = {None: None}

    def _ask(self, what: str, /, **values: Any) -> list[list[Any]]:
        """The rows that each statement under a name finds in this campaign."""
        raise NotImplementedError

    def _one(self, what: str, /, **values: Any) -> Any:
        """The only row that is found; None if there is none."""
        rows = self._ask(what, **values)[0]
        return rows[0] if rows else None

    def is_new(self) -> bool:
        """Whether nothing has been written yet."""
        if self._campaign is None:
            found = self._one("campaign", name=self.path.campaign)
            self._campaign = None if found is None else found[0]
        return self._campaign is None

    def check(self) -> None:
        """Do nothing: the server looks after its pages."""

    def problems(self) -> list[str]:
        """Nothing: the server looks after its pages, and refuses rows that have no number."""
        return []

    def create(self, settings: dict[str, Any]) -> None:
        """Write what a new campaign is about (inside a transaction)."""
        (self._campaign,) = self._one("create", name=self.path.campaign)
        values = [json.dumps(value) for value in settings.values()]
        self._ask("create_settings", keys=list(settings), values=values)

    def settings(self, *names: str) -> dict[str, Any]:
        """What the campaign is about: all settings, or those that are named."""
        (rows,) = self._ask("settings")
        try:
            found = {key: parsed(value) for key, value in rows}
        except ValueError:
            raise DamagedFile(
                f"the settings of {self.path} are damaged: go back to a copy of the database."
            ) from None
        return {name: found[name] for name in names if name in found} if names else found

    def written_by(self, version: str) -> bool:
        """Whether it was this version of unimodal that had it last; from now on it is."""
        (before,) = self._one("unimodal_version")
        if before != version:
            self._ask("set_unimodal_version", version=version)
        return before in ("", version)

    def keep_setting(self, name: str, value: Any) -> None:
        """Write a setting in the place of the one that has its name (inside a transaction)."""
        self._ask("put_settings", keys=[name], values=[json.dumps(value)])

    def rows(self, after: int = 0, until: int | None = None) -> Iterator[list[tuple[Any, ...]]]:
        """The events after a number, and up to another, in order: some at a time, as tuples."""
        while True:
            (found,) = self._ask(
                "rows", after=after, until=_END if until is None else until, limit=CHUNK
            )
            if found:
                yield self.as_events(found)
            if len(found) < CHUNK:
                return
            after = found[-1][0]

    def as_events(self, rows: list[Any]) -> list[tuple[Any, ...]]:
        """Rows with arms and leaders as labels."""
        label = self._label
        return [
            row
            if row[4] is None
            else (*row[:4], label(row[4]), row[5], label(row[6]), row[7], row[8], row[9], row[10])
            for row in rows
        ]

    def _label(self, text: str | None) -> Any:
        """The label that a column has as JSON."""
        try:
            return self._labels[text]
        except KeyError:
            if len(self._labels) > _LABELS:
                self._labels = {None: None}
        try:
            self._labels[text] = label = parsed(text)
        except ValueError:
            return text  # which those who fold the log find wrong
        return label

    def last(self) -> int:
        """The number of the last event."""
        return int(self._one("last")[0])

    def revisions(self) -> Iterator[Row]:
        """The events that changed the graph."""
        yield from map(Row._make, self.as_events(self._ask("revisions")[0]))

    def counts(self, until: int) -> dict[str, int]:
        """How many events there are of each kind, up to a number."""
        return dict(self._ask("counts", until=until)[0])

    def reward_of(self, decision: int) -> float | None:
        """The reward of a decision, or None if it has none."""
        found = self._one("reward_of", decision=decision)
        return None if found is None else float(found[0])

    def last_key(self, digest: str) -> Row | None:
        """The last event that tells a key, by its digest."""
        least, above = keys_between(digest)
        found = self._one("last_key", least=least, above=above)
        return None if found is None else Row._make(found)

    def find_rewards(self, after: int, until: int) -> None:
        """Put the rewards of some events of the log where they are found (in a transaction)."""
        self._ask("find_rewards", after=after, until=until)

    def last_snapshot(self) -> int:
        """The event after which the last snapshot was taken; 0 if there is none."""
        return int(self._one("last_snapshot")[0])

    def keep_snapshot(
        self, seq: int, version: str, state: str, follows: Identity | None = None
    ) -> None:
        """Write the state after an event; which others are dropped for it, `Store` says."""
        self._ask("keep_snapshot", seq=seq, version=version, state=state)
        if follows is not None:
            self.put(settings={SNAPSHOTS: names_with(self, follows)})

    def snapshots(self) -> list[tuple[int, str]]:
        """Which there are: number of the event, and version."""
        return self._ask("snapshots")[0]

    def snapshot(self, seq: int) -> str:
        """The state of a snapshot."""
        found = self._one("snapshot", seq=seq)
        return str(found[0]) if found else ""

    def lost_rewards(self) -> int:
        """How many would not be found as the log has them: none, if the tables are sound."""
        return int(self._one("lost_rewards", moved=self.moved_rewards())[0])


def as_values(
    events: Sequence[Row], token: int, after: Identity | None
) -> tuple[str, dict[str, Any]]:
    """The statement that appends events, and what is put into it.

    The first event carries the `token`, by which it is told later whether they arrived, and the
    last one, by which it is told from that of another history. Nothing is appended if `after` is
    given and is not the last event.
    """
    first, last = events[0], events[-1]
    others = {f"after_{name}": getattr(after, name, None) for name in Identity._fields[1:]}
    others |= {"token": token, "after": None if after is None else after.seq}
    if len(events) == 1 and first.kind == Rewarded.kind:  # most are: this is planned most quickly
        named = {"seq": first.seq, "time": first.time, "decision": first.decision}
        return "append_reward", {**named, "reward": first.reward, **others}
    columns: dict[str, Any] = dict(
        zip(Row._fields, map(list, zip(*events, strict=True)), strict=True)
    )
    columns["arm"], columns["leader"] = _as_json(columns["arm"]), _as_json(columns["leader"])
    return "append", {**columns, "first": first.seq, "last": last.seq, **others}


def _as_json(labels: Iterable[Any]) -> list[str | None]:
    return [None if label is None else json.dumps(label, ensure_ascii=False) for label in labels]
