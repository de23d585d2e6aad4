"""Who may do what: tokens, roles, campaigns, sessions, rates; and limits on what is sent."""

import contextlib
import json
import socket
import time

import httpx
import pytest

from unimodal.errors import NotAuthenticated, TooManyRequests, UnimodalError
from unimodal.service.limits import ServiceLimits
from unimodal.service.security import token_file, tokens
from unimodal.service.security.request_rates import RequestRates
from unimodal.service.security.sessions import LASTS, Sessions
from unimodal.service.security.token_file import TokenFile

PRICES = {"name": "prices", "graph": {"generator": "line:3"}}
ENDPOINTS = [
    ("POST", "/v1/campaigns", "admin"),
    ("GET", "/v1/campaigns", "read"),
    ("GET", "/v1/campaigns/prices", "read"),
    ("PATCH", "/v1/campaigns/prices", "admin"),
    ("POST", "/v1/campaigns/prices/decisions", "decide"),
    ("POST", "/v1/campaigns/prices/rewards", "decide"),
    ("POST", "/v1/campaigns/prices/observations", "decide"),
    ("POST", "/v1/campaigns/prices/expire", "decide"),
    ("GET", "/v1/campaigns/prices/arms", "read"),
    ("POST", "/v1/campaigns/prices/pause", "admin"),
    ("POST", "/v1/campaigns/prices/resume", "admin"),
    ("POST", "/v1/campaigns/prices/retire", "admin"),
    ("POST", "/v1/campaigns/prices/insert", "admin"),
    ("POST", "/v1/campaigns/prices/edges", "admin"),
    ("POST", "/v1/campaigns/prices/edges/remove", "admin"),
    ("GET", "/v1/campaigns/prices/certificate", "read"),
    ("GET", "/v1/campaigns/prices/alarms", "read"),
    ("GET", "/v1/campaigns/prices/events", "read"),
    ("GET", "/v1/campaigns/prices/decisions/1/explanation", "read"),
    ("GET", "/metrics", "read"),
]


def kind(answer):
    return answer.status_code, answer.json()["type"].rpartition(":")[2]


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


@pytest.fixture(scope="module")
def guarded(serving, tmp_path_factory):
    """A service with one token for each role, and one for a shop's prices only."""
    folder = tmp_path_factory.mktemp("guarded")
    wanted = {"decide": [], "read": [], "admin": [], "shop": ["prices"]}
    made = {
        name: tokens.make(name, ["decide" if name == "shop" else name], campaigns)
        for name, campaigns in wanted.items()
    }
    token_file.write(folder / "tokens.json", [kept for _, kept in made.values()])
    by_name = {name: token for name, (token, _) in made.items()}
    with serving(folder / "store", folder / "tokens.json", watch=3600) as served:
        served.tokens = by_name
        admin = bearer(by_name["admin"])
        assert served.http.post("/v1/campaigns", json=PRICES, headers=admin).status_code == 201
        yield served


def test_every_endpoint_of_the_description_is_guarded(guarded):
    paths = guarded.http.get("/openapi.json").json()["paths"]
    described = {
        (method.upper(), path.replace("{name}", "prices").replace("{decision}", "1"))
        for path, methods in paths.items()
        for method in methods
    }
    free = {("GET", "/healthz"), ("GET", "/readyz")}
    free |= {(method, "/session") for method in ("GET", "POST", "DELETE")}
    assert described - free == {(method, path) for method, path, _ in ENDPOINTS}


@pytest.mark.parametrize(("method", "path", "role"), ENDPOINTS)
def test_a_role_may_do_its_own_and_an_admin_all(guarded, method, path, role):
    http = guarded.http
    assert kind(http.request(method, path)) == (401, "NotAuthenticated")
    for name in ("decide", "read", "admin"):
        answer = http.request(method, path, headers=bearer(guarded.tokens[name]))
        if name in (role, "admin"):
            assert answer.status_code not in (401, 403), (name, answer.text)
        else:
            assert kind(answer) == (403, "NotAllowed")
            assert f"the role {role}" in answer.json()["detail"]


def test_a_token_for_one_campaign_is_for_that_one(guarded):
    shop = bearer(guarded.tokens["shop"])
    assert guarded.http.post("/v1/campaigns/prices/decisions", headers=shop).status_code == 200
    answer = guarded.http.post("/v1/campaigns/others/decisions", headers=shop)
    assert kind(answer) == (403, "NotAllowed")  # not 404: it does not learn which there are
    _, kept = tokens.make("some", ["admin"], ["prices"])
    assert not kept.may("read", "others") and kept.may("admin", "prices")


def test_metrics_are_not_for_a_token_of_some_campaigns(serving, tmp_path):
    token, kept = tokens.make("some", ["admin"], ["prices"])
    token_file.write(tmp_path / "tokens.json", [kept])
    with serving(tmp_path / "store", tmp_path / "tokens.json", token) as served:
        assert kind(served.http.get("/metrics")) == (403, "NotAllowed")
        other = {"name": "others", "graph": {"generator": "line:3"}}
        assert kind(served.http.post("/v1/campaigns", json=other)) == (403, "NotAllowed")
        assert served.http.get("/v1/campaigns").json()["campaigns"] == []


@pytest.mark.parametrize(
    "sent",
    [
        *("Bearer", "Bearer um_x", "Basic dXNlcjpwYXNz", "Bearer \u00fc"),
        f"Bearer um_{'0' * 12}_{'A' * 43}",
    ],
)
def test_a_bad_token(guarded, sent):
    answer = guarded.http.get("/v1/campaigns", headers={"Authorization": sent.encode("latin-1")})
    assert kind(answer) == (401, "NotAuthenticated")
    assert answer.headers["www-authenticate"].startswith("Bearer")


def test_the_right_id_with_another_secret_is_refused(guarded):
    token = guarded.tokens["admin"]
    other = token[:-1] + ("A" if token[-1] != "A" else "B")
    assert kind(guarded.http.get("/v1/campaigns", headers=bearer(other)))[0] == 401


def test_the_file_has_hashes_only_and_is_its_owners(tmp_path):
    token, kept = tokens.make("me", ["read"])
    path = tmp_path / "tokens.json"
    token_file.write(path, [kept])
    assert token.rpartition("_")[2] not in path.read_text()
    assert path.stat().st_mode & 0o077 == 0
    assert TokenFile(path).token_of(token) == kept


def test_a_withdrawn_token_is_refused_within_a_second(tmp_path):
    (first, one), (second, two) = tokens.make("a", ["read"]), tokens.make("b", ["read"])
    path = tmp_path / "tokens.json"
    token_file.write(path, [one, two])
    file = TokenFile(path)
    assert file.token_of(first) == one
    token_file.write(path, [two])
    file._looked -= 2.0
    with pytest.raises(NotAuthenticated):
        file.token_of(first)
    assert file.token_of(second) == two


@pytest.mark.parametrize("text", ["", "[]", '{"tokens": [{}]}', '{"tokens": 3}', "\x00"])
def test_a_damaged_token_file_is_refused(tmp_path, text):
    path = tmp_path / "tokens.json"
    path.write_text(text)
    with pytest.raises(UnimodalError, match="must be a token file"):
        TokenFile(path)


def test_bad_tokens_are_not_made(tmp_path):
    with pytest.raises(UnimodalError, match="did you mean 'admin'"):
        tokens.make("me", ["admn"])
    with pytest.raises(UnimodalError, match="must have a role"):
        tokens.make("me", [])
    with pytest.raises(UnimodalError, match="a-z, 0-9"):
        tokens.make("me", ["read"], ["../x"])
    with pytest.raises(UnimodalError, match="has no token in it"):
        TokenFile(tmp_path / "none.json")


# Sessions.


def logged_in(guarded, name):
    http = httpx.Client(verify=False, base_url=guarded.url)
    answer = http.post("/session", json={"token": guarded.tokens[name]})
    assert answer.status_code == 200
    return http, answer


def test_a_token_is_exchanged_for_a_cookie_that_scripts_and_other_sites_cannot_use(guarded):
    http, answer = logged_in(guarded, "read")
    with contextlib.closing(http):
        cookie = answer.headers["set-cookie"].lower()
        assert "httponly" in cookie and "samesite=strict" in cookie and "max-age=43200" in cookie
        assert guarded.tokens["read"] not in cookie
        assert answer.json()["roles"] == ["read"]
        assert http.get("/v1/campaigns/prices").status_code == 200
        assert http.get("/session").json()["csrf"] == answer.json()["csrf"]


def test_a_change_in_a_session_needs_its_csrf_token(guarded):
    http, answer = logged_in(guarded, "admin")
    other, _ = logged_in(guarded, "admin")
    with contextlib.closing(http), contextlib.closing(other):
        path, body = "/v1/campaigns/prices", {"cap": {"share": 0.5}}
        assert kind(http.patch(path, json=body)) == (403, "NotAllowed")
        strange = {"X-CSRF-Token": other.get("/session").json()["csrf"]}
        assert kind(http.patch(path, json=body, headers=strange)) == (403, "NotAllowed")
        own = {"X-CSRF-Token": answer.json()["csrf"]}
        assert http.patch(path, json=body, headers=own).status_code == 200


def test_logging_out_ends_the_session_even_for_a_copy_of_the_cookie(guarded):
    http, answer = logged_in(guarded, "read")
    with contextlib.closing(http):
        copy = dict(http.cookies)
        assert kind(http.delete("/session")) == (403, "NotAllowed")
        csrf = {"X-CSRF-Token": answer.json()["csrf"]}
        assert http.delete("/session", headers=csrf).status_code == 200
        with httpx.Client(verify=False, base_url=guarded.url, cookies=copy) as thief:
            assert kind(thief.get("/v1/campaigns")) == (401, "NotAuthenticated")


def test_a_session_keeps_the_roles_of_its_token(guarded):
    http, answer = logged_in(guarded, "read")
    with contextlib.closing(http):
        csrf = {"X-CSRF-Token": answer.json()["csrf"]}
        assert kind(http.post("/v1/campaigns/prices/decisions", headers=csrf))[0] == 403
    bad = httpx.post(f"{guarded.url}/session", verify=False, json={"token": "um_no"})
    assert kind(bad) == (401, "NotAuthenticated")


def test_sessions_expire_and_cannot_be_forged():
    now = [0.0]
    sessions = Sessions(b"key", clock=lambda: now[0])
    session = sessions.begin("0a")
    cookie = sessions.cookie(session)
    assert sessions.read(cookie) == session
    assert Sessions(b"other").read(cookie) is None
    token, until, nonce, signature = cookie.split(".")
    for forged in (
        *(f"ff.{until}.{nonce}.{signature}", f"{token}.{10**11}.{nonce}.{signature}"),
        *("", "...", f"{token}.{until}.{nonce}.", f"{token}.{until}.{nonce}.ü"),
    ):
        assert sessions.read(forged) is None
    now[0] = LASTS + 1
    assert sessions.read(cookie) is None


# ServiceLimits.


def test_a_token_may_be_used_so_often():
    now = [0.0]
    rates = RequestRates(2.0, clock=lambda: now[0])
    rates.take("a")
    rates.take("a")
    rates.take("b")
    with pytest.raises(TooManyRequests):
        rates.take("a")
    now[0] = 0.5
    rates.take("a")
    with pytest.raises(TooManyRequests):
        rates.take("a")


def test_limits_are_answered_with_problems(serving, tmp_path):
    limits = ServiceLimits(rate=8.0, body=2000, body_seconds=0.3, arms=10)
    with serving(tmp_path, limits=limits) as served:
        http, many = served.http, {"Content-Type": "application/json"}
        long = json.dumps({"token": "x" * 3000})
        assert kind(http.post("/session", content=long, headers=many)) == (413, "TooLarge")
        parts = (b" " * 500 for _ in range(10))  # without a length
        assert kind(http.post("/session", content=parts, headers=many)) == (413, "TooLarge")
        text = {"Content-Type": "text/plain"}  # what a page of another site could send
        assert kind(http.post("/session", content="{}", headers=text))[0] == 415
        large = {"name": "large", "graph": {"generator": "line:11"}}
        assert kind(http.post("/v1/campaigns", json=large)) == (413, "TooLarge")
        answers = [http.get("/v1/campaigns") for _ in range(30)]
        assert answers[0].status_code == 200
        refused = next(answer for answer in answers if answer.status_code != 200)
        assert kind(refused) == (429, "TooManyRequests")
        assert refused.headers["retry-after"] == "1"


def test_a_body_may_be_exactly_as_long_as_the_limit(serving, tmp_path):
    header = {"Content-Type": "application/json"}
    with serving(tmp_path, limits=ServiceLimits(body=2000)) as served:
        for name, length, status in (("a", 2000, 201), ("b", 2001, 413)):
            for with_length in (True, False):
                made = {"name": f"{name}-{with_length:d}", "graph": {"generator": "line:3"}}
                body = json.dumps(made).encode().ljust(length)
                content = body if with_length else iter([body])
                answer = served.http.post("/v1/campaigns", content=content, headers=header)
                assert answer.status_code == status


def test_a_hundred_megabytes_are_refused_before_they_are_read(guarded):
    host, port = guarded.url.removeprefix("http://").split(":")
    head = f"Host: {host}\r\nContent-Type: application/json\r\n"
    head += f"Authorization: Bearer {guarded.tokens['admin']}\r\nContent-Length: {100 * 2**20}"
    for path in ("/session", "/v1/campaigns", "/v1/campaigns/prices/rewards"):
        with socket.create_connection((host, int(port)), timeout=5) as client:
            client.sendall(f"POST {path} HTTP/1.1\r\n{head}\r\n\r\n".encode())
            assert client.recv(1000).startswith(b"HTTP/1.1 413")


def test_a_slow_client_and_one_that_hangs_up_hold_nobody_up(serving, tmp_path):
    with serving(tmp_path, limits=ServiceLimits(body_seconds=0.5)) as served:
        host, port = served.url.removeprefix("http://").split(":")
        head = f"POST /session HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
        slow = [socket.create_connection((host, int(port)), timeout=5) for _ in range(50)]
        for client in slow:
            client.sendall(f"{head}Content-Length: 10\r\n\r\n{{".encode())
        for client in slow[:25]:
            client.close()
        begun = time.monotonic()
        assert served.http.get("/healthz").status_code == 200
        assert time.monotonic() - begun < 0.5
        assert slow[-1].recv(1000).startswith(b"HTTP/1.1 408")
        for client in slow[25:]:
            client.close()
        assert served.http.get("/healthz").status_code == 200


def test_without_tokens_it_answers_to_names_of_its_own_machine_only(service):
    rebound = service.http.get("/v1/campaigns", headers={"Host": "evil.example"})
    assert kind(rebound) == (403, "NotAllowed")
    page = {"Origin": "http://evil.example"}  # of another site, which can send a POST without body
    assert kind(service.http.post("/v1/campaigns/x/decisions", headers=page)) == (403, "NotAllowed")
    own = {"Origin": service.url}
    assert service.http.post("/v1/campaigns/x/decisions", headers=own).status_code == 404
    for host in ("localhost:8000", "127.0.0.1", "[::1]:80"):
        assert service.http.get("/v1/campaigns", headers={"Host": host}).status_code == 200
