"""What goes wrong around a service: a full disk or queue, signals, two servers, a database away."""

import asyncio
import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

import httpx
import psycopg
import pytest

import unimodal as um
from tests.postgresql_server import PostgresqlServer
from unimodal.campaigns import verify
from unimodal.campaigns.commands.deciding import deciding
from unimodal.campaigns.stores import as_place, kind_of
from unimodal.campaigns.stores.sqlite import SqliteStore
from unimodal.errors import StoreError
from unimodal.service.campaigns.call_queue import CallQueue
from unimodal.service.campaigns.catalog import FolderCatalog, catalog_of
from unimodal.service.campaigns.open_campaigns import OpenCampaigns
from unimodal.service.limits import ServiceLimits
from unimodal.service.server.process import listening

COMMAND = [sys.executable, "-c", "from unimodal.cli import main; main()"]
LINE = {"graph": {"generator": "line:5"}, "seed": 4}


def kind(answer):
    return answer.status_code, answer.json()["type"].rpartition(":")[2]


def create(http, name):
    answer = http.post("/v1/campaigns", json={"name": name, **LINE})
    assert answer.status_code == 201, answer.text
    return f"/v1/campaigns/{name}"


@contextlib.contextmanager
def process(*arguments):
    """A real server process; its address, and the process itself."""
    command = [*COMMAND, "serve", "--port", "0", "--durability", "fast", *map(str, arguments)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        line = server.stdout.readline()
        assert "unimodal serves" in line, server.stderr.read()
        yield re.search(r"http://\S+", line)[0], server
    finally:
        server.kill()
        server.communicate()


def test_sigterm_finishes_what_is_in_flight_and_closes_campaigns(tmp_path):
    with process("--store", tmp_path / "store") as (url, server):
        with httpx.Client(verify=False, base_url=url, timeout=20) as http:
            path = create(http, "prices")
        answered, stopped = [], threading.Event()

        def call(number):
            with httpx.Client(verify=False, base_url=url, timeout=20) as http:
                while not stopped.is_set():
                    try:
                        answer = http.post(f"{path}/decisions", json={"n": 3})
                    except httpx.TransportError:
                        return  # it listens no more, or had closed the idle connection before
                    answered.append(answer.status_code)

        threads = [threading.Thread(target=call, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        while len(answered) < 8:
            time.sleep(0.01)
        server.send_signal(signal.SIGTERM)
        assert server.wait(timeout=30) == 0
        stopped.set()
        for thread in threads:
            thread.join()
    assert set(answered) == {200}
    file = tmp_path / "store" / "prices.db"
    assert not file.with_name("prices.db-wal").exists()  # closed, with a snapshot
    assert um.campaigns.look(file).agent.book.made == 3 * len(answered)
    assert bool(verify(file))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--host", "0.0.0.0"], "without a token file a service listens on this machine only"),
        (["--host", "::"], "without a token file"),
        (["--tokens", "none.json"], "has no token in it"),
        (["--store", "mysql://x"], "the store of a service must be an address that libpq reads"),
        (["--port", "99999"], "cannot listen"),
        (["--rate", "0"], "the 'rate' of a service"),
        (["--durability", "none", "--port", "0"], "unknown durability"),
    ],
)
def test_a_service_that_must_not_start(tmp_path, monkeypatch, arguments, words, capsys):
    from unimodal.cli import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["unimodal", "serve", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert words in error and error.count("\n") == 1


def test_answers_are_sent_at_once():
    """Without TCP_NODELAY an answer in two packets takes 40 ms, whatever the service does."""

    async def of_an_accepted_connection(listener):
        accepted = asyncio.get_running_loop().create_future()
        server = await asyncio.start_server(
            lambda _, made: accepted.set_result(made), sock=listener
        )
        async with server:
            _, client = await asyncio.open_connection(*listener.getsockname())
            made = await accepted
            option = made.get_extra_info("socket").getsockopt(
                socket.IPPROTO_TCP, socket.TCP_NODELAY
            )
            for writer in (client, made):
                writer.close()
                await writer.wait_closed()
            return option

    with listening("127.0.0.1", 0) as listener:
        assert asyncio.run(of_an_accepted_connection(listener))


def test_tokens_are_made_listed_and_withdrawn_on_the_command_line(tmp_path, monkeypatch, capsys):
    from unimodal.cli import main

    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["unimodal", "token", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code, *capsys.readouterr()

    token = run("add", "t.json", "--role", "decide", "--campaign", "prices", "--name", "shop")[1]
    assert re.fullmatch(r"um_[0-9a-f]{12}_[\w-]{43}\n", token)
    listed = run("list", "t.json")[1]
    assert "shop" in listed and "prices" in listed and token.split("_", 2)[2].strip() not in listed
    assert run("revoke", "t.json", "nope")[0] == 2
    assert run("revoke", "t.json", token.split("_")[1])[0] == 0
    assert "shop" not in run("list", "t.json")[1]


def test_a_full_disk_refuses_the_call_and_the_same_service_works_again(service, monkeypatch):
    path = create(service.http, "full")
    commit = SqliteStore.commit

    def fails(store):
        raise StoreError("the disk is full, and nothing of this call was kept: make room.")

    monkeypatch.setattr(SqliteStore, "commit", fails)
    answer = service.http.post(f"{path}/decisions")
    assert kind(answer) == (503, "StoreError") and answer.headers["retry-after"]
    monkeypatch.setattr(SqliteStore, "commit", commit)
    assert service.http.post(f"{path}/decisions").json()["decisions"][0]["id"] == 1


def test_a_full_queue_is_answered_at_once(serving, tmp_path, monkeypatch):
    with serving(tmp_path, limits=ServiceLimits(waiting=2)) as served:
        path = create(served.http, "busy")
        begin, go_on = SqliteStore.begin, threading.Event()

        def slow(store):
            go_on.wait(20)
            begin(store)

        monkeypatch.setattr(SqliteStore, "begin", slow)
        answers = []
        calls = [
            threading.Thread(
                target=lambda: answers.append(
                    httpx.post(
                        f"{served.url}{path}/decisions", verify=False, timeout=20
                    ).status_code
                )
            )
            for _ in range(2)
        ]
        for call in calls:
            call.start()
        while served.app.state.service.queue.waiting < 2:
            time.sleep(0.005)
        begun = time.monotonic()
        full = served.http.post(f"{path}/decisions")
        assert kind(full) == (503, "Overloaded") and full.headers["retry-after"] == "1"
        assert served.http.get("/healthz").status_code == 200  # the event loop is free
        assert time.monotonic() - begun < 5
        go_on.set()
        for call in calls:
            call.join()
        assert answers == [200, 200]


def test_a_client_that_hangs_up_changes_nothing_for_others(service, monkeypatch):
    path = create(service.http, "gone")
    begin, go_on = SqliteStore.begin, threading.Event()

    def slow(store):
        go_on.wait(20)
        begin(store)

    monkeypatch.setattr(SqliteStore, "begin", slow)
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{service.url}{path}/decisions", verify=False, timeout=0.2)
    go_on.set()
    monkeypatch.undo()
    assert service.http.post(f"{path}/decisions").json()["decisions"][0]["id"] == 2


def test_a_call_that_was_given_up_leaves_the_others_of_its_commit_their_answers(tmp_path):
    """Three calls share a commit; the task of the first was cancelled meanwhile."""
    campaigns = OpenCampaigns(FolderCatalog(tmp_path), ServiceLimits(), "fast")
    campaigns.create("prices", policy=um.UTS(), graph=um.graphs.line(3))
    queue, go_on = CallQueue(campaigns, ServiceLimits()), threading.Event()

    async def calls():
        first = asyncio.create_task(queue.do("prices", lambda _: go_on.wait(20)))
        await asyncio.sleep(0.05)  # it has begun
        made = [asyncio.create_task(queue.change("prices", deciding(1, False))) for _ in range(3)]
        await asyncio.sleep(0)
        made[0].cancel()
        go_on.set()
        done = asyncio.gather(first, *made, return_exceptions=True)
        return await asyncio.wait_for(done, 20)

    _, gone, *answers = asyncio.run(calls())
    assert isinstance(gone, asyncio.CancelledError)
    assert [one.id for (one,), *_ in answers] == [2, 3] and queue.waiting == 0
    queue.close()
    campaigns.close()


def test_campaigns_that_are_stuck_do_not_stop_the_others(tmp_path):
    """However many: each campaign has its own turn."""
    campaigns = OpenCampaigns(FolderCatalog(tmp_path), ServiceLimits(), "fast")
    names = [f"stuck-{number}" for number in range(12)]
    for name in (*names, "prices"):
        campaigns.create(name, policy=um.UTS(), graph=um.graphs.line(3))
    queue, go_on = CallQueue(campaigns, ServiceLimits()), threading.Event()

    async def calls():
        stuck = [asyncio.create_task(queue.do(name, lambda _: go_on.wait(60))) for name in names]
        await asyncio.sleep(0)
        try:
            made = await asyncio.wait_for(queue.change("prices", deciding(1, False)), 30)
        finally:
            go_on.set()
        return made, await asyncio.gather(*stuck)

    made, stuck = asyncio.run(calls())
    assert [one.id for one in made.decisions] == [1] and stuck == [True] * len(names)
    queue.close()
    campaigns.close()


def test_two_servers_serve_one_folder(serving, tmp_path):
    with serving(tmp_path) as one, serving(tmp_path) as two:
        path = create(one.http, "shared")
        headers = {"Idempotency-Key": "order-1"}
        first = one.http.post(f"{path}/decisions", headers=headers).json()
        assert two.http.post(f"{path}/decisions", headers=headers).json() == first
        assert two.http.post(f"{path}/decisions").json()["decisions"][0]["id"] == 2
        told = {"decision": 1, "reward": 1}
        assert two.http.post(f"{path}/rewards", json=told).json()["outcome"] == "counted"
        assert one.http.post(f"{path}/rewards", json=told).json()["outcome"] == "known"
    assert bool(verify(tmp_path / "shared.db"))


def test_a_restart_keeps_everything(serving, tmp_path):
    headers = {"Idempotency-Key": "order-1"}
    with serving(tmp_path) as served:
        path = create(served.http, "kept")
        first = served.http.post(f"{path}/decisions", headers=headers).json()
        served.http.patch(path, json={"ended": True})
    with serving(tmp_path) as served:
        assert served.http.get(path).json()["ended"] is True
        served.http.patch(path, json={"ended": False})
        assert served.http.post(f"{path}/decisions", headers=headers).json() == first


def test_idle_campaigns_are_closed_and_opened_again(tmp_path):
    campaigns = OpenCampaigns(FolderCatalog(tmp_path), ServiceLimits(idle=0.0, most_open=1), "fast")
    for name in ("a", "b"):
        campaigns.create(name, policy=um.UTS(), graph=um.graphs.line(3))
    with campaigns.use("a") as campaign:
        campaigns.close_idle()
        assert campaigns.names_open() == ["a"]  # the one in use stays
        assert campaign.decide().id == 1
    campaigns.close_idle()
    assert campaigns.names_open() == []
    with campaigns.use("a") as campaign:
        assert campaign.decide().id == 2
    with pytest.raises(um.errors.UnknownCampaign), campaigns.use("c"):
        pass
    assert campaigns.names_open() == ["a"]
    campaigns.close()
    with pytest.raises(um.UnimodalError, match="is being stopped"), campaigns.use("a"):
        pass


def test_a_damaged_file_is_told_and_others_are_served(serving, tmp_path):
    with serving(tmp_path) as served:
        (tmp_path / "broken.db").write_bytes(b"not a database at all" * 100)
        answer = served.http.post("/v1/campaigns/broken/decisions")
        assert kind(answer)[0] in (500, 503) and "broken.db" in answer.json()["detail"]
        assert create(served.http, "sound")


def test_the_clock_may_jump(serving, tmp_path, monkeypatch):
    with serving(tmp_path) as served:
        path = create(served.http, "clock")
        times = [served.http.post(f"{path}/decisions").json()["decisions"][0]["time"]]
        real = time.time
        for jump in (-3600.0, 3600.0, 0.0):
            monkeypatch.setattr(time, "time", lambda jump=jump: real() + jump)
            times.append(served.http.post(f"{path}/decisions").json()["decisions"][0]["time"])
        monkeypatch.undo()
        assert times == sorted(times)
        told = served.http.post(f"{path}/rewards", json={"decision": 1, "reward": 1})
        assert told.json()["outcome"] == "counted"


def test_postgresql_away_and_back(serving):
    with PostgresqlServer(fsync="off") as database:
        limits = ServiceLimits(wait=0.3)
        with serving(database.address(), limits=limits) as served:
            http = served.http
            assert http.get("/v1/campaigns").json()["campaigns"] == []
            path = create(http, "prices")
            headers = {"Idempotency-Key": "order-1"}
            first = http.post(f"{path}/decisions", headers=headers).json()
            assert http.patch(path, json={"ended": True}).json()["ended"] is True
            assert kind(http.post(f"{path}/decisions")) == (409, "CampaignEnded")
            http.patch(path, json={"ended": False})
            database.stop(signal.SIGQUIT)
            assert http.get("/healthz").status_code == 200
            assert http.get("/readyz").status_code == 503
            assert http.post(f"{path}/decisions", headers=headers).status_code == 503
            database.start()
            until = time.monotonic() + 10
            while http.get("/readyz").status_code != 200:  # what was found holds for a second
                assert time.monotonic() < until
                time.sleep(0.05)
            assert http.post(f"{path}/decisions", headers=headers).json() == first
            assert [one["name"] for one in http.get("/v1/campaigns").json()["campaigns"]] == [
                "prices"
            ]
            assert len(http.get(f"{path}/events").json()["events"]) >= 3
        assert bool(verify(catalog_of(database.address(), 5.0).address("prices")))


def test_all_connections_in_use_are_a_503_that_says_when_to_come_again(serving, monkeypatch):
    """Those of the process: here two other stores have them."""
    monkeypatch.setenv("UNIMODAL_POSTGRESQL_CONNECTIONS", "2")
    with (
        PostgresqlServer(fsync="off") as database,
        serving(database.address(), limits=ServiceLimits(wait=0.3)) as served,
    ):
        path = create(served.http, "prices")
        others = [
            kind_of(place).open_store(place, "fast", 5.0)
            for place in (as_place(database.address(name), "it") for name in ("a", "b"))
        ]
        for store in others:
            store.begin()
        for answer in (
            served.http.post(f"{path}/decisions"),
            served.http.post(f"{path}/rewards", json={"decision": 1, "reward": 1}),
            served.http.get("/v1/campaigns"),
        ):
            assert kind(answer) == (503, "Busy") and int(answer.headers["Retry-After"]) >= 1
        assert served.http.get("/healthz").status_code == 200
        for store in others:
            store.roll_back()
            store.close()
        assert served.http.post(f"{path}/decisions").status_code == 200


def test_a_database_that_is_set_back_under_a_service(serving, postgresql):
    """Who calls first is told, and nothing is written; the next call goes on from the log."""
    store = postgresql("any").replace("campaign=any", "").rstrip("?&")
    name, conninfo = f"set-back-{os.getpid()}", as_place(postgresql("any"), "").conninfo
    with serving(store) as served, psycopg.connect(conninfo, autocommit=True) as database:
        http, path = served.http, create(served.http, name)
        http.post(f"{path}/decisions", json={"n": 3})
        http.post(f"{path}/rewards", json={"decision": 1, "reward": 1})
        only = "campaign = (SELECT id FROM unimodal.campaigns WHERE name = %s)"
        database.execute(f"DELETE FROM unimodal.log WHERE seq > 3 AND {only}", (name,))
        with um.Campaign.open(served.app.state.service.catalog.address(name)) as other:
            other.tell(0, 1.0)  # with its opening, as many as were lost
        assert kind(http.post(f"{path}/decisions")) == (503, "StoreError")
        assert "was set back" in http.get(path).json()["reports"][-1]
        assert http.post(f"{path}/decisions").json()["decisions"][0]["id"] == 3
        answer = http.post(f"{path}/rewards", json={"decision": 1, "reward": 1})
        assert answer.json()["outcome"] == "counted"
        assert bool(verify(served.app.state.service.catalog.address(name)))
        # A campaign that the surviving server has never had.
        database.execute("DELETE FROM unimodal.campaigns WHERE name = %s", (name,))
        assert http.post(f"{path}/decisions").status_code == 503
        assert kind(http.post(f"{path}/decisions")) == (404, "UnknownCampaign")
        assert http.post(f"{create(http, name)}/decisions").status_code == 200


@pytest.mark.full  # it compiles three policies
def test_the_demonstration_moves_within_ten_seconds_and_leaves_nothing(tmp_path):
    """A cold machine compiles first; here what it needs is compiled, as on the second day."""
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    command = [*COMMAND, "serve", "--demo", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        url = re.search(r"http://\S+", server.stdout.readline())[0]
        with httpx.Client(verify=False, base_url=url, timeout=20) as http:
            until = time.monotonic() + 60
            counts = {}
            while len(counts) < 3 or min(counts.values()) < 30:
                assert time.monotonic() < until, counts
                listed = http.get("/v1/campaigns").json()["campaigns"]
                counts = {
                    one["name"]: http.get(f"/v1/campaigns/{one['name']}").json()["decisions"]
                    for one in listed
                }
                time.sleep(0.1)
        assert set(counts) == {"prices", "radio", "advertising"}
        server.send_signal(signal.SIGTERM)
        assert server.wait(30) == 0
    assert list(tmp_path.iterdir()) == []
