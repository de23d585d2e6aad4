"""Sessions of the dashboard: a token exchanged for a signed cookie, and CSRF tokens.

A cookie says which token logged in and until when, signed with a key of the service, so that
servers which share the key (UNIMODAL_SESSION_KEY) share sessions. It ends when it expires, when the
token is taken out of its file, and when its owner logs out; the last is remembered by the server
that was told.
"""

from __future__ import annotations

import base64
import hashlib
import heapq
import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

COOKIE = "unimodal_session"
CSRF_HEADER = "x-csrf-token"
LASTS = 12 * 3600.0  # seconds


def cookie_name(request: Request) -> str:
    """The name of the cookie; under TLS one that only this host can set, for all of its paths."""
    return f"__Host-{COOKIE}" if request.url.scheme == "https" else COOKIE


def set_cookie(answer: Response, request: Request, value: str) -> None:
    """Have a browser keep a session, or forget it if the value is empty."""
    lasts = int(LASTS) if value else 0
    secure = request.url.scheme == "https"
    named: Any = {"max_age": lasts, "httponly": True, "samesite": "strict", "secure": secure}
    answer.set_cookie(cookie_name(request), value, **named)


@dataclass(frozen=True)
class Session:
    """Who has logged in, and until when."""

    token_id: str
    expires: float
    nonce: str

    @property
    def text(self) -> str:
        """What is signed."""
        return f"{self.token_id}.{self.expires:.0f}.{self.nonce}"


class Sessions:
    """Makes cookies and reads them.

    >>> sessions = Sessions(b"k" * 32, clock=lambda: 0.0)
    >>> session = sessions.begin("0a")
    >>> sessions.read(sessions.cookie(session)) == session
    True
    >>> sessions.read(sessions.cookie(session) + "x") is None
    True
    """

    def __init__(self, key: bytes, clock: Callable[[], float] = time.time) -> None:
        self._key = hashlib.sha256(b"unimodal session" + key).digest()
        self._clock = clock
        self._ended: set[str] = set()  # nonces, until they would have expired
        self._expiries: list[tuple[float, str]] = []  # a heap of them

    def begin(self, token_id: str) -> Session:
        """A new session of a token."""
        return Session(token_id, float(int(self._clock() + LASTS)), secrets.token_hex(16))

    def cookie(self, session: Session) -> str:
        """The value of its cookie."""
        return f"{session.text}.{self._sign('session', session)}"

    def csrf(self, session: Session) -> str:
        """What every change in this session has to bring in a header."""
        return self._sign("csrf", session)

    def read(self, cookie: str) -> Session | None:
        """The session of a cookie; None if it is not ours, has expired or was ended."""
        parts = cookie.split(".")
        if len(parts) != 4 or not parts[1].isdecimal() or len(parts[1]) > 12:
            return None
        session = Session(parts[0], float(parts[1]), parts[2])
        is_ours = hmac.compare_digest(
            self._sign("session", session).encode(), parts[3].encode("utf-8", "replace")
        )
        is_over = session.expires <= self._clock() or session.nonce in self._ended
        return session if is_ours and not is_over else None

    def is_csrf(self, session: Session, sent: str) -> bool:
        """Whether a change brought what it has to."""
        return hmac.compare_digest(self.csrf(session).encode(), sent.encode("utf-8", "replace"))

    def end(self, session: Session) -> None:
        """Log out."""
        if session.nonce not in self._ended:
            self._ended.add(session.nonce)
            heapq.heappush(self._expiries, (session.expires, session.nonce))
        while self._expiries and self._expiries[0][0] <= self._clock():
            self._ended.discard(heapq.heappop(self._expiries)[1])

    def _sign(self, purpose: str, session: Session) -> str:
        text = f"{purpose}:{session.text}".encode("utf-8", "replace")
        made = hmac.new(self._key, text, hashlib.sha256).digest()
        return base64.urlsafe_b64encode(made).decode().rstrip("=")
