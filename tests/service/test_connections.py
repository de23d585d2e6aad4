"""Connections that clients hold: each ends in time, and none keeps others out."""

import contextlib
import json
import logging
import re
import socket
import threading
import time

import httpx
import pytest

import unimodal as um
from unimodal.service.limits import ServiceLimits

GET = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
POST = "POST /session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
QUICK = {"head_seconds": 0.4, "body_seconds": 0.4, "answer_seconds": 0.4, "keep_seconds": 0.4}


@contextlib.contextmanager
def connected(url, text="", source="127.0.0.1", **options):
    """A bare connection, over which some text was sent."""
    host, port = url.removeprefix("http://").split(":")
    with socket.socket() as client:
        for option, value in options.items():
            client.setsockopt(socket.SOL_SOCKET, getattr(socket, option), value)
        client.settimeout(10)
        client.bind((source, 0))
        client.connect((host, int(port)))
        client.sendall(text.encode())
        yield client


def answer_of(client, end=b"}"):
    """One answer; also one that ends with the connection."""
    found = b""
    while not found.endswith(end) and (part := client.recv(10_000)):
        found += part
    return found


def ends(client):
    """Whether the server closes a connection; it is asked for by the client's own time out."""
    try:
        while client.recv(10_000):
            pass
    except ConnectionResetError:
        pass
    except TimeoutError:
        return False
    return True


@pytest.fixture(scope="module")
def impatient(serving, tmp_path_factory):
    folder = tmp_path_factory.mktemp("impatient")
    with serving(folder, limits=ServiceLimits(**QUICK), send_buffer=2**14) as served:
        yield served


@pytest.mark.parametrize("method", ["GET", "HEAD", "FOO"])
@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("Content-Length: 1000000\r\n\r\n", "x"),
        ("Content-Length: 1000000\r\n\r\nsome of it", "x"),
        ("Transfer-Encoding: chunked\r\n\r\n", "5\r\nhello\r\n"),
        ("Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n", "1"),
        ("Expect: 100-continue\r\nContent-Length: 9\r\n\r\n", "x"),
    ],
)
def test_a_body_that_nobody_reads_ends_the_connection(impatient, method, kind, more):
    """A byte after the answer kept the connection for ever."""
    with connected(impatient.url, GET.replace("GET", method, 1) + kind) as client:
        end = b"\r\n\r\n" if method == "HEAD" else b"}"
        answer = answer_of(client, end)
        assert re.match(rb"HTTP/1.1 (200|405)", answer)
        assert b"connection: close\r\n" in answer
        with contextlib.suppress(OSError):
            client.sendall(more.encode())
        assert ends(client)


def test_a_body_that_came_with_its_head_keeps_the_connection(impatient):
    with connected(impatient.url) as client:
        for _ in range(3):
            client.sendall(f"{GET}Content-Length: 2\r\n\r\n{{}}".encode())
            answer = answer_of(client)
            assert answer.startswith(b"HTTP/1.1 200") and b"connection: close" not in answer


@pytest.mark.parametrize("drip", ["", "1"])
def test_clients_that_send_a_byte_now_and_then_are_not_waited_for(impatient, drip):
    """All at once, since each is waited for."""
    texts = [
        f"{POST}Content-Length: 1000\r\n\r\n",
        f"{POST}Transfer-Encoding: chunked\r\n\r\n",
        f"{GET}\r\n{POST}Content-Length: 1000\r\n\r\n",  # pipelined
        f"{GET}\r\n{GET}",  # the head of the second is not whole
        GET,
        "",
    ]
    with contextlib.ExitStack() as stack:
        kept = {text: stack.enter_context(connected(impatient.url, text)) for text in texts}
        for client in kept.values():
            client.settimeout(0.02)
        until = time.monotonic() + 10
        while kept and time.monotonic() < until:
            for text, client in list(kept.items()):
                try:
                    if client.recv(10_000) == b"":
                        del kept[text]
                except TimeoutError:
                    with contextlib.suppress(OSError):
                        client.sendall(drip.encode())
                except ConnectionResetError:
                    del kept[text]
        assert not kept


def test_who_sends_no_more_is_not_kept(impatient):
    for text in ("", GET, f"{GET}Content-Length: 9\r\n\r\n", f"{POST}Content-Length: 9\r\n\r\n"):
        with connected(impatient.url, text) as client:
            client.shutdown(socket.SHUT_WR)
            assert ends(client)


@pytest.mark.parametrize("after", ["", "Connection: close\r\n", "half"])
def test_a_short_answer_that_is_not_taken_is_dropped(impatient, after):
    """It is less than asyncio calls too much, so that only closing the connection waits for it."""
    file = impatient.folder / "short.db"
    if not file.exists():
        with um.Campaign.open(file, um.UTS(), um.graphs.line(5)) as campaign:
            campaign.decide(500)
    end = after if after != "half" else ""
    text = f"GET /v1/campaigns/short/events?limit=250 HTTP/1.1\r\nHost: localhost\r\n{end}\r\n"
    with connected(impatient.url, text, SO_RCVBUF=4096) as client:
        head = client.recv(500)
        length = int(re.search(rb"content-length: (\d+)", head)[1])
        assert 2**15 < length < 2**16  # more than the system's buffers have room for
        if after == "half":
            client.shutdown(socket.SHUT_WR)
        connections = impatient.app.state.service.connections
        until = time.monotonic() + 12
        while connections.descriptors()[0]:
            assert time.monotonic() < until
            time.sleep(0.02)


def test_junk_in_a_body_ends_the_connection_without_a_traceback(impatient):
    lines = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())
    logging.getLogger("uvicorn.error").addHandler(handler)
    try:
        for _ in range(20):
            with connected(impatient.url, f"{POST}Transfer-Encoding: chunked\r\n\r\nzz\r\n") as one:
                assert ends(one)
            with connected(impatient.url, "NO HTTP\r\n\r\n") as one:
                assert answer_of(one, b"received.").startswith(b"HTTP/1.1 400")
            with connected(impatient.url, f"{GET}Connection: Upgrade\r\nUpgrade: x\r\n\r\n") as one:
                assert answer_of(one).startswith(b"HTTP/1.1 200")
    finally:
        logging.getLogger("uvicorn.error").removeHandler(handler)
    assert len(lines) <= 3 and not [line for line in lines if "Exception" in line]


def test_junk_in_the_body_of_a_stream_ends_it_without_a_traceback(impatient, caplog):
    text = GET.replace("/healthz", "/dashboard/events") + "Transfer-Encoding: chunked\r\n\r\n"
    with connected(impatient.url, text) as client:
        assert answer_of(client, b"3000\n\n\r\n").startswith(b"HTTP/1.1 200")
        client.sendall(b"zz\r\n")
        assert ends(client)
    until = time.monotonic() + 10
    while impatient.app.state.dashboard.streams.total():
        assert time.monotonic() < until
        time.sleep(0.02)
    assert "Fatal error" not in caplog.text


# ServiceLimits.


def test_who_holds_connections_keeps_nobody_out(serving, tmp_path, monkeypatch):
    limits = ServiceLimits(connections=8, connections_of_one=5)
    with serving(tmp_path, limits=limits) as served, contextlib.ExitStack() as stack:
        held = [stack.enter_context(connected(served.url, GET)) for _ in range(20)]
        with connected(served.url, f"{GET}\r\n") as client:
            assert answer_of(client).startswith(b"HTTP/1.1 200")
        assert sum(ends(one) for one in held[:10]) == 10
        go_on = threading.Event()
        monkeypatch.setattr(
            served.app.state.service.catalog, "names", lambda: go_on.wait(20) and []
        )
        asking = GET.replace("/healthz", "/v1/campaigns") + "\r\n"
        busy = [stack.enter_context(connected(served.url, asking)) for _ in range(5)]
        while served.app.state.service.queue.waiting < 5:
            time.sleep(0.005)
        with connected(served.url, f"{GET}\r\n") as client:
            refused = answer_of(client)
            assert refused.startswith(b"HTTP/1.1 503") and b"connection: close" in refused
            problem = json.loads(refused.partition(b"\r\n\r\n")[2])
            assert problem["type"].endswith(":Overloaded")
        with connected(served.url, f"{GET}\r\n", source="127.0.0.2") as client:
            assert answer_of(client).startswith(b"HTTP/1.1 200")
        go_on.set()
        assert all(answer_of(one).startswith(b"HTTP/1.1 200") for one in busy)


def test_a_store_that_is_away_is_said_at_the_start(serving, caplog):
    store = "postgresql://shop:hunter2@127.0.0.1:9/campaigns"
    with serving(store, limits=ServiceLimits(wait=0.1)) as served:
        until = time.monotonic() + 10
        while "the store cannot be used" not in caplog.text:
            assert time.monotonic() < until
            time.sleep(0.01)
        assert served.http.get("/readyz").status_code == 503
    assert "hunter2" not in caplog.text and caplog.text.count("cannot be used") == 1


def test_numbers_beyond_what_a_store_takes(serving, tmp_path):
    um.Campaign.open(tmp_path / "prices.db", um.UTS(), um.graphs.line(3)).close()
    with serving(tmp_path) as served:
        path, most = "/v1/campaigns/prices", 2**63 - 1
        for after in (most, most - 1, most - 10_000):
            for limit in (1, 10_000):
                answer = served.http.get(f"{path}/events?after={after}&limit={limit}")
                assert answer.json() == {"events": [], "next": None, "start": None}
        for query in (f"events?after={most + 1}", f"events?after={10**30}", "events?after=-1"):
            answer = served.http.get(f"{path}/{query}")
            assert answer.status_code == 422 and "after" in answer.json()["detail"]
        assert served.http.get(f"{path}/decisions/{most}/explanation").status_code == 404
        assert served.http.get(f"{path}/decisions/{most + 1}/explanation").status_code == 422
        for decision, status in ((most, 404), (most + 1, 422)):
            told = {"decision": decision, "reward": 1}
            assert served.http.post(f"{path}/rewards", json=told).status_code == status
        for arm in (most, -most):
            answer = served.http.post(f"{path}/pause", json={"arms": [arm]})
            assert answer.status_code == 422
            told = {"rewards": [{"arm": arm, "reward": 1}]}
            assert served.http.post(f"{path}/observations", json=told).status_code == 422


def test_an_ended_client_leaves_no_connection(impatient):
    with httpx.Client(base_url=impatient.url, verify=False) as http:
        assert http.get("/healthz").status_code == 200
    connections = impatient.app.state.service.connections
    until = time.monotonic() + 12
    while connections.descriptors()[0]:
        assert time.monotonic() < until
        time.sleep(0.02)
