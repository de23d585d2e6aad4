"""A copy of a campaign that may be in use: what was acknowledged before is in it."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

from unimodal import files
from unimodal.campaigns.reading import LogToRead, read
from unimodal.errors import UnimodalError


def backup(path: str | Path, target: str | Path) -> Path:
    """Copy a campaign into a new file, by SQLite's backup; writers go on meanwhile.

    >>> import tempfile, unimodal as um
    >>> folder = tempfile.mkdtemp()
    >>> with um.Campaign.open(folder + "/prices.db", um.UTS(), um.graphs.line(3)) as campaign:
    ...     decision = campaign.decide()
    ...     copy = campaign.backup(folder + "/copy.db")
    >>> with um.Campaign.open(copy) as again:
    ...     again.reward(decision.id, 1.0)
    True
    """
    target = files.as_path(target, "the target of a backup")
    if target.exists():
        raise UnimodalError(f"there is a file {target} already: name another, or remove it first.")

    def copied(log: LogToRead) -> Path:
        def fill(beside: Path) -> None:
            with contextlib.closing(sqlite3.connect(beside)) as copy:
                try:
                    log.copy_to(copy)
                except sqlite3.Error as error:
                    raise OSError(str(error)) from None

        return files.write(target, fill)

    return read(path, copied)
