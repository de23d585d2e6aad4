"""The store of a service: its password is shown to nobody, and the least rights are enough."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import httpx
import psycopg
import pytest

import unimodal as um
from unimodal.campaigns.stores import as_place
from unimodal.cli import main
from unimodal.errors import UnimodalError
from unimodal.service.app import create_app
from unimodal.service.limits import ServiceLimits
from unimodal.service.server import process

PIECES = ("zq7", "xw9")
PAGE = Path(__file__).parents[2] / "docs" / "guide" / "postgresql.md"


def shown(text):
    return [piece for piece in PIECES if piece in text]


# Passwords.


@pytest.mark.parametrize("mark", "/@?#%:")
def test_no_store_shows_its_password(mark, serving, tmp_path, monkeypatch, caplog):
    """Neither at /readyz, where anybody asks, nor in the log, nor where it cannot be read."""
    monkeypatch.chdir(tmp_path)
    for sent in (f"zq7{mark}xw9", quote(f"zq7{mark}xw9", safe="")):
        for store in (
            f"PostgreSQL://app:{sent}@127.0.0.1:9/shop",
            f"postgresql://app@127.0.0.1:9/shop?password={sent}",
        ):
            try:
                create_app(store)
            except UnimodalError as error:
                assert mark in sent and not shown(str(error))
                continue
            with serving(store, limits=ServiceLimits(wait=0.1)) as served:
                answer = served.http.get("/readyz")
                assert answer.status_code == 503 and not shown(answer.text)
                assert "127.0.0.1" not in answer.text  # a fixed sentence, of no store
                other = served.http.get("/v1/campaigns")
                assert other.status_code == 503 and not shown(other.text)
                assert not shown(served.http.get("/metrics").text)
    assert not shown(caplog.text) and "the store cannot be reached" in caplog.text
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "store",
    [
        "mysql://u:zq7xw9@host/db",
        "PostgreSQL:/u:zq7xw9@host/db",
        "postgresq://u:zq7xw9@host/db",
        "host=x password=zq7xw9",
        "postgresql://u:zq7/xw9@host/db",
        "postgresql://u:zq7@xw9@host/db",
        "postgresql://u@host/db?password=zq7xw9&campaign=a",
    ],
)
def test_a_store_that_is_refused_is_not_quoted(store, tmp_path, monkeypatch, capsys):
    def started(*given, **named):
        raise AssertionError("it was served")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(process._Server, "run", started)
    for arguments, setting in ((["--store", store], ""), ([], store)):
        monkeypatch.setenv("UNIMODAL_STORE", setting)
        monkeypatch.setattr(sys, "argv", ["unimodal", "serve", "--port", "0", *arguments])
        with pytest.raises(SystemExit):
            main()
        told = capsys.readouterr()
        assert "the store of a service must be" in told.err and told.err.count("\n") == 1
        assert not shown(told.err + told.out)
    assert list(tmp_path.iterdir()) == []


def test_serve_takes_its_store_from_the_environment_and_says_which_without_a_password(tmp_path):
    command = [sys.executable, "-c", "from unimodal.cli import main; main()", "serve", "--port=0"]
    address = "postgresql://app@127.0.0.1:9/shop?password=zq7xw9"
    with subprocess.Popen(
        command, cwd=tmp_path, env={**os.environ, "UNIMODAL_STORE": address}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as started:  # fmt: skip
        try:
            said = started.stdout.readline()
            assert "serves postgresql://app@127.0.0.1:9/shop at" in said
            assert httpx.get(f"{re.search(r'http://[0-9.:]+', said)[0]}/readyz").status_code == 503
            started.send_signal(signal.SIGTERM)
            out, err = started.communicate(timeout=60)
        finally:
            started.kill()
    assert not shown(said + out + err) and "can read the password" not in err
    assert list(tmp_path.iterdir()) == []


def test_who_puts_a_password_on_the_command_line_is_warned(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for store, is_warned in (("postgresql://u:zq7@h/d", True), ("postgresql://u@h/d", False)):
        monkeypatch.setattr(sys, "argv", ["unimodal", "serve", "--port=99999", f"--store={store}"])
        with pytest.raises(SystemExit):
            main()
        told = capsys.readouterr().err
        assert ("all users of this machine can read the password" in told) == is_warned
        assert "cannot listen" in told and not shown(told)


def test_a_demonstration_keeps_away_from_the_store_of_the_environment(monkeypatch):
    served = []
    monkeypatch.setattr(process, "serve", lambda store, *given, **named: served.append(store))
    monkeypatch.setenv("UNIMODAL_STORE", "postgresql://u@h/d")
    for arguments in (["--demo"], []):
        monkeypatch.setattr(sys, "argv", ["unimodal", "serve", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        assert not ended.value.code
    assert "unimodal-demo-" in served[0] and served[1] == "postgresql://u@h/d"


# Rights.


@pytest.fixture
def owner(postgresql):
    """A new database with the tables of campaigns, and roles of those who use it."""
    everything = as_place(postgresql(), "it").conninfo
    with psycopg.connect(everything, autocommit=True) as connection:
        name = f"rights_{os.getpid()}"
        connection.execute(f"CREATE DATABASE {name}")
        for role in ("writer", "reader"):
            connection.execute(f"CREATE ROLE {role} LOGIN")
        mine = re.sub(r"(//[^/]*/)\w+", rf"\1{name}", everything)
        join = "&" if "?" in mine else "?"
        um.Campaign.open(f"{mine}{join}campaign=first", um.UTS(), um.graphs.line(3)).close()
        yield mine
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
        connection.execute("DROP ROLE writer")
        connection.execute("DROP ROLE reader")


def as_role(address, role):
    return re.sub(r"//[^/@]*@", f"//{role}@", address)


def statements(role):
    found = re.findall(rf"^    (GRANT .* TO {role};)$", PAGE.read_text(), re.MULTILINE)
    assert len(found) == 2
    return found


def test_the_rights_that_the_page_names_suffice_for_all_that_a_service_does(owner, serving):
    with psycopg.connect(owner, autocommit=True) as connection:
        for statement in statements("writer") + statements("reader"):
            connection.execute(statement)
    with serving(as_role(owner, "writer")) as served:
        http = served.http
        body = {"name": "prices", "graph": {"generator": "line:3"}, "policy": "uts"}
        assert http.post("/v1/campaigns", json=body).status_code == 201
        path = "/v1/campaigns/prices"
        for ended in (True, False, True, False):  # the second time as the first
            for name in ("prices", "first"):
                changed = http.patch(f"/v1/campaigns/{name}", json={"ended": ended})
                assert changed.status_code == 200, changed.text
            decided = http.post(f"{path}/decisions")
            assert decided.status_code == (409 if ended else 200), decided.text
        told = {"decision": 1, "reward": 1.0}
        assert http.post(f"{path}/rewards", json=told).json()["outcome"] == "counted"
        listed = http.get("/v1/campaigns").json()["campaigns"]
        assert [one["name"] for one in listed] == ["first", "prices"]
        assert http.get("/readyz").status_code == 200
    join = "&" if "?" in owner else "?"
    assert um.verify(f"{as_role(owner, 'reader')}{join}campaign=prices")


def test_a_database_from_before_gets_what_a_service_keeps_when_a_campaign_is_ended(owner, serving):
    """The statements for its owner, too, are those that the service would make."""
    with psycopg.connect(owner, autocommit=True) as connection:
        connection.execute("DROP SCHEMA unimodal_service CASCADE")
    with serving(owner) as served:
        for ended, status in ((True, 409), (False, 200)):
            changed = served.http.patch("/v1/campaigns/first", json={"ended": ended})
            assert changed.status_code == 200
            assert served.http.post("/v1/campaigns/first/decisions").status_code == status
    with psycopg.connect(owner, autocommit=True) as connection:
        connection.execute("DROP SCHEMA unimodal_service CASCADE")
        made = re.findall(r"^    (CREATE .*unimodal_service.*;)$", PAGE.read_text(), re.MULTILINE)
        for statement in [*made, *statements("writer")]:
            connection.execute(statement)
    with serving(as_role(owner, "writer")) as served:
        assert served.http.patch("/v1/campaigns/first", json={"ended": True}).status_code == 200
