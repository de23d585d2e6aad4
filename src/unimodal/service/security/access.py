"""Who may do what: a bearer token or a session, its roles, its campaigns, its rate."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from fastapi import Request
from fastapi.security import APIKeyCookie, HTTPBearer

from unimodal.errors import NotAllowed, NotAuthenticated
from unimodal.service.security.request_rates import RequestRates
from unimodal.service.security.sessions import COOKIE, CSRF_HEADER, Session, Sessions, cookie_name
from unimodal.service.security.token_file import TokenFile
from unimodal.service.security.tokens import EVERYTHING, Token
from unimodal.service.server.quiet_log import QuietLog

# Only for the description: they are read in `Access`, in less time.
BEARER = HTTPBearer(auto_error=False, description="A token that `unimodal token add` made")
SESSION = APIKeyCookie(name=COOKIE, auto_error=False, description="The cookie of POST /session")
# The token that asks in this task, so that none takes more than its share; "" where there are none.
ASKING: ContextVar[str] = ContextVar("asking", default="")
_READING = ("GET", "HEAD", "OPTIONS")


class Access:
    """Finds out who asks; without a token file, on loopback only, all are admins."""

    def __init__(self, tokens: TokenFile | None, sessions: Sessions, rate: float) -> None:
        self.tokens, self.sessions = tokens, sessions
        self._rates, self._strangers = RequestRates(rate), RequestRates(rate)
        self.quiet = QuietLog()  # for what strangers can cause

    def token_of(self, request: Request) -> Token:
        """The token of a request, whose rate is counted; `NotAuthenticated` if it has none."""
        token = self._token_of(request)
        ASKING.set("" if self.tokens is None else token.id)
        self._rates.take(token.id)
        return token

    def check_known(self, request: Request) -> None:
        """Refuse a request without a token or a session; its rate is counted when it is done."""
        self._token_of(request)

    def known(self, request: Request, sent: str) -> Token:
        """The token that was sent to log in, whose rate is counted."""
        token = self._token_sent(request, sent)
        self._rates.take(token.id)
        return token

    def _token_of(self, request: Request) -> Token:
        bearer = request.headers.get("authorization")
        if bearer is not None and self.tokens is not None:
            kind, _, sent = bearer.partition(" ")
            if kind.lower() != "bearer":
                self.count_stranger(request)
                raise NotAuthenticated(
                    "the header Authorization must be 'Bearer <token>', got another kind: send a "
                    "token that `unimodal token add` made."
                )
            return self._token_sent(request, sent.strip())
        session = self.session_of(request)
        if session is not None:
            self._check_csrf(request, session)
            return self._token_in(session)
        if self.tokens is None:
            return EVERYTHING
        self.count_stranger(request)
        raise NotAuthenticated(
            "a token is needed, got none: send the header 'Authorization: Bearer <token>'; its "
            "owner makes one with `unimodal token add`."
        )

    def _token_sent(self, request: Request, sent: str) -> Token:
        """The token that was sent; of one that is wrong the log has the name, never the text."""
        if self.tokens is None:
            return EVERYTHING
        try:
            return self.tokens.token_of(sent)
        except NotAuthenticated as error:
            name, address = self.tokens.name_of(sent), address_of(request)
            self.quiet.warning(f"a log-in failed (token %s, from %s): {error}", name, address)
            self.count_stranger(request)
            raise

    def count_stranger(self, request: Request) -> None:
        """Count a request of somebody without a token, by its address; refused if there are many.

        Whoever has a token is not refused for what others at the same address do.
        """
        self._strangers.take(address_of(request), "without a token this address may ask")

    def session_of(self, request: Request) -> Session | None:
        """The session of a request's cookie, if it has one that holds."""
        if "cookie" not in request.headers:
            return None
        cookie = request.cookies.get(cookie_name(request))
        session = self.sessions.read(cookie) if cookie else None
        if session is None or (self.tokens and self.tokens.by_id(session.token_id) is None):
            return None
        return session

    def session_and_token(self, request: Request) -> tuple[Session, Token]:
        """The session of a request and its token, whose rate is counted."""
        session = self.session_of(request)
        if session is None:
            self.count_stranger(request)
            raise NotAuthenticated("there is no session: log in with a token first.")
        token = self._token_in(session)
        self._rates.take(token.id)
        return session, token

    def _token_in(self, session: Session) -> Token:
        token = EVERYTHING if self.tokens is None else self.tokens.by_id(session.token_id)
        if token is None:
            raise NotAuthenticated("the token of this session was withdrawn: log in again.")
        return token

    def _check_csrf(self, request: Request, session: Session) -> None:
        if request.method in _READING:
            return
        if not self.sessions.is_csrf(session, request.headers.get(CSRF_HEADER, "")):
            raise NotAllowed(
                "a change in a session needs its CSRF token in the header X-CSRF-Token, got none "
                "or another: reload the page."
            )


def address_of(request: Request) -> str:
    """Where a request came from; of IPv6 the part that is one customer's."""
    host = request.client.host if request.client else "nowhere"
    if ":" not in host:
        return host
    try:
        return str(ipaddress.ip_network((host.partition("%")[0], 64), strict=False))
    except ValueError:
        return host


def check(token: Token, role: str, campaign: str | None) -> None:
    """Refuse a token whose role or campaigns do not cover a request."""
    if not token.may(role):
        raise NotAllowed(
            f"this takes a token with the role {role}, got {' and '.join(token.roles)}: have its "
            "owner make one."
        )
    if campaign is not None and not token.sees(campaign):
        raise NotAllowed(
            f"this token is for {', '.join(token.campaigns)}, not for {campaign}: have its owner "
            "make another."
        )


def allow(role: str) -> Callable[..., Any]:
    """A dependency of an endpoint: the token of the request, which must cover this role."""

    async def allowed(request: Request) -> Token:
        token = request.app.state.service.access.token_of(request)
        check(token, role, request.path_params.get("name"))
        return token  # type: ignore[no-any-return]

    return allowed
