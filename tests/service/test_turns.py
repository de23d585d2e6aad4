"""Many calls of one token: others find a place and a turn, owners always."""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

import unimodal as um
from unimodal.service.campaigns.followed_logs import FollowedLog
from unimodal.service.security import token_file, tokens

LINE = {"graph": {"generator": "line:5"}, "seed": 4}


def test_threads_take_turns_among_tokens():
    from unimodal.service.campaigns.admission import Admission
    from unimodal.service.campaigns.fair_pool import FairPool
    from unimodal.service.security.access import ASKING

    turns, go_on, order = FairPool(1, Admission(100, 50), "test"), threading.Event(), []

    async def ask(token, number):
        ASKING.set(token)
        await turns.do(lambda: order.append((token, number)))

    async def asked():
        first = asyncio.create_task(turns.do(lambda: go_on.wait(20)))
        await asyncio.sleep(0)
        tasks = [asyncio.create_task(ask("a", number)) for number in range(4)]
        tasks += [asyncio.create_task(ask("b", number)) for number in range(2)]
        await asyncio.sleep(0)
        tasks[3].cancel()  # its client has gone
        await asyncio.sleep(0)
        go_on.set()
        await asyncio.gather(first, *tasks, return_exceptions=True)
        await asyncio.sleep(0)
        return turns._admission.count

    assert asyncio.run(asked()) == 0
    assert order == [("a", 0), ("b", 0), ("a", 1), ("b", 1), ("a", 2)]
    turns.close()


def test_a_place_is_given_back_once_and_errors_are_told():
    from unimodal.errors import Overloaded
    from unimodal.service.campaigns.admission import Admission
    from unimodal.service.campaigns.fair_pool import FairPool
    from unimodal.service.security.access import ASKING

    turns = FairPool(2, Admission(3, 2), "test")

    def fails():
        raise um.UnimodalError("no.")

    async def asked():
        for _ in range(10):
            with pytest.raises(um.UnimodalError, match="no"):
                await turns.do(fails)
        go_on = threading.Event()
        ASKING.set("a")
        held = [asyncio.create_task(turns.do(lambda: go_on.wait(20))) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(Overloaded, match="of this token"):
            await turns.do(fails)
        ASKING.set("b")
        held.append(asyncio.create_task(turns.do(lambda: go_on.wait(20))))
        await asyncio.sleep(0)
        with pytest.raises(Overloaded, match="3 calls wait already"):
            await turns.do(fails)
        go_on.set()
        await asyncio.gather(*held)

    asyncio.run(asked())
    turns.close()


@pytest.fixture
def crowded(serving, tmp_path, monkeypatch):
    """A service in which a certificate and a decision take as long as a test wants."""
    made = {
        "admin": tokens.make("admin", ["admin"]),
        "read": tokens.make("reader", ["read"], ["prices"]),
        "decide": tokens.make("shop", ["decide"], ["prices"]),
    }
    token_file.write(tmp_path / "tokens.json", [kept for _, kept in made.values()])
    go_on = threading.Event()
    with (
        serving(tmp_path / "store", tmp_path / "tokens.json", made["admin"][0]) as served,
        ThreadPoolExecutor(64) as threads,
    ):
        assert served.http.post("/v1/campaigns", json={"name": "prices", **LINE}).status_code == 201
        read = FollowedLog.read

        def slow(log, work):
            go_on.wait(30)
            return read(log, work)

        monkeypatch.setattr(FollowedLog, "read", slow)

        def ask(role, method, rest):
            headers = {"Authorization": f"Bearer {made[role][0]}"}
            url = f"{served.url}/v1/campaigns/prices{rest}"
            return httpx.request(method, url, headers=headers, verify=False, timeout=40).status_code

        served.asked = [threads.submit(ask, "read", "GET", "/certificate") for _ in range(64)]
        served.go_on, served.queue = go_on, served.app.state.service.queue
        try:
            yield served
        finally:
            go_on.set()


def test_who_asks_for_64_certificates_locks_nobody_out(crowded):
    """Of 32 calls of an admin 30 were answered 503, the end of a campaign among them."""
    until = time.monotonic() + 30
    while sum(one.done() for one in crowded.asked) < 32:  # some for which there is no place
        assert time.monotonic() < until
        time.sleep(0.01)
    path, http = "/v1/campaigns/prices", crowded.http
    for number in range(4):
        assert http.get("/v1/campaigns").status_code == 200
        made = {"name": f"more-{number}", **LINE}
        assert http.post("/v1/campaigns", json=made).status_code == 201
        assert http.post(f"{path}/pause", json={"arms": [0]}).status_code == 200
        assert http.post(f"{path}/resume", json={"arms": [0]}).status_code == 200
        cap = {"share": 0.5}
        assert http.patch(path, json={"cap": cap, "ended": True}).json()["ended"] is True
        assert http.patch(path, json={"ended": False}).status_code == 200
        assert http.get(path).status_code == 200
        assert http.post(f"{path}/decisions").status_code == 200
    crowded.go_on.set()
    assert http.get(f"{path}/certificate").status_code == 200
    statuses = [one.result() for one in crowded.asked]
    assert (statuses.count(200), statuses.count(503)) == (16, 48)


def test_a_queue_that_is_full_of_calls_lets_owners_in(serving, tmp_path, monkeypatch):
    """Two tokens that have taken all places; ending, listing, making and pausing have others."""
    from unimodal.errors import Overloaded

    with serving(tmp_path) as served:
        assert served.http.post("/v1/campaigns", json={"name": "prices", **LINE}).status_code == 201
        admission = served.app.state.service.queue._admission

        def full():
            raise Overloaded("all wait.")

        monkeypatch.setattr(admission, "enter", full)
        path = "/v1/campaigns/prices"
        assert served.http.post(f"{path}/decisions").status_code == 503
        assert served.http.get("/v1/campaigns").status_code == 200
        assert served.http.post(f"{path}/pause", json={"arms": [0]}).status_code == 200
        assert served.http.patch(path, json={"ended": True}).json()["ended"] is True
        made = {"name": "more", **LINE}
        assert served.http.post("/v1/campaigns", json=made).status_code == 201
