"""Where campaigns are kept: `store` says what is needed of such a place, `sqlite` is one."""

from pathlib import Path

from unimodal.campaigns.stores import sqlite
from unimodal.campaigns.stores.store import NumberTaken, Store, StoreKind, StoreToRead

__all__ = ["NumberTaken", "Store", "StoreKind", "StoreToRead", "kind_of"]


def kind_of(path: Path) -> StoreKind:
    """The kind of store that a path leads to: another kind would be told by its address."""
    return sqlite
