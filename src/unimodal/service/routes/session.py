"""Logging in: a token is exchanged for a cookie, since EventSource cannot send a bearer header."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from unimodal.errors import NotAllowed, NotAuthenticated
from unimodal.service import problems
from unimodal.service.answers import as_json
from unimodal.service.models import DoneAnswer, SessionAnswer, SessionBody
from unimodal.service.service import Service, service_of
from unimodal.service.sessions import COOKIE, CSRF_HEADER, LASTS, Session
from unimodal.service.tokens import EVERYTHING, Token

router = APIRouter(prefix="/session", tags=["session"])


@router.post(
    "", operation_id="log_in", response_model=SessionAnswer, responses=problems.responses()
)
async def log_in(request: Request, body: SessionBody) -> Response:
    """Exchange a token for a cookie: HttpOnly, SameSite=Strict, for twelve hours."""
    access = service_of(request).access
    token = EVERYTHING if access.tokens is None else access.tokens.token_of(body.token)
    session = access.sessions.begin(token.id)
    answer = _told(service_of(request), session, token)
    answer.set_cookie(
        COOKIE,
        access.sessions.cookie(session),
        max_age=int(LASTS),
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return answer


@router.get(
    "", operation_id="read_session", response_model=SessionAnswer, responses=problems.responses()
)
async def read_session(request: Request) -> Response:
    """Say who has logged in, and tell the CSRF token again."""
    service = service_of(request)
    session = service.access.session_of(request)
    if session is None:
        raise NotAuthenticated("there is no session: log in with a token first.")
    tokens = service.access.tokens
    token = EVERYTHING if tokens is None else tokens.by_id(session.token_id)
    return _told(service, session, token or EVERYTHING)


@router.delete(
    "", operation_id="log_out", response_model=DoneAnswer, responses=problems.responses()
)
async def log_out(request: Request) -> Response:
    """End the session; its cookie is worth nothing from then on."""
    access = service_of(request).access
    session = access.session_of(request)
    if session is not None:
        if not access.sessions.is_csrf(session, request.headers.get(CSRF_HEADER, "")):
            raise NotAllowed("logging out needs the header X-CSRF-Token: reload the page.")
        access.sessions.end(session)
    answer = as_json({"done": True})
    answer.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return answer


def _told(service: Service, session: Session, token: Token) -> Response:
    return as_json(
        {
            "name": token.name,
            "roles": list(token.roles),
            "csrf": service.access.sessions.csrf(session),
            "expires": session.expires,
        }
    )
