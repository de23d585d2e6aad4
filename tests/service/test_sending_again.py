"""What a client sends again, and how long it waits before: no service is needed."""

import httpx
import pytest

from unimodal.errors import ServiceError
from unimodal.service.client import http_connection
from unimodal.service.client.http_connection import HttpConnection


@pytest.fixture
def connection(monkeypatch):
    """A connection to nobody, whose answers are those of a list, and the pauses it made."""
    pauses = []
    monkeypatch.setattr(http_connection.time, "sleep", pauses.append)
    made = HttpConnection("http://nowhere", None, 1.0, 3)

    def connect(*answers):
        left = list(answers)

        def request(method, path, **named):
            answer = left.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer

        monkeypatch.setattr(made._http, "request", request)
        return made

    yield connect, pauses
    made.close()


def test_it_waits_as_long_as_it_is_told(connection):
    connect, pauses = connection
    busy = httpx.Response(503, headers={"retry-after": "4"}, json={"detail": "later"})
    assert connect(busy, httpx.Response(200, json={"arm": 1})).post("/x", {}) == {"arm": 1}
    assert len(pauses) == 1 and pauses[0] >= 4


def test_a_change_that_may_not_be_made_twice_is_sent_again_only_if_it_never_left(connection):
    connect, pauses = connection
    answer = httpx.Response(200, json={})
    assert connect(httpx.ConnectError("no"), answer).post("/x", {}, again=False) == {}
    with pytest.raises(ServiceError, match="may have been made or not"):
        connect(httpx.ReadError("cut"), answer).post("/x", {}, again=False)
    assert len(pauses) == 1
