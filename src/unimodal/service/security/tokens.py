"""Bearer tokens: a file of hashes, who may do what, and a comparison in constant time.

A token is `um_<id>_<secret>` with 256 random bits in the secret, so that one round of SHA-256 is
enough: there is nothing to guess. The file has the hash only; the token is shown once, when it is
made. A token may expire; `rotate` puts another one in the place of one.
"""

from __future__ import annotations

import hashlib
import math
import re
import secrets
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace

from unimodal.errors import UnimodalError, unknown_name
from unimodal.service.limits import NAME

ROLES = ("decide", "read", "admin")
FORM = re.compile(r"um_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}


@dataclass(frozen=True)
class Token:
    """What the file has of a token; `campaigns` is empty where it is for all of them."""

    id: str
    name: str
    roles: tuple[str, ...]
    campaigns: tuple[str, ...]
    sha256: str
    created: float
    expires: float | None = None

    def may(self, role: str, campaign: str | None = None) -> bool:
        """Whether it covers a role, for a campaign; an admin may do all.

        >>> shop = Token("0", "shop", ("decide",), ("prices",), "", 0.0)
        >>> shop.may("decide", "prices"), shop.may("read", "prices"), shop.may("decide", "ads")
        (True, False, False)
        """
        has_role = role in self.roles or "admin" in self.roles
        return has_role and (campaign is None or self.sees(campaign))

    def sees(self, campaign: str) -> bool:
        """Whether it is for this campaign."""
        return not self.campaigns or campaign in self.campaigns

    def is_over(self, now: float) -> bool:
        """Whether it has expired."""
        return self.expires is not None and self.expires <= now


EVERYTHING = Token("", "nobody (no token file)", ("admin",), (), "", 0.0)


def seconds_of(text: str) -> float:
    """A length of time.

    >>> seconds_of("90d"), seconds_of("12h")
    (7776000.0, 43200.0)
    """
    found = re.fullmatch(r"([0-9]{1,9})([smhdw])", text)
    if found is None:
        raise UnimodalError(
            f"a length of time must be a number with s, m, h, d or w behind it, such as 90d, got "
            f"{text!r:.80}: write it so."
        )
    return float(found[1]) * _UNITS[found[2]]


def make(
    name: str,
    roles: Iterable[str],
    campaigns: Iterable[str] = (),
    lasts: float | None = None,
) -> tuple[str, Token]:
    """A new token, to be shown once, and what is to be kept of it; it `lasts` so many seconds."""
    chosen = tuple(dict.fromkeys(roles))
    for role in chosen:
        if role not in ROLES:
            raise unknown_name("role", role, ROLES)
    if not chosen:
        raise UnimodalError(f"a token must have a role, got none: name one of {', '.join(ROLES)}.")
    for campaign in (covered := tuple(dict.fromkeys(campaigns))):
        if not re.fullmatch(NAME, campaign):
            raise UnimodalError(f"a campaign is named by a-z, 0-9, - and _, got {campaign!r}.")
    number, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    now = time.time()
    expires = None if lasts is None else now + lasts
    kept = Token(number, str(name), chosen, covered, secret_hash(secret), now, expires)
    return f"um_{number}_{secret}", kept


def rotate(
    known: dict[str, Token], which: str, lasts: float | None = None, grace: float = 0.0
) -> tuple[str, Token]:
    """A new token in the place of one, named by name or id, which ends now or after a `grace`.

    It lasts as long as the other one did, if nothing else is said.
    """
    now = time.time()
    named = [one for one in known.values() if which in (one.id, one.name)]
    found = [one for one in named if not one.is_over(now)] or named
    if not found:
        names = [name for one in known.values() for name in (one.name, one.id) if name]
        raise unknown_name("token", which, names)
    if len(found) > 1:
        raise UnimodalError(
            f"one token must be named, got {which!r:.80}, as {len(found)} are: name an id, one of "
            f"{', '.join(one.id for one in found)}."
        )
    old = found[0]
    if lasts is None and old.expires is not None:
        lasts = old.expires - old.created
    text, new = make(old.name, old.roles, old.campaigns, lasts)
    del known[old.id]
    ends = min(now + grace, math.inf if old.expires is None else old.expires)
    if ends > now:
        known[old.id] = replace(old, expires=ends)
    known[new.id] = new
    return text, new


def secret_hash(secret: str) -> str:
    """What is kept of a token."""
    return hashlib.sha256(secret.encode()).hexdigest()
