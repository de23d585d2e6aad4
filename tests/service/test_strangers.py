"""Those without a token, or without one that holds: what they may do, and what is logged of it."""

import asyncio
import contextlib
import functools
import re
import time
from pathlib import Path

import httpx
import pytest
from starlette.requests import Request

from unimodal.errors import TooManyRequests
from unimodal.service.app import create_app
from unimodal.service.dashboard import event_stream
from unimodal.service.limits import ServiceLimits
from unimodal.service.security import access, request_rates, token_file, tokens
from unimodal.service.security.request_rates import RequestRates
from unimodal.service.security.sessions import Session, Sessions

ADMIN, KEPT = tokens.make("boss", ["admin"])
WRONG = f"um_{'0' * 12}_{'A' * 43}"


def kind(answer):
    return answer.status_code, answer.json()["type"].rpartition(":")[2]


def app_of(folder, *more, **named):
    token_file.write(folder / "tokens.json", [KEPT, *more])
    return create_app(folder / "store", folder / "tokens.json", **named)


@contextlib.asynccontextmanager
async def asking(app, address="192.0.2.7", url="http://shop.example"):
    transport = httpx.ASGITransport(app, client=(address, 1))
    async with httpx.AsyncClient(transport=transport, base_url=url) as http:
        yield http


# Rates.


def still(app, monkeypatch):
    """Let no bucket be filled while a test runs."""
    for rates in (app.state.service.access._rates, app.state.service.access._strangers):
        monkeypatch.setattr(rates, "_clock", lambda: 0.0)


@pytest.mark.parametrize(
    ("method", "path", "named"),
    [
        ("POST", "/session", {"json": {"token": WRONG}}),
        ("GET", "/session", {}),
        ("DELETE", "/session", {}),
        ("GET", "/v1/campaigns", {}),
        ("GET", "/v1/campaigns", {"headers": {"Authorization": f"Bearer {WRONG}"}}),
        ("GET", "/v1/campaigns", {"headers": {"Authorization": "Basic eDp5"}}),
        ("POST", "/v1/campaigns/x/decisions", {"headers": {"Authorization": f"Bearer {WRONG}"}}),
    ],
)
def test_strangers_have_a_rate_and_lock_nobody_out(tmp_path, monkeypatch, method, path, named):
    app = app_of(tmp_path, limits=ServiceLimits(rate=5.0))
    still(app, monkeypatch)

    async def check():
        async with asking(app) as http, asking(app, "192.0.2.8") as other:
            found = [await http.request(method, path, **named) for _ in range(60)]
            codes = [answer.status_code for answer in found]
            assert 429 not in codes[:5] and set(codes[5:]) == {429}
            assert kind(found[-1]) == (429, "TooManyRequests")
            assert (await other.request(method, path, **named)).status_code != 429
            owner = await http.get("/v1/campaigns", headers={"Authorization": f"Bearer {ADMIN}"})
            assert owner.status_code == 200  # at the same address
            assert (await http.post("/session", json={"token": ADMIN})).status_code == 200

    asyncio.run(check())


def test_logging_in_and_reading_a_session_count_for_its_token(tmp_path, monkeypatch):
    app = app_of(tmp_path, limits=ServiceLimits(rate=5.0))
    still(app, monkeypatch)

    async def check():
        async with asking(app) as http:
            for _ in range(2):
                assert (await http.post("/session", json={"token": ADMIN})).status_code == 200
            for _ in range(3):
                assert (await http.get("/session")).status_code == 200
            assert kind(await http.get("/session")) == (429, "TooManyRequests")
            assert kind(await http.delete("/session")) == (429, "TooManyRequests")
            assert kind(await http.post("/session", json={"token": ADMIN}))[0] == 429

    asyncio.run(check())


def test_with_less_than_one_per_second_the_first_is_let_through():
    now = [0.0]
    rates = RequestRates(0.1, clock=lambda: now[0])
    rates.take("a")
    with pytest.raises(TooManyRequests, match=r"0\.1 times per second.* wait 10 s") as refused:
        rates.take("a")
    assert refused.value.seconds == 10
    now[0] = 9.9
    with pytest.raises(TooManyRequests):
        rates.take("a")
    now[0] = 10.1
    rates.take("a")


def test_how_long_to_wait_is_told(tmp_path, monkeypatch):
    app = app_of(tmp_path, limits=ServiceLimits(rate=0.1))
    still(app, monkeypatch)

    async def check():
        async with asking(app) as http:
            assert (await http.get("/v1/campaigns")).status_code == 401
            refused = await http.get("/v1/campaigns")
            assert refused.status_code == 429 and refused.headers["retry-after"] == "10"

    asyncio.run(check())


@pytest.mark.parametrize("rate", [0.5, 1.0, 3.0, 5.5])
def test_a_bucket_does_not_grow_in_a_pause(rate):
    """Neither in one long pause, nor in many: as many at once as in one second, or one."""
    now = [0.0]
    rates = RequestRates(rate, clock=lambda: now[0])

    def at_once():
        for found in range(100):
            try:
                rates.take("a")
            except TooManyRequests:
                return found
        raise AssertionError("no limit")

    most = max(int(rate), 1)
    for pause in (0.0, 1e6, 1e9, 2.0 / rate + 1.0):
        now[0] += pause
        assert at_once() == most
    for _ in range(50):  # asked in vain meanwhile, or not at all
        now[0] += 100.0
    assert at_once() == most


def test_strangers_do_not_fill_the_memory_with_addresses(monkeypatch):
    monkeypatch.setattr(request_rates, "_MOST_BUCKETS", 10)
    rates = RequestRates(1.0, clock=lambda: 0.0)
    rates.take("busy")
    for number in range(1000):
        rates.take(f"10.0.0.{number}")
        with pytest.raises(TooManyRequests):
            rates.take("busy")  # who comes again is not forgotten
    assert len(rates._buckets) == 10


@pytest.mark.parametrize(
    ("client", "address"),
    [
        (("192.0.2.7", 1), "192.0.2.7"),
        (("2001:db8:1:2:3:4:5:6", 1), "2001:db8:1:2::/64"),
        (("2001:db8:1:2:ffff::1", 1), "2001:db8:1:2::/64"),
        (("fe80::1%eth0", 1), "fe80::/64"),
        (("not:an:address", 1), "not:an:address"),
        (None, "nowhere"),
    ],
)
def test_an_address_is_that_of_one_customer(client, address):
    assert access.address_of(Request({"type": "http", "client": client})) == address


# Sessions.


class Counted(float):
    """A time that counts how often it is compared."""

    times = 0

    def _compared(name):
        def compare(self, other):
            Counted.times += 1
            return getattr(float, name)(self, other)

        return compare

    __lt__, __gt__ = _compared("__lt__"), _compared("__gt__")
    __le__, __ge__ = _compared("__le__"), _compared("__ge__")


def test_logging_out_does_not_look_at_all_who_have_logged_out_before():
    now = [0.0]
    sessions = Sessions(b"key", clock=lambda: now[0])
    ended = [
        Session("0a", Counted(1000 + number * 7919 % 2000), str(number)) for number in range(2000)
    ]
    for session in ended:
        sessions.end(session)
    assert Counted.times < 30 * len(ended)  # a heap's log n each; copying would be 2 million
    now[0] = 2000.0  # about half of them have expired by themselves
    sessions.end(Session("0a", 5000.0, "last"))
    sessions.end(Session("0a", 5000.0, "last"))
    assert len(sessions._ended) == len(sessions._expiries) == 1000


def test_a_log_out_in_the_moment_in_which_the_session_expires_is_none():
    """It was an IndexError, if no other log-out was remembered."""
    now = [0.0]
    sessions = Sessions(b"key", clock=lambda: now[0])
    session = sessions.begin("0a")
    now[0] = session.expires
    sessions.end(session)
    assert not sessions._ended and sessions.read(sessions.cookie(session)) is None


def test_a_log_out_holds_until_the_cookie_expires():
    now = [0.0]
    sessions = Sessions(b"key", clock=lambda: now[0])
    session, other = sessions.begin("0a"), sessions.begin("0a")
    sessions.end(session)
    for moment in (1.0, session.expires - 1.0):
        now[0] = moment
        sessions.end(sessions.begin("0b"))
        assert sessions.read(sessions.cookie(session)) is None
        assert sessions.read(sessions.cookie(other)) == other
    now[0] = session.expires
    assert sessions.read(sessions.cookie(other)) is None


def test_a_csrf_token_is_not_the_signature_of_the_cookie(tmp_path):
    """Whoever sees the one must not be able to make the other."""
    sessions = Sessions(b"key")
    session = sessions.begin("0a")
    signature = sessions.cookie(session).rpartition(".")[2]
    csrf = sessions.csrf(session)
    assert signature != csrf and len(signature) == len(csrf) == 43
    assert sessions.is_csrf(session, csrf) and not sessions.is_csrf(session, signature)
    assert sessions.read(f"{session.text}.{signature}") == session
    assert sessions.read(f"{session.text}.{csrf}") is None
    assert not sessions.is_csrf(sessions.begin("0a"), csrf)


def test_under_tls_the_cookie_is_this_hosts_alone(tmp_path):
    """Cookies do not know ports: under another name no other service of the host can set it."""
    app = app_of(tmp_path)

    async def check():
        async with asking(app, url="https://shop.example") as http:
            answer = await http.post("/session", json={"token": ADMIN})
            cookie = answer.headers["set-cookie"]
            name, _, value = cookie.partition(";")[0].partition("=")
            assert name == "__Host-unimodal_session" and "Domain" not in cookie
            assert {"Secure", "HttpOnly", "Path=/", "SameSite=strict"} <= set(cookie.split("; "))
            assert (await http.get("/v1/campaigns")).status_code == 200
            left = await http.delete("/session", headers={"X-CSRF-Token": answer.json()["csrf"]})
            gone = left.headers["set-cookie"]
            assert gone.startswith(f"{name}=") and "Max-Age=0" in gone and "Secure" in gone
            http.cookies.clear()
            fresh = await http.post("/session", json={"token": ADMIN})
            value = fresh.headers["set-cookie"].partition(";")[0].partition("=")[2]
            http.cookies.clear()
            # One that another port has set, without TLS, is not looked at.
            planted = {"Cookie": f"unimodal_session={value}"}
            assert (await http.get("/v1/campaigns", headers=planted)).status_code == 401
        async with asking(app) as http:
            answer = await http.post("/session", json={"token": ADMIN})
            assert answer.headers["set-cookie"].startswith("unimodal_session=")
            assert "Secure" not in answer.headers["set-cookie"]
            assert (await http.get("/v1/campaigns")).status_code == 200

    asyncio.run(check())


# Streams.


async def lines_until_it_ends(app, cookie, change, slow=0.0, within=5.0):
    """The lines of a stream after a change, or a failure if it goes on."""
    made = Request({"type": "http", "scheme": "http", "server": ("x", 80), "path": "/", "headers": [
        (b"cookie", f"unimodal_session={cookie}".encode())]})  # fmt: skip
    service, looks = app.state.service, []

    async def version():
        looks.append(time.monotonic())
        await asyncio.sleep(slow)
        return len(looks)

    class Dashboard:
        pass

    Dashboard.service = service
    found = []
    async with asyncio.timeout(8):
        async for line in event_stream._lines(made, Dashboard, version):
            found.append(line)
            if len(found) == 2:
                change()
                begun = time.monotonic()
    assert time.monotonic() - begun < within
    return found


@pytest.mark.parametrize("how", ["logged out", "expired", "withdrawn", "token expired"])
def test_a_stream_ends_with_its_session_even_where_a_look_takes_long(tmp_path, how, monkeypatch):
    """A look of 2 s would be followed by a pause of 10 s: the session is looked at meanwhile."""
    app = app_of(tmp_path)
    one = app.state.service.access
    session = one.sessions.begin(KEPT.id)
    cookie = one.sessions.cookie(session)
    monkeypatch.setattr(event_stream, "_SHARE", 1000.0)

    def change():
        if how == "logged out":
            one.sessions.end(session)
        elif how == "expired":
            one.sessions._clock = lambda: session.expires
        elif how == "withdrawn":
            del one.tokens._tokens[KEPT.id]
        else:
            one.tokens._tokens[KEPT.id] = tokens.replace(KEPT, expires=0.0)

    found = asyncio.run(lines_until_it_ends(app, cookie, change, slow=0.02))
    assert found[:2] == ["retry: 3000\n\n", 'event: changed\ndata: {"version": 1}\n\n']
    assert found[2:] == ["event: signed-out\ndata: {}\n\n"]


def test_a_stream_tells_nothing_of_a_look_during_which_its_session_ended(tmp_path):
    app = app_of(tmp_path)
    one = app.state.service.access
    session = one.sessions.begin(KEPT.id)
    cookie = f"unimodal_session={one.sessions.cookie(session)}".encode()
    named = {"scheme": "http", "server": ("x", 80), "path": "/"}
    request = Request({"type": "http", "headers": [(b"cookie", cookie)], **named})

    async def version():
        one.sessions.end(session)
        return 7

    class Dashboard:
        service = app.state.service

    async def lines():
        return [line async for line in event_stream._lines(request, Dashboard, version)]

    assert asyncio.run(lines()) == ["retry: 3000\n\n", "event: signed-out\ndata: {}\n\n"]


# Proxies and other origins, without tokens.


@pytest.mark.parametrize(
    "header",
    [
        *("Forwarded", "Via", "X-Real-IP", "X-Forwarded-For", "X-Forwarded-Proto"),
        *("X-Forwarded-Host", "x-forwarded-port", "X-Forwarded-Anything", "X-Forwarded"),
    ],
)
def test_without_tokens_what_a_proxy_passes_on_is_refused(service, header):
    """Else a proxy on this machine would let everybody do everything."""
    for value in ("for=10.0.0.9", "127.0.0.1", ""):
        for path in ("/healthz", "/v1/campaigns", "/"):
            assert kind(service.http.get(path, headers={header: value})) == (403, "NotAllowed")
    posted = service.http.post("/v1/campaigns/x/decisions", headers={header: "127.0.0.1"})
    assert kind(posted) == (403, "NotAllowed")


def test_with_tokens_a_proxy_may_pass_on(tmp_path):
    async def check():
        async with asking(app_of(tmp_path)) as http:
            for header in ("Forwarded", "Via", "X-Real-IP", "X-Forwarded-For"):
                named = {header: "10.0.0.9", "Authorization": f"Bearer {ADMIN}"}
                assert (await http.get("/v1/campaigns", headers=named)).status_code == 200

    asyncio.run(check())


def test_another_port_of_this_machine_is_another_origin(service):
    host, _, port = service.url.removeprefix("http://").partition(":")
    other = f"http://{host}:{int(port) % 60_000 + 1}"
    strange = (
        *(other, f"http://{host}", f"https://{host}:{port}", f"http://localhost:{port}", "null"),
        *(f"{service.url}0", f"{service.url}/", f"http://x@{host}:{port}"),
    )
    for origin in strange:
        for method, path in (("GET", "/v1/campaigns"), ("POST", "/v1/campaigns/x/decisions")):
            answer = service.http.request(method, path, headers={"Origin": origin})
            assert kind(answer) == (403, "NotAllowed"), origin
    own = {"Origin": service.url}
    assert service.http.get("/v1/campaigns", headers=own).status_code == 200
    assert service.http.post("/v1/campaigns/x/decisions", headers=own).status_code == 404


# The log.


def test_failed_log_ins_are_logged_by_name_and_do_not_fill_the_log(tmp_path, caplog):
    app = app_of(tmp_path)
    shown, kept = ADMIN[:-1], ADMIN.rpartition("_")[2]
    near = shown + ("A" if ADMIN[-1] != "A" else "B")

    async def check():
        async with asking(app) as http:
            for _ in range(20):
                assert kind(await http.post("/session", json={"token": near}))[0] == 401
                bearer = {"Authorization": f"Bearer {WRONG}"}
                assert kind(await http.get("/v1/campaigns", headers=bearer))[0] == 401
            assert (await http.get("/v1/campaigns")).status_code == 401  # no log-in, and no line
            assert (await http.post("/session", json={"token": ADMIN})).status_code == 200

    asyncio.run(check())
    (line,) = caplog.messages
    assert "a log-in failed" in line and f"{KEPT.id} 'boss'" in line and "192.0.2.7" in line
    assert kept[:20] not in caplog.text and near not in caplog.text and WRONG not in caplog.text


def test_a_name_that_steers_a_terminal_is_logged_harmlessly(tmp_path, caplog):
    text, odd = tokens.make("a\x1b[31m\nb\u202e%s", ["read"])
    app = app_of(tmp_path, odd)
    near = text[:-1] + ("A" if text[-1] != "A" else "B")

    async def check():
        async with asking(app) as http:
            assert kind(await http.post("/session", json={"token": near}))[0] == 401

    asyncio.run(check())
    (line,) = caplog.messages
    assert odd.id in line and not set("\x1b\n\u202e") & set(line)


# A key of the service.


def test_a_key_of_the_service_lives_a_day(serving, tmp_path, monkeypatch):
    now = [1e9]
    with serving(tmp_path, watch=3600) as served:
        campaigns = served.app.state.service.campaigns
        opens = functools.partial(campaigns._open, clock=lambda: now[0])
        monkeypatch.setattr(campaigns, "_open", opens)
        body = {"name": "prices", "graph": {"generator": "line:3"}, "policy": "uts"}
        assert served.http.post("/v1/campaigns", json=body).status_code == 201

        def decided():
            path = "/v1/campaigns/prices/decisions"
            answer = served.http.post(path, headers={"Idempotency-Key": "visit"})
            return answer.json()["decisions"][0]["id"]

        first = decided()
        for later in (3600.0, 43_200.0, 86_399.0):
            now[0] = 1e9 + later
            assert decided() == first
        now[0] = 1e9 + 86_400.0
        assert [decided(), decided()] == [first + 1] * 2


def served(app):
    """All routes; those of a router are inside of it, or, as FastAPI was before, beside others."""
    for route in app.routes:
        inside = getattr(route, "original_router", None)
        yield from inside.routes if inside is not None else [route]


def test_strangers_reach_what_the_page_on_security_names_and_nothing_else(tmp_path):
    """All that the application serves is asked for without a token."""
    app = app_of(tmp_path)
    fill = {"name": "x", "decision": "1", "build": "x", "path": "x"}

    async def reached():
        found = set()
        async with asking(app) as http:
            for route in served(app):
                path = re.sub(r"\{(\w+)(:path)?\}", lambda part: fill[part[1]], route.path)
                for method in route.methods:
                    answer = await http.request(method, path)
                    is_guarded = answer.status_code == 401
                    is_guarded |= answer.headers.get("location", "").startswith("/sign-in")
                    if not is_guarded:
                        found.add(route.path)
        return found

    free = {"/healthz", "/readyz", "/session", "/openapi.json"}
    assert asyncio.run(reached()) == {*free, "/sign-in", "/static/{build}/{path:path}"}
    security = (Path(__file__).parents[2] / "SECURITY.md").read_text(encoding="utf-8")
    named = ", ".join(f"`{path}`" for path in ("/healthz", "/readyz", "/session", "/openapi.json"))
    assert f"{named}, the page to sign in and the scripts and styles of pages" in security
