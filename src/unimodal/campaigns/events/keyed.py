"""Decisions were asked for under a key."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from unimodal.campaigns.events.decided import Decided
from unimodal.campaigns.events.event import TEXT, Damage, Event
from unimodal.campaigns.events.json_text import parsed
from unimodal.campaigns.events.row import Row
from unimodal.errors import LONGEST, UnimodalError


@dataclass(slots=True)
class Keyed(Event):
    """How many decisions were asked for under a key, and the events among which they are.

    The key is a digest, since what a caller chose may name a person. It stands first in the data,
    so that an index finds it.
    """

    kind: ClassVar[str] = "key"
    columns: ClassVar[dict[str, tuple[type, ...]]] = {"data": TEXT}
    since: ClassVar[int] = 4

    key: str
    n: int
    events: list[list[int]]  # the first and the last of each transaction that made some

    @classmethod
    def of(cls, row: Row) -> Keyed:
        wrong = Damage("must be decisions under a key")
        try:
            found = cls(row.seq, row.time, **parsed(row.data))
            spans = [(first, last) for first, last in found.events]
        except (ValueError, TypeError):
            raise wrong from None
        numbers = [found.n, *itertools.chain.from_iterable(spans)]
        are_whole = all(type(each) is int and 0 < each <= LONGEST for each in numbers)
        if not isinstance(found.key, str) or not are_whole or not spans:
            raise wrong
        return found

    def row(self) -> Row:
        data = json.dumps({"key": self.key, "n": self.n, "events": self.events})
        return Row(self.seq, self.time, self.kind, data=data)

    @classmethod
    def needed(cls, row: Row, since: float) -> Iterator[tuple[int, int, type[Event]]]:
        if row.time > since:  # whoever asks under it is told the same decisions again
            yield row.seq, row.seq, cls
            for first, last in cls.of(row).events:
                yield first, last, Decided


def key_digest(key: Any) -> str:
    """What a log keeps of a key."""
    if not isinstance(key, str) or not key:
        raise UnimodalError(f"the 'key' of decide must be a text, not empty, got {key!r}.")
    return hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def keys_between(digest: str) -> tuple[str, str]:
    """The least text with which data of a key begin, and one that is above all of them."""
    least = json.dumps({"key": digest}).removesuffix("}")
    return least, f"{least[:-1]}#"  # which is the next character after the quotation mark
