"""What tests of the service share: servers, and campaigns on them."""

import contextlib
import os
from types import SimpleNamespace

import httpx
import pytest

import unimodal as um
from tests.service.running_server import running
from unimodal.service.app import create_app

LADDER = {"edges": [["9.90", "12.90"], ["12.90", "14.90"], ["14.90", "19.90"]]}


@pytest.fixture(scope="session")
def serving():
    """A context manager that serves a folder; it gives what a test needs to call it."""

    @contextlib.contextmanager
    def served(folder, token_file=None, token=None, send_buffer=None, **named):
        app = create_app(folder, token_file, **{"durability": "fast", **named})
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        with (
            running(app, send_buffer) as url,
            httpx.Client(verify=False, base_url=url, headers=headers, timeout=20) as http,
        ):
            yield SimpleNamespace(url=url, http=http, folder=folder, app=app)

    return served


@pytest.fixture(scope="module")
def service(serving, tmp_path_factory):
    """A service without tokens, shared by the tests of a file."""
    with serving(tmp_path_factory.mktemp("campaigns")) as served:
        yield served


@pytest.fixture
def http(service):
    return service.http


@pytest.fixture
def new(http, request):
    """Make a campaign of the test's own; its path."""
    numbers = iter(range(100))

    def made(**named):
        name = f"c{abs(hash(request.node.nodeid)) % 10**9}-{next(numbers)}"
        body = {"name": name, "graph": LADDER, "seed": 4, **named}
        answer = http.post("/v1/campaigns", json=body)
        assert answer.status_code == 201, answer.text
        return f"/v1/campaigns/{name}"

    return made


@pytest.fixture(scope="session", autouse=True)
def compiled_once():
    """Compile what a campaign of UTS needs before any clock runs."""
    agent = um.Agent(um.UTS(), um.graphs.line(3))
    agent.tell(agent.ask(), 1.0)
    os.environ.setdefault("UNIMODAL_SESSION_KEY", "a key that is for tests and nothing else")
