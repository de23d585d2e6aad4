"""Work in transactions that are done again where a store was interrupted."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TypeVar

from unimodal.campaigns.stores import Interrupted, SetBack, Store
from unimodal.errors import StoreError

WAIT = 30.0  # seconds for which others may keep the store busy, or a server may be gone

Done = TypeVar("Done")


def in_transaction(store: Store, work: Callable[[], Done]) -> Done:
    """Do some work in a transaction of its own; again, if the store was interrupted."""
    while True:
        try:
            store.begin()
            try:
                done = work()
                store.commit()
                return done
            except BaseException:
                store.roll_back()
                raise
        except Interrupted:  # nothing of it was kept, and the store has the patience
            continue
        except SetBack as error:
            raise StoreError(str(error)) from None


@contextlib.contextmanager
def no_interruptions() -> Iterator[None]:
    """Raise what nobody does again as an error that users know."""
    try:
        yield
    except Interrupted as error:
        raise StoreError(str(error)) from None


def why_not_reclaimed(store: Store) -> str:
    """Give back the room of what was deleted; or why that was not done, after the commit.

    What was deleted is deleted nevertheless: no error may say otherwise.
    """
    try:
        store.reclaim()
    except StoreError as error:
        return str(error).removesuffix(".")
    return ""
