"""Where the campaign of a history is kept, and what can be done to it there besides writing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import unimodal as um
from unimodal.campaigns.reading import backup
from unimodal.testing.simulation.memory import MemoryPlace


class Kept(Protocol):
    """A place, of which copies are made and put back."""

    inner: Any
    ends_clients: bool  # whether nobody may have it open while a copy is put back

    def now(self) -> Any:
        """What it holds at this moment, where that can be had for nothing."""

    def copied(self, place: Any) -> Any:
        """A copy of the campaign as it is now, made as `place` is watched."""

    def put_back(self, copy: Any) -> None:
        """Let the campaign be as the copy."""

    def cut(self) -> None:
        """Lose all connections."""


class InMemory:
    """A campaign in memory, which can be set back while clients have it open."""

    ends_clients = False

    def __init__(self) -> None:
        self.inner = MemoryPlace("simulated")

    def now(self) -> Any:
        """All of it."""
        return self.inner.now

    def copied(self, place: Any) -> Any:
        """A copy, by `backup`."""
        copy: Any = MemoryPlace("a copy")
        backup(place, copy)
        return copy.now

    def put_back(self, copy: Any) -> None:
        """As a fail-over does, or who restores a copy of a database."""
        self.inner.set_back(copy)

    def cut(self) -> None:
        """Lose all connections."""
        self.inner.cut()


class InFile:
    """A campaign in a SQLite file; `restore` puts copies in its place."""

    ends_clients = True

    def __init__(self, folder: Path) -> None:
        self.inner, self._copies = folder / "campaign.db", 0

    def now(self) -> Any:
        """Nothing: a copy would have to be made at every commit."""

    def copied(self, place: Any) -> Any:
        """A copy, by `backup`."""
        self._copies += 1
        copy = self.inner.with_name(f"copy-{self._copies}.db")
        backup(place, copy)
        return copy

    def put_back(self, copy: Any) -> None:
        """The copy gets the name of the file."""
        um.campaigns.restore(copy, self.inner, replace=True)

    def cut(self) -> None:
        """Do nothing: a file has no connection."""


class InDatabase:
    """A campaign in PostgreSQL; a copy is put back by giving it the campaign's name."""

    ends_clients = True

    def __init__(self, new_place: Callable[[], Any], rename: Callable[[str, str], None]) -> None:
        self._new_place, self._rename = new_place, rename
        self.inner = new_place()

    def now(self) -> Any:
        """Nothing: a copy would have to be made at every commit."""

    def copied(self, place: Any) -> Any:
        """A copy, by `backup`, in the same database."""
        copy = self._new_place()
        backup(place, copy)
        return copy

    def put_back(self, copy: Any) -> None:
        """A copy of the copy gets the name, which the campaign before loses."""
        again = self._new_place()
        backup(copy, again)
        self._rename(self.inner.campaign, self._new_place().campaign)
        self._rename(again.campaign, self.inner.campaign)

    def cut(self) -> None:
        """Do nothing: others use the server, too."""
