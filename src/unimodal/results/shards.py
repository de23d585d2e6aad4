"""Shards: the numbered parts of one piece of work, and the folder in which each has a file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from unimodal.errors import UnimodalError

MOST_SHARDS = 100_000
_WRITTEN = re.compile(r"0*(\d{1,9})/0*(\d{1,9})", re.ASCII)
_NAMED = re.compile(r"shard-0*(\d{1,9})-of-0*(\d{1,9})\.(parquet|db)", re.ASCII)


@dataclass(frozen=True, order=True)
class Shard:
    """Part `number` of `count`, counted from 1."""

    number: int
    count: int

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    def path(self, folder: Path, suffix: str) -> Path:
        """Its file; names in order of their numbers.

        >>> Shard(3, 100).path(Path("out"), ".parquet").name
        'shard-003-of-100.parquet'
        """
        digits = len(str(self.count))
        return folder / f"shard-{self.number:0{digits}}-of-{self.count}{suffix}"

    def of(self, numbers: range) -> range:
        """Its share of consecutive numbers; shares differ by one at most.

        >>> [list(Shard(number, 3).of(range(10, 18))) for number in (1, 2, 3)]
        [[10, 11], [12, 13, 14], [15, 16, 17]]
        """
        many = len(numbers)
        return numbers[(self.number - 1) * many // self.count : self.number * many // self.count]


def parse(text: str) -> Shard:
    """A shard as it is written, such as 3/100.

    >>> parse("3/100")
    Shard(number=3, count=100)
    """
    found = _WRITTEN.fullmatch(text) if isinstance(text, str) else None
    shard = Shard(int(found[1]), int(found[2])) if found else Shard(0, 0)
    if not 1 <= shard.number <= shard.count <= MOST_SHARDS:
        raise UnimodalError(
            "a shard is written number/count, from 1/100 to 100/100 (and at most "
            f"{MOST_SHARDS:,} of them), got {text!r}."
        )
    return shard


def found_in(folder: Path) -> dict[Shard, Path]:
    """The files of all shards in a folder, in order; refused if one is missing or there twice."""
    if not folder.is_dir():
        raise UnimodalError(f"shards are merged from a folder, and there is none at {folder}.")
    files: dict[Shard, Path] = {}
    for path in sorted(folder.glob("shard-*")):
        named = _NAMED.fullmatch(path.name)
        if named is None:
            if path.suffix in (".parquet", ".db"):
                raise UnimodalError(
                    f"a shard's file has a name such as shard-3-of-100.parquet, got {path}: "
                    "rename it, or move it elsewhere."
                )
            continue  # what SQLite keeps beside its file
        shard = parse(f"{named[1]}/{named[2]}")
        if shard in files:
            raise UnimodalError(
                f"each shard is merged once, but {files[shard].name} and {path.name} are both "
                f"shard {shard}: remove one of them."
            )
        files[shard] = path
    _check_complete(folder, files)
    return dict(sorted(files.items()))


def _check_complete(folder: Path, files: dict[Shard, Path]) -> None:
    """Refuse a folder without shards, with those of several kinds, or with one missing."""
    if not files:
        raise UnimodalError(
            f"there are no shards in {folder}: make them with --shard 1/4 --out {folder}, and so "
            "on to 4/4."
        )
    first, *others = files
    for shard in others:
        if shard.count != first.count or files[shard].suffix != files[first].suffix:
            raise UnimodalError(
                f"the shards in a folder belong to one piece of work, but {files[first].name} and "
                f"{files[shard].name} do not: move one of them elsewhere."
            )
    missing = [
        str(Shard(number, first.count))
        for number in range(1, first.count + 1)
        if Shard(number, first.count) not in files
    ]
    if missing:
        more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
        raise UnimodalError(
            f"all shards are needed to merge, but {', '.join(missing[:5])}{more} "
            f"{'is' if len(missing) == 1 else 'are'} missing in {folder}: run "
            f"{'it' if len(missing) == 1 else 'them'} with --shard, and merge again."
        )
