"""What PostgreSQL reports by a code, as an error that a program can branch on."""

from __future__ import annotations

import re

from unimodal.campaigns.stores.address import DatabaseAddress
from unimodal.campaigns.stores.store import Interrupted, NumberTaken
from unimodal.errors import Busy, ReadOnly, StoreError, UnimodalError

# Classes and codes of appendix A of PostgreSQL's manual.
_AGAIN = ("40001", "40P01")  # a serialization failure, a deadlock: the transaction is rolled back
_GONE = (
    *("08", "57P01", "57P02", "57P03", "57P05"),  # shut down, crashed, not up yet
    "25P03",  # cut off since it was idle inside a transaction
    *("25006", "53300"),  # a standby that has not been promoted yet; too many connections
)
# libpq tells no code where a connection failed, only the server's words.
_NONE_FREE = ("too many clients", "too many connections", "connection slots are reserved")


def explanation(
    error: Exception,
    address: DatabaseAddress,
    wait: float,
    *,
    is_lost: bool = False,
    connecting: bool = False,
) -> UnimodalError:
    """The error to raise instead of one of psycopg's."""
    code = str(getattr(error, "sqlstate", None) or "")
    text = address.without_secrets(_first_line(error))
    if code == "23505":
        return NumberTaken(f"{address} could not be used ({text}).")
    if code == "55P03":
        return busy(address, wait)
    if code == "42501":
        return ReadOnly(
            f"{address} may not be used so by this user ({text}): grant the rights that the page "
            "on PostgreSQL in the guide names."
        )
    if code.startswith("53") and code != "53300":
        return StoreError(
            f"{address} could not be written ({text}), and nothing of this call was kept: "
            "make room on the server and call again."
        )
    if connecting and (refused := _refused(error, code, text, address)) is not None:
        return refused
    if is_lost or code.startswith(_GONE) or code in _AGAIN:
        return Interrupted(f"{address} cannot be reached ({text}): start it, or call again.")
    if isinstance(error, UnicodeError):
        return StoreError(f"{address} must be UTF-8, got text that is none: name it in UTF-8.")
    return StoreError(f"{address} could not be used ({text}).")


def _refused(error: Exception, code: str, text: str, address: DatabaseAddress) -> StoreError | None:
    """What no waiting mends, as the server says it before there is a connection."""
    if code.startswith("28") or "authentication failed" in text or "no password" in text:
        return StoreError(
            f"{address} does not let this user in ({text}): check the user and the password."
        )
    if code == "3D000" or ("database" in text and "does not exist" in text):
        return StoreError(f"{address} is not there ({text}): create the database, or name another.")
    if "role" in text and ("does not exist" in text or "is not permitted" in text):
        return StoreError(
            f"{address} does not know this user ({text}): create it, or name another."
        )
    if "pg_hba.conf" in text:
        return StoreError(f"{address} does not let this user in ({text}): allow it in pg_hba.conf.")
    unread = type(error).__name__ == "ProgrammingError" or "Servname not supported" in text
    if unread or "connection option" in text or re.search(r"invalid \w+ value: ", text):
        # libpq quotes what it cannot read, and nobody knows what that was meant to be.
        return StoreError(
            f"{address} must be an address that libpq reads, got an option or a value after the ? "
            "that it does not know: compare it with libpq's list of parameters."
        )
    if "not known" in text:  # not where it is a temporary failure of name resolution
        return StoreError(f"{address} names a host that is not there ({text}): mend it.")
    return None


def busy(address: DatabaseAddress, wait: float) -> Busy:
    """The error for a campaign that others keep busy."""
    return Busy(
        f"another process has kept {address} busy for {wait:g} s, so nothing was written: "
        "call again."
    )


def all_in_use(address: DatabaseAddress, wait: float, most: int, setting: str) -> Busy:
    """The error where no connection of this process has become free in time."""
    return Busy(
        f"all {most} connections that this process may have to {address} have been in use for "
        f"{wait:g} s, so nothing was done: call again, or let it have more ({setting})."
    )


def given_up(error: Interrupted) -> StoreError:
    """What is told when there is no patience left: `Busy` if the server has too many clients."""
    text = str(error)
    return Busy(text) if any(words in text for words in _NONE_FREE) else StoreError(text)


def _first_line(error: Exception) -> str:
    """What the server or libpq says, on one line and without the details."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[0] if lines else type(error).__name__).removesuffix(".")
