"""The file of tokens: of each its hash, and who may do what; read again when it has changed."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import logging
import math
import os
import re
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from unimodal import files
from unimodal.errors import NotAuthenticated, UnimodalError
from unimodal.escape_text import printable
from unimodal.service.security.tokens import FORM, Token, secret_hash

try:
    import fcntl
except ImportError:  # not on this system: two commands at once are the owner's to avoid
    fcntl = None  # type: ignore[assignment]

_log = logging.getLogger("unimodal")
_OTHERS_WRITE = 0o022  # of a mode
_NO_HASH = hashlib.sha256(b"").hexdigest()  # compared where the id is unknown


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
        for written, is_open in modes:
            if is_open and os.name == "posix":
                raise UnimodalError(
                    f"others than its owner may write {written}, so that they could make tokens "
                    f"for themselves: `chmod go-w {written}`, and look with `unimodal token list` "
                    "for strange ones."
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
        form = FORM.fullmatch(bearer)
        kept = self._tokens.get(form[1]) if form else None
        right = hmac.compare_digest(
            secret_hash(form[2]) if form else _NO_HASH, kept.sha256 if kept else _NO_HASH[::-1]
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
        form = FORM.fullmatch(bearer)
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


def _row(token: Token) -> dict[str, Any]:
    """What the file has of a token; without an expiry it is what earlier versions read."""
    return {name: value for name, value in asdict(token).items() if value is not None}


def _tuples(row: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(row[name]) for name in ("roles", "campaigns")}
