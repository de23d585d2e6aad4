"""Where campaigns are kept: `store` says what is needed of such a place, others are one each."""

from unimodal.campaigns.stores import postgresql, sqlite
from unimodal.campaigns.stores.address import (
    DatabaseAddress,
    OtherPlace,
    Place,
    as_database,
    as_file,
    as_place,
    is_meant_as_address,
)
from unimodal.campaigns.stores.store import (
    Interrupted,
    NumberTaken,
    SetBack,
    Store,
    StoreKind,
    StoreToRead,
)

__all__ = [
    "DatabaseAddress",
    "Interrupted",
    "NumberTaken",
    "OtherPlace",
    "Place",
    "SetBack",
    "Store",
    "StoreKind",
    "StoreToRead",
    "as_database",
    "as_file",
    "as_place",
    "is_meant_as_address",
    "kind_of",
]


def kind_of(place: Place) -> StoreKind:
    """The kind of store that a path or an address leads to."""
    if isinstance(place, OtherPlace):
        return place.kind  # type: ignore[no-any-return]
    return postgresql if isinstance(place, DatabaseAddress) else sqlite
