"""Where a campaign is: the path of a file, or the address of a database with a campaign's name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote, unquote

from unimodal import files
from unimodal.errors import UnimodalError

_SCHEMES = ("postgresql:/", "postgres:/")
_SECRET = ("password", "sslpassword")
_LONGEST = 200  # characters of a campaign's name
_SUCH_AS = "such as postgresql://user@host/database?campaign=prices"


@dataclass(frozen=True)
class DatabaseAddress:
    """A campaign in a database: what libpq needs, and the campaign's name.

    >>> address = as_place("postgresql://ann:secret@host/shop?campaign=prices&sslmode=require", "")
    >>> address.conninfo, address.campaign
    ('postgresql://ann:secret@host/shop?sslmode=require', 'prices')
    >>> print(address)
    postgresql://ann@host/shop?campaign=prices
    """

    conninfo: str
    campaign: str

    def __str__(self) -> str:
        """The address without a password, as sentences name it."""
        base = re.sub(r"(//[^:/@?]*):[^/?]*@", r"\1@", self.conninfo.partition("?")[0])
        return f"{base}?campaign={quote(self.campaign)}"

    __repr__ = __str__

    def without_secrets(self, text: str) -> str:
        """A text of libpq's, which may quote the address, without a password."""
        base, _, query = self.conninfo.partition("?")
        named = [pair.partition("=") for pair in query.split("&")]
        secrets = [secret for key, _, secret in named if unquote(key) in _SECRET]
        secrets += re.findall(r"//[^:/@?]*:([^/?]*)@", base)
        for secret in filter(None, secrets):
            text = text.replace(secret, "…").replace(unquote(secret), "…")
        return text


Place: TypeAlias = Path | DatabaseAddress


def as_place(given: Any, what: str) -> Place:
    """The path or the address that a user means; `what` names it in sentences."""
    if isinstance(given, DatabaseAddress):
        return given
    if isinstance(given, str) and given.startswith(_SCHEMES) and "\0" not in given:
        return _address(given, what)
    return files.as_path(given, what)


def _address(text: str, what: str) -> DatabaseAddress:
    base, _, query = text.partition("?")
    pairs = [pair for pair in query.split("&") if pair]
    names = [unquote(pair.partition("=")[2]) for pair in pairs if _key(pair) == "campaign"]
    rest = "&".join(pair for pair in pairs if _key(pair) != "campaign")
    address = DatabaseAddress(f"{base}?{rest}" if rest else base, names[0] if names else "")
    if len(names) != 1 or not names[0]:
        raise UnimodalError(
            f"{what} in a database must name one campaign, {_SUCH_AS}, got "
            f"{len(names) or 'none'} in {address}: add campaign=…."
        )
    if len(names[0]) > _LONGEST or not names[0].isprintable():
        raise UnimodalError(
            f"the name of a campaign must have at most {_LONGEST} printable characters, "
            f"got {names[0][:_LONGEST]!r}: choose another."
        )
    return address


def _key(pair: str) -> str:
    return unquote(pair.partition("=")[0])
