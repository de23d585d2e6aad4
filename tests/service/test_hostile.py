"""Clients that mean harm: bombs, strangers, slow connections, names that are paths."""

import asyncio
import contextlib
import json
import re
import socket
import time

import httpx
import pytest
from pydantic import TypeAdapter, ValidationError

import unimodal as um
from unimodal import graphs
from unimodal.errors import Overloaded
from unimodal.service.app import create_app
from unimodal.service.campaigns import requested_settings
from unimodal.service.dashboard import event_stream
from unimodal.service.http import models
from unimodal.service.limits import ServiceLimits
from unimodal.service.security import token_file, tokens

JSON = {"Content-Type": "application/json"}


def kind(answer):
    return answer.status_code, answer.json()["type"].rpartition(":")[2]


@contextlib.contextmanager
def connected(url, **options):
    """A bare connection, and a function that sends some lines as the head of a request."""
    host, port = url.removeprefix("http://").split(":")
    with socket.socket() as client:
        for option, value in options.items():
            client.setsockopt(socket.SOL_SOCKET, getattr(socket, option), value)
        client.settimeout(10)
        client.connect((host, int(port)))

        def send(*lines, end="\r\n\r\n"):
            client.sendall(("\r\n".join(lines) + end).encode())
            return client

        yield send


@pytest.fixture(scope="module")
def guarded(serving, tmp_path_factory):
    folder = tmp_path_factory.mktemp("guarded")
    token, kept = tokens.make("admin", ["admin"])
    token_file.write(folder / "tokens.json", [kept])
    with serving(folder / "store", folder / "tokens.json") as served:
        served.token = token
        yield served


@pytest.fixture(scope="module")
def prices(service):
    body = {"name": "prices", "graph": {"generator": "line:5"}}
    assert service.http.post("/v1/campaigns", json=body).status_code == 201
    return "/v1/campaigns/prices"


# Bombs.

JUNK = {
    "edges": (models.NewCampaign, '{"name": "x", "graph": {"edges": [%s]}}'),
    "labels": (models.NewCampaign, '{"name": "x", "graph": {"edges": [[1, 2]], "labels": [%s]}}'),
    "factors": (models.NewCampaign, '{"name": "x", "graph": {"csv": "a,b"}, "scaled_by": [%s]}'),
    "data": (models.NewCampaign, '{"name": "x", "graph": {"csv": "a,b"}, "data": {"rows": [%s]}}'),
    "rewards": (models.RewardsBody | models.RewardBody, '{"rewards": [%s]}'),
    "observations": (models.TellsBody, '{"rewards": [%s]}'),
    "arms": (models.ArmsBody, '{"arms": [%s]}'),
    "more edges": (models.EdgesBody, '{"edges": [%s]}'),
}


@pytest.mark.parametrize("item", ["1", "[1]", "{}", '{"decision": "a", "reward": "b"}'])
@pytest.mark.parametrize("case", JUNK)
def test_a_long_list_of_junk_is_not_a_long_list_of_errors(case, item):
    """Four megabytes of it took a minute and six gigabytes."""
    model, text = JUNK[case]
    try:
        TypeAdapter(model).validate_json(text % ", ".join([item] * 900))
    except ValidationError as error:
        assert error.error_count() < 30
    else:
        assert case in ("arms", "labels")  # a number or a list is a label


def test_many_fields_are_refused_before_anybody_looks_at_them(service, prices):
    many = json.dumps({str(number): 1 for number in range(31_000)})
    for rest in ("/rewards", "/pause"):
        answer = service.http.post(f"{prices}{rest}", content=many, headers=JSON)
        assert kind(answer) == (413, "TooLarge") and "30,000 fields" in answer.json()["detail"]
    colons = json.dumps({"arms": [":" * 100] * 400})  # which are no fields
    assert kind(service.http.post(f"{prices}/pause", content=colons, headers=JSON))[0] == 422


@pytest.mark.parametrize("rest", ["/rewards", "/pause"])
@pytest.mark.parametrize(
    "body", ["[" * 100_000, '{"arms":' * 50_000, f'{{"decision": {"9" * 100_000}, "reward": 1}}']
)
def test_deep_and_long_json_is_no_json(service, prices, rest, body):
    assert kind(service.http.post(f"{prices}{rest}", content=body, headers=JSON))[0] == 400


@pytest.mark.parametrize(
    "given",
    [
        {"graph": {"generator": "er:3000:0.001"}},  # hardly ever connected
        {"graph": {"generator": "er:100000:0.00002"}},
        {"policy": "windowed(policy=uts, window=1000000000000000)"},
        {"policy": "windowed(policy=uts, window=1000000000)"},
        {"policy": "restarting(policy=uts, window=1000000000)"},
        {"policy": f"osub(c={'-' * 490}1)"},
        {"policy": f"osub(c={'(' * 240}1{')' * 240})"},
        {"policy": f"windowed(window=5, policy=osub(c={'-' * 450}1))"},
        {"policy": f"osub({'-' * 490}1)"},
        {"family": "gaussian:" + "9" * 480},
        {"policy": "uts(start='probe(99999999999)')"},
        {"policy": "windowed(policy=" * 20 + "uts" + ", window=5)" * 20},
        {"family": "gaussian:1e308"},
    ],
)
def test_a_campaign_that_would_take_all_is_refused_soon(service, given):
    before = time.process_time()
    body = {"name": "greedy", "graph": {"generator": "line:5"}, **given}
    answer = service.http.post("/v1/campaigns", json=body)
    assert answer.status_code == 422, answer.text
    assert time.process_time() - before < 10  # a hundred thousand tries took a minute
    assert not list(service.folder.glob("greedy*"))


@pytest.mark.parametrize(
    ("policy", "graph"),
    [
        ("windowed(policy=uts, window=10000001)", "line:5"),
        ("restarting(policy=uts, window=10000002)", "line:2"),
        ("restarting(policy=uts)", "line:100000"),
        ("restarting(policy=uts, window=100000000)", "line:100000"),
    ],
)
def test_a_policy_keeps_no_more_rewards_than_a_service_takes(service, policy, graph):
    """Of all arms together: a window of 10^9 on 10^5 arms was a traceback, one alone 12.5 GB."""
    body = {"name": "greedy", "policy": policy, "graph": {"generator": graph}}
    answer = service.http.post("/v1/campaigns", json=body)
    assert kind(answer) == (413, "TooLarge"), answer.text
    assert "at most 10,000,000 rewards here" in answer.json()["detail"]
    assert not list(service.folder.glob("greedy*"))


def test_no_arm_is_added_for_which_there_is_no_room(serving, tmp_path):
    limits = ServiceLimits(rewards=50)
    with serving(tmp_path, limits=limits) as served:
        body = {"name": "ladder", "policy": "restarting(policy=uts, window=10)"}
        body["graph"] = {"edges": [["a", "b"], ["b", "c"], ["c", "d"]]}
        assert served.http.post("/v1/campaigns", json=body).status_code == 201
        path = "/v1/campaigns/ladder"
        edges = {"edges": [["d", "e"]]}
        assert served.http.post(f"{path}/edges", json=edges).status_code == 200
        insert = {"arm": "x", "between": ["a", "b"]}
        for rest, more in (("edges", {"edges": [["e", "f"]]}), ("insert", insert)):
            answer = served.http.post(f"{path}/{rest}", json=more)
            assert kind(answer) == (413, "TooLarge") and "50 rewards here" in answer.text


def test_the_size_of_every_generator_is_known_before_it_makes_a_graph(monkeypatch):
    """One whose size nobody knows was taken to be as large as its first number."""
    assert set(requested_settings._SIZES) == set(graphs.text.FORMS) - {"edges"}
    made = {"line": "9", "complete": "9", "star": "9", "tree": "9", "hypercube": "4", "er": "9:0.9"}
    made |= {"ba": "9:3", "grid": "3x4", "torus": "3x4", "lattice": "2x3x4", "rank_one": "3x4"}
    for kind, numbers in made.items():
        graph = graphs.parse(f"{kind}:{numbers}")
        parts = [float(part) for text in numbers.split(":") for part in text.split("x")]
        arms, edges = requested_settings._size(kind, parts)
        assert arms == graph.n_arms and graph.n_edges <= edges <= 4 * graph.n_edges, kind
        requested_settings._size(kind, parts[:1])
    monkeypatch.setitem(graphs.text.FORMS, "own", ("own:K", lambda parts, seed: graphs.line(3)))
    with pytest.raises(um.UnimodalError, match="unknown generator 'own'"):
        requested_settings.graph_of(models.Generator(generator="own:3"), ServiceLimits())


@pytest.mark.parametrize("generator", ["line:3", "er:30:0.5"])
def test_a_graph_that_was_made_is_looked_at_again(monkeypatch, generator):
    """Whatever was thought of its size before."""
    monkeypatch.setattr(requested_settings, "_size", lambda kind, numbers: (1.0, 1.0))
    body = models.Generator(generator=generator)
    with pytest.raises(um.errors.TooLarge, match="at most 2 arms and 1,000,000 edges"):
        requested_settings.graph_of(body, ServiceLimits(arms=2))
    with pytest.raises(um.errors.TooLarge, match="and 1 edges"):
        requested_settings.graph_of(body, ServiceLimits(edges=1))


# Strangers.


def test_a_stranger_may_not_send_much(guarded):
    """What has no token is refused before it is in memory, with a length and without."""
    head = ["POST /v1/campaigns HTTP/1.1", "Host: x", "Content-Type: application/json"]
    with connected(guarded.url) as send:
        assert send(*head, f"Content-Length: {2**20}").recv(1000).startswith(b"HTTP/1.1 401")
    with connected(guarded.url) as send:
        client = send(*head, "Transfer-Encoding: chunked")
        with contextlib.suppress(OSError):  # it hangs up when it has heard enough
            for _ in range(20):
                client.sendall(b"2000\r\n" + b" " * 0x2000 + b"\r\n")
        assert client.recv(1000).startswith(b"HTTP/1.1 401")
    long = json.dumps({"token": "x" * 2**17})
    answer = guarded.http.post("/session", content=long, headers=JSON)
    assert kind(answer) == (413, "TooLarge")
    known = {**JSON, "Authorization": f"Bearer {guarded.token}"}
    edges = [[number, number + 1] for number in range(10_000)]
    body = json.dumps({"name": "large", "graph": {"edges": edges}})
    assert len(body) > ServiceLimits().stranger_body
    assert guarded.http.post("/v1/campaigns", content=body, headers=known).status_code == 201


def test_without_tokens_other_machines_are_refused_whatever_they_call_it(tmp_path):
    async def ask(address):
        app = create_app(tmp_path)
        transport = httpx.ASGITransport(app, client=(address, 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
            return await http.get("/healthz")

    assert kind(asyncio.run(ask("10.0.0.9"))) == (403, "NotAllowed")
    assert asyncio.run(ask("127.0.0.1")).status_code == 200


def test_no_page_of_another_site_may_load_anything(service):
    for path in ("/healthz", "/v1/campaigns", "/openapi.json", "/nothing"):
        headers = service.http.get(path).headers
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"


@pytest.mark.parametrize("name", ["..", "%2e%2e%2fetc%2fpasswd", "a%0a", "a%00", "A", "a.db", "ü"])
def test_a_name_is_never_a_path(service, name):
    before = sorted(service.folder.parent.rglob("*"))
    for method, rest in (("POST", "/decisions"), ("GET", ""), ("PATCH", ""), ("GET", "/events")):
        body = None if method == "GET" else {}  # a GET's is not read, and ends the connection
        answer = service.http.request(method, f"/v1/campaigns/{name}{rest}", json=body)
        assert answer.status_code in (404, 405, 422)
    made = {"name": name, "graph": {"generator": "line:3"}}
    assert service.http.post("/v1/campaigns", json=made).status_code == 422
    assert sorted(service.folder.parent.rglob("*")) == before


def test_a_password_of_the_store_is_told_to_nobody(serving, caplog):
    store = "postgresql://shop:hunter2@127.0.0.1:9/campaigns"
    with serving(store, limits=ServiceLimits(wait=0.1)) as served:
        for path in ("/readyz", "/v1/campaigns", "/v1/campaigns/prices"):
            answer = served.http.get(path)
            assert answer.status_code == 503 and "hunter2" not in answer.text
    assert "hunter2" not in caplog.text


# Connections.


def ends(client, within=5.0):
    """Whether the server closes a connection, having said nothing more."""
    client.settimeout(within)
    return client.recv(1000) == b""


@pytest.fixture(scope="module")
def impatient(serving, tmp_path_factory):
    limits = ServiceLimits(head_seconds=0.3, answer_seconds=0.3)
    folder = tmp_path_factory.mktemp("impatient")
    with serving(folder, limits=limits, send_buffer=2**14) as served:
        yield served


def test_a_head_that_does_not_come_ends_the_connection(impatient):
    whole = ("GET /healthz HTTP/1.1", "Host: localhost")
    with connected(impatient.url) as send:
        assert ends(send(end=""))
    with connected(impatient.url) as send:
        assert ends(send(*whole, end=""))
    with connected(impatient.url) as send:
        for _ in range(2):  # the connection is kept for the next one
            answer, client = b"", send(*whole)
            while not answer.endswith(b'"ok"}'):
                answer += client.recv(1000)
        assert ends(send(*whole, end=""))


def test_a_request_that_takes_longer_than_a_head_is_answered(impatient, monkeypatch):
    catalog = impatient.app.state.service.catalog
    monkeypatch.setattr(catalog, "names", lambda: time.sleep(0.6) or [])
    assert impatient.http.get("/v1/campaigns").json()["campaigns"] == []


def test_an_answer_that_is_not_taken_is_dropped(impatient):
    graph = um.graphs.line(5)
    with um.Campaign.open(impatient.folder / "long.db", um.UTS(), graph) as campaign:
        campaign.decide(5_000)
    path = "/v1/campaigns/long/events?limit=10000"
    with connected(impatient.url, SO_RCVBUF=4096) as send:
        client = send(f"GET {path} HTTP/1.1", "Host: localhost", "Connection: close")
        head = client.recv(400)
        assert head.startswith(b"HTTP/1.1 200")
        time.sleep(0.8)
        taken = 0
        with contextlib.suppress(ConnectionResetError):
            while part := client.recv(2**16):
                taken += len(part)
    assert taken < 0.8 * int(re.search(rb"content-length: (\d+)", head)[1])


@pytest.mark.parametrize(
    "lines",
    [
        ["GET /healthz HTTP/1.1", "Host: localhost", "X-Long: " + "x" * 200_000],
        ["GET /healthz HTTP/1.1", *(f"X-{number}: x" for number in range(20_000))],
        ["POST /session HTTP/1.1", "Content-Length: 2", "Transfer-Encoding: chunked"],
        ["POST /session HTTP/1.1", "Host: localhost", "Content-Length: -5"],
        ["GET /healthz HTTP/1.1", "Host: localhost", "X-Bad: a\x00b"],
        ["NONSENSE"],
    ],
)
def test_heads_that_cannot_be_are_refused_and_the_connection_is_closed(service, lines):
    with connected(service.url) as send:
        try:
            client = send(*lines)
            answer = client.recv(1000)
        except OSError:
            return  # it hung up before all was sent
        assert answer.startswith((b"HTTP/1.1 400", b"HTTP/1.1 413"))
        with contextlib.suppress(ConnectionResetError):
            while answer:
                answer = client.recv(1000)
    assert service.http.get("/healthz").status_code == 200


def test_who_keeps_the_readers_busy_does_not_make_the_service_unready(service, prices, monkeypatch):
    """A load balancer would send nobody here any more; and anybody may ask."""
    served, asked = service.app.state.service, []
    check = served.catalog.check

    async def full(work):
        raise Overloaded("32 calls wait already.")

    monkeypatch.setattr(served.queue, "aside", full)
    monkeypatch.setattr(served.catalog, "check", lambda: asked.append(1) or check())
    assert service.http.get(f"{prices}/certificate").status_code == 503
    served._ready = None
    assert {service.http.get("/readyz").status_code for _ in range(20)} == {200}
    assert 1 <= len(asked) <= 3  # once per second


# Streams.


def test_a_token_has_a_part_of_the_streams_only(guarded, monkeypatch):
    monkeypatch.setattr(event_stream, "MOST_OF_ONE_TOKEN", 2)
    with httpx.Client(base_url=guarded.url, verify=False) as http, contextlib.ExitStack() as stack:
        assert http.post("/session", json={"token": guarded.token}).status_code == 200
        for _ in range(2):
            answer = stack.enter_context(http.stream("GET", "/dashboard/events"))
            assert answer.status_code == 200
        assert kind(http.get("/dashboard/events")) == (503, "Overloaded")
    until = time.monotonic() + 10
    while guarded.app.state.dashboard.streams.total():  # they are counted until they have ended
        assert time.monotonic() < until
        time.sleep(0.02)


def test_there_is_no_stream_of_a_campaign_that_is_not_there(service):
    assert kind(service.http.get("/dashboard/campaigns/nobody/events")) == (404, "UnknownCampaign")
