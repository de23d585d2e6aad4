"""Archives: Parquet files with events that were moved out of a campaign's log by `compact`.

An archive has the columns of the log; labels are JSON, since a column has one type. Rows of kind
'snapshot' are snapshots of the same time, with their version as reason and their state as data.
Two checks stand over it: a digest of the file's bytes, which is compared before anything is read,
and a digest of its events, which goes on from that of the archive before it and is kept in the
campaign's store. So an archive of another campaign, or another one of the same, is noticed.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from unimodal import checksums, files
from unimodal.campaigns.content_digests import Digest
from unimodal.campaigns.events import Rewarded, Row
from unimodal.campaigns.events.json_text import parsed
from unimodal.campaigns.log_start import archived
from unimodal.campaigns.stores import Place, StoreToRead, as_file
from unimodal.errors import UnimodalError

if TYPE_CHECKING:
    import polars as pl

_KIND, _FORMAT = "unimodal archive", 1
_CHUNK = 20_000  # events that are plain Python objects at the same time
_LABELS = ("arm", "leader")
_WHAT = "an archive that `unimodal compact` wrote"


@dataclass(frozen=True)
class About:
    """What an archive says about itself; `erased` are arms whose data are no longer in it."""

    first: int
    last: int
    before: str  # the digest of the archive before it, empty if it is the first
    digest: str
    state: str  # the SHA-256 of the state after its last event
    erased: list[str] = field(default_factory=list)

    def part(self, path: Path) -> dict[str, Any]:
        """What a store keeps of it."""
        return {"first": self.first, "last": self.last, "digest": self.digest, "file": path.name}


def _schema() -> dict[str, Any]:
    import polars as pl

    word = pl.Categorical  # words that come again and again are kept once
    return {
        **{"seq": pl.Int64, "time": pl.Float64, "kind": word, "decision": pl.Int64},
        **{"arm": word, "reason": word, "leader": word, "near": pl.Int64},
        **{"propensity": pl.Float64, "reward": pl.Float64, "data": pl.String},
    }


class _Labels(dict[Any, Any]):
    """Labels as JSON, each turned into it once; by their kind, too: 1 and 1.0 are equal."""

    def __missing__(self, key: tuple[type, Any]) -> Any:
        self[key] = text = None if key[1] is None else json.dumps(key[1])
        return text


def as_frame(rows: Iterable[list[tuple[Any, ...]]]) -> pl.DataFrame:
    """Events, or snapshots among them, as the table of an archive."""
    import polars as pl

    schema, labels = _schema(), _Labels()
    parts = [pl.DataFrame(schema=schema)]
    for some in rows:
        columns: list[Any] = list(zip(*some, strict=True))
        for name in _LABELS:
            place = Row._fields.index(name)
            columns[place] = [labels[label.__class__, label] for label in columns[place]]
        parts.append(pl.DataFrame(dict(zip(schema, columns, strict=True)), schema=schema))
    return pl.concat(parts)


def as_rows(frame: pl.DataFrame) -> Iterator[list[tuple[Any, ...]]]:
    """The events of an archive's table as a store gives them: some at a time, as tuples."""
    labels: dict[Any, Any] = {None: None}
    for begin in range(0, frame.height, _CHUNK):
        columns = [column.to_list() for column in frame.slice(begin, _CHUNK).iter_columns()]
        for name in _LABELS:
            place = Row._fields.index(name)
            for text in set(columns[place]) - labels.keys():
                labels[text] = parsed(text)
            columns[place] = [labels[text] for text in columns[place]]
        yield list(zip(*columns, strict=True))


def events_of(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows that are events; they come first."""
    import polars as pl

    return frame.head(frame.height - frame.select((pl.col("kind") == "snapshot").sum()).item())


def digest_of(rows: Iterable[list[tuple[Any, ...]]], before: str) -> str:
    """The digest of the events of an archive, which goes on from another."""
    digest = Digest(before)
    for some in rows:
        digest.add(some)
    return digest.text()


def fill_archive(path: Path, frame: pl.DataFrame, about: About) -> None:
    """Write an archive to a path that is the caller's, with its checksum."""
    notes = {"kind": _KIND, "format": _FORMAT, **about.__dict__}
    frame.write_parquet(
        path, metadata={"about": json.dumps(notes), **checksums.BLANK}, row_group_size=100_000
    )
    checksums.fill_in(path)


def read_archive(path: str | Path) -> tuple[pl.DataFrame, About]:
    """The table of an archive and what it says about itself; refused if it is damaged."""
    import polars as pl

    path = as_file(path, "the path of an archive")
    if path.is_dir():
        raise UnimodalError(f"{path} must be {_WHAT}, got a folder.")
    with files.reading(path, _WHAT), path.open("rb") as handle:
        checksums.check(handle)
        notes = parsed(pl.read_parquet_metadata(handle)["about"])
        if notes.pop("kind") != _KIND:
            raise ValueError("another kind of file")
        if (found := notes.pop("format")) != _FORMAT:
            raise UnimodalError(
                f"{path} is an archive of format {found!r:.20}, this version reads format "
                f"{_FORMAT}: update unimodal."
            )
        about = About(**notes)
        handle.seek(0)
        frame = pl.read_parquet(handle).select(*_schema()).cast(_schema())  # type: ignore[arg-type]
        events = events_of(frame)["seq"]
        if not events.equals(pl.Series("seq", range(about.first, about.last + 1), pl.Int64)):
            raise ValueError("other events than it says")
        if digest_of(as_rows(events_of(frame)), about.before) != about.digest:
            raise ValueError("another digest")
    return frame, about


class WithArchives:
    """A store together with the archives of its first events: as if none had been moved."""

    def __init__(self, store: StoreToRead, parts: Sequence[Archive]) -> None:
        import polars as pl

        self._store, self._until = store, parts[-1].about.last
        self._events = pl.concat([events_of(part.frame) for part in parts])
        states = [part.frame.filter(pl.col("kind") == "snapshot") for part in parts]
        self._snapshots = pl.concat(states).sort("seq")

    @property
    def path(self) -> Place:
        """Where the store is."""
        return self._store.path

    def is_new(self) -> bool:
        """Whether nothing has been written yet."""
        return self._store.is_new()

    def settings(self, *names: str) -> dict[str, Any]:
        """All settings, or those that are named; nothing is archived."""
        found = self._store.settings(*names)
        return {name: value for name, value in found.items() if name != "archived"}

    def rows(self, after: int = 0, until: int | None = None) -> Iterator[list[tuple[Any, ...]]]:
        """The events after a number and up to another."""
        if after < self._until:
            last = self._until if until is None else min(until, self._until)
            yield from as_rows(self._events.slice(after, max(last - after, 0)))
        yield from self._store.rows(max(after, self._until), until)

    def last(self) -> int:
        """The number of the last event."""
        return self._store.last()

    def revisions(self) -> Iterator[Row]:
        """The events that changed the graph, all of which stay in the log."""
        return self._store.revisions()

    def counts(self, until: int) -> dict[str, int]:
        """How many events there are of each kind, up to a number."""
        import polars as pl

        moved = self._events.filter(pl.col("seq") <= until)["kind"].value_counts()
        counts = Counter(dict(moved.iter_rows()))
        counts.update(self._store.counts(until))
        counts.subtract(self._store.counts(min(until, self._until)))
        return dict(+counts)

    def reward_of(self, decision: int) -> float | None:
        """The reward of a decision."""
        return self._store.reward_of(decision)

    def last_key(self, digest: str) -> Row | None:
        """The last event that tells a key: only those who decide ask for it."""
        return self._store.last_key(digest)

    def snapshots(self) -> list[tuple[int, str]]:
        """Which there are: number of the event, and version."""
        moved = [
            (seq, str(version))
            for seq, version in self._snapshots.select("seq", "reason").iter_rows()
        ]
        return [*moved, *self._store.snapshots()]

    def snapshot(self, seq: int) -> str:
        """The state of a snapshot."""
        import polars as pl

        found = self._snapshots.filter(pl.col("seq") == seq)["data"]
        return str(found[0]) if len(found) else self._store.snapshot(seq)

    def last_snapshot(self) -> int:
        """The event after which the last snapshot was taken."""
        return self._store.last_snapshot()

    def check(self) -> None:
        """Refuse a store that is damaged."""
        self._store.check()

    def problems(self) -> list[str]:
        """What the database itself finds wrong."""
        return self._store.problems()

    def kept_rewards(self) -> Iterator[list[tuple[int, float]]]:
        """The rewards that are found without the log."""
        return self._store.kept_rewards()

    def lost_rewards(self) -> int:
        """How many rewards would not be found as the log and the archives have them."""
        import polars as pl

        schema = {"decision": pl.Int64, "reward": pl.Float64}
        kept = pl.concat(
            [
                pl.DataFrame(schema=schema),
                *(pl.DataFrame(rows, schema, orient="row") for rows in self._store.kept_rewards()),
            ]
        )
        moved = self._events.filter(kind=Rewarded.kind).drop_nulls("reward").select(*schema)
        found = moved.join(kept, on="decision", how="left", suffix="_kept")
        return self._store.lost_rewards() + int(
            found.select((pl.col("reward") != pl.col("reward_kept")).fill_null(True).sum()).item()
        )


class Archive(NamedTuple):
    """An archive that was read."""

    frame: pl.DataFrame
    about: About
    path: Path


def load_archives(paths: Iterable[str | Path]) -> list[Archive]:
    """Read archives, each of which is checked."""
    return [Archive(*read_archive(path), Path(path)) for path in paths]


def with_archives(store: StoreToRead, given: Sequence[Archive]) -> StoreToRead:
    """A store and the archives of it, which must be all of them; without any, the store."""
    if not given:
        return store
    note = archived(store)
    if not note:
        raise UnimodalError(
            f"{store.path} has its whole log, so there is nothing to be taken from an archive: "
            "leave the archive out."
        )
    found = {each.about.digest: each for each in given}
    parts = []
    for part in note["parts"]:
        if part["digest"] not in found:
            raise UnimodalError(
                f"events {part['first']:,} to {part['last']:,} of {store.path} are in the archive "
                f"{part['file']}, which is none of {', '.join(str(each.path) for each in given)}: "
                "pass all archives of this campaign."
            )
        parts.append(found.pop(part["digest"]))
    if found:
        _, about, path = next(iter(found.values()))
        raise UnimodalError(
            f"{path} has events {about.first:,} to {about.last:,} of another campaign, or of "
            f"another copy of {store.path}: leave it out."
        )
    return WithArchives(store, parts)
