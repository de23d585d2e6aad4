"""SIGTERM: what is in flight is answered, the connection is closed, and the process ends."""

import asyncio
import contextlib
import re
import signal
import socket
import subprocess
import sys
import time

import pytest

START = """
import sys, time
from unimodal.service.campaigns import catalog
from unimodal.service.server import process, timed_protocol
{changes}
from unimodal.cli import main
main()
"""
HOST = "Host: localhost\r\n"
CREATE = f"POST /v1/campaigns HTTP/1.1\r\n{HOST}Content-Type: application/json\r\n"
BODY = '{"name": "prices", "graph": {"generator": "line:5"}, "policy": "uts"}'


@contextlib.contextmanager
def started(folder, changes=""):
    """The port of a server process in which something is changed, and the process."""
    command = [sys.executable, "-c", START.format(changes=changes), "serve", "--port", "0"]
    command += ["--durability", "fast", "--store", str(folder)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield int(re.search(r":(\d+) \(", server.stdout.readline())[1]), server
    finally:
        server.kill()
        server.communicate()


@contextlib.contextmanager
def connected(port):
    with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
        yield client


def stop(server, port):
    """Have a server end; it listens no more, and has told its connections."""
    server.send_signal(signal.SIGTERM)
    until = time.monotonic() + 20
    with contextlib.suppress(ConnectionError):
        while time.monotonic() < until:
            with connected(port):
                time.sleep(0.01)
    assert time.monotonic() < until


def rest_of(client):
    found = b""
    while part := client.recv(10_000):
        found += part
    return found


def test_what_is_in_flight_is_answered_and_closes_its_connection(tmp_path):
    """A body of which half has come, and a request on a connection that was idle until then."""
    with started(tmp_path, "timed_protocol._LAST_REQUESTS = 15") as (port, server):
        with connected(port) as half, connected(port) as idle:
            half.sendall(f"{CREATE}Content-Length: {len(BODY)}\r\n\r\n{BODY[:20]}".encode())
            idle.sendall(f"GET /healthz HTTP/1.1\r\n{HOST}\r\n".encode())
            first = b""
            while not first.endswith(b"}"):
                first += idle.recv(10_000)
            assert b"connection: close" not in first
            stop(server, port)
            half.sendall(BODY[20:].encode())
            answer = rest_of(half)
            assert answer.startswith(b"HTTP/1.1 201") and b"\r\nconnection: close\r\n" in answer
            idle.sendall(f"GET /healthz HTTP/1.1\r\n{HOST}\r\n".encode())
            answer = rest_of(idle)
            assert answer.startswith(b"HTTP/1.1 200") and b"\r\nconnection: close\r\n" in answer
        assert server.wait(20) == 0
        assert server.stderr.read() == ""
    assert (tmp_path / "prices.db").exists() and not (tmp_path / "prices.db-wal").exists()


def test_a_connection_on_which_nothing_comes_does_not_hold_up_the_end(tmp_path):
    with started(tmp_path) as (port, server), connected(port) as idle, connected(port) as half:
        half.sendall(f"GET /healthz HTTP/1.1\r\n{HOST}".encode())
        begun = time.monotonic()
        server.send_signal(signal.SIGTERM)
        assert server.wait(20) == 0
        assert time.monotonic() - begun < 8  # the head had ten seconds
        assert rest_of(idle) == b""


def test_connections_that_the_system_has_are_accepted_at_the_end():
    """Else a request that was sent on one of them is reset."""
    from unimodal.service.server.process import _accept_the_last

    async def accepted(listener):
        made = []

        class Noted(asyncio.Protocol):
            def connection_made(self, transport):
                made.append(transport)

        loop = asyncio.get_running_loop()
        server = await loop.create_server(Noted, sock=listener, backlog=4)
        listener.listen(64)
        port = listener.getsockname()[1]
        with contextlib.ExitStack() as stack:
            for _ in range(30):
                stack.enter_context(connected(port))
            await _accept_the_last([listener])
            server.close()
            for transport in made:
                transport.abort()
            return len(made)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        assert asyncio.run(accepted(listener)) == 30


def test_work_that_goes_on_for_ever_does_not_hold_up_the_end(tmp_path):
    changes = "process._GRACE, process._CLOSING = 0.2, 0.3; "
    changes += "catalog.FolderCatalog.names = lambda folder: time.sleep(1_000)"
    with started(tmp_path, changes) as (port, server), connected(port) as client:
        client.sendall(f"GET /v1/campaigns HTTP/1.1\r\n{HOST}\r\n".encode())
        client.settimeout(0.3)
        with pytest.raises(TimeoutError):
            client.recv(1)
        server.send_signal(signal.SIGTERM)
        assert server.wait(20) == 1
        assert "did not end within 0.5 s" in server.stderr.read()
