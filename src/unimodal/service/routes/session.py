"""Logging in: a token is exchanged for a cookie, since EventSource cannot send a bearer header."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from unimodal.errors import NotAllowed
from unimodal.service.http import problem_documents
from unimodal.service.http.json_answers import as_json
from unimodal.service.http.models import DoneAnswer, SessionAnswer, SessionBody
from unimodal.service.security.sessions import CSRF_HEADER, Session, set_cookie
from unimodal.service.security.tokens import Token
from unimodal.service.service import Service, service_of

router = APIRouter(prefix="/session", tags=["session"])


@router.post(
    "", operation_id="log_in", response_model=SessionAnswer, responses=problem_documents.responses()
)
async def log_in(request: Request, body: SessionBody) -> Response:
    """Exchange a token for a cookie: HttpOnly, SameSite=Strict, for twelve hours."""
    service = service_of(request)
    token = service.access.known(request, body.token)
    session = service.access.sessions.begin(token.id)
    answer = _session_answer(service, session, token)
    set_cookie(answer, request, service.access.sessions.cookie(session))
    return answer


@router.get(
    "",
    operation_id="read_session",
    response_model=SessionAnswer,
    responses=problem_documents.responses(),
)
async def read_session(request: Request) -> Response:
    """Say who has logged in, and tell the CSRF token again."""
    service = service_of(request)
    session, token = service.access.session_and_token(request)
    return _session_answer(service, session, token)


@router.delete(
    "", operation_id="log_out", response_model=DoneAnswer, responses=problem_documents.responses()
)
async def log_out(request: Request) -> Response:
    """End the session; its cookie is worth nothing from then on."""
    access = service_of(request).access
    if access.session_of(request) is None:
        access.count_stranger(request)
    else:
        session, _ = access.session_and_token(request)
        if not access.sessions.is_csrf(session, request.headers.get(CSRF_HEADER, "")):
            raise NotAllowed("logging out needs the header X-CSRF-Token: reload the page.")
        access.sessions.end(session)
    answer = as_json({"done": True})
    set_cookie(answer, request, "")
    return answer


def _session_answer(service: Service, session: Session, token: Token) -> Response:
    return as_json(
        {
            "name": token.name,
            "roles": list(token.roles),
            "csrf": service.access.sessions.csrf(session),
            "expires": session.expires,
        }
    )
