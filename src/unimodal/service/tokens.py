"""Bearer tokens: a file of hashes, who may do what, and a comparison in constant time.

A token is `um_<id>_<secret>` with 256 random bits in the secret, so that one round of SHA-256 is
enough: there is nothing to guess. The file has the hash only; the token is shown once, when it is
made. A token may expire; `rotate` puts another one in the place of one.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import logging
import math
import os
import re
import secrets
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from unimodal import files
from unimodal.errors import NotAuthenticated, UnimodalError, unknown_name
from unimodal.escape_text import printable
from unimodal.service.limits import NAME

try:
    import fcntl
except ImportError:  # not on this system: two commands at once are the owner's to avoid
    fcntl = None  # type: ignore[assignment]

_log = logging.getLogger("unimodal")
ROLES = ("decide", "read", "admin")
_FORM = re.compile(r"um_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}
_OTHERS_WRITE = 0o022  # of a mode
_NOBODY = hashlib.sha256(b"").hexdigest()  # compared where the id is unknown


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
    kept = Token(number, str(name), chosen, covered, _hash(secret), now, expires)
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


def read(path: Path) -> dict[str, Token]:
    """The tokens of a file, by id; none where there is no file."""
    try:
        rows = json.loads(_text_of_owner(path))["tokens"]
        tokens = [Token(**{**row, **_tuples(row)}) for row in rows]
        if any(not re.fullmatch("[0-9a-f]{64}", token.sha256) for token in tokens):
            raise ValueError("no hash")
        if not all(one.expires is None or math.isfinite(one.expires) for one in tokens):
            raise ValueError("no time")
        return {token.id: token for token in tokens}
    except UnimodalError:
        raise
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise UnimodalError(
            f"the token file {path} cannot be read: {error.strerror or error}."
        ) from None
    except (ValueError, TypeError, KeyError, AttributeError):
        raise UnimodalError(
            f"{path} must be a token file, as `unimodal token add` writes it, got something else: "
            "make a new one, or go back to a copy."
        ) from None


def _text_of_owner(path: Path) -> str:
    """What a file has in it; refused if others than its owner could have written that."""
    with open(path, encoding="utf-8") as file:
        modes = [(path, os.fstat(file.fileno()).st_mode & _OTHERS_WRITE)]
        folder = os.stat(path.parent).st_mode  # with the sticky bit nobody can replace a file
        modes += [(path.parent, folder & 0o002 and not folder & stat.S_ISVTX)]
        for place, is_open in modes:
            if is_open and os.name == "posix":
                raise UnimodalError(
                    f"others than its owner may write {place}, so that they could make tokens for "
                    f"themselves: `chmod go-w {place}`, and look with `unimodal token list` for "
                    "strange ones."
                )
        return file.read()


def write(path: Path, tokens: Iterable[Token]) -> None:
    """Keep tokens in a file that only its owner can read, or whoever its owner has let."""
    data = {"tokens": [_row(token) for token in tokens]}
    text = json.dumps(data, indent=2) + "\n"
    files.write(path, lambda to: to.write_text(text, encoding="utf-8"), files.private_mode(path))


@contextlib.contextmanager
def changing(path: Path) -> Iterator[dict[str, Token]]:
    """The tokens of a file, by id, which are kept as they are at the end.

    Nobody else changes the file meanwhile, or a token that was withdrawn could come back.
    """
    with _locked(path.parent):
        tokens = read(path)
        yield tokens
        write(path, tokens.values())


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Wait until no other process changes a token file of this folder; no lock file is left."""
    if fcntl is None or not folder.is_dir():
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


class TokenFile:
    """The tokens that a service knows; the file is read again when it has changed."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self._path, self._clock = path, clock
        self._tokens = read(path)
        self._stamp = self._stamped()
        self._looked = time.monotonic()
        if not self._tokens:
            raise UnimodalError(
                f"the token file {path} has no token in it: make one with `unimodal token add "
                f"{path} --role admin`."
            )

    def token_of(self, bearer: str) -> Token:
        """The token that was sent, or `NotAuthenticated`."""
        self._refresh()
        form = _FORM.fullmatch(bearer)
        kept = self._tokens.get(form[1]) if form else None
        right = hmac.compare_digest(
            _hash(form[2]) if form else _NOBODY, kept.sha256 if kept else _NOBODY[::-1]
        )
        if kept is None or not right:
            raise NotAuthenticated(
                "the service does not know this token: check it, or have its owner make one with "
                "`unimodal token add`."
            )
        if kept.is_over(self._clock()):
            raise NotAuthenticated(
                "this token has expired: have its owner make another with `unimodal token rotate`."
            )
        return kept

    def name_of(self, bearer: str) -> str:
        """Which token somebody wanted to use, for a log, which must not have the token itself."""
        form = _FORM.fullmatch(bearer)
        kept = self._tokens.get(form[1]) if form else None
        return "of no known id" if kept is None else f"{kept.id} {printable(kept.name)!r:.80}"

    def by_id(self, number: str) -> Token | None:
        """A token that is still in the file, and has not expired."""
        self._refresh()
        kept = self._tokens.get(number)
        return None if kept is None or kept.is_over(self._clock()) else kept

    def _refresh(self) -> None:
        now = time.monotonic()
        if now - self._looked < 1.0:
            return
        self._looked = now
        if (stamp := self._stamped()) != self._stamp:
            try:
                self._tokens, self._stamp = read(self._path), stamp
            except UnimodalError as error:  # a mistake in it must not lock all out
                _log.error("the tokens of before are in force: %s", printable(error))

    def _stamped(self) -> Any:
        try:
            status = os.stat(self._path)
            return status.st_mtime_ns, status.st_size, status.st_ino
        except OSError:
            return None


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _row(token: Token) -> dict[str, Any]:
    """What the file has of a token; without an expiry it is what earlier versions read."""
    return {name: value for name, value in asdict(token).items() if value is not None}


def _tuples(row: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(row[name]) for name in ("roles", "campaigns")}
