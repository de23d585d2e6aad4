"""The campaigns that a service can open, by name: no path ever comes from a request."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, Protocol

from unimodal import descriptors, files
from unimodal.campaigns.stores import as_database, is_meant_as_address
from unimodal.campaigns.stores.sqlite.errors import DESCRIPTORS, too_many_open
from unimodal.errors import InvalidRequest, StoreError, UnimodalError
from unimodal.service.limits import NAME

_IS_NAME = re.compile(NAME)


class Catalog(Protocol):
    """The campaigns that a service can open, by name."""

    def names(self) -> list[str]:
        """The campaigns that there are, in order."""

    def has(self, name: str) -> bool:
        """Whether there is a campaign of this name."""

    def address(self, name: str) -> Any:
        """What `Campaign.open` takes; also of a campaign that is still to be made."""

    def is_ended(self, name: str) -> bool:
        """Whether its owner has ended it."""

    def set_ended(self, name: str, ended: bool) -> None:
        """End it, or let it decide again."""

    def check(self) -> None:
        """Refuse with an error if it cannot be reached."""

    def close(self) -> None:
        """Let go of it."""


def is_name(name: str) -> bool:
    """Whether a campaign of this name is served."""
    return _IS_NAME.fullmatch(name) is not None


def check_name(name: str) -> str:
    """A name that is safe as a part of a path.

    >>> check_name("../etc")
    Traceback (most recent call last):
        ...
    unimodal.errors.InvalidRequest: a campaign is named by at most 63 of a-z, 0-9, - and _, ...
    """
    if not is_name(name):
        raise InvalidRequest(
            f"a campaign is named by at most 63 of a-z, 0-9, - and _, got {name!r:.80}: choose "
            "another name."
        )
    return name


class FolderCatalog:
    """A folder of SQLite files, one per campaign; an empty file beside it marks an ended one."""

    def __init__(self, path: str | Path) -> None:
        self._path = files.as_path(path, "the folder of campaigns")
        try:
            self._path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UnimodalError(
                f"the folder of campaigns {path} cannot be made: {error.strerror or error}."
            ) from None

    def __str__(self) -> str:
        """Its path."""
        return str(self._path)

    def names(self) -> list[str]:
        """The campaigns that there are, in order."""
        found = (Path(name) for name in self._listed())
        return sorted(path.stem for path in found if path.suffix == ".db" and is_name(path.stem))

    def has(self, name: str) -> bool:
        """Whether there is a campaign of this name."""
        return self.address(name).exists()

    def address(self, name: str) -> Path:
        """The file of a campaign."""
        return self._path / f"{check_name(name)}.db"

    def is_ended(self, name: str) -> bool:
        """Whether its owner has ended it."""
        return self._mark(name).exists()

    def set_ended(self, name: str, ended: bool) -> None:
        """End it, or let it decide again."""
        try:
            if ended:
                self._mark(name).touch(files.PRIVATE)
            else:
                self._mark(name).unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(f"{self._mark(name)} cannot be written: {error.strerror}.") from None

    def check(self) -> None:
        """Refuse if the folder is gone, or if there are no descriptors for its files."""
        if not self._path.is_dir():
            raise StoreError(f"the folder of campaigns {self._path} is gone: mount it again.")
        if descriptors.left() < DESCRIPTORS:
            raise too_many_open(self._path)

    def close(self) -> None:
        """Nothing is held."""

    def _listed(self) -> list[str]:
        try:
            return os.listdir(self._path)
        except OSError as error:
            if descriptors.is_lack(error):
                raise too_many_open(self._path) from None
            raise StoreError(
                f"the folder of campaigns {self._path} cannot be read: {error.strerror or error}."
            ) from None

    def _mark(self, name: str) -> Path:
        return self._path / f"{check_name(name)}.ended"


def catalog_of(store: str, wait: float) -> Catalog:
    """The catalog of the store that `--store` names."""
    if is_meant_as_address(store):
        from unimodal.service.campaigns.database_catalog import (
            DatabaseCatalog,  # which needs another extra
        )

        return DatabaseCatalog(as_database(store, "the store of a service"), wait)
    return FolderCatalog(store)
