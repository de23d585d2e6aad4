"""Where a campaign is: the path of a file, or the address of a database with a campaign's name.

An address may have a password in it. So it is read strictly, what cannot be read is never quoted,
and only the parts that cannot be a password (user, hosts, database) are ever shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote, unquote

from unimodal import files
from unimodal.errors import StoreError, UnimodalError

_SECRET = (
    *("password", "sslpassword", "oauth_client_secret"),
    *("scram_client_key", "scram_server_key"),
)
_LONGEST = 200  # characters of a campaign's name
_SUCH_AS = "such as postgresql://user@host/database"

# The parts are those that libpq finds: a user and a password end at the first @ before any /.
_PARTS = re.compile(
    r"(?i:postgres(?:ql)?)://(?:(?P<user>[^:@/]*)(?::(?P<password>[^@/]*))?@)?"
    r"(?P<hosts>[^/?]*)(?:/(?P<database>[^?]*))?(?:\?(?P<query>.*))?"
)
# What may be in them. A password with a raw / or @ in it would go on in another part, with an @.
_CODED = r"%(?!00)[0-9A-Fa-f]{2}"
_HOST = rf"(?:\[[0-9A-Fa-f:.]+(?:{_CODED}\w+)?\]|(?:[\w.~-]|{_CODED})*)(?::[0-9]*)?"
_ALLOWED = {
    "user": re.compile(rf"(?:[\w.~!$'()*+,;-]|{_CODED})*"),
    "password": re.compile(rf"(?:[^%]|{_CODED})*"),
    "hosts": re.compile(rf"{_HOST}(?:,{_HOST})*"),
    "database": re.compile(rf"(?:[^%/@?#:&=]|{_CODED})*"),
    "query": re.compile(rf"(?:&|[\w%]+=(?:[^%@?#&=]|{_CODED})*(?:&|$))*"),
}
# What is meant as an address, however it is misspelt: it must not become the name of a file, which
# /…, ./… and ../… always are.
_MEANT_AS_ADDRESS = re.compile(
    r"(?!\.{0,2}/(?!/))(?:\s*[a-z][\w+.-]+:/|\s*postgres\w*(?::|//)|.*://|.*//[^/]*@|.*:[^/]*@|.*\b(?:ssl)?passw\w*\s*=)",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True)
class DatabaseAddress:
    """A campaign in a database: what libpq needs, and the campaign's name, if it names one.

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
        parts = _parts(self.conninfo)
        scheme = self.conninfo.partition("://")[0]
        user = f"{parts['user']}@" if parts["user"] else ""
        database = f"/{parts['database']}" if parts["database"] else ""
        name = f"?campaign={quote(self.campaign)}" if self.campaign else ""
        return f"{scheme}://{user}{parts['hosts']}{database}{name}"

    __repr__ = __str__

    @property
    def secrets(self) -> list[str]:
        """What nobody may be shown, as it stands in the address."""
        parts = _parts(self.conninfo)
        named = (pair.partition("=") for pair in parts["query"].split("&"))
        found = [value for key, _, value in named if unquote(key) in _SECRET]
        return [secret for secret in (parts["password"], *found) if secret]

    def without_secrets(self, text: str) -> str:
        """A text of libpq's or of a server's, which may quote the address, without a password."""
        return masked(text, self.secrets)


class OtherPlace:
    """A place of another kind than those of `Place`: `kind` is a `StoreKind`, which opens it."""

    kind: Any


Place: TypeAlias = Path | DatabaseAddress


def masked(text: str, secrets: Iterable[str]) -> str:
    """A text without secrets, neither as they are nor percent-encoded.

    >>> masked("no entry for pa%2Fss, nor for pa/ss", ["pa%2Fss"])
    'no entry for …, nor for …'
    """
    forms = {form for one in secrets for form in (one, unquote(one), quote(unquote(one), safe=""))}
    for form in sorted(filter(None, forms), key=len, reverse=True):
        text = text.replace(form, "…")
    return text


def as_place(given: Any, what: str) -> Place:
    """The path or the address that a user means; `what` names it in sentences."""
    if isinstance(given, DatabaseAddress | OtherPlace):
        return given  # type: ignore[return-value]
    if is_meant_as_address(given):
        return _with_campaign(str(given), what)
    return files.as_path(given, what)


def as_file(given: Any, what: str) -> Path:
    """The path that a user means, where only a file will do."""
    if isinstance(given, DatabaseAddress) or is_meant_as_address(given):
        raise UnimodalError(
            f"{what} must be a file's name, got the address of a database (it is not shown, since "
            "a password may be in it): name a file; its name may begin with ./."
        )
    return files.as_path(given, what)


def is_meant_as_address(given: Any) -> bool:
    """Whether a text is no path: an address, perhaps a misspelt one.

    >>> [is_meant_as_address(text) for text in ("PostgreSQL://host/shop", "mysql://host", "a.db")]
    [True, True, False]
    """
    return isinstance(given, str | Path) and bool(_MEANT_AS_ADDRESS.match(str(given)))


def as_database(given: str, what: str) -> DatabaseAddress:
    """The address of a database, which names no campaign."""
    address, names = _read(given, what)
    if names:
        raise UnimodalError(
            f"{what} must be a database, {_SUCH_AS}, got a campaign of {address}: leave campaign=… "
            "out."
        )
    return address


def _with_campaign(text: str, what: str) -> DatabaseAddress:
    address, names = _read(text, what)
    if len(names) != 1 or not names[0]:
        raise UnimodalError(
            f"{what} in a database must name one campaign, {_SUCH_AS}?campaign=prices, got "
            f"{len(names) or 'none'} in {address}: add campaign=…."
        )
    if len(names[0]) > _LONGEST or not names[0].isprintable():
        raise UnimodalError(
            f"the name of a campaign must have at most {_LONGEST} printable characters, "
            f"got {names[0][:_LONGEST]!r}: choose another."
        )
    return DatabaseAddress(address.conninfo, names[0])


def _read(text: str, what: str) -> tuple[DatabaseAddress, list[str]]:
    """An address without the campaigns that it names, and those."""
    found, parts = _PARTS.fullmatch(text), _parts(text)
    is_right = all(_ALLOWED[name].fullmatch(part) for name, part in parts.items())
    if not (found and is_right and text.isprintable()):
        raise StoreError(
            f"{what} must be an address that libpq reads, {_SUCH_AS}, or the path of a file, got "
            "neither (it is not shown, since a password may be in it): write %2F for /, %40 for @, "
            "%3F for ?, %23 for # and %25 for % in a password, or leave it to PGPASSWORD or a "
            "password file; a file's name may begin with ./."
        )
    pairs = [pair for pair in parts["query"].split("&") if pair]
    names = [unquote(pair.partition("=")[2]) for pair in pairs if _key(pair) == "campaign"]
    rest = "&".join(pair for pair in pairs if _key(pair) != "campaign")
    scheme, _, base = text[: max(found.end("hosts"), found.end("database"))].partition(":")
    base = f"{scheme.lower()}:{base}"
    return DatabaseAddress(f"{base}?{rest}" if rest else base, ""), names


def _parts(text: str) -> dict[str, str]:
    found = _PARTS.fullmatch(text)
    return {name: (found and found[name]) or "" for name in _ALLOWED}


def _key(pair: str) -> str:
    return unquote(pair.partition("=")[0])
