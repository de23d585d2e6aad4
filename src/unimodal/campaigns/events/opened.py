"""A version of unimodal opened the campaign."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import ClassVar

from unimodal.campaigns.events.event import TEXT, Event
from unimodal.campaigns.events.json_text import parsed
from unimodal.campaigns.events.row import Row


@dataclass(slots=True)
class Opened(Event):
    """The version of unimodal that opened the campaign; None where it is damaged."""

    kind: ClassVar[str] = "open"
    columns: ClassVar[dict[str, tuple[type, ...]]] = {"data": TEXT}

    version: str | None

    @classmethod
    def of(cls, row: Row) -> Opened:
        try:
            version = str(parsed(row.data)["version"])
        except (ValueError, LookupError, TypeError):
            version = None  # nothing depends on it
        return cls(row.seq, row.time, version)

    def row(self) -> Row:
        return Row(self.seq, self.time, self.kind, data=json.dumps({"version": self.version}))
