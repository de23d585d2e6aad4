"""The pages for people, and the data and the events by which they live."""

from __future__ import annotations

import re
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import RedirectResponse
from starlette.exceptions import HTTPException

from unimodal.errors import NotAuthenticated, UnimodalError
from unimodal.service.campaigns.open_campaigns import unknown_campaign
from unimodal.service.dashboard import pages
from unimodal.service.dashboard.event_stream import stream
from unimodal.service.dashboard.watched import Dashboard
from unimodal.service.http.json_answers import as_json, finite
from unimodal.service.http.models import Name
from unimodal.service.http.problem_documents import status_of
from unimodal.service.limits import NAME
from unimodal.service.security.access import allow, check
from unimodal.service.security.sessions import set_cookie
from unimodal.service.security.tokens import EVERYTHING, Token
from unimodal.service.service import Service, service_of

router = APIRouter(include_in_schema=False)
May = Annotated[Token, Depends(allow("read"))]
_MOST = 200  # campaigns in the list
_INSIDE = re.compile(r"/(campaigns/[a-z0-9][a-z0-9_-]{0,62})?")  # where signing in may lead


def dashboard_of(request: Request) -> Dashboard:
    """What the dashboard of this application keeps."""
    state: Any = request.app.state
    if not hasattr(state, "dashboard"):
        state.dashboard = Dashboard(service_of(request))
    return state.dashboard  # type: ignore[no-any-return]


# Pages.


@router.get("/")
async def all_campaigns(request: Request) -> Response:
    """All campaigns at a glance."""
    return _page(request, "campaigns.html.j2", None)


@router.get("/campaigns/{name}")
async def one_campaign(request: Request, name: str) -> Response:
    """One campaign."""
    service = service_of(request)
    if not re.fullmatch(NAME, name):
        return _refused(unknown_campaign(name))
    answer = _page(request, "campaign.html.j2", name)
    if answer.status_code == 200:
        there = await service.queue.manage_aside(lambda: service.catalog.has(name))
        if not there:
            return _refused(unknown_campaign(name))
    return answer


@router.get("/sign-in")
async def sign_in(request: Request, then: str = "/") -> Response:
    """Where a token is exchanged for a session."""
    service = service_of(request)
    then = then if _INSIDE.fullmatch(then) else "/"
    if service.access.tokens is None or service.access.session_of(request) is not None:
        return RedirectResponse(then, 303)
    return pages.html("sign-in.html.j2", then=then)


@router.get("/static/{build}/{path:path}")
async def static(build: str, path: str) -> Response:
    """A script, a style sheet, a picture."""
    found = pages.static(build, path)
    if found is None:
        raise HTTPException(404)
    return found


def _page(request: Request, template: str, campaign: str | None) -> Response:
    service = service_of(request)
    try:
        token = service.access.token_of(request)
        check(token, "read", campaign)
    except NotAuthenticated:
        return RedirectResponse(f"/sign-in?then={quote(request.url.path)}", 303)
    except UnimodalError as error:
        return _refused(error)
    admin = token.may("admin", campaign)
    guarded = service.access.tokens is not None
    answer = pages.html(template, campaign=campaign, token=token, admin=admin, guarded=guarded)
    if not guarded and service.access.session_of(request) is None:
        _begin_session(request, service, answer)
    return answer


def _begin_session(request: Request, service: Service, answer: Response) -> None:
    """Without tokens a page has a session all the same, for the sake of its CSRF token."""
    sessions = service.access.sessions
    set_cookie(answer, request, sessions.cookie(sessions.begin(EVERYTHING.id)))


def _refused(error: UnimodalError) -> Response:
    return pages.html("refused.html.j2", status_of(error), sentence=str(error))


# Data.


def _names(service: Service, token: Token) -> list[str]:
    return [name for name in service.catalog.names() if token.sees(name)][:_MOST]


@router.get("/dashboard/campaigns")
async def campaigns_data(request: Request, token: May) -> Response:
    """One row per campaign that the token is for."""
    service = service_of(request)
    names = await service.queue.manage_aside(lambda: _names(service, token))
    rows = await dashboard_of(request).overview(names)
    return as_json({"campaigns": finite(rows), "note": service.note})


@router.get("/dashboard/campaigns/{name}", dependencies=[Depends(allow("read"))])
async def campaign_data(
    request: Request,
    name: Name,
    have: Annotated[str, Query(max_length=400, pattern="^[0-9a-f.]*$")] = "",
) -> Response:
    """What has changed of a campaign: sections whose digest the page does not have."""
    return as_json(await dashboard_of(request).campaign(name, set(have.split("."))))


@router.get("/dashboard/events")
async def campaigns_events(request: Request, token: May) -> Response:
    """A line whenever one of the campaigns has something new."""
    service, dashboard = service_of(request), dashboard_of(request)

    async def version() -> int:
        names = await service.queue.manage_aside(lambda: _names(service, token))
        found = [(await dashboard.followed(name)).version for name in names]
        return sum(found) + len(found)

    return stream(request, dashboard, token, version)


@router.get("/dashboard/campaigns/{name}/events")
async def campaign_events(request: Request, name: Name, token: May) -> Response:
    """A line whenever a campaign has something new."""
    dashboard = dashboard_of(request)

    async def version() -> int:
        return (await dashboard.followed(name)).version

    await version()  # which refuses a campaign that is not there
    return stream(request, dashboard, token, version)
